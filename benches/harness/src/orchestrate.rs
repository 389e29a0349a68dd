//! The interleaved run: warm-ups, then rounds A B A B, one process a side.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::children::{Side, list};
use crate::results::{Kept, write_suite};
use crate::table::{Missing, RowResult, SideResult};
use crate::twin::Listed;
use crate::{
    BenchError, Cores, EVERY_CORE, Kind, RowSpec, Sample, allowed_cores, rows, write_report,
};

/// Rounds before the first that counts.
const WARMUPS: usize = 5;
/// Counted pairs that a claim needs.
const PAIRS: usize = 10;
/// Counted pairs of a quick run, which allows no claim.
const QUICK_PAIRS: usize = 3;
/// Load of other work above which figures mean little.
const LOAD_MAX: f64 = 0.5;

/// Which suites to run, and how.
#[derive(Debug, Clone, Args)]
pub struct Plan {
    /// Suites to run, or SUITE/ROW for one row.
    #[arg(required = true)]
    pub suites: Vec<String>,
    /// Ends within a minute a suite; its figures allow no claim.
    #[arg(long)]
    pub quick: bool,
    /// Counted rounds of each side: 10, or 3 of a quick run.
    #[arg(long)]
    pub pairs: Option<usize>,
    /// Shard counts of the rows that scale.
    #[arg(long, value_delimiter = ',', default_value = "1")]
    pub shards: Vec<usize>,
    /// Only peers whose name begins so.
    #[arg(long)]
    pub who: Option<String>,
    /// Keeps the results of rows that are not in this run.
    #[arg(long)]
    pub add: bool,
    /// Where results go.
    #[arg(long, default_value = "target/bench")]
    pub out: PathBuf,
}

impl Plan {
    fn wants(&self, spec: &RowSpec) -> bool {
        let row = format!("{}/{}", spec.suite, spec.row);
        self.suites
            .iter()
            .any(|wanted| wanted == spec.suite || *wanted == row)
    }

    fn wants_side(&self, entry: &Listed) -> bool {
        let named = self
            .who
            .as_ref()
            .is_none_or(|prefix| entry.who.starts_with(prefix.as_str()));
        named || entry.who.starts_with(crate::table::OURS)
    }
}

/// Runs the plan over the rows of all `twins`: prints a table a row, writes results a suite.
///
/// # Errors
///
/// [`BenchError::Unknown`] when a name in the plan is no row, [`BenchError::Cores`] on one core,
/// and [`BenchError::Incomplete`] at the end when sides failed; everything else was measured.
pub fn run(plan: &Plan, twins: &[PathBuf]) -> Result<(), BenchError> {
    for wanted in &plan.suites {
        let known = |spec: &RowSpec| {
            wanted == spec.suite || *wanted == format!("{}/{}", spec.suite, spec.row)
        };
        if !rows().any(known) {
            return Err(BenchError::Unknown(wanted.clone()));
        }
    }
    warn_of_load();
    let mut sides = Vec::new();
    for exe in twins {
        sides.extend(list(exe)?.into_iter().map(|entry| (exe.as_path(), entry)));
    }
    sides.retain(|(_, entry)| plan.wants_side(entry));
    let mut failed = 0;
    let kept = if plan.add {
        Kept::OtherRows
    } else {
        Kept::Nothing
    };
    let mut suites: Vec<&str> = rows().map(|spec| spec.suite).collect();
    suites.dedup();
    for suite in suites {
        let mut results = Vec::new();
        for spec in rows().filter(|spec| spec.suite == suite && plan.wants(spec)) {
            let cores = spec.cores()?;
            for shards in shard_counts(plan, spec) {
                let result = run_row(plan, spec, shards, cores, &sides);
                failed += result
                    .sides
                    .iter()
                    .filter(|side| matches!(side.outcome, Err(Missing::Failed(_))))
                    .count();
                println!("{}", result.text());
                results.push(result);
            }
        }
        if !results.is_empty() {
            write_suite(&plan.out, suite, &results, kept)?;
        }
    }
    write_report(&plan.out)?;
    if failed > 0 {
        Err(BenchError::Incomplete(failed))
    } else {
        Ok(())
    }
}

