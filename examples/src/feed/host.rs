//! What a run chooses of what it stands on: the driver, what a shard without work does, and what a
//! topic does when a reader is behind.

use clap::ValueEnum;
use corelane_primitives::TopicOverflow;
use serde::Serialize;

/// The I/O driver that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Driver {
    /// `io_uring` where the kernel has it, else epoll
    #[default]
    Auto,
    /// `io_uring` or nothing
    Uring,
    /// epoll
    Epoll,
}

/// What a shard without work does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Idle {
    /// Sleeps at once
    Park,
    /// Spins for a short time, then sleeps
    #[default]
    SpinThenPark,
    /// Never sleeps
    Spin,
}

impl From<Driver> for corelane::Driver {
    fn from(driver: Driver) -> Self {
        match driver {
            Driver::Auto => Self::Auto,
            Driver::Uring => Self::Uring,
            Driver::Epoll => Self::Epoll,
        }
    }
}

impl From<Idle> for corelane::IdlePolicy {
    fn from(idle: Idle) -> Self {
        match idle {
            Idle::Park => Self::Park,
            Idle::SpinThenPark => Self::default(),
            Idle::Spin => Self::Spin,
        }
    }
}

/// What becomes of a trade for which a reader has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The book waits: nothing is lost
    #[default]
    Backpressure,
    /// That reader does not get it
    DropNew,
    /// That reader loses its oldest one
    DropOldest,
}

impl From<Overflow> for TopicOverflow {
    fn from(overflow: Overflow) -> Self {
        match overflow {
            Overflow::Backpressure => Self::Backpressure,
            Overflow::DropNew => Self::DropNew,
            Overflow::DropOldest => Self::DropOldest,
        }
    }
}
