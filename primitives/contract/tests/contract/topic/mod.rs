//! The contract of the topic, in both orders.

mod wakes;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corelane_primitives::{
    Closed, Consumer, DetachedFeed, Feed, NextError, Order, Topic, TopicOverflow, TryPublishError,
    lane,
};

use crate::futures::{count_polls, flag_waiting, give_up_after, give_way, until, until_raised};
use crate::hosts::{Host, PLACES};
use crate::random::Random;
use crate::tasks::{Task, all};
use crate::topic;

on_every_host! {
    // proves: T-1
    // proves: T-2
    // proves: T-8
    // proves: T-9
    // proves: S-11
    #[test]
    fn topic::every_feed_gets_every_value_in_order;
    // proves: T-1
    // proves: T-5
    #[test]
    fn topic::feeds_that_come_and_go_see_no_gap;
    // proves: T-3
    // proves: T-8
    #[test]
    fn topic::each_feed_has_its_own_room;
    // proves: T-8
    #[test]
    fn topic::feeds_that_drop_count_what_they_lose;
    // proves: T-5
    #[test]
    fn topic::a_laggard_that_goes_frees_who_waits;
    // proves: T-6
    // proves: S-11
    #[test]
    fn topic::cancelled_publishes_and_reads_lose_nothing;
    // proves: T-9
    #[test]
    fn topic::a_close_gives_waiting_values_back_and_ends_feeds;
    // proves: W-1
    #[test]
    fn wakes::parked_feeds_are_woken_from_other_places;
    // proves: T-4
    #[test]
    fn wakes::try_publish_says_why_and_gives_the_value_back;
    // proves: T-7
    // proves: W-3
    #[test]
    fn wakes::idle_feeds_cause_no_polls;
    // proves: S-11
    #[test]
    fn topic::feeds_move_to_other_places_with_what_they_have;
}

const CAPACITIES: [usize; 3] = [1, 3, 64];
const ORDERS: [Order; 2] = [Order::Total, Order::PerPublisher];
/// Feeds of one place, and publishers.
const CROWD: u64 = 2;
const PUBLISHERS: u64 = PLACES as u64 * CROWD;

/// A value: whose it is, and its number there.
type Item = (u64, u64);

/// Each publisher's values in their turn, some left out where that may be.
#[derive(Default)]
struct Turns([u64; PUBLISHERS as usize]);

impl Turns {
    fn see(&mut self, (who, number): Item, may_skip: bool) {
        let next = &mut self.0[who as usize];
        assert!(
            number == *next || (may_skip && number > *next),
            "{number} at {next} of {who}"
        );
        *next = number + 1;
    }
}

/// Publishes `count` values, in batches or one by one.
async fn publish(topic: Topic<Item>, who: u64, count: u64) {
    let mut items = (0..count).map(|number| (who, number)).peekable();
    while items.peek().is_some() {
        let size = if who.is_multiple_of(2) { 1 } else { 5 };
        let batch: Vec<_> = items.by_ref().take(size).collect();
        match batch[..] {
            [item] => topic.publish(item).await.unwrap(),
            _ => {
                let wanted = batch.len();
                assert_eq!(topic.publish_batch(batch).await, Ok(wanted));
            }
        }
    }
}

/// Takes everything to the end, in batches.
async fn take_all(mut feed: Feed<Item>, may_skip: bool) -> Vec<Item> {
    let (mut turns, mut taken) = (Turns::default(), Vec::new());
    loop {
        let before = taken.len();
        if feed.next_batch(&mut taken, 10).await == Ok(0) {
            break;
        }
        for item in &taken[before..] {
            turns.see(*item, may_skip);
        }
    }
    let stats = feed.stats();
    assert_eq!((stats.delivered, stats.lag), (taken.len() as u64, 0));
    if !may_skip {
        assert_eq!(stats.dropped, 0);
    }
    taken
}

