//! The owner's side of a part: its feeds, who of them waits, and who waits for all.
//!
//! One parked feed has the *duty*: the part's bell rings its waker alone. Whoever copies news wakes
//! all that wait on the part, so a bell costs its publisher one wake however many feeds there are.
//! A feed that leaves or gives up waiting hands its duty on.
//!
//! Nothing here runs foreign code but the clone and the drop of values; wakers are handed out in
//! [`After`], to be used once the part is no longer borrowed.

use super::copies::{Copies, Reader};
use super::log::{At, Log};
use super::part::Part;
use crate::feed::FeedStats;
use crate::panics::Panics;
use crate::sync::Ordering;
use std::task::Waker;

/// The place of a feed on its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeedId(usize);

struct Seat<T> {
    reader: Reader<T>,
    /// Where it stands in `waiting`.
    waiting: Option<usize>,
}

pub(super) struct Local<T> {
    copies: Copies<T>,
    seats: Vec<Option<Seat<T>>>,
    vacant: Vec<FeedId>,
    waiting: Vec<(FeedId, Waker)>,
    /// Who is to be rung. `Some` exactly while the part counts as parked.
    duty: Option<FeedId>,
    /// Whether the log's end was reached.
    ended: bool,
    /// Whether the last feed is gone.
    left: bool,
    /// The limit that writers were told.
    told: u64,
}

/// What is left to be done once a part is no longer borrowed.
pub(super) struct After {
    wake: Vec<Waker>,
    forget: Option<Waker>,
    freed: bool,
    /// The duty is to be handed on.
    pub(super) orphaned: bool,
}

impl After {
    pub(super) fn new() -> Self {
        Self {
            wake: Vec::new(),
            forget: None,
            freed: false,
            orphaned: false,
        }
    }

    /// Wakes who is to be woken: feeds of the part, and publishers if there is room for them.
    pub(super) fn run<T>(self, log: &Log<T>) {
        if self.wake.is_empty() && self.forget.is_none() && !self.freed {
            return;
        }
        let mut panics = Panics::default();
        for waker in self.wake {
            panics.run(|| waker.wake());
        }
        panics.run(|| drop(self.forget));
        if self.freed {
            panics.run(|| log.room.notify(|| log.free()));
        }
        panics.resume();
    }
}

