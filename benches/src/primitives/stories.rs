//! Form A: the stories of Datum's own benchmark, as our users would write them.
//!
//! Feeds and their tasks are on one shard, and so is who writes to them: a story that needs no
//! second core takes none. Datum's feeds of state run on a runtime of two threads, and its
//! channel's consumer on a thread of its own; `mpsc_on_two_shards` has that too. Where Datum
//! counts, ours reads every value and adds it up.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use corelane::task::yield_now;
use corelane::{IdlePolicy, spawn};
use corelane_bench_harness::{BenchError, ITEMS, Params, Sample, Scenarios, fold_sum};
use corelane_primitives::{
    Feed, Overflow, Receiver, Sender, Signal, Subscription, Topic, TopicOverflow, channel,
};

use super::BATCH;
use crate::mesh::on_two_shards;
use crate::ours;
use crate::tasks::on_shard;

/// Places of a subscription's feeds, as Datum has them.
const CHANGES: usize = 1_024;
/// Places of a topic's feeds and of a channel, as Datum has them.
const PLACES: usize = 256;

/// Repeats `story` on a shard; each must give `expected`.
fn repeat(
    params: &Params,
    expected: u64,
    story: impl AsyncFn() -> Result<u64, BenchError> + 'static,
) -> Result<Sample, BenchError> {
    let params = *params;
    let idle = IdlePolicy::default();
    on_shard(params.cores.first, idle, move || async move {
        let mut stories = Scenarios::start(&params, expected);
        while stories.more() {
            let checksum = story().await?;
            stories.done(checksum)?;
        }
        stories.finish()
    })
}

/// Lets the tasks of one shard through when it is opened.
#[derive(Default)]
struct Gate {
    is_open: Cell<bool>,
    wakers: RefCell<Vec<Waker>>,
}

impl Gate {
    async fn pass(&self) {
        poll_fn(|cx| {
            if self.is_open.get() {
                return Poll::Ready(());
            }
            self.wakers.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn open(&self) {
        self.is_open.set(true);
        self.wakers.take().into_iter().for_each(Waker::wake);
    }
}

/// Each task reads the first value, waits until all is written, and reads on to the last value.
pub(super) fn propagation(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * ITEMS, async move || {
        let signal = Signal::plain(0);
        let written = Rc::new(Gate::default());
        let ready = Rc::new(Cell::new(0));
        let mut tasks = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            let mut feed = signal.changes();
            let (written, ready) = (Rc::clone(&written), Rc::clone(&ready));
            tasks.push(spawn(async move {
                let first = feed.next().await;
                ready.set(ready.get() + usize::from(first == Some(0)));
                written.pass().await;
                while let Some(value) = feed.next().await {
                    if value >= ITEMS {
                        return value;
                    }
                }
                0
            }));
        }
        while ready.get() < feeds {
            yield_now().await;
        }
        for value in 1..=ITEMS {
            signal.set_eventually(value).map_err(ours)?;
        }
        written.open();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.map_err(ours)?;
        }
        Ok(sum)
    })
}

/// Everything is written first; then each task takes all changes.
pub(super) fn lossless(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * fold_sum(ITEMS), async move || {
        let subscription = Subscription::new(0, CHANGES, Overflow::Backpressure);
        let mut all = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            let mut feed = subscription.changes();
            let first = feed.next().await;
            BenchError::check("first value", 1, u64::from(first == Some(Ok(0))))?;
            all.push(feed);
        }
        for value in 1..=ITEMS {
            subscription.set_eventually(value).await.map_err(ours)?;
        }
        let tasks: Vec<_> = all.into_iter().map(|feed| spawn(sum_of(feed))).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.map_err(ours)?;
        }
        Ok(sum)
    })
}

/// One publisher, and tasks of the same shard that take all messages.
pub(super) fn topic(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * fold_sum(ITEMS), async move || {
        let topic = Topic::new(PLACES, TopicOverflow::Backpressure);
        let tasks: Vec<_> = (0..feeds)
            .map(|_| spawn(sum_of(topic.subscribe())))
            .collect();
        yield_now().await;
        for value in 1..=ITEMS {
            topic.publish(value).await.map_err(ours)?;
        }
        let mut sum = 0;
        for task in tasks {
            sum += task.await.map_err(ours)?;
        }
        topic.close();
        Ok(sum)
    })
}

/// The sum of the next 1,024 values, taken in batches.
async fn sum_of(mut feed: Feed<u64>) -> u64 {
    let mut values = Vec::with_capacity(BATCH);
    let (mut sum, mut left) = (0, ITEMS as usize);
    while left > 0 {
        match feed.next_batch(&mut values, left.min(BATCH)).await {
            Ok(0) | Err(_) => return 0, // the checksum will tell
            Ok(count) => left -= count,
        }
        sum += values.drain(..).sum::<u64>();
    }
    sum
}

/// Producers and the consumer are tasks of one shard.
pub(super) fn mpsc(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    let expected = producers as u64 * fold_sum(ITEMS);
    repeat(params, expected, async move || {
        let (sender, receiver) = channel(PLACES);
        let sum = spawn(received(receiver));
        send_all(sender, producers).await?;
        sum.await.map_err(ours)
    })
}

/// The same with the consumer on another shard.
pub(super) fn mpsc_on_two_shards(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    let params = *params;
    let expected = producers as u64 * fold_sum(ITEMS);
    on_two_shards(&params, IdlePolicy::default(), move || async move {
        let consumer = corelane::shards()[1].clone();
        let mut stories = Scenarios::start(&params, expected);
        while stories.more() {
            let (sender, receiver) = channel(PLACES);
            let sum = consumer.submit(move || received(receiver));
            send_all(sender, producers).await?;
            stories.done(sum.await.map_err(ours)?)?;
        }
        stories.finish()
    })
}

/// Sends 1,024 values from each of so many tasks, and closes.
async fn send_all(sender: Sender<u64>, producers: usize) -> Result<(), BenchError> {
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let sender = sender.clone();
            spawn(async move {
                for value in 1..=ITEMS {
                    sender.send(value).await?;
                }
                Ok::<_, corelane_primitives::Closed<u64>>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(ours)?.map_err(ours)?;
    }
    sender.close();
    Ok(())
}

/// The sum of all that comes until the close.
async fn received(mut receiver: Receiver<u64>) -> u64 {
    let mut sum = 0;
    while receiver.ready().await {
        sum = receiver.fold(BATCH, sum, |sum, value| sum + value).acc;
    }
    sum
}