/// At each place a crowd publishes and a crowd reads; what each feed got.
fn run<H: Host>(host: &H, topic: &Topic<Item>, count: u64, may_skip: bool) -> Vec<Vec<Item>> {
    let [ready, done]: [Arc<AtomicU64>; 2] = Default::default();
    let work = |place| {
        let topic = topic.clone();
        let (ready, done) = (Arc::clone(&ready), Arc::clone(&done));
        move || async move {
            let mut tasks: Vec<Task<Vec<Item>>> = Vec::new();
            for _ in 0..CROWD {
                tasks.push(Box::pin(take_all(topic.subscribe(), may_skip)));
            }
            ready.fetch_add(1, Ordering::AcqRel);
            until(|| ready.load(Ordering::Acquire) == PLACES as u64).await;
            for publisher in 0..CROWD {
                let (topic, done) = (topic.clone(), Arc::clone(&done));
                tasks.push(Box::pin(async move {
                    publish(topic.clone(), place * CROWD + publisher, count).await;
                    if done.fetch_add(1, Ordering::AcqRel) + 1 == PUBLISHERS {
                        topic.close();
                    }
                    Vec::new()
                }));
            }
            let mut taken = all(tasks).await;
            taken.truncate(CROWD as usize);
            taken
        }
    };
    let works = (0..PLACES as u64).map(work).collect();
    host.each(works).into_iter().flatten().collect()
}

pub(crate) fn every_feed_gets_every_value_in_order<H: Host>(host: &H) {
    for order in ORDERS {
        for capacity in CAPACITIES {
            let count = host.count(300);
            let topic = Topic::new(capacity, TopicOverflow::Backpressure).order(order);
            let taken = run(host, &topic, count, false);
            for items in &taken {
                assert_eq!(items.len() as u64, PUBLISHERS * count);
                let is_one_order = order == Order::Total;
                assert!(
                    !is_one_order || *items == taken[0],
                    "two feeds saw two orders"
                );
            }
        }
    }
}

pub(crate) fn feeds_that_drop_count_what_they_lose<H: Host>(host: &H) {
    for order in ORDERS {
        for overflow in [TopicOverflow::DropNew, TopicOverflow::DropOldest] {
            for capacity in CAPACITIES {
                let count = host.count(300);
                let topic = Topic::new(capacity, overflow).order(order);
                run(host, &topic, count, true);
                let published = topic.stats().published;
                assert_eq!(published, PUBLISHERS * count);
            }
        }
    }
}

pub(crate) fn feeds_that_come_and_go_see_no_gap<H: Host>(host: &H) {
    for order in ORDERS {
        let count = host.count(2_000);
        let topic = Topic::new(4, TopicOverflow::Backpressure).order(order);
        let theirs = topic.clone();
        let write = move || async move {
            for number in 0..count {
                theirs.publish((0, number)).await.unwrap();
                give_way().await;
            }
            theirs.close();
        };
        let published = move || async move {
            let come_and_go = |way: u64| -> Task<()> { Box::pin(come_and_go(topic.clone(), way)) };
            all((0..3).map(come_and_go).collect()).await;
        };
        host.pair(write, published);
    }
}

/// Feeds that come, take some values, and go, until the topic is closed.
async fn come_and_go(topic: Topic<Item>, way: u64) {
    let ways = [
        TopicOverflow::Backpressure,
        TopicOverflow::DropNew,
        TopicOverflow::DropOldest,
    ];
    for round in 0.. {
        let overflow = ways[(round + way) as usize % 3];
        let mut feed = topic.subscribe_with(3, overflow).unwrap();
        let mut next = None;
        for _ in 0..round % 11 {
            let Some(item) = feed.next().await else {
                return;
            };
            let (_, number) = item.unwrap();
            let may_skip = overflow != TopicOverflow::Backpressure;
            let fits = next.is_none_or(|next| number == next || (may_skip && number > next));
            assert!(fits, "a gap before {number}");
            next = Some(number + 1);
        }
        drop(feed);
        give_way().await;
    }
}

