//! A task in memory: a header, and behind it the future or its output.
//!
//! Owner: one shard's thread; nothing here is shared. A task is named by [`TaskRef`]s, which are
//! plain pointers. Three things keep a task's block: its place in the task table (`in_table`), its
//! [`JoinHandle`](super::JoinHandle) (`has_handle`) and a run queue (`queued`). Whoever ends the
//! last of them calls [`TaskRef::release`], and a `TaskRef` is used only while one of them holds.
//! Rules: the future is polled and dropped only by the shard's loop, between or in polls, never
//! while it is being polled (`Running`). The output is written once, by the poll or the cancel that
//! ends the task, and taken by the handle or dropped with it.

use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::future::Future;
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};

use super::blocks::{BlockClass, Blocks};
use super::joiner::Joiner;
use super::token::Token;
use crate::error::JoinError;
use crate::sched::GroupId;
use crate::shard::Context;

/// What a task's state cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The future is there.
    Pending,
    /// The future is being polled or dropped.
    Running,
    /// The output is there.
    Done,
    /// The output was taken.
    Taken,
}

struct VTable {
    poll: unsafe fn(NonNull<Header>, &mut TaskContext<'_>) -> Poll<()>,
    cancel: unsafe fn(NonNull<Header>),
    take_output: unsafe fn(NonNull<Header>, NonNull<()>),
    drop_output: unsafe fn(NonNull<Header>),
    class: BlockClass,
}

pub(crate) struct Header {
    vtable: &'static VTable,
    pub(crate) token: Token,
    pub(super) next: Cell<Option<TaskRef>>,
    stage: Cell<Stage>,
    pub(crate) queued: Cell<bool>,
    pub(crate) aborted: Cell<bool>,
    panicked: Cell<bool>,
    in_table: Cell<bool>,
    has_handle: Cell<bool>,
    pub(crate) group: GroupId,
    joiner: Joiner,
    /// Where the block goes back to.
    blocks: Rc<Blocks>,
}

enum Body<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    Gone,
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
        take_output: take_output::<F>,
        drop_output: drop_output::<F>,
        class: Self::CLASS,
    };
}

/// A task of this shard. Copying it keeps nothing: see the module's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskRef(NonNull<Header>);

