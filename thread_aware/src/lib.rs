//! Values that know which core they are on and relocate between cores.
//!
//! # What relocation is
//!
//! A thread-per-core program gives every core its own part of what it works on, so that no two
//! cores write the same memory. The trouble begins when a value moves: a handle that was made on
//! one core and sent to another goes on counting, caching and allocating in the part of the core
//! that it left, and the two cores are back to sharing cache lines, without a word.
//!
//! *Relocation* is that word. Whoever moves a value, a runtime as a rule, calls
//! [`ThreadAware::relocate`] on it once it has arrived, with the [`Affinity`](affinity::Affinity)
//! of where it was and of where it is. The value then lets go of what belongs to its old core and
//! takes what belongs to the new one. Plain values have nothing to do, collections and derived
//! types pass the call on to what they hold, and an [`Arc`] swaps the value that it points to.
//!
//! Like `Clone`, it is about cost and not about meaning: a value that is relocated to the wrong
//! place, or never, still works; it is only slower. The crate works with any executor, or none.
//!
//! ```
//! # #[cfg(all(feature = "std", feature = "derive"))] {
//! use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
//! use thread_aware::{Arc, PerCore, ThreadAware, affinity::pinned_affinities};
//!
//! #[derive(Clone, ThreadAware)]
//! struct Service {
//!     name: String,
//!     requests: Arc<AtomicU64, PerCore>, // a counter a core
//! }
//!
//! let cores = pinned_affinities(&[2]); // two cores in one memory region
//! let here = Service { name: "feed".into(), requests: Arc::new(AtomicU64::default) };
//! here.requests.fetch_add(1, Relaxed);
//!
//! let mut there = here.clone(); // still the counter of core 0
//! there.relocate(Some(cores[0]), cores[1]); // arrived: the counter of core 1
//! there.requests.fetch_add(5, Relaxed);
//! assert_eq!((here.requests.load(Relaxed), there.requests.load(Relaxed)), (1, 5));
//!
//! there.relocate(Some(cores[1]), cores[0]); // and back
//! assert_eq!(there.requests.load(Relaxed), 1);
//! # }
//! ```
//!
//! # Which strategy to take
//!
//! An `Arc<T, S>` has one value for each *partition* of the machine, and the strategy `S` says what
//! a partition is.
//!
//! | what `T` is | take |
//! |---|---|
//! | written often: counters, caches, pools, connections | [`PerCore`] |
//! | large and mostly read, so that near memory counts: tables, indexes | [`PerNuma`] |
//! | one for all by its nature: settings, a file | [`PerProcess`], which is std's `Arc` in effect |
//! | shared by the cores of one cache, say | a [`Strategy`](storage::Strategy) of your own |
//! | plain, of another crate, and not shared at all | no `Arc`: [`Unaware`] moves it as it is |
//!
//! How a partition's value comes to be is the constructor's choice: [`Arc::new`] and
//! [`Arc::new_fn`] call a function, [`Arc::new_with`] calls one with data that is relocated first,
//! [`Arc::from_unaware`] and [`Arc::with_clone_fn`] clone the first value, and
//! [`Arc::from_storage`] and [`Arc::try_from_values`] take values that are there before.
//!
//! # How to write a thread-aware type
//!
//! Derive it. Every field is relocated, in order; `#[thread_aware(skip)]` leaves one as it is. The
//! trait is implemented for the types of core, alloc and std, and by features for those of a few
//! other crates; `std::sync::Arc` has no implementation, on purpose (the trait says why). Write it
//! by hand where there is something to do that no field knows:
//!
//! ```
//! use thread_aware::{
//!     ThreadAware,
//!     affinity::{Affinity, pinned_affinities},
//! };
//!
//! /// Working memory that is fetched anew on the core that uses it.
//! #[derive(Default)]
//! struct Scratch {
//!     home: Option<Affinity>,
//!     bytes: Vec<u8>,
//! }
//!
//! impl ThreadAware for Scratch {
//!     fn relocate(&mut self, _source: Option<Affinity>, destination: Affinity) {
//!         if self.home.replace(destination) != Some(destination) {
//!             self.bytes = Vec::with_capacity(self.bytes.capacity());
//!         }
//!     }
//! }
//!
//! let cores = pinned_affinities(&[4]);
//! let mut work = (String::from("a job"), Scratch::default());
//! work.relocate(Some(cores[0]), cores[3]); // the tuple tells its elements
//! assert_eq!(work.1.home, Some(cores[3]));
//! ```
//!
//! What a closure captures cannot be visited, so work that moves is data beside a function: see
//! [`closure`].
//!
//! # How a runtime calls it
//!
//! It gives each of its threads an affinity, and relocates what arrives, on the thread where it
//! arrives. `registry::ThreadRegistry` (feature `threads`) chooses a processor for each physical
//! core that the process may use and pins threads to them. Without that feature the host pins by
//! means of its own, and [`pinned_affinities`] numbers its threads: `pinned_affinities(&[8])` for
//! eight in one memory region. `affinity::enter` tells code further inside where it is.
//!
//! ```
//! # #[cfg(feature = "threads")] {
//! use std::sync::mpsc;
//! use thread_aware::{
//!     ThreadAware,
//!     closure::{ThreadAwareFnOnce, closure_once},
//!     registry::{ProcessorCount, ThreadRegistry},
//! };
//!
//! type Job = Box<dyn ThreadAwareFnOnce<usize>>;
//!
//! let registry = ThreadRegistry::new(&ProcessorCount::Auto);
//! let (send, jobs) = mpsc::channel::<Job>();
//! let (answer, answers) = mpsc::channel();
//! let core = registry.affinities().next().expect("there is at least one");
//! let worker = std::thread::spawn(move || {
//!     registry.pin_to(core);
//!     for mut job in jobs {
//!         job.relocate(None, core); // where it was is not known here
//!         answer.send(job.call_once()).expect("somebody listens");
//!     }
//! });
//!
//! let names = vec![String::from("a"), String::from("b")];
//! send.send(Box::new(closure_once(names, |names| names.len()))).expect("the worker listens");
//! drop(send);
//! assert_eq!(answers.recv(), Ok(2));
//! worker.join().expect("the worker does not panic");
//! # }
//! ```
//!
//! `examples/thread-aware-alone` does this with a cache a core, in plain threads and on runtimes
//! of Tokio: `cargo run --bin pinned-threads` and `cargo run --bin tokio-runtimes`.
//!
//! # What it costs
//!
//! - A plain value: nothing. A derived type or a sequence: the sum of its parts. A map, a set or a
//!   heap: taking it apart and building it anew, since keys cannot change in place.
//! - An [`Arc`] that is there already: a few comparisons, no atomic operation. To a partition that
//!   has its value: two, on lines that only the partitions concerned use. To one that has none: the
//!   constructor, and some locks, once.
//! - Cloning or dropping an `Arc`: one atomic operation on its own partition's line, so two cores
//!   that do it at once do not slow each other down. Dereferencing: one load.
//! - Memory: a value and 128 bytes a partition. A handle of a sized value is two words.
//!
//! # Coming from the published `thread_aware`
//!
//! Code for version 0.11 of the crate of that name compiles with one line changed,
//! `thread_aware = { package = "corelane-thread-aware", … }`: all its names and features
//! are here. What hangs there (a factory that relocates its own lineage) ends here, and the derive
//! demands less of type parameters. `ProcessorCount::Auto` takes one processor a physical core.
//!
//! It is another trait, though: a library that implements the published one does not implement this
//! one, so both are changed together, or the library's types are wrapped in [`Unaware`]. For hosts
//! that relocate by the trait of `thread_aware_core` there is feature `core-interop`.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `derive` | yes | `#[derive(ThreadAware)]` |
//! | `std` | yes | `Arc`, the current affinity, and implementations for the types of std |
//! | `threads` | no | `topology` and `registry`; brings `std`, core_affinity and rustix |
//! | `hwloc` | no | the topology from libhwloc (2.8 or newer); brings `threads` |
//! | `bytes`, `http`, `uuid` | no | implementations for the types of these crates, version 1 |
//! | `jiff02` | no | likewise for jiff 0.2, but for `Zoned` and `TimeZone`, which share a count |
//! | `core-interop` | no | `interop`: for hosts that know `thread_aware_core`; needs Rust 1.95 |
//!
//! Without `std` the crate needs `alloc` only. Unsafe code stands in the `Arc`'s directory alone.
//! Nothing but `threads` is for Linux only.
//!
//! [`pinned_affinities`]: affinity::pinned_affinities
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod affinity;
#[cfg(feature = "std")]
#[allow(unsafe_code)]
mod arc;
pub mod closure;
#[cfg(feature = "core-interop")]
pub mod interop;
#[cfg(all(feature = "std", corelane_loom))]
#[doc(hidden)]
pub mod model;
#[cfg(feature = "threads")]
pub mod registry;
mod relocate;
mod sync;
#[cfg(feature = "threads")]
pub mod topology;
#[path = "arc/transparent.rs"]
mod transparent;
mod unaware;

#[cfg(feature = "std")]
pub use arc::{
    Arc, Ignored, PerCore, PerNuma, PerProcess, RelocateError, StorageError, Weak, storage,
};
#[cfg(feature = "derive")]
pub use corelane_thread_aware_derive::ThreadAware;
pub use relocate::ThreadAware;
pub use unaware::{Unaware, unaware};
