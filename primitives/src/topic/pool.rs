//! The nodes that values stand in, and the stacks that hold nodes in between.
//!
//! A node is never given back to the allocator while its pool lives, so an index that was read
//! somewhere long ago still names memory that may be looked at. Who may touch a node's *value* is
//! said by two tokens: [`Vacant`] and [`Filled`] exist once a node and are never copied. A node in
//! the log has neither; who unlinks it makes its `Filled` anew.

use super::word::{NO_NODE, NODE_BITS, NodeIndex};
use crate::sync::{AtomicPtr, AtomicU64, Ordering, Site, UnsafeCell, acquire, release};
use std::mem::MaybeUninit;

/// Nodes of the first chunk; each further chunk doubles what there is.
const FIRST_CHUNK: u32 = if cfg!(corelane_loom) { 2 } else { 32 };
const CHUNKS: usize = (NODE_BITS - FIRST_CHUNK.ilog2()) as usize;

struct Node<T> {
    value: UnsafeCell<MaybeUninit<T>>,
    /// The next node of the stack that this one is on.
    below: AtomicU64,
    /// The position that a retired node had.
    position: AtomicU64,
}

/// The only right to a node without a value.
#[derive(Debug)]
pub(super) struct Vacant(NodeIndex);

/// The only right to write to a node with a value.
#[derive(Debug)]
pub(super) struct Filled(NodeIndex);

impl Filled {
    pub(super) fn index(&self) -> NodeIndex {
        self.0
    }
}

/// Nodes, made as they are needed.
pub(super) struct Pool<T> {
    /// Null until a node of the chunk is made.
    chunks: [AtomicPtr<Node<T>>; CHUNKS],
    made: AtomicU64,
    free: Stack,
}

// SAFETY: Valid: all but the values are atomics and boxes of them. Exclusive: a value moves to
// whoever holds its node's token, on any thread, hence `T: Send`.
unsafe impl<T: Send> Send for Pool<T> {}
// SAFETY: Valid: as for Send. Exclusive: readers of linked nodes share a `&T` between threads,
// hence `T: Sync`; only the one token's holder writes.
unsafe impl<T: Send + Sync> Sync for Pool<T> {}

impl<T> Pool<T> {
    pub(super) fn new() -> Self {
        Self {
            chunks: std::array::from_fn(|_| AtomicPtr::new(std::ptr::null_mut())),
            made: AtomicU64::new(0),
            free: Stack::new(),
        }
    }

    /// A node without a value: a freed one, or else a new one.
    ///
    /// # Panics
    ///
    /// If 2^26 nodes are in use.
    pub(super) fn vacant(&self) -> Vacant {
        match self.free.pop(self) {
            Some(index) => Vacant(index),
            None => self.make(),
        }
    }

    pub(super) fn free(&self, node: Vacant) {
        self.free.push(self, node.0);
    }

