//! Queues of ready tasks, linked through the tasks themselves.
//!
//! Owner: one shard's thread. A task is in one queue at most, and a task in a queue is not freed,
//! though it may have ended meanwhile. Neither end allocates (bench row `yield`).

use std::cell::Cell;

use super::raw::TaskRef;

/// Ready tasks, first in, first out.
#[derive(Debug, Default)]
pub(crate) struct TaskQueue {
    head: Cell<Option<TaskRef>>,
    tail: Cell<Option<TaskRef>>,
}

impl TaskQueue {
    /// Puts `task` at the end. It must not be in a queue. Tells whether it is the only one.
    #[inline]
    pub(crate) fn push(&self, task: TaskRef) -> bool {
        debug_assert!(!task.header().is_queued(), "a task is in one queue at most");
        task.header().set_queued();
        task.header().next.set(None);
        match self.tail.replace(Some(task)) {
            Some(last) => {
                last.header().next.set(Some(task));
                false
            }
            None => {
                self.head.set(Some(task));
                true
            }
        }
    }

    /// Takes the first task out. It still counts as queued: [`TaskRef::run`] or
    /// [`TaskRef::leave_queue`] ends that, with one write.
    #[inline]
    pub(crate) fn pop(&self) -> Option<TaskRef> {
        let task = self.head.get()?;
        let next = task.header().next.get();
        self.head.set(next);
        if next.is_none() {
            self.tail.set(None);
        }
        Some(task)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.get().is_none()
    }
}

impl Drop for TaskQueue {
    fn drop(&mut self) {
        while let Some(task) = self.pop() {
            task.leave_queue();
        }
    }
}
