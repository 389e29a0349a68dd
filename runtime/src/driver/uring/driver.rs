//! The shard's side of the ring: queue, turn, park, and where each completion goes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use corelane_primitives::Epoch;
use io_uring::cqueue::{buffer_select, more};
use io_uring::squeue::{Entry, Flags};
use io_uring::{opcode, types::Fd};
use rustix::event::PollFlags;

use super::bufring::BufferRing;
use super::gather::Gather;
use super::listener::Listening;
use super::msg::Messages;
use super::ring::{Block, Done, GATHER_WINDOW, Ring};
use super::send::Sending;
use super::setup::{self, UringFeatures, Wanted};
use super::slots::{Key, Slots};
use super::stream::Socket;
use super::token::Token;
use crate::driver::DriverParts;
use crate::driver::bell::Bell;
use crate::error::DriverError;
use crate::io::Pool;
use crate::metrics::ShardCounters;
use crate::settings::IdlePolicy;
use crate::shard::Context;

/// The group of receive buffers: each ring has one.
pub(super) const BUFFER_GROUP: u16 = 0;
/// Receive buffers that the kernel has at first. It takes them in turn, so few of them stay in the
/// caches where many would each be cold (bench `tcp`, row `echo_64b_c64`: 280 ns a request).
const SHARE_FIRST: usize = 64;
/// Completions in one turn from which on sends are queued.
const CROWD: usize = 4;
/// Queued sends after which the driver has its turn.
const SENDS_A_SLICE: usize = 16;
/// No park blocks longer at once; the caller comes again.
const PARK_MAX: Duration = Duration::from_secs(86_400);

/// A shard's ring and everything in flight on it.
pub(crate) struct Uring {
    /// `None` after the ring was released.
    pub(super) ring: RefCell<Option<Ring>>,
    pub(super) slots: RefCell<Slots<Op>>,
    pub(super) messages: RefCell<Messages>,
    pub(super) buffers: RefCell<Option<BufferRing>>,
    /// Receive buffers that the kernel has and has not filled, as far as completions tell.
    pub(super) given: Cell<usize>,
    /// How many it shall have.
    share: Cell<usize>,
    pool: Rc<Pool>,
    /// Sockets whose readers wait for a receive buffer, the longest wait first.
    pub(super) starved: RefCell<VecDeque<Rc<Socket>>>,
    /// Completions of one turn, between the queue and their delivery.
    done: Cell<Vec<Done>>,
    /// How many completions the last turn that had any delivered.
    crowd: Cell<usize>,
    /// Operations in flight that end soon when streams are busy.
    awaited: Cell<usize>,
    /// Whether, and when, a park in a crowd gathers completions.
    gather: Gather,
    /// Whether the shard spins before it parks.
    pub(super) spins: bool,
    /// The stream that is received from at once while the shard spins.
    pub(super) hot: RefCell<Option<Rc<Socket>>>,
    pub(super) bell: &'static Bell,
    counters: Arc<ShardCounters>,
    features: UringFeatures,
    /// No operation starts any more.
    pub(super) closing: Cell<bool>,
    /// Whether the poll on the bell's eventfd is in the kernel.
    pub(super) bell_armed: Cell<bool>,
    /// What the kernel said in a turn, for the next park to report.
    failure: Cell<Option<io::Error>>,
}

/// An operation in flight, with all that it keeps alive.
#[derive(Debug)]
pub(super) enum Op {
    /// A multishot receive.
    Receive(Rc<Socket>),
    /// A one-shot poll for bytes.
    Readable(Rc<Socket>),
    /// A one-shot poll for room.
    Writable(Rc<Socket>),
    /// A send, and its buffer when nobody waits for it any more.
    Send(Sending),
    /// A multishot accept.
    Accept(Rc<Listening>),
    /// A one-shot poll for connections.
    Acceptable(Rc<Listening>),
}

/// An operation was started on a driver that is closed.
#[derive(Debug, thiserror::Error)]
#[error("the shard's driver is closed")]
pub(super) struct DriverClosed;

