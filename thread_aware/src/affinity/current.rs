//! Where the current thread is, and whose turn it is.
//!
//! Owner: each thread has its own cells, which nobody else sees.
//! Rule: no cell stays taken while foreign code runs (the closure of [`with_context`], the drop of
//! a context), so that such code may enter, leave and ask as it likes.
//! The cells need no destructor: a thread-local without one is a plain address, while one with a
//! destructor checks its state at every access and is gone while a thread ends. Hence the
//! [`ManuallyDrop`]s; the [`Entered`] guard is what drops their contents.

use alloc::{rc::Rc, vec::Vec};
use core::{
    any::Any,
    cell::{Cell, RefCell},
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
};
use std::thread_local;

use super::value::Affinity;
use crate::sync::Numbers;

type Context = ManuallyDrop<Rc<dyn Any>>;

/// What one [`enter`] put in place, while another one covers it.
struct Covered {
    affinity: Affinity,
    context: Context,
    key: u64,
}

struct Place {
    context: Cell<Option<Context>>,
    /// `Some` exactly while `context` is.
    affinity: Cell<Option<Affinity>>,
    /// Ties what is in place to its guard.
    key: Cell<u64>,
    keys_used: Cell<u64>,
    /// What is covered, oldest first; without an allocation unless affinities are nested.
    covered: RefCell<ManuallyDrop<Vec<Covered>>>,
    /// This thread's number as one that entered nothing; 0 until asked for.
    anonymous: Cell<u64>,
    /// What a registry pinned this thread to. It concerns the thread, whatever it has entered.
    #[cfg(feature = "threads")]
    pinned: Cell<Option<Affinity>>,
}

thread_local! {
    static PLACE: Place = const {
        Place {
            context: Cell::new(None),
            affinity: Cell::new(None),
            key: Cell::new(0),
            keys_used: Cell::new(0),
            covered: RefCell::new(ManuallyDrop::new(Vec::new())),
            anonymous: Cell::new(0),
            #[cfg(feature = "threads")]
            pinned: Cell::new(None),
        }
    };
}

static ANONYMOUS: Numbers = Numbers::new();

/// The affinity that this thread has entered, or else its own anonymous one.
///
/// An anonymous affinity stays the same for the life of its thread, differs from every other
/// thread's, and is never handed out again after the thread has ended. The cost is one read of a
/// thread-local, and an atomic addition at a thread's first anonymous answer.
///
/// ```
/// use thread_aware::affinity::current;
///
/// let here = current();
/// assert!(here.is_anonymous());
/// assert_eq!(current(), here);
/// let there = std::thread::spawn(current).join().expect("the thread does not panic");
/// assert_ne!(there, here);
/// ```
#[inline]
#[must_use]
pub fn current() -> Affinity {
    PLACE.with(|place| match place.affinity.get() {
        Some(affinity) => affinity,
        None => place.anonymous(),
    })
}

/// Enters `affinity` on this thread until the returned guard is dropped.
///
/// `context` is whatever the host wants to find again from inside, with [`with_context`]; a
/// runtime puts its shard there. Entering may be nested: the affinity entered last, of those whose
/// guard still lives, is the current one. The guard drops its `context` handle when it is dropped.
/// The first level costs a few stores; a nested one allocates.
///
/// A guard that is leaked stays in place to the end of its thread, and its context is leaked.
///
/// ```
/// use std::rc::Rc;
/// use thread_aware::affinity::{current, enter, pinned_affinities, with_context};
///
/// let cores = pinned_affinities(&[2]);
/// let entered = enter(cores[1], Rc::new("shard 1"));
/// assert_eq!(current(), cores[1]);
/// with_context(|name: Option<&&str>| assert_eq!(name, Some(&"shard 1")));
/// drop(entered);
/// assert!(current().is_anonymous());
/// ```
#[must_use = "dropping the guard leaves the affinity at once"]
pub fn enter(affinity: Affinity, context: Rc<dyn Any>) -> Entered {
    PLACE.with(|place| place.enter(affinity, ManuallyDrop::new(context)))
}

/// Calls `f` with the context that was entered last, if it is a `T`, and returns what `f` returns.
///
/// This is the way from anywhere to the shard at hand, so it is made to be cheap: one read of a
/// thread-local, one count up and down that no other thread sees, one comparison of types; no
/// allocation and no atomic operation.
///
/// `f` may do anything: enter and leave affinities (its own argument stays valid, also when the
/// guard of the very context is dropped meanwhile), call this function again, or panic.
///
/// `T` is compared exactly and a context of another type is `None`, so whoever enters names the
/// type: `Rc::new(Cell::new(0))` is a `Cell<i32>`, which nobody finds as a `Cell<u32>`.
///
/// ```
/// use thread_aware::affinity::with_context;
///
/// assert!(with_context(|shard: Option<&u32>| shard.is_none()));
/// ```
#[inline]
pub fn with_context<T: 'static, R>(f: impl FnOnce(Option<&T>) -> R) -> R {
    let context = context();
    f(context
        .as_deref()
        .and_then(|context| context.downcast_ref()))
}

