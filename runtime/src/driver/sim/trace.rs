//! What a simulation did, as one number.
//!
//! The hash starts at the seed; each event and each word of it is folded in by `mix(hash ^ word)`
//! with the mixer of the random numbers, so that order counts. It finds runs that differ, it does
//! not withstand somebody who builds a collision.

use std::cell::Cell;

use super::random::mix;

/// One thing that happened in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// A shard was chosen and ran a turn.
    Turn {
        /// Which shard.
        shard: usize,
        /// Tasks that it polled.
        polls: u32,
        /// Timers that it fired.
        timers: u64,
    },
    /// Every shard waited, and the clock moved on.
    Advance {
        /// The new time in nanoseconds.
        to_ns: u64,
    },
    /// A packet reached its shard.
    Delivery {
        /// Which shard.
        shard: usize,
        /// What kind of packet.
        kind: u8,
        /// The number of its connection or listener.
        number: u64,
        /// What it carried.
        bytes: &'a [u8],
    },
    /// Something that a test wants in the hash.
    Note(u64),
}

#[derive(Debug)]
pub(super) struct Trace(Cell<u64>);

impl Trace {
    pub(super) fn new(seed: u64) -> Self {
        Self(Cell::new(mix(seed)))
    }

    pub(super) fn hash(&self) -> u64 {
        self.0.get()
    }

    pub(super) fn record(&self, event: Event<'_>) {
        match event {
            Event::Turn {
                shard,
                polls,
                timers,
            } => {
                self.fold([1, shard as u64, u64::from(polls), timers]);
            }
            Event::Advance { to_ns } => self.fold([2, to_ns]),
            Event::Delivery {
                shard,
                kind,
                number,
                bytes,
            } => {
                self.fold([3, shard as u64, u64::from(kind), number, bytes.len() as u64]);
                for word in bytes.chunks(8) {
                    let mut padded = [0; 8];
                    padded[..word.len()].copy_from_slice(word);
                    self.fold([u64::from_le_bytes(padded)]);
                }
            }
            Event::Note(word) => self.fold([4, word]),
        }
    }

    fn fold<const N: usize>(&self, words: [u64; N]) {
        let hash = words
            .into_iter()
            .fold(self.0.get(), |hash, word| mix(hash ^ word));
        self.0.set(hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_every_event_and_on_their_order() {
        let note = |number| Event::Note(number);
        let bytes = |bytes| Event::Delivery {
            shard: 0,
            kind: 1,
            number: 2,
            bytes,
        };
        let turn = Event::Turn {
            shard: 1,
            polls: 2,
            timers: 0,
        };
        let runs: [&[Event<'_>]; 8] = [
            &[],
            &[note(1), note(2)],
            &[note(2), note(1)],
            &[bytes(b"abcdefgh"), bytes(b"i")],
            &[bytes(b"abcdefghi")],
            &[bytes(b"abcdefghi\0")],
            &[turn],
            &[Event::Advance { to_ns: 1 }],
        ];
        let hashes = runs.map(|run| {
            let trace = Trace::new(7);
            run.iter().for_each(|&event| trace.record(event));
            trace.hash()
        });
        for (i, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..i].contains(hash), "run {i}");
        }
    }
}
