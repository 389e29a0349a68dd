//! A waker may use the very primitive that calls it, and may wait for a thread that does.
//!
//! On its own thread that fails where something is borrowed, on another one where a lock is held.

use crate::{poll, poll_and_drop};
use corelane_primitives::{
    Feed, Order, Overflow, PlainSignal, SendError, Signal, Subscription, Topic, TopicOverflow,
    TryPublishError, TrySetError, channel,
};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// How long a thread may take that a waker waits for, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(60);

type Deed = Box<dyn FnOnce() + Send>;

/// Does something when it is woken first, and counts.
struct Act {
    deed: Mutex<Option<Deed>>,
    rings: AtomicUsize,
}

impl Act {
    fn new(elsewhere: bool, deed: impl FnOnce() + Send + 'static) -> Arc<Self> {
        let deed: Deed = match elsewhere {
            false => Box::new(deed),
            true => Box::new(move || {
                let (done, is_done) = mpsc::channel();
                let other = thread::spawn(move || {
                    deed();
                    done.send(()).expect("somebody waits for it");
                });
                let waited = is_done.recv_timeout(PATIENCE);
                waited.expect("what the waker waits for ends");
                other.join().expect("it does not panic");
            }),
        };
        let deed = Mutex::new(Some(deed));
        let rings = AtomicUsize::new(0);
        Arc::new(Self { deed, rings })
    }

    fn rings(&self) -> usize {
        self.rings.load(Ordering::Relaxed)
    }
}

