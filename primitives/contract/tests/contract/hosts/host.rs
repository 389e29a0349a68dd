//! What a host is.

/// How many places a host has at most.
pub(crate) const PLACES: usize = 3;

/// An executor with places, each a thread or a shard of its own.
pub(crate) trait Host: Send + Sized + 'static {
    /// Runs a fact, as often as it takes on this host: none when the machine does not have it.
    fn run(self, fact: fn(&Self)) {
        fact(&self);
    }

    /// Runs two futures side by side, each made and polled at its place, and gives what they end
    /// in. A panic of either is the caller's.
    fn pair<L, LF, R, RF>(&self, left: L, right: R) -> (LF::Output, RF::Output)
    where
        L: FnOnce() -> LF + Send + 'static,
        LF: Future + 'static,
        LF::Output: Send + 'static,
        R: FnOnce() -> RF + Send + 'static,
        RF: Future + 'static,
        RF::Output: Send + 'static;

    /// Runs up to [`PLACES`] of one kind side by side, each made and polled at a place of its own.
    /// A panic of one is the caller's.
    fn each<W, F>(&self, works: Vec<W>) -> Vec<F::Output>
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future + 'static,
        F::Output: Send + 'static;

    /// `full` on hosts that run at the machine's speed, less where each step is simulated.
    fn count(&self, full: u64) -> u64 {
        full
    }
}
