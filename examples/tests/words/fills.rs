//! Fills that find no room: in time, too late, and again and again.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use corelane_examples::words::{BreakerLimits, Fills, Unsent};
use corelane_primitives::{Ring, RingConsumer, TimerId, Timers};

/// A clock that stands still until the test moves it.
#[derive(Default)]
struct ByHand(Mutex<(u64, Vec<(u64, Waker)>)>);

impl ByHand {
    fn advance(&self, by: Duration) {
        let mut state = self.0.lock().unwrap();
        state.0 += by.as_nanos() as u64;
        let now_ns = state.0;
        let wakers: Vec<_> = state
            .1
            .extract_if(.., |(at_ns, _)| *at_ns <= now_ns)
            .collect();
        drop(state);
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

impl Timers for ByHand {
    fn now_ns(&self) -> u64 {
        self.0.lock().unwrap().0
    }

    fn wake_at(&self, at_ns: u64, waker: &Waker) -> TimerId {
        self.0.lock().unwrap().1.push((at_ns, waker.clone()));
        TimerId(0)
    }

    fn forget(&self, _: TimerId) {}
}

const TIMEOUT: Duration = Duration::from_millis(10);
const LIMITS: BreakerLimits = BreakerLimits {
    timeouts_max: 3,
    reset_after: Duration::from_millis(50),
};

/// A sending end whose ring of two slots is full.
fn full() -> (Arc<ByHand>, Fills<u32>, RingConsumer<u32>) {
    let clock = Arc::new(ByHand::default());
    let timers: Arc<dyn Timers> = Arc::clone(&clock) as _;
    let (ring, consumer) = Ring::builder(2)
        .timers(Arc::clone(&timers))
        .build()
        .unwrap();
    let mut fills = Fills::new(ring, timers, TIMEOUT, LIMITS);
    for fill in 0..2 {
        assert!(matches!(at_once(fills.send(fill)), Some(Ok(()))));
    }
    (clock, fills, consumer)
}

fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn at_once<F: Future>(future: F) -> Option<F::Output> {
    poll(pin!(future))
}

/// Sends a fill that finds no room until it is late.
fn send_late(clock: &ByHand, fills: &mut Fills<u32>) -> Unsent<u32> {
    let mut send = pin!(fills.send(9));
    assert!(poll(send.as_mut()).is_none());
    clock.advance(TIMEOUT - Duration::from_nanos(1));
    assert!(poll(send.as_mut()).is_none(), "never early");
    clock.advance(Duration::from_nanos(1));
    poll(send).unwrap().unwrap_err()
}

#[test]
fn a_fill_that_finds_room_in_time_is_sent() {
    let (clock, mut fills, mut taken) = full();
    {
        let mut send = pin!(fills.send(2));
        assert!(poll(send.as_mut()).is_none());
        clock.advance(TIMEOUT / 2);
        assert_eq!(taken.pop(), Some(0));
        assert!(matches!(poll(send), Some(Ok(()))));
    }
    assert_eq!((taken.pop(), taken.pop()), (Some(1), Some(2)));
}

#[test]
fn a_timeout_is_reported_and_so_many_in_a_row_trip_the_breaker() {
    let (clock, mut fills, mut taken) = full();
    for _ in 1..LIMITS.timeouts_max {
        let late = send_late(&clock, &mut fills);
        assert!(matches!(late, Unsent::TimedOut(9)), "{late:?}");
        assert!(!fills.is_tripped());
    }
    let late = send_late(&clock, &mut fills);
    assert!(matches!(late, Unsent::Tripped(9)), "{late:?}");
    assert!(fills.is_tripped());

    // Nothing waits any more: it is sent at once, or not at all.
    let broken = at_once(fills.send(3)).unwrap().unwrap_err();
    assert!(matches!(broken, Unsent::Broken(3)), "{broken:?}");
    assert_eq!(taken.pop(), Some(0));
    assert!(matches!(at_once(fills.send(4)), Some(Ok(()))));
    assert!(fills.is_tripped());
}

#[test]
fn after_its_time_one_fill_tries() {
    let (clock, mut fills, mut taken) = full();
    for _ in 0..LIMITS.timeouts_max {
        send_late(&clock, &mut fills);
    }
    clock.advance(LIMITS.reset_after);
    // It times out as well, so the breaker stays tripped, for as long again.
    let late = send_late(&clock, &mut fills);
    assert!(matches!(late, Unsent::TimedOut(9)), "{late:?}");
    assert!(matches!(
        at_once(fills.send(5)),
        Some(Err(Unsent::Broken(5)))
    ));
    clock.advance(LIMITS.reset_after);
    assert_eq!(taken.pop(), Some(0));
    assert!(matches!(at_once(fills.send(6)), Some(Ok(()))));
    assert!(!fills.is_tripped());
    // From here on it takes as many timeouts as at the start.
    assert!(matches!(send_late(&clock, &mut fills), Unsent::TimedOut(9)));
}

#[test]
fn a_success_ends_a_row_of_timeouts() {
    let (clock, mut fills, mut taken) = full();
    for _ in 0..2 {
        for _ in 1..LIMITS.timeouts_max {
            send_late(&clock, &mut fills);
        }
        assert!(taken.pop().is_some());
        assert!(matches!(at_once(fills.send(7)), Some(Ok(()))));
    }
    assert!(!fills.is_tripped());
}

#[test]
fn fills_for_nobody_come_back() {
    let (_, mut fills, taken) = full();
    drop(taken);
    assert!(matches!(
        at_once(fills.send(8)),
        Some(Err(Unsent::Closed(8)))
    ));
}
