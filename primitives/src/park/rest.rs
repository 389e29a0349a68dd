//! Giving way to a writer that is faster.

use std::task::Context;

/// Turns that a feed rests. Each look takes the newest value's cache line away from its writer, who
/// pays for it with several undisturbed sets (bench rows `signal_set_1_b` and `propagation_64_b`).
const TURNS: u32 = if cfg!(corelane_loom) { 0 } else { 16 };

/// The turns that a feed of the latest value lets pass before it looks again.
///
/// A feed that gets every set rests never. One that has skipped some is behind a writer that is
/// faster than it, and better takes many sets together; it unlearns that in five single sets.
#[derive(Default)]
pub(crate) struct Rest {
    turns: u32,
    left: u32,
}

impl Rest {
    /// A look has found news, which `sets` sets have made since the last one.
    #[inline]
    pub(crate) fn found(&mut self, sets: u64) {
        self.turns = if sets > 1 { TURNS } else { self.turns / 2 };
        self.left = self.turns;
    }

    /// Whether the task shall let a turn pass instead of looking; then it is woken, to run behind
    /// the others of its executor.
    #[inline]
    pub(crate) fn goes_on(&mut self, cx: &Context<'_>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        cx.waker().wake_by_ref();
        true
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::Rest;
    use std::task::{Context, Waker};

    #[test]
    fn a_feed_rests_only_while_its_writer_is_faster() {
        let cx = Context::from_waker(Waker::noop());
        let mut rest = Rest::default();
        let sets = [1, 2, 1, 1, 1_000, 1, 1, 1, 1, 1];
        let turns = [0, 16, 8, 4, 16, 8, 4, 2, 1, 0];
        for (sets, turns) in sets.into_iter().zip(turns) {
            rest.found(sets);
            let passed = (0..).take_while(|_| rest.goes_on(&cx)).count();
            assert_eq!(passed, turns, "after {sets} sets");
        }
    }
}
