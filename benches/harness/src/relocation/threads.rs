//! What relocations, clones and drops take while other threads do the same.

use std::hint::black_box;

use super::together::{Together, together};
use super::{Identity, Relocating, check_moves, clone_and_drop, one_at_each, to_and_fro};
use crate::{BenchError, Params, Sample, allowed_cores};

/// A thread's handle, and the two places between which it moves.
struct Traveller<H: Relocating> {
    handle: H,
    places: [H::Place; 2],
    known: [Identity; 2],
}

impl<H: Relocating> Traveller<H> {
    fn go(&mut self, ops: u64) {
        let [here, there] = &self.places;
        to_and_fro(&mut self.handle, [here, there], ops);
    }

    /// Relocates to the second place again and again.
    fn arrive(&mut self, ops: u64) {
        let [here, there] = &self.places;
        for _ in 0..ops {
            black_box(&mut self.handle).relocate(here, there);
        }
    }
}

/// A traveller for each pair of places by index, all of one lineage, of which they have the only
/// handles.
fn travellers<H: Relocating>(
    count: usize,
    pairs: impl Iterator<Item = [usize; 2]>,
) -> Result<Vec<Traveller<H>>, BenchError> {
    let places = H::places(count);
    let handles = one_at_each::<H>(&places);
    check_moves(&handles, &places)?;
    let pairs = pairs.map(|pair| Traveller {
        handle: handles[pair[0]].clone(),
        places: pair.map(|at| places[at].clone()),
        known: pair.map(|at| Identity::of(&handles[at])),
    });
    Ok(pairs.collect())
}

/// Checks that every traveller is at the second place of its pair after `moves`, or the first.
fn check<H: Relocating>(round: &Together<Traveller<H>>, moves: u64) -> Result<(), BenchError> {
    let at = (moves % 2) as usize;
    let mut travellers = round.states.iter();
    travellers.try_for_each(|traveller| traveller.known[at].check(&traveller.handle))
}

/// An operation: a handle is relocated to and fro, on every core between two places of its own.
pub(super) fn all_cores<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    between_own::<H>(params.shards, params.ops)
}

/// As [`all_cores`], with twice as many threads as cores.
pub(super) fn oversubscribed<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    between_own::<H>(2 * params.shards, params.ops)
}

fn between_own<H: Relocating>(threads: usize, ops: u64) -> Result<Sample, BenchError> {
    let pairs = (0..threads).map(|thread| [2 * thread, 2 * thread + 1]);
    let travellers = travellers::<H>(2 * threads, pairs)?;
    let round = together(&allowed_cores(), travellers, ops, |t| t.go(ops))?;
    check(&round, ops)?;
    Ok(round.core_time_sample())
}

/// The pairs of threads that share a destination.
fn from_own_to_one<H: Relocating>() -> Result<Vec<Traveller<H>>, BenchError> {
    travellers(3, [[1, 0], [2, 0]].into_iter())
}

/// An operation: a handle is relocated from its thread's place to the one that two threads share,
/// where it is after the first time.
pub(super) fn into_one<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (ops, cores) = (params.ops, params.cores.both());
    let round = together(&cores, from_own_to_one::<H>()?, ops, |t| t.arrive(ops))?;
    check(&round, 1)?;
    Ok(round.core_time_sample())
}

/// An operation: a handle is relocated to the place that two threads share, or back from there.
pub(super) fn into_one_and_back<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (ops, cores) = (params.ops, params.cores.both());
    let round = together(&cores, from_own_to_one::<H>()?, ops, |t| t.go(ops))?;
    check(&round, ops)?;
    Ok(round.core_time_sample())
}

/// An operation: a handle of the thread's own place is cloned and the clone dropped.
pub(super) fn clone_drop<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (ops, cores) = (params.ops, params.cores.both());
    let handles = one_at_each::<H>(&H::places(2));
    let count = |handle: &H| (Identity::of(handle), handle.strong_count());
    let before: Vec<_> = handles.iter().map(count).collect();
    let round = together(&cores, handles, ops, |handle| clone_and_drop(handle, ops))?;
    for (handle, (known, handles)) in round.states.iter().zip(before) {
        known.check(handle)?;
        let found = handle.strong_count() as u64;
        BenchError::check("handles of the value", handles as u64, found)?;
    }
    Ok(round.core_time_sample())
}
