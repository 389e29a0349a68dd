//! A partition of a lineage: its value, and how many handles carry it.
//!
//! Owner: the lineage, whose tables hold the nodes. Any thread that holds a handle, a weak handle
//! or a storage may read a node's place and state.
//! Rule: `value` is written by whoever moved `state` from EMPTY to MAKING, or from HOMED to
//! FILLING, before it puts READY there; from then on it is read only, until the lineage's last
//! strong reference is gone. Models: `tests/models/`.

use alloc::sync::Arc as StdArc;
use core::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use super::lineage::Lineage;
use crate::{
    affinity::TopologyId,
    sync::{AtomicU64, AtomicUsize, Ordering::Relaxed, Site, UnsafeCell, acquire, release},
};

/// No value yet, and nobody makes one.
pub(super) const EMPTY: u64 = 0;
/// The eager value may be at home here; whoever meets this settles it, without waiting.
pub(super) const HOMING: u64 = 1;
/// The eager value is at home here, and the node does not keep it yet.
pub(super) const HOMED: u64 = 2;
/// As `HOMED`, and some thread is writing the node's `value`.
pub(super) const FILLING: u64 = 3;
/// The value is there, in the node.
pub(super) const READY: u64 = 4;
/// Some thread makes the value: its number is in the bits above, from `MAKER_SHIFT`.
pub(super) const MAKING: u64 = 5;
/// As `MAKING`, and somebody waits for the thread.
pub(super) const AWAITED: u64 = 6;

/// Where the maker's number begins in a state.
const MAKER_SHIFT: u32 = 3;

/// The state of a node whose value `thread` makes; `kind` is `MAKING` or `AWAITED`.
pub(super) const fn made_by(kind: u64, thread: u64) -> u64 {
    kind | thread << MAKER_SHIFT
}

/// A state without the maker's number.
#[inline]
pub(super) const fn kind(state: u64) -> u64 {
    state & ((1 << MAKER_SHIFT) - 1)
}

/// The number of the thread that makes the value in this state.
pub(super) const fn maker(state: u64) -> u64 {
    state >> MAKER_SHIFT
}

/// A node on cache lines of its own.
pub(super) type Slot<T> = CachePadded<Node<T>>;

/// One partition of a lineage: a line that is read and a line that is written.
#[repr(C)]
pub(super) struct Node<T: ?Sized> {
    state: AtomicU64,
    /// The word of some affinity of this partition that was looked up before, or 0.
    pub(super) at: AtomicU64,
    pub(super) topology: TopologyId,
    /// How many slots the table has.
    pub(super) len: usize,
    /// The table's first slot, with the right to use all of them; null for an eager node.
    pub(super) slots: *mut Slot<T>,
    /// What the node is a part of; valid as long as the node is.
    pub(super) lineage: *const Lineage<T>,
    value: UnsafeCell<Option<StdArc<T>>>,
    pub(super) counts: Counts,
}

/// What changes with every handle, on a line of its own: who comes reads the other one meanwhile.
#[repr(align(64))]
pub(super) struct Counts {
    /// Handles in this partition. While there are any, the partition holds the lineage once.
    pub(super) handles: AtomicUsize,
    /// References to the lineage beyond that one, brought by handles that were the last elsewhere
    /// and taken along by ones that go where nobody is. Only who is here adds or takes, and who
    /// closes the partition gives what is left back.
    spare: AtomicUsize,
}

impl Counts {
    const fn of(handles: AtomicUsize, spare: AtomicUsize) -> Self {
        Self { handles, spare }
    }
}

impl<T: ?Sized> Node<T> {
    /// A partition without a value.
    pub(super) fn empty(
        topology: TopologyId,
        len: usize,
        slots: *mut Slot<T>,
        lineage: *const Lineage<T>,
    ) -> Self {
        Self {
            at: AtomicU64::new(0),
            state: AtomicU64::new(EMPTY),
            topology,
            len,
            slots,
            lineage,
            value: UnsafeCell::new(None),
            counts: Counts::of(AtomicUsize::new(0), AtomicUsize::new(0)),
        }
    }

    /// The node of a value that belongs to no partition yet, with one handle.
    pub(super) fn eager(value: StdArc<T>) -> Self {
        Self {
            at: AtomicU64::new(0),
            state: AtomicU64::new(READY),
            topology: TopologyId::UNPLACED,
            len: 0,
            slots: ptr::null_mut(),
            lineage: ptr::null(),
            value: UnsafeCell::new(Some(value)),
            counts: Counts::of(AtomicUsize::new(1), AtomicUsize::new(0)),
        }
    }

    /// Whether this is the node of the value that was there first.
    #[inline]
    pub(super) fn is_eager(&self) -> bool {
        self.slots.is_null()
    }

    /// Where the node stands. What `READY` stands for is seen with it.
    #[inline]
    pub(super) fn state(&self) -> u64 {
        self.state.load(acquire(Site::PartitionRead))
    }

    /// Whether there is a value, in the node or as the eager one.
    pub(super) fn has_value(&self) -> bool {
        matches!(self.state(), HOMED | FILLING | READY)
    }