/// Says so when other work would disturb the figures: no core is left for it.
fn warn_of_load() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last_minute = load
        .split(' ')
        .next()
        .and_then(|first| first.parse::<f64>().ok());
    if let Some(load) = last_minute.filter(|load| *load > LOAD_MAX) {
        eprintln!("the load is {load}: other work disturbs these figures");
    }
}

fn shard_counts(plan: &Plan, spec: &RowSpec) -> Vec<usize> {
    match spec.kind {
        Kind::Round if spec.shards == EVERY_CORE => vec![allowed_cores().len()],
        Kind::Round => vec![spec.shards],
        Kind::Serve { .. } | Kind::Churn { .. } => plan.shards.clone(),
    }
}

/// A side while its row runs: a failure ends it, and the others go on.
struct Runner<'a> {
    exe: &'a Path,
    entry: &'a Listed,
    side: Result<Side, Missing>,
    samples: Vec<Sample>,
}

impl Runner<'_> {
    fn round(&mut self, spec: &RowSpec, cores: Cores) -> Option<Sample> {
        match self.side.as_mut().ok()?.round(spec, cores) {
            Ok(sample) => Some(sample),
            Err(error) => {
                self.side = Err(error.into());
                None
            }
        }
    }
}

fn run_row(
    plan: &Plan,
    spec: &'static RowSpec,
    shards: usize,
    cores: Cores,
    sides: &[(&Path, Listed)],
) -> RowResult {
    let of_row = sides
        .iter()
        .filter(|(_, e)| (e.suite.as_str(), e.row.as_str()) == (spec.suite, spec.row));
    let mut runners: Vec<_> = of_row
        .map(|(exe, entry)| Runner {
            exe,
            entry,
            side: Side::start(exe, spec, entry, plan.quick, shards).map_err(Missing::from),
            samples: Vec::new(),
        })
        .collect();
    let (warmups, default_pairs) = if plan.quick {
        (1, QUICK_PAIRS)
    } else {
        (WARMUPS, PAIRS)
    };
    let pairs = plan.pairs.unwrap_or(default_pairs);
    for _ in 0..warmups {
        for runner in &mut runners {
            runner.round(spec, cores);
        }
    }
    for pair in 0..pairs {
        let count = runners.len();
        for place in 0..count {
            // Each pair begins with another side, so that none always follows the same neighbour.
            let runner = &mut runners[(place + pair) % count];
            if let Some(sample) = runner.round(spec, cores) {
                runner.samples.push(sample);
            }
        }
    }
    let results = runners
        .into_iter()
        .map(|runner| {
            let allocated = allocated_bytes_per_op(plan, spec, shards, cores, &runner);
            SideResult {
                who: runner.entry.who.clone(),
                alloc_b_per_op: allocated,
                outcome: runner.side.map(|_ended| runner.samples),
            }
        })
        .collect();
    RowResult {
        spec,
        shards,
        quick: plan.quick,
        sides: results,
    }
}

/// Runs one round in the counting twin beside `exe`, if it was built.
fn allocated_bytes_per_op(
    plan: &Plan,
    spec: &RowSpec,
    shards: usize,
    cores: Cores,
    runner: &Runner<'_>,
) -> Option<f64> {
    runner.side.as_ref().ok()?;
    let name = format!("{}-count", runner.exe.file_name()?.to_str()?);
    let counting = runner.exe.with_file_name(name);
    if !counting.exists() {
        return None;
    }
    let counted = || -> Result<Sample, BenchError> {
        let mut side = Side::start(&counting, spec, runner.entry, plan.quick, shards)?;
        // The first round allocates what later ones reuse.
        side.round(spec, cores)?;
        side.round(spec, cores)
    };
    match counted() {
        Ok(sample) => sample.alloc_b_per_op,
        Err(error) => {
            eprintln!("{}: counting allocations: {error}", runner.entry.who);
            None
        }
    }
}
