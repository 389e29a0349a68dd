//! One shard's table of values that handles elsewhere stand for.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::error::contain;

/// Residents of a shard at most.
const RESIDENTS_MAX: usize = 1 << 24;

/// Names a resident of one shard, for ever: a key is never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResidentKey {
    place: u32,
    generation: u64,
}

/// The residents of one shard.
#[derive(Default)]
pub(crate) struct Residents {
    places: RefCell<Places>,
    closed: Cell<bool>,
}

#[derive(Default)]
struct Places {
    all: Vec<Place>,
    /// Places without a value.
    free: Vec<u32>,
}

#[derive(Default)]
struct Place {
    generation: u64,
    value: Option<Rc<dyn Any>>,
}

impl Residents {
    /// Takes a value in. On a shard that ends, nobody finds it any more, and it is dropped.
    ///
    /// # Panics
    ///
    /// When the shard has 2^24 residents.
    pub(crate) fn insert(&self, value: Rc<dyn Any>) -> ResidentKey {
        let mut places = self.places.borrow_mut();
        let number = places.free.pop().unwrap_or_else(|| {
            let number = places.all.len();
            assert!(
                number < RESIDENTS_MAX,
                "a shard has at most {RESIDENTS_MAX} values that handles stand for"
            );
            places.all.push(Place::default());
            number as u32
        });
        let place = &mut places.all[number as usize];
        place.generation += 1;
        let key = ResidentKey {
            place: number,
            generation: place.generation,
        };
        if !self.closed.get() {
            place.value = Some(value);
            return key;
        }
        // The drop is the user's code: it finds nothing borrowed.
        places.free.push(number);
        drop(places);
        contain("the drop of a value that came too late", || drop(value));
        key
    }

    /// The value behind `key`, if it has not gone.
    pub(crate) fn get(&self, key: ResidentKey) -> Option<Rc<dyn Any>> {
        let places = self.places.borrow();
        let place = &places.all[key.place as usize];
        if place.generation == key.generation {
            place.value.clone()
        } else {
            None
        }
    }

    /// Takes the value behind `key` out, for the caller to drop.
    pub(crate) fn remove(&self, key: ResidentKey) -> Option<Rc<dyn Any>> {
        let mut places = self.places.borrow_mut();
        let place = &mut places.all[key.place as usize];
        if place.generation != key.generation {
            return None;
        }
        let value = place.value.take()?;
        places.free.push(key.place);
        Some(value)
    }

    /// Drops all values, and what comes from now on.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        // A drop may take other values out, but nothing comes in.
        let count = self.places.borrow().all.len();
        for number in 0..count {
            let value = self.places.borrow_mut().all[number].value.take();
            if let Some(value) = value {
                contain("the drop of a value at its shard's end", || drop(value));
            }
        }
    }
}