/// One feed of each kind that reads only at the end, and one that does all along.
pub(crate) fn each_feed_has_its_own_room<H: Host>(host: &H) {
    for order in ORDERS {
        let count = host.count(500).max(10);
        let topic = Topic::new(64, TopicOverflow::Backpressure).order(order);
        let subscribed = Arc::new(AtomicBool::new(false));
        let (theirs, is_subscribed) = (topic.clone(), Arc::clone(&subscribed));
        let write = move || async move {
            until_raised(&is_subscribed).await;
            publish(theirs.clone(), 0, count).await;
            theirs.close();
        };
        let read = move || async move {
            let late = |capacity, overflow| topic.subscribe_with(capacity, overflow).unwrap();
            let first = late(2, TopicOverflow::DropNew);
            let last = late(3, TopicOverflow::DropOldest);
            let steady = late(5, TopicOverflow::Backpressure);
            let usual = topic.subscribe();
            subscribed.store(true, Ordering::Release);
            let tasks =
                [steady, usual].map(|feed| Box::pin(take_all(feed, false)) as Task<Vec<Item>>);
            for taken in all(tasks.into()).await {
                assert_eq!(taken.len() as u64, count);
            }
            for (mut feed, numbers) in [(first, 0..2), (last, count - 3..count)] {
                let expected = numbers.end - numbers.start;
                for number in numbers {
                    assert_eq!(feed.next().await, Some(Ok((0, number))));
                }
                assert_eq!(feed.next().await, None);
                let stats = feed.stats();
                assert_eq!(
                    (stats.delivered, stats.dropped),
                    (expected, count - expected)
                );
            }
        };
        host.pair(write, read);
    }
}

pub(crate) fn a_laggard_that_goes_frees_who_waits<H: Host>(host: &H) {
    for order in ORDERS {
        for _ in 0..host.count(200) {
            let topic = Topic::new(2, TopicOverflow::Backpressure).order(order);
            let flags: [Arc<AtomicBool>; 2] = Default::default();
            let [subscribed, waits] = flags.clone();
            let theirs = topic.clone();
            let write = move || async move {
                until_raised(&subscribed).await;
                for number in 0..2 {
                    // With room each is published at the first poll.
                    let (published, polls) = count_polls(theirs.publish((0, number))).await;
                    assert_eq!((published, polls), (Ok(()), 1));
                }
                let full = theirs.try_publish((0, 9));
                assert_eq!(full, Err(TryPublishError::Full((0, 9))));
                flag_waiting(&waits, theirs.publish((0, 2))).await.unwrap();
                theirs.close();
            };
            let [subscribed, waits] = flags;
            let read = move || async move {
                let (laggard, mut steady) = (topic.subscribe(), topic.subscribe());
                subscribed.store(true, Ordering::Release);
                for number in 0..2 {
                    assert_eq!(steady.next().await, Some(Ok((0, number))));
                }
                until_raised(&waits).await;
                drop(laggard);
                assert_eq!(steady.next().await, Some(Ok((0, 2))));
                assert_eq!(steady.next().await, None);
            };
            host.pair(write, read);
        }
    }
}

/// Publishes `count` values, giving many waits up, and each value until it was published.
async fn publish_giving_up(topic: Topic<Item>, who: u64, count: u64, seed: u64) {
    let mut random = Random::new(seed);
    let mut number = 0;
    while number < count {
        match give_up_after(random.below(4), topic.publish((who, number))).await {
            Some(published) => number += u64::from(published.is_ok()),
            None => give_way().await,
        }
    }
}

/// Takes everything to the end, giving many waits up; how many values came.
async fn take_giving_up(mut feed: Feed<Item>, seed: u64) -> u64 {
    let (mut random, mut turns) = (Random::new(seed), Turns::default());
    loop {
        match give_up_after(random.below(4), feed.next()).await {
            Some(Some(item)) => turns.see(item.unwrap(), false),
            Some(None) => return turns.0.iter().sum(),
            None => give_way().await,
        }
    }
}

