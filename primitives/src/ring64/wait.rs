//! Waiting for values: poll functions, futures, and the same for plain threads.

use super::consumer::Consumer64;
use super::reader::Reader;
use crate::block::{nap, thread_waker};
use crate::sync::yield_now;
use crate::timers::Alarm;
use futures_core::{FusedStream, Stream};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How often a consumer looks again at once for a producer that will not wake it.
const SILENT_LOOKS_MAX: u32 = 64;
/// How long it sleeps between two looks after that.
const SILENT_SLEEP_NS: u64 = 1_000_000;

/// How a sleep of the consumer ends, unless a producer ends it.
enum Again {
    WhenWoken,
    Now,
    /// On the ring's clock: a reserved place may be stepped over then.
    At(u64),
    /// After so many nanoseconds.
    After(u64),
}

impl Consumer64 {
    /// Waits until there is a value (`true`) or the ring is closed and empty (`false`).
    ///
    /// On Pending the waker is kept and called by whoever publishes next. Who gives up waiting
    /// calls [`unpark`](Self::unpark), or takes one needless wake. A consumer that has just had
    /// values runs again by itself 16 times before it sleeps, behind the other tasks of its
    /// executor.
    ///
    /// Behind a [`Claim64`](crate::Claim64) that nobody fills it sleeps on; with timers
    /// ([`Ring64Builder::timers`](crate::Ring64Builder::timers)) it wakes when that may be stepped
    /// over. A producer that was stopped between its claim and its publication when a busy
    /// consumer began to wait will not wake it: this polls again by itself then, and after 64
    /// times, with timers, once a millisecond, until that one has gone on.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(ready) = self.look() {
            return Poll::Ready(ready);
        }
        if !self.parked && self.looks.again(cx) {
            return Poll::Pending;
        }
        if let Some(ready) = self.sleep(cx) {
            return Poll::Ready(ready);
        }
        let again_now = match self.look_again() {
            Again::WhenWoken => {
                self.alarm = None;
                false
            }
            Again::Now => true,
            Again::At(at_ns) => self.poll_alarm(cx, at_ns).is_ready(),
            // Without timers it looks again at once.
            Again::After(ns) => {
                let at_ns = self.desk.clock.now_ns().saturating_add(ns);
                self.desk.clock.timers().is_none() || self.poll_alarm(cx, at_ns).is_ready()
            }
        };
        if again_now {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Waits as [`poll_ready`](Self::poll_ready) does: `true` says that there is a value, `false`
    /// that none will come.
    ///
    /// # Cancel safety
    ///
    /// Dropped at any time it leaves nothing behind: it takes no value.
    pub fn ready(&mut self) -> impl Future<Output = bool> {
        Ready(self)
    }

    /// Takes a value as [`pop`](Self::pop) does, as soon as there is one; `None` once the ring is
    /// closed and empty.
    ///
    /// Completes at the first poll when there is a value. Who has much to take waits by
    /// [`ready`](Self::ready) and folds.
    ///
    /// # Cancel safety
    ///
    /// The value is taken in the poll that completes; a future dropped before takes nothing.
    pub fn recv(&mut self) -> impl Future<Output = Option<u64>> {
        Receiving(self)
    }

    /// [`ready`](Self::ready) for a plain thread: sleeps until there is a value (`true`) or the
    /// ring is closed and empty (`false`). Behind a reserved place it sleeps until that may be
    /// stepped over, whether or not the ring has timers. Not for a task.
    ///
    /// ```
    /// use corelane_primitives::Ring64;
    /// use std::time::Duration;
    ///
    /// let (ring, mut consumer) = Ring64::new(64);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || {
    ///         for value in 0..1_000_u64 {
    ///             ring.blocking_push(value, Duration::MAX).expect("the consumer is there");
    ///         }
    ///     });
    ///     let mut sum = 0;
    ///     while consumer.blocking_ready() {
    ///         sum = consumer.fold(256, sum, |sum, value| sum + value).acc;
    ///     }
    ///     assert_eq!(sum, 499_500);
    /// });
    /// ```
    pub fn blocking_ready(&mut self) -> bool {
        if let Some(ready) = self.look() {
            return ready;
        }
        let waker = thread_waker();
        let cx = Context::from_waker(&waker);
        loop {
            if let Some(ready) = self.sleep(&cx) {
                return ready;
            }
            match self.look_again() {
                Again::WhenWoken => nap(u64::MAX),
                Again::Now => {}
                Again::At(at_ns) => nap(at_ns.saturating_sub(self.desk.clock.now_ns())),
                Again::After(ns) => nap(ns),
            }
            if let Some(ready) = self.look() {
                return ready;
            }
        }
    }

    /// [`recv`](Self::recv) for a plain thread: sleeps while there is nothing; `None` once the ring
    /// is closed and empty. Not for a task.
    pub fn blocking_recv(&mut self) -> Option<u64> {
        // A value that was seen stays until it is taken.
        if self.blocking_ready() {
            self.pop()
        } else {
            None
        }
    }

    /// Takes back a wait that returned Pending, so that no wake comes of it any more.
    pub fn unpark(&mut self) {
        // The looks for a silent producer stay counted: who drops each wait and begins another one
        // would look for ever without a sleep.
        self.alarm = None;
        if std::mem::take(&mut self.parked) {
            self.desk.parker().unpark();
        }
    }

    fn found(&mut self) -> Option<bool> {
        let walked = self.walked();
        if self.readers[..walked].iter_mut().any(Reader::has_value) {
            return Some(true);
        }
        // It says so of every claim, also of one that came after the look above.
        self.is_finished().then_some(false)
    }

    /// Looks, and is not asleep any more if something was there.
    fn look(&mut self) -> Option<bool> {
        let ready = self.found()?;
        self.silent_looks = 0;
        self.looks.found();
        self.unpark();
        Some(ready)
    }

    /// Marks this end asleep, and looks once more.
    fn sleep(&mut self, cx: &Context<'_>) -> Option<bool> {
        self.desk.parker().park(cx.waker());
        self.parked = true;
        let walked = self.walked();
        for reader in &mut self.readers[..walked] {
            reader.ask_to_tell();
        }
        self.look()
    }

    /// How a sleep ends that has just begun.
    fn look_again(&mut self) -> Again {
        let readers = &self.readers[..self.walked()];
        if readers.iter().any(Reader::is_silent) {
            // It goes on within a few instructions, unless the system has just stopped it.
            self.silent_looks = self.silent_looks.saturating_add(1);
            yield_now();
            return match self.silent_looks {
                ..=SILENT_LOOKS_MAX => Again::Now,
                _ => Again::After(SILENT_SLEEP_NS),
            };
        }
        self.silent_looks = 0;
        match readers.iter().map(Reader::due_ns).min() {
            None | Some(u64::MAX) => Again::WhenWoken,
            Some(due_ns) => Again::At(due_ns),
        }
    }

    /// Ready when the time has come, for a ring with timers.
    fn poll_alarm(&mut self, cx: &mut Context<'_>, at_ns: u64) -> Poll<()> {
        let Some(timers) = self.desk.clock.timers() else {
            return Poll::Pending;
        };
        match &mut self.alarm {
            Some((made_for, alarm)) if *made_for == at_ns => alarm.poll(cx),
            _ => {
                let alarm = Alarm::at(timers, at_ns);
                self.alarm.insert((at_ns, alarm)).1.poll(cx)
            }
        }
    }

    fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        if ready!(self.poll_ready(cx)) {
            return Poll::Ready(self.pop());
        }
        Poll::Ready(None)
    }
}

