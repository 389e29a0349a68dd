//! Topics between threads: one order for all, nothing lost that was accepted, every loss counted.
#![cfg(not(corelane_loom))]

mod support;

use corelane_primitives::{Feed, NextError, Order, Topic, TopicOverflow};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use support::block_on;

const PUBLISHERS: u64 = 3;
const COUNT: u64 = 5_000;
const ALL: u64 = PUBLISHERS * COUNT;

/// A value that is torn if two threads touch its node at once.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    publisher: u64,
    number: u64,
    text: String,
}

impl Event {
    fn new(publisher: u64, number: u64) -> Self {
        Self {
            publisher,
            number,
            text: format!("{publisher}:{number}"),
        }
    }

    fn check(&self) {
        assert_eq!(self.text, format!("{}:{}", self.publisher, self.number));
    }
}

/// Takes everything to the end.
type Take = fn(Feed<Event>) -> (Vec<Event>, Feed<Event>);

fn take_singly(mut feed: Feed<Event>) -> (Vec<Event>, Feed<Event>) {
    block_on(async move {
        let mut taken = Vec::new();
        while let Some(event) = feed.next().await {
            taken.push(event.expect("a topic's feed does not fail"));
        }
        (taken, feed)
    })
}

fn take_batches(mut feed: Feed<Event>) -> (Vec<Event>, Feed<Event>) {
    block_on(async move {
        let mut taken = Vec::new();
        while feed.next_batch(&mut taken, usize::MAX).await != Ok(0) {}
        (taken, feed)
    })
}

fn take_blocking(mut feed: Feed<Event>) -> (Vec<Event>, Feed<Event>) {
    let mut taken = Vec::new();
    loop {
        match feed.blocking_next(Duration::MAX) {
            Ok(event) => taken.push(event),
            Err(NextError::Closed) => return (taken, feed),
            Err(error) => panic!("{error}"),
        }
    }
}

fn take_trying(mut feed: Feed<Event>) -> (Vec<Event>, Feed<Event>) {
    let mut taken = Vec::new();
    loop {
        match feed.try_next() {
            Ok(event) => taken.push(event),
            Err(NextError::Empty) => thread::yield_now(),
            Err(_) => return (taken, feed),
        }
    }
}

const TAKES: [Take; 4] = [take_singly, take_batches, take_blocking, take_trying];

fn publish_all(topic: &Topic<Event>, publisher: u64) {
    let events = (0..COUNT).map(|number| Event::new(publisher, number));
    match publisher {
        0 => block_on(async {
            for event in events {
                topic.publish(event).await.expect("the topic is open");
            }
        }),
        1 => assert_eq!(block_on(topic.publish_batch(events)), Ok(COUNT as usize)),
        _ => {
            for event in events {
                let published = topic.blocking_publish(event, Duration::MAX);
                published.expect("the topic is open");
            }
        }
    }
}

/// What each subscriber got; one thread a way to take.
fn run(capacity: usize, overflow: TopicOverflow, order: Order) -> Vec<Vec<Event>> {
    let topic = Topic::new(capacity, overflow).order(order);
    let ready = Barrier::new(TAKES.len() + PUBLISHERS as usize);
    thread::scope(|scope| {
        let subscribers = TAKES.map(|take| {
            let (topic, ready) = (&topic, &ready);
            scope.spawn(move || {
                let feed = topic.subscribe();
                ready.wait();
                let (taken, feed) = take(feed);
                let stats = feed.stats();
                assert_eq!(stats.delivered, taken.len() as u64);
                assert_eq!((stats.delivered + stats.dropped, stats.lag), (ALL, 0));
                taken
            })
        });
        let publishers = [0, 1, 2].map(|publisher| {
            let (topic, ready) = (&topic, &ready);
            scope.spawn(move || {
                ready.wait();
                publish_all(topic, publisher);
            })
        });
        for publisher in publishers {
            publisher.join().expect("a publisher does not panic");
        }
        topic.close();
        subscribers
            .map(|subscriber| subscriber.join().expect("a subscriber does not panic"))
            .into()
    })
}

/// Each event whole, and each publisher's in its order.
fn check_orders(taken: &[Event]) {
    let mut next = [0; PUBLISHERS as usize];
    for event in taken {
        event.check();
        let next = &mut next[event.publisher as usize];
        assert!(event.number >= *next, "{event:?} came after {next}");
        *next = event.number + 1;
    }
}

// proves: T-2
// proves: T-8
// proves: S-11
#[test]
fn backpressure_loses_nothing_and_all_see_one_order() {
    for capacity in [1, 2, 7, 64, 1_024] {
        let taken = run(capacity, TopicOverflow::Backpressure, Order::Total);
        for events in &taken {
            assert_eq!(events.len() as u64, ALL);
            check_orders(events);
            assert!(events == &taken[0], "two subscribers saw two orders");
        }
    }
}

// proves: T-2
// proves: T-8
// proves: S-11
#[test]
fn publishers_without_one_order_lose_nothing_and_keep_theirs() {
    for capacity in [1, 2, 7, 64, 1_024] {
        for events in run(capacity, TopicOverflow::Backpressure, Order::PerPublisher) {
            assert_eq!(events.len() as u64, ALL);
            check_orders(&events);
        }
    }
}

// proves: T-8
// proves: S-11
#[test]
fn dropping_feeds_count_what_they_lose() {
    for overflow in [TopicOverflow::DropNew, TopicOverflow::DropOldest] {
        for capacity in [1, 2, 7, 64, 1_024] {
            for order in [Order::Total, Order::PerPublisher] {
                for events in run(capacity, overflow, order) {
                    check_orders(&events);
                }
            }
        }
    }
}

// proves: T-1
// proves: T-5
#[test]
fn coming_and_going_feeds_see_a_gapless_part() {
    let topic = Topic::new(4, TopicOverflow::Backpressure);
    thread::scope(|scope| {
        let topic = &topic;
        let publisher = scope.spawn(move || {
            for number in 0..COUNT {
                let published = topic.blocking_publish(Event::new(0, number), Duration::MAX);
                published.expect("the topic is open");
            }
            topic.close();
        });
        for way in 0..3_usize {
            scope.spawn(move || {
                let mut rounds = 0_u64;
                while !topic.is_closed() {
                    let overflow = match (rounds as usize + way) % 3 {
                        0 => TopicOverflow::Backpressure,
                        1 => TopicOverflow::DropNew,
                        _ => TopicOverflow::DropOldest,
                    };
                    let feed = topic.subscribe_with(3, overflow);
                    let mut feed = feed.expect("3 is at most 4");
                    let mut last: Option<u64> = None;
                    for _ in 0..rounds % 17 {
                        let Ok(event) = feed.blocking_next(Duration::MAX) else {
                            break;
                        };
                        event.check();
                        if let Some(last) = last {
                            let is_next = event.number == last + 1;
                            let may_skip = overflow != TopicOverflow::Backpressure;
                            assert!(is_next || (may_skip && event.number > last));
                        }
                        last = Some(event.number);
                    }
                    rounds += 1;
                }
            });
        }
        publisher.join().expect("the publisher does not panic");
    });
}
