//! Affinities of a topology that is given by its shape alone, for tests and for hosts that pin
//! their threads themselves.

use alloc::vec::Vec;

#[cfg(feature = "std")]
use super::interner::Interner;
use super::value::{Affinity, TopologyId};

/// Makes the affinities of a topology with `counts[r]` processors in memory region `r`.
///
/// They come ordered by region, then by processor; a region may be empty. Equal `counts` give
/// equal affinities, in every thread and at any time in the process, and different ones never
/// share a [`TopologyId`] (without feature `std` there is no table to intern shapes in, and the id
/// is a 62-bit hash of the counts instead). The cost is one look-up of the shape under a lock, and
/// the vector.
///
/// # Panics
///
/// When there are more than [`Affinity::COUNT_MAX`] processors or regions.
///
/// ```
/// use thread_aware::affinity::pinned_affinities;
///
/// let two_sockets = pinned_affinities(&[32, 32]);
/// assert_eq!(two_sockets[40].memory_region_index(), 1);
/// assert_eq!(two_sockets, pinned_affinities(&[32, 32]));
/// ```
#[must_use]
pub fn pinned_affinities(counts: &[usize]) -> Vec<Affinity> {
    let regions = narrow(counts.len(), "memory regions");
    let total = counts
        .iter()
        .fold(0_usize, |sum, &count| sum.saturating_add(count));
    let processors = narrow(total, "processors");
    let topology = intern(counts);
    let region_of = counts.iter().enumerate().flat_map(|(region, &count)| {
        let region = u16::try_from(region).expect("below the number of regions, which fits");
        core::iter::repeat_n(region, count)
    });
    (0..processors)
        .zip(region_of)
        .map(|(processor, region)| {
            Affinity::new(topology, (processor, processors), (region, regions))
        })
        .collect()
}

fn narrow(count: usize, of_what: &str) -> u16 {
    match u16::try_from(count) {
        Ok(count) => count,
        Err(_) => panic!("{count} {of_what} are more than {}", Affinity::COUNT_MAX),
    }
}

/// The id of a shape: its place in a table of the process that only grows, one entry a shape.
#[cfg(feature = "std")]
fn intern(counts: &[usize]) -> TopologyId {
    use std::sync::Mutex;

    static SHAPES: Mutex<Interner<usize>> = Mutex::new(Interner::new());
    TopologyId::shape(
        SHAPES
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .number(counts),
    )
}

/// The id of a shape without a table: FNV-1a over the counts, then a finishing mix.
#[cfg(not(feature = "std"))]
fn intern(counts: &[usize]) -> TopologyId {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in counts
        .iter()
        .flat_map(|&count| (count as u64).to_le_bytes())
    {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    TopologyId::shape(hash ^ (hash >> 29))
}
