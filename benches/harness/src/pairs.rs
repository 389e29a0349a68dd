//! Rounds of two threads, one a core: the skeletons of the lane rows.
//!
//! Both threads meet at a spinning [`Gate`] before the clock starts, so that thread creation is in
//! no figure.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::measure::Memory;
use crate::{BenchError, Cores, Laps, Meter, Params, Sample, pin};

/// Round trips that are timed together: one alone takes little more than reading the clock.
pub const LAP: u64 = 8;

/// Two threads meet here by spinning, each on its own core.
#[derive(Debug, Default)]
pub struct Gate {
    arrived: AtomicUsize,
    failed: AtomicBool,
}

impl Gate {
    /// Waits for the other thread; `false` when either came with `ready == Err`.
    ///
    /// A gate serves one meeting of two threads.
    pub fn meet<E>(&self, ready: &Result<(), E>) -> bool {
        if ready.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        // Release pairs with the Acquire below: the other thread sees `failed`.
        self.arrived.fetch_add(1, Ordering::Release);
        while self.arrived.load(Ordering::Acquire) < 2 {
            std::hint::spin_loop();
        }
        !self.failed.load(Ordering::Relaxed)
    }
}

/// Runs `first` and `second` on their cores, from the same moment.
///
/// # Errors
///
/// [`BenchError::Pin`] when a core refuses, [`BenchError::Panicked`], and what the two return
/// themselves.
pub fn on_two_cores<A: Send, B: Send>(
    cores: Cores,
    first: impl FnOnce() -> Result<A, BenchError> + Send,
    second: impl FnOnce() -> Result<B, BenchError> + Send,
) -> Result<(A, B), BenchError> {
    let gate = Gate::default();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| at(&gate, cores.first, first));
        let second = scope.spawn(|| at(&gate, cores.second, second));
        let first = first.join().map_err(|_| BenchError::Panicked)?;
        let second = second.join().map_err(|_| BenchError::Panicked)?;
        Ok((first?, second?))
    })
}

fn at<T>(
    gate: &Gate,
    core: usize,
    work: impl FnOnce() -> Result<T, BenchError>,
) -> Result<T, BenchError> {
    let pinned = pin(core);
    let both = gate.meet(&pinned);
    pinned?;
    if both {
        work()
    } else {
        Err(BenchError::Cores(2))
    }
}

/// What a consumer received: count, order and sum of the numbers `0..n`.
#[derive(Debug, Default)]
pub struct Tally {
    count: u64,
    sum: u64,
    misplaced: u64,
}

impl Tally {
    /// Takes the next number.
    #[inline]
    pub fn take(&mut self, number: u64) {
        self.misplaced += u64::from(number != self.count);
        self.sum = self.sum.wrapping_add(number);
        self.count += 1;
    }

    /// How many have come.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Checks that exactly `0..n` came, in order.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] naming the first difference.
    pub fn check(&self, n: u64) -> Result<(), BenchError> {
        BenchError::check("numbers received", n, self.count)?;
        BenchError::check("numbers out of order", 0, self.misplaced)?;
        let sum = (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64;
        BenchError::check("sum of the numbers", sum, self.sum)
    }
}

/// Moves `0..ops` from the second core to the first: wall time a number.
///
/// `produce` gets the count and sends the numbers in order; `consume` takes them into the tally
/// until it has counted them all.
///
/// # Errors
///
/// Those of [`on_two_cores`], and [`BenchError::Check`] when a number is lost, doubled or
/// misplaced.
pub fn one_way(
    params: &Params,
    produce: impl FnOnce(u64) + Send,
    consume: impl FnOnce(u64, &mut Tally) + Send,
) -> Result<Sample, BenchError> {
    let ops = params.ops;
    let receive = || {
        let mut tally = Tally::default();
        consume(ops, &mut tally);
        Ok((Meter::start(), tally))
    };
    let send = || {
        let start = Meter::start();
        produce(ops);
        Ok(start)
    };
    let ((end, tally), start) = on_two_cores(params.cores, receive, send)?;
    one_way_sample(start, end, &tally, ops)
}

/// The sample of a one-way stretch that began at the sender and ended at the receiver.
///
/// # Errors
///
/// [`BenchError::Check`] when the tally is not exactly `0..ops`.
pub fn one_way_sample(
    start: Meter,
    end: Meter,
    tally: &Tally,
    ops: u64,
) -> Result<Sample, BenchError> {
    tally.check(ops)?;
    let memory = Memory::read();
    Ok(start
        .until(end, ops, memory.peak_rss_kib, memory.threads)
        .wall_sample())
}

/// Sends `0..ops` to the first core one at a time and awaits each echo: median time of a round
/// trip.
///
/// `ping` does one round trip and returns what came back; `pong` echoes as many as it is told.
///
/// # Errors
///
/// Those of [`one_way`].
pub fn round_trip(
    params: &Params,
    mut ping: impl FnMut(u64) -> u64 + Send,
    pong: impl FnOnce(u64) + Send,
) -> Result<Sample, BenchError> {
    let ops = params.ops;
    let reply = || {
        pong(ops);
        Ok(())
    };
    let ask = || {
        let mut tally = Tally::default();
        let mut laps = Laps::start(LAP);
        for number in 0..ops {
            tally.take(ping(number));
            laps.done();
        }
        Ok((laps.finish(ops)?, tally))
    };
    let ((), (sample, tally)) = on_two_cores(params.cores, reply, ask)?;
    tally.check(ops)?;
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tally_takes_exactly_the_numbers_in_order() {
        let mut tally = Tally::default();
        (0..10).for_each(|number| tally.take(number));
        tally.check(10).unwrap();
        assert!(matches!(
            tally.check(11),
            Err(BenchError::Check {
                expected: 11,
                found: 10,
                ..
            })
        ));
    }

    #[test]
    fn tally_sees_a_swap_and_a_double() {
        for numbers in [[1, 0, 2], [0, 0, 2], [0, 1, 1]] {
            let mut tally = Tally::default();
            numbers.into_iter().for_each(|number| tally.take(number));
            assert!(tally.check(3).is_err(), "{numbers:?}");
        }
    }
}
