//! Work items: what `submit` sends to another shard, and what comes back in the same block.
//!
//! An item is allocated by its sender and travels: in a lane to the target, back over the pair's
//! [`Returns`]. Whoever holds the [`Traveller`] owns the item's body; the sender's [`Sent`] handle
//! touches only the atomics until the item is back. Lanes and `Returns` hand the body over by
//! Release and Acquire. The item is its own place in `Returns`, so a reply never waits for room.
//! Cancel rule: the sender sets `cancelled`, fences and reads `worker`; the target stores `worker`,
//! fences and reads `cancelled`. One of the two sees the other.
//! End rule: the traveller's return and the end of `Sent` both swap `ends`; the second frees the
//! block, on the sender's shard unless that has stopped.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::task::{Context as TaskContext, Poll, Waker};

use super::blocks::{self, BlockClass};
use super::token::Token;
use crate::error::SubmitError;
use crate::shard::{Context, ShardIndex};
use crate::sync::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

/// No task works on the item yet.
const NO_WORKER: u64 = Token::NONE.bits();
/// Values of `ends`.
const TRAVELLING: u8 = 0;
const RETURNED: u8 = 1;
const SENDER_GONE: u8 = 2;

struct VTable {
    /// Starts the request as a task of the current shard.
    start: fn(Traveller),
    /// Drops the request, if it is still there, and stores the error as output.
    refuse: unsafe fn(NonNull<Header>, SubmitError),
    store_output: unsafe fn(NonNull<Header>, NonNull<()>),
    take_output: unsafe fn(NonNull<Header>, NonNull<()>),
    drop_body: unsafe fn(NonNull<Header>),
    class: BlockClass,
}

pub(super) struct Header {
    vtable: &'static VTable,
    /// The sender's place in the runtime.
    from: ShardIndex,
    /// The item behind this one in a chain of returns. Belongs to the traveller.
    next: Cell<*mut Header>,
    cancelled: AtomicBool,
    worker: AtomicU64,
    ends: AtomicU8,
    /// Who waits for the output. Belongs to the sender's shard.
    waiter: Cell<Option<Waker>>,
}

enum Body<F, T> {
    Request(F),
    Output(Result<T, SubmitError>),
    Gone,
}

#[repr(C)]
struct Block<F, T> {
    header: Header,
    body: UnsafeCell<Body<F, T>>,
}

/// What turns a request into a task of the target: implemented by the mesh for its closures.
pub(crate) trait Request: Send + 'static {
    /// What comes back.
    type Output: Send + 'static;

    /// Runs on the target: spawns the task that ends in `work`'s answer.
    fn start(self, work: Work<Self::Output>);
}

/// The sender's handle of an item under way.
pub(crate) struct Sent<T> {
    item: NonNull<Header>,
    output: PhantomData<T>,
}

/// An item under way: the owner of its body.
pub(crate) struct Traveller(NonNull<Header>);

// SAFETY: Valid: the body is a request or an output, both `Send` by `Request`'s bounds, and the
// block may be freed on any thread. Exclusive: a traveller is not cloned; `waiter` is not touched
// through it except in `arrive`, on the sender's shard.
unsafe impl Send for Traveller {}

/// Makes an item of `request`.
pub(crate) fn item<R: Request>(context: &Context, request: R) -> (Sent<R::Output>, Traveller) {
    let class = Block::<R, R::Output>::CLASS;
    let block = context.blocks().take(class).cast::<Block<R, R::Output>>();
    let content = Block {
        header: Header {
            vtable: &Block::<R, R::Output>::VTABLE,
            from: context.index(),
            next: Cell::new(ptr::null_mut()),
            cancelled: AtomicBool::new(false),
            worker: AtomicU64::new(NO_WORKER),
            ends: AtomicU8::new(TRAVELLING),
            waiter: Cell::new(None),
        },
        body: UnsafeCell::new(Body::Request(request)),
    };
    // SAFETY: Valid: the block was made for this layout. Exclusive: it is not in use.
    unsafe { block.write(content) };
    let header = block.cast();
    (
        Sent {
            item: header,
            output: PhantomData,
        },
        Traveller(header),
    )
}

impl<R: Request> Block<R, R::Output> {
    const CLASS: BlockClass = BlockClass::of(Layout::new::<Self>());
    const VTABLE: VTable = VTable {
        start: start::<R>,
        refuse: refuse::<R, R::Output>,
        store_output: store_output::<R, R::Output>,
        take_output: take_output::<R, R::Output>,
        drop_body: drop_body::<R, R::Output>,
        class: Self::CLASS,
    };
}

