//! One shard's ends of its lanes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use corelane_primitives::{Consumer, Full, Producer, lane};

use super::link::Notify;
use crate::directory::{Directory, Member};
use crate::error::contain;
use crate::metrics::ShardCounters;
use crate::shard::{Context, ShardIndex};
use crate::task::{Chain, Returns, Traveller};

/// Items taken from one lane a turn at most.
const TAKE_MAX: usize = 256;
/// Items taken from a lane in one step, with one publication of the freed slots.
const BATCH: usize = 16;

/// A task that takes its answers itself may send this many calls in one poll before the items that
/// came back are freed: what it allocates is bounded so.
const RETURNS_EVERY: u32 = 16;

/// What the two ends of one directed way share.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The consumer's end, from the sender's first use until the target picks it up.
    handover: Mutex<Option<Consumer<Traveller>>>,
    /// Items that the target answered, on their way back to the sender.
    returns: Returns,
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self {
            handover: Mutex::new(None),
            returns: Returns::new(),
        }
    }

    fn handover(&self) -> std::sync::MutexGuard<'_, Option<Consumer<Traveller>>> {
        self.handover.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sender's end of one way.
struct Outbound {
    lane: Producer<Traveller>,
    /// Items that found the lane full, oldest first.
    waiting: VecDeque<Traveller>,
    /// Items sent since the returns were looked at last.
    unlooked: u32,
    /// Woken when the lane has room again: sets this shard's doorbell for the target.
    room: Waker,
}

/// All that a shard has of its ways to one peer.
#[derive(Default)]
struct Peer {
    out: Option<Outbound>,
    inbound: Option<Consumer<Traveller>>,
    /// Answered items of the peer, not yet published.
    answered: Chain,
    /// The peer has to be told of something at the end of the turn.
    dirty: bool,
    /// The peer is looked at next turn without a bit.
    again: bool,
    /// The peer's bit was seen and is cleared at the end of the turn.
    rung: bool,
}

/// A shard's ends of the mesh.
pub(crate) struct Mesh {
    me: ShardIndex,
    own: Arc<Member>,
    directory: Directory,
    peers: RefCell<Vec<Peer>>,
    dirty: RefCell<Vec<ShardIndex>>,
    /// Peers to look at next turn: their lane was not emptied, or their bit was just cleared.
    again: RefCell<Vec<ShardIndex>>,
    /// Peers whose bit is to be cleared.
    rung: RefCell<Vec<ShardIndex>>,
    /// The peer whose news came last. It is looked at itself, not its bit alone: a call and its
    /// answer are then seen one line earlier (bench row `submit_spin`).
    hot: Cell<Option<ShardIndex>>,
    /// An empty list, kept so that a turn does not allocate.
    spare: Cell<Vec<ShardIndex>>,
    /// Lane ends of this shard whose other end is told after the turn.
    links: RefCell<Vec<Rc<dyn Notify>>>,
    /// The shard has ended: what is sent from now on is dropped.
    closed: Cell<bool>,
}

/// Sets a shard's own doorbell for one peer, so that it looks at its way there.
struct RoomBell {
    directory: Directory,
    me: ShardIndex,
    peer: ShardIndex,
}

impl Wake for RoomBell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let me = self.directory.member(self.me);
        me.doorbells.set(self.peer);
        me.mailbox.note();
        me.mailbox.ring(None);
    }
}

impl Mesh {
    pub(crate) fn new(me: ShardIndex, directory: Directory) -> Self {
        let peers = directory.members.iter().map(|_| Peer::default()).collect();
        Self {
            me,
            own: Arc::clone(directory.member(me)),
            directory,
            peers: RefCell::new(peers),
            dirty: RefCell::default(),
            again: RefCell::default(),
            rung: RefCell::default(),
            hot: Cell::default(),
            spare: Cell::default(),
            links: RefCell::default(),
            closed: Cell::new(false),
        }
    }

    fn own(&self) -> &Member {
        &self.own
    }

    /// Whether the lane to `to` would take an item now.
    pub(crate) fn has_room(&self, to: ShardIndex) -> bool {
        self.with_outbound(to, |out| out.waiting.is_empty() && out.lane.slots() > 0)
    }