    /// Moves the state on, if it is as expected. Nothing is published by it.
    pub(super) fn advance(&self, from: u64, to: u64) -> bool {
        // Relaxed: what these states say is in the state itself, and one atomic's changes have one
        // order. What a claim then writes is published by `publish`.
        self.state
            .compare_exchange(from, to, Relaxed, Relaxed)
            .is_ok()
    }

    /// Puts the value in, and tells everybody.
    ///
    /// # Safety
    ///
    /// The caller moved the state to `MAKING` or `FILLING` itself, nobody marked it since, and this
    /// is the one publish.
    pub(super) unsafe fn publish(&self, value: StdArc<T>) {
        // SAFETY: The caller's promise.
        unsafe { self.put(value) };
        self.state.store(READY, release(Site::PartitionPublish));
    }

    /// Puts the value in, which nobody sees before the state says so.
    ///
    /// # Safety
    ///
    /// The caller moved the state to `MAKING` or `FILLING` itself and has not put any since.
    pub(super) unsafe fn put(&self, value: StdArc<T>) {
        self.value.with_mut(|place| {
            // SAFETY: Valid: the cell is a part of `self`. Exclusive: only the claimant writes (the
            // caller's promise), and nobody reads before `READY`.
            unsafe { *place = Some(value) };
        });
    }

    /// Tells everybody of the value that was put in, if the state is as expected.
    pub(super) fn show(&self, from: u64) -> bool {
        let success = release(Site::PartitionPublish);
        let exchanged = self.state.compare_exchange(from, READY, success, Relaxed);
        exchanged.is_ok()
    }

    /// The state alone, for who waits; valid as long as the node is.
    pub(super) fn state_word(&self) -> &AtomicU64 {
        &self.state
    }

    /// What the node keeps.
    ///
    /// # Safety
    ///
    /// The caller saw `READY`, or holds a handle of this node's value, and the lineage has a
    /// strong reference as long as the answer is used.
    #[inline]
    pub(super) unsafe fn kept(&self) -> Option<&StdArc<T>> {
        let place = self.value.with(|place| place);
        // SAFETY: Valid: the cell is a part of `self`. Shared: nothing writes it between `READY`
        // and the end of the last strong reference (the caller's promise).
        unsafe { &*place }.as_ref()
    }

    /// Takes the value out.
    ///
    /// # Safety
    ///
    /// The lineage has no strong reference any more, and the caller has seen what the last ones
    /// did.
    pub(super) unsafe fn empty_out(&self) -> Option<StdArc<T>> {
        self.value.with_mut(|place| {
            // SAFETY: Valid: the cell is a part of `self`. Exclusive: every reader needs a strong
            // reference, and there is none (the caller's promise).
            unsafe { (*place).take() }
        })
    }

    /// A handle that counts elsewhere comes here; says how many there were.
    ///
    /// It needs no check: handles that can move lie in memory, 16 bytes each, and leaked ones were
    /// checked when they were cloned, so the count cannot wrap.
    #[inline]
    pub(super) fn arrive(&self) -> usize {
        // Relaxed: as for `enter`.
        self.counts.handles.fetch_add(1, Relaxed)
    }

    /// Another handle of this node. Whoever takes the first must hold the lineage for it.
    #[inline]
    pub(super) fn enter(&self) -> usize {
        // Relaxed: the caller holds the lineage already, so nothing is read through this count.
        let before = self.counts.handles.fetch_add(1, Relaxed);
        if before > HANDLES_MAX {
            too_many_handles();
        }
        before
    }

    /// Leaves references to the lineage that a handle brought, which is in this partition now.
    #[inline]
    pub(super) fn add_spares(&self, references: usize) {
        if references > 0 {
            // Relaxed: a number; what its bringer saw elsewhere goes with the bringer.
            self.counts.spare.fetch_add(references, Relaxed);
        }
    }

    /// Takes such a reference, if there is one, for a handle that is still in this partition.
    #[inline]
    pub(super) fn take_spare(&self) -> bool {
        let mut spare = self.counts.spare.load(Relaxed);
        while spare > 0 {
            match self
                .counts
                .spare
                .compare_exchange(spare, spare - 1, Relaxed, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => spare = now,
            }
        }
        false
    }

    /// Takes all of them, for who closes the partition.
    #[inline]
    pub(super) fn take_spares(&self) -> usize {
        // Whoever added one left later, and the caller has seen all that left.
        match self.counts.spare.load(Relaxed) {
            0 => 0,
            _ => self.counts.spare.swap(0, Relaxed),
        }
    }
}

/// More handles than this at once end the process, as with std's `Arc`: only leaking can get here.
pub(super) const HANDLES_MAX: usize = isize::MAX as usize;

#[cold]
#[inline(never)]
pub(super) fn too_many_handles() -> ! {
    std::process::abort()
}

/// The pointer to what `value` points to.
#[inline]
pub(super) fn pointer<T: ?Sized>(value: &StdArc<T>) -> NonNull<T> {
    NonNull::from(&**value)
}