/// The body of the item behind `header`.
///
/// # Safety
///
/// The header belongs to a `Block<F, T>`, and the caller owns the body while the result is used.
unsafe fn body<'a, F, T>(header: NonNull<Header>) -> &'a mut Body<F, T> {
    // SAFETY: Valid: the header is the first field of a live `Block<F, T>` (`repr(C)`).
    let body = unsafe { &raw const (*header.cast::<Block<F, T>>().as_ptr()).body };
    // SAFETY: Valid: as above. Exclusive: the caller vouches for it.
    unsafe { &mut *UnsafeCell::raw_get(body) }
}

fn start<R: Request>(traveller: Traveller) {
    // SAFETY: The table names this function for `R` only, and the traveller owns the body.
    let body = unsafe { body::<R, R::Output>(traveller.0) };
    let Body::Request(request) = std::mem::replace(body, Body::Gone) else {
        unreachable!("an item arrives with its request");
    };
    request.start(Work {
        traveller: Some(traveller),
        output: PhantomData,
    });
}

unsafe fn refuse<F, T>(header: NonNull<Header>, error: SubmitError) {
    // SAFETY: The caller owns the body, and the table names this function for these types only.
    let body = unsafe { body::<F, T>(header) };
    if let Body::Output(_) = body {
        return;
    }
    drop(std::mem::replace(body, Body::Output(Err(error))));
}

unsafe fn store_output<F, T>(header: NonNull<Header>, place: NonNull<()>) {
    // SAFETY: The caller owns the body, and the table names this function for these types only.
    let body = unsafe { body::<F, T>(header) };
    // SAFETY: Valid: the caller's place holds a value of that type. Exclusive: it moves out, and
    // the caller does not drop it.
    let output = unsafe { place.cast::<Result<T, SubmitError>>().read() };
    *body = Body::Output(output);
}

unsafe fn take_output<F, T>(header: NonNull<Header>, place: NonNull<()>) {
    // SAFETY: The item is back, so the sender owns the body.
    let body = unsafe { body::<F, T>(header) };
    if let Body::Output(output) = std::mem::replace(body, Body::Gone) {
        let place = place.cast::<Option<Result<T, SubmitError>>>();
        // SAFETY: Valid: the caller's place is of that type. Exclusive: it is the caller's own.
        unsafe { *place.as_ptr() = Some(output) };
    }
}

unsafe fn drop_body<F, T>(header: NonNull<Header>) {
    // SAFETY: The caller is the last end.
    let body = unsafe { body::<F, T>(header) };
    drop(std::mem::replace(body, Body::Gone));
}

fn header<'a>(item: NonNull<Header>) -> &'a Header {
    // SAFETY: Valid: each caller is an end of the item, and only the second end to go frees it.
    // Exclusive: the header is only ever shared; its cells have one owner each (see the fields).
    unsafe { item.as_ref() }
}

/// One end goes. The second one frees the block.
fn end(item: NonNull<Header>, mine: u8) -> bool {
    // AcqRel: what the first end did to the item is done before the second frees it.
    let other = header(item).ends.swap(mine, Ordering::AcqRel);
    if other == TRAVELLING {
        return false;
    }
    let vtable = header(item).vtable;
    drop(header(item).waiter.take());
    // SAFETY: Valid: the block lives. Exclusive: both ends are gone.
    unsafe { (vtable.drop_body)(item) };
    let block = item.cast();
    if Context::try_with(|context| context.blocks().give(block, vtable.class)).is_none() {
        blocks::deallocate(block, vtable.class);
    }
    true
}

impl<T> Sent<T> {
    /// The output, once the item is back.
    pub(crate) fn poll(&mut self, context: &TaskContext<'_>) -> Poll<Result<T, SubmitError>> {
        let header = header(self.item);
        // Acquire: pairs with the swap in `end`, so that the output is seen.
        if header.ends.load(Ordering::Acquire) != RETURNED {
            let same = header
                .waiter
                .take()
                .filter(|old| old.will_wake(context.waker()));
            header
                .waiter
                .set(Some(same.unwrap_or_else(|| context.waker().clone())));
            return Poll::Pending;
        }
        let mut output: Option<Result<T, SubmitError>> = None;
        let place = NonNull::from(&mut output).cast::<()>();
        // SAFETY: Valid: `item` ties `T` to the block. Exclusive: the item is back.
        unsafe { (header.vtable.take_output)(self.item, place) };
        Poll::Ready(output.unwrap_or(Err(SubmitError::Cancelled)))
    }
}

