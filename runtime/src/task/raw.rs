//! A task in memory: a header, and behind it the future or its output.
//!
//! Owner: one shard's thread; nothing here is shared. A task is named by [`TaskRef`]s, which are
//! plain pointers. Three things hold a task's block: its place in the task table, its
//! [`JoinHandle`](super::JoinHandle) and a run queue, each with a flag. Whoever lets go of the last
//! one frees the block, and a `TaskRef` is used only while one of them holds.
//! Rules: the future is polled and dropped only by the shard's loop, between or in polls, never
//! while it is being polled (`Running`). The output is written once, by the poll or the cancel that
//! ends the task, and taken by the handle or dropped with it. What lies in the body follows from
//! the stage alone.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::future::Future;
use std::mem::{ManuallyDrop, needs_drop, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};

use super::blocks::{BlockClass, Blocks};
use super::joiner::Joiner;
use super::token::Token;
use crate::error::{JoinError, Panic, contain};
use crate::sched::GroupId;
use crate::shard::Context;

/// What lies in a task's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Stage {
    /// The future.
    Pending = 0,
    /// The future, which is being polled or dropped, or the output, which is being dropped.
    Running = 1,
    /// The output.
    Done = 2,
    /// Nothing: the output was taken or dropped.
    Taken = 3,
}

/// Where a task's [`Stage`] stands among its flags. One byte holds them all: a byte read out of a
/// wider write made a moment ago waits for that write (bench row `spawn_join`).
const STAGE: u8 = 3;
/// The task table holds the task.
const IN_TABLE: u8 = 4;
/// The task's handle holds it.
const HAS_HANDLE: u8 = 8;
/// A run queue holds it.
const QUEUED: u8 = 16;
/// Its end was asked for.
const ABORTED: u8 = 32;
/// It ended by a panic.
const PANICKED: u8 = 64;

/// What came of running a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// It was polled and goes on later.
    Pending,
    /// It is done and its output stored.
    Done,
    /// It is not done, and its end was asked for.
    Aborted,
    /// It had ended before, and its queue has let go of it.
    Ended,
}

struct VTable {
    poll: unsafe fn(NonNull<Header>, &mut TaskContext<'_>) -> Poll<()>,
    cancel: unsafe fn(NonNull<Header>),
    drop_output: unsafe fn(NonNull<Header>),
    /// Where the body begins, in bytes from the header.
    body: usize,
    class: BlockClass,
}

pub(crate) struct Header {
    vtable: &'static VTable,
    pub(super) next: Cell<Option<TaskRef>>,
    pub(crate) token: Token,
    /// The flags above, and the stage.
    state: Cell<u8>,
    pub(crate) group: GroupId,
    joiner: Joiner,
    /// Where the block goes back to.
    blocks: Rc<Blocks>,
}

type Output<F> = Result<<F as Future>::Output, JoinError>;

union Body<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<Output<F>>,
}

#[repr(C)]
struct Task<F: Future> {
    header: Header,
    body: UnsafeCell<Body<F>>,
}

impl<F: Future> Task<F> {
    const CLASS: BlockClass = BlockClass::of(Layout::new::<Self>());
    const VTABLE: VTable = VTable {
        poll: poll::<F>,
        cancel: cancel::<F>,
        drop_output: drop_output::<F>,
        body: offset_of!(Self, body),
        class: Self::CLASS,
    };
}

impl Header {
    #[inline]
    fn stage(&self) -> Stage {
        match self.state.get() & STAGE {
            0 => Stage::Pending,
            1 => Stage::Running,
            2 => Stage::Done,
            _ => Stage::Taken,
        }
    }

    #[inline]
    fn set_stage(&self, stage: Stage) {
        self.state.set(self.state.get() & !STAGE | stage as u8);
    }

    #[inline]
    fn has(&self, flags: u8) -> bool {
        self.state.get() & flags != 0
    }

    #[inline]
    fn set(&self, flag: u8) {
        self.state.set(self.state.get() | flag);
    }

    #[inline]
    pub(crate) fn is_queued(&self) -> bool {
        self.has(QUEUED)
    }

    #[inline]
    pub(super) fn set_queued(&self) {
        self.set(QUEUED);
    }

    pub(crate) fn abort(&self) {
        self.set(ABORTED);
    }

    /// Whether the task ended by a panic.
    #[inline]
    pub(crate) fn has_panicked(&self) -> bool {
        self.has(PANICKED)
    }

    /// Whether the task has ended.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.stage(), Stage::Done | Stage::Taken)
    }
}

/// A task of this shard. Copying it holds nothing: see the module's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskRef(NonNull<Header>);