impl TaskRef {
    /// Makes a task that the table and a handle hold.
    #[inline]
    pub(crate) fn new<F: Future + 'static>(
        context: &Context,
        future: F,
        token: Token,
        group: GroupId,
    ) -> Self {
        let block = context.blocks().take(Task::<F>::CLASS).cast::<Task<F>>();
        let task = Task {
            header: Header {
                vtable: &Task::<F>::VTABLE,
                token,
                next: Cell::new(None),
                stage: Cell::new(Stage::Pending),
                queued: Cell::new(false),
                aborted: Cell::new(false),
                panicked: Cell::new(false),
                in_table: Cell::new(true),
                has_handle: Cell::new(true),
                group,
                joiner: Joiner::default(),
                blocks: Rc::clone(context.blocks()),
            },
            body: UnsafeCell::new(Body::Future(future)),
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

    /// The task has left the table.
    #[inline]
    pub(crate) fn leave_table(self) {
        self.header().in_table.set(false);
        self.release();
    }

    /// Frees the block if nothing holds it any more.
    #[inline]
    pub(crate) fn release(self) {
        let header = self.header();
        if header.in_table.get() || header.has_handle.get() || header.queued.get() {
            return;
        }
        let class = header.vtable.class;
        header.joiner.clear();
        // The body is empty: a task leaves the table when it is done, and the handle leaves it when
        // the output was taken or dropped.
        let place = (&raw const header.blocks).cast_mut();
        // SAFETY: Valid: the header lives, and nobody reads its `blocks` after this. Exclusive:
        // nothing holds the task any more.
        let blocks = unsafe { place.read() };
        blocks.give(self.0.cast(), class);
    }

    /// Polls the future. `Ready` says that the task is done and its output stored.
    #[inline]
    pub(crate) fn poll(&self, context: &mut TaskContext<'_>) -> Poll<()> {
        let header = self.header();
        assert!(
            header.stage.get() == Stage::Pending,
            "a task is polled by its loop alone"
        );
        header.stage.set(Stage::Running);
        // SAFETY: Valid: the table's function is the one for this task's type. Exclusive: the stage
        // was `Pending` and is now `Running`, so nobody else touches the body meanwhile.
        let poll = unsafe { (header.vtable.poll)(self.0, context) };
        self.leave(poll.is_ready());
        poll
    }

    /// Wakes who waits for the output of a task that is done, and drops an output that nobody wants.
    #[inline]
    pub(crate) fn settle(self, context: &Context) {
        let header = self.header();
        if header.has_handle.get() {
            header.joiner.wake(context);
        } else {
            self.drop_output();
        }
    }

    /// Drops the future; the output becomes [`JoinError::Cancelled`].
    pub(crate) fn cancel(&self) {
        let header = self.header();
        assert!(
            header.stage.get() == Stage::Pending,
            "a task is cancelled between its polls"
        );
        header.stage.set(Stage::Running);
        // SAFETY: As in `poll`.
        unsafe { (header.vtable.cancel)(self.0) };
        self.leave(true);
    }

    fn leave(&self, done: bool) {
        let header = self.header();
        if !done {
            header.stage.set(Stage::Pending);
            return;
        }
        header.stage.set(Stage::Done);
    }

    pub(crate) fn is_done(&self) -> bool {
        matches!(self.header().stage.get(), Stage::Done | Stage::Taken)
    }

    /// Whether the task ended by a panic.
    pub(crate) fn has_panicked(&self) -> bool {
        self.header().panicked.get()
    }

    /// Keeps the waker of whoever waits for the output.
    #[inline]
    pub(crate) fn join_with(&self, waker: &Waker) {
        self.header().joiner.set(waker);
    }

    /// Takes the output of a done task.
    ///
    /// # Safety
    ///
    /// The task was made with a future whose output is `T`, and only its one handle calls this.
    #[inline]
    pub(crate) unsafe fn take_output<T>(&self) -> Option<Result<T, JoinError>> {
        if self.header().stage.get() != Stage::Done {
            return None;
        }
        let mut output: Option<Result<T, JoinError>> = None;
        let place = NonNull::from(&mut output).cast::<()>();
        // SAFETY: Valid: the table's function writes an `Option<Result<T, JoinError>>`, as the
        // caller vouches, into a place of that type. Exclusive: the stage is `Done` and this is
        // the only handle.
        unsafe { (self.header().vtable.take_output)(self.0, place) };
        self.header().stage.set(Stage::Taken);
        output
    }

    /// The handle is gone: nobody will take the output.
    #[inline]
    pub(crate) fn leave_handle(self) {
        let header = self.header();
        if header.stage.get() == Stage::Done {
            self.drop_output();
        }
        header.has_handle.set(false);
        self.release();
    }

    fn drop_output(&self) {
        let header = self.header();
        // The drop is the user's code: while it runs, the stage keeps others out.
        header.stage.set(Stage::Running);
        // SAFETY: As in `poll`; the stage was `Done`, and nobody holds the output, since only the
        // one handle takes it and that is gone.
        unsafe { (header.vtable.drop_output)(self.0) };
        header.stage.set(Stage::Done);
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
    let Body::Future(future) = body else {
        return Poll::Ready(());
    };
    // SAFETY: Valid: a task's block never moves, and the future is dropped in place by `finish`.
    // Exclusive: as above.
    let future = unsafe { Pin::new_unchecked(future) };
    let output = match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
        Ok(Poll::Pending) => return Poll::Pending,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(panic) => Err(JoinError::Panicked(panic)),
    };
    finish::<F>(header, body, output);
    Poll::Ready(())
}

unsafe fn cancel<F: Future>(header: NonNull<Header>) {
    // SAFETY: The caller holds the stage `Running`, and the table names this function for `F` only.
    let body = unsafe { body::<F>(header) };
    finish::<F>(header, body, Err(JoinError::Cancelled));
}

/// Drops the future in place, then stores the output. A panic in the drop is the task's panic.
fn finish<F: Future>(
    header: NonNull<Header>,
    body: &mut Body<F>,
    output: Result<F::Output, JoinError>,
) {
    let mut output = output;
    if needs_drop::<F>() {
        // The assignment drops the future where it lies; should that panic, `Gone` is there all the
        // same, since the compiler writes the new value on the way out too.
        let dropped = catch_unwind(AssertUnwindSafe(|| *body = Body::Gone));
        if let Err(panic) = dropped {
            output = Err(JoinError::Panicked(panic));
        }
    }
    // SAFETY: Valid: the task lives. Exclusive: the header is only ever shared.
    let header = unsafe { header.as_ref() };
    header
        .panicked
        .set(matches!(output, Err(JoinError::Panicked(_))));
    *body = Body::Output(output);
}

unsafe fn take_output<F: Future>(header: NonNull<Header>, place: NonNull<()>) {
    // SAFETY: The stage is `Done` and the one handle calls, so nobody else touches the body.
    let body = unsafe { body::<F>(header) };
    if let Body::Output(output) = std::mem::replace(body, Body::Gone) {
        let place = place.cast::<Option<Result<F::Output, JoinError>>>();
        // SAFETY: Valid: the caller's place is of that type. Exclusive: it is the caller's own.
        unsafe { *place.as_ptr() = Some(output) };
    }
}

unsafe fn drop_output<F: Future>(header: NonNull<Header>) {
    // SAFETY: The caller holds the stage `Running`, and the table names this function for `F` only.
    let body = unsafe { body::<F>(header) };
    let output = std::mem::replace(body, Body::Gone);
    if let Err(panic) = catch_unwind(AssertUnwindSafe(move || drop(output))) {
        report_lost(&*panic);
    }
}

/// Nobody can be handed this panic: say so rather than swallow it.
fn report_lost(panic: &(dyn Any + Send)) {
    let message = crate::error::panic_message(panic);
    tracing::error!(message, "a task's output panicked when it was dropped");
}
