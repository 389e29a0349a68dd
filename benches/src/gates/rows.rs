//! The rows, by name.

use corelane_bench_harness::BenchError;

use super::{GateError, control, lanes, primitives, relocations, rings, streams, tasks, timers};

/// Called when everything that a row makes is there, before it drops any of it.
///
/// The counting twin reads the live bytes then.
pub type Hold = fn();

/// One row: an operation, and how often it is done.
#[derive(Debug, Clone, Copy)]
pub struct GateRow {
    /// The row's name, as in `benches/gates.toml`.
    pub name: &'static str,
    /// Operations of the shorter and of the longer run.
    pub ops: [u64; 2],
    run: fn(u64, Hold) -> Result<(), BenchError>,
}

impl GateRow {
    /// Does `ops` operations and checks what they gave.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when a result is wrong, and what the runtime or the system refuses.
    pub fn run(&self, ops: u64, hold: Hold) -> Result<(), BenchError> {
        (self.run)(ops, hold)
    }
}

/// Operations that leave nothing behind.
const STEADY: [u64; 2] = [1 << 10, (1 << 10) + (1 << 14)];
/// What stays: both are powers of two, so that tables which double are as full in both runs.
const HELD: [u64; 2] = [1 << 12, 1 << 14];
/// Connections: each takes two descriptors, and processes may often have 1,024.
const CONNECTIONS: [u64; 2] = [1 << 6, 1 << 8];

const fn row(
    name: &'static str,
    ops: [u64; 2],
    run: fn(u64, Hold) -> Result<(), BenchError>,
) -> GateRow {
    GateRow { name, ops, run }
}

/// Every row. The control is the first: it shows that the count sees what it must see.
pub const ROWS: &[GateRow] = &[
    row("control", STEADY, control::known_cost),
    row("relocate_same", STEADY, relocations::same),
    row("relocate_hit", STEADY, relocations::hit),
    row("relocate_hit_alone", STEADY, relocations::hit_alone),
    row("relocate_clone_drop", STEADY, relocations::clone_drop),
    row("lane_push_pop", STEADY, lanes::push_pop),
    row("lane_chunk", STEADY, lanes::chunk),
    row("link_push_pop", STEADY, lanes::link_push_pop),
    row("link_send_recv", STEADY, lanes::link_send_recv),
    row("ring_push_pop", STEADY, rings::any_push_pop),
    row("ring64_push_pop", STEADY, rings::push_pop),
    row("ring64_push_fold", STEADY, rings::push_fold),
    row("shards64_push_fold", STEADY, rings::shards_push_fold),
    row("ring64_batch", STEADY, rings::batch),
    row(
        "signal_plain_get_cloned",
        STEADY,
        primitives::plain_get_cloned,
    ),
    row("signal_plain_read_64", STEADY, primitives::plain_read),
    row(
        "signal_plain_replica_get",
        STEADY,
        primitives::plain_replica_get,
    ),
    row("signal_plain_set", STEADY, primitives::plain_set),
    row("signal_shared_get", STEADY, primitives::shared_get),
    row("signal_shared_read", STEADY, primitives::shared_read),
    row(
        "signal_shared_replica_get",
        STEADY,
        primitives::shared_replica_get,
    ),
    row(
        "signal_shared_replica_look",
        STEADY,
        primitives::shared_replica_look,
    ),
    row("signal_shared_set", STEADY, primitives::shared_set),
    row(
        "topic_publish_drain",
        STEADY,
        primitives::topic_publish_drain,
    ),
    row("channel_send_recv", STEADY, primitives::channel_send_recv),
    row("channel_send_fold", STEADY, primitives::channel_send_fold),
    row(
        "subscription_set_next",
        STEADY,
        primitives::subscription_set_next,
    ),
    row("spawn_join", STEADY, tasks::spawn_join),
    row("yield", STEADY, tasks::yields),
    row("wake_self", STEADY, tasks::wake_self),
    row("wake_other", STEADY, tasks::wake_other),
    row("submit_self", STEADY, tasks::submit_self),
    row("task_held", HELD, tasks::held),
    row("timer_insert_cancel", STEADY, timers::insert_cancel),
    row("timer_held", HELD, timers::held),
    row("tcp_echo", STEADY, streams::echo),
    row("tcp_held", CONNECTIONS, streams::held),
];

/// The row of that name.
///
/// # Errors
///
/// [`GateError::Row`].
pub fn find_gate_row(name: &str) -> Result<&'static GateRow, GateError> {
    let found = ROWS.iter().find(|row| row.name == name);
    found.ok_or_else(|| GateError::Row(name.to_owned()))
}

/// Reads the command line of `gate` and `gate-count`: a row and a count of operations.
///
/// # Errors
///
/// [`GateError::Row`] for an unknown row, else [`GateError::Usage`].
///
/// ```
/// let args = ["yield", "64"].map(String::from);
/// let (row, ops) = corelane_benches::gates::row_and_count(args)?;
/// row.run(ops, || ())?;
/// # Ok::<_, corelane_benches::gates::GateError>(())
/// ```
pub fn row_and_count(
    args: impl IntoIterator<Item = String>,
) -> Result<(&'static GateRow, u64), GateError> {
    let mut args = args.into_iter();
    let (Some(name), Some(ops), None) = (args.next(), args.next(), args.next()) else {
        return Err(GateError::Usage);
    };
    let ops = ops.parse().map_err(|_| GateError::Usage)?;
    Ok((find_gate_row(&name)?, ops))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_gives_its_checked_result() {
        for row in ROWS {
            row.run(96, || ())
                .unwrap_or_else(|error| panic!("{}: {error}", row.name));
        }
    }

    #[test]
    fn rows_have_names_of_their_own_and_a_longer_run() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(row.ops[0] < row.ops[1], "{}", row.name);
            let same = ROWS[..index].iter().any(|other| other.name == row.name);
            assert!(!same, "two rows are called {}", row.name);
        }
    }

    #[test]
    fn command_line_names_a_row_and_a_count() {
        let parse = |args: &[&str]| row_and_count(args.iter().map(|arg| (*arg).to_owned()));
        let (row, ops) = parse(&["yield", "7"]).unwrap();
        assert_eq!((row.name, ops), ("yield", 7));
        assert!(matches!(parse(&["none", "7"]), Err(GateError::Row(name)) if name == "none"));
        for wrong in [&["yield"][..], &["yield", "x"], &["yield", "1", "2"]] {
            assert!(matches!(parse(wrong), Err(GateError::Usage)), "{wrong:?}");
        }
    }
}