impl TaskRef {
    /// Makes a task that the table and a handle hold.
    #[inline]
    pub(crate) fn new<F: Future + 'static>(
        blocks: &Rc<Blocks>,
        future: F,
        token: Token,
        group: GroupId,
    ) -> Self {
        let block = blocks.take(Task::<F>::CLASS).cast::<Task<F>>();
        let task = Task {
            header: Header {
                vtable: &Task::<F>::VTABLE,
                next: Cell::new(None),
                token,
                state: Cell::new(Stage::Pending as u8 | IN_TABLE | HAS_HANDLE),
                group,
                joiner: Joiner::new(),
                blocks: Rc::clone(blocks),
            },
            body: UnsafeCell::new(Body {
                future: ManuallyDrop::new(future),
            }),
        };
        // SAFETY: Valid: the block was made for this layout. Exclusive: it is not in use.
        unsafe { block.write(task) };
        Self(block.cast::<Header>())
    }

    #[inline]
    pub(crate) fn header(&self) -> &Header {
        // SAFETY: Valid: a reference is used only while the block is held. Exclusive: the header is
        // only ever shared (it has cells), on one thread.
        unsafe { self.0.as_ref() }
    }

    /// Takes the task over from its queue and polls its future, unless there is none any more or
    /// its end was asked for.
    ///
    /// The state is read and written once on each side of the poll: it was written a moment ago, so
    /// each look at it waits for the last write (bench row `spawn_join`).
    #[inline]
    pub(crate) fn run(self, context: &mut TaskContext<'_>) -> Ran {
        let header = self.header();
        let state = header.state.get() & !QUEUED;
        if state & (STAGE | ABORTED) != Stage::Pending as u8 {
            header.state.set(state);
            return self.run_ended();
        }
        header.state.set(state | Stage::Running as u8);
        // SAFETY: Valid: the table's function is the one for this task's type. Exclusive: the stage
        // was `Pending` and is now `Running`, so nobody else touches the body meanwhile.
        let poll = unsafe { (header.vtable.poll)(self.0, context) };
        let state = header.state.get() & !STAGE;
        if poll.is_ready() {
            header.state.set(state | Stage::Done as u8);
            Ran::Done
        } else {
            header.state.set(state | Stage::Pending as u8);
            if state & ABORTED == 0 {
                Ran::Pending
            } else {
                Ran::Aborted
            }
        }
    }

    #[cold]
    fn run_ended(self) -> Ran {
        match self.header().stage() {
            Stage::Pending => Ran::Aborted,
            Stage::Running => panic!("a task is polled by its loop alone"),
            Stage::Done | Stage::Taken => {
                self.let_go(QUEUED);
                Ran::Ended
            }
        }
    }

    /// The queue lets go of a task that is not run any more.
    pub(super) fn leave_queue(self) {
        self.let_go(QUEUED);
    }

    /// Drops the future; the output becomes [`JoinError::Cancelled`].
    #[cold]
    pub(crate) fn cancel(self) {
        let header = self.header();
        assert!(
            header.stage() == Stage::Pending,
            "a task is cancelled between its polls"
        );
        header.set_stage(Stage::Running);
        // SAFETY: As in `poll`.
        unsafe { (header.vtable.cancel)(self.0) };
        header.set_stage(Stage::Done);
    }

    /// Wakes who waits for the output of a task that is done, drops an output that nobody wants,
    /// and lets go of the table's hold.
    #[inline]
    pub(crate) fn leave_table(self, context: &Context) {
        let header = self.header();
        if header.has(HAS_HANDLE) {
            header.joiner.wake(context);
        } else {
            self.drop_output();
        }
        self.let_go(IN_TABLE);
    }

    /// The handle is gone: nobody will take the output.
    #[inline]
    pub(crate) fn leave_handle(self) {
        let header = self.header();
        if header.stage() == Stage::Done {
            self.drop_output();
        }
        self.let_go(HAS_HANDLE);
    }

    /// Ends one hold, and frees the block if nothing holds it any more.
    #[inline]
    fn let_go(self, hold: u8) {
        let header = self.header();
        let state = header.state.get() & !hold;
        header.state.set(state);
        if state & (IN_TABLE | HAS_HANDLE | QUEUED) == 0 {
            self.free();
        }
    }

    #[inline]
    fn free(self) {
        let class = self.header().vtable.class;
        let blocks = &raw const self.header().blocks;
        // SAFETY: Valid: the header lives. Exclusive: nothing holds the task any more, and its body
        // is empty: the table lets go of a task that is done, and the handle once the output was
        // taken or dropped.
        let blocks = unsafe { blocks.read() };
        self.header().joiner.clear();
        blocks.give(self.0.cast(), class);
    }

    /// Keeps the waker of whoever waits for the output.
    #[inline]
    pub(crate) fn join_with(self, waker: &Waker) {
        self.header().joiner.set(waker);
    }

    /// Takes the output of a done task.
    ///
    /// # Safety
    ///
    /// The task was made with a future whose output is `T`, and only its one handle calls this.
    #[inline]
    pub(crate) unsafe fn take_output<T>(self) -> Option<Result<T, JoinError>> {
        let header = self.header();
        if header.stage() != Stage::Done {
            return None;
        }
        header.set_stage(Stage::Taken);
        // SAFETY: Valid: the body begins there in the same block.
        let output = unsafe { self.0.byte_add(header.vtable.body) }.cast::<Result<T, JoinError>>();
        // SAFETY: Valid: the stage was `Done`, so the body holds an output, of `T` as the caller
        // vouches, at its beginning. Exclusive: the stage is `Taken` now, so it is read once.
        Some(unsafe { output.read() })
    }

    #[cold]
    fn drop_output(self) {
        let header = self.header();
        // The drop is the user's code: while it runs, the stage keeps others out.
        header.set_stage(Stage::Running);
        // SAFETY: Valid: the stage was `Done`, so the body holds an output; the table's function is
        // the one for its type. Exclusive: the stage is `Running` now.
        unsafe { (header.vtable.drop_output)(self.0) };
        header.set_stage(Stage::Taken);
    }
}

