//! The word of one slot of the log.

/// Bits of a node's index.
pub(super) const NODE_BITS: u32 = 26;
const NODE_MASK: u64 = (1 << NODE_BITS) - 1;
/// The index that stands for no node.
pub(super) const NO_NODE: u32 = NODE_MASK as u32;
const SEAL: u64 = 1 << NODE_BITS;
const LAP_SHIFT: u32 = NODE_BITS + 1;
const LAP_MASK: u64 = u64::MAX >> LAP_SHIFT;

/// The index of a node in its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeIndex(pub(super) u32);

impl NodeIndex {
    /// The index in the low bits of `word`, unless that stands for no node.
    pub(super) fn of_low_bits(word: u64) -> Option<Self> {
        let index = (word & NODE_MASK) as u32;
        (index != NO_NODE).then_some(Self(index))
    }
}

/// Which node stands in a slot, and since which lap over the slots.
///
/// Laps count from 1 and repeat after 2^37: a writer that is stopped for exactly so many laps
/// between its look at a slot and its exchange would take the new word for the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// A slot that no position was written to.
    pub(super) const EMPTY: Self = Self(NODE_MASK);

    pub(super) fn new(lap: u64, node: NodeIndex) -> Self {
        Self((lap & LAP_MASK) << LAP_SHIFT | u64::from(node.0))
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    pub(super) fn is_of_lap(self, lap: u64) -> bool {
        self.0 >> LAP_SHIFT == lap & LAP_MASK
    }

    /// Whether this word's lap is older than `lap`, by less than half of all laps.
    pub(super) fn is_before_lap(self, lap: u64) -> bool {
        let behind = lap.wrapping_sub(self.0 >> LAP_SHIFT) & LAP_MASK;
        behind != 0 && behind <= LAP_MASK / 2
    }

    pub(super) fn node(self) -> Option<NodeIndex> {
        NodeIndex::of_low_bits(self.0)
    }

    /// The same node, behind which the log ends.
    pub(super) fn sealed(self) -> Self {
        Self(self.0 | SEAL)
    }

    pub(super) fn is_sealed(self) -> bool {
        self.0 & SEAL != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_word_do_not_mix() {
        let word = Word::new(7, NodeIndex(NO_NODE - 1));
        assert!(word.is_of_lap(7) && !word.is_of_lap(8) && !word.is_sealed());
        assert_eq!(word.node(), Some(NodeIndex(NO_NODE - 1)));
        let sealed = word.sealed();
        assert!(sealed.is_sealed() && sealed.is_of_lap(7));
        assert_eq!(sealed.node(), word.node());
        assert!(Word::EMPTY.is_of_lap(0) && Word::EMPTY.node().is_none());
    }

    #[test]
    fn laps_are_ordered_across_their_end() {
        let last = Word::new(LAP_MASK, NodeIndex(0));
        assert!(last.is_before_lap(LAP_MASK + 1));
        assert!(Word::new(LAP_MASK + 1, NodeIndex(0)).is_of_lap(0));
        assert!(!last.is_before_lap(LAP_MASK) && !last.is_before_lap(LAP_MASK - 1));
    }
}
