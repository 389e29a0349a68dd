//! Models of the topic's log.
//!
//! What publishes is the model's first thread wherever it can be: loom finds out by the changes
//! that came before it which of a thread's loads may be tried in another order, and not the other
//! way round. Values have a count (std's, which orders nothing here), so that one dropped twice or
//! never fails the model, and stand in cells that loom watches.

use crate::bell::{Bell, wait};
use corelane_primitives::{DetachedFeed, Feed, NextError, Topic, TopicOverflow, model};
use loom::thread;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("copied_nodes_are_reused", copied_nodes_are_reused),
    (
        "coming_feed_is_seen_or_starts_behind",
        coming_feed_is_seen_or_starts_behind,
    ),
    ("moving_feed_keeps_its_limit", moving_feed_keeps_its_limit),
    ("newest_values_are_read_whole", newest_values_are_read_whole),
    ("oldest_values_are_kept", oldest_values_are_kept),
    (
        "leaving_feed_leaves_no_value_behind",
        leaving_feed_leaves_no_value_behind,
    ),
    ("last_window_goes", last_window_goes),
    (
        "two_publishers_have_one_order",
        two_publishers_have_one_order,
    ),
    (
        "handle_of_two_threads_keeps_one_node",
        handle_of_two_threads_keeps_one_node,
    ),
    ("waiting_feed_is_woken", waiting_feed_is_woken),
    ("duty_is_handed_on", duty_is_handed_on),
    ("closing_is_one_step", closing_is_one_step),
    ("closing_wakes_a_waiting_feed", closing_wakes_a_waiting_feed),
    ("waiting_publisher_is_woken", waiting_publisher_is_woken),
];

/// How often the explored schedules take a running thread off its core, fences included.
const PREEMPTIONS_MAX: usize = 3;

fn explore(model: fn()) {
    explore_to(PREEMPTIONS_MAX, model);
}

fn explore_to(preemptions_max: usize, model: fn()) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions_max);
    builder.check(move || {
        model::watch_fences();
        model();
    });
    model::ignore_fences();
}

#[derive(Clone, Debug)]
struct Token(
    u64,
    #[expect(dead_code, reason = "its count is looked at")] Arc<()>,
);

/// Makes values, and tells at the end whether all are gone.
#[derive(Default)]
struct Mint(Arc<()>);

impl Mint {
    fn token(&self, number: u64) -> Token {
        Token(number, self.0.clone())
    }

    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    fn check(self) {
        assert_eq!(Arc::strong_count(&self.0), 1, "a value was never dropped");
    }
}

fn topic(capacity: usize, overflow: TopicOverflow) -> Topic<Token> {
    Topic::new(capacity, overflow)
}

fn number<P>(feed: &mut Feed<Token, P>) -> Result<u64, NextError> {
    feed.try_next().map(|token| token.0)
}

fn drain<P>(feed: &mut Feed<Token, P>) -> Vec<u64> {
    std::iter::from_fn(|| number(feed).ok()).collect()
}

fn wait_for(feed: &mut Feed<Token>) -> Option<u64> {
    let mut next = pin!(feed.next());
    let (item, _) = wait(|cx| next.as_mut().poll(cx));
    item.map(|answer| answer.expect("a topic's feed does not fail").0)
}

/// Takes up to `count` values on a thread of its own, and gives the feed back.
fn take_aside(
    mut feed: DetachedFeed<Token>,
    count: usize,
) -> thread::JoinHandle<(Vec<u64>, DetachedFeed<Token>)> {
    thread::spawn(move || {
        let taken = (0..count).filter_map(|_| number(&mut feed).ok()).collect();
        (taken, feed)
    })
}

/// Publishes until one is refused; how many were not.
fn publish(topic: &Topic<Token>, mint: &Mint, values: std::ops::Range<u64>) -> u64 {
    let published = values.take_while(|value| topic.try_publish(mint.token(*value)).is_ok());
    published.count() as u64
}

/// Appends put out what the feed is reading: its nodes are emptied only afterwards.
pub(crate) fn copied_nodes_are_reused() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::Backpressure);
        let feed = topic.subscribe().detach();
        assert_eq!(publish(&topic, &mint, 0..1), 1);
        let reader = take_aside(feed, 2);
        let published = 1 + publish(&topic, &mint, 1..3);
        let (mut taken, mut feed) = reader.join().expect("it does not panic");
        taken.extend(drain(&mut feed));
        assert_eq!(taken, (0..published).collect::<Vec<_>>());
        drop((topic, feed));
        mint.check();
    });
}

