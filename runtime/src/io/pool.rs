//! The receive buffers of a shard: one slab, cut into slots of one size.
//!
//! Owner: one shard. A slot is free (on the list here), lent (somebody here fills it), the kernel's
//! (in a provided buffer ring), or a [`Chunk`] (somebody reads it). Every step between these is
//! checked, since a slot in two hands would be a data race with the kernel. The slab lives until
//! the last chunk is gone, also behind its driver.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::ptr::NonNull;
use std::rc::Rc;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::buf::IoBuf;
use super::waiters::Waiters;

const CACHE_LINE: usize = 64;
const PAGE: usize = 4096;

/// In whose hands a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Free,
    Lent,
    Kernel,
    Chunk,
}

/// A shard's receive buffers.
pub(crate) struct Pool {
    slab: NonNull<u8>,
    slab_bytes: usize,
    slot_bytes: usize,
    /// Bytes from one slot to the next.
    stride: usize,
    holders: Box<[Cell<Holder>]>,
    /// The free slots, the one that was used last on top, since its memory is warm.
    free: RefCell<Vec<u16>>,
    returned: Waiters,
}

impl Pool {
    /// Maps a slab of `count` slots of `bytes` each. The kernel gives memory when a slot is first
    /// written.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when either is 0 or the slab would not fit the address space or a chunk's
    /// length; else what the kernel says.
    pub(crate) fn new(count: u16, bytes: usize) -> io::Result<Rc<Self>> {
        let stride = stride(bytes).ok_or(io::ErrorKind::InvalidInput)?;
        let slab_bytes = usize::from(count).checked_mul(stride);
        let slab_bytes = slab_bytes.filter(|&total| total > 0 && u32::try_from(bytes).is_ok());
        let slab_bytes = slab_bytes.ok_or(io::ErrorKind::InvalidInput)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let at = std::ptr::null_mut();
        // SAFETY: Valid: a new anonymous mapping at a place of the kernel's choice. Exclusive:
        // nobody else knows it.
        let slab = unsafe { mmap_anonymous(at, slab_bytes, protection, MapFlags::PRIVATE) }?;
        let slab = NonNull::new(slab.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Rc::new(Self {
            slab,
            slab_bytes,
            slot_bytes: bytes,
            stride,
            holders: (0..count).map(|_| Cell::new(Holder::Free)).collect(),
            free: RefCell::new((0..count).rev().collect()),
            returned: Waiters::default(),
        }))
    }

    /// Bytes of a slot.
    pub(crate) fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Slots of the slab.
    pub(crate) fn slots(&self) -> u16 {
        self.holders.len() as u16
    }

    /// Takes a free slot, to be filled here with [`Pool::fill`].
    pub(crate) fn take(&self) -> Option<u16> {
        let id = self.free.borrow_mut().pop()?;
        self.pass(id, Holder::Free, Holder::Lent);
        Some(id)
    }

    /// Gives back a slot from [`Pool::take`] that nothing came into.
    pub(crate) fn give_back(&self, id: u16) {
        self.pass(id, Holder::Lent, Holder::Free);
        self.put_free(id);
    }

    /// Lets `fill` write to a slot from [`Pool::take`]. All its bytes are initialised.
    pub(crate) fn fill<R>(&self, id: u16, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        // Marked as the kernel's meanwhile, so that `fill` cannot get at the slot a second time.
        self.pass(id, Holder::Lent, Holder::Kernel);
        let slot = self.slot_ptr(id).as_ptr();
        // SAFETY: Valid: a slot of the slab, which the kernel zeroed. Exclusive: the holder was
        // `Lent` and was changed above, so neither a chunk nor another `fill` has the slot, and the
        // kernel never had it.
        let result = fill(unsafe { std::slice::from_raw_parts_mut(slot, self.slot_bytes) });
        self.pass(id, Holder::Kernel, Holder::Lent);
        result
    }

    /// Takes a free slot for the kernel, the one that was used last.
    pub(crate) fn lend_to_kernel(&self) -> Option<u16> {
        let id = self.free.borrow_mut().pop()?;
        self.pass(id, Holder::Free, Holder::Kernel);
        Some(id)
    }

    /// Counts the free slots.
    pub(crate) fn free_slots(&self) -> usize {
        self.free.borrow().len()
    }

    /// Whether a slot is free.
    pub(crate) fn has_free(&self) -> bool {
        !self.free.borrow().is_empty()
    }