/// The body of the task behind `header`.
///
/// # Safety
///
/// The header belongs to a `Task<F>`, and nobody else touches the body while the result is used.
#[inline]
unsafe fn body<'a, F: Future>(header: NonNull<Header>) -> &'a mut Body<F> {
    // SAFETY: Valid: the header is the first field of a live `Task<F>` (`repr(C)`).
    let body = unsafe { &raw const (*header.cast::<Task<F>>().as_ptr()).body };
    // SAFETY: Valid: as above. Exclusive: the caller vouches for it.
    unsafe { &mut *UnsafeCell::raw_get(body) }
}

unsafe fn poll<F: Future>(header: NonNull<Header>, context: &mut TaskContext<'_>) -> Poll<()> {
    // SAFETY: The caller holds the stage `Running`, and the table names this function for `F` only.
    let body = unsafe { body::<F>(header) };
    // SAFETY: Valid: the stage was `Pending`, so the body holds the future. Exclusive: as above.
    let future: &mut F = unsafe { &mut body.future };
    // SAFETY: Valid: a task's block never moves, and the future is dropped in place by `finish`.
    // Exclusive: as above.
    let future = unsafe { Pin::new_unchecked(future) };
    let output = match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
        Ok(Poll::Pending) => return Poll::Pending,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(panic) => Err(JoinError::Panicked(Panic::new(panic))),
    };
    // SAFETY: As above; the future is not used any more.
    unsafe { finish::<F>(header, body, output) };
    Poll::Ready(())
}

unsafe fn cancel<F: Future>(header: NonNull<Header>) {
    // SAFETY: The caller holds the stage `Running`, and the table names this function for `F` only.
    let body = unsafe { body::<F>(header) };
    // SAFETY: The stage was `Pending`, so the body holds the future.
    unsafe { finish::<F>(header, body, Err(JoinError::Cancelled)) };
}

/// Drops the future in place, then stores the output. A panic in the drop is the task's panic.
///
/// # Safety
///
/// The body holds the future of the task behind `header`, and nobody else touches it.
#[inline]
unsafe fn finish<F: Future>(
    header: NonNull<Header>,
    body: &mut Body<F>,
    mut output: Result<F::Output, JoinError>,
) {
    if needs_drop::<F>() {
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: Valid: the body holds the future, as the caller vouches.
            let future = unsafe { &mut body.future };
            // SAFETY: Valid and exclusive: as above; it is dropped once, for the body is
            // overwritten below without a look at it, whether this panics or not.
            unsafe { ManuallyDrop::drop(future) };
        }));
        if let Err(panic) = dropped {
            let lost = std::mem::replace(&mut output, Err(JoinError::Panicked(Panic::new(panic))));
            contain("the drop of a task's output", || drop(lost));
        }
    }
    if let Err(JoinError::Panicked(_)) = &output {
        // SAFETY: Valid: the task lives. Exclusive: the header is only ever shared.
        unsafe { header.as_ref() }.set(PANICKED);
    }
    body.output = ManuallyDrop::new(output);
}

unsafe fn drop_output<F: Future>(header: NonNull<Header>) {
    // SAFETY: The caller holds the stage `Running`, and the table names this function for `F` only.
    let body = unsafe { body::<F>(header) };
    // SAFETY: Valid: the stage was `Done`, so the body holds an output.
    let output = unsafe { &mut body.output };
    contain("the drop of a task's output", || {
        // SAFETY: Valid and exclusive: as above; the caller's stage is `Taken` after this.
        unsafe { ManuallyDrop::drop(output) };
    });
}
