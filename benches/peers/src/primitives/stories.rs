//! Form A: the stories of datum-core's own benchmark, on the runtimes and with the calls that it
//! takes there.
//!
//! They follow its `concurrency_primitives_compare`. Feeds are those that it has for this purpose:
//! a signal's is registered nowhere, and those of subscriptions and topics count and read nothing.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use corelane_bench_harness::{BenchError, ITEMS, Params, Sample, Scenarios};
use datum::{Keep, Signal, Sink, Source, Subscription, SubscriptionOverflow, Topic, TopicOverflow};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::datum::{failed, materializer, use_every_core};

const CHANGES: usize = 1_024;
const PLACES: usize = 256;
const FEW_PLACES: usize = 16;

/// Repeats `story`; each must give `expected`.
fn repeat(
    params: &Params,
    expected: u64,
    story: impl Fn() -> Result<u64, BenchError>,
) -> Result<Sample, BenchError> {
    use_every_core()?;
    let mut stories = Scenarios::start(params, expected);
    while stories.more() {
        stories.done(story()?)?;
    }
    stories.finish()
}

/// The runtime of one thread, where topics and many producers run.
fn one_thread() -> Result<&'static Runtime, BenchError> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build());
    runtime.as_ref().map_err(failed)
}

/// The runtime of as many threads as cores, where feeds of state run.
fn many_threads() -> Result<&'static Runtime, BenchError> {
    static RUNTIME: OnceLock<std::io::Result<Runtime>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_multi_thread().enable_all().build());
    runtime.as_ref().map_err(failed)
}

/// Each task reads the first value, waits until all is written, and reads on to the last value.
pub(crate) fn propagation(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * ITEMS, || {
        let signal = Signal::new(0_u64).map_err(failed)?;
        let runtime = many_threads()?;
        let ready = Arc::new(AtomicUsize::new(0));
        let written = Arc::new((AtomicBool::new(false), Notify::new()));
        let mut tasks = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            let mut feed = signal.__benchmark_changes().map_err(failed)?;
            let (ready, written) = (Arc::clone(&ready), Arc::clone(&written));
            tasks.push(runtime.spawn(async move {
                if !matches!(feed.next().await, Some(Ok(0))) {
                    return 0; // the checksum will tell
                }
                ready.fetch_add(1, Ordering::Release);
                let (is_written, notify) = &*written;
                while !is_written.load(Ordering::Acquire) {
                    let mut told = std::pin::pin!(notify.notified());
                    told.as_mut().enable();
                    if is_written.load(Ordering::Acquire) {
                        break;
                    }
                    told.await;
                }
                while let Some(Ok(value)) = feed.next().await {
                    if value >= ITEMS {
                        return value;
                    }
                }
                0
            }));
        }
        runtime.block_on(async {
            while ready.load(Ordering::Acquire) < feeds {
                tokio::task::yield_now().await;
            }
        });
        for value in 1..=ITEMS {
            signal.set_eventually(value).map_err(failed)?;
        }
        let (is_written, notify) = &*written;
        is_written.store(true, Ordering::Release);
        notify.notify_waiters();
        runtime.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.map_err(failed)?;
            }
            Ok(sum)
        })
    })
}

/// Everything is written first; then each task counts all changes.
pub(crate) fn lossless(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * ITEMS, || {
        let overflow = SubscriptionOverflow::Backpressure;
        let subscription = Subscription::new(0_u64, CHANGES, overflow).map_err(failed)?;
        let runtime = many_threads()?;
        let mut all = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            let mut feed = subscription.__benchmark_changes().map_err(failed)?;
            let first = runtime.block_on(feed.next());
            let is_first = matches!(first, Some(Ok(0)));
            BenchError::check("first value", 1, u64::from(is_first))?;
            all.push(feed);
        }
        for value in 1..=ITEMS {
            subscription.set_eventually(value).map_err(failed)?;
        }
        let mut tasks = Vec::with_capacity(feeds);
        for mut feed in all {
            tasks.push(runtime.spawn(async move { feed.count_changes(ITEMS).await }));
        }
        runtime.block_on(async {
            let mut count = 0;
            for task in tasks {
                count += task.await.map_err(failed)?.map_err(failed)?;
            }
            Ok(count)
        })
    })
}

/// Producers are tasks of one thread, and the consumer is a stream on another, which counts.
pub(crate) fn mpsc(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    repeat(params, producers as u64 * ITEMS, || {
        let (channel, counted) = Source::<u64>::channel(PLACES)
            .to_mat(Sink::fold(0_u64, |count, _| count + 1), Keep::both)
            .run_with_materializer(materializer())
            .map_err(failed)?;
        one_thread()?.block_on(async {
            let mut tasks = Vec::with_capacity(producers);
            for producer in 0..producers as u64 {
                let channel = channel.clone();
                tasks.push(tokio::spawn(async move {
                    for number in 0..ITEMS {
                        channel.send(producer << 32 | number).await?;
                    }
                    Ok::<_, datum::ChannelSendError<u64>>(())
                }));
            }
            for task in tasks {
                let sent = task.await.map_err(failed)?;
                sent.map_err(|_| failed("the channel has closed"))?;
            }
            Ok::<_, BenchError>(())
        })?;
        channel.close();
        counted.wait().map_err(failed)
    })
}

/// One publisher, and tasks of the same thread that count all messages.
pub(crate) fn topic(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64 * ITEMS, || {
        let topic = Topic::new(PLACES, TopicOverflow::Backpressure).map_err(failed)?;
        let runtime = one_thread()?;
        let mut all = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            all.push(topic.__benchmark_subscribe().map_err(failed)?);
        }
        let mut tasks = Vec::with_capacity(feeds);
        for mut feed in all {
            tasks.push(runtime.spawn(async move { feed.count_items(ITEMS).await }));
        }
        let count = runtime.block_on(async {
            tokio::task::yield_now().await;
            for value in 0..ITEMS {
                let published = topic.publish(value).await;
                published.map_err(|_| failed("the topic has closed"))?;
            }
            let mut count = 0;
            for task in tasks {
                count += task.await.map_err(failed)?.map_err(failed)?;
            }
            Ok::<_, BenchError>(count)
        })?;
        topic.close().map_err(failed)?;
        Ok(count)
    })
}

/// Full feeds that lose their oldest message.
pub(crate) fn overflow_sliding(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    overflow(params, feeds, TopicOverflow::Sliding)
}

/// Full feeds that get no new message.
pub(crate) fn overflow_dropping(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    overflow(params, feeds, TopicOverflow::Dropping)
}

/// The checksum is how many feeds have lost some messages and kept some.
fn overflow(params: &Params, feeds: usize, overflow: TopicOverflow) -> Result<Sample, BenchError> {
    repeat(params, feeds as u64, || {
        let topic = Topic::new(FEW_PLACES, overflow).map_err(failed)?;
        let mut all = Vec::with_capacity(feeds);
        for _ in 0..feeds {
            all.push(topic.__benchmark_subscribe().map_err(failed)?);
        }
        for value in 0..ITEMS {
            let published = topic.try_publish(value);
            published.map_err(|_| failed("the topic is full"))?;
        }
        topic.close().map_err(failed)?;
        one_thread()?.block_on(async {
            let mut right = 0;
            for mut feed in all {
                let mut count = 0;
                while let Some(value) = feed.next().await {
                    value.map_err(failed)?;
                    count += 1;
                }
                right += u64::from(count > 0 && count < ITEMS);
            }
            Ok(right)
        })
    })
}
