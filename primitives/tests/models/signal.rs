//! Models of the signal.

use crate::bell::{Bell, wait};
use crate::models::explore;
use corelane_primitives::{Changes, NextError, Plain, PlainSignal, Signal, model};
use futures_core::Stream;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::num::NonZeroU128;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    ("plain_values_are_read_whole", plain_values_are_read_whole),
    ("torn_words_are_not_looked_at", torn_words_are_not_looked_at),
    (
        "slot_of_another_writer_is_not_taken_for_the_old_one",
        slot_of_another_writer_is_not_taken_for_the_old_one,
    ),
    (
        "shared_values_come_with_their_version",
        shared_values_come_with_their_version,
    ),
    ("plain_updates_are_atomic", plain_updates_are_atomic),
    ("shared_updates_are_atomic", shared_updates_are_atomic),
    ("waiting_feed_is_woken", waiting_feed_is_woken),
    ("duty_is_handed_on", duty_is_handed_on),
    (
        "closing_delivers_the_last_value",
        closing_delivers_the_last_value,
    ),
    ("set_takes_no_step_too_many", set_takes_no_step_too_many),
    (
        "stream_left_alone_keeps_nobody_asleep",
        stream_left_alone_keeps_nobody_asleep,
    ),
    (
        "plain_replicas_see_what_was_acknowledged",
        plain_replicas_see_what_was_acknowledged,
    ),
    (
        "shared_replicas_see_what_was_acknowledged",
        shared_replicas_see_what_was_acknowledged,
    ),
];

/// A value of two words that are the same, so that a torn one shows.
type Pair = [u64; 2];

fn pair(signal: &PlainSignal<Pair>) -> (u64, Pair) {
    signal.read_versioned(|version, value| (version.number(), *value))
}

/// The first slot is written again by the second set, while somebody may still be copying it.
pub(crate) fn plain_values_are_read_whole() {
    explore(|| {
        let signal = Signal::plain([0, 0]);
        let setting = signal.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                assert!(setting.set([value, value]).is_ok());
            }
        });
        let (version, value) = pair(&signal);
        assert_eq!(value, [version, version]);
        let (later, value) = pair(&signal);
        assert_eq!(value, [later, later]);
        assert!(later >= version);
    });
}

/// Between the first value of a slot and its next one, the words are none for a moment: a reader
/// that made a value of them before it knows whether they are torn would panic.
pub(crate) fn torn_words_are_not_looked_at() {
    const LOW: NonZeroU128 = NonZeroU128::MIN;
    const HIGH: NonZeroU128 = NonZeroU128::new(1 << 64).expect("it is not zero");
    explore(|| {
        let signal = Signal::plain(LOW);
        let setting = signal.clone();
        thread::spawn(move || {
            for value in [NonZeroU128::MAX, HIGH] {
                assert!(setting.set(value).is_ok());
            }
        });
        let value = signal.get_cloned();
        assert!([LOW, NonZeroU128::MAX, HIGH].contains(&value));
    });
}

/// The slot that one writer frees goes to another one, who knows of the first only by taking it.
pub(crate) fn slot_of_another_writer_is_not_taken_for_the_old_one() {
    explore(|| {
        let signal = Signal::plain([9, 9]);
        for value in [1, 2] {
            let setting = signal.clone();
            thread::spawn(move || {
                assert!(setting.set([value, value]).is_ok());
            });
        }
        let (version, [first, second]) = pair(&signal);
        assert_eq!(first, second);
        assert_eq!(version == 0, first == 9);
    });
}

pub(crate) fn shared_values_come_with_their_version() {
    explore(|| {
        let signal = Signal::new(0);
        let setting = signal.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                assert!(setting.set(value).is_ok());
            }
        });
        let seen = signal.version().number();
        signal.read_versioned(|version, value| {
            assert_eq!(version.number(), *value);
            assert!(*value >= seen);
        });
    });
}

pub(crate) fn plain_updates_are_atomic() {
    explore(|| {
        let signal = Signal::plain(0_u64);
        let theirs = signal.clone();
        let other = thread::spawn(move || theirs.update(|value| value + 1).is_ok());
        assert!(signal.update(|value| value + 1).is_ok());
        assert!(other.join().expect("it does not panic"));
        assert_eq!((signal.get_cloned(), signal.version().number()), (2, 2));
    });
}

pub(crate) fn shared_updates_are_atomic() {
    explore(|| {
        let signal = Signal::new(0_u64);
        let theirs = signal.clone();
        let other = thread::spawn(move || theirs.update(|value| value + 1).is_ok());
        assert!(signal.update(|value| value + 1).is_ok());
        assert!(other.join().expect("it does not panic"));
        assert_eq!((signal.get_cloned(), signal.version().number()), (2, 2));
    });
}

type Feed = Changes<u64, Plain<u64>>;

