//! Rounds in Datum's own shape: each library writes the whole story once, as its users would.

use crate::{BenchError, Laps, Params, Sample};

/// Repeats of one story and their checks; the value is the median.
#[derive(Debug)]
pub struct Scenarios {
    laps: Laps,
    left: u64,
    ops: u64,
    expected: u64,
}

impl Scenarios {
    /// Starts the clock: each story must give `expected`.
    pub fn start(params: &Params, expected: u64) -> Self {
        let ops = params.ops.max(1);
        Self {
            laps: Laps::start(1),
            left: ops,
            ops,
            expected,
        }
    }

    /// Whether there is another story to do.
    pub fn more(&self) -> bool {
        self.left > 0
    }

    /// A story has ended and gave `checksum`.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when that is not what it must give.
    pub fn done(&mut self, checksum: u64) -> Result<(), BenchError> {
        self.laps.done();
        self.left -= 1;
        BenchError::check("checksum of a story", self.expected, checksum)
    }

    /// The sample of all stories.
    ///
    /// # Errors
    ///
    /// [`BenchError::Stalled`] when some were not done.
    pub fn finish(self) -> Result<Sample, BenchError> {
        self.laps.finish(self.ops)
    }
}

/// What the numbers `1..=count` sum up to.
pub const fn fold_sum(count: u64) -> u64 {
    count * (count + 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cores;

    #[test]
    fn every_story_is_checked() {
        let params = Params {
            ops: 3,
            shards: 1,
            cores: Cores::allowed_or_one().unwrap(),
        };
        let mut scenarios = Scenarios::start(&params, fold_sum(4));
        while scenarios.more() {
            scenarios.done((1..=4).sum()).unwrap();
        }
        assert!(scenarios.finish().unwrap().value > 0.0);
        let mut wrong = Scenarios::start(&params, 10);
        assert!(wrong.done(9).is_err());
        assert!(wrong.finish().is_err());
    }
}
