//! The line that a running service shows once a second.

use std::fmt;

use super::AgeReport;
use super::figures::{duration, grouped, rate};
use super::rings::RingsLine;

/// What the line of a running service says, once a second.
#[derive(Clone, Debug, Default)]
pub struct LiveLine {
    /// Seconds since the start.
    pub seconds: f64,
    /// Updates a second since the line before.
    pub updates_per_s: f64,
    /// Ages since the line before.
    pub age_ns: AgeReport,
    /// Most updates that ever waited in one lane.
    pub lane_peak: u64,
    /// Gaps so far.
    pub gaps: u64,
    /// Refusals so far.
    pub refused: u64,
    /// The rings; none where the feed comes from outside.
    pub rings: Option<RingsLine>,
    /// Best prices set so far.
    pub tops: u64,
    /// Trades published so far.
    pub trades: u64,
    /// Trades that readers have lost so far.
    pub dropped: u64,
    /// The version of the risk limits that every shard acts on by now.
    pub limits: u64,
    /// Orders and positions that were over a limit so far.
    pub over: u64,
    /// Messages to the control so far.
    pub control: u64,
    /// Subscribers now.
    pub subscribers: u64,
    /// The part of the last second that each shard was busy, from 0 to 1.
    pub busy: Vec<f64>,
}

impl fmt::Display for LiveLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = self.age_ns;
        write!(
            f,
            "{:>5.0} s  {:>7}/s",
            self.seconds,
            rate(self.updates_per_s)
        )?;
        write!(
            f,
            "  age {}/{}/{}",
            duration(age.p50),
            duration(age.p99),
            duration(age.p999)
        )?;
        match &self.rings {
            Some(rings) => write!(f, "  {rings}")?,
            None => write!(f, "  lane {}", self.lane_peak)?,
        }
        write!(f, "  gaps {}", self.gaps)?;
        write!(f, "  refused {}", self.refused)?;
        write!(
            f,
            "  tops {}  trades {} dropped {}",
            grouped(self.tops),
            grouped(self.trades),
            grouped(self.dropped)
        )?;
        write!(
            f,
            "  limits v{} over {}  control {}",
            self.limits,
            grouped(self.over),
            self.control
        )?;
        write!(f, "  subs {}  busy", self.subscribers)?;
        for share in &self.busy {
            write!(f, " {:.0}%", share * 100.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::RingReport;

    #[test]
    fn the_live_line_shows_rings_where_there_are_some() {
        let ring = |occupancy, age_bound_ns| RingReport {
            occupancy,
            peak: 10 * occupancy,
            refused: 2,
            age_bound_ns,
            ..RingReport::default()
        };
        let mut rings = RingsLine::default();
        rings.add(&ring(3, Some(4_000)));
        rings.add(&ring(2, None));
        let mut line = LiveLine::default();
        assert!(line.to_string().contains("  lane 0  gaps 0"), "{line}");
        line.rings = Some(rings);
        let told = line.to_string();
        let expected = "  ring 3 peak 30 refused 4 age at most 4.0 µs  gaps 0";
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn the_live_line_is_one_line() {
        let line = LiveLine {
            busy: vec![0.5, 0.25],
            ..LiveLine::default()
        }
        .to_string();
        assert!(line.ends_with("busy 50% 25%"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }
}
