//! All partitions of one value, and how long they live.
//!
//! Owner: the strong references together: one a partition that has handles, with spare ones that
//! handles brought there, and one a `Storage`. Weak handles keep the memory, not the values.
//! Rule: the last strong reference drops the values; the last weak one (all strong ones hold one
//! of these together) frees the memory. Models: `tests/models/`.

use alloc::{boxed::Box, sync::Arc as StdArc};
use core::{
    iter,
    ptr::{self, NonNull},
};

use crossbeam_utils::CachePadded;

use super::{
    block,
    error::{Ignored, RelocateError},
    node::{EMPTY, FILLING, HOMED, HOMING, Node, READY, pointer},
    strategy::{Strategy, is_single},
    table,
};
use crate::{
    affinity::{Affinity, TopologyId},
    sync::{
        AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Owned, Site, UnsafeCell, acquire,
        release,
    },
};

/// Makes a partition's value, from the one that the relocated handle carries.
pub(super) type Maker<T> = Box<dyn Fn(&T, Option<Affinity>, Affinity) -> StdArc<T> + Send + Sync>;

/// What all handles of one `Arc` have in common.
pub(super) struct Lineage<T: ?Sized> {
    shared: CachePadded<Shared>,
    own: CachePadded<Own<T>>,
}

/// The first value, and what misses read; hits need neither.
#[repr(C)]
struct Own<T: ?Sized> {
    /// The value that was there first and its handles that never moved; unused without such.
    eager: Node<T>,
    has_eager: bool,
    /// The slot where the eager value is at home; set once.
    home: AtomicPtr<Node<T>>,
    /// The first table, or null.
    tables: AtomicPtr<table::Slot<T>>,
    /// Without one, a partition without a value takes the value that arrives.
    maker: UnsafeCell<Option<Maker<T>>>,
}

/// What any thread may write, if seldom.
struct Shared {
    strong: AtomicUsize,
    weak: AtomicUsize,
    ignored: [AtomicU64; 3],
}

/// Which no-op is counted.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    Anonymous,
    OutOfRange,
    Cycle,
}

impl<T: ?Sized> Lineage<T> {
    /// A lineage whose eager node has one handle, which holds it.
    pub(super) fn with_eager(value: StdArc<T>, maker: Maker<T>) -> NonNull<Self> {
        Self::build(Node::eager(value), true, Some(maker))
    }

    /// A lineage without a value, which the caller holds.
    pub(super) fn of_storage() -> NonNull<Self> {
        let unused = Node::empty(TopologyId::UNPLACED, 0, ptr::null_mut(), ptr::null());
        Self::build(unused, false, None)
    }

    fn build(eager: Node<T>, has_eager: bool, maker: Option<Maker<T>>) -> NonNull<Self> {
        let mut lineage = block::allocate::<(), Self>((), 1);
        let built = Self {
            shared: CachePadded::new(Shared {
                strong: AtomicUsize::new(1),
                weak: AtomicUsize::new(1),
                ignored: [(); 3].map(|()| AtomicU64::new(0)),
            }),
            own: CachePadded::new(Own {
                eager,
                has_eager,
                home: AtomicPtr::new(ptr::null_mut()),
                tables: AtomicPtr::new(ptr::null_mut()),
                maker: UnsafeCell::new(maker),
            }),
        };
        // SAFETY: Valid: just allocated, and aligned. Exclusive: nobody else has the pointer.
        unsafe { lineage.write(built) };
        // SAFETY: As above, and written.
        unsafe { lineage.as_mut() }.own.eager.lineage = lineage.as_ptr();
        lineage
    }

    /// The pointer that the lineage was allocated with, which may free it.
    pub(super) fn raw(&self) -> NonNull<Self> {
        // SAFETY: `build` wrote the eager node's, which is not null.
        unsafe { NonNull::new_unchecked(self.own.eager.lineage.cast_mut()) }
    }

    pub(super) fn eager(&self) -> NonNull<Node<T>> {
        NonNull::from(&self.own.eager)
    }

