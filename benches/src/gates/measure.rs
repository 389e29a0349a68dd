//! Counts rows: two runs each under callgrind, two with the counting allocator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::callgrind::Profile;
use super::listing::Listings;
use super::{Cost, GateError, GateRow};

/// The object of instructions that belong to no file.
const NOWHERE: &str = "???";
/// Characters of a failed program's last words.
const WORDS_MAX: usize = 2_000;

/// The programs that do the rows, and what is known of their instructions.
#[derive(Debug)]
pub struct Gauge {
    gate: PathBuf,
    gate_count: PathBuf,
    listings: Listings,
}

/// What a row costs, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What one operation costs.
    pub cost: Cost,
    /// Functions by their instructions an operation, the largest first.
    pub functions: Vec<(String, f64)>,
    /// Functions by their locked instructions an operation, the largest first.
    pub lockers: Vec<(String, f64)>,
}

/// Totals of one run.
#[derive(Debug, Default)]
struct Totals {
    instructions: u64,
    nowhere: u64,
    locked: u64,
    syscalls: u64,
    functions: BTreeMap<String, u64>,
    lockers: BTreeMap<String, u64>,
}

impl Gauge {
    /// Takes `gate` and `gate-count` from `directory`.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            gate: directory.join("gate"),
            gate_count: directory.join("gate-count"),
            listings: Listings::default(),
        }
    }

    /// Counts one row.
    ///
    /// # Errors
    ///
    /// [`GateError`]: a program is missing, or a check of the row failed.
    pub fn measure(&mut self, row: &GateRow) -> Result<Measured, GateError> {
        let [fewer, more] = row.ops;
        let [base, full] = [self.totals(row, fewer)?, self.totals(row, more)?];
        let [base_memory, full_memory] = [self.memory(row, fewer)?, self.memory(row, more)?];
        let ops = (more - fewer) as f64;
        let each = |full: u64, base: u64| (full as f64 - base as f64) / ops;
        let nowhere = full.nowhere.saturating_sub(base.nowhere);
        if nowhere >= more - fewer {
            return Err(GateError::Nowhere(nowhere));
        }
        let [allocations, bytes, held] =
            std::array::from_fn(|part| each(full_memory[part], base_memory[part]));
        let shares = |full: &BTreeMap<String, u64>, base: &BTreeMap<String, u64>| {
            let share = |(name, count): (&String, &u64)| {
                let before = base.get(name).copied().unwrap_or(0);
                (name.clone(), each(*count, before))
            };
            let mut shares: Vec<(String, f64)> = full.iter().map(share).collect();
            shares.sort_by(|a, b| b.1.total_cmp(&a.1));
            shares
        };
        Ok(Measured {
            cost: Cost {
                instructions: each(full.instructions, base.instructions),
                locked: each(full.locked, base.locked),
                syscalls: each(full.syscalls, base.syscalls),
                allocations,
                bytes,
                held,
            },
            functions: shares(&full.functions, &base.functions),
            lockers: shares(&full.lockers, &base.lockers),
        })
    }

    fn totals(&mut self, row: &GateRow, ops: u64) -> Result<Totals, GateError> {
        let profile = Profile::of(&self.gate, row.name, ops)?;
        let mut totals = Totals {
            instructions: profile.total,
            ..Totals::default()
        };
        for (object, addresses) in &profile.objects {
            if object == NOWHERE {
                totals.nowhere = addresses.values().map(|executed| executed.count).sum();
                continue;
            }
            let listing = self.listings.of(object)?;
            for (address, executed) in addresses {
                let name = &profile.functions[executed.function];
                add(&mut totals.functions, name, executed.count);
                if listing.locked.contains(address) {
                    totals.locked += executed.count;
                    add(&mut totals.lockers, name, executed.count);
                } else if listing.syscalls.contains(address) {
                    totals.syscalls += executed.count;
                }
            }
        }
        Ok(totals)
    }

    /// Allocations, the bytes they gave, and the bytes that were live at the end.
    fn memory(&self, row: &GateRow, ops: u64) -> Result<[u64; 3], GateError> {
        let mut command = Command::new(&self.gate_count);
        command.args([row.name, &ops.to_string()]);
        let line = output_of(&mut command)?;
        let unknown = || GateError::Output {
            program: "gate-count",
            line: line.clone(),
        };
        let mut words = line.split_whitespace();
        let mut next = || words.next()?.parse().ok();
        let parts = [next(), next(), next()];
        let [Some(allocations), Some(bytes), Some(held)] = parts else {
            return Err(unknown());
        };
        Ok([allocations, bytes, held])
    }
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str, count: u64) {
    if let Some(sum) = counts.get_mut(name) {
        *sum += count;
    } else {
        counts.insert(name.to_owned(), count);
    }
}

/// The standard output of a program that ends well.
pub(super) fn output_of(command: &mut Command) -> Result<String, GateError> {
    let program = PathBuf::from(command.get_program());
    let output = match command.output() {
        Ok(output) => output,
        Err(source) => return Err(GateError::Start { program, source }),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let start = words.len().saturating_sub(WORDS_MAX);
    let words = words.get(start..).unwrap_or(&words).trim().to_owned();
    Err(GateError::Failed { program, words })
}
