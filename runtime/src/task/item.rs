//! Work items: what `submit` sends to another shard, and what comes back in the same block.
//!
//! An item is allocated by its sender and travels: in a lane to the target, back over the pair's
//! [`Returns`]. Until it is answered, whoever holds the [`Traveller`] owns the item's body; lanes
//! hand it over by Release and Acquire. `answered` gives the body to the sender's [`Sent`] handle,
//! which may see it before the item is back: then it takes the output where it lies. The item is
//! its own place in `Returns`, so a reply never waits for room.
//! Cancel rule: the sender sets `cancelled`, fences and reads `worker`; the target stores `worker`,
//! fences and reads `cancelled`. One of the two sees the other.
//! End rule: the traveller's return and the end of `Sent` both swap `ends`; the second frees the
//! block, on the sender's shard unless that has stopped. Model: `tests/loom_item.rs`.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::{self, NonNull};
use std::task::{Context as TaskContext, Poll, Waker, ready};

use super::blocks::{self, BlockClass};
use super::token::Token;
use super::{wake, waker};
use crate::error::{SubmitError, contain};
use crate::shard::{Context, ShardIndex};
use crate::sync::modelled::{
    AtomicBool, AtomicU8, AtomicU64, Ordering, Site, acq_rel, acquire, fence, release,
};

/// No task works on the item yet.
const NO_WORKER: u64 = Token::NONE.bits();
/// Values of `ends`.
const TRAVELLING: u8 = 0;
const RETURNED: u8 = 1;
const SENDER_GONE: u8 = 2;
/// Looks of a sender at an answer before it gives way to the rest of its shard.
const SPIN_ROUNDS: u32 = 32;

/// What lies in an item's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Request,
    Output,
    Nothing,
}

struct VTable {
    /// Starts the request as a task of the current shard.
    start: fn(Traveller),
    drop_request: unsafe fn(NonNull<Header>),
    drop_output: unsafe fn(NonNull<Header>),
    /// Where the body begins, in bytes from the header.
    body: usize,
    class: BlockClass,
}

/// What the ends write while the item travels: a line of its own, so that a sender who looks at the
/// [`Face`] takes no line from the target at work (bench row `submit_spin`).
#[repr(C, align(64))]
pub(super) struct Header {
    vtable: &'static VTable,
    /// The item behind this one in a chain of returns. Belongs to the traveller.
    next: Cell<*mut Header>,
    /// The token of the task that works on the item.
    worker: AtomicU64,
    /// The token of the task that waits for the output. Belongs to the sender's shard.
    waiter: Cell<Token>,
    /// A waiter that is no task of this runtime. Belongs to the sender's shard.
    foreign: Cell<Option<Waker>>,
    /// The sender's place in the runtime.
    from: ShardIndex,
    cancelled: AtomicBool,
    ends: AtomicU8,
}

/// The beginning of the line that the body is in; with a body of up to 56 bytes one line crosses
/// for an answer.
struct Face {
    /// The body is the sender's: it holds the output.
    answered: AtomicBool,
    /// Belongs to the body's owner.
    content: Cell<Content>,
}

union Body<F, T> {
    request: ManuallyDrop<F>,
    /// Makes room for the output, which is reached as a place alone (see [`body`]).
    _output: ManuallyDrop<Result<T, SubmitError>>,
}

#[repr(C)]
struct Block<F, T> {
    header: Header,
    face: Face,
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
    let block = context.blocks().take(Block::<R, R::Output>::CLASS);
    lay_out(block, context.index(), request)
}

/// As [`item()`], outside of a shard.
#[cfg(corelane_loom)]
pub(super) fn loose_item<R: Request>(request: R) -> (Sent<R::Output>, Traveller) {
    let block = blocks::Blocks::new().take(Block::<R, R::Output>::CLASS);
    lay_out(block, ShardIndex::new(0), request)
}

/// Makes an item of `request` in a block of its class that is not in use.
fn lay_out<R: Request>(
    block: NonNull<u8>,
    from: ShardIndex,
    request: R,
) -> (Sent<R::Output>, Traveller) {
    let block = block.cast::<Block<R, R::Output>>();
    let whole = Block {
        header: Header {
            vtable: &Block::<R, R::Output>::VTABLE,
            next: Cell::new(ptr::null_mut()),
            worker: AtomicU64::new(NO_WORKER),
            waiter: Cell::new(Token::NONE),
            foreign: Cell::new(None),
            from,
            cancelled: AtomicBool::new(false),
            ends: AtomicU8::new(TRAVELLING),
        },
        face: Face {
            answered: AtomicBool::new(false),
            content: Cell::new(Content::Request),
        },
        body: UnsafeCell::new(Body {
            request: ManuallyDrop::new(request),
        }),
    };
    // SAFETY: Valid: the block was made for this layout. Exclusive: it is not in use.
    unsafe { block.write(whole) };
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
        drop_request: drop_as::<R>,
        drop_output: drop_as::<Result<R::Output, SubmitError>>,
        body: offset_of!(Self, body),
        class: Self::CLASS,
    };
}