fn wait_for(feed: &mut Feed) -> Option<u64> {
    let mut next = pin!(feed.next());
    wait(|cx| next.as_mut().poll(cx)).0
}

/// The handle outlives the wait, so that only the set can wake.
pub(crate) fn waiting_feed_is_woken() {
    explore(|| {
        let signal = Signal::plain(0_u64);
        let mut feed = signal.changes();
        assert_eq!(feed.try_next(), Ok(0));
        let setting = signal.clone();
        thread::spawn(move || {
            for value in 1..=2 {
                assert!(setting.set(value).is_ok());
            }
        });
        let mut last = 0;
        while last < 2 {
            let value = wait_for(&mut feed).expect("the signal is open");
            assert!(value > last);
            last = value;
        }
        assert_eq!(feed.try_next(), Err(NextError::Empty));
    });
}

/// Two feeds wait; the one that is rung gives up, and the other one still learns.
pub(crate) fn duty_is_handed_on() {
    explore(|| {
        let signal = Signal::plain(0_u64);
        let (mut first, mut second) = (signal.changes(), signal.changes());
        assert_eq!((first.try_next(), second.try_next()), (Ok(0), Ok(0)));
        let gives_up = Arc::new(Bell::default());
        let waker = Waker::from(gives_up);
        let mut giving_up = Box::pin(first.next());
        let polled = giving_up.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let setting = signal.clone();
        thread::spawn(move || assert!(setting.set(1).is_ok()));
        let mut giving_up = Some(giving_up);
        let mut next = pin!(second.next());
        let value = wait(|cx| {
            let polled = Pin::new(&mut next).poll(cx);
            giving_up = None;
            polled
        });
        assert_eq!(value.0, Some(1));
    });
}

pub(crate) fn closing_delivers_the_last_value() {
    explore(|| {
        let signal = Signal::plain(0_u64);
        let mut feed = signal.changes();
        assert_eq!(feed.try_next(), Ok(0));
        let closing = signal.clone();
        thread::spawn(move || {
            assert!(closing.close_with(1).is_ok());
            assert!(closing.set(2).is_err());
        });
        assert_eq!(wait_for(&mut feed), Some(1));
        assert_eq!(wait_for(&mut feed), None);
    });
}

/// Counted: a look, one at the published slot's word and one at the free one's, the slot's taking,
/// a fence, filling and freeing, one exchange, and for feeds a fence and a load.
pub(crate) fn set_takes_no_step_too_many() {
    fn steps<R>(act: impl FnOnce() -> R) -> usize {
        let before = model::steps();
        act();
        model::steps() - before
    }
    explore(|| {
        let signal = Signal::plain(0_u64);
        let reading = signal.clone();
        thread::spawn(move || {
            let steps = steps(|| reading.get_cloned());
            assert_eq!(steps % 4, 0, "a look, a word, a fence, a look each turn");
        });
        // An idle feed costs a set nothing.
        let _feed = signal.changes();
        assert_eq!(steps(|| signal.set(1)), 10);
    });
}

/// One feed waits as a stream and is never polled again; the other one learns all the same.
pub(crate) fn stream_left_alone_keeps_nobody_asleep() {
    explore(|| {
        let signal = Signal::plain(0_u64);
        let (mut left, mut feed) = (signal.changes(), signal.changes());
        assert_eq!((left.try_next(), feed.try_next()), (Ok(0), Ok(0)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut left).poll_next(&mut cx).is_pending());
        let setting = signal.clone();
        thread::spawn(move || assert!(setting.set(1).is_ok()));
        assert_eq!(wait_for(&mut feed), Some(1));
        assert_eq!(left.try_next(), Ok(1));
    });
}

/// A model: sets of 1 and 2, each acknowledged by a flag, beside a replica that looks before and
/// after it reads that flag.
macro_rules! replicas_see_what_was_acknowledged {
    ($make:path) => {
        explore(|| {
            let signal = $make([0_u64, 0]);
            let mut replica = signal.replica();
            assert_eq!(**replica.look(), [0, 0]);
            let acknowledged = loom::sync::Arc::new(AtomicU64::new(0));
            let said = acknowledged.clone();
            thread::spawn(move || {
                for value in 1..=2 {
                    assert!(signal.set([value, value]).is_ok());
                    said.store(value, Ordering::Release);
                }
            });
            let least = acknowledged.load(Ordering::Acquire);
            let (version, value) = replica.look_versioned();
            assert!(version.number() >= least);
            assert_eq!(**value, [version.number(); 2]);
        });
    };
}

pub(crate) fn plain_replicas_see_what_was_acknowledged() {
    replicas_see_what_was_acknowledged!(Signal::plain);
}

pub(crate) fn shared_replicas_see_what_was_acknowledged() {
    replicas_see_what_was_acknowledged!(Signal::new);
}
