//! One value a shard, found through a static.
//!
//! Owner: the context of a shard holds its values; no other shard sees them.
//! Rules: nothing stays borrowed while a value is made, used or dropped, so that all of these may
//! use other values. At the shard's end, after its tasks, values go in the reverse order of their
//! making, and none is made any more.

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::OnceLock;

use crate::error::contain;
use crate::shard::Context;
use crate::sync::{AtomicU64, Ordering};

/// A static of which every shard has its own value, made on the shard at its first use.
///
/// It is what `thread_local!` is for threads, and right where many shards share a thread, as in a
/// simulation. The value needs neither `Send` nor `Sync`, and a `Cell` or a `RefCell` in it makes
/// it mutable. It is dropped with its shard: after the shard's tasks, before the shard's driver
/// closes, and before the values that it used while it was made.
///
/// A use is a look into a table of the shard and a count that no other thread sees, without a lock
/// or an atomic read-modify-write; the first one on a shard allocates.
///
/// ```
/// use std::cell::Cell;
/// use corelane::ShardLocal;
///
/// static SERVED: ShardLocal<Cell<u64>> = ShardLocal::new(|| Cell::new(0));
///
/// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
/// SERVED.with(|served| served.set(served.get() + 1));
/// // The other shard has a value of its own.
/// let there = corelane::shards()[1].submit(|| async { SERVED.with(Cell::get) });
/// assert_eq!(there.await?, 0);
/// assert_eq!(SERVED.with(Cell::get), 1);
/// # Ok::<_, corelane::SubmitError>(())
/// # })?.expect("the shard is there");
/// # Ok::<_, corelane::StartError>(())
/// ```
pub struct ShardLocal<T: 'static> {
    /// Where every shard keeps its value of this one.
    place: OnceLock<usize>,
    make: fn() -> T,
}

impl<T: 'static> ShardLocal<T> {
    /// A static whose values `make` makes. A closure will do if it captures nothing.
    pub const fn new(make: fn() -> T) -> Self {
        Self {
            place: OnceLock::new(),
            make,
        }
    }

    /// Calls `f` with the value of this shard.
    ///
    /// # Panics
    ///
    /// As [`get`](Self::get).
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.get())
    }

    /// A handle of the value of this shard, which may be kept while waiting.
    ///
    /// Who keeps it beyond the shard's end keeps the value.
    ///
    /// # Panics
    ///
    /// Outside of the shards; with the panic of the function that makes the value, which leaves
    /// nothing, so that the next use tries again; when that function needs this very value; and in
    /// the drop of another shard-local value, once this one is gone.
    #[track_caller]
    pub fn get(&'static self) -> Rc<T> {
        let place = *self.place.get_or_init(next_place);
        let value = Context::with(|context| context.locals().get(place, self.make));
        value.downcast().expect("a place belongs to one static")
    }
}

impl<T> fmt::Debug for ShardLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardLocal").finish_non_exhaustive()
    }
}

/// A place that no static has had. Statics live for ever, so none comes back.
fn next_place() -> usize {
    static PLACES: AtomicU64 = AtomicU64::new(0);
    PLACES.fetch_add(1, Ordering::Relaxed) as usize
}

/// The values of one shard.
#[derive(Default)]
pub(crate) struct Locals {
    places: RefCell<Vec<Place>>,
    /// The places with values, in the order of their making.
    made: RefCell<Vec<usize>>,
    closed: Cell<bool>,
}

#[derive(Clone, Default)]
enum Place {
    #[default]
    Empty,
    Making,
    Made(Rc<dyn Any>),
}

impl Locals {
    fn get<T: 'static>(&self, place: usize, make: fn() -> T) -> Rc<dyn Any> {
        let found = self.places.borrow().get(place).cloned();
        match found.unwrap_or_default() {
            Place::Made(value) => value,
            Place::Empty => self.make(place, make),
            Place::Making => panic!("a shard-local {} needs itself", type_name::<T>()),
        }
    }

    #[cold]
    fn make<T: 'static>(&self, place: usize, make: fn() -> T) -> Rc<dyn Any> {
        let name = type_name::<T>();
        assert!(
            !self.closed.get(),
            "the shard-local {name} is gone with its shard"
        );
        let making = Making::start(self, place);
        let value: Rc<dyn Any> = Rc::new(make());
        making.end(Rc::clone(&value));
        value
    }

    /// Drops all values, the last one first.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        loop {
            let last = self.made.borrow_mut().pop();
            let Some(place) = last else { break };
            let value = std::mem::take(&mut self.places.borrow_mut()[place]);
            contain("the drop of a shard-local value", || drop(value));
        }
    }
}

/// Marks a place while its value is made, and empties it when that panics.
struct Making<'a> {
    locals: &'a Locals,
    place: usize,
}

impl<'a> Making<'a> {
    fn start(locals: &'a Locals, place: usize) -> Self {
        let mut places = locals.places.borrow_mut();
        if places.len() <= place {
            places.resize(place + 1, Place::Empty);
        }
        places[place] = Place::Making;
        Self { locals, place }
    }

    fn end(self, value: Rc<dyn Any>) {
        self.locals.places.borrow_mut()[self.place] = Place::Made(value);
        self.locals.made.borrow_mut().push(self.place);
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let place = &mut self.locals.places.borrow_mut()[self.place];
        if matches!(place, Place::Making) {
            *place = Place::Empty;
        }
    }
}
