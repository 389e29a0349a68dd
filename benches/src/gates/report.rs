//! What the counts look like, and whether they pass.

use std::fmt::Write as _;

use super::cost::rounded;
use super::{Breach, Cost, GateRow, Limits, Measured};

/// Functions shown of a row that is above a limit.
const FUNCTIONS_SHOWN: usize = 8;
/// Below this share of an instruction an operation, a function is noise.
const SHARE_MIN: f64 = 0.002;

/// Collects the rows' results.
#[derive(Debug, Default)]
pub struct Report {
    functions: bool,
    failed: usize,
    stale: usize,
}

impl Report {
    /// Shows where every row spends its instructions, not only a row that fails.
    #[must_use]
    pub fn with_functions(mut self) -> Self {
        self.functions = true;
        self
    }

    /// The heading of the table.
    #[must_use]
    pub fn heading() -> String {
        let mut line = format!("{:<20}", "an operation of");
        for name in Cost::NAMES {
            let _infallible = write!(line, "{name:>14}");
        }
        line
    }

    /// The lines about one row.
    #[must_use]
    pub fn row(&mut self, row: &GateRow, measured: &Measured, limits: &Limits) -> String {
        let mut text = format!("{:<20}", row.name);
        for part in measured.cost.parts() {
            text += &format!("{:>14}", rounded(part));
        }
        let breaches = limits.breaches(&measured.cost);
        for breach in &breaches {
            text += &match breach {
                Breach::Above { part, found, limit } => format!(
                    "\n  FAILED: {part} {} is above the limit {}",
                    rounded(*found),
                    rounded(*limit)
                ),
                Breach::Below {
                    part,
                    found,
                    listed,
                } if breach.fails(row) => format!(
                    "\n  FAILED: {part} {} is not seen as {}, which is known",
                    rounded(*found),
                    rounded(*listed)
                ),
                Breach::Below {
                    part,
                    found,
                    listed,
                } => format!(
                    "\n  lower the limit: {part} {} where the table says {}",
                    rounded(*found),
                    rounded(*listed)
                ),
            };
        }
        let failed = breaches.iter().any(|breach| breach.fails(row));
        if !breaches.is_empty() {
            text += &format!("\n  its line would be: {}", measured.cost);
        }
        if failed || self.functions {
            text += &functions(measured);
        }
        self.failed += usize::from(failed);
        self.stale += usize::from(!failed && !breaches.is_empty());
        text
    }

    /// The last line.
    #[must_use]
    pub fn summary(&self, rows: usize) -> String {
        let Self { failed, stale, .. } = self;
        format!("{rows} rows, {failed} above a limit, {stale} with a limit to lower")
    }

    /// Whether every row is within its limits.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failed == 0
    }
}

/// Where a row spends its instructions, and where it locks.
#[must_use]
fn functions(measured: &Measured) -> String {
    let mut text = String::new();
    let lists = [
        ("instructions", &measured.functions),
        ("locked", &measured.lockers),
    ];
    for (what, list) in lists {
        let seen = list.iter().filter(|(_, share)| *share > SHARE_MIN);
        for (name, share) in seen.take(FUNCTIONS_SHOWN) {
            text += &format!("\n  {:>10} {what} in {name}", rounded(*share));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{Table, find_gate_row};

    /// What the table says of the row.
    fn listed() -> Cost {
        let table = Table::checked_in().unwrap();
        let limits = table.limits("yield").unwrap();
        Cost {
            instructions: limits.instructions,
            syscalls: limits.syscalls,
            ..Cost::default()
        }
    }

    fn measured(instructions: f64, locked: f64) -> Measured {
        let cost = Cost {
            instructions,
            locked,
            ..listed()
        };
        let share = |name: &str, share| (name.to_owned(), share);
        Measured {
            cost,
            functions: vec![share("turn", instructions), share("rare", 0.001)],
            lockers: vec![share("wake", locked)],
        }
    }

    fn report(instructions: f64, locked: f64) -> (String, bool) {
        let row = find_gate_row("yield").unwrap();
        let table = Table::checked_in().unwrap();
        let mut report = Report::default();
        let text = report.row(
            row,
            &measured(instructions, locked),
            table.limits("yield").unwrap(),
        );
        (text, report.passed())
    }

    #[test]
    fn lock_that_a_row_did_not_have_fails_it_and_is_shown() {
        let listed = listed().instructions;
        let (text, passed) = report(listed, 1.0);
        assert!(!passed);
        assert!(text.contains("FAILED: locked 1 is above"), "{text}");
        assert!(text.contains("1 locked in wake"), "{text}");
        assert!(!text.contains("rare"), "{text}");
    }

    #[test]
    fn row_that_got_cheaper_passes_and_asks_for_a_lower_limit() {
        let (text, passed) = report(10.0, 0.0);
        assert!(passed);
        assert!(text.contains("lower the limit: instructions 10 "), "{text}");
        assert!(text.contains("instructions = 10, locked = 0"), "{text}");
    }

    #[test]
    fn row_within_its_limits_is_one_line() {
        let listed = listed().instructions;
        let (text, passed) = report(listed, 0.0);
        assert!(passed && text.lines().count() == 1, "{text}");
    }
}
