//! Accepting in a simulated world.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::connection::Side;
use super::{SimDriver, Stream};
use crate::io::{Wait, Waiters};
use crate::net::ListenOptions;

/// A listening socket.
#[derive(Debug)]
pub(crate) struct Listener {
    driver: Rc<SimDriver>,
    number: u64,
    addr: SocketAddr,
    waiters: Rc<Waiters>,
}

impl Listener {
    /// Binds to `addr` and listens; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// `EADDRINUSE` when another listener has the address and not both share it.
    pub(crate) fn bind(
        driver: &Rc<SimDriver>,
        addr: SocketAddr,
        options: &ListenOptions,
    ) -> io::Result<Self> {
        let waiters = Rc::<Waiters>::default();
        let mut network = driver.world.network().borrow_mut();
        let (number, addr) = network.listen(driver.shard, addr, options, Rc::clone(&waiters))?;
        Ok(Self {
            driver: Rc::clone(driver),
            number,
            addr,
            waiters,
        })
    }

    /// The address that it listens on.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.addr)
    }

    /// Takes the next connection. All who wait are woken by a connection, and one gets it.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let wait = Wait::new(&self.waiters);
        poll_fn(|cx| self.poll(cx, &wait)).await
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        wait: &Wait<'_>,
    ) -> Poll<io::Result<(Stream, SocketAddr)>> {
        let accepted = self.driver.world.network().borrow_mut().accept(self.number);
        if let Some(connection) = accepted {
            let stream = Stream::new(&self.driver, connection, Side::Server)?;
            let peer = stream.peer_addr()?;
            return Poll::Ready(Ok((stream, peer)));
        }
        self.driver.check_open()?;
        wait.wait(cx.waker());
        Poll::Pending
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let world = &self.driver.world;
        world
            .network()
            .borrow_mut()
            .close_listener(world, self.number);
    }
}