    /// The list of who waits for a slot to return.
    pub(crate) fn returned(&self) -> &Waiters {
        &self.returned
    }

    /// Where a slot begins.
    ///
    /// # Panics
    ///
    /// If there is no such slot.
    pub(crate) fn slot_ptr(&self, id: u16) -> NonNull<u8> {
        assert!(
            usize::from(id) < self.holders.len(),
            "no receive buffer {id}"
        );
        // SAFETY: Valid: within the slab (checked above). Exclusive: no access, only the address.
        unsafe { self.slab.add(usize::from(id) * self.stride) }
    }

    /// Makes the first `len` bytes of a slot a chunk. The slot was lent here or given to the
    /// kernel, and whoever filled it is done.
    ///
    /// # Panics
    ///
    /// If the slot is free or a chunk already, or `len` is longer than a slot.
    pub(crate) fn chunk(self: &Rc<Self>, id: u16, len: usize) -> Chunk {
        assert!(
            len <= self.slot_bytes,
            "{len} bytes in a receive buffer of {}",
            self.slot_bytes
        );
        let holder = &self.holders[usize::from(id)];
        let fillable = matches!(holder.get(), Holder::Lent | Holder::Kernel);
        assert!(
            fillable,
            "receive buffer {id} was filled while {:?}",
            holder.get()
        );
        holder.set(Holder::Chunk);
        Chunk {
            pool: Some(Rc::clone(self)),
            id,
            begin: 0,
            len: len as u32,
        }
    }

    /// A chunk ends: its slot is free again, and who waited for one is woken.
    fn take_back(&self, id: u16) {
        self.pass(id, Holder::Chunk, Holder::Free);
        self.put_free(id);
    }

    fn put_free(&self, id: u16) {
        self.free.borrow_mut().push(id);
        if !self.returned.is_empty() {
            self.returned.wake_all();
        }
    }

    /// Passes a slot from one hand to another.
    fn pass(&self, id: u16, from: Holder, to: Holder) {
        let holder = self.holders[usize::from(id)].replace(to);
        assert!(
            holder == from,
            "receive buffer {id} is {holder:?}, not {from:?}"
        );
    }
}

/// Bytes between slots of `bytes`: whole cache lines, and an odd number of them where the slots
/// would else begin at the same place of every page and share a few sets of the caches.
fn stride(bytes: usize) -> Option<usize> {
    let bytes = NonZeroUsize::new(bytes)?.get();
    let lines = bytes.checked_next_multiple_of(CACHE_LINE)?;
    if lines.is_multiple_of(PAGE) {
        lines.checked_add(CACHE_LINE)
    } else {
        Some(lines)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: Valid: mapped in `new` with this length. Exclusive: no chunk is left, since each
        // holds the pool; a ring whose kernel side has slots holds it too, until it is closed.
        let unmapped = unsafe { munmap(self.slab.as_ptr().cast(), self.slab_bytes) };
        debug_assert!(
            unmapped.is_ok(),
            "a mapping of our own was refused: {unmapped:?}"
        );
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("slots", &self.holders.len())
            .field("slot_bytes", &self.slot_bytes)
            .field("free", &self.free.borrow().len())
            .finish_non_exhaustive()
    }
}

/// Received bytes in a buffer of the shard, without a copy. Dropping it gives the buffer back.
///
/// A shard has a fixed number of these buffers (a setting of its runtime); while chunks hold them
/// all, receiving into chunks waits. Keep a chunk for as long as it takes to read or forward it,
/// and [`Chunk::into_vec`] what must live longer. It can be written to a stream as it is.
///
/// An empty chunk means that the peer has sent everything.
pub struct Chunk {
    /// `None`: an empty chunk that holds no slot.
    pool: Option<Rc<Pool>>,
    id: u16,
    begin: u32,
    len: u32,
}

impl Chunk {
    /// The chunk without bytes: the end of a stream. It holds no buffer.
    pub(crate) fn end() -> Self {
        Self {
            pool: None,
            id: 0,
            begin: 0,
            len: 0,
        }
    }

    /// Leaves out the first `n` bytes from now on.
    ///
    /// # Panics
    ///
    /// If the chunk is shorter than that.
    pub fn advance(&mut self, n: usize) {
        assert!(
            n <= self.len(),
            "a chunk of {} bytes cannot advance by {n}",
            self.len()
        );
        self.begin += n as u32;
        self.len -= n as u32;
    }