    /// Sends an item; when the lane is full it waits here, in order.
    pub(crate) fn send(&self, context: &Context, to: ShardIndex, item: Traveller) {
        if self.closed.get() {
            return drop(item);
        }
        let unlooked = self.with_outbound(to, |out| {
            out.unlooked += 1;
            if !out.waiting.is_empty() {
                out.waiting.push_back(item);
            } else if let Err(Full(item)) = out.lane.push(item) {
                out.waiting.push_back(item);
                out.pump();
            }
            out.unlooked
        });
        self.mark_dirty(to);
        if unlooked >= RETURNS_EVERY {
            self.take_returns(to, context);
        }
    }

    /// Frees items that are back, and wakes who waits for them.
    fn take_returns(&self, from: ShardIndex, context: &Context) {
        if let Some(out) = &mut self.peers.borrow_mut()[from.get()].out {
            out.unlooked = 0;
        }
        if let Some(pair) = self.directory.used_pair(self.me, from) {
            for item in pair.returns.take() {
                item.arrive(context);
            }
        }
    }

    /// Sends an answered item back; it is published at the end of the turn.
    pub(crate) fn give_back(&self, item: Traveller) {
        if self.closed.get() {
            return drop(item);
        }
        let to = item.from();
        self.peers.borrow_mut()[to.get()].answered.push(item);
        self.mark_dirty(to);
    }

    fn mark_dirty(&self, to: ShardIndex) {
        let newly = !std::mem::replace(&mut self.peers.borrow_mut()[to.get()].dirty, true);
        if newly {
            self.dirty.borrow_mut().push(to);
        }
    }

    fn with_outbound<R>(&self, to: ShardIndex, f: impl FnOnce(&mut Outbound) -> R) -> R {
        let mut peers = self.peers.borrow_mut();
        let out = peers[to.get()].out.get_or_insert_with(|| {
            let (producer, consumer) = lane(self.directory.settings.lane_capacity as usize);
            *self.directory.pair(self.me, to).handover() = Some(consumer);
            let bell = RoomBell {
                directory: self.directory.clone(),
                me: self.me,
                peer: to,
            };
            Outbound {
                lane: producer,
                waiting: VecDeque::new(),
                unlooked: 0,
                room: Waker::from(Arc::new(bell)),
            }
        });
        f(out)
    }

    /// Tells every peer that has news, with one doorbell bit and at most one ring each.
    pub(crate) fn flush(&self, context: &Context) {
        loop {
            // A waker of another executor may push again: each link is told once a round.
            let link = self.links.borrow_mut().pop();
            let Some(link) = link else { break };
            link.notify();
            // It may be the last hold of a lane whose values are the user's.
            contain("the end of a lane", || drop(link));
        }
        loop {
            let to = self.dirty.borrow_mut().pop();
            let Some(to) = to else { break };
            {
                let peer = &mut self.peers.borrow_mut()[to.get()];
                peer.dirty = false;
                // Answers go back over the way that their calls came.
                if let Some(pair) = self.directory.used_pair(to, self.me) {
                    pair.returns.publish(&mut peer.answered);
                }
            }
            let member = self.directory.member(to);
            member.doorbells.set(self.me);
            context.ring(*member.mailbox);
        }
    }

    /// Notifies the other end of a link after this turn.
    pub(super) fn notify_later(&self, link: Rc<dyn Notify>) {
        self.links.borrow_mut().push(link);
    }

    /// Whether any peer has news for this shard, or may have.
    pub(crate) fn has_news(&self) -> bool {
        self.own().doorbells.any() || !self.again.borrow().is_empty() || self.hot_peer().is_some()
    }

    /// The peer whose news came last, if it has published more.
    fn hot_peer(&self) -> Option<ShardIndex> {
        let from = self.hot.get()?;
        let inbound = &self.peers.borrow()[from.get()].inbound;
        let has_items = inbound.as_ref().is_some_and(|lane| !lane.is_empty());
        let has_answers = || {
            let pair = self.directory.used_pair(self.me, from);
            pair.is_some_and(|pair| pair.returns.has_any())
        };
        (has_items || has_answers()).then_some(from)
    }

    /// Takes what peers with news have sent: starts their items and hands back answered ones.
    ///
    /// Bits stay set until [`Mesh::settle`]: clearing one takes its line from the sender, and that
    /// can wait until the answers are on their way (bench row `submit_spin`).
    pub(crate) fn take(&self, context: &Context) {
        let mut news = self.spare.take();
        std::mem::swap(&mut news, &mut *self.again.borrow_mut());
        let hot = self.hot_peer();
        let mut peers = self.peers.borrow_mut();
        if let Some(from) = hot
            && !std::mem::replace(&mut peers[from.get()].again, true)
        {
            news.push(from);
        }
        self.own().doorbells.look(|from| {
            let peer = &mut peers[from.get()];
            if !std::mem::replace(&mut peer.again, true) {
                news.push(from);
            }
            if !std::mem::replace(&mut peer.rung, true) {
                self.rung.borrow_mut().push(from);
            }
        });
        for from in &news {
            peers[from.get()].again = false;
        }
        drop(peers);
        for from in news.drain(..) {
            self.hot.set(Some(from));
            self.take_from(from, context);
        }
        self.spare.set(news);
    }

