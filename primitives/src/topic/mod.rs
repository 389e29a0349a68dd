//! The topic: every message to all.

#![allow(unsafe_code)]

mod copies;
mod cursor;
mod handle;
mod join;
mod local;
mod log;
mod part;
mod pool;
mod publish;
mod settings;
mod word;

pub(crate) use cursor::Cursor;
pub use handle::{Topic, TopicStats, WeakTopic};
pub use settings::{Order, TopicError, TopicOverflow};