struct Ready<'a>(&'a mut Consumer64);

impl Future for Ready<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        self.0.poll_ready(cx)
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

struct Receiving<'a>(&'a mut Consumer64);

impl Future for Receiving<'_> {
    type Output = Option<u64>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        self.0.poll_recv(cx)
    }
}

impl Drop for Receiving<'_> {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

/// Ends when the ring is closed and empty.
impl Stream for Consumer64 {
    type Item = u64;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u64>> {
        self.poll_recv(cx)
    }
}

impl FusedStream for Consumer64 {
    fn is_terminated(&self) -> bool {
        self.is_finished()
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::SILENT_LOOKS_MAX;
    use crate::{Ring64, TimerId, Timers};
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Wake, Waker};

    #[derive(Default)]
    struct Count(Mutex<u64>);

    impl Count {
        fn up(&self) -> u64 {
            let mut count = self.0.lock().expect("no count panics");
            *count += 1;
            *count
        }

        fn now(&self) -> u64 {
            *self.0.lock().expect("no count panics")
        }
    }

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.up();
        }
    }

    /// Time stands still; counts the timers.
    impl Timers for Count {
        fn now_ns(&self) -> u64 {
            0
        }

        fn wake_at(&self, _at_ns: u64, _waker: &Waker) -> TimerId {
            TimerId(u128::from(self.up()))
        }

        fn forget(&self, _timer: TimerId) {}
    }

    /// As a loop does that waits for one of two things, each time anew.
    #[test]
    fn waits_begun_again_and_again_behind_a_silent_producer_sleep_in_the_end() {
        const POLLS: u64 = 1_000;
        for dropped in [false, true] {
            let (timers, bell) = (Arc::new(Count::default()), Arc::new(Count::default()));
            let ring = Ring64::builder(1024).timers(Arc::clone(&timers) as _);
            let (ring, mut consumer) = ring.build().expect("a power of two");
            let waker = Waker::from(Arc::clone(&bell));
            let mut cx = Context::from_waker(&waker);
            assert_eq!(ring.push_batch(&[0; 1024]), Ok(1024));
            assert_eq!(consumer.fold(1024, 0, |count, _| count + 1).acc, 1024);
            // A thread that the system stops between its claim and its publication.
            let claimed = consumer.readers[0].shared.claim(1, 1);
            assert!(claimed.is_ok_and(|claimed| !claimed.tell), "it is silent");
            for _ in 0..POLLS {
                if dropped {
                    assert!(pin!(consumer.recv()).poll(&mut cx).is_pending());
                } else {
                    assert!(consumer.poll_ready(&mut cx).is_pending());
                }
            }
            assert_eq!(bell.now(), u64::from(SILENT_LOOKS_MAX), "{dropped}");
            assert!(timers.now() > 0, "it looks again later");
            // The next silence is looked at as often.
            consumer.readers[0].shared.slots().publish(1024 * 8, 7);
            assert_eq!(consumer.poll_ready(&mut cx), Poll::Ready(true));
            assert_eq!(consumer.silent_looks, 0);
        }
    }
}
