//! What relocations, clones and drops take while other threads do the same.

use super::together::together;
use super::traveller::{Ticket, Traveller, clone_and_drop};
use super::{Identity, Relocating, Value};
use crate::{BenchError, Params, Sample, allowed_cores};

/// An operation: a handle is relocated to and fro, on every core between two places of its own.
pub(super) fn all_cores<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    between_own::<H>(params.shards, params.ops)
}

/// As [`all_cores`], with twice as many threads as cores.
pub(super) fn oversubscribed<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    between_own::<H>(2 * params.shards, params.ops)
}

fn between_own<H: Relocating>(threads: usize, ops: u64) -> Result<Sample, BenchError> {
    let pairs: Vec<[usize; 2]> = (0..threads).map(|t| [2 * t + 1, 2 * t + 2]).collect();
    travel::<H>(&allowed_cores(), &pairs, ops, ops, Traveller::commute)
}

/// The places of two threads that share a destination.
const OWN_AND_SHARED: [[usize; 2]; 2] = [[2, 1], [3, 1]];

/// An operation: a handle is relocated from its thread's place to the one that two threads share,
/// where it is after the first time.
pub(super) fn into_one<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let cores = params.cores.both();
    travel::<H>(&cores, &OWN_AND_SHARED, params.ops, 1, Traveller::arrive)
}

/// An operation: a handle is relocated to the place that two threads share, or back from there;
/// each thread keeps another one at its own place.
pub(super) fn visit_one<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (cores, ops) = (params.cores.both(), params.ops);
    travel::<H>(&cores, &OWN_AND_SHARED, ops, ops, |traveller, ops| {
        let _stays = traveller.handle.clone();
        traveller.commute(ops);
    })
}

/// As [`visit_one`], with no other handles anywhere.
pub(super) fn visit_one_alone<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (cores, ops) = (params.cores.both(), params.ops);
    travel::<H>(&cores, &OWN_AND_SHARED, ops, ops, Traveller::commute)
}

/// A traveller a pair, each on a thread of its own, doing `ops` operations, of which `moves` move.
fn travel<H: Relocating>(
    cores: &[usize],
    pairs: &[[usize; 2]],
    ops: u64,
    moves: u64,
    go: fn(&mut Traveller<H>, u64),
) -> Result<Sample, BenchError> {
    let tickets = Ticket::<H>::for_pairs(pairs);
    let work = |traveller: &mut Traveller<H>| go(traveller, ops);
    let round = together(cores, tickets, ops, Traveller::depart, work)?;
    let mut travellers = round.states.iter();
    travellers.try_for_each(|traveller| traveller.check(moves))?;
    Ok(round.core_time_sample())
}

/// An operation: a handle of the thread's own place is cloned and the clone dropped.
pub(super) fn clone_drop<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    let (ops, places) = (params.ops, H::places(3));
    let first = H::make(Value::new);
    let seeds = vec![(first.clone(), &places[1]), (first.clone(), &places[2])];
    let settle = |(mut handle, place): (H, &H::Place)| {
        handle.relocate(&places[0], place);
        Ok((Identity::of(&handle), handle))
    };
    let work = |(_, handle): &mut (Identity, H)| clone_and_drop(handle, ops);
    let round = together(&params.cores.both(), seeds, ops, settle, work)?;
    for (known, handle) in &round.states {
        known.check(handle)?;
        let is_alone = *known != Identity::of(&first);
        let count = if is_alone { 1 } else { 3 };
        BenchError::check("handles of the value", count, handle.strong_count() as u64)?;
    }
    Ok(round.core_time_sample())
}
