//! glommio's own listener around one that is open already, for which it has no safe way.

use std::net::TcpListener as StdListener;
use std::os::fd::{FromRawFd, IntoRawFd};

use glommio::net::TcpListener;

/// Hands a listener to glommio; call it inside an executor, to which the listener then belongs.
pub(crate) fn glommio_listener(listener: StdListener) -> TcpListener {
    let fd = listener.into_raw_fd();
    // SAFETY: Valid: `into_raw_fd` gave up an open listening socket. Exclusive: nobody else has it,
    // so the glommio listener is its one owner.
    unsafe { TcpListener::from_raw_fd(fd) }
}