    /// Clears the bits that [`Mesh::take`] has seen. What was published after its look is taken by
    /// one more look in the next turn.
    pub(crate) fn settle(&self) {
        let mut rung = self.rung.borrow_mut();
        for from in rung.drain(..) {
            self.own().doorbells.clear(from);
            self.peers.borrow_mut()[from.get()].rung = false;
            self.look_again(from);
        }
    }

    fn look_again(&self, from: ShardIndex) {
        if !std::mem::replace(&mut self.peers.borrow_mut()[from.get()].again, true) {
            self.again.borrow_mut().push(from);
        }
    }

    fn take_from(&self, from: ShardIndex, context: &Context) {
        self.take_returns(from, context);
        let pumped = match &mut self.peers.borrow_mut()[from.get()].out {
            Some(out) => !out.waiting.is_empty() && out.pump(),
            None => false,
        };
        if pumped {
            self.mark_dirty(from);
        }
        self.start_from(from, context.counters());
    }

    /// Starts the items that `from` has sent, up to [`TAKE_MAX`] of them.
    fn start_from(&self, from: ShardIndex, counters: &ShardCounters) {
        // The end is taken out meanwhile, so that nothing is borrowed while items start.
        let inbound = self.peers.borrow_mut()[from.get()].inbound.take();
        let Some(mut inbound) = inbound.or_else(|| {
            self.directory
                .used_pair(from, self.me)
                .and_then(|pair| pair.handover().take())
        }) else {
            return;
        };
        counters.lane_peak.raise(inbound.len() as u64);
        let mut taken = 0;
        while taken < TAKE_MAX {
            let mut batch: [Option<Traveller>; BATCH] = [const { None }; BATCH];
            let mut count = 0;
            for (place, item) in batch.iter_mut().zip(inbound.read_chunk(BATCH)) {
                *place = Some(item);
                count += 1;
            }
            if count == 0 {
                break;
            }
            taken += count;
            batch.iter().flatten().for_each(Traveller::fetch);
            batch.into_iter().flatten().for_each(Traveller::start);
        }
        if taken > 0 {
            counters.lane_items.add(taken as u64);
            inbound.notify();
        }
        let unfinished = !inbound.is_empty();
        self.peers.borrow_mut()[from.get()].inbound = Some(inbound);
        if unfinished {
            self.look_again(from);
        }
    }

    /// The end of this shard: nothing more is taken, and what waits here is given up.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        let peers = std::mem::take(&mut *self.peers.borrow_mut());
        for (number, peer) in peers.into_iter().enumerate() {
            let from = ShardIndex::new(number);
            // Items in the lane to this shard are dropped with it: their senders' handles find
            // `ShardGone`. So are items that wait here for room.
            drop(peer.inbound);
            if let Some(pair) = self.directory.used_pair(from, self.me) {
                drop(pair.handover().take());
            }
            drop(peer.out);
        }
    }
}

impl Outbound {
    /// Moves waiting items into the lane. Returns whether any went; asks to be told of room while
    /// some are left.
    fn pump(&mut self) -> bool {
        let mut moved = false;
        while !self.waiting.is_empty() {
            match self
                .lane
                .poll_room(&mut TaskContext::from_waker(&self.room), 1)
            {
                Poll::Ready(Ok(())) => {}
                // Or the target's end is gone: it has stopped, and so will this shard, which then
                // drops what waits here. Not now: it is the user's, and this is inside a borrow.
                Poll::Ready(Err(_)) | Poll::Pending => break,
            }
            let count = self.lane.push_batch(&mut Draining(&mut self.waiting));
            moved |= count > 0;
        }
        moved
    }
}

/// Takes from the front while somebody asks.
struct Draining<'a>(&'a mut VecDeque<Traveller>);

impl Iterator for Draining<'_> {
    type Item = Traveller;

    fn next(&mut self) -> Option<Traveller> {
        self.0.pop_front()
    }
}