pub(crate) fn cancelled_publishes_and_reads_lose_nothing<H: Host>(host: &H) {
    for order in ORDERS {
        for capacity in CAPACITIES {
            let count = host.count(300);
            let topic = Topic::new(capacity, TopicOverflow::Backpressure).order(order);
            let subscribed = Arc::new(AtomicBool::new(false));
            let (theirs, is_subscribed) = (topic.clone(), Arc::clone(&subscribed));
            let write = move || async move {
                until_raised(&is_subscribed).await;
                let mut tasks: Vec<Task<()>> = Vec::new();
                for who in 0..3 {
                    let seed = who + 10 * capacity as u64;
                    tasks.push(Box::pin(publish_giving_up(
                        theirs.clone(),
                        who,
                        count,
                        seed,
                    )));
                }
                tasks.push(Box::pin(publish(theirs.clone(), 3, count)));
                all(tasks).await;
                theirs.close();
            };
            let read = move || async move {
                let mut tasks: Vec<Task<u64>> = Vec::new();
                for seed in 0..3 {
                    tasks.push(Box::pin(take_giving_up(topic.subscribe(), seed)));
                }
                let steady = take_all(topic.subscribe(), false);
                tasks.push(Box::pin(async move { steady.await.len() as u64 }));
                subscribed.store(true, Ordering::Release);
                all(tasks).await
            };
            let ((), counts) = host.pair(write, read);
            assert_eq!(counts, [4 * count; 4], "capacity {capacity}, {order:?}");
        }
    }
}

pub(crate) fn a_close_gives_waiting_values_back_and_ends_feeds<H: Host>(host: &H) {
    for order in ORDERS {
        for _ in 0..host.count(200) {
            let topic = Topic::new(2, TopicOverflow::Backpressure).order(order);
            let flags: [Arc<AtomicBool>; 2] = Default::default();
            let [subscribed, waits] = flags.clone();
            let theirs = topic.clone();
            let write = move || async move {
                until_raised(&subscribed).await;
                for number in 0..2 {
                    theirs.publish((0, number)).await.unwrap();
                }
                let waiting = flag_waiting(&waits, theirs.publish((0, 2))).await;
                assert_eq!(waiting, Err(Closed((0, 2))));
                assert_eq!(theirs.publish((0, 3)).await, Err(Closed((0, 3))));
            };
            let [subscribed, waits] = flags;
            let read = move || async move {
                let mut feed = topic.subscribe();
                subscribed.store(true, Ordering::Release);
                until_raised(&waits).await;
                topic.close();
                for number in 0..2 {
                    assert_eq!(feed.next().await, Some(Ok((0, number))));
                }
                assert_eq!(feed.next().await, None);
                assert_eq!(topic.subscribe().next().await, None, "a late feed");
            };
            host.pair(write, read);
        }
    }
}

/// Feeds are made and used at one place, and used up at the other, while values come.
pub(crate) fn feeds_move_to_other_places_with_what_they_have<H: Host>(host: &H) {
    for order in ORDERS {
        for _ in 0..host.count(50) {
            let topic = Topic::<Item>::new(8, TopicOverflow::Backpressure).order(order);
            let lanes = || (0..4).map(|_| lane::<(u64, DetachedFeed<Item>)>(1)).unzip();
            let (senders, receivers): (Vec<_>, Vec<_>) = lanes();
            let left = move || async move {
                let theirs = topic.clone();
                let come = async move {
                    for (used, mut sender) in senders.into_iter().enumerate() {
                        let mut feed = theirs.subscribe();
                        let mut next = 0;
                        for _ in 0..used {
                            next = feed.next().await.unwrap().unwrap().1 + 1;
                        }
                        sender.send((next, feed.detach())).await.unwrap();
                    }
                };
                let write = async move {
                    for number in 0..100 {
                        topic.publish((0, number)).await.unwrap();
                        give_way().await;
                    }
                    topic.close();
                };
                all(vec![Box::pin(come) as Task<()>, Box::pin(write)]).await;
            };
            let right = move || async move {
                let follow = |mut receiver: Consumer<(u64, DetachedFeed<Item>)>| -> Task<()> {
                    Box::pin(async move {
                        let (mut next, mut feed) = receiver.recv().await.unwrap();
                        while let Some(item) = feed.next().await {
                            let (_, number) = item.unwrap();
                            assert!(next == 0 || number == next, "a gap before {number}");
                            next = number + 1;
                        }
                        assert_eq!(next, 100);
                        assert_eq!(feed.try_next(), Err(NextError::Closed));
                    })
                };
                all(receivers.into_iter().map(follow).collect()).await;
            };
            host.pair(left, right);
        }
    }
}
