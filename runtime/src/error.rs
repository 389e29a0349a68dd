//! Errors of the runtime, one enum an operation.

use std::io;

/// Why an I/O driver could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// The kernel, a seccomp filter or a limit refuses io_uring.
    #[error("io_uring is refused")]
    UringRefused(#[source] io::Error),
    /// epoll, its timerfd or its eventfd could not be made.
    #[error("epoll could not be set up")]
    Epoll(#[source] io::Error),
}