    /// The node of `affinity`'s partition; a topology that is new here gets its table.
    pub(super) fn place<S: Strategy>(
        &self,
        affinity: Affinity,
    ) -> Result<NonNull<Node<T>>, RelocateError> {
        let (topology, index, len) = address::<S>(affinity)?;
        if topology == TopologyId::UNPLACED && self.own.has_eager {
            return Ok(self.eager());
        }
        let slots = table::find_or_append(&self.own.tables, topology, len, self.raw())
            .map_err(|first| differs(affinity, first, len))?;
        // SAFETY: `index < len`, which is the table's number of slots.
        let place = unsafe { table::node(slots, index) };
        // SAFETY: Valid: a table lives as long as the lineage. Shared: as ever.
        let at = &unsafe { place.as_ref() }.at;
        if topology != TopologyId::UNPLACED && at.load(Relaxed) == 0 {
            // Relaxed: an affinity of the partition, whichever; it is only compared.
            at.store(affinity.word(), Relaxed);
        }
        Ok(place)
    }

    /// The node of `affinity`'s partition, if its topology has a table here.
    pub(super) fn find<S: Strategy>(
        &self,
        affinity: Affinity,
    ) -> Result<Option<NonNull<Node<T>>>, RelocateError> {
        let (topology, index, len) = address::<S>(affinity)?;
        if topology == TopologyId::UNPLACED && self.own.has_eager {
            return Ok(Some(self.eager()));
        }
        let found = table::find(&self.own.tables, topology, len);
        let slots = found.map_err(|first| differs(affinity, first, len))?;
        // SAFETY: `index < len`, which is the table's number of slots.
        Ok(slots.map(|slots| unsafe { table::node(slots, index) }))
    }

    pub(super) fn maker(&self) -> Option<&Maker<T>> {
        let place = self.own.maker.with(|place| place);
        // SAFETY: Valid: a part of `self`. Shared: it is taken out by the last strong reference
        // only, and whoever asks for a maker has a handle.
        unsafe { &*place }.as_ref()
    }

    /// Makes `node` the home of the eager value, unless that has one or the node has a value.
    pub(super) fn record(&self, node: &Node<T>) {
        // Relaxed: only the exchange in `settle` decides.
        if !self.own.home.load(Relaxed).is_null() {
            return;
        }
        if node.advance(EMPTY, HOMING) || node.state() == HOMING {
            self.settle(node);
        }
    }

    /// Ends `HOMING`: the first node for which anybody comes this far is the home.
    ///
    /// Every thread that meets `HOMING` does this, so nobody waits for the one that began.
    pub(super) fn settle(&self, node: &Node<T>) {
        let place = ptr::from_ref(node).cast_mut();
        // Relaxed: the home is a choice and publishes nothing; the eager value itself was there
        // before any second thread was.
        let exchanged = self
            .own
            .home
            .compare_exchange(ptr::null_mut(), place, Relaxed, Relaxed);
        let is_home = exchanged.map_or_else(|home| ptr::eq(home, place), |_| true);
        let _ = node.advance(HOMING, if is_home { HOMED } else { EMPTY });
    }

    /// The value of `node`, if it has one by now.
    ///
    /// # Safety
    ///
    /// The caller has a strong reference for the whole of `'a`.
    #[inline]
    pub(super) unsafe fn value<'a>(&'a self, node: &'a Node<T>) -> Option<&'a StdArc<T>> {
        match node.state() {
            // SAFETY: READY was seen just now; the lineage is the caller's promise.
            READY => unsafe { node.kept() },
            HOMED | FILLING => {
                // SAFETY: The eager node has been READY since it was made; the lineage is the
                // caller's promise.
                let eager = unsafe { self.own.eager.kept() };
                if let Some(value) = eager
                    && node.advance(HOMED, FILLING)
                {
                    // SAFETY: The state was moved to FILLING here, and this is the one publish.
                    unsafe { node.publish(value.clone()) };
                }
                eager
            }
            _ => None,
        }
    }