    /// Leaves out everything behind the first `len` bytes from now on. A shorter chunk stays as it
    /// is.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len().min(len) as u32;
    }

    /// Copies the bytes into a vector of their own and gives the buffer back.
    pub fn into_vec(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Some(pool) = &self.pool else { return &[] };
        let slot = pool
            .slot_ptr(self.id)
            .as_ptr()
            .wrapping_add(self.begin as usize);
        // SAFETY: Valid: `begin + len` is within the slot (checked in `chunk` and kept by
        // `advance`), and the slab is initialised and lives as long as `pool`. Exclusive: the
        // slot's holder is `Chunk` until this one drops, so neither the kernel nor `fill` writes to
        // it.
        unsafe { std::slice::from_raw_parts(slot, self.len as usize) }
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

// SAFETY: The bytes stand in the pool's slab, which neither moves nor goes while the chunk holds
// the pool; all are initialised, and nobody writes to a chunk's slot.
unsafe impl IoBuf for Chunk {
    fn as_init_ptr(&self) -> *const u8 {
        self.as_ptr()
    }

    fn bytes_init(&self) -> usize {
        self.len()
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.take_back(self.id);
        }
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk")
            .field("bytes", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::waiters::Wait;
    use super::*;
    use std::task::Waker;

    fn filled(pool: &Rc<Pool>, bytes: &[u8]) -> Chunk {
        let id = pool.take().expect("a free buffer");
        pool.fill(id, |slot| slot[..bytes.len()].copy_from_slice(bytes));
        pool.chunk(id, bytes.len())
    }

    #[test]
    fn a_chunk_gives_its_buffer_back_once() {
        let pool = Pool::new(2, 16).expect("a pool");
        for round in 0..100_u8 {
            let first = filled(&pool, &[round; 16]);
            let second = filled(&pool, &[!round; 8]);
            assert_eq!(pool.take(), None);
            assert_eq!(
                (&first[..], &second[..]),
                (&[round; 16][..], &[!round; 8][..])
            );
        }
        assert!(pool.has_free());
    }

    #[test]
    fn a_chunk_outlives_the_handle_of_its_pool() {
        let pool = Pool::new(1, 4096).expect("a pool");
        let mut chunk = filled(&pool, b"hello world");
        drop(pool);
        chunk.advance(6);
        chunk.truncate(4);
        assert_eq!(chunk.as_slice(), b"worl");
        assert_eq!(chunk.into_vec(), b"worl");
    }

    #[test]
    fn a_returned_buffer_wakes_who_waits() {
        let pool = Pool::new(1, 16).expect("a pool");
        let chunk = filled(&pool, b"x");
        Wait::polled(pool.returned()).wait(Waker::noop());
        assert!(!pool.returned().is_empty());
        drop(chunk);
        assert!(pool.returned().is_empty());
    }

    #[test]
    fn the_kernel_gets_free_slots_and_only_those() {
        let pool = Pool::new(4, 16).expect("a pool");
        let chunk = filled(&pool, b"x");
        let mut given = Vec::new();
        given.extend(std::iter::from_fn(|| pool.lend_to_kernel()));
        assert_eq!(given.len(), 3);
        assert!(!given.contains(&chunk.id));
        drop(chunk);
        given.extend(std::iter::from_fn(|| pool.lend_to_kernel()));
        given.sort_unstable();
        assert_eq!(given, [0, 1, 2, 3]);
        assert_eq!(pool.take(), None);
        assert_eq!(pool.chunk(2, 0).len(), 0);
    }

    #[test]
    #[should_panic(expected = "was filled while Chunk")]
    fn a_buffer_in_use_cannot_become_a_second_chunk() {
        let pool = Pool::new(1, 16).expect("a pool");
        let chunk = filled(&pool, b"x");
        let _ = pool.chunk(chunk.id, 1);
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (count, bytes) in [(0, 16), (16, 0), (u16::MAX, usize::MAX)] {
            let error = Pool::new(count, bytes).expect_err("refused");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn slots_stand_apart_and_begin_at_different_places_of_their_pages() {
        for bytes in [1, 64, 100, 4096, 16384] {
            let pool = Pool::new(3, bytes).expect("a pool");
            let starts = [0, 1, 2].map(|id| pool.slot_ptr(id).as_ptr().addr());
            for pair in starts.windows(2) {
                assert!(pair[1] - pair[0] >= bytes && pair[1].is_multiple_of(CACHE_LINE));
                assert_ne!(pair[0] % PAGE, pair[1] % PAGE);
            }
            assert_eq!(pool.slot_bytes(), bytes);
        }
    }
}
