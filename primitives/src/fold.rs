//! What a fold comes back with.

/// What [`Receiver::fold`](crate::Receiver::fold),
/// [`RingConsumer::fold`](crate::RingConsumer::fold)
/// and [`Consumer64::fold`](crate::Consumer64::fold) come back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded<A> {
    /// What the function made of all values.
    pub acc: A,
    /// How many values were taken.
    pub consumed: usize,
    /// How many positions were passed that had been claimed and given up; 0 in a channel.
    pub skipped: u64,
}