impl Uring {
    /// Makes the calling thread's ring and sets its timer slack to 1 ns, so that parks end on time.
    ///
    /// # Errors
    ///
    /// [`DriverError::UringRefused`] when the kernel, a filter or a limit refuses the ring: the
    /// caller falls back.
    pub(crate) fn open(parts: DriverParts) -> Result<Rc<Self>, DriverError> {
        Self::open_with(parts, Wanted::ALL)
    }

    pub(super) fn open_with(parts: DriverParts, wanted: Wanted) -> Result<Rc<Self>, DriverError> {
        Self::try_open(parts, wanted).map_err(DriverError::UringRefused)
    }

    fn try_open(parts: DriverParts, wanted: Wanted) -> io::Result<Rc<Self>> {
        let (uring, mut features) = setup::open(parts.ring_entries, wanted)?;
        let pool = Pool::new(parts.buffers, parts.buffer_bytes)?;
        let mut buffers = None;
        if features.multishot_receive {
            buffers = BufferRing::register(&uring, BUFFER_GROUP, pool.slots()).ok();
            features.multishot_receive = buffers.is_some();
        }
        rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
        let ring = Ring::new(uring, features.no_iowait, Arc::clone(&parts.counters));
        if features.msg_ring {
            parts.bell.set_ring_fd(Some(ring.fd()));
        }
        let this = Rc::new(Self {
            ring: RefCell::new(Some(ring)),
            slots: RefCell::new(Slots::new()),
            messages: RefCell::default(),
            buffers: RefCell::new(buffers),
            given: Cell::new(0),
            share: Cell::new(SHARE_FIRST),
            pool,
            starved: RefCell::default(),
            done: Cell::default(),
            crowd: Cell::new(0),
            awaited: Cell::new(0),
            gather: Gather::new(features.gather && parts.idle == IdlePolicy::Park),
            spins: parts.idle != IdlePolicy::Park,
            hot: RefCell::default(),
            bell: parts.bell,
            counters: parts.counters,
            features,
            closing: Cell::new(false),
            bell_armed: Cell::new(false),
            failure: Cell::new(None),
        });
        this.feed();
        this.arm_bell();
        Ok(this)
    }

    /// What this ring uses of what the kernel has.
    pub(crate) fn features(&self) -> &UringFeatures {
        &self.features
    }

    /// As [`Driver::turn`](crate::driver::Driver::turn): at most one system call, none without
    /// news, and one more for a hot stream.
    pub(crate) fn turn(&self) {
        self.look();
        self.feed();
        if let Some(ring) = &mut *self.ring.borrow_mut()
            && ring.needs_enter()
            && let Err(error) = ring.enter(Block::No)
        {
            self.failure.set(Some(error));
        }
        self.after_enter();
    }

    /// As [`Driver::needs_turn`](crate::driver::Driver::needs_turn).
    pub(crate) fn needs_turn(&self) -> bool {
        let ring_news = self.ring.borrow_mut().as_mut().is_some_and(Ring::has_news);
        ring_news
            || self.is_hot()
            || (!self.starved.borrow().is_empty() && self.buffers_at_hand() > 0)
    }

    /// As [`Driver::find`](crate::driver::Driver::find).
    pub(crate) fn find(&self) -> bool {
        self.look() || self.ring.borrow_mut().as_mut().is_some_and(Ring::has_news)
    }