    /// Handles that carry the value at `value`: those of its partitions, and those that never
    /// moved.
    ///
    /// # Safety
    ///
    /// The caller has a strong reference.
    pub(super) unsafe fn handles_of(&self, value: NonNull<T>) -> usize {
        let carries = |node: &&Node<T>| {
            // SAFETY: The strong reference is the caller's promise.
            let kept = unsafe { self.value(node) };
            kept.is_some_and(|kept| ptr::addr_eq(pointer(kept).as_ptr(), value.as_ptr()))
        };
        // Relaxed: the count may be another one at once.
        let handles = self
            .nodes()
            .filter(carries)
            .map(|node| node.counts.handles.load(Relaxed));
        handles.fold(0, usize::saturating_add)
    }

    /// The values that the partitions have.
    ///
    /// # Safety
    ///
    /// The caller has a strong reference for as long as it uses the iterator.
    pub(super) unsafe fn values(&self) -> impl Iterator<Item = &StdArc<T>> {
        // SAFETY: The strong reference is the caller's promise.
        table::nodes(&self.own.tables).filter_map(|node| unsafe { self.value(node) })
    }

    /// The eager node and that of every partition.
    fn nodes(&self) -> impl Iterator<Item = &Node<T>> {
        iter::once(&self.own.eager).chain(table::nodes(&self.own.tables))
    }

    /// Counts a relocation that did nothing.
    #[cold]
    pub(super) fn count(&self, kept: Kept) {
        // Relaxed: a statistic.
        self.shared.ignored[kept as usize].fetch_add(1, Relaxed);
    }

    pub(super) fn ignored(&self) -> Ignored {
        let read = |kept: Kept| self.shared.ignored[kept as usize].load(Relaxed);
        Ignored {
            anonymous: read(Kept::Anonymous),
            out_of_range: read(Kept::OutOfRange),
            cycles: read(Kept::Cycle),
        }
    }

    /// Takes a strong reference. The caller has one already.
    #[inline]
    pub(super) fn hold(&self) {
        // Relaxed: the lineage is held already. It cannot overflow: one a partition and one a
        // `Storage`, which take memory of their own.
        self.shared.strong.fetch_add(1, Relaxed);
    }

    /// Takes a strong reference if there is any.
    pub(super) fn try_hold(&self) -> bool {
        let mut strong = self.shared.strong.load(Relaxed);
        while strong > 0 {
            // Relaxed: what the values are was published before the caller's weak handle was made.
            let next = strong + 1;
            match self
                .shared
                .strong
                .compare_exchange(strong, next, Relaxed, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => strong = now,
            }
        }
        false
    }

    /// Takes a weak reference. The caller has one, or a strong one.
    pub(super) fn hold_memory(&self) {
        // Relaxed: the memory is held already. As many weak handles as would overflow this do not
        // fit into memory unless they are leaked.
        if self.shared.weak.fetch_add(1, Relaxed) > super::node::HANDLES_MAX {
            super::node::too_many_handles();
        }
    }

    /// Gives a strong reference back; the last one drops the values.
    ///
    /// # Safety
    ///
    /// The caller has a strong reference and uses it no more.
    pub(super) unsafe fn release(lineage: NonNull<Self>) {
        // SAFETY: The caller's promise.
        unsafe { Self::release_many(lineage, 1) };
    }

    /// Gives several strong references back at once.
    ///
    /// # Safety
    ///
    /// The caller has as many, and uses them no more.
    pub(super) unsafe fn release_many(lineage: NonNull<Self>, references: usize) {
        // SAFETY: Valid: a strong reference keeps the memory. Shared: only atomics are used.
        let this = unsafe { lineage.as_ref() };
        let strong = &this.shared.strong;
        if strong.fetch_sub(references, release(Site::StrongRelease)) > references {
            return;
        }
        // As where a partition closes: this has seen what all others did.
        this.shared.strong.load(acquire(Site::StrongLast));
        let memory = Memory(lineage);
        // SAFETY: That was the last strong reference, the load has seen what the others did, and
        // no new one can come, since `try_hold` needs one above 0.
        unsafe { this.drop_values() };
        drop(memory);
    }

