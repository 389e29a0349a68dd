//! The way of updates to the shards that own their symbols.

use std::cell::RefCell;
use std::rc::Rc;

use corelane::time::Instant;
use corelane_primitives::{Closed, Consumer, Full, Producer, lane};
use thread_aware::{Arc, PerCore};

use super::door::Door;
use super::turnstile::Turnstile;
use crate::feed::{Symbol, Update};

/// Updates that wait in one lane at most; a power of two.
pub(super) const LANE_SLOTS: usize = 1024;

/// An update on its way, and when the batch began in which it was decoded.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) decoded: Instant,
    pub(super) update: Update,
}

/// The table of instruments, each core's own.
pub(super) type Instruments = Arc<crate::feed::Instruments, PerCore>;

/// One shard's lanes to all others and to itself, each made on first use.
#[derive(Debug)]
pub(super) struct Routes {
    instruments: Instruments,
    doors: Vec<Door<Consumer<Timed>>>,
    lanes: RefCell<Vec<Option<Lane>>>,
}

/// The decoders of a shard share its lanes and take turns.
type Lane = Rc<Turnstile<Producer<Timed>>>;

impl Routes {
    /// Ways through these doors, one a shard.
    pub(super) fn new(instruments: Instruments, doors: Vec<Door<Consumer<Timed>>>) -> Self {
        let lanes = doors.iter().map(|_| None).collect();
        Self {
            instruments,
            doors,
            lanes: RefCell::new(lanes),
        }
    }

    fn lane(&self, owner: usize) -> Lane {
        let mut lanes = self.lanes.borrow_mut();
        let known = lanes[owner].get_or_insert_with(|| {
            let (producer, consumer) = lane(LANE_SLOTS);
            if let Err(Full(_)) = self.doors[owner].bring(consumer) {
                unreachable!("a door has room for one lane a shard");
            }
            Rc::new(Turnstile::new(producer))
        });
        Rc::clone(known)
    }
}

/// One input's way out: it collects a batch, and then sends each owner its part.
#[derive(Debug)]
pub(super) struct Outbound {
    routes: Rc<Routes>,
    batch_max: usize,
    /// Of each owner what it gets next; those that get something stand in `owners`.
    staged: Vec<Vec<Update>>,
    owners: Vec<usize>,
    count: usize,
    /// When the batch began.
    begun: Instant,
    /// Most inputs have one symbol, or several times the same.
    last: Option<(Symbol, usize)>,
}

/// What a batch is after one more update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// More may come.
    Open,
    /// It is to be sent.
    Full,
}

impl Outbound {
    /// A way out that sends `batch_max` updates at once.
    pub(super) fn new(routes: Rc<Routes>, batch_max: usize) -> Self {
        let staged = routes.doors.iter().map(|_| Vec::new()).collect();
        Self {
            routes,
            batch_max,
            staged,
            owners: Vec::new(),
            count: 0,
            begun: Instant::from_nanos(0),
            last: None,
        }
    }

    /// Puts `update` into the batch. The clock is read once a batch, at its first update.
    pub(super) fn stage(&mut self, update: Update) -> Batch {
        if self.count == 0 {
            self.begun = Instant::now();
        }
        let symbol = update.symbol();
        let owner = match self.last {
            Some((last, owner)) if last == symbol => owner,
            Some(_) | None => self.routes.instruments.owner(symbol),
        };
        self.last = Some((symbol, owner));
        if self.staged[owner].is_empty() {
            self.owners.push(owner);
        }
        self.staged[owner].push(update);
        self.count += 1;
        if self.count < self.batch_max {
            Batch::Open
        } else {
            Batch::Full
        }
    }

    /// Sends the batch; waits for room where a lane is full.
    ///
    /// # Errors
    ///
    /// [`Closed`] when an owner is gone, which happens only when its shard fails.
    pub(super) async fn flush(&mut self) -> Result<(), Closed> {
        self.count = 0;
        let decoded = self.begun;
        for owner in self.owners.drain(..) {
            let lane = self.routes.lane(owner);
            let staged = &mut self.staged[owner];
            let mut lane = lane.enter().await;
            let room_max = lane.capacity() / 2;
            while !staged.is_empty() {
                let count = staged.len().min(room_max);
                lane.room(count).await?;
                let mut part = staged
                    .drain(..count)
                    .map(|update| Timed { decoded, update });
                lane.push_batch(&mut part);
                lane.notify();
            }
        }
        Ok(())
    }
}