fn header<'a>(item: NonNull<Header>) -> &'a Header {
    // SAFETY: Valid: each caller is an end of the item, and only the second end to go frees it.
    // Exclusive: the header is only ever shared; its cells have one owner each (see the fields).
    unsafe { item.as_ref() }
}

/// The body, as a place for a `V`. Whoever uses it owns the body and knows what lies there.
fn body<V>(item: NonNull<Header>) -> NonNull<V> {
    // SAFETY: Valid: the body lies there in the same block.
    unsafe { item.byte_add(header(item).vtable.body) }.cast()
}

/// What tells of the body.
fn face<'a>(item: NonNull<Header>) -> &'a Face {
    // SAFETY: Valid: it lies behind the header in the same block, whatever the body's type.
    let face = unsafe { item.add(1) }.cast::<Face>();
    // SAFETY: Valid: as above. Exclusive: it is only ever shared; `content` has one owner.
    unsafe { face.as_ref() }
}

fn start<R: Request>(traveller: Traveller) {
    let content = face(traveller.0).content.replace(Content::Nothing);
    assert!(
        content == Content::Request,
        "an item arrives with its request"
    );
    // SAFETY: Valid: the content was a request, of `R` since the table names this function for `R`
    // only. Exclusive: the traveller owns the body, and the content says `Nothing` now.
    let request = unsafe { body::<R>(traveller.0).read() };
    request.start(Work {
        traveller: Some(traveller),
        output: PhantomData,
    });
}

/// Drops the `V` in the body.
///
/// # Safety
///
/// The body holds a `V`, the caller owns it and never uses it again.
unsafe fn drop_as<V>(item: NonNull<Header>) {
    // SAFETY: The caller vouches for it.
    unsafe { body::<V>(item).drop_in_place() };
}

/// Drops what lies in the body.
///
/// # Safety
///
/// The caller owns the body.
unsafe fn empty(item: NonNull<Header>) {
    let vtable = header(item).vtable;
    let drop_content = match face(item).content.replace(Content::Nothing) {
        Content::Request => vtable.drop_request,
        Content::Output => vtable.drop_output,
        Content::Nothing => return,
    };
    // SAFETY: Valid: the content named the type in the body. Exclusive: the caller owns the body,
    // and the content says `Nothing` now.
    unsafe { drop_content(item) };
}

/// Puts the output into an empty body, which is the sender's from then on.
///
/// # Safety
///
/// The caller owns the body, and the item's output is `T`.
unsafe fn store<T>(item: NonNull<Header>, output: Result<T, SubmitError>) {
    // SAFETY: Valid: the body has room for its output. Exclusive: the caller owns it.
    unsafe { body::<Result<T, SubmitError>>(item).write(output) };
    face(item).content.set(Content::Output);
    // Release: pairs with the Acquire in `Sent::poll`.
    face(item).answered.store(true, release(Site::ITEM_ANSWER));
}

/// One end goes, and says so in `ends`. The second one frees the block: then this is true.
fn end(item: NonNull<Header>, mine: u8) -> bool {
    // AcqRel: what the first end did to the item is done before the second frees it.
    if header(item).ends.swap(mine, acq_rel(Site::ITEM_END)) == TRAVELLING {
        return false;
    }
    if let Some(waker) = header(item).foreign.take() {
        wake::forget(waker);
    }
    if face(item).content.get() != Content::Nothing {
        contain("the drop of a call or of its answer", || {
            // SAFETY: Both ends are gone, so this one owns the body.
            unsafe { empty(item) };
        });
    }
    let class = header(item).vtable.class;
    let block = item.cast();
    if Context::try_with(|context| context.blocks().give(block, class)).is_none() {
        blocks::deallocate(block, class);
    }
    true
}

impl<T> Sent<T> {
    /// The output, once the item is answered.
    pub(crate) fn poll(&mut self, context: &TaskContext<'_>) -> Poll<Result<T, SubmitError>> {
        // A task whose answers are there when it looks would never give way otherwise.
        ready!(Context::poll_budget(context));
        if !self.is_answered() && !self.is_lost() {
            match Context::try_with(|shard| shard.may_spin() && self.spin(shard)) {
                Some(true) => {}
                Some(false) => {
                    self.wait(context.waker());
                    return Poll::Pending;
                }
                // A handle that outlives its shard: nobody brings the item back any more.
                None => return Poll::Ready(Err(SubmitError::ShardGone)),
            }
        }
        Poll::Ready(match face(self.item).content.replace(Content::Nothing) {
            // SAFETY: Valid: the content was an output, and `item` ties `T` to the block.
            // Exclusive: the item is answered, and the content says `Nothing` now.
            Content::Output => unsafe { body::<Result<T, SubmitError>>(self.item).read() },
            // The item was lost with its lane or its shard.
            Content::Request | Content::Nothing => Err(SubmitError::ShardGone),
        })
    }

