//! The topic: every message to all, over one log that every subscribed shard reads in place.
//!
//! # The log
//!
//! Position `p` belongs to slot `p mod n`, `n` the capacity rounded up to a power of two. A slot is
//! one word: a *lap*, which says the position, and the index of a pooled node with the value. An
//! append fills a node and then exchanges the slot's word of the last lap for its own: this one
//! step publishes, and whoever finds the tail behind a filled slot moves it on. So a publisher
//! that stops anywhere holds up nobody, and laps keep a reused node from being taken for what it
//! was. The appender owns the node that it put out of the slot, for its next value. Closing
//! *seals* the word at the tail, by the same exchange, and so needs no room.
//!
//! Feeds of one thread and affinity that want the same (capacity and overflow) share a *part*. A
//! part publishes a `limit`, the position that appends may not reach, and a `window`, the first of
//! `n` positions whose nodes may not be reused. Everything else of it belongs to its thread: copies
//! of the values, taken by whichever feed is polled, and the feeds' positions among them.
//!
//! # Why it holds
//!
//! *Coming.* A part registers, fences, then starts at the tail it reads. An appender reads the
//! tail, fences, then reads the registered parts. If the appender's fence is first, the part reads
//! a tail at or behind the append; otherwise the appender sees the part. Hence an append that has
//! not seen a part is at most at the part's start, where every part has room for one. When a feed
//! moves to a part of its own, its old part's limit may grow: who sees that sees the turn of the
//! control plane before it, and looks again.
//!
//! *Backpressure.* The limit is the slowest feed's position plus the capacity `c <= n`, stored
//! (Release) after what it gives up was read. An append at `p` has loaded (Acquire) limits above
//! `p`, so what it puts out of its slot, `p - n`, lies before every feed, and was read. Limits only
//! grow, so a check that was true stays true until the exchange. The append is the reservation:
//! who waits holds nothing.
//!
//! *DropOldest.* A reader holds the window `[tail - c, ..)`, fences, then reads slots; an appender
//! exchanges the word, fences, then reads windows. Either the reader finds the word gone, or the
//! appender finds the window and leaves the node on the part's list of retired ones, which the
//! reader frees when it is done. The window is open between reads.
//!
//! *DropNew.* The window `[end, end + n)` starts at the last copy and stays. When a part moves it,
//! it fences and reads the tail, again if that is `n` ahead: so every appender that comes to
//! `end + n` or beyond reads the tail after that fence, and finds the window. Before its exchange
//! it notes the node that it will put out in the part's `kept` words, by lap and only forward, so a
//! writer that was stopped for long does no harm; after it, it retires the node as above.
//!
//! *Waking.* A feed that finds nothing marks its thread's crew parked and looks again; an appender
//! fences and looks for marks. With nobody parked that is one load, and a thread has one mark
//! however many of its feeds wait, of whatever kind and for whichever log (see `park`).
//!
//! *Memory.* Nodes stand in slots (`n`), in windows (at most `n` a part that drops), or with a
//! publisher (one each). A reader that is stopped, or never polled, holds no more than that.
//!
//! *Publishers with an order each.* With `Order::PerPublisher` all this holds for each of several
//! logs (see `stripes`).
//!
//! Models: `tests/loom_topic.rs`. The bench row that pays for the unsafe code: `topic_fanout`.

#![allow(unsafe_code)]

mod copies;
mod cursor;
mod cursors;
mod detach;
mod error;
mod handle;
mod join;
mod local;
mod log;
mod numbered;
mod part;
mod pool;
mod publish;
mod settings;
mod stripes;
mod word;

pub(crate) use cursors::Cursors;
pub use error::{TopicError, TryPublishError};
pub use handle::{Topic, TopicStats, WeakTopic};
pub(crate) use log::{Bell, Log};
pub(crate) use pool::Spare;
pub(crate) use settings::CAPACITY_MAX;
pub use settings::{Order, TopicOverflow};