impl<T> Local<T> {
    pub(super) fn new(copies: Copies<T>) -> Self {
        Self {
            told: copies.limit(),
            copies,
            seats: Vec::new(),
            vacant: Vec::new(),
            waiting: Vec::new(),
            duty: None,
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
        let seat = Seat {
            reader,
            waiting: None,
        };
        if let Some(id) = self.vacant.pop() {
            self.seats[id.0] = Some(seat);
            return id;
        }
        self.seats.push(Some(seat));
        FeedId(self.seats.len() - 1)
    }

    /// Ends what [`join`](Self::join) began.
    pub(super) fn leave(&mut self, id: FeedId, part: &Part<T>, after: &mut After) {
        self.stop_waiting(id, after);
        let Some(seat) = self.seats[id.0].take() else {
            return;
        };
        self.vacant.push(id);
        if self.vacant.len() == self.seats.len() {
            self.left = true;
        }
        self.copies.leave(&seat.reader);
        if !self.left {
            self.tell_limit(part, after);
        }
    }

    /// Takes a wait back; an orphaned duty is to be handed on.
    pub(super) fn stop_waiting(&mut self, id: FeedId, after: &mut After) {
        let place = self.seats[id.0]
            .as_mut()
            .and_then(|seat| seat.waiting.take());
        if let Some(place) = place {
            after.forget = Some(self.waiting.swap_remove(place).1);
            if let Some((moved, _)) = self.waiting.get(place) {
                let moved = self.seats[moved.0].as_mut();
                moved.expect("who waits is there").waiting = Some(place);
            }
        }
        if self.duty == Some(id) {
            after.orphaned = true;
        }
    }

    /// Takes the orphaned duty of `from`, and names who has it next.
    pub(super) fn next_duty(
        &mut self,
        from: FeedId,
        log: &Log<T>,
        part: &Part<T>,
    ) -> Option<Waker> {
        if self.duty != Some(from) {
            return None;
        }
        match self.waiting.last() {
            Some((id, waker)) => {
                self.duty = Some(*id);
                Some(waker.clone())
            }
            None => {
                self.end_duty(log, part);
                None
            }
        }
    }

    /// Whether something was published that is not copied yet, or the log has ended.
    pub(super) fn has_news(&self, log: &Log<T>) -> bool {
        !matches!(log.at(self.copies.end()), At::Ahead)
    }

    /// The position of the log's next value for this part.
    pub(super) fn end(&self) -> u64 {
        self.copies.end()
    }

    /// The limit that the feed alone would set.
    pub(super) fn limit_of(&self, id: FeedId) -> u64 {
        let seat = self.seats[id.0].as_ref().expect("a feed has a seat");
        self.copies.limit_of(&seat.reader)
    }

    pub(super) fn stats(&self, id: FeedId, log: &Log<T>) -> FeedStats {
        let seat = self.seats[id.0].as_ref().expect("a feed has a seat");
        self.copies.stats(&seat.reader, log.tail())
    }

    /// Whether `waker` is to be parked for `id`, who found nothing: nobody else has the duty.
    pub(super) fn wait(
        &mut self,
        id: FeedId,
        waker: &Waker,
        log: &Log<T>,
        after: &mut After,
    ) -> bool {
        let seat = self.seats[id.0].as_mut().expect("a feed has a seat");
        match seat.waiting {
            Some(place) => {
                if !self.waiting[place].1.will_wake(waker) {
                    let old = std::mem::replace(&mut self.waiting[place].1, waker.clone());
                    after.forget = Some(old);
                }
            }
            None => {
                seat.waiting = Some(self.waiting.len());
                self.waiting.push((id, waker.clone()));
            }
        }
        if self.duty.is_none() {
            // Relaxed: the mark's fence follows, and orders it with a publisher's look.
            log.parked.fetch_add(1, Ordering::Relaxed);
            self.duty = Some(id);
        }
        self.duty == Some(id)
    }

    /// Everybody who waits is to be woken, except `own`, who looks for itself; nobody is parked
    /// any more.
    fn wake_waiting(&mut self, own: FeedId, log: &Log<T>, part: &Part<T>, after: &mut After) {
        for (id, waker) in self.waiting.drain(..) {
            let seat = self.seats[id.0].as_mut().expect("who waits is there");
            seat.waiting = None;
            if id == own {
                after.forget = Some(waker);
            } else {
                after.wake.push(waker);
            }
        }
        self.end_duty(log, part);
    }

    fn end_duty(&mut self, log: &Log<T>, part: &Part<T>) {
        if self.duty.take().is_some() {
            part.parker.unpark();
            log.parked.fetch_sub(1, Ordering::Relaxed);
        }
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
        let seat = self.seats[id.0].as_mut().expect("a feed has a seat");
        self.copies.fork(&mut seat.reader)
    }

    /// Copies what was published, and has everybody woken who waits for it.
    pub(super) fn look(&mut self, own: FeedId, log: &Log<T>, part: &Part<T>, after: &mut After) {
        let readers = self.seats.iter_mut().flatten().map(|seat| &mut seat.reader);
        let mut news = self.copies.copy(log, part, readers);
        if !news && !self.ended && matches!(log.at(self.copies.end()), At::End) {
            self.ended = true;
            news = true;
        }
        if news {
            self.wake_waiting(own, log, part, after);
        }
    }

    /// Copies until nothing is left to be copied.
    pub(super) fn catch_up(&mut self, log: &Log<T>, part: &Part<T>, after: &mut After) {
        loop {
            let before = self.copies.end();
            self.look(FeedId(usize::MAX), log, part, after);
            if self.copies.end() == before {
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
        let seat = self.seats[id.0].as_ref().expect("a feed has a seat");
        if self.copies.decides_at_reads() || self.copies.available(&seat.reader) < wanted {
            self.look(id, log, part, after);
        }
        let seat = self.seats[id.0].as_mut().expect("a feed has a seat");
        let taken = take(&mut self.copies, &mut seat.reader);
        self.tell_limit(part, after);
        if taken.is_some() || self.ended {
            self.stop_waiting(id, after);
        }
        taken.ok_or(self.ended)
    }
}
