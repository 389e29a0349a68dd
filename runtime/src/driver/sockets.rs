//! Calls on sockets that every backend of the kernel makes the same way.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::net::ListenOptions;

/// Makes a socket that does not block, bound to `addr` and listening.
pub(crate) fn listen(addr: SocketAddr, options: &ListenOptions) -> io::Result<OwnedFd> {
    let fd = socket(addr)?;
    sockopt::set_socket_reuseaddr(&fd, true)?;
    if options.reuse_port {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    // Accepted sockets inherit it.
    sockopt::set_tcp_nodelay(&fd, options.nodelay)?;
    net::bind(&fd, &addr)?;
    net::listen(&fd, i32::from(options.backlog))?;
    Ok(fd)
}

/// Makes a socket that does not block and sends at once, to be connected to `addr`.
pub(crate) fn stream(addr: SocketAddr) -> io::Result<OwnedFd> {
    let fd = socket(addr)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    Ok(fd)
}

fn socket(addr: SocketAddr) -> io::Result<OwnedFd> {
    let family = match addr {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// How a connect that was started ended: `AGAIN` while it has not.
pub(crate) fn connect_result(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    sockopt::socket_error(fd)??;
    match net::getpeername(fd) {
        Ok(_) => Ok(()),
        Err(Errno::NOTCONN) => Err(Errno::AGAIN),
        Err(error) => Err(error),
    }
}

/// Ends one direction of a stream, or both.
pub(crate) fn shutdown(fd: BorrowedFd<'_>, how: Shutdown) -> io::Result<()> {
    let how = match how {
        Shutdown::Read => net::Shutdown::Read,
        Shutdown::Write => net::Shutdown::Write,
        Shutdown::Both => net::Shutdown::Both,
    };
    Ok(net::shutdown(fd, how)?)
}

/// The address of this end.
pub(crate) fn local_addr(fd: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    Ok(SocketAddr::try_from(net::getsockname(fd)?)?)
}

/// The address of the other end.
pub(crate) fn peer_addr(fd: BorrowedFd<'_>) -> io::Result<SocketAddr> {
    let peer = net::getpeername(fd)?.ok_or(Errno::NOTCONN)?;
    Ok(SocketAddr::try_from(peer)?)
}
