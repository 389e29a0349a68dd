//! Which processors a host uses, and their affinities.

use core::{error::Error, fmt, num::NonZero};
use std::vec::Vec;

use super::pin::{PinError, pin_current_thread};
use crate::{
    affinity::{self, Affinity},
    topology::{ProcessorId, Topology, TopologyError},
};

/// How many processors a [`ThreadRegistry`] takes.
///
/// It takes one of every physical core before it takes a sibling of any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProcessorCount {
    /// One processor a physical core, as far as the processor quota reaches.
    #[default]
    Auto,
    /// So many, and an error if fewer are allowed.
    Exactly(NonZero<usize>),
    /// So many, or all that are allowed if they are fewer.
    AtMost(NonZero<usize>),
    /// Every allowed processor, siblings too, whatever the quota.
    All,
}

/// The processors that a host uses: an affinity for each, and a way to pin threads to them.
///
/// ```
/// use thread_aware::registry::{ProcessorCount, ThreadRegistry};
///
/// let registry = ThreadRegistry::new(&ProcessorCount::Auto);
/// std::thread::scope(|scope| {
///     for core in registry.affinities() {
///         let registry = &registry;
///         scope.spawn(move || {
///             registry.pin_to(core);
///             assert_eq!(registry.current_affinity(), Some(core));
///         });
///     }
/// });
/// ```
#[derive(Clone, Debug)]
pub struct ThreadRegistry {
    processors: Vec<ProcessorId>,
    /// One for each of `processors`, whose place is its processor index.
    affinities: Vec<Affinity>,
}

/// The affinities of a [`ThreadRegistry`], one after another.
pub type Affinities<'a> = core::iter::Copied<core::slice::Iter<'a, Affinity>>;

/// Why a [`ThreadRegistry`] could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum RegistryError {
    /// The topology of the machine could not be told.
    Topology(TopologyError),
    /// More processors were asked for than are allowed.
    TooFew {
        /// How many were asked for.
        asked: NonZero<usize>,
        /// How many are allowed.
        allowed: usize,
    },
}

impl ThreadRegistry {
    /// Makes a registry of processors of this machine.
    ///
    /// # Panics
    ///
    /// Where [`try_new`](Self::try_new) gives an error.
    #[must_use]
    pub fn new(count: &ProcessorCount) -> Self {
        match Self::try_new(count) {
            Ok(registry) => registry,
            Err(error) => panic!("no thread registry: {error}"),
        }
    }

    /// Makes a registry of processors of this machine.
    ///
    /// # Errors
    ///
    /// [`RegistryError`].
    pub fn try_new(count: &ProcessorCount) -> Result<Self, RegistryError> {
        let topology = Topology::detect().map_err(RegistryError::Topology)?;
        Self::from_topology(&topology, count)
    }

    /// Makes a registry of processors of `topology`.
    ///
    /// # Errors
    ///
    /// [`RegistryError::TooFew`].
    pub fn from_topology(
        topology: &Topology,
        count: &ProcessorCount,
    ) -> Result<Self, RegistryError> {
        let mut processors = topology.by_preference();
        let allowed = processors.len();
        processors.truncate(match *count {
            ProcessorCount::Auto => topology.shard_limit().get(),
            ProcessorCount::Exactly(asked) if asked.get() > allowed => {
                return Err(RegistryError::TooFew { asked, allowed });
            }
            ProcessorCount::Exactly(count) | ProcessorCount::AtMost(count) => count.get(),
            ProcessorCount::All => allowed,
        });
        let affinities = topology
            .affinities(&processors)
            .map_err(RegistryError::Topology)?;
        Ok(Self {
            processors,
            affinities,
        })
    }

    /// The affinities of the registry's processors; the place of each is its processor index.
    pub fn affinities(&self) -> Affinities<'_> {
        self.affinities.iter().copied()
    }

    /// How many affinities there are, at least one.
    #[must_use]
    pub fn num_affinities(&self) -> usize {
        self.affinities.len()
    }

    /// The processor of one of the registry's affinities.
    #[must_use]
    pub fn processor_of(&self, affinity: Affinity) -> Option<ProcessorId> {
        let index = affinity.processor_index();
        let ours = self.affinities.get(index) == Some(&affinity);
        ours.then(|| self.processors[index])
    }

    /// The affinity of the current thread in this registry: the one it has
    /// [entered](affinity::enter), or else the one it was last [pinned to](Self::pin_to).
    ///
    /// The cost is one or two reads of a thread-local; there is no lock.
    #[must_use]
    pub fn current_affinity(&self) -> Option<Affinity> {
        let ours = |affinity: &Affinity| self.processor_of(*affinity).is_some();
        Some(affinity::current())
            .filter(ours)
            .or_else(|| affinity::pinned().filter(ours))
    }

    /// Pins the current thread to the processor of `affinity`.
    ///
    /// # Panics
    ///
    /// Where [`try_pin_to`](Self::try_pin_to) gives an error. The message names the processor.
    pub fn pin_to(&self, affinity: Affinity) {
        if let Err(error) = self.try_pin_to(affinity) {
            panic!("the thread is not pinned: {error}");
        }
    }

    /// Pins the current thread to the processor of `affinity`.
    ///
    /// # Errors
    ///
    /// [`PinError::Foreign`] when it is not one of the registry's affinities, else as for
    /// [`pin_current_thread`].
    pub fn try_pin_to(&self, affinity: Affinity) -> Result<(), PinError> {
        let processor = self
            .processor_of(affinity)
            .ok_or(PinError::Foreign(affinity))?;
        pin_current_thread(processor)?;
        affinity::set_pinned(Some(affinity));
        Ok(())
    }
}

/// As [`ThreadRegistry::new`] with [`ProcessorCount::Auto`].
impl Default for ThreadRegistry {
    fn default() -> Self {
        Self::new(&ProcessorCount::Auto)
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topology(_) => f.write_str("the topology of the machine could not be told"),
            Self::TooFew { asked, allowed } => {
                write!(
                    f,
                    "{asked} processors were asked for and {allowed} are allowed"
                )
            }
        }
    }
}

impl Error for RegistryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Topology(error) => Some(error),
            Self::TooFew { .. } => None,
        }
    }
}
