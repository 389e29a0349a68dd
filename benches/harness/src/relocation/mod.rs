//! Rows about values that relocate between cores, the same lines of code for every library.
//!
//! A library says in [`Relocating`] how a handle is made, moved and read; the rounds are generic
//! over it and are compiled in the twin, so that all calls can be inlined alike. Handles are passed
//! through `black_box` by reference, since handles live in other values.

mod first_touch;
mod one_thread;
mod threads;
mod together;
mod traveller;
mod tree;
mod value;

pub use value::Value;

use crate::{BenchError, Entry, Meter, Params, Sample};

const SUITE: &str = "thread_aware";

type RoundFn = fn(&Params) -> Result<Sample, BenchError>;

/// A shared pointer with a value of its own for each place, as one library has it.
pub trait Relocating: Clone + Send + Sync + 'static {
    /// What the library calls a core; cheap to read.
    type Place: Clone + Send + Sync;

    /// Whether of threads that race for a place's first value only one makes it.
    const MAKES_ONCE: bool;

    /// That many places, each with a partition of its own.
    fn places(count: usize) -> Vec<Self::Place>;

    /// The first handle of a value; other places' values are made by `make` when they are needed.
    fn make(make: fn() -> Value) -> Self;

    /// Moves the handle.
    fn relocate(&mut self, source: &Self::Place, destination: &Self::Place);

    /// The value that the handle carries.
    fn value(&self) -> &Value;

    /// How many handles carry that value.
    fn strong_count(&self) -> usize;
}

/// Every row for a library that relocates.
pub fn relocating_entries<H: Relocating>(who: &str) -> Vec<Entry> {
    let entry = |row, round: RoundFn| Entry::round((SUITE, row), who, round);
    let mut entries = vec![
        entry("same", one_thread::same::<H>),
        entry("hit", one_thread::hit::<H>),
        entry("tree_hit", tree::hit::<H>),
        entry("miss", one_thread::miss::<H>),
        entry("all_cores", threads::all_cores::<H>),
        entry("oversubscribed", threads::oversubscribed::<H>),
        entry("into_one", threads::into_one::<H>),
        entry("visit_one", threads::visit_one::<H>),
        entry("visit_one_alone", threads::visit_one_alone::<H>),
        entry("first_touch", first_touch::storms::<H>),
    ];
    entries.extend(shared_entries::<H>(who));
    entries
}

/// The rows for a pointer that is only shared: its relocation does nothing.
pub fn shared_entries<H: Relocating>(who: &str) -> Vec<Entry> {
    let entry = |row, round: RoundFn| Entry::round((SUITE, row), who, round);
    vec![
        entry("clone_drop_1", one_thread::clone_drop::<H>),
        entry("clone_drop_2", threads::clone_drop::<H>),
        entry("handle_bytes", handle_bytes::<H>),
    ]
}

fn handle_bytes<H: Relocating>(_: &Params) -> Result<Sample, BenchError> {
    let handle = H::make(Value::new);
    BenchError::check("handles of the value", 1, handle.strong_count() as u64)?;
    Ok(Meter::start().stop(1).sample(size_of::<H>() as f64))
}

/// A handle that was once at each of `places`, and is at the first one.
fn visited<H: Relocating>(places: &[H::Place]) -> H {
    let mut handle = H::make(Value::new);
    // The first value belongs where the first relocation comes from.
    for (from, to) in places.iter().zip(places.iter().cycle().skip(1)) {
        handle.relocate(from, to);
    }
    handle
}

/// Which value a handle carries: one at an address, and not only an equal one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Identity {
    number: u64,
    address: u64,
}

impl Identity {
    fn of<H: Relocating>(handle: &H) -> Self {
        let value = handle.value();
        Self {
            number: value.number(),
            address: std::ptr::from_ref(value).addr() as u64,
        }
    }

    /// Checks that `handle` carries this value.
    fn check<H: Relocating>(self, handle: &H) -> Result<(), BenchError> {
        let found = Self::of(handle);
        BenchError::check("number of the value", self.number, found.number)?;
        BenchError::check("address of the value", self.address, found.address)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Cores, Work};

    /// What the rows ask for, in its plainest form: all values in a locked table.
    #[derive(Clone)]
    struct Plain {
        values: Arc<std::sync::Mutex<Vec<Option<Arc<Value>>>>>,
        make: fn() -> Value,
        value: Arc<Value>,
    }

    impl Relocating for Plain {
        type Place = usize;
        const MAKES_ONCE: bool = true;

        fn places(count: usize) -> Vec<usize> {
            (0..count).collect()
        }

        fn make(make: fn() -> Value) -> Self {
            Self {
                values: Arc::default(),
                make,
                value: Arc::new(make()),
            }
        }

        fn relocate(&mut self, source: &usize, destination: &usize) {
            let mut values = self.values.lock().unwrap();
            let len = values.len().max(source + 1).max(destination + 1);
            values.resize(len, None);
            if values[*destination].is_none() {
                values[*source].get_or_insert_with(|| Arc::clone(&self.value));
            }
            let value = values[*destination].get_or_insert_with(|| Arc::new((self.make)()));
            self.value = Arc::clone(value);
        }

        fn value(&self) -> &Value {
            &self.value
        }

        fn strong_count(&self) -> usize {
            let values = self.values.lock().unwrap();
            let kept = values.iter().flatten();
            let kept = kept.filter(|kept| Arc::ptr_eq(kept, &self.value)).count();
            Arc::strong_count(&self.value) - kept
        }
    }

    /// As std's `Arc`: it has one value, whatever the place.
    #[derive(Clone)]
    struct Everywhere(Arc<Value>);

    impl Relocating for Everywhere {
        type Place = usize;
        const MAKES_ONCE: bool = true;

        fn places(count: usize) -> Vec<usize> {
            Plain::places(count)
        }

        fn make(make: fn() -> Value) -> Self {
            Self(Arc::new(make()))
        }

        fn relocate(&mut self, _: &usize, _: &usize) {}

        fn value(&self) -> &Value {
            &self.0
        }

        fn strong_count(&self) -> usize {
            Arc::strong_count(&self.0)
        }
    }

    fn outcomes<H: Relocating>() -> Vec<(&'static str, Result<Sample, BenchError>)> {
        let Ok(cores) = Cores::allowed() else {
            return Vec::new();
        };
        let params = Params {
            ops: 101,
            shards: 2,
            cores,
        };
        let outcome = |entry: Entry| match entry.work {
            Work::Round(round) => (entry.row, round(&params)),
            Work::Serve(_) => panic!("{} serves a client", entry.row),
        };
        let entries = relocating_entries::<H>("test").into_iter();
        entries.map(outcome).collect()
    }

    #[test]
    fn rows_give_a_figure_of_what_relocates() {
        for (row, outcome) in outcomes::<Plain>() {
            let sample = outcome.unwrap_or_else(|error| panic!("{row}: {error}"));
            assert!(sample.value > 0.0, "{row}");
        }
    }

    #[test]
    fn rows_refuse_what_does_not_relocate() {
        for (row, outcome) in outcomes::<Everywhere>() {
            let shared = ["clone_drop_1", "clone_drop_2", "handle_bytes"].contains(&row);
            assert_eq!(outcome.is_ok(), shared, "{row}");
        }
    }
}
