//! The two queues: submissions in, completions out, and the one system call between them.
//!
//! Owner: the shard's thread; the kernel enforces it (single issuer). Rule: a push never fails and
//! never blocks; what the queue cannot take waits in a backlog, in order, and every `enter` moves
//! on.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::squeue::Entry;
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring};
use rustix::io::Errno;

use crate::metrics::ShardCounters;

/// How long an `enter` that gathers waits for more than one completion.
pub(super) const GATHER_WINDOW: Duration = Duration::from_micros(20);

/// How long an `enter` may block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Block {
    /// Not at all.
    No,
    /// Until a completion.
    ForEver,
    /// Until a completion, at most so long.
    For(Duration),
    /// Until so many completions, or until the first one behind [`GATHER_WINDOW`], at most so long.
    Gather(usize, Duration),
}

/// A completion, copied out of the queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done {
    pub(super) user_data: u64,
    pub(super) result: i32,
    pub(super) flags: u32,
}

/// A ring and what waits to enter it.
pub(super) struct Ring {
    uring: IoUring,
    backlog: VecDeque<Entry>,
    wait_flags: EnterFlags,
    counters: Arc<ShardCounters>,
    /// Which of the next system calls the kernel refuses: tests of interruptions alone set it.
    #[cfg(test)]
    pub(super) trouble: Trouble,
}

/// Every `every`th `enter` is refused with the next of these, as if the call had not been made.
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct Trouble {
    pub(super) every: u64,
    pub(super) errors: Vec<Errno>,
}

#[cfg(test)]
impl Trouble {
    fn of(&self, enter: u64) -> Option<Errno> {
        let nth = enter.checked_div(self.every)?;
        let due = enter.is_multiple_of(self.every);
        let pick = usize::try_from(nth).ok()?.checked_rem(self.errors.len())?;
        if due {
            self.errors.get(pick).copied()
        } else {
            None
        }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fd = self.uring.as_raw_fd();
        f.debug_struct("Ring")
            .field("fd", &fd)
            .field("backlog", &self.backlog.len())
            .finish()
    }
}

impl Ring {
    pub(super) fn new(uring: IoUring, no_iowait: bool, counters: Arc<ShardCounters>) -> Self {
        let wait_flags = if no_iowait {
            EnterFlags::NO_IOWAIT
        } else {
            EnterFlags::empty()
        };
        Self {
            uring,
            backlog: VecDeque::new(),
            wait_flags,
            counters,
            #[cfg(test)]
            trouble: Trouble::default(),
        }
    }

    /// The ring's descriptor: the target of other rings' messages.
    pub(super) fn fd(&self) -> RawFd {
        self.uring.as_raw_fd()
    }

    /// The ring itself, to register buffers with it or to keep its descriptor open.
    pub(super) fn into_inner(self) -> IoUring {
        self.uring
    }

    /// The ring itself, to register buffers with it.
    pub(super) fn inner(&self) -> &IoUring {
        &self.uring
    }

    /// Queues `entry` for the next `enter`.
    ///
    /// What the entry points at must stay valid until its last completion: the callers keep it in
    /// the in-flight table.
    pub(super) fn push(&mut self, entry: Entry) {
        self.counters.operations.add(1);
        if self.backlog.is_empty() && self.offer(&entry) {
            return;
        }
        self.backlog.push_back(entry);
    }

    fn offer(&mut self, entry: &Entry) -> bool {
        // SAFETY: Valid: callers of `push` keep what the entry points at in the in-flight table
        // until its last completion. Exclusive: `&mut self` holds the only submission queue of this
        // ring.
        unsafe { self.uring.submission().push(entry) }.is_ok()
    }

    /// Moves what waits in the backlog into the queue, as far as it has room.
    fn fill(&mut self) {
        while let Some(entry) = self.backlog.pop_front() {
            if !self.offer(&entry) {
                self.backlog.push_front(entry);
                return;
            }
        }
    }

    /// Whether an `enter` or a reap would do something. Reads shared memory alone.
    pub(super) fn has_news(&mut self) -> bool {
        self.needs_enter() || !self.uring.completion().is_empty()
    }

    /// Whether something waits that only a system call moves on.
    pub(super) fn needs_enter(&mut self) -> bool {
        let backlog = self.has_backlog();
        let queue = self.uring.submission();
        backlog || !queue.is_empty() || queue.taskrun() || queue.cq_overflow()
    }

    /// Entries that wait in the queue.
    pub(super) fn queued(&mut self) -> usize {
        self.uring.submission().len()
    }

    /// Whether entries wait behind a full queue.
    pub(super) fn has_backlog(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Whether everything that was pushed has gone to the kernel.
    pub(super) fn all_submitted(&mut self) -> bool {
        self.backlog.is_empty() && self.uring.submission().is_empty()
    }

    /// Submits what is queued, lets the kernel make its completions, and blocks as told.
    ///
    /// An interruption, the end of the time and a full completion queue are no errors: the caller
    /// reaps and comes again.
    pub(super) fn enter(&mut self, block: Block) -> io::Result<()> {
        self.fill();
        self.counters.enters.add(1);
        let outcome = self.call(block);
        self.fill();
        match outcome {
            Ok(_) => Ok(()),
            Err(error) => match Errno::from_io_error(&error) {
                // TIME: the wait is over. INTR: a signal. BUSY, AGAIN: completions must be reaped,
                // or memory is short.
                Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN) => Ok(()),
                _ => Err(error),
            },
        }
    }

    fn call(&mut self, block: Block) -> io::Result<usize> {
        #[cfg(test)]
        if let Some(error) = self.trouble.of(self.counters.enters.value()) {
            return Err(error.into());
        }
        match block {
            Block::No => {
                let queued = u32::try_from(self.uring.submission().len());
                let queued = queued.expect("a ring holds at most 2^15 submissions");
                let flags = EnterFlags::GETEVENTS.bits();
                // SAFETY: Valid: no argument is passed, and the queued entries are covered by
                // `push`. Exclusive: this thread is the ring's only one, and `&mut self` is held.
                unsafe { self.uring.submitter().enter::<()>(queued, 0, flags, None) }
            }
            Block::ForEver => {
                let submitter = self.uring.submitter();
                submitter.submit_with_args_and_flags(1, &SubmitArgs::new(), self.wait_flags)
            }
            Block::Gather(completions, time) => {
                let time = Timespec::from(time);
                let window = GATHER_WINDOW.as_micros() as u32;
                let args = SubmitArgs::new().min_wait_usec(window).timespec(&time);
                let submitter = self.uring.submitter();
                submitter.submit_with_args_and_flags(completions, &args, self.wait_flags)
            }
            Block::For(time) => {
                let time = Timespec::from(time);
                let args = SubmitArgs::new().timespec(&time);
                let submitter = self.uring.submitter();
                submitter.submit_with_args_and_flags(1, &args, self.wait_flags)
            }
        }
    }

    /// Copies what is complete behind the entries of `done`.
    pub(super) fn reap(&mut self, done: &mut Vec<Done>) {
        done.extend(self.uring.completion().map(|entry| Done {
            user_data: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        }));
    }
}