/// Each publisher has seen the new feed, or its value is at most the first one there.
pub(crate) fn coming_feed_is_seen_or_starts_behind() {
    // Two publishers: one of them alone would fence between its appends anyway.
    explore_to(2, || {
        let mint = Mint::default();
        let topic = topic(2, TopicOverflow::Backpressure);
        let mut old = topic.subscribe();
        let subscribing = topic.clone();
        let subscriber = thread::spawn(move || {
            let new = subscribing.subscribe_with(1, TopicOverflow::Backpressure);
            new.expect("1 is at most 2").detach()
        });
        let publishing = topic.clone();
        let minting = mint.clone();
        let publisher = thread::spawn(move || publish(&publishing, &minting, 0..1));
        let mut published = publish(&topic, &mint, 1..2);
        published += publisher.join().expect("it does not panic");
        let mut new = subscriber.join().expect("it does not panic");
        assert!(new.stats().lag <= 1);
        let all = drain(&mut old);
        assert_eq!(all.len() as u64, published);
        assert!(all.ends_with(&drain(&mut new)));
        drop((topic, old, new));
        mint.check();
    });
}

/// A feed moves to a part of its own while somebody publishes: nobody passes its limit.
pub(crate) fn moving_feed_keeps_its_limit() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::Backpressure);
        let subscribing = topic.clone();
        let subscriber = thread::spawn(move || {
            let staying = subscribing.subscribe();
            let moved = subscribing.subscribe().detach();
            drop(staying);
            moved
        });
        publish(&topic, &mint, 0..2);
        let mut moved = subscriber.join().expect("it does not panic");
        assert!(moved.stats().lag <= 1);
        drain(&mut moved);
        drop((topic, moved));
        mint.check();
    });
}

/// A writer laps the reader in the middle of a copy.
pub(crate) fn newest_values_are_read_whole() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::DropOldest);
        let feed = topic.subscribe().detach();
        assert_eq!(publish(&topic, &mint, 0..1), 1);
        let reader = take_aside(feed, 1);
        assert_eq!(publish(&topic, &mint, 1..3), 2);
        let (mut taken, mut feed) = reader.join().expect("it does not panic");
        taken.extend(drain(&mut feed));
        assert!(taken.is_sorted_by(|earlier, later| earlier < later));
        assert_eq!(taken.last(), Some(&2));
        let stats = feed.stats();
        assert_eq!(stats.delivered + stats.dropped, 3);
        drop((topic, feed));
        mint.check();
    });
}

/// Writers go on past what a reader keeps; it gets the oldest all the same.
pub(crate) fn oldest_values_are_kept() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::DropNew);
        let feed = topic.subscribe();
        let reader = take_aside(feed.detach(), 1);
        assert_eq!(publish(&topic, &mint, 0..3), 3);
        let (mut taken, mut feed) = reader.join().expect("it does not panic");
        taken.extend(drain(&mut feed));
        assert!(taken.is_sorted_by(|earlier, later| earlier < later));
        assert!(taken.first() == Some(&0), "{taken:?}");
        let stats = feed.stats();
        assert_eq!(stats.delivered + stats.dropped, 3);
        drop((topic, feed));
        mint.check();
    });
}

/// The feed goes while its window has just been seen.
pub(crate) fn leaving_feed_leaves_no_value_behind() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::Backpressure);
        let keeping = topic.subscribe_with(1, TopicOverflow::DropNew);
        let keeping = keeping.expect("1 is at most 1").detach();
        let rest = topic.subscribe_with(1, TopicOverflow::DropOldest);
        let mut rest = rest.expect("1 is at most 1");
        assert_eq!(publish(&topic, &mint, 0..1), 1);
        let leaving = thread::spawn(move || {
            let mut keeping = keeping;
            let taken = number(&mut keeping);
            assert_eq!(taken, Ok(0));
        });
        assert_eq!(publish(&topic, &mint, 1..2), 1);
        leaving.join().expect("it does not panic");
        assert_eq!(drain(&mut rest), [1]);
        drop((topic, rest));
        mint.check();
    });
}

/// No part has a window any more, but one had: what it held was copied.
pub(crate) fn last_window_goes() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::DropNew);
        let mut keeping = topic.subscribe().detach();
        assert_eq!(publish(&topic, &mint, 0..1), 1);
        let leaving = thread::spawn(move || {
            assert_eq!(number(&mut keeping), Ok(0));
        });
        assert_eq!(publish(&topic, &mint, 1..2), 1);
        leaving.join().expect("it does not panic");
        drop(topic);
        mint.check();
    });
}

