//! The feed side: packs, pushes, counts what is refused, and answers with snapshots.

use std::sync::Arc;

use corelane_primitives::{Closed, Producer, PushError, Ring64, lane};

use super::aside::{ASIDES_MAX, Aside, Board, SNAPSHOTS_MAX};
use super::follower::Follower;
use super::packer::Packer;
use super::word::WordError;
use crate::feed::{Depth, Generator, InstrumentId, Snapshot, Update};

/// The two ends of one instrument: its decoder's, which pushes into `ring`, and its book's, which
/// is given the words of that ring that name the instrument.
///
/// # Errors
///
/// [`WordError`] when the first snapshot fits no words.
///
/// # Panics
///
/// When the feed does not begin with a snapshot of this instrument.
pub fn feed_side(
    mut feed: Generator,
    id: InstrumentId,
    ring: Ring64,
) -> Result<(Quoter, Follower), WordError> {
    let Some(Update::Snapshot(opening)) = feed.next() else {
        panic!("a feed begins with a snapshot");
    };
    assert_eq!(opening.symbol, id.instrument().symbol());
    let (asides, reading) = lane(ASIDES_MAX);
    let board = Arc::new(Board::default());
    let mut quoter = Quoter {
        id,
        packer: Packer::new(id, opening.last_update_id),
        feed,
        ring,
        board: Arc::clone(&board),
        asides,
        staged: Vec::new(),
        words: 0,
        missed: 0,
        missed_told: 0,
    };
    quoter.tell(opening)?;
    Ok((quoter, Follower::new(id, board, reading)))
}

/// Decodes one instrument of the embedded feed into words.
///
/// Owner: the decoder's task or thread. A push never waits: a full ring refuses, which is counted
/// here and on the [`Board`], and leaves a hole in the sequence.
#[derive(Debug)]
pub struct Quoter {
    id: InstrumentId,
    feed: Generator,
    packer: Packer,
    ring: Ring64,
    board: Arc<Board>,
    asides: Producer<Aside>,
    staged: Vec<u64>,
    /// Words that the ring took.
    words: u64,
    /// Sequence numbers without a word, and how many of them the last snapshot made up for.
    missed: u64,
    missed_told: u64,
}

impl Quoter {
    /// The feed, whose next updates are to be staged, as far as they change levels.
    pub fn feed(&mut self) -> &mut Generator {
        &mut self.feed
    }

    /// Packs an update into the batch, a word a level.
    ///
    /// # Errors
    ///
    /// [`WordError`] when a level fits no word. The update is a hole in the sequence then, and the
    /// next [`answer`](Self::answer) makes up for it.
    pub fn stage(&mut self, depth: &Depth) -> Result<(), WordError> {
        let packed = self.packer.pack(depth, &mut self.staged);
        if packed.is_err() {
            self.miss(1);
            // Whoever reads the next word shall not wait for its number.
            self.board.want();
        }
        packed
    }

    /// Words of the batch.
    pub fn staged(&self) -> usize {
        self.staged.len()
    }

    /// Pushes the batch, which was decoded at `decoded_ns`. Never waits; says how many words were
    /// refused.
    ///
    /// # Errors
    ///
    /// [`Closed`] when the book's side is gone.
    pub fn send(&mut self, decoded_ns: u64) -> Result<u64, Closed> {
        if self.staged.is_empty() {
            return Ok(0);
        }
        if self.asides.slots() > SNAPSHOTS_MAX {
            self.put(Aside::Decoded {
                words: self.words,
                at_ns: decoded_ns,
            });
        }
        let taken = match self.ring.push_batch(&self.staged) {
            Ok(taken) => taken,
            Err(PushError::Closed(())) => return Err(Closed(())),
            Err(_) => 0,
        };
        let refused = (self.staged.len() - taken) as u64;
        self.staged.clear();
        self.words += taken as u64;
        self.miss(refused);
        Ok(refused)
    }

    /// Answers with a snapshot if the book's side has asked for one, unless an update is to come
    /// that belongs to the last one. The batch must be empty.
    ///
    /// # Errors
    ///
    /// [`WordError`] when it fits no words.
    pub fn answer(&mut self) -> Result<(), WordError> {
        // The last place is that of the closing one. A wish that finds no other waits.
        let has_room = self.asides.slots() > 1;
        if self.feed.is_settled() && has_room && self.board.take_wish() {
            self.tell_now()?;
        }
        Ok(())
    }

    /// Ends the feed: without being asked, it makes up for what was missed since the last
    /// snapshot, as no later word can show that. Says how many numbers had no word.
    ///
    /// # Errors
    ///
    /// [`WordError`] when the snapshot fits no words.
    pub fn finish(mut self) -> Result<u64, WordError> {
        if self.missed > self.missed_told {
            if !self.feed.is_settled() {
                // The snapshot has what the update to come would change.
                drop(self.feed.next());
            }
            self.tell_now()?;
        }
        Ok(self.missed)
    }

    /// The ring that this decoder shares with others.
    pub fn ring(&self) -> &Ring64 {
        &self.ring
    }

    fn tell_now(&mut self) -> Result<(), WordError> {
        let Update::Snapshot(snapshot) = self.feed.snapshot(self.id) else {
            unreachable!("a snapshot is one");
        };
        self.tell(snapshot)
    }

    fn tell(&mut self, snapshot: Snapshot) -> Result<(), WordError> {
        debug_assert!(self.staged.is_empty(), "a snapshot stands between batches");
        let snapshot = self.packer.restart(snapshot)?;
        self.missed_told = self.missed;
        self.put(Aside::Whole {
            words: self.words,
            missed: self.missed,
            snapshot,
        });
        Ok(())
    }

    fn miss(&mut self, count: u64) {
        if count > 0 {
            self.missed += count;
            self.board.miss(count);
        }
    }

    fn put(&mut self, aside: Aside) {
        if self.asides.push(aside).is_err() {
            unreachable!("there is room, and only this end takes it");
        }
    }
}
