//! What the decoders of a sweep send, and the books that must come of it.

use crate::feed::{Book, Depth, Generator, InstrumentId, KEPT_UPDATES_MAX, Snapshot, Update};
use crate::words::{Packer, Quote, WordError};

/// Decoders; each has an instrument of its own.
pub const DECODERS: usize = 4;

/// Updates of one run by default, of all decoders together.
pub const UPDATES: usize = 500_000;

/// Rounds by default; each runs every capacity once.
pub const ROUNDS: usize = 9;

/// What one decoder sends in every run.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: InstrumentId,
    opening: Snapshot,
    depths: Vec<Depth>,
    /// Words to send; the last depth may have more.
    pub(super) words: usize,
    /// The hash of the book that all words lead to.
    pub(super) sha256: String,
}

impl Part {
    /// The parts of all decoders, with `updates` words together.
    pub(super) fn all(updates: usize) -> Result<Vec<Self>, WordError> {
        InstrumentId::all()
            .take(DECODERS)
            .enumerate()
            .map(|(number, id)| {
                let words = updates / DECODERS + usize::from(number < updates % DECODERS);
                Self::new(id, words)
            })
            .collect()
    }

    fn new(id: InstrumentId, words: usize) -> Result<Self, WordError> {
        let mut feed = Generator::of(1, id);
        let Some(Update::Snapshot(opening)) = feed.next() else {
            unreachable!("a feed begins with a snapshot");
        };
        let (mut depths, mut levels) = (Vec::new(), 0);
        while levels < words {
            if let Some(Update::Depth(depth)) = feed.next() {
                levels += depth.bids.len() + depth.asks.len();
                depths.push(depth);
            }
        }
        let mut part = Self {
            id,
            opening,
            depths,
            words,
            sha256: String::new(),
        };
        let (mut builder, mut all) = (part.builder(), Vec::new());
        let mut packer = part.packer()?;
        for depth in &part.depths {
            packer.pack(depth, &mut all)?;
        }
        for word in &all[..words] {
            builder.apply(&Quote::unpack(*word)?);
        }
        part.sha256 = builder.book.sha256();
        Ok(part)
    }

    /// A packer at the start of this part.
    pub(super) fn packer(&self) -> Result<Packer, WordError> {
        let mut packer = Packer::new(self.id, self.opening.last_update_id);
        packer.restart(self.opening.clone())?;
        Ok(packer)
    }

    pub(super) fn depths(&self) -> &[Depth] {
        &self.depths
    }

    /// A book at the start of this part.
    pub(super) fn builder(&self) -> Builder {
        let mut book = Book::new(self.opening.symbol, KEPT_UPDATES_MAX);
        book.apply(Update::Snapshot(self.opening.clone()));
        Builder {
            id: self.id,
            book,
            words: 0,
        }
    }
}

/// One book of a run, and how many words it has.
#[derive(Debug)]
pub(super) struct Builder {
    id: InstrumentId,
    pub(super) book: Book,
    pub(super) words: usize,
}

impl Builder {
    /// Applies the next word; one out of order is a gap of the book.
    pub(super) fn apply(&mut self, quote: &Quote) {
        self.words += 1;
        let next = self.book.last_id() + 1;
        let number = next + quote.missing_from(next);
        self.book.apply(Update::Depth(quote.depth(self.id, number)));
    }
}
