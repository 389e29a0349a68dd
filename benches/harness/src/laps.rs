//! Times of single operations, or of a few together where one is shorter than reading the clock
//! allows.

use hdrhistogram::Histogram;

use crate::client::latency_histogram;
use crate::{BenchError, Meter, Sample, clock_ns};

/// Times operations in laps of a few; the value of its sample is the median.
///
/// A median is what an undisturbed operation takes, also while something else has the core for a
/// while; the mean stands beside it.
#[derive(Debug)]
pub struct Laps {
    meter: Meter,
    every: u64,
    ops: u64,
    lap_start_ns: u64,
    lap_ns: Histogram<u64>,
}

impl Laps {
    /// Starts the first lap; a lap is `every` operations (1 at least).
    pub fn start(every: u64) -> Self {
        let lap_ns = latency_histogram();
        let meter = Meter::start();
        Self {
            meter,
            every,
            ops: 0,
            lap_start_ns: clock_ns(),
            lap_ns,
        }
    }

    /// Counts an operation and ends the lap with its last one.
    #[inline]
    pub fn done(&mut self) {
        self.ops += 1;
        if self.ops.is_multiple_of(self.every) {
            self.end_lap();
        }
    }

    /// Starts the lap now: what lies between is in no lap, but in the mean.
    pub fn restart(&mut self) {
        self.lap_start_ns = clock_ns();
    }

    fn end_lap(&mut self) {
        let now_ns = clock_ns();
        let elapsed_ns = now_ns - self.lap_start_ns;
        // Tenths keep a digit of operations that take a few nanoseconds each.
        self.lap_ns
            .saturating_record((elapsed_ns * 10 / self.every).max(1));
        self.lap_start_ns = now_ns;
    }

    /// The sample of `ops` operations: median, 99th percentile, and the mean as an extra.
    ///
    /// # Errors
    ///
    /// [`BenchError::Stalled`] when not exactly `ops` were counted.
    pub fn finish(self, ops: u64) -> Result<Sample, BenchError> {
        let spent = self.meter.stop(ops);
        if self.ops != ops {
            return Err(BenchError::Stalled {
                done: self.ops,
                of: ops,
            });
        }
        let at = |quantile| self.lap_ns.value_at_quantile(quantile) as f64 / 10.0;
        let mut sample = spent
            .sample(at(0.5))
            .with_extra("mean ns", spent.wall_ns as f64 / ops as f64);
        sample.p50 = Some(at(0.5));
        sample.p99 = Some(at(0.99));
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_counted_and_laps_are_divided() {
        let mut laps = Laps::start(4);
        for _ in 0..8 {
            laps.done();
        }
        let sample = laps.finish(8).unwrap();
        assert!(sample.p50 <= sample.p99);
        assert!(sample.extras["mean ns"] > 0.0);
    }

    #[test]
    fn a_missing_operation_is_no_result() {
        let laps = Laps::start(1);
        assert!(matches!(
            laps.finish(1),
            Err(BenchError::Stalled { done: 0, of: 1 })
        ));
    }
}
