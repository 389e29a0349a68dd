//! The affinity and the id of its topology: plain numbers that any thread may copy.

use core::{fmt, num::NonZero};

/// Says which topology an [`Affinity`] indexes into.
///
/// Two affinities are comparable by index only when their topology ids are equal. There are three
/// families, and an id of one never equals an id of another: *machine* topologies, interned by
/// their list of processors and regions; *shapes*, which [`pinned_affinities`] interns by its
/// argument; and *anonymous* ones, one a thread that never entered an affinity, never used again
/// after that thread has ended.
///
/// ```
/// use thread_aware::affinity::pinned_affinities;
///
/// let shape = pinned_affinities(&[2, 2])[0].topology();
/// assert_eq!(shape, pinned_affinities(&[2, 2])[3].topology());
/// assert_ne!(shape, pinned_affinities(&[4])[0].topology());
/// ```
///
/// [`pinned_affinities`]: super::pinned_affinities
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopologyId(NonZero<u64>);

// The family is in the two highest bits, never 00, so that an id is never 0 and an optional
// affinity takes no more room than an affinity.
const ANONYMOUS: u64 = 0b01 << 62;
const SHAPE: u64 = 0b10 << 62;
const FAMILIES: u64 = 0b11 << 62;
#[cfg(feature = "threads")]
const MACHINE: u64 = 0b11 << 62;

impl TopologyId {
    /// The id of `number` in a family; only its low 62 bits are used.
    const fn of(family: u64, number: u64) -> Self {
        match NonZero::new(number & !FAMILIES | family) {
            Some(id) => Self(id),
            None => panic!("no family is 0"),
        }
    }

    /// The id of the shape that was interned under `number`.
    pub(super) const fn shape(number: u64) -> Self {
        Self::of(SHAPE, number)
    }

    /// The id of the list of processors that was interned under `number`.
    #[cfg(feature = "threads")]
    pub(super) const fn machine(number: u64) -> Self {
        Self::of(MACHINE, number)
    }

    /// The id of one thread that has no affinity.
    #[cfg(feature = "std")]
    pub(super) const fn anonymous(number: u64) -> Self {
        Self::of(ANONYMOUS, number)
    }

    #[inline]
    const fn is_anonymous(self) -> bool {
        self.0.get() & FAMILIES == ANONYMOUS
    }

    /// An id that no affinity has which anybody else can see: threads are numbered from 1.
    #[cfg(feature = "std")]
    pub(crate) const UNPLACED: Self = Self::anonymous(0);
}

impl fmt::Debug for TopologyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = match self.0.get() & FAMILIES {
            SHAPE => "shape",
            ANONYMOUS => "anonymous",
            _ => "machine",
        };
        write!(f, "TopologyId({family} {:#x})", self.0.get() & !FAMILIES)
    }
}

/// Where a value belongs: one processor, its memory region, and the topology that both are in.
///
/// It is a handful of numbers (at most 16 bytes), so it is copied freely and says nothing about
/// whether a thread is really pinned there. Indices count from 0 and stay below their counts,
/// except for an [anonymous](Self::is_anonymous) affinity, whose counts are 0: it belongs to no
/// partition of anything.
///
/// ```
/// use thread_aware::affinity::pinned_affinities;
///
/// let all = pinned_affinities(&[2, 1]);
/// assert_eq!(all.len(), 3);
/// assert_eq!(all[2].processor_index(), 2);
/// assert_eq!(all[2].memory_region_index(), 1);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Affinity {
    topology: TopologyId,
    /// Processor, region, processors and regions, 16 bits each from the highest. Two words pass in
    /// two registers, which four short fields would not.
    place: u64,
}

const _: () = assert!(size_of::<Option<Affinity>>() <= 16);

impl Affinity {
    /// The most processors, and the most memory regions, that one topology can have.
    pub const COUNT_MAX: usize = u16::MAX as usize;

    /// One processor of a topology. The indices are below their counts; the caller checked.
    pub(crate) const fn new(
        topology: TopologyId,
        (processor, processors): (u16, u16),
        (region, regions): (u16, u16),
    ) -> Self {
        debug_assert!(processor < processors && region < regions);
        let place = (processor as u64) << 48
            | (region as u64) << 32
            | (processors as u64) << 16
            | regions as u64;
        Self { topology, place }
    }

    /// Places in topologies that do not exist, to ask a strategy about: both of two processors in
    /// two regions, and the last one of the largest topology that there can be.
    #[cfg(feature = "std")]
    pub(crate) const fn unplaced() -> [Self; 3] {
        const MOST: u16 = u16::MAX;
        [
            Self::new(TopologyId::UNPLACED, (0, 2), (0, 2)),
            Self::new(TopologyId::UNPLACED, (1, 2), (1, 2)),
            Self::new(TopologyId::UNPLACED, (MOST - 1, MOST), (MOST - 1, MOST)),
        ]
    }

    /// The affinity of a thread that entered none.
    #[cfg(feature = "std")]
    pub(super) const fn anonymous(number: u64) -> Self {
        Self {
            topology: TopologyId::anonymous(number),
            place: 0,
        }
    }

    /// All but the topology, for comparisons; never 0 unless it is anonymous.
    #[cfg(feature = "std")]
    #[inline]
    pub(crate) const fn word(self) -> u64 {
        self.place
    }

    /// The index of the processor in its topology, from 0. It is not the kernel's number of it.
    #[inline]
    #[must_use]
    pub const fn processor_index(self) -> usize {
        (self.place >> 48) as usize
    }

    /// The index of the memory region (the NUMA node) in its topology, from 0.
    #[inline]
    #[must_use]
    pub const fn memory_region_index(self) -> usize {
        (self.place >> 32) as u16 as usize
    }

    /// How many processors the topology has; 0 for an anonymous affinity.
    #[inline]
    #[must_use]
    pub const fn processor_count(self) -> usize {
        (self.place >> 16) as u16 as usize
    }

    /// How many memory regions the topology has; 0 for an anonymous affinity.
    #[inline]
    #[must_use]
    pub const fn memory_region_count(self) -> usize {
        self.place as u16 as usize
    }

    /// Which topology the indices refer to.
    #[inline]
    #[must_use]
    pub const fn topology(self) -> TopologyId {
        self.topology
    }

    /// Whether this is the affinity of a thread that entered none, and so names no processor.
    ///
    /// ```
    /// # #[cfg(feature = "std")]
    /// assert!(thread_aware::affinity::current().is_anonymous());
    /// ```
    #[inline]
    #[must_use]
    pub const fn is_anonymous(self) -> bool {
        self.topology.is_anonymous()
    }
}

impl fmt::Debug for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_anonymous() {
            return write!(f, "Affinity({:?})", self.topology);
        }
        write!(
            f,
            "Affinity(processor {} of {}, region {} of {}, {:?})",
            self.processor_index(),
            self.processor_count(),
            self.memory_region_index(),
            self.memory_region_count(),
            self.topology
        )
    }
}

#[cfg(all(test, feature = "threads"))]
mod tests {
    use super::TopologyId;

    // proves: TA-9
    #[test]
    fn families_have_bits_of_their_own() {
        for number in [0, 1, u64::MAX >> 2, u64::MAX] {
            let [shape, machine] = [TopologyId::shape(number), TopologyId::machine(number)];
            let anonymous = TopologyId::anonymous(number);
            assert!(shape != machine && shape != anonymous && machine != anonymous);
            assert!(anonymous.is_anonymous());
            assert!(!shape.is_anonymous() && !machine.is_anonymous());
        }
    }
}