/// Another handle of the context that was entered last, or `None` outside.
///
/// ```
/// use std::rc::Rc;
/// use thread_aware::affinity::{context, enter, pinned_affinities};
///
/// let _entered = enter(pinned_affinities(&[1])[0], Rc::new(7_u32));
/// let number = context().and_then(|context| context.downcast::<u32>().ok());
/// assert_eq!(number.as_deref(), Some(&7));
/// ```
#[inline]
#[must_use]
pub fn context() -> Option<Rc<dyn Any>> {
    PLACE.with(|place| {
        let in_place = place.context.take();
        let handle = in_place.as_deref().cloned();
        place.context.set(in_place);
        handle
    })
}

/// A number for what is entered on this thread now: 0 outside, else one that no other [`enter`] of
/// this thread has had or will have.
///
/// Who has looked a context up may keep what it found for as long as this number stays the same,
/// and spare itself [`with_context`]'s comparison of types. It costs one read of a thread-local.
///
/// ```
/// use std::rc::Rc;
/// use thread_aware::affinity::{enter, entry, pinned_affinities};
///
/// assert_eq!(entry(), 0);
/// let outer = enter(pinned_affinities(&[1])[0], Rc::new(()));
/// let number = entry();
/// let inner = enter(pinned_affinities(&[1])[0], Rc::new(()));
/// assert_ne!(entry(), number);
/// drop(inner);
/// assert_eq!(entry(), number);
/// ```
#[inline]
#[must_use]
pub fn entry() -> u64 {
    PLACE.with(|place| place.key.get())
}

/// This thread's number as one that entered nothing: from 1, and never another thread's.
#[cfg(not(corelane_loom))]
pub(crate) fn thread_number() -> u64 {
    PLACE.with(Place::number)
}

/// What a registry pinned this thread to.
#[cfg(feature = "threads")]
pub(crate) fn pinned() -> Option<Affinity> {
    PLACE.with(|place| place.pinned.get())
}

/// Remembers what a registry pinned this thread to, or that its mask is another one now.
#[cfg(feature = "threads")]
pub(crate) fn set_pinned(affinity: Option<Affinity>) {
    PLACE.with(|place| place.pinned.set(affinity));
}

/// Keeps an affinity entered; made by [`enter`].
///
/// Dropping it restores what was entered before. It cannot leave its thread.
#[must_use = "dropping the guard leaves the affinity at once"]
pub struct Entered {
    key: u64,
    not_send: PhantomData<*const ()>,
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let context = PLACE.with(|place| place.leave(self.key));
        // Only now, with every cell free again: the last handle of a context runs its destructor.
        drop(context.map(ManuallyDrop::into_inner));
    }
}

impl Place {
    #[cold]
    fn anonymous(&self) -> Affinity {
        Affinity::anonymous(self.number())
    }

    fn number(&self) -> u64 {
        if self.anonymous.get() == 0 {
            self.anonymous.set(ANONYMOUS.next());
        }
        self.anonymous.get()
    }

    fn enter(&self, affinity: Affinity, context: Context) -> Entered {
        let key = self.keys_used.get() + 1;
        self.keys_used.set(key);
        if let Some(covered) = self.take() {
            self.covered.borrow_mut().push(covered);
        }
        self.put(Covered {
            affinity,
            context,
            key,
        });
        Entered {
            key,
            not_send: PhantomData,
        }
    }

    /// Ends the entering of `key` and hands out its context.
    fn leave(&self, key: u64) -> Option<Context> {
        let mut covered = self.covered.borrow_mut();
        if self.key.get() != key {
            // Guards dropped out of order: what is in place stays.
            let at = covered.iter().rposition(|covered| covered.key == key)?;
            return Some(covered.remove(at).context);
        }
        let left = self.take()?;
        if let Some(uncovered) = covered.pop() {
            self.put(uncovered);
        }
        if covered.is_empty() {
            // Gives its memory back, since no destructor does at the end of the thread.
            drop(core::mem::take(&mut **covered));
        }
        Some(left.context)
    }

    /// Takes what is in place and leaves nothing there.
    fn take(&self) -> Option<Covered> {
        let (affinity, context) = (self.affinity.take()?, self.context.take()?);
        Some(Covered {
            affinity,
            context,
            key: self.key.take(),
        })
    }

    fn put(
        &self,
        Covered {
            affinity,
            context,
            key,
        }: Covered,
    ) {
        self.affinity.set(Some(affinity));
        self.context.set(Some(context));
        self.key.set(key);
    }
}