    /// As [`Driver::park`](crate::driver::Driver::park).
    pub(crate) fn park(&self, timeout: Option<Duration>) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        // A poll, so that the stream becomes hot again when the reader has come back.
        self.cool(Socket::arm_poll);
        let fed = self.feed();
        let entered = match &mut *self.ring.borrow_mut() {
            // What waits behind a full queue must not wait for a completion.
            Some(ring) if fed || ring.has_backlog() => ring.enter(Block::No),
            Some(ring) => ring.enter(self.block(timeout)),
            None => Err(io::Error::other(DriverClosed)),
        };
        self.after_enter();
        entered
    }

    /// How a park waits.
    pub(super) fn block(&self, timeout: Option<Duration>) -> Block {
        let time = timeout.unwrap_or(PARK_MAX).min(PARK_MAX);
        if self.is_crowded()
            && time > GATHER_WINDOW
            && let Some(completions) = self.gather.begin(self.awaited.get())
        {
            return Block::Gather(completions, time);
        }
        match timeout {
            None => Block::ForEver,
            Some(_) => Block::For(time),
        }
    }

    /// As [`Driver::ring`](crate::driver::Driver::ring): by a message from this ring, else through
    /// the eventfd.
    pub(crate) fn ring(&self, bell: &'static Bell, epoch: Epoch) {
        if self.features.msg_ring
            && !self.closing.get()
            && let Some(ring) = &mut *self.ring.borrow_mut()
            && let Some(entry) = self.messages.borrow_mut().queue(bell, epoch, self.skips())
        {
            ring.push(entry);
            return;
        }
        bell.ring_event(epoch);
    }

    /// The shard's receive buffers.
    pub(super) fn pool(&self) -> &Rc<Pool> {
        &self.pool
    }

    pub(super) fn counters(&self) -> &ShardCounters {
        &self.counters
    }

    fn skips(&self) -> bool {
        self.features.skip_success
    }

    /// Queues an operation whose entry is made from its descriptor.
    ///
    /// # Errors
    ///
    /// [`DriverClosed`] once the driver closes.
    pub(super) fn start(&self, op: Op, entry: Entry) -> io::Result<Key> {
        let mut ring = self.ring.borrow_mut();
        let (Some(ring), false) = (&mut *ring, self.closing.get()) else {
            return Err(io::Error::other(DriverClosed));
        };
        self.awaited
            .set(self.awaited.get() + usize::from(op.is_awaited()));
        let key = self.slots.borrow_mut().insert(op);
        ring.push(entry.user_data(Token::Slot(key).pack()));
        Ok(key)
    }

    /// Asks the kernel to end an operation; its last completion still comes.
    pub(super) fn cancel(&self, key: Key) {
        if let Some(ring) = &mut *self.ring.borrow_mut() {
            let flags = if self.skips() {
                Flags::SKIP_SUCCESS
            } else {
                Flags::empty()
            };
            let entry = opcode::AsyncCancel::new(Token::Slot(key).pack()).build();
            ring.push(entry.flags(flags).user_data(Token::Ignore.pack()));
        }
    }

    /// Whether so many streams have news that their sends should share an `enter`.
    pub(super) fn is_crowded(&self) -> bool {
        self.crowd.get() >= CROWD
    }

    /// Ends the slice of tasks early when a crowd has queued many sends: who waits for the first of
    /// them need not wait for the last.
    pub(super) fn hurry(&self) {
        let queued = self.ring.borrow_mut().as_mut().map_or(0, Ring::queued);
        if queued >= SENDS_A_SLICE {
            Context::try_with(|context| context.mailbox().note());
        }
    }

    /// Gives the kernel receive buffers up to its share, and wakes as many of those who wait for
    /// one as there are. Tells whether somebody was woken.
    pub(super) fn feed(&self) -> bool {
        if self.given.get() < self.share.get() && !self.closing.get() {
            self.give();
        }
        let mut woken = false;
        for _ in 0..self.buffers_at_hand() {
            let longest = self.starved.borrow_mut().pop_front();
            let Some(socket) = longest else { break };
            socket.fed();
            woken = true;
        }
        woken
    }

    fn give(&self) {
        let Some(buffers) = &mut *self.buffers.borrow_mut() else {
            return;
        };
        let mut given = self.given.get();
        while given < self.share.get()
            && let Some(id) = self.pool.lend_to_kernel()
        {
            buffers.push(id, self.pool.slot_ptr(id).as_ptr(), self.pool.slot_bytes());
            given += 1;
        }
        buffers.publish();
        self.given.set(given);
    }

    /// How many receives would find a buffer.
    fn buffers_at_hand(&self) -> usize {
        self.given.get() + self.pool.free_slots()
    }

    /// The kernel found no buffer: its share grows while some are free, else the pool is spent.
    pub(super) fn ran_dry(&self) {
        if self.pool.has_free() {
            let all = usize::from(self.pool.slots());
            self.share.set((self.share.get() * 2).min(all));
        } else {
            self.counters.buffers_exhausted.add(1);
        }
    }

    /// Takes a socket out of the list of those that wait for a receive buffer.
    pub(super) fn forget_starved(&self, socket: &Rc<Socket>) {
        if socket.starved.replace(false) {
            self.starved
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, socket));
        }
    }

    pub(super) fn arm_bell(&self) {
        if let Some(ring) = &mut *self.ring.borrow_mut() {
            let events = u32::from(PollFlags::IN.bits());
            let poll = opcode::PollAdd::new(Fd(self.bell.event().as_raw_fd()), events).multi(true);
            ring.push(poll.build().user_data(Token::Bell.pack()));
            self.bell_armed.set(true);
        }
    }

    /// Marks who was rung, reaps, and delivers.
    pub(super) fn after_enter(&self) {
        let mut done = self.done.take();
        if let Some(ring) = &mut *self.ring.borrow_mut() {
            let mut messages = self.messages.borrow_mut();
            if !messages.is_empty() && ring.all_submitted() {
                messages.submitted();
            }
            ring.reap(&mut done);
        }
        self.gather.end(done.len());
        if !done.is_empty() {
            self.crowd.set(done.len());
            self.counters.completions.add(done.len() as u64);
        }
        for done in done.drain(..) {
            self.deliver(done);
        }
        self.done.set(done);
    }

    fn deliver(&self, done: Done) {
        match Token::unpack(done.user_data) {
            Some(Token::Slot(key)) => self.deliver_to(key, done),
            Some(Token::Bell) => {
                // Nothing to read: the count stays, and each further write is an edge of its own.
                if !more(done.flags) {
                    self.bell_armed.set(false);
                    if !self.closing.get() {
                        self.arm_bell();
                    }
                }
            }
            Some(Token::Ring(target)) => self.messages.borrow().done(target, done.result),
            Some(Token::Rung | Token::Ignore) | None => {}
        }
    }

    fn deliver_to(&self, key: Key, done: Done) {
        let last = !more(done.flags);
        let op = {
            let mut slots = self.slots.borrow_mut();
            if last {
                slots.remove(key)
            } else {
                slots.get(key).and_then(Op::shared)
            }
        };
        if last && op.as_ref().is_some_and(Op::is_awaited) {
            self.awaited.set(self.awaited.get() - 1);
        }
        match op {
            Some(Op::Receive(socket)) => {
                let buffer = buffer_select(done.flags);
                self.given
                    .set(self.given.get() - usize::from(buffer.is_some()));
                socket.received(done.result, buffer, last);
            }
            Some(Op::Readable(socket)) => socket.readable(),
            Some(Op::Writable(socket)) => socket.writable(),
            Some(Op::Send(sending)) => sending.done(key, done.result),
            Some(Op::Accept(listening)) => listening.accepted(done.result, last),
            Some(Op::Acceptable(listening)) => listening.acceptable(),
            None => {}
        }
    }
}

impl fmt::Debug for Uring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uring")
            .field("features", &self.features)
            .field("in_flight", &self.in_flight())
            .field("given", &self.given.get())
            .finish_non_exhaustive()
    }
}

impl Op {
    /// Whether a busy stream ends or continues this before long.
    fn is_awaited(&self) -> bool {
        matches!(self, Self::Receive(_) | Self::Readable(_) | Self::Send(_))
    }

    /// Another handle on an operation that goes on; `None` for one that completes once.
    fn shared(&self) -> Option<Self> {
        match self {
            Self::Receive(socket) => Some(Self::Receive(Rc::clone(socket))),
            Self::Accept(listening) => Some(Self::Accept(Rc::clone(listening))),
            _ => None,
        }
    }
}
