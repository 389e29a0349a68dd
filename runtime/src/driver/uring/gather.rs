//! When a park waits for more than one completion.
//!
//! Many streams that are busy at a time cost less in few large batches: a park that gathers leaves
//! out wakes of this shard and of those who send to it (bench `tcp`, row `echo_64b_c64`: 8 % of the
//! processor time a request, and shorter latencies). Where completions come too slowly for that, a
//! gathering park is a timer and a wake for nothing (row `accept_churn`: 6 % more), so one that
//! brought little counts against the next ones.

use std::cell::Cell;

/// Completions that a park waits for at most.
const GATHER_MAX: usize = 64;
/// Completions that are worth the wait.
const WORTH: usize = 16;
/// Parks in a row that may bring less: a batch grows from park to park.
const TRIES: u32 = 4;
/// Parks that do not gather after so many that brought too little.
const PAUSE: u32 = 256;

/// What a ring remembers of its last parks.
#[derive(Debug)]
pub(super) struct Gather {
    /// The kernel can, and the shard's idle policy allows it.
    possible: bool,
    /// What the park that lasts gathers, 0 while none does.
    wanted: Cell<usize>,
    /// Parks that may still bring too little.
    tries: Cell<u32>,
    /// Parks that are left of a pause.
    pause: Cell<u32>,
}

impl Gather {
    pub(super) fn new(possible: bool) -> Self {
        Self {
            possible,
            wanted: Cell::new(0),
            tries: Cell::new(TRIES),
            pause: Cell::new(0),
        }
    }

    /// A park in a crowd begins while `awaited` operations may complete before long. Tells for how
    /// many completions it should wait, if for more than one.
    pub(super) fn begin(&self, awaited: usize) -> Option<usize> {
        if !self.possible || awaited < 2 {
            return None;
        }
        if let Some(left) = self.pause.get().checked_sub(1) {
            self.pause.set(left);
            return None;
        }
        let wanted = awaited.min(GATHER_MAX);
        self.wanted.set(wanted);
        Some(wanted)
    }

    /// What a park, if one gathered, has brought.
    pub(super) fn end(&self, brought: usize) {
        let wanted = self.wanted.replace(0);
        if wanted == 0 {
            return;
        }
        if brought >= wanted.min(WORTH) {
            self.tries.set(TRIES);
        } else if let Some(left) = self.tries.get().checked_sub(1) {
            self.tries.set(left);
        } else {
            self.tries.set(TRIES);
            self.pause.set(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parks_that_bring_much_go_on_gathering() {
        let gather = Gather::new(true);
        for _ in 0..1_000 {
            assert_eq!(gather.begin(100), Some(GATHER_MAX));
            gather.end(WORTH);
        }
        // All that there is to wait for is much, however few.
        for _ in 0..1_000 {
            assert_eq!(gather.begin(8), Some(8));
            gather.end(8);
        }
    }

    #[test]
    fn parks_that_bring_little_stop_gathering_and_try_again_later() {
        let gather = Gather::new(true);
        let mut gathered = 0;
        for _ in 0..10 * (PAUSE + TRIES + 1) {
            if gather.begin(100).is_some() {
                gathered += 1;
            }
            gather.end(WORTH - 1);
        }
        assert_eq!(gathered, 10 * (TRIES + 1));
    }

    #[test]
    fn nothing_is_gathered_where_the_kernel_cannot_or_one_operation_is_awaited() {
        assert_eq!(Gather::new(false).begin(100), None);
        assert_eq!(Gather::new(true).begin(1), None);
    }
}
