//! Which affinities share a value.

use core::num::NonZero;

use crate::affinity::Affinity;

/// Maps affinities to partitions: affinities with one index share one value.
///
/// The built-in strategies are [`PerCore`], [`PerNuma`] and [`PerProcess`]; a program may add its
/// own, such as one partition an L3 group. Both functions are called at every relocation, so they
/// should be a few instructions, and they must answer the same for the same affinity.
///
/// Within one topology `count` must be the same for every affinity: an
/// [`Arc`](crate::Arc) or a [`Storage`](crate::storage::Storage) that meets another count refuses
/// it. An `index` at or beyond `count` names no partition. A strategy whose count is 1 in any
/// topology has one partition for all topologies together; to find that out `count` is asked about
/// topologies that nobody has, too, from two processors up to [`Affinity::COUNT_MAX`].
///
/// ```
/// use core::num::NonZero;
/// use thread_aware::{affinity::{Affinity, pinned_affinities}, storage::Strategy};
///
/// /// Pairs of neighbouring cores, as those that share a cache.
/// struct PerPair;
///
/// impl Strategy for PerPair {
///     fn index(affinity: Affinity) -> usize {
///         affinity.processor_index() / 2
///     }
///     fn count(affinity: Affinity) -> NonZero<usize> {
///         NonZero::new(affinity.processor_count().div_ceil(2)).unwrap_or(NonZero::<usize>::MIN)
///     }
/// }
///
/// let cores = pinned_affinities(&[5]);
/// assert_eq!((PerPair::index(cores[3]), PerPair::count(cores[3]).get()), (1, 3));
/// ```
pub trait Strategy {
    /// The partition of `affinity`, from 0.
    fn index(affinity: Affinity) -> usize;

    /// How many partitions there are in the topology of `affinity`; at most 65,536.
    fn count(affinity: Affinity) -> NonZero<usize>;
}

/// One partition a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerCore;

/// One partition a memory region (NUMA node).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerNuma;

/// One partition for the whole process, whatever the topology: relocating does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PerProcess;

impl Strategy for PerCore {
    #[inline]
    fn index(affinity: Affinity) -> usize {
        affinity.processor_index()
    }

    /// At least 1, for an anonymous affinity too.
    #[inline]
    fn count(affinity: Affinity) -> NonZero<usize> {
        NonZero::new(affinity.processor_count()).unwrap_or(NonZero::<usize>::MIN)
    }
}

impl Strategy for PerNuma {
    #[inline]
    fn index(affinity: Affinity) -> usize {
        affinity.memory_region_index()
    }

    /// At least 1, for an anonymous affinity too.
    #[inline]
    fn count(affinity: Affinity) -> NonZero<usize> {
        NonZero::new(affinity.memory_region_count()).unwrap_or(NonZero::<usize>::MIN)
    }
}

impl Strategy for PerProcess {
    #[inline]
    fn index(_: Affinity) -> usize {
        0
    }

    #[inline]
    fn count(_: Affinity) -> NonZero<usize> {
        NonZero::<usize>::MIN
    }
}

/// Whether `S` has one partition in any topology, and so one for all of them.
///
/// It asks about places that differ in everything, also in the size of their topologies, since a
/// strategy that groups processors has one partition in a small one; for the built-in strategies
/// the compiler knows the answer.
#[inline(always)]
pub(super) fn is_single<S: Strategy>() -> bool {
    const PLACES: [Affinity; 3] = Affinity::unplaced();
    let is_one = |place: usize| S::count(PLACES[place]).get() == 1;
    is_one(0) && is_one(1) && is_one(2)
}