    /// Looks for the answer itself for a moment, where no other task is ready and the shard would
    /// spin: it comes sooner than over the returns (bench row `submit_spin`). Tells whether it is
    /// there.
    #[cold]
    fn spin(&self, shard: &Context) -> bool {
        // What this task has sent is told first, or nobody works on the answer.
        shard.mesh().flush(shard);
        (0..SPIN_ROUNDS).any(|_| {
            std::hint::spin_loop();
            self.is_answered()
        })
    }

    #[inline]
    pub(super) fn is_answered(&self) -> bool {
        // Acquire: pairs with the Release in `store`, so that the output is seen.
        face(self.item)
            .answered
            .load(acquire(Site::ITEM_READ_ANSWER))
    }

    /// Whether the item is back without an answer, or with one.
    fn is_lost(&self) -> bool {
        // Acquire: pairs with the swap in `end`.
        header(self.item).ends.load(Ordering::Acquire) == RETURNED
    }

    /// Says that nobody wants the answer, and who is to be told of it, if somebody works on it.
    pub(super) fn cancel(&self) -> Option<Token> {
        let header = header(self.item);
        header.cancelled.store(true, Ordering::Relaxed);
        // Pairs with the fence in `Work::enter`.
        fence(Site::ITEM_CANCEL_FENCE);
        let worker = header.worker.load(Ordering::Relaxed);
        (worker != NO_WORKER).then(|| Token::from_bits(worker))
    }

    /// Asks for the call's end, unless the item is answered or back. Never waits: the target drops
    /// what it has of the item and sends it back, answered.
    pub(crate) fn give_up(&self) {
        let is_under_way = header(self.item).ends.load(Ordering::Relaxed) == TRAVELLING;
        if is_under_way
            && !self.is_answered()
            && let Some(worker) = self.cancel()
        {
            Context::wake(worker);
        }
    }

    fn wait(&self, waker: &Waker) {
        let token = waker::token(waker);
        header(self.item).waiter.set(token.unwrap_or(Token::NONE));
        if token.is_none() {
            let waiter = &header(self.item).foreign;
            let same = waiter.take().filter(|old| old.will_wake(waker));
            waiter.set(Some(same.unwrap_or_else(|| waker.clone())));
        }
    }
}

impl<T> Drop for Sent<T> {
    /// Never waits: the target drops what it has of the item and sends it back.
    fn drop(&mut self) {
        if self.is_answered() {
            contain("the drop of a call's answer", || {
                // SAFETY: An answered item's body is the sender's.
                unsafe { empty(self.item) };
            });
        } else {
            self.give_up();
        }
        end(self.item, SENDER_GONE);
    }
}

impl Traveller {
    /// Takes the item's line for writing before anything reads it, so that it crosses once and the
    /// lines of a batch cross together (bench row `submit_spin`).
    pub(crate) fn fetch(&self) {
        header(self.0).next.set(ptr::null_mut());
    }

    /// The target takes the item: its request becomes a task of the current shard.
    pub(crate) fn start(self) {
        let vtable = header(self.0).vtable;
        (vtable.start)(self);
    }

    /// The item is back on its sender's shard: wakes who waits for it, or frees it.
    pub(crate) fn arrive(self, context: &Context) {
        let item = ManuallyDrop::new(self).0;
        let token = header(item).waiter.replace(Token::NONE);
        let foreign = if token == Token::NONE {
            header(item).foreign.take()
        } else {
            None
        };
        if end(item, RETURNED) {
            return;
        }
        if token != Token::NONE {
            context.wake_from(token);
        } else if let Some(waiter) = foreign {
            wake::wake(waiter);
        }
    }

    /// Where the item came from and goes back to.
    pub(crate) fn from(&self) -> ShardIndex {
        header(self.0).from
    }

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
        // Relaxed: it was set by a holder of this traveller.
        if !face(self.0).answered.load(Ordering::Relaxed) {
            contain("the drop of a call or of its answer", || {
                // SAFETY: The traveller owns the body of an item without an answer.
                unsafe { empty(self.0) };
            });
        }
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
        // Pairs with the fence in `Sent::cancel`.
        fence(Site::ITEM_ENTER_FENCE);
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
        // SAFETY: The traveller owns the body, which `start` emptied and whose output it tied to
        // `T`.
        unsafe { store(traveller.0, output) };
        Context::give_back(traveller);
    }
}

impl<T> Drop for Work<T> {
    /// The task was dropped before it had an answer: its shard stops.
    fn drop(&mut self) {
        if let Some(traveller) = self.traveller.take() {
            // SAFETY: As in `answer`.
            unsafe { store::<T>(traveller.0, Err(SubmitError::lost())) };
            Context::give_back(traveller);
        }
    }
}