impl<T> Drop for Sent<T> {
    /// Never waits: the target drops what it has of the item and sends it back.
    fn drop(&mut self) {
        let header = header(self.item);
        if header.ends.load(Ordering::Relaxed) == TRAVELLING {
            header.cancelled.store(true, Ordering::Relaxed);
            // Pairs with the fence in `Work::enter`.
            fence(Ordering::SeqCst);
            let worker = header.worker.load(Ordering::Relaxed);
            if worker != NO_WORKER {
                Context::wake(Token::from_bits(worker));
            }
        }
        end(self.item, SENDER_GONE);
    }
}

impl Traveller {
    /// The target takes the item: its request becomes a task of the current shard.
    pub(crate) fn start(self) {
        let vtable = header(self.0).vtable;
        (vtable.start)(self);
    }

    /// The item is back on its sender's shard: wakes who waits for it, or frees it.
    pub(crate) fn arrive(self) {
        let item = self.0;
        std::mem::forget(self);
        let waiter = header(item).waiter.take();
        if !end(item, RETURNED)
            && let Some(waiter) = waiter
        {
            waiter.wake();
        }
    }

    /// Where the item came from and goes back to.
    pub(crate) fn from(&self) -> ShardIndex {
        header(self.0).from
    }

    fn refuse(&self, error: SubmitError) {
        let vtable = header(self.0).vtable;
        // SAFETY: The traveller owns the body, and the table names the function for its types.
        unsafe { (vtable.refuse)(self.0, error) };
    }
}

impl Traveller {
    /// Gives the item away as a pointer, for [`super::returns`].
    pub(super) fn into_raw(self) -> NonNull<Header> {
        ManuallyDrop::new(self).0
    }

    /// Takes an item back from [`Traveller::into_raw`].
    ///
    /// # Safety
    ///
    /// `item` came from `into_raw` and is taken back once.
    pub(super) unsafe fn from_raw(item: NonNull<Header>) -> Self {
        Self(item)
    }
}

/// The link of an item that was given away as a pointer.
pub(super) fn link<'a>(item: NonNull<Header>) -> &'a Cell<*mut Header> {
    &header(item).next
}

impl Drop for Traveller {
    /// An item that is lost with its lane or with a stopped shard. On any thread, so nobody is
    /// woken: the sender's shard has stopped, or its handle finds the answer when it is polled.
    fn drop(&mut self) {
        self.refuse(SubmitError::ShardGone);
        end(self.0, RETURNED);
    }
}

/// The target's side of an item whose task runs: it ends in exactly one answer.
pub(crate) struct Work<T> {
    traveller: Option<Traveller>,
    output: PhantomData<fn(T)>,
}

impl<T> Work<T> {
    /// Leaves the current task's token in the item, and says whether the sender has given up.
    pub(crate) fn enter(&self, worker: Token) -> bool {
        let Some(traveller) = &self.traveller else {
            return true;
        };
        header(traveller.0)
            .worker
            .store(worker.bits(), Ordering::Relaxed);
        // Pairs with the fence in `Sent::drop`.
        fence(Ordering::SeqCst);
        self.is_cancelled()
    }

    /// Whether the sender has given up.
    pub(crate) fn is_cancelled(&self) -> bool {
        let Some(traveller) = &self.traveller else {
            return true;
        };
        header(traveller.0).cancelled.load(Ordering::Relaxed)
    }

    /// Stores the answer and sends the item back.
    pub(crate) fn answer(mut self, output: Result<T, SubmitError>) {
        let traveller = self.traveller.take().expect("an answer is given once");
        let vtable = header(traveller.0).vtable;
        let mut output = ManuallyDrop::new(output);
        let place = NonNull::from(&mut output).cast::<()>();
        // SAFETY: Valid: `start` ties `T` to the block, and `place` holds such an output, which
        // moves out. Exclusive: the traveller owns the body.
        unsafe { (vtable.store_output)(traveller.0, place) };
        Context::give_back(traveller);
    }
}

impl<T> Drop for Work<T> {
    /// The task was dropped before it had an answer: its shard stops.
    fn drop(&mut self) {
        if let Some(traveller) = self.traveller.take() {
            traveller.refuse(SubmitError::lost());
            Context::give_back(traveller);
        }
    }
}
