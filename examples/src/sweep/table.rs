//! The sweep over capacities, and its table.

use std::fmt;

use serde::Serialize;

use super::flood::{Measured, SweepError, flood, median};
use super::plan::{DECODERS, Part, ROUNDS, UPDATES};

/// The capacities, in slots.
pub const CAPACITIES: [usize; 7] = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

/// How much a sweep runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Updates of one run; [`UPDATES`] by default.
    pub updates: usize,
    /// Rounds, of which each runs every capacity once; [`ROUNDS`] by default.
    pub rounds: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            updates: UPDATES,
            rounds: ROUNDS,
        }
    }
}

/// One capacity; each number is the median of its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Slots of the ring.
    pub capacity: usize,
    /// Updates applied a second.
    pub updates_per_s: f64,
    /// The median age of an update when it was applied, in ns.
    pub p50_ns: u64,
    /// The 99th percentile of the ages, in ns.
    pub p99_ns: u64,
    /// Most slots that were taken: all of them where the ring was saturated.
    pub peak: usize,
    /// The capacity times the drain time: how old an update can be, in ns.
    pub bound_ns: u64,
    /// What one update takes the builder, in ns. It does the same work whatever the capacity, so
    /// this is the control: where it is not flat, the machine did something else besides.
    pub drain_ns: f64,
    /// How often a decoder was refused, and had to try again.
    pub refused: u64,
}

/// A whole sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// Threads that push.
    pub decoders: usize,
    /// Updates of one run; every one of them was applied.
    pub updates: usize,
    /// Runs a capacity.
    pub rounds: usize,
    /// One a capacity.
    pub rows: Vec<Row>,
}

impl Sweep {
    /// Runs it, and says before each round which one, from one on.
    ///
    /// The rounds are interleaved, so that what else the machine does meets all capacities alike.
    ///
    /// # Errors
    ///
    /// [`SweepError`] when an update was lost, or a book is not what the updates make.
    pub fn run(settings: Settings, mut round: impl FnMut(usize)) -> Result<Self, SweepError> {
        let parts = Part::all(settings.updates)?;
        let mut measured: Vec<Vec<Measured>> = CAPACITIES.iter().map(|_| Vec::new()).collect();
        for number in 0..settings.rounds {
            round(number + 1);
            for (capacity, measured) in CAPACITIES.into_iter().zip(&mut measured) {
                measured.push(flood(&parts, capacity)?);
            }
        }
        let rows = CAPACITIES.into_iter().zip(&measured);
        Ok(Self {
            decoders: DECODERS,
            updates: settings.updates,
            rounds: settings.rounds,
            rows: rows.map(|(capacity, all)| Row::of(capacity, all)).collect(),
        })
    }
}

impl Row {
    fn of(capacity: usize, rounds: &[Measured]) -> Self {
        let of = |pick: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(pick).collect();
            median(&mut values)
        };
        let drain_ns = of(|round| round.drain_ns);
        Self {
            capacity,
            updates_per_s: of(|round| round.updates_per_s),
            p50_ns: of(|round| round.p50_ns) as u64,
            p99_ns: of(|round| round.p99_ns) as u64,
            peak: of(|round| round.peak) as usize,
            bound_ns: (drain_ns * capacity as f64) as u64,
            drain_ns,
            refused: of(|round| round.refused) as u64,
        }
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} decoders, one builder, {} updates, median of {} interleaved rounds",
            self.decoders, self.updates, self.rounds
        )?;
        writeln!(f)?;
        writeln!(
            f,
            "{:>8}  {:>10}  {:>10}  {:>10}  {:>8}  {:>10}  {:>8}  {:>10}",
            "slots", "updates/s", "p50 µs", "p99 µs", "peak", "bound µs", "drain ns", "refused"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "{:>8}  {:>10.0}  {:>10.1}  {:>10.1}  {:>8}  {:>10.1}  {:>8.1}  {:>10}",
                row.capacity,
                row.updates_per_s,
                row.p50_ns as f64 / 1e3,
                row.p99_ns as f64 / 1e3,
                row.peak,
                row.bound_ns as f64 / 1e3,
                row.drain_ns,
                row.refused
            )?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "bound = slots x drain; drain is the control and stays flat; peak = slots is saturation"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(number: f64) -> Measured {
        Measured {
            updates_per_s: 1_000.0 * number,
            p50_ns: 10.0 * number,
            p99_ns: 20.0 * number,
            peak: 100.0 * number,
            drain_ns: number,
            refused: number,
        }
    }

    #[test]
    fn a_row_has_the_median_of_each_number() {
        let row = Row::of(1024, &[measured(9.0), measured(1.0), measured(2.0)]);
        assert_eq!((row.updates_per_s, row.drain_ns), (2_000.0, 2.0));
        assert_eq!((row.p50_ns, row.p99_ns, row.peak), (20, 40, 200));
        assert_eq!((row.refused, row.bound_ns), (2, 2_048));
    }

    #[test]
    fn every_row_of_the_table_is_as_wide_as_its_head() {
        let rows = vec![Row::of(65_536, &[measured(50.0)])];
        let sweep = Sweep {
            decoders: DECODERS,
            updates: UPDATES,
            rounds: 1,
            rows,
        };
        let text = sweep.to_string();
        let table: Vec<_> = text.lines().skip(2).take(2).collect();
        let [head, row] = table[..] else {
            panic!("{text}")
        };
        assert_eq!(head.chars().count(), row.chars().count(), "{text}");
        assert!(row.trim_start().starts_with("65536"), "{text}");
    }
}