    /// How many nodes were ever made.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    pub(super) fn fill(&self, node: Vacant, value: T) -> Filled {
        self.node(node.0).value.with_mut(|place| {
            // SAFETY: Valid: the node lives as long as the pool. Exclusive: its only token is ours.
            unsafe { place.cast::<T>().write(value) };
        });
        Filled(node.0)
    }

    pub(super) fn empty(&self, node: Filled) -> (Vacant, T) {
        let value = self.node(node.0).value.with_mut(|place| {
            // SAFETY: Valid: the token says that there is a value; it becomes a `Vacant`, so it is
            // moved out once. Exclusive: the node's only token is ours.
            unsafe { place.cast::<T>().read() }
        });
        (Vacant(node.0), value)
    }

    /// Makes the token of a node that was unlinked.
    ///
    /// # Safety
    ///
    /// The node has a value and no token, and the caller alone makes one. Until the token is given
    /// to [`empty`](Self::empty), others may still read the value.
    pub(super) unsafe fn unlinked(index: NodeIndex) -> Filled {
        Filled(index)
    }

    /// Lends the value of a node that stands in the log, or is retired.
    ///
    /// # Safety
    ///
    /// The node has a value, whose writing happened before, and nobody empties it before `read`
    /// returns or unwinds.
    pub(super) unsafe fn read<R>(&self, index: NodeIndex, read: impl FnOnce(&T) -> R) -> R {
        self.node(index).value.with(|place| {
            // SAFETY: Valid: the caller vouches for the value. Exclusive: only shared references
            // exist until `read` is done, as the caller vouches.
            read(unsafe { &*place.cast::<T>() })
        })
    }

    /// Remembers the position that a retired node had.
    pub(super) fn note_position(&self, node: &Filled, position: u64) {
        let noted = &self.node(node.0).position;
        noted.store(position, Ordering::Relaxed);
    }

    pub(super) fn noted_position(&self, node: &Filled) -> u64 {
        self.node(node.0).position.load(Ordering::Relaxed)
    }

    fn make(&self) -> Vacant {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        let index = u32::try_from(made)
            .ok()
            .filter(|index| *index < NO_NODE - FIRST_CHUNK);
        let index = index.expect("a topic has fewer than 2^26 nodes");
        self.provide_chunk(place(index).0);
        Vacant(NodeIndex(index))
    }

    /// Allocates a chunk, unless another thread is quicker: nobody waits for anybody here.
    fn provide_chunk(&self, chunk: usize) {
        let seen = self.chunks[chunk].load(acquire(Site::TopicReadChunk));
        if !seen.is_null() {
            return;
        }
        let nodes: Box<[Node<T>]> = (0..chunk_len(chunk)).map(|_| Node::new()).collect();
        let nodes = Box::into_raw(nodes);
        // Release, partner TopicReadChunk: the nodes are there.
        let put = self.chunks[chunk].compare_exchange(
            std::ptr::null_mut(),
            nodes.cast(),
            release(Site::TopicPutChunk),
            Ordering::Relaxed,
        );
        if put.is_err() {
            // SAFETY: Valid: it came from a box a moment ago. Exclusive: nobody else has seen it.
            drop(unsafe { Box::from_raw(nodes) });
        }
    }

    fn node(&self, index: NodeIndex) -> &Node<T> {
        let (chunk, offset) = place(index.0);
        let nodes = self.chunks[chunk].load(acquire(Site::TopicReadChunk));
        assert!(!nodes.is_null(), "an index names a node that was made");
        // SAFETY: `place` gives an offset below the chunk's length.
        let node = unsafe { nodes.add(offset) };
        // SAFETY: Valid: chunks live as long as the pool. Exclusive: only shared references to
        // nodes are made.
        unsafe { &*node }
    }
}

impl<T> Node<T> {
    fn new() -> Self {
        Self {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            below: AtomicU64::new(u64::from(NO_NODE)),
            position: AtomicU64::new(0),
        }
    }
}

impl<T> Drop for Pool<T> {
    fn drop(&mut self) {
        for (chunk, nodes) in self.chunks.iter().enumerate() {
            // Relaxed: `&mut self` says that no other thread has the pool.
            let nodes = nodes.load(Ordering::Relaxed);
            if !nodes.is_null() {
                let nodes = std::ptr::slice_from_raw_parts_mut(nodes, chunk_len(chunk));
                // SAFETY: Valid: it came from a box of this length. Exclusive: `&mut self`.
                drop(unsafe { Box::from_raw(nodes) });
            }
        }
    }
}

fn chunk_len(chunk: usize) -> usize {
    (FIRST_CHUNK as usize) << chunk
}

/// The chunk of an index, and the place in it.
fn place(index: u32) -> (usize, usize) {
    let shifted = index + FIRST_CHUNK;
    let chunk = shifted.ilog2() - FIRST_CHUNK.ilog2();
    (chunk as usize, (shifted - (FIRST_CHUNK << chunk)) as usize)
}

