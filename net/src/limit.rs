//! Permits of one shard.
//!
//! Owner: one shard; nothing here is shared or atomic. A permit that comes back goes to whoever has
//! waited longest, so nobody is overtaken.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corelane::task::wake;

/// A number of permits, shared by the tasks of one shard.
///
/// Clones share the permits. Taking and giving back one costs no atomic operation.
///
/// ```
/// use corelane_net::Limit;
/// let limit = Limit::new(1);
/// let permit = limit.try_acquire().expect("there is one");
/// assert!(limit.try_acquire().is_none());
/// drop(permit);
/// assert_eq!(limit.available(), 1);
/// ```
#[derive(Clone)]
pub struct Limit(Rc<Shared>);

struct Shared {
    max: usize,
    available: Cell<usize>,
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
}

#[derive(Default)]
struct Waiter {
    granted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// One permit of a [`Limit`]; dropping it gives it back.
#[must_use = "a permit that is dropped is given back"]
pub struct Permit(Rc<Shared>);

impl Limit {
    /// A limit of `max` permits, all of them available.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self(Rc::new(Shared {
            max,
            available: Cell::new(max),
            waiting: RefCell::default(),
        }))
    }

    /// Takes a permit, if one is available.
    #[must_use]
    pub fn try_acquire(&self) -> Option<Permit> {
        let left = self.0.available.get().checked_sub(1)?;
        self.0.available.set(left);
        Some(Permit(Rc::clone(&self.0)))
    }

    /// Takes a permit as soon as one is available, in the order of the first polls.
    ///
    /// # Cancel safety
    ///
    /// A dropped future leaves the queue and takes no permit.
    pub fn acquire(&self) -> impl Future<Output = Permit> + use<> {
        Acquire {
            shared: Rc::clone(&self.0),
            waiter: None,
        }
    }

    /// How many permits are available now.
    #[must_use]
    pub fn available(&self) -> usize {
        self.0.available.get()
    }

    /// How many permits there are.
    #[must_use]
    pub fn max(&self) -> usize {
        self.0.max
    }
}

impl Shared {
    /// Gives one permit to whoever has waited longest, or back.
    fn give(&self) {
        let next = self.waiting.borrow_mut().pop_front();
        match next {
            None => self.available.set(self.available.get() + 1),
            Some(waiter) => {
                waiter.granted.set(true);
                let waker = waiter.waker.take();
                // A broken waker must not break whoever gives the permit back.
                waker.into_iter().for_each(wake);
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.give();
    }
}

struct Acquire {
    shared: Rc<Shared>,
    /// This future's place in the queue, from its first poll that found no permit.
    waiter: Option<Rc<Waiter>>,
}

impl Future for Acquire {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        let Some(waiter) = &self.waiter else {
            let limit = Limit(Rc::clone(&self.shared));
            if let Some(permit) = limit.try_acquire() {
                return Poll::Ready(permit);
            }
            let waiter = Rc::new(Waiter::default());
            waiter.waker.replace(Some(cx.waker().clone()));
            self.shared
                .waiting
                .borrow_mut()
                .push_back(Rc::clone(&waiter));
            self.waiter = Some(waiter);
            return Poll::Pending;
        };
        if waiter.granted.get() {
            self.waiter = None;
            return Poll::Ready(Permit(Rc::clone(&self.shared)));
        }
        waiter.waker.replace(Some(cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else {
            return;
        };
        if waiter.granted.get() {
            self.shared.give();
        } else {
            let mut waiting = self.shared.waiting.borrow_mut();
            waiting.retain(|other| !Rc::ptr_eq(other, &waiter));
        }
    }
}

impl fmt::Debug for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limit")
            .field("max", &self.max())
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}
