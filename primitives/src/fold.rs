//! What a fold over a ring comes back with.

/// What [`RingConsumer::fold`](crate::RingConsumer::fold) and
/// [`Consumer64::fold`](crate::Consumer64::fold) come back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded<A> {
    /// What the function made of all values.
    pub acc: A,
    /// How many values were taken.
    pub consumed: usize,
    /// How many positions were passed that had been claimed and given up.
    pub skipped: u64,
}
