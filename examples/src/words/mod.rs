//! The embedded feed in words of 64 bits, on rings.
//!
//! A decoder packs each change of a level into one word and pushes it: what a full ring refuses is
//! counted and gone. The book's side sees the hole in the sequence, says that it has lost its
//! place, and goes on from the snapshot that the decoder answers with. Nothing here needs a
//! runtime: the service puts it on shards, and the sweep on threads.
//!
//! ```
//! use corelane_examples::feed::{Books, Generator, InstrumentId, Update, KEPT_UPDATES_MAX};
//! use corelane_examples::words::{Quote, feed_side};
//! use corelane_primitives::Ring64;
//!
//! let id = InstrumentId::named("ES".parse()?).unwrap();
//! let (ring, mut words) = Ring64::new(1024);
//! let (mut quoter, mut follower) = feed_side(Generator::of(1, id), id, ring)?;
//! let mut books = Books::new(KEPT_UPDATES_MAX);
//! for _ in 0..500 {
//!     if let Some(Update::Depth(depth)) = quoter.feed().next() {
//!         quoter.stage(&depth)?;
//!     }
//! }
//! quoter.send(0)?;
//! while let Some(word) = words.pop() {
//!     while let Some(snapshot) = follower.aside() {
//!         books.apply(snapshot)?;
//!     }
//!     if let Some(update) = follower.follow(&Quote::unpack(word)?) {
//!         books.apply(update)?;
//!     }
//! }
//! assert!(books.iter().all(|book| book.is_current()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aside;
mod breaker;
mod follower;
mod packer;
mod quoter;
mod word;

pub use self::{
    aside::Board,
    breaker::{Breaker, BreakerLimits, FILL_TIMEOUT, Fills, RESET_AFTER, TIMEOUTS_MAX, Unsent},
    follower::{Follower, Followers},
    packer::Packer,
    quoter::{Quoter, feed_side},
    word::{
        Action, INSTRUMENTS_MAX, LEVEL_MAX, Quote, SEQUENCES, SIZE_END, Side, TICKS_END, WORD_BITS,
        WordError,
    },
};
