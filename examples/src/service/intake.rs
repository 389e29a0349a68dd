//! One input's decoder: bytes in, updates on their way out.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use corelane::task::yield_now;
use corelane::time::{Instant, sleep_until};

use super::routes::{Batch, Outbound, Routes};
use super::run::{Run, unless_ended};
use crate::feed::{Decoder, FillLosses, Malformed, MalformedLog, Received, Speed};

/// Updates that a decoder sends at once. Small, since the first one waits for the last.
const BATCH_MAX: usize = 16;

/// Malformed lines of one input that are shown; all are counted.
const MALFORMED_SHOWN_MAX: usize = 10;

/// What the inputs of one shard have counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) malformed: Cell<u64>,
    pub(super) refused: Cell<u64>,
    pub(super) fills: Cell<FillLosses>,
}

impl Tally {
    pub(super) fn count_refused(&self) {
        self.refused.set(self.refused.get() + 1);
    }
}

/// Decodes one input.
#[derive(Debug)]
pub(super) struct Intake {
    run: Arc<Run>,
    tally: Rc<Tally>,
    name: String,
    decoder: Decoder,
    outbound: Outbound,
    log: MalformedLog,
    pace: Pace,
}

impl Intake {
    /// A decoder for the input of that name.
    pub(super) fn new(run: Arc<Run>, tally: Rc<Tally>, routes: Rc<Routes>, name: String) -> Self {
        let pace = Pace::new(run.speed, run.start);
        Self {
            run,
            tally,
            name,
            decoder: Decoder::default(),
            outbound: Outbound::new(routes, BATCH_MAX),
            log: MalformedLog::new(MALFORMED_SHOWN_MAX),
            pace,
        }
    }

    /// Decodes `chunk` and sends what it holds. Breaks when the run ends.
    pub(super) async fn take(&mut self, mut chunk: &[u8]) -> ControlFlow<()> {
        while let Some(outcome) = self.decoder.decode(&mut chunk) {
            self.settle(outcome).await?;
        }
        // Nothing waits for bytes that may come late.
        self.flush().await
    }

    /// Ends the input where its bytes ended: the last line may have no line end.
    pub(super) async fn finish(&mut self) -> ControlFlow<()> {
        while let Some(outcome) = self.decoder.finish() {
            self.settle(outcome).await?;
        }
        self.flush().await
    }

    async fn settle(&mut self, outcome: Result<Received, Malformed>) -> ControlFlow<()> {
        match outcome {
            Ok(received) => {
                self.wait_until_due(received.received_ns).await?;
                match self.outbound.stage(received.update) {
                    Batch::Open => ControlFlow::Continue(()),
                    Batch::Full => self.flush().await,
                }
            }
            Err(malformed) => self.count(malformed).await,
        }
    }

    async fn wait_until_due(&mut self, recorded_ns: u64) -> ControlFlow<()> {
        let Some(due) = self.pace.due(recorded_ns) else {
            return ControlFlow::Continue(());
        };
        self.flush().await?;
        match unless_ended(sleep_until(due)).await {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    }

    async fn count(&mut self, malformed: Malformed) -> ControlFlow<()> {
        self.tally.malformed.set(self.tally.malformed.get() + 1);
        let line = self
            .log
            .record(malformed)
            .map(|malformed| format!("{}: {malformed}", self.name));
        if self.run.strict {
            // The first one is always shown, and there is no second one.
            let line = line.expect("the first malformed line is shown");
            self.run.fail(&line);
            self.run.end();
            return self.flush().await;
        }
        if let Some(line) = line {
            self.run.voice.warn(&line);
        }
        ControlFlow::Continue(())
    }

    /// Sends the batch and lets others go on. Breaks when the run ends.
    async fn flush(&mut self) -> ControlFlow<()> {
        if self.outbound.flush().await.is_err() {
            // The owner's shard has failed, which ends the run by itself.
            return ControlFlow::Break(());
        }
        yield_now().await;
        if self.run.ends() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// When what was recorded is due. Reads the clock only for what may have to wait.
#[derive(Debug)]
pub(super) struct Pace {
    speed: Speed,
    start: Instant,
    first_ns: Option<u64>,
    now: Instant,
}

impl Pace {
    /// The pace of an input whose first line is due at `start`.
    pub(super) fn new(speed: Speed, start: Instant) -> Self {
        Self {
            speed,
            start,
            first_ns: None,
            now: start,
        }
    }

    /// When to go on, if not now.
    pub(super) fn due(&mut self, recorded_ns: u64) -> Option<Instant> {
        let first_ns = *self.first_ns.get_or_insert(recorded_ns);
        let due = self
            .start
            .saturating_add(self.speed.due(first_ns, recorded_ns)?);
        if due > self.now {
            self.now = Instant::now();
        }
        (due > self.now).then_some(due)
    }
}