impl Wake for Act {
    fn wake(self: Arc<Self>) {
        let deed = self.deed.lock().expect("no deed runs in it").take();
        if let Some(deed) = deed {
            deed();
            self.rings.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Something that has feeds.
trait Source: Clone + Send + 'static {
    type Feed;
    /// A feed that has taken what there was.
    fn feed(&self) -> Self::Feed;
    fn change(&self);
    fn close(&self);
    /// Waits for news: whether there are any.
    fn next(feed: &mut Self::Feed) -> impl Future<Output = bool>;
}

macro_rules! signal {
    ($signal:ident, $changes:ty) => {
        impl Source for $signal<u64> {
            type Feed = $changes;

            fn feed(&self) -> Self::Feed {
                let mut feed = self.changes();
                assert!(feed.try_next().is_ok());
                feed
            }

            fn change(&self) {
                self.update(|value| value + 1).expect("it is open");
            }

            fn close(&self) {
                Self::close(self);
            }

            async fn next(feed: &mut Self::Feed) -> bool {
                feed.next().await.is_some()
            }
        }
    };
}

signal!(Signal, corelane_primitives::Changes<u64>);
signal!(
    PlainSignal,
    corelane_primitives::Changes<u64, corelane_primitives::Plain<u64>>
);

impl Source for Subscription<u64> {
    type Feed = Feed<u64>;

    fn feed(&self) -> Self::Feed {
        let mut feed = self.changes();
        assert!(feed.try_next().is_ok());
        feed
    }

    fn change(&self) {
        assert!(self.try_set(1).is_ok());
    }

    fn close(&self) {
        Self::close(self);
    }

    async fn next(feed: &mut Self::Feed) -> bool {
        feed.next().await.is_some()
    }
}

impl Source for Topic<u64> {
    type Feed = Feed<u64>;

    fn feed(&self) -> Self::Feed {
        self.subscribe()
    }

    fn change(&self) {
        assert!(self.try_publish(1).is_ok());
    }

    fn close(&self) {
        Self::close(self);
    }

    async fn next(feed: &mut Self::Feed) -> bool {
        feed.next().await.is_some()
    }
}

/// What a waker does at the source that has woken it.
fn use_all<S: Source>(source: &S) {
    let mut feed = source.feed();
    poll_and_drop(S::next(&mut feed));
    source.change();
    let mut other = source.feed();
    assert_eq!(
        poll(pin!(S::next(&mut feed)), Waker::noop()),
        Poll::Ready(true)
    );
    drop(feed);
    poll_and_drop(S::next(&mut other));
}

/// How a feed of a thread that has another one is woken.
#[derive(Clone, Copy, Debug)]
enum By {
    /// By who changes the source: it waits for both.
    Change,
    /// By the other feed, which waits for both and finds news.
    Find,
    /// By the other one, which waits for both and gives up.
    GiveUp,
    /// By who closes the source.
    Close,
}

fn check<S: Source>(make: impl Fn() -> S) {
    for by in [By::Change, By::Find, By::GiveUp, By::Close] {
        for elsewhere in [false, true] {
            let source = make();
            let own = source.clone();
            let act = Act::new(elsewhere, move || match by {
                By::Close => own.close(),
                By::Change | By::Find | By::GiveUp => use_all(&own),
            });
            let waker = Waker::from(Arc::clone(&act));
            let (mut first, mut second) = (source.feed(), source.feed());
            let mut first = Box::pin(S::next(&mut first));
            let mut second = pin!(S::next(&mut second));
            let wakers = match by {
                By::Change | By::Close => [&waker, Waker::noop()],
                By::Find | By::GiveUp => [Waker::noop(), &waker],
            };
            assert!(poll(first.as_mut(), wakers[0]).is_pending());
            assert!(poll(second.as_mut(), wakers[1]).is_pending());
            match by {
                By::Close => source.close(),
                By::Change | By::Find | By::GiveUp => source.change(),
            }
            let is_open = !matches!(by, By::Close);
            match by {
                By::Find => assert_eq!(poll(first.as_mut(), wakers[0]), Poll::Ready(true)),
                By::GiveUp => drop(first),
                By::Change | By::Close => {
                    assert_eq!(poll(first.as_mut(), wakers[0]), Poll::Ready(is_open));
                }
            }
            assert_eq!(act.rings(), 1, "{by:?}, elsewhere: {elsewhere}");
            assert_eq!(poll(second.as_mut(), wakers[1]), Poll::Ready(is_open));
        }
    }
}

/// Does something when its last copy is dropped.
struct Last(Mutex<Option<Deed>>, Arc<AtomicUsize>);

impl Wake for Last {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Last {
    fn drop(&mut self) {
        let deed = self.0.get_mut().expect("nobody panics with it").take();
        deed.expect("it is dropped once")();
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a waker that a feed keeps is dropped.
#[derive(Clone, Copy, Debug)]
enum Gone {
    /// The feed is polled with another one.
    Replaced,
    /// The wait is given up, and the feed with it.
    GivenUp,
    /// There are news.
    Woken,
}

/// A waker's drop is foreign code too.
fn check_drops<S: Source>(make: impl Fn() -> S) {
    for gone in [Gone::Replaced, Gone::GivenUp, Gone::Woken] {
        // Whether it is this feed that waits for both.
        for is_first in [true, false] {
            let source = make();
            let (own, drops) = (source.clone(), Arc::new(AtomicUsize::new(0)));
            let deed: Deed = Box::new(move || use_all(&own));
            let last = Waker::from(Arc::new(Last(Mutex::new(Some(deed)), Arc::clone(&drops))));
            let (mut feed, mut second) = (source.feed(), source.feed());
            let mut other = Box::pin(S::next(&mut second));
            if !is_first {
                assert!(poll(other.as_mut(), Waker::noop()).is_pending());
            }
            {
                let mut wait = pin!(S::next(&mut feed));
                assert!(poll(wait.as_mut(), &last).is_pending());
                if is_first {
                    assert!(poll(other.as_mut(), Waker::noop()).is_pending());
                }
                drop(last);
                assert_eq!(drops.load(Ordering::Relaxed), 0, "the feed keeps it");
                match gone {
                    Gone::Replaced => {
                        let polled = poll(wait.as_mut(), Waker::noop());
                        // What its drop changed may be news already.
                        assert!(matches!(polled, Poll::Pending | Poll::Ready(true)));
                    }
                    Gone::GivenUp => {}
                    Gone::Woken => {
                        source.change();
                        assert_eq!(poll(wait.as_mut(), Waker::noop()), Poll::Ready(true));
                    }
                }
            }
            drop(other);
            drop((feed, second));
            assert_eq!(
                drops.load(Ordering::Relaxed),
                1,
                "{gone:?}, first: {is_first}"
            );
            source.change();
        }
    }
}

// proves: W-4
#[test]
fn waker_of_a_signals_feed_may_use_the_signal() {
    check(|| Signal::new(0));
    check(|| Signal::plain(0));
    check_drops(|| Signal::new(0));
    check_drops(|| Signal::plain(0));
}

// proves: W-4
#[test]
fn waker_of_a_subscriptions_feed_may_use_the_subscription() {
    for overflow in [
        Overflow::Backpressure,
        Overflow::DropNew,
        Overflow::DropOldest,
        Overflow::Fail,
    ] {
        check(|| Subscription::new(0, 8, overflow));
        check_drops(|| Subscription::new(0, 8, overflow));
    }
}

// proves: W-4
#[test]
fn waker_of_a_topics_feed_may_use_the_topic() {
    for order in [Order::Total, Order::PerPublisher] {
        for overflow in [
            TopicOverflow::Backpressure,
            TopicOverflow::DropNew,
            TopicOverflow::DropOldest,
        ] {
            check(|| Topic::new(8, overflow).order(order));
            check_drops(|| Topic::new(8, overflow).order(order));
        }
    }
}

/// Who is woken for room, or for the end.
fn check_writer(elsewhere: bool, closes: bool) {
    let topic = Topic::new(1, TopicOverflow::Backpressure);
    let mut feed = topic.subscribe();
    topic.try_publish(0).expect("there is room");
    let own = topic.clone();
    let act = Act::new(elsewhere, move || {
        let refused = own.try_publish(9);
        match closes {
            true => assert_eq!(refused, Err(TryPublishError::Closed(9))),
            false => {
                assert_eq!(refused, Err(TryPublishError::Busy(9)));
                poll_and_drop(own.publish(9));
            }
        }
        drop(own.subscribe());
    });
    let waker = Waker::from(Arc::clone(&act));
    let mut publish = pin!(topic.publish(1));
    assert!(poll(publish.as_mut(), &waker).is_pending());
    match closes {
        true => topic.close(),
        false => assert_eq!(feed.try_next(), Ok(0)),
    }
    assert_eq!(act.rings(), 1);
    let answer = poll(publish.as_mut(), &waker);
    assert!(matches!(answer, Poll::Ready(answer) if answer.is_err() == closes));

    let subscription = Subscription::new(0, 1, Overflow::Backpressure);
    let mut feed = subscription.feed();
    assert!(subscription.try_set(1).is_ok());
    let own = subscription.clone();
    let act = Act::new(elsewhere, move || {
        let refused = own.try_set(9);
        match closes {
            true => assert_eq!(refused, Err(TrySetError::Closed(9))),
            false => {
                assert_eq!(refused, Err(TrySetError::Busy(9)));
                poll_and_drop(own.set(9));
            }
        }
        assert_eq!(own.feed().stats().delivered, 1);
    });
    let waker = Waker::from(Arc::clone(&act));
    let mut set = pin!(subscription.set(2));
    assert!(poll(set.as_mut(), &waker).is_pending());
    match closes {
        true => subscription.close(),
        false => assert_eq!(feed.try_next(), Ok(1)),
    }
    assert_eq!(act.rings(), 1);
    let answer = poll(set.as_mut(), &waker);
    assert!(matches!(answer, Poll::Ready(answer) if answer.is_err() == closes));
}

// proves: W-4
#[test]
fn waker_of_a_writer_may_write_and_subscribe() {
    for elsewhere in [false, true] {
        for closes in [false, true] {
            check_writer(elsewhere, closes);
        }
    }
}

// proves: W-4
#[test]
fn wakers_of_a_channels_ends_may_use_it() {
    for elsewhere in [false, true] {
        let (sender, mut receiver) = channel(2);
        let own = sender.clone();
        let act = Act::new(elsewhere, move || {
            assert_eq!(own.try_send(2), Ok(()));
            assert_eq!(own.try_send(3), Err(SendError::Full(3)));
            poll_and_drop(own.send(3));
            drop(own.clone());
        });
        {
            let mut recv = pin!(receiver.recv());
            let waker = Waker::from(Arc::clone(&act));
            assert!(poll(recv.as_mut(), &waker).is_pending());
            assert_eq!(sender.try_send(1), Ok(()));
            assert_eq!(act.rings(), 1);
            assert_eq!(poll(recv.as_mut(), &waker), Poll::Ready(Some(1)));
        }
        assert_eq!(sender.try_send(3), Ok(()));
        let own = sender.clone();
        let act = Act::new(elsewhere, move || {
            assert_eq!(own.try_send(9), Err(SendError::Full(9)), "it is granted");
            poll_and_drop(own.reserve(2));
            own.close();
        });
        let waker = Waker::from(Arc::clone(&act));
        let mut send = pin!(sender.send(4));
        let mut closed = pin!(sender.closed());
        assert!(poll(send.as_mut(), &waker).is_pending());
        assert!(poll(closed.as_mut(), Waker::noop()).is_pending());
        assert_eq!(receiver.try_recv(), Ok(2));
        assert_eq!(act.rings(), 1);
        assert!(poll(closed.as_mut(), Waker::noop()).is_ready());
        assert!(matches!(poll(send.as_mut(), &waker), Poll::Ready(Err(_))));
        assert_eq!(receiver.try_recv(), Ok(3));
    }
}
