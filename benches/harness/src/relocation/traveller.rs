//! A handle and the two places between which its thread moves it.

use std::hint::black_box;

use super::{Identity, Relocating, Value};
use crate::BenchError;

/// Where a traveller begins, made anywhere and sent to its thread.
pub(super) struct Ticket<H: Relocating> {
    first: H,
    /// Where the first value of the lineage belongs.
    home: H::Place,
    places: [H::Place; 2],
}

impl<H: Relocating> Ticket<H> {
    /// A ticket for each pair of places by index from 1, all of one lineage. Place 0 is the home.
    pub(super) fn for_pairs(pairs: &[[usize; 2]]) -> Vec<Self> {
        let last = pairs.iter().flatten().max().copied().unwrap_or_default();
        let places = H::places(last + 1);
        let first = H::make(Value::new);
        let ticket = |pair: &[usize; 2]| Self {
            first: first.clone(),
            home: places[0].clone(),
            places: pair.map(|at| places[at].clone()),
        };
        pairs.iter().map(ticket).collect()
    }

    /// For a round of one thread.
    pub(super) fn for_one() -> Self {
        Self::for_pairs(&[[1, 2]]).swap_remove(0)
    }
}

/// The only handle of its thread, whose two places have their values.
pub(super) struct Traveller<H: Relocating> {
    pub(super) handle: H,
    places: [H::Place; 2],
    known: [Identity; 2],
}

impl<H: Relocating> Traveller<H> {
    /// Goes to both places, on the thread that is to use them, since where a value lies in memory
    /// depends on who makes it.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when the places share a value, or do not keep theirs.
    pub(super) fn depart(ticket: Ticket<H>) -> Result<Self, BenchError> {
        const CHECKS: usize = 16;
        let [here, there] = &ticket.places;
        let mut handle = ticket.first;
        handle.relocate(&ticket.home, here);
        let here_known = Identity::of(&handle);
        handle.relocate(here, there);
        let there_known = Identity::of(&handle);
        let shared = u64::from(here_known == there_known);
        BenchError::check("places that share a value", 0, shared)?;
        for _ in 0..CHECKS {
            handle.relocate(there, here);
            here_known.check(&handle)?;
            handle.relocate(here, there);
            there_known.check(&handle)?;
        }
        handle.relocate(there, here);
        Ok(Self {
            handle,
            places: ticket.places,
            known: [here_known, there_known],
        })
    }

    /// Checks that the handle is at the first place, or, after an odd number of moves, the second.
    pub(super) fn check(&self, moves: u64) -> Result<(), BenchError> {
        self.known[(moves % 2) as usize].check(&self.handle)
    }

    /// Checks how many handles carry the value.
    pub(super) fn check_count(&self, count: u64) -> Result<(), BenchError> {
        let found = self.handle.strong_count() as u64;
        BenchError::check("handles of the value", count, found)
    }

    /// Relocates the handle to where it is.
    #[inline]
    pub(super) fn stay(&mut self, ops: u64) {
        let here = &self.places[0];
        for _ in 0..ops {
            black_box(&mut self.handle).relocate(here, here);
        }
    }

    /// Relocates to the second place again and again.
    #[inline]
    pub(super) fn arrive(&mut self, ops: u64) {
        let [here, there] = &self.places;
        for _ in 0..ops {
            black_box(&mut self.handle).relocate(here, there);
        }
    }

    /// Relocates to and fro.
    #[inline]
    pub(super) fn commute(&mut self, ops: u64) {
        let [mut from, mut to] = self.places.each_ref();
        for _ in 0..ops {
            black_box(&mut self.handle).relocate(from, to);
            std::mem::swap(&mut from, &mut to);
        }
    }
}

/// Clones a handle and drops the clone.
#[inline]
pub(super) fn clone_and_drop<H: Relocating>(handle: &H, ops: u64) {
    for _ in 0..ops {
        let clone = black_box(handle).clone();
        black_box(&clone);
    }
}
