//! Looking again before sleeping.

use std::task::Context;

/// How often a task that has just had values runs again by itself before it sleeps, so that a
/// producer on another core need not wake it for every few of them (bench rows `flood_N`, awaited).
const LOOKS_MAX: u32 = if cfg!(corelane_loom) { 0 } else { 16 };

/// The looks that are left to one waiting end.
#[derive(Default)]
pub(crate) struct Looks(u32);

impl Looks {
    /// Something was there: more may follow soon.
    #[inline]
    pub(crate) fn found(&mut self) {
        self.0 = LOOKS_MAX;
    }

    /// Whether the task shall look again instead of sleeping; then it is woken, to run behind the
    /// others of its executor.
    pub(crate) fn again(&mut self, cx: &Context<'_>) -> bool {
        if self.0 == 0 {
            return false;
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        true
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{LOOKS_MAX, Looks};
    use std::task::{Context, Waker};

    #[test]
    fn looks_end_and_come_back() {
        let cx = Context::from_waker(Waker::noop());
        let mut looks = Looks::default();
        assert!(!looks.again(&cx), "nothing was ever there");
        for _ in 0..2 {
            looks.found();
            let count = (0..=LOOKS_MAX).filter(|_| looks.again(&cx)).count();
            assert_eq!(count, LOOKS_MAX as usize);
        }
    }
}
