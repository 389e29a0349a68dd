//! What the producers and the handler of a `RingChannel` see of each other.
#![cfg(not(corelane_loom))]

#[path = "support/settle.rs"]
mod settle;

use corelane_primitives::{PushError, RingChannel};
use settle::settle;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll<F: Future + Unpin>(future: &mut F, bell: &Arc<Bell>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(bell));
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

/// Values that a plain handler has seen, for its test.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u64>>>);

impl Seen {
    fn values(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// proves: F-5
// proves: F-16
#[test]
fn handler_gets_one_wake_a_batch_and_producers_send_it_no_message() {
    let (seen, bell) = (Seen::default(), Arc::new(Bell::default()));
    let handled = seen.clone();
    let task = RingChannel::builder().capacity(1024);
    let task = task.handler(move |value| handled.values().push(value));
    let (channel, mut run) = task.run().expect("a power of two");
    let rings = || bell.0.load(Ordering::Relaxed);
    assert!(poll(&mut run, &bell).is_pending());
    let ring = channel.ring();
    for value in 0..600 {
        assert_eq!(ring.push(value), Ok(()));
    }
    assert_eq!(
        (rings(), seen.values().len()),
        (1, 0),
        "a push runs no handler"
    );
    // Each batch of 256 at most is one turn, which asks for the next one.
    for handled in [256, 512, 600] {
        assert!(poll(&mut run, &bell).is_pending());
        assert_eq!(seen.values().len(), handled);
        assert_eq!(ring.popped(), handled as u64);
    }
    assert_eq!(rings(), 4);
    let (polled, own) = settle(rings, || poll(&mut run, &bell));
    assert!(polled.is_pending());
    assert_eq!(rings(), 4 + own, "it sleeps now");
    channel.close();
    assert_eq!(ring.push(1), Err(PushError::Closed(1)));
    assert!(matches!(poll(&mut run, &bell), Poll::Ready(Ok(()))));
    assert!(seen.values().iter().copied().eq(0..600));
}

// proves: F-5
#[test]
fn fold_on_a_thread_ends_with_its_accumulator_when_all_producers_are_gone() {
    let task = RingChannel::builder().capacity(8);
    let task = task.fold((0, 0), |(count, sum), value| (count + 1, sum + value));
    let spawned = task.spawn_on(|run| thread::spawn(|| run.block()));
    let (channel, running) = spawned.expect("a power of two");
    thread::scope(|scope| {
        for _ in 0..4 {
            let ring = channel.ring();
            scope.spawn(move || {
                for value in 1..=1_000 {
                    assert_eq!(ring.blocking_push(value, Duration::MAX), Ok(()));
                }
            });
        }
    });
    drop(channel);
    let folded = running.join().expect("no panic gets out of it");
    assert_eq!(
        folded.expect("the handler does not panic"),
        (4_000, 4 * 500_500)
    );
}

// proves: F-5
#[test]
fn panic_of_either_handler_fails_the_channel_and_producers_learn_it() {
    for folding in [false, true] {
        let bell = Arc::new(Bell::default());
        let check = |value| assert_ne!(value, 2, "as planned");
        let builder = RingChannel::builder().capacity(4);
        let (channel, outcome) = if folding {
            let task = builder.fold(0, move |count, value| {
                check(value);
                count + 1
            });
            let (channel, mut run) = task.run().expect("a power of two");
            assert_eq!(channel.ring().push_batch(&[1, 2, 3, 4]), Ok(4));
            (channel, poll(&mut run, &bell).map(|ended| ended.map(drop)))
        } else {
            let task = builder.handler(check);
            let (channel, mut run) = task.run().expect("a power of two");
            assert_eq!(channel.ring().push_batch(&[1, 2, 3, 4]), Ok(4));
            (channel, poll(&mut run, &bell))
        };
        let Poll::Ready(Err(panic)) = outcome else {
            panic!("the channel goes on");
        };
        let carried = panic.into_panic();
        let text = carried
            .downcast_ref::<String>()
            .expect("an assertion's text");
        assert!(text.contains("as planned"), "{text}");
        assert!(channel.is_failed() && channel.is_closed());
        let ring = channel.ring();
        assert_eq!(ring.push(7), Err(PushError::Failed(7)));
        assert_eq!(ring.push_batch(&[7]), Err(PushError::Failed(())));
        let waited = ring.blocking_push(8, Duration::from_secs(60));
        assert_eq!(waited, Err(PushError::Failed(8)), "at once");
        assert_eq!(ring.popped(), 2, "the value at which it panicked is taken");
    }
}

// proves: F-5
#[test]
fn push_that_waits_learns_that_the_handler_has_panicked() {
    let task = RingChannel::builder()
        .capacity(1)
        .handler(|_| panic!("as planned"));
    let (channel, mut run) = task.run().expect("a power of two");
    let bell = Arc::new(Bell::default());
    let ring = channel.ring();
    assert_eq!(ring.push(1), Ok(()));
    let mut waiting = Box::pin(ring.push_wait(2, Duration::MAX));
    // The room of the value that was taken wakes the first; there is none for the second.
    let mut second = Box::pin(ring.push_wait(3, Duration::MAX));
    assert!(poll(&mut waiting, &bell).is_pending());
    assert!(poll(&mut second, &bell).is_pending());
    assert!(matches!(poll(&mut run, &bell), Poll::Ready(Err(_))));
    assert_eq!(bell.0.load(Ordering::Relaxed), 2);
    let failed = Poll::Ready(Err(PushError::Failed(3)));
    assert_eq!(poll(&mut second, &bell), failed);
    let failed = Poll::Ready(Err(PushError::Failed(2)));
    assert_eq!(poll(&mut waiting, &bell), failed);
}

struct PanicBell;

impl Wake for PanicBell {
    fn wake(self: Arc<Self>) {
        panic!("as planned");
    }
}

#[test]
fn panic_of_a_producers_waker_fails_the_channel_too() {
    let task = RingChannel::builder().capacity(1).handler(drop);
    let (channel, mut run) = task.run().expect("a power of two");
    let ring = channel.ring();
    assert_eq!(ring.push(1), Ok(()));
    let mut waiting = Box::pin(ring.push_wait(2, Duration::MAX));
    let waker = Waker::from(Arc::new(PanicBell));
    let polled = Pin::new(&mut waiting).poll(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());
    let bell = Arc::new(Bell::default());
    assert!(matches!(poll(&mut run, &bell), Poll::Ready(Err(_))));
    assert_eq!((channel.is_failed(), ring.popped()), (true, 1));
    let failed = Poll::Ready(Err(PushError::Failed(2)));
    assert_eq!(poll(&mut waiting, &bell), failed);
}

// proves: F-16
#[test]
fn slow_handler_shows_as_full_or_as_a_wait_that_ends_by_time() {
    let task = RingChannel::builder().capacity(2).handler(drop);
    let (channel, mut run) = task.run().expect("a power of two");
    let ring = channel.ring();
    assert_eq!(ring.push_batch(&[1, 2, 3]), Ok(2));
    assert_eq!(ring.push(3), Err(PushError::Full(3)));
    let waited = ring.blocking_push(4, Duration::from_millis(1));
    assert_eq!(waited, Err(PushError::TimedOut(4)));
    assert!(poll(&mut run, &Arc::new(Bell::default())).is_pending());
    assert_eq!(ring.push(5), Ok(()));
    assert_eq!((ring.refused(), ring.pushed()), (3, 3));
}

#[test]
fn task_that_is_dropped_closes_the_ring() {
    let (channel, run) = RingChannel::builder()
        .handler(drop)
        .run()
        .expect("it has a default");
    let ring = channel.ring();
    assert_eq!((ring.capacity(), ring.push(1)), (4096, Ok(())));
    drop(run);
    assert!(channel.is_closed() && !channel.is_failed());
    assert_eq!(ring.push(2), Err(PushError::Closed(2)));
}