pub(crate) fn two_publishers_have_one_order() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(2, TopicOverflow::Backpressure);
        let mut feeds = [topic.subscribe().detach(), topic.subscribe().detach()];
        let publishing = topic.clone();
        let minting = mint.clone();
        let publisher = thread::spawn(move || {
            let published = publishing.try_publish(minting.token(1));
            published.expect("there is room");
        });
        topic.try_publish(mint.token(0)).expect("there is room");
        publisher.join().expect("it does not panic");
        let taken = feeds.each_mut().map(drain);
        assert_eq!(taken[0], taken[1]);
        assert_eq!(taken[0].len(), 2);
        drop((topic, feeds));
        mint.check();
    });
}

/// Both threads take and keep nodes of one handle, and what one emptied the other fills.
pub(crate) fn handle_of_two_threads_keeps_one_node() {
    explore(|| {
        let mint = Mint::default();
        let topic = Arc::new(topic(1, TopicOverflow::DropOldest));
        let mut feed = topic.subscribe();
        topic.try_publish(mint.token(0)).expect("it is never full");
        let publishing = topic.clone();
        let minting = mint.clone();
        let publisher = thread::spawn(move || {
            let published = publishing.try_publish(minting.token(1));
            published.expect("it is never full");
        });
        topic.try_publish(mint.token(2)).expect("it is never full");
        publisher.join().expect("it does not panic");
        let taken = drain(&mut feed);
        assert!(taken == [1] || taken == [2]);
        drop((topic, feed));
        mint.check();
    });
}

pub(crate) fn waiting_feed_is_woken() {
    explore(|| {
        let topic = topic(1, TopicOverflow::Backpressure);
        let mut feed = topic.subscribe();
        let publishing = topic.clone();
        thread::spawn(move || {
            let published = publishing.try_publish(Mint::default().token(7));
            published.expect("there is room");
            // The handle stays, so that its end wakes nobody.
            std::mem::forget(publishing);
        });
        assert_eq!(wait_for(&mut feed), Some(7));
        let stats = topic.stats();
        assert!(stats.bells <= 1 && stats.scans <= 1);
    });
}

/// Who was to be rung gives up at the moment of the ring: the other feed is woken.
pub(crate) fn duty_is_handed_on() {
    explore(|| {
        let topic = topic(1, TopicOverflow::Backpressure);
        let mut first = topic.subscribe();
        let mut second = topic.subscribe();
        let mut given_up = Box::pin(first.next());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(given_up.as_mut().poll(&mut cx).is_pending());
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(bell.clone());
        let mut next = Box::pin(second.next());
        let polled = next.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let publishing = topic.clone();
        let publisher = thread::spawn(move || {
            let published = publishing.try_publish(Mint::default().token(7));
            published.expect("there is room");
            std::mem::forget(publishing);
        });
        drop(given_up);
        publisher.join().expect("it does not panic");
        // Twice where the handing on and the publish meet.
        assert!((1..=2).contains(&bell.rings()));
    });
}

/// A publish beside a close is accepted and then delivered, or refused.
pub(crate) fn closing_is_one_step() {
    explore(|| {
        let mint = Mint::default();
        let topic = topic(1, TopicOverflow::Backpressure);
        let mut feed = topic.subscribe();
        let publishing = topic.clone();
        let minting = mint.clone();
        let publisher = thread::spawn(move || {
            let published = publishing.try_publish(minting.token(7));
            published.is_ok()
        });
        topic.close();
        let accepted = publisher.join().expect("it does not panic");
        assert_eq!(number(&mut feed).is_ok(), accepted);
        assert_eq!(number(&mut feed), Err(NextError::Closed));
        drop((topic, feed));
        mint.check();
    });
}

pub(crate) fn closing_wakes_a_waiting_feed() {
    explore(|| {
        let topic = topic(1, TopicOverflow::Backpressure);
        let mut feed = topic.subscribe();
        thread::spawn(move || {
            topic.close();
            std::mem::forget(topic);
        });
        assert_eq!(wait_for(&mut feed), None);
    });
}

pub(crate) fn waiting_publisher_is_woken() {
    // It has many steps, most of them those of the list of waiters, which has models of its own.
    explore_to(2, || {
        let topic = topic(1, TopicOverflow::Backpressure);
        let feed = topic.subscribe();
        topic
            .try_publish(Mint::default().token(0))
            .expect("there is room");
        let feed: DetachedFeed<Token> = feed.detach();
        thread::spawn(move || {
            let mut feed = feed;
            assert_eq!(number(&mut feed), Ok(0));
            std::mem::forget(feed);
        });
        let mut publish = pin!(topic.publish(Mint::default().token(1)));
        let (published, rings) = wait(|cx| Pin::new(&mut publish).poll(cx));
        assert!(published.is_ok() && rings <= 1);
    });
}
