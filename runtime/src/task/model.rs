//! What the models ask of this module, in a model build alone.

use std::cell::Cell;
use std::fmt;
use std::ptr::{self, NonNull};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use super::item::{Request, Sent, Work, loose_item};
use super::returns::{Linked, Links, Stack};
use super::token::{Generation, Slot, Token};
use crate::shard::mailbox::MailboxId;

/// Something to link, with a value.
struct Parcel<T> {
    value: T,
    next: Cell<*mut Self>,
}

impl<T> Linked for Parcel<T> {
    fn link<'a>(item: NonNull<Self>) -> &'a Cell<*mut Self> {
        // SAFETY: Valid: parcels are made in `send` and freed in `take` and in the drop, when they
        // have left the list. Exclusive: the cell has one owner at a time.
        let parcel: &'a Self = unsafe { item.as_ref() };
        &parcel.next
    }
}

/// The returns of one pair, with any values.
pub struct Returns<T>(Stack<Parcel<T>>);

// SAFETY: Valid: parcels own their values, which go from one thread to another, hence `T: Send`.
// Exclusive: a parcel is in one hand at a time, which is what the models show.
unsafe impl<T: Send> Send for Returns<T> {}
// SAFETY: as for Send.
unsafe impl<T: Send> Sync for Returns<T> {}

impl<T> Returns<T> {
    /// Nothing is on its way back.
    #[allow(clippy::new_without_default, reason = "loom makes nothing by default")]
    pub fn new() -> Self {
        Self(Stack::new())
    }

    /// Makes `values` visible together, the first one as the oldest.
    pub fn publish(&self, values: impl IntoIterator<Item = T>) {
        let mut links = Links::default();
        for value in values {
            let next = Cell::new(ptr::null_mut());
            let parcel = Box::leak(Box::new(Parcel { value, next }));
            links.push(NonNull::from(parcel));
        }
        self.0.publish(&mut links);
    }

    /// Takes all, oldest first.
    pub fn take(&self) -> Vec<T> {
        let mut first = self.0.take();
        let parcels = std::iter::from_fn(|| {
            let parcel = Parcel::unlink(&mut first)?;
            // SAFETY: Valid: it came from a box in `publish`. Exclusive: it has just left the list.
            Some(unsafe { Box::from_raw(parcel.as_ptr()) }.value)
        });
        parcels.collect()
    }
}

impl<T> Drop for Returns<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T> fmt::Debug for Returns<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Returns").finish_non_exhaustive()
    }
}

/// The sender's end of a work item that has reached its target.
pub struct Sender<T>(Sent<T>);

/// The target's end.
pub struct Target<T>(Work<T>);

/// What makes the item's two ends known.
struct Hand<T>(mpsc::Sender<Work<T>>);

impl<T: Send + 'static> Request for Hand<T> {
    type Output = T;

    fn start(self, work: Work<T>) {
        self.0.send(work).expect("the other end is at hand");
    }
}

/// An item, and the target that has begun with it.
pub fn item<T: Send + 'static>() -> (Sender<T>, Target<T>) {
    let (hand, work) = mpsc::channel();
    let (sent, traveller) = loose_item(Hand(hand));
    traveller.start();
    let work = work.recv().expect("a start hands its work over");
    (Sender(sent), Target(work))
}

impl<T> Sender<T> {
    /// The answer, if it is there.
    pub fn take(&mut self) -> Option<T> {
        if !self.0.is_answered() {
            return None;
        }
        match self.0.poll(&Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(output)) => Some(output),
            Poll::Ready(Err(_)) | Poll::Pending => None,
        }
    }

    /// Gives the call up; tells whether somebody works on it who is to be woken.
    pub fn cancel(&self) -> bool {
        self.0.cancel().is_some()
    }
}

impl<T> Target<T> {
    /// Begins to work; tells whether the sender has given up.
    pub fn enter(&self) -> bool {
        let slot = Slot::new(0);
        self.0
            .enter(Token::new(MailboxId(0), slot, Generation::default()))
    }

    /// Gives the answer, and the item back.
    pub fn answer(self, output: T) {
        self.0.answer(Ok(output));
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Target<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").finish_non_exhaustive()
    }
}
