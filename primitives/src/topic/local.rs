//! The owner's side of a part: its feeds, and what they share.
//!
//! Nothing here runs foreign code but the clone and the drop of values; whoever waits is handed to
//! [`After`], to be woken once the part is no longer borrowed.

use super::copies::{Copies, Reader};
use super::log::{At, Log};
use super::part::Part;
use crate::feed::FeedStats;
use std::collections::VecDeque;

/// The place of a feed on its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeedId(usize);

pub(super) struct Local<T> {
    copies: Copies<T>,
    readers: Vec<Option<Reader<T>>>,
    vacant: Vec<FeedId>,
    /// Whether the log's end was reached.
    ended: bool,
    /// Whether the last feed is gone.
    left: bool,
    /// The limit that writers were told.
    told: u64,
}

/// What a feed that has left no longer needs.
pub(super) struct Leftovers<T> {
    _reader: Reader<T>,
    _copies: VecDeque<T>,
}

/// What is left to be done once a part is no longer borrowed.
#[must_use = "somebody may wait"]
#[derive(Default)]
pub(super) struct After {
    /// Writers may have room.
    freed: bool,
    /// Something was copied, or the end was reached: others of the thread may wait for it.
    pub(super) news: bool,
}

impl After {
    /// Wakes publishers if there is room for them.
    pub(super) fn run<T>(&self, log: &Log<T>) {
        if self.freed {
            log.room.notify(|| log.free());
        }
    }
}

impl<T> Local<T> {
    pub(super) fn new(copies: Copies<T>) -> Self {
        Self {
            told: copies.limit(),
            copies,
            readers: Vec::new(),
            vacant: Vec::new(),
            ended: false,
            left: false,
        }
    }

    /// Before the first feed: everything before `position` is not for this part.
    pub(super) fn start_at(&mut self, position: u64) {
        self.copies.start_at(position);
    }

    pub(super) fn has_left(&self) -> bool {
        self.left
    }

    /// Seats a feed that reads from the end of the copies on.
    pub(super) fn join(&mut self) -> FeedId {
        let reader = self.copies.join();
        self.seat(reader)
    }

    /// Seats a reader that the copies count already.
    pub(super) fn seat(&mut self, reader: Reader<T>) -> FeedId {
        if let Some(id) = self.vacant.pop() {
            self.readers[id.0] = Some(reader);
            return id;
        }
        self.readers.push(Some(reader));
        FeedId(self.readers.len() - 1)
    }

    /// Ends what [`join`](Self::join) began. Returns what is to be dropped once the part is no
    /// longer borrowed: that is foreign code, which may come back here or panic.
    pub(super) fn leave(
        &mut self,
        id: FeedId,
        part: &Part<T>,
        after: &mut After,
    ) -> Option<Leftovers<T>> {
        let reader = self.readers[id.0].take()?;
        self.vacant.push(id);
        self.left = self.vacant.len() == self.readers.len();
        let mut copies = self.copies.leave(&reader);
        if self.left {
            // Publishers may hold the part for a while, and drop no values of it.
            copies.append(&mut self.copies.take_all());
        } else {
            self.tell_limit(part, after);
        }
        Some(Leftovers {
            _reader: reader,
            _copies: copies,
        })
    }

    /// How much of the log was seen, in the numbers of [`Log::news`].
    pub(super) fn seen(&self) -> u64 {
        self.copies.end() + u64::from(self.ended)
    }

    /// The position of the log's next value for this part.
    pub(super) fn end(&self) -> u64 {
        self.copies.end()
    }

    /// The limit that the feed alone would set.
    pub(super) fn limit_of(&self, id: FeedId) -> u64 {
        let reader = self.readers[id.0].as_ref().expect("a feed has a seat");
        self.copies.limit_of(reader)
    }

    pub(super) fn stats(&self, id: FeedId, log: &Log<T>) -> FeedStats {
        let reader = self.readers[id.0].as_ref().expect("a feed has a seat");
        self.copies.stats(reader, log.tail())
    }

    /// Tells writers how far they may go, if that has changed.
    pub(super) fn tell_limit(&mut self, part: &Part<T>, after: &mut After) {
        let limit = self.copies.limit();
        if limit != self.told {
            self.told = limit;
            part.set_limit(limit);
            after.freed = true;
        }
    }
}

impl<T: Clone> Local<T> {
    /// What a part of its own has for the feed, which reads nothing here any more.
    pub(super) fn fork(&mut self, id: FeedId) -> (Copies<T>, Reader<T>) {
        let reader = self.readers[id.0].as_mut().expect("a feed has a seat");
        self.copies.fork(reader)
    }

    /// Copies what was published.
    pub(super) fn look(&mut self, log: &Log<T>, part: &Part<T>, after: &mut After) {
        let readers = self.readers.iter_mut().flatten();
        let mut news = self.copies.copy(log, part, readers);
        if !news && !self.ended && matches!(log.at(self.copies.end()), At::End) {
            self.ended = true;
            news = true;
        }
        after.news |= news;
    }

    /// Copies what was published before this call.
    pub(super) fn catch_up(&mut self, log: &Log<T>, part: &Part<T>, after: &mut After) {
        let tail = log.tail();
        // Each look copies something, since the tail says that it is there.
        loop {
            self.look(log, part, after);
            if self.copies.end() >= tail {
                return;
            }
        }
    }

    /// What `take` gets of the feed's values, after a look for more if there are fewer than
    /// `wanted`. `Err` says whether there will never be one.
    pub(super) fn take<R>(
        &mut self,
        id: FeedId,
        wanted: usize,
        (log, part): (&Log<T>, &Part<T>),
        after: &mut After,
        take: impl FnOnce(&mut Copies<T>, &mut Reader<T>) -> Option<R>,
    ) -> Result<R, bool> {
        let reader = self.readers[id.0].as_ref().expect("a feed has a seat");
        if self.copies.decides_at_reads() || self.copies.available(reader) < wanted {
            self.look(log, part, after);
        }
        let reader = self.readers[id.0].as_mut().expect("a feed has a seat");
        let taken = take(&mut self.copies, reader);
        self.tell_limit(part, after);
        taken.ok_or(self.ended)
    }
}
