//! SIGINT and SIGTERM as futures, on any shard and any driver.
//!
//! Owner: one hub a process, made at the first [`Signals`]. The handlers of its two signals write a
//! byte each into a socket; the hub's thread counts them and wakes all listeners as any thread
//! does. Handlers and thread stay for the life of the process: a signal that a program asked for
//! once does not end it any more.

mod hub;
mod listener;

pub use listener::{Signal, Signals, next};
