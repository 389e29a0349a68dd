//! The book's side: from the words of one instrument back to updates with whole sequence numbers.

use std::sync::Arc;

use corelane_primitives::Consumer;

use super::aside::{Aside, Board};
use super::word::{Quote, SEQUENCES, WordError};
use crate::feed::{InstrumentId, Update};

/// Follows the words of one instrument.
///
/// Owner: whoever owns the book. It numbers the words: the five bits of each say which number it
/// has, unless 32 or more may be missing before it, which the [`Board`] knows. The book then finds
/// the hole by its own rule. From there on words are of no use until the snapshot that the follower
/// asks for, and are counted as discarded.
#[derive(Debug)]
pub struct Follower {
    id: InstrumentId,
    board: Arc<Board>,
    asides: Consumer<Aside>,
    /// An aside whose place has not come.
    waiting: Option<Aside>,
    /// The number that the next word has, if none is missing.
    next: u64,
    /// Words that have come.
    words: u64,
    /// Numbers without a word that are known of.
    missed: u64,
    is_lost: bool,
    decoded_ns: u64,
    discarded: u64,
    snapshots: u64,
}

impl Follower {
    pub(super) fn new(id: InstrumentId, board: Arc<Board>, asides: Consumer<Aside>) -> Self {
        Self {
            id,
            board,
            asides,
            waiting: None,
            next: 0,
            words: 0,
            missed: 0,
            // The first snapshot stands before the first word.
            is_lost: true,
            decoded_ns: 0,
            discarded: 0,
            snapshots: 0,
        }
    }

    /// Whose words these are.
    pub fn id(&self) -> InstrumentId {
        self.id
    }

    /// Gives a snapshot that stands before the next word; to be called until there is none.
    pub fn aside(&mut self) -> Option<Update> {
        loop {
            let aside = self.waiting.take().or_else(|| self.asides.pop())?;
            if aside.words() > self.words {
                self.waiting = Some(aside);
                return None;
            }
            match aside {
                Aside::Decoded { at_ns, .. } => self.decoded_ns = at_ns,
                Aside::Whole {
                    missed, snapshot, ..
                } => {
                    self.next = snapshot.last_update_id + 1;
                    self.missed = missed;
                    self.is_lost = false;
                    self.snapshots += 1;
                    return Some(Update::Snapshot(snapshot));
                }
            }
        }
    }

    /// The update of the next word, once no aside stands before it; `None` while the follower has
    /// lost its place. A hole shows as a first id that is not the one behind the last.
    pub fn follow(&mut self, quote: &Quote) -> Option<Update> {
        self.words += 1;
        if self.is_lost {
            self.discarded += 1;
            return None;
        }
        let unseen = self.board.missed() - self.missed;
        let missing = missing_before(self.next, quote, unseen);
        if missing > 0 {
            self.is_lost = true;
            self.board.want();
        }
        let id = self.next + missing;
        self.next = id + 1;
        Some(Update::Depth(quote.depth(self.id, id)))
    }

    /// When the last word was decoded, or one soon before it.
    pub fn decoded_ns(&self) -> u64 {
        self.decoded_ns
    }

    /// Words of no use, since one before them was missing.
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Numbers so far that no word has.
    pub fn missed(&self) -> u64 {
        self.board.missed()
    }

    /// Snapshots that came, the first one among them.
    pub fn snapshots(&self) -> u64 {
        self.snapshots
    }
}

/// How many numbers are missing before the word of `quote`, where `next` is due and `unseen`
/// numbers without a word are not accounted for yet.
///
/// With 32 of them or more, a word that seems to follow may stand behind the hole or before it. It
/// counts as behind: the hole is real, and what is before it is in the snapshot as well.
fn missing_before(next: u64, quote: &Quote, unseen: u64) -> u64 {
    match quote.missing_from(next) {
        0 if unseen >= SEQUENCES => SEQUENCES,
        missing => missing,
    }
}

/// The followers of one ring, by their instruments.
#[derive(Debug, Default)]
pub struct Followers(Vec<Follower>);

impl Followers {
    /// The follower of the instrument that `quote` names.
    ///
    /// # Errors
    ///
    /// [`WordError::Instrument`] when none of these is.
    pub fn of(&mut self, quote: &Quote) -> Result<&mut Follower, WordError> {
        let named = usize::from(quote.instrument);
        let follower = self.0.iter_mut().find(|one| one.id.index() == named);
        follower.ok_or(WordError::Instrument(quote.instrument))
    }

    /// All of them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Follower> {
        self.0.iter_mut()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Follower> {
        self.0.iter()
    }
}

impl FromIterator<Follower> for Followers {
    fn from_iter<I: IntoIterator<Item = Follower>>(followers: I) -> Self {
        Self(followers.into_iter().collect())
    }
}
