//! Trades to a file, while that is switched on.
//!
//! Owner: a task on shard 0 reads the topic over a feed of its own, which loses its oldest trades
//! and counts them when the file is slow, whatever the policy of the run: no book waits for a disk.
//! A thread writes, since a file may block.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;

use corelane::task::{Either, either};
use corelane_primitives::{
    Changes, Consumer, Feed, Plain, PlainSignal, Producer, Receiver, Sender, Signal, Topic,
    TopicOverflow, WeakTopic, channel, lane,
};

use super::failure::Failure;
use crate::feed::{RecordReport, Trade, write_trade};

/// Blocks of lines that wait for the file at most.
const BLOCKS_MAX: usize = 64;

/// Trades that go to the file as one block.
const BATCH_MAX: usize = 256;

/// Whether trades are recorded: the control turns it, and the recorder follows.
#[derive(Debug)]
pub(super) struct Switch(PlainSignal<bool>);

impl Switch {
    /// Turns recording on or off.
    pub(super) fn turn(&self, is_on: bool) {
        assert!(self.0.set(is_on).is_ok(), "a switch is never closed");
    }
}

/// The file's thread, before there are trades.
#[derive(Debug)]
pub(super) struct Tape {
    blocks: Producer<Vec<u8>>,
    written: Receiver<io::Result<()>>,
}

impl Tape {
    /// Makes the file, and starts the thread that writes it. To be called before the runtime pins
    /// the calling thread.
    pub(super) fn start(path: PathBuf) -> Result<Self, Failure> {
        let file = File::create(&path).map_err(|source| Failure::File { path, source })?;
        let (blocks, consumer) = lane(BLOCKS_MAX);
        let (tell, written) = channel(1);
        thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || write(file, consumer, &tell))
            .map_err(|source| Failure::Thread("recorder", source))?;
        Ok(Self { blocks, written })
    }
}

fn write(mut file: File, mut blocks: Consumer<Vec<u8>>, tell: &Sender<io::Result<()>>) {
    let mut write_all = || {
        while let Some(block) = blocks.blocking_recv() {
            file.write_all(&block)?;
        }
        Ok(())
    };
    let written = write_all();
    // Nobody waits for it when the run has failed.
    drop(tell.try_send(written));
}

/// Records trades.
#[derive(Debug)]
pub(super) struct Recorder {
    tape: Tape,
    topic: WeakTopic<Trade>,
    switch: Changes<bool, Plain<bool>>,
    capacity: usize,
    feed: Option<Feed<Trade>>,
    report: RecordReport,
}

/// A recorder of `topic` that is on, for this shard, and its switch.
pub(super) fn recorder(tape: Tape, topic: &Topic<Trade>) -> (Switch, Recorder) {
    let switch = Signal::plain(true);
    let mut recorder = Recorder {
        tape,
        topic: topic.downgrade(),
        switch: switch.changes(),
        capacity: topic.capacity(),
        feed: None,
        report: RecordReport::default(),
    };
    // Before the first trade.
    recorder.begin();
    (Switch(switch), recorder)
}

impl Recorder {
    /// Records until the trades end, and says what was recorded.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub(super) async fn run(mut self) -> io::Result<RecordReport> {
        let mut trades = Vec::new();
        loop {
            let Some(feed) = &mut self.feed else {
                match self.switch.next().await {
                    Some(true) => self.begin(),
                    Some(false) => {}
                    // Nobody can turn it on any more.
                    None => break,
                }
                continue;
            };
            let next = feed.next_batch(&mut trades, BATCH_MAX);
            let found = either(self.switch.next(), next).await;
            match found {
                Either::Left(Some(true)) => {}
                Either::Left(Some(false)) => self.pause(&mut trades).await,
                // The run ends: what comes is recorded to the last.
                Either::Left(None) => {
                    while let Ok(1..) = feed.next_batch(&mut trades, BATCH_MAX).await {
                        give(&mut self.tape, &mut self.report, &mut trades).await;
                    }
                    break;
                }
                Either::Right(Ok(1..)) => give(&mut self.tape, &mut self.report, &mut trades).await,
                Either::Right(_) => break,
            }
        }
        self.end();
        let Tape {
            blocks,
            mut written,
        } = self.tape;
        drop(blocks);
        written.recv().await.unwrap_or(Ok(()))?;
        Ok(self.report)
    }

    fn begin(&mut self) {
        let Some(topic) = self.topic.upgrade() else {
            return;
        };
        let feed = topic.subscribe_with(self.capacity, TopicOverflow::DropOldest);
        self.feed = Some(feed.expect("the capacity is the topic's"));
    }

    /// Records what was published before, and nothing more.
    async fn pause(&mut self, trades: &mut Vec<Trade>) {
        let Some(feed) = &mut self.feed else { return };
        for _ in 0..feed.lag() {
            trades.extend(feed.try_next());
        }
        give(&mut self.tape, &mut self.report, trades).await;
        self.end();
    }

    fn end(&mut self) {
        if let Some(feed) = self.feed.take() {
            self.report.dropped += feed.stats().dropped;
        }
    }
}

async fn give(tape: &mut Tape, report: &mut RecordReport, trades: &mut Vec<Trade>) {
    let mut block = Vec::new();
    for trade in &*trades {
        write_trade(&mut block, trade).expect("writing to memory does not fail");
    }
    // A thread that has failed says why at the end.
    if tape.blocks.send(block).await.is_ok() {
        report.recorded += trades.len() as u64;
    }
    trades.clear();
}

#[cfg(test)]
mod tests {
    use super::super::block_on::block_on;
    use super::*;
    use crate::feed::{Generator, Update};

    fn trades(count: usize) -> Vec<Trade> {
        let trade = |update| match update {
            Update::Trade(trade) => Some(trade),
            Update::Snapshot(_) | Update::Depth(_) | Update::Ticker(_) => None,
        };
        Generator::new(1).filter_map(trade).take(count).collect()
    }

    /// What a recorder of a topic for 4 trades counts, and writes, of 10 while it is on, 10 while
    /// it is off, and 3 when it is on again.
    fn record(path: &std::path::Path) -> (RecordReport, String) {
        let topic = Topic::new(4, TopicOverflow::Backpressure);
        let (switch, recorder) = recorder(Tape::start(path.to_owned()).unwrap(), &topic);
        let all = trades(23);
        let publish = |part: &[Trade]| {
            part.iter()
                .for_each(|trade| topic.try_publish(*trade).unwrap());
        };
        publish(&all[..10]);
        let mut run = std::pin::pin!(recorder.run());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        switch.turn(false);
        assert!(run.as_mut().poll(&mut cx).is_pending());
        publish(&all[10..20]);
        switch.turn(true);
        assert!(run.as_mut().poll(&mut cx).is_pending());
        publish(&all[20..]);
        drop((topic, switch));
        let report = block_on(run).unwrap();
        (report, std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn what_was_traded_while_it_was_on_is_recorded_or_counted() {
        let name = format!("corelane-recorder-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let (report, text) = record(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((report.recorded, report.dropped), (4 + 3, 6));
        let all = trades(23);
        let mut expected = Vec::new();
        for trade in all[6..10].iter().chain(&all[20..]) {
            write_trade(&mut expected, trade).unwrap();
        }
        assert_eq!(text.as_bytes(), expected);
    }
}
