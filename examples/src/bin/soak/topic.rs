//! A topic between two shards, with readers that keep up and readers that do not.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use corelane::task::yield_now;
use corelane::time::Instant;
use corelane::{Shard, SubmitError};
use corelane_primitives::{Feed, Sender, Topic, TopicOverflow, channel};

use super::{Found, Progress};

/// How far a feed may be behind.
const CAPACITY: usize = 8192;
/// Messages that are published before the other tasks of the shard have their turn.
const PUBLISH_MAX: u64 = 4096;

/// A reader: what happens to what it has no room for, how many it takes at once, and how often the
/// other tasks of its shard have their turn before it takes more.
#[derive(Clone, Copy)]
struct Reader {
    name: &'static str,
    overflow: TopicOverflow,
    batch: usize,
    pauses: usize,
}

const READERS: [Reader; 4] = [
    Reader {
        name: "topic",
        overflow: TopicOverflow::Backpressure,
        batch: 256,
        pauses: 0,
    },
    Reader {
        name: "topic slow",
        overflow: TopicOverflow::Backpressure,
        batch: 256,
        pauses: 1,
    },
    Reader {
        name: "topic new",
        overflow: TopicOverflow::DropNew,
        batch: 16,
        pauses: 8,
    },
    Reader {
        name: "topic old",
        overflow: TopicOverflow::DropOldest,
        batch: 16,
        pauses: 8,
    },
];

/// Publishes numbers in a row from `here`, with every kind of reader at both shards.
pub(crate) async fn soak(
    here: Shard,
    there: Shard,
    messages: u64,
    progress: Arc<Progress>,
) -> Result<Vec<Found>, SubmitError> {
    let topic = Topic::new(CAPACITY, TopicOverflow::Backpressure);
    let (ready, mut readers) = channel(2 * READERS.len());
    let mut reading = Vec::new();
    for (number, shard) in [&here, &there].into_iter().enumerate() {
        for reader in READERS {
            let (topic, ready) = (topic.clone(), ready.clone());
            let seen = Arc::clone(&progress);
            let call = shard.submit(move || read(reader, topic, ready, messages, seen));
            reading.push((number, corelane::spawn(call)));
        }
    }
    // All of them are there before the first message.
    for _ in 0..reading.len() {
        readers.recv().await;
    }
    for first in (0..messages).step_by(PUBLISH_MAX as usize) {
        let batch = first..messages.min(first + PUBLISH_MAX);
        let published = topic.publish_batch(batch).await;
        published.expect("nobody closes it before its end");
        yield_now().await;
    }
    topic.close();
    let mut found = Vec::new();
    for (shard, reading) in reading {
        let mut one = reading.await.expect("no reader panics")?;
        one.what = format!("{} @{shard}", one.what);
        found.push(one);
    }
    Ok(found)
}

/// Reads to the end, and counts what is out of order or unaccounted for.
async fn read(
    reader: Reader,
    topic: Topic<u64>,
    ready: Sender<()>,
    messages: u64,
    progress: Arc<Progress>,
) -> Found {
    let feed = topic.subscribe_with(CAPACITY, reader.overflow);
    let mut feed: Feed<u64> = feed.expect("the capacity is the topic's");
    drop(topic);
    let told = ready.send(()).await;
    told.expect("the publisher waits for it");
    let start = Instant::now();
    let (mut delivered, mut lost, mut next, mut wrong) = (0, 0, 0, 0);
    let mut taken = Vec::with_capacity(reader.batch);
    loop {
        let count = feed.next_batch(&mut taken, reader.batch).await;
        let count = count.expect("a topic's feed does not fail");
        if count == 0 {
            break;
        }
        for number in taken.drain(..) {
            wrong += u64::from(number < next);
            lost += number.saturating_sub(next);
            next = number + 1;
            delivered += 1;
        }
        progress.messages.fetch_add(count as u64, Ordering::Relaxed);
        for _ in 0..reader.pauses {
            yield_now().await;
        }
    }
    lost += messages.saturating_sub(next);
    let stats = feed.stats();
    wrong += stats.delivered.abs_diff(delivered) + stats.dropped.abs_diff(lost) + stats.lag;
    if reader.overflow == TopicOverflow::Backpressure {
        wrong += stats.dropped;
    }
    Found {
        what: reader.name.to_owned(),
        expected: messages,
        counted: stats.delivered + stats.dropped,
        wrong,
        seconds: start.elapsed().as_secs_f64(),
    }
}
