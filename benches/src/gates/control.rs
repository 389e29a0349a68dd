//! An operation whose cost is known, so that a meter which sees nothing is found out.

use std::hint::black_box;
use std::os::unix::process::parent_id;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use corelane_bench_harness::BenchError;

use super::Hold;

/// One read-modify-write, one full fence, one system call, and one allocation of 64 bytes.
pub(super) fn known_cost(ops: u64, hold: Hold) -> Result<(), BenchError> {
    let control = AtomicU64::new(0);
    let parent = parent_id();
    for _ in 0..ops {
        control.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        BenchError::check("parent", u64::from(parent), u64::from(parent_id()))?;
        drop(black_box(Box::new([0_u8; 64])));
    }
    hold();
    BenchError::check("additions", ops, control.into_inner())
}
