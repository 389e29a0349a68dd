//! What each row may cost: the checked-in table.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Cost, GateError, GateRow, ROWS};

const TEXT: &str = include_str!("../../gates.toml");
/// How far above the table a row may be, and how far below it nobody is told.
const MARGIN: f64 = 0.1;
/// The row whose cost is known.
const CONTROL: &str = "control";
/// What start and end of a run add or leave out, spread over the operations.
const NOISE: f64 = 0.002;

/// What was measured of a row when its line was written. Up to 10 % more is allowed of each part.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The day, as year-month-day.
    pub on: String,
    /// [`Cost::instructions`].
    pub instructions: f64,
    /// [`Cost::locked`]; with none listed, none is allowed.
    pub locked: f64,
    /// [`Cost::syscalls`].
    pub syscalls: f64,
    /// [`Cost::allocations`].
    pub allocations: f64,
    /// [`Cost::bytes`].
    pub bytes: f64,
    /// [`Cost::held`].
    pub held: f64,
}

/// How a part of a cost differs from the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Breach {
    /// Above the limit: the row fails.
    Above {
        /// Which part.
        part: &'static str,
        /// What was measured.
        found: f64,
        /// What is allowed.
        limit: f64,
    },
    /// More than 10 % below what the table says: the limit is to be lowered.
    Below {
        /// Which part.
        part: &'static str,
        /// What was measured.
        found: f64,
        /// What the table says.
        listed: f64,
    },
}

impl Breach {
    /// Whether the row fails by it.
    ///
    /// The control also fails below its limits: a meter that does not see what the control does
    /// would pass every other row. Its instructions are those of the system's libraries, and may
    /// differ.
    #[must_use]
    pub fn fails(&self, row: &GateRow) -> bool {
        match self {
            Self::Above { .. } => true,
            Self::Below { part, .. } => row.name == CONTROL && *part != "instructions",
        }
    }
}

impl Limits {
    fn listed(&self) -> Cost {
        Cost {
            instructions: self.instructions,
            locked: self.locked,
            syscalls: self.syscalls,
            allocations: self.allocations,
            bytes: self.bytes,
            held: self.held,
        }
    }

    /// Every part of `cost` that is above its limit, or so far below that the limit is stale.
    #[must_use]
    pub fn breaches(&self, cost: &Cost) -> Vec<Breach> {
        let parts = Cost::NAMES.into_iter().zip(self.listed().parts());
        let mut breaches = Vec::new();
        for ((part, listed), found) in parts.zip(cost.parts()) {
            let limit = listed * (1.0 + MARGIN) + NOISE;
            if found > limit {
                breaches.push(Breach::Above { part, found, limit });
            } else if found < listed * (1.0 - MARGIN) - NOISE {
                breaches.push(Breach::Below {
                    part,
                    found,
                    listed,
                });
            }
        }
        breaches
    }
}

/// The table of all rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    rows: BTreeMap<String, Limits>,
}

impl Table {
    /// The table in `benches/gates.toml`, as it was when this was compiled.
    ///
    /// # Errors
    ///
    /// [`GateError::Table`], and [`GateError::Rows`] when a row has no line or a line no row.
    pub fn checked_in() -> Result<Self, GateError> {
        Self::read(TEXT)
    }

    fn read(text: &str) -> Result<Self, GateError> {
        let table: Self = toml::from_str(text)?;
        let stray = |name: &&String| ROWS.iter().all(|row| row.name != name.as_str());
        if let Some(name) = table.rows.keys().find(stray) {
            return Err(GateError::Rows(format!("no row is called {name}")));
        }
        if let Some(row) = ROWS.iter().find(|row| !table.rows.contains_key(row.name)) {
            return Err(GateError::Rows(format!("{} has no line", row.name)));
        }
        Ok(table)
    }

    /// The limits of a row.
    ///
    /// # Errors
    ///
    /// [`GateError::Row`].
    pub fn limits(&self, row: &str) -> Result<&Limits, GateError> {
        let limits = self.rows.get(row);
        limits.ok_or_else(|| GateError::Row(row.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            on: "2026-11-30".to_owned(),
            instructions: 100.0,
            locked: 0.0,
            syscalls: 1.0,
            allocations: 1.0,
            bytes: 64.0,
            held: 0.0,
        }
    }

    #[test]
    fn table_has_a_line_for_every_row_and_no_other() {
        Table::checked_in().unwrap();
        let stray = TEXT.replace("yield =", "yields =");
        assert!(matches!(Table::read(&stray), Err(GateError::Rows(_))));
        let lines = TEXT.lines().filter(|line| !line.starts_with("yield ="));
        let missing = lines.collect::<Vec<_>>().join("\n");
        let error = Table::read(&missing).unwrap_err();
        assert_eq!(error.to_string(), "benches/gates.toml: yield has no line");
    }

    #[test]
    fn cost_as_listed_is_no_breach() {
        assert_eq!(limits().breaches(&limits().listed()), []);
        let within = Cost {
            instructions: 109.9,
            syscalls: 0.91,
            ..limits().listed()
        };
        assert_eq!(limits().breaches(&within), []);
    }

    #[test]
    fn each_part_above_its_limit_is_a_breach() {
        let above = Cost {
            instructions: 110.1,
            locked: 0.01,
            syscalls: 1.2,
            allocations: 1.2,
            bytes: 71.0,
            held: 1.0,
        };
        let parts = limits()
            .breaches(&above)
            .into_iter()
            .map(|breach| match breach {
                Breach::Above { part, found, limit } if found > limit => part,
                other => panic!("{other:?}"),
            });
        assert_eq!(parts.collect::<Vec<_>>(), Cost::NAMES);
    }

    #[test]
    fn cost_far_below_the_table_makes_the_limit_stale() {
        let below = Cost {
            instructions: 89.0,
            ..limits().listed()
        };
        let wanted = Breach::Below {
            part: "instructions",
            found: 89.0,
            listed: 100.0,
        };
        assert_eq!(limits().breaches(&below), [wanted]);
        assert!(ROWS.iter().all(|row| !wanted.fails(row)));
    }

    #[test]
    fn control_that_is_not_seen_fails() {
        let table = Table::checked_in().unwrap();
        let unseen = Cost {
            locked: 1.0,
            ..table.limits(CONTROL).unwrap().listed()
        };
        let breaches = table.limits(CONTROL).unwrap().breaches(&unseen);
        let [breach] = breaches[..] else {
            panic!("{breaches:?}");
        };
        let failing = ROWS.iter().filter(|row| breach.fails(row));
        assert_eq!(failing.map(|row| row.name).collect::<Vec<_>>(), [CONTROL]);
    }
}
