//! What a run tells about its rings, and about what they lost.

use std::fmt;

use serde::Serialize;

use super::figures::{duration, grouped};

/// One ring of a run, as it is now.
///
/// ```
/// use corelane_examples::feed::RingReport;
///
/// let ring = RingReport {
///     name: "words",
///     capacity: 1024,
///     peak: 300,
///     age_bound_ns: Some(81_920),
///     ..RingReport::default()
/// };
/// assert_eq!(
///     ring.to_string(),
///     "words of shard 0: 0 of 1,024, peak 300, 0 refused, age at most 81.9 µs"
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RingReport {
    /// What it carries: `words` refuse, `fills` wait.
    pub name: &'static str,
    /// The shard that takes from it.
    pub shard: usize,
    /// Its slots.
    pub capacity: usize,
    /// Slots taken now.
    pub occupancy: usize,
    /// Most slots ever taken.
    pub peak: usize,
    /// What it refused.
    pub refused: u64,
    /// What taking one out costs, in ns; null until the owner was busy for long enough.
    pub drain_ns: Option<f64>,
    /// How old the oldest can be: the capacity times that, in ns.
    pub age_bound_ns: Option<u64>,
}

impl fmt::Display for RingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of shard {}: {} of {}, peak {}, {} refused, age ",
            self.name,
            self.shard,
            grouped(self.occupancy as u64),
            grouped(self.capacity as u64),
            grouped(self.peak as u64),
            grouped(self.refused)
        )?;
        write_bound(f, self.age_bound_ns)
    }
}

fn write_bound(f: &mut fmt::Formatter<'_>, bound_ns: Option<u64>) -> fmt::Result {
    match bound_ns {
        Some(bound_ns) => write!(f, "at most {}", duration(bound_ns)),
        None => f.write_str("not measured"),
    }
}

/// All rings of a run in the line a second: the worst of each kind of number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingsLine {
    /// Most slots taken now.
    pub occupancy: usize,
    /// Most slots ever taken.
    pub peak: usize,
    /// What all of them refused.
    pub refused: u64,
    /// How old the oldest can be, in ns.
    pub age_bound_ns: Option<u64>,
}

impl RingsLine {
    /// Takes one more ring in.
    pub fn add(&mut self, ring: &RingReport) {
        self.occupancy = self.occupancy.max(ring.occupancy);
        self.peak = self.peak.max(ring.peak);
        self.refused += ring.refused;
        self.age_bound_ns = self.age_bound_ns.max(ring.age_bound_ns);
    }
}

impl fmt::Display for RingsLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ring {} peak {} refused {} age ",
            self.occupancy, self.peak, self.refused
        )?;
        write_bound(f, self.age_bound_ns)
    }
}

/// Fills that were given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FillLosses {
    /// Those that found no room in time.
    pub timed_out: u64,
    /// Those that found none while the breaker was tripped.
    pub broken: u64,
    /// How often it tripped.
    pub trips: u64,
}

impl FillLosses {
    /// Adds those of another decoder.
    pub fn add(&mut self, other: Self) {
        self.timed_out += other.timed_out;
        self.broken += other.broken;
        self.trips += other.trips;
    }

    /// All fills that were given up.
    pub fn total(&self) -> u64 {
        self.timed_out + self.broken
    }
}

/// What holes in the words of the embedded feed led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoleReport {
    /// Words that came while a book waited for its snapshot, and so were of no use.
    pub discarded: u64,
    /// Snapshots that came; each book begins with one.
    pub snapshots: u64,
}
