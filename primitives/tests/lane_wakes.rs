//! Who is woken, how often, and what a waker may do.
#![cfg(not(corelane_loom))]

use corelane_primitives::{Closed, Consumer, Parker, Producer, lane};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Counts wakes.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn bell() -> (Arc<Bell>, Waker) {
    let bell = Arc::new(Bell::default());
    (bell.clone(), Waker::from(bell))
}

/// Calls a function when woken.
struct Act<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Act<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        (self.0)();
    }
}

fn ready<T>(consumer: &mut Consumer<T>, waker: &Waker) -> Poll<bool> {
    consumer.poll_ready(&mut Context::from_waker(waker))
}

fn room<T>(producer: &mut Producer<T>, waker: &Waker, slots: usize) -> Poll<Result<(), Closed>> {
    producer.poll_room(&mut Context::from_waker(waker), slots)
}

// proves: W-1
#[test]
fn only_a_parked_consumer_is_woken_and_once() {
    let (bell, waker) = bell();
    let (mut producer, mut consumer) = lane(4);
    assert!(producer.push(1).is_ok());
    assert!(!producer.notify());
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert!(!producer.notify());
    assert_eq!(consumer.pop(), Some(1));
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    assert_eq!(bell.rings(), 0);
    for value in 2..=4 {
        assert!(producer.push(value).is_ok());
        assert_eq!(producer.notify(), value == 2);
    }
    assert_eq!(bell.rings(), 1);
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.read_chunk(9).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    drop(producer);
    assert_eq!(bell.rings(), 2);
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(false));
}

// proves: W-1
#[test]
fn parked_producer_is_woken_once_there_is_the_room_it_asked_for() {
    let (bell, waker) = bell();
    let (mut producer, mut consumer) = lane(4);
    assert_eq!(producer.push_batch(&mut (0..)), 4);
    assert_eq!(room(&mut producer, &waker, 3), Poll::Pending);
    for left in (0..4).rev() {
        assert_eq!(consumer.pop(), Some(3 - left));
        assert_eq!(consumer.notify(), left == 1, "three slots are free now");
    }
    assert_eq!(bell.rings(), 1);
    assert_eq!(room(&mut producer, &waker, 4), Poll::Ready(Ok(())));
    assert!(!consumer.notify());
    assert_eq!(producer.push_batch(&mut (0..)), 4);
    assert_eq!(room(&mut producer, &waker, 1), Poll::Pending);
    drop(consumer);
    assert_eq!(bell.rings(), 2);
    assert_eq!(room(&mut producer, &waker, 1), Poll::Ready(Err(Closed(()))));
}

#[test]
fn more_room_than_slots_is_refused() {
    let (mut producer, _consumer) = lane::<u8>(4);
    let asked = AssertUnwindSafe(|| room(&mut producer, Waker::noop(), 5));
    assert!(catch_unwind(asked).is_err());
}

// proves: W-1
#[test]
fn futures_dropped_while_waiting_are_not_woken_and_leave_nothing() {
    let (bell, waker) = bell();
    let mut cx = Context::from_waker(&waker);
    let (mut producer, mut consumer) = lane(1);

    assert!(pin!(consumer.ready()).poll(&mut cx).is_pending());
    assert!(pin!(consumer.recv()).poll(&mut cx).is_pending());
    drop(producer.send(7)); // never polled
    assert!(consumer.is_empty());
    assert_eq!(pin!(producer.send(1)).poll(&mut cx), Poll::Ready(Ok(())));
    assert_eq!(bell.rings(), 0);

    assert!(pin!(producer.send(2)).poll(&mut cx).is_pending());
    assert!(pin!(producer.room(1)).poll(&mut cx).is_pending());
    drop(consumer.recv()); // never polled
    assert_eq!(pin!(consumer.ready()).poll(&mut cx), Poll::Ready(true));
    assert_eq!(pin!(consumer.recv()).poll(&mut cx), Poll::Ready(Some(1)));
    assert_eq!(consumer.pop(), None, "a dropped send leaves nothing");
    assert_eq!(bell.rings(), 0);

    assert_eq!(pin!(producer.room(1)).poll(&mut cx), Poll::Ready(Ok(())));
    assert_eq!(
        producer.slots(),
        1,
        "granted room is not taken before the push"
    );
    drop(consumer);
    assert_eq!(
        pin!(producer.send(3)).poll(&mut cx),
        Poll::Ready(Err(Closed(3)))
    );
    assert_eq!(bell.rings(), 0);
}

#[test]
fn parking_end_announces_what_nobody_notified() {
    let (producing, producer_waker) = bell();
    let (consuming, consumer_waker) = bell();
    let (mut producer, mut consumer) = lane(2);
    assert_eq!(ready(&mut consumer, &consumer_waker), Poll::Pending);
    assert_eq!(producer.push_batch(&mut (0..)), 2);
    assert_eq!(consuming.rings(), 0, "push alone does not wake");
    assert_eq!(room(&mut producer, &producer_waker, 1), Poll::Pending);
    assert_eq!(consuming.rings(), 1);

    assert_eq!(ready(&mut consumer, &consumer_waker), Poll::Ready(true));
    assert_eq!(consumer.read_chunk(2).count(), 2);
    assert_eq!(producing.rings(), 0, "pop alone does not wake");
    assert_eq!(ready(&mut consumer, &consumer_waker), Poll::Pending);
    assert_eq!(producing.rings(), 1);
}