    /// Gives a weak reference back; the last one frees the memory.
    ///
    /// # Safety
    ///
    /// The caller has a weak reference and uses it no more.
    pub(super) unsafe fn release_memory(lineage: NonNull<Self>) {
        // SAFETY: Valid: a weak reference keeps the memory. Shared: only an atomic is used.
        let this = unsafe { lineage.as_ref() };
        if this.shared.weak.fetch_sub(1, release(Site::WeakRelease)) > 1 {
            return;
        }
        // As where a partition closes.
        this.shared.weak.load(acquire(Site::WeakLast));
        // SAFETY: Valid: `build` wrote it. Exclusive: that was the last reference of any kind, and
        // the load has seen what the others did.
        unsafe { lineage.drop_in_place() };
        // SAFETY: `build` allocated one, and it is used no more.
        unsafe { block::free::<(), _>(lineage, 1) };
    }

    /// Drops every value, each once, also when the drop of one panics.
    ///
    /// # Safety
    ///
    /// There is no strong reference any more, and the caller has seen what the last ones did.
    unsafe fn drop_values(&self) {
        let maker = self.own.maker.with_mut(|maker| {
            // SAFETY: Valid: a part of `self`. Exclusive: whoever reads it has a strong reference,
            // and there is none (the caller's promise).
            unsafe { (*maker).take() }
        });
        // SAFETY: The caller's promise.
        let values = self.nodes().map(|node| unsafe { node.empty_out() });
        let mut rest = Rest(values);
        rest.0.by_ref().for_each(drop);
        drop(maker);
    }
}

/// Drops what its iterator still has, so that one panic leaves nothing behind.
struct Rest<I: Iterator>(I);

impl<I: Iterator> Drop for Rest<I> {
    fn drop(&mut self) {
        self.0.by_ref().for_each(drop);
    }
}

#[cfg(all(test, not(corelane_loom)))]
impl<T: ?Sized> Lineage<T> {
    /// Where the counts of all partitions and the rest begin, and how long the rest is.
    pub(super) const fn layout() -> (usize, usize, usize) {
        use core::mem::offset_of;
        let (shared, own) = (offset_of!(Self, shared), offset_of!(Self, own));
        (shared, own, size_of::<Own<T>>())
    }

    /// Counts so many weak handles more, as if they had been leaked.
    pub(super) fn leak_weak(&self, handles: usize) {
        self.shared.weak.fetch_add(handles, Relaxed);
    }
}

impl<T: ?Sized> Drop for Lineage<T> {
    fn drop(&mut self) {
        // A handle here would be left without its memory.
        assert_eq!(
            self.own.eager.counts.handles.owned(),
            0,
            "a partition with handles is never freed"
        );
        // SAFETY: `&mut self` is the last use of the tables.
        unsafe { table::free(&mut self.own.tables) };
    }
}

/// The weak reference that all strong ones hold together.
struct Memory<T: ?Sized>(NonNull<Lineage<T>>);

impl<T: ?Sized> Drop for Memory<T> {
    fn drop(&mut self) {
        // SAFETY: Made where the last strong reference ended, which gives this one up.
        unsafe { Lineage::release_memory(self.0) };
    }
}

/// Topology, index and count of `affinity`'s partition.
fn address<S: Strategy>(affinity: Affinity) -> Result<(TopologyId, usize, usize), RelocateError> {
    let (index, len) = (S::index(affinity), S::count(affinity).get());
    let topology = if is_single::<S>() {
        TopologyId::UNPLACED
    } else if affinity.is_anonymous() {
        return Err(RelocateError::Anonymous);
    } else {
        affinity.topology()
    };
    if index >= len {
        return Err(RelocateError::OutOfRange(affinity));
    }
    if len > table::SLOTS_MAX {
        return Err(RelocateError::TooManyPartitions(len));
    }
    Ok((topology, index, len))
}

fn differs(affinity: Affinity, first: usize, now: usize) -> RelocateError {
    RelocateError::CountDiffers {
        affinity,
        first,
        now,
    }
}
