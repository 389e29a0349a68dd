//! Accepting.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{self, SocketFlags};

use super::source::Source;
use super::{Epoll, Stream};
use crate::driver::sockets;
use crate::io::Wait;
use crate::net::ListenOptions;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    source: Source,
}

impl Listener {
    /// Binds to `addr` and listens.
    pub(crate) fn bind(
        driver: &Rc<Epoll>,
        addr: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let fd = sockets::listen(addr, options)?;
        Ok(Self {
            source: Source::new(driver, fd),
        })
    }

    /// The address that it listens on.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        sockets::local_addr(self.source.fd())
    }

    /// Takes the next connection. All who wait are woken by a connection, and one gets it.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let wait = Wait::new(&self.source.read().waiters);
        poll_fn(|cx| self.poll(cx, &wait)).await
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
    ) -> Poll<io::Result<(Stream, SocketAddr)>> {
        let accepted = self.source.poll_io(cx, self.source.read(), wait, accept);
        accepted.map(|accepted| {
            let (fd, peer) = accepted?;
            Ok((Stream::from_fd(self.source.driver(), fd)?, peer))
        })
    }
}

fn accept(listener: BorrowedFd<'_>) -> Result<(std::os::fd::OwnedFd, SocketAddr), Errno> {
    loop {
        match net::acceptfrom_with(listener, SocketFlags::CLOEXEC) {
            // A connection that was reset while it waited: each such answer takes one from the
            // queue.
            Err(Errno::CONNABORTED) => {}
            Err(error) => return Err(error),
            Ok((fd, peer)) => {
                let peer = peer.ok_or(Errno::NOTCONN)?;
                return Ok((fd, SocketAddr::try_from(peer)?));
            }
        }
    }
}