/// Counts clones and drops of wakers through the count of the `Arc` behind them.
#[test]
fn waker_is_stored_once_and_goes_with_its_end() {
    let (bell, waker) = bell();
    let alone = Arc::strong_count(&bell);
    let (mut producer, mut consumer) = lane(1);
    for value in 0..5 {
        assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
        assert_eq!(Arc::strong_count(&bell), alone + 1);
        assert!(producer.push(value).is_ok());
        assert!(producer.notify());
        assert_eq!(room(&mut producer, &waker, 1), Poll::Pending);
        assert_eq!(Arc::strong_count(&bell), alone + 2);
        assert_eq!(consumer.pop(), Some(value));
        assert!(consumer.notify());
        producer.unpark();
        consumer.unpark();
        assert!(!producer.notify() && !consumer.notify());
        drop(consumer);
        assert_eq!(Arc::strong_count(&bell), alone + 1);
        drop(producer);
        assert_eq!(Arc::strong_count(&bell), alone);
        (producer, consumer) = lane(1);
    }
}

// proves: W-4
#[test]
fn waker_may_use_drop_and_park_at_the_end_it_wakes() {
    let (mut producer, mut consumer) = lane(2);
    let place = Arc::new(Mutex::new(None::<Consumer<u64>>));
    let taken = Arc::new(AtomicUsize::new(0));
    let (inner, count) = (place.clone(), taken.clone());
    let waker = Waker::from(Arc::new(Act(move || {
        let mut place = inner.lock().expect("nobody panics in here");
        let consumer = place
            .as_mut()
            .expect("it was put there before the first push");
        count.fetch_add(consumer.read_chunk(9).count(), Ordering::Relaxed);
        // Parks anew while the wake that led here has not returned, under another waker at that.
        assert_eq!(ready(consumer, Waker::noop()), Poll::Pending);
        if count.load(Ordering::Relaxed) == 2 {
            *place = None;
        }
    })));
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    *place.lock().expect("nobody panics in here") = Some(consumer);
    assert!(producer.push(1).is_ok());
    assert!(producer.notify());
    assert_eq!(taken.load(Ordering::Relaxed), 1);
    // The late mark of the first wake has not touched the second sleep.
    assert!(producer.push(2).is_ok());
    assert!(producer.notify());
    let consumer = place.lock().expect("nobody panics in here").take();
    let mut consumer = consumer.expect("only the bell of two takes it");
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(2));
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    *place.lock().expect("nobody panics in here") = Some(consumer);
    assert!(producer.push(3).is_ok());
    assert!(producer.notify());
    assert!(
        producer.is_abandoned(),
        "the waker dropped the consumer inside the wake"
    );
}

// proves: W-4
#[test]
fn panicking_waker_breaks_nothing_and_does_not_count_as_a_wake() {
    let waker = Waker::from(Arc::new(Act(|| panic!("as planned"))));
    let (mut producer, mut consumer) = lane(2);
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    assert!(producer.push(1).is_ok());
    for _ in 0..2 {
        assert!(catch_unwind(AssertUnwindSafe(|| producer.notify())).is_err());
    }
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(true));
    assert_eq!(consumer.pop(), Some(1));

    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(producer))).is_err());
    assert_eq!(
        ready(&mut consumer, &waker),
        Poll::Ready(false),
        "it left all the same"
    );

    let (mut producer, consumer) = lane(1);
    let value = Arc::new(());
    assert!(producer.push(value.clone()).is_ok());
    assert_eq!(room(&mut producer, &waker, 1), Poll::Pending);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(consumer))).is_err());
    assert_eq!(room(&mut producer, &waker, 1), Poll::Ready(Err(Closed(()))));
    assert_eq!(
        Arc::strong_count(&value),
        1,
        "what was inside is dropped all the same"
    );
}

#[test]
fn ends_dropped_by_a_panic_survive_wakers_that_panic() {
    let waker = Waker::from(Arc::new(Act(|| panic!("as planned"))));
    let value = Arc::new(());
    let (mut producer, left) = lane(1);
    assert!(producer.push(value.clone()).is_ok());
    assert_eq!(room(&mut producer, &waker, 1), Poll::Pending);
    let (left_too, mut consumer) = lane::<()>(1);
    assert_eq!(ready(&mut consumer, &waker), Poll::Pending);
    let panicking = catch_unwind(AssertUnwindSafe(move || {
        let _dropped = (left, left_too);
        panic!("the first one");
    }));
    let first = panicking.unwrap_err();
    assert_eq!(first.downcast_ref(), Some(&"the first one"));
    assert_eq!(room(&mut producer, &waker, 1), Poll::Ready(Err(Closed(()))));
    assert_eq!(ready(&mut consumer, &waker), Poll::Ready(false));
    assert_eq!(Arc::strong_count(&value), 1, "what was inside is dropped");
}

#[test]
fn parker_keeps_the_waker_and_marks_an_epoch_once() {
    let (bell, waker) = bell();
    let parker = Parker::new();
    assert!(!parker.wake());
    let first = parker.park(&waker);
    let second = parker.park(&waker);
    assert_ne!(first, second);
    assert!(parker.wake());
    assert!(!parker.wake());
    parker.park(&waker);
    parker.unpark();
    assert!(!parker.wake());
    parker.park(&waker);
    assert!(parker.wake());
    assert_eq!(bell.rings(), 2);
    parker.park(&waker);
    parker.clear();
    assert!(!parker.wake());
    assert_eq!((bell.rings(), Arc::strong_count(&bell)), (2, 2));
}
