//! Control of a run: one channel, whose senders are on any shard and whose receiver decides.
//!
//! Owner: the governor, a task on shard 0, has the receiver and the risk limits. It takes one
//! message after the other, so that two changes never meet. Whoever asks gets an answer of its own;
//! once the run ends it is that, and what was sent before is still counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use corelane_primitives::{Closed, Receiver, Sender, Subscription, channel};
use serde_json::json;

use super::hub::write_best;
use super::recorder::Switch;
use super::run::{Run, unless_ended};
use super::tops::{Boards, best_prices};
use crate::feed::{Command, ControlReport, Limits, NamedLimit, Recording};

/// Messages that wait for the governor at most; then senders wait.
const MESSAGES_MAX: usize = 64;

/// What an asker is told when the run ends first.
const ENDING: &str = "the run ends";

/// What goes over the channel.
#[derive(Debug)]
struct Message {
    command: Command,
    /// Where whole lines of JSON go, if somebody waits for them.
    answer: Option<Sender<String>>,
}

/// A sending end, for any shard.
#[derive(Clone, Debug)]
pub(super) struct Control {
    messages: Sender<Message>,
    // Relaxed: it says one thing by itself.
    sent: Arc<AtomicU64>,
}

/// The receiving end.
#[derive(Debug)]
pub(super) struct Governor {
    messages: Receiver<Message>,
    pub(super) limits: Subscription<Arc<Limits>>,
    pub(super) boards: Boards,
    pub(super) recorder: Option<Switch>,
    report: Governed,
}

/// What a governor has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Governed {
    pub(super) received: u64,
    /// Best prices read for snapshots.
    pub(super) reads: u64,
    /// The version of the limits.
    pub(super) version: u64,
}

/// Both ends, with what the receiving one decides about.
pub(super) fn control(
    limits: Subscription<Arc<Limits>>,
    boards: Boards,
    recorder: Option<Switch>,
) -> (Control, Governor) {
    let (sender, messages) = channel(MESSAGES_MAX);
    let control = Control {
        messages: sender,
        sent: Arc::default(),
    };
    let governor = Governor {
        messages,
        limits,
        boards,
        recorder,
        report: Governed::default(),
    };
    (control, governor)
}

impl Control {
    /// Sends `command`, and waits for no answer. Once the run ends it changes nothing.
    pub(super) async fn tell(&self, command: Command) {
        let answer = None;
        // When the run ends already, nobody needs to be told anything.
        drop(self.send(Message { command, answer }).await);
    }

    /// Sends `command`, and waits for the answer: whole lines of JSON.
    pub(super) async fn ask(&self, command: Command) -> String {
        let (answer, mut answers) = channel(1);
        let answer = Some(answer);
        let answered = match self.send(Message { command, answer }).await {
            Ok(()) => answers.recv().await,
            Err(Closed(_)) => None,
        };
        answered.unwrap_or_else(|| refusal(&ENDING))
    }

    async fn send(&self, message: Message) -> Result<(), Closed<Message>> {
        self.messages.send(message).await?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// How many messages were sent, by all handles.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// The counts of both ends, once the governor is done.
    pub(super) fn report(&self, governed: Governed) -> ControlReport {
        ControlReport {
            sent: self.sent(),
            received: governed.received,
        }
    }
}

impl Governor {
    /// Does what comes until the run ends, and then closes the channel and the limits.
    pub(super) async fn govern(mut self, run: Arc<Run>) -> Governed {
        while let Some(Some(message)) = unless_ended(self.messages.recv()).await {
            let answer = self.obey(message.command, &run).await;
            self.answer(message.answer, answer);
        }
        self.messages.close();
        while let Some(message) = self.messages.recv().await {
            self.answer(message.answer, refusal(&ENDING));
        }
        self.limits.close();
        Governed {
            version: self.limits.version().number(),
            ..self.report
        }
    }

    fn answer(&mut self, to: Option<Sender<String>>, answer: String) {
        self.report.received += 1;
        if let Some(to) = to {
            // Whoever asked may have gone.
            drop(to.try_send(answer));
        }
    }

    async fn obey(&mut self, command: Command, run: &Run) -> String {
        match command {
            Command::Limit(named) => self.set_limit(named).await,
            Command::Snapshot => self.snapshot(),
            Command::Record(recording) => match &self.recorder {
                Some(switch) => {
                    let is_on = recording == Recording::On;
                    switch.turn(is_on);
                    line(&json!({ "recording": is_on }))
                }
                None => refusal(&"there is no file to record to: --record FILE"),
            },
            Command::Stop => {
                run.end();
                line(&json!({ "stops": true }))
            }
        }
    }

    async fn set_limit(&mut self, NamedLimit { symbol, limit }: NamedLimit) -> String {
        if !self.limits.read(|limits| limits.has_room_for(symbol)) {
            return refusal(&"there are as many limits as there may be");
        }
        // Every shard has room, or this waits for the slowest: none misses a version.
        let set = self
            .limits
            .update(|limits| Arc::new(limits.with(symbol, limit)));
        match set.await {
            Ok(version) => line(&json!({ "limits": version.number() })),
            Err(error) => refusal(&error),
        }
    }

    fn snapshot(&mut self) -> String {
        let (mut lines, mut count) = (Vec::new(), 0_u64);
        for (symbol, best) in best_prices(&self.boards) {
            write_best(&mut lines, symbol, best);
            count += 1;
        }
        self.report.reads += count;
        lines.extend_from_slice(line(&json!({ "snapshot": count })).as_bytes());
        String::from_utf8(lines).expect("names and numbers are ASCII")
    }
}

fn line(value: &serde_json::Value) -> String {
    format!("{value}\n")
}

/// The line for what cannot be done.
pub(super) fn refusal(reason: &dyn std::fmt::Display) -> String {
    line(&json!({ "error": reason.to_string() }))
}