/// A stack of nodes of one pool. Its head carries a count of changes, so that a head that was
/// popped and pushed again is not taken for the old one.
pub(super) struct Stack {
    head: AtomicU64,
}

impl Stack {
    pub(super) fn new() -> Self {
        Self {
            head: AtomicU64::new(u64::from(NO_NODE)),
        }
    }

    fn push<T>(&self, pool: &Pool<T>, index: NodeIndex) {
        let below = &pool.node(index).below;
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            below.store(head & u64::from(NO_NODE), Ordering::Relaxed);
            let new = Self::changed(head, u64::from(index.0));
            // Release, partner TopicStackTake: what was done with the node comes before whatever
            // its next holder does.
            let pushed = self.head.compare_exchange(
                head,
                new,
                release(Site::TopicStackPut),
                Ordering::Relaxed,
            );
            match pushed {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    fn pop<T>(&self, pool: &Pool<T>) -> Option<NodeIndex> {
        let mut head = self.head.load(acquire(Site::TopicStackTake));
        loop {
            let index = NodeIndex::of_low_bits(head)?;
            let below = pool.node(index).below.load(Ordering::Relaxed);
            let popped = self.head.compare_exchange(
                head,
                Self::changed(head, below),
                acquire(Site::TopicStackTake),
                acquire(Site::TopicStackTake),
            );
            match popped {
                Ok(_) => return Some(index),
                Err(found) => head = found,
            }
        }
    }

    /// Pushes a node with its value.
    pub(super) fn push_filled<T>(&self, pool: &Pool<T>, node: Filled) {
        self.push(pool, node.0);
    }

    /// Takes the whole stack.
    pub(super) fn take_filled<T>(&self, pool: &Pool<T>) -> Vec<Filled> {
        let mut taken = Vec::new();
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if NodeIndex::of_low_bits(head).is_none() {
                return taken;
            }
            let emptied = self.head.compare_exchange(
                head,
                Self::changed(head, u64::from(NO_NODE)),
                acquire(Site::TopicStackTake),
                Ordering::Relaxed,
            );
            match emptied {
                Ok(_) => break,
                Err(found) => head = found,
            }
        }
        while let Some(index) = NodeIndex::of_low_bits(head) {
            head = pool.node(index).below.load(Ordering::Relaxed);
            taken.push(Filled(index));
        }
        taken
    }

    fn changed(head: u64, low_bits: u64) -> u64 {
        ((head >> NODE_BITS).wrapping_add(1) << NODE_BITS) | low_bits
    }
}

/// The one vacant node that a publisher keeps for its next value.
pub(crate) struct Spare {
    node: AtomicU64,
}

impl Spare {
    pub(crate) fn new() -> Self {
        Self {
            node: AtomicU64::new(u64::from(NO_NODE)),
        }
    }

    pub(super) fn take<T>(&self, pool: &Pool<T>) -> Vacant {
        let none = u64::from(NO_NODE);
        // Acquire, partner TopicSpareKeep: another thread may have emptied the node.
        let kept = self.node.swap(none, acquire(Site::TopicSpareTake));
        NodeIndex::of_low_bits(kept).map_or_else(|| pool.vacant(), Vacant)
    }

    pub(super) fn keep<T>(&self, pool: &Pool<T>, node: Vacant) {
        let kept = self.node.compare_exchange(
            u64::from(NO_NODE),
            u64::from(node.0.0),
            release(Site::TopicSpareKeep),
            Ordering::Relaxed,
        );
        if kept.is_err() {
            pool.free(node);
        }
    }

    /// Gives the node back; for the publisher's end.
    pub(super) fn end<T>(&self, pool: &Pool<T>) {
        let none = u64::from(NO_NODE);
        let kept = self.node.swap(none, acquire(Site::TopicSpareTake));
        if let Some(index) = NodeIndex::of_low_bits(kept) {
            pool.free(Vacant(index));
        }
    }
}
