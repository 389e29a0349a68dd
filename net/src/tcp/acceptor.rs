//! Accepting, and the choice of a shard for each connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use corelane::net::{TcpListener, TcpStream};
use corelane::{Inlet, Outlet};

use super::Connection;
use super::station::{Moved, Station};
use crate::stats::{Counts, Seat};

/// The way to another serving shard. Dropping it tells that shard to close.
pub(super) struct Way {
    shard: usize,
    outlet: Outlet<Moved>,
    counts: Arc<Counts>,
    /// Where that shard says that it has what it serves with, if that is waited for.
    awaited: Option<Inlet<()>>,
}

impl Way {
    pub(super) fn new(
        shard: usize,
        outlet: Outlet<Moved>,
        counts: Arc<Counts>,
        awaited: Option<Inlet<()>>,
    ) -> Self {
        Self {
            shard,
            outlet,
            counts,
            awaited,
        }
    }

    /// Waits until the other shard can serve; `false` when it never will.
    async fn is_made(&self) -> bool {
        match &self.awaited {
            None => true,
            Some(awaited) => awaited.recv().await.is_some(),
        }
    }
}

/// The ways to the shards that have what they serve with, as soon as all have it that ever will.
pub(super) async fn made(ways: Vec<Way>) -> Vec<Way> {
    let mut made = Vec::with_capacity(ways.len());
    for way in ways {
        if way.is_made().await {
            made.push(way);
        } else {
            let shard = way.shard;
            tracing::error!(shard, "a shard does not serve: its state could not be made");
        }
    }
    made
}

/// The task that accepts.
pub(super) struct Acceptor<H> {
    listener: TcpListener,
    home: Station<H>,
    ways: Vec<Way>,
}

/// A listener that broke. The ways stay open, so that the other shards serve on what they have.
pub(super) struct Broken {
    pub(super) error: io::Error,
    pub(super) ways: Vec<Way>,
}

impl<H, Fut> Acceptor<H>
where
    H: Fn(Connection) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    pub(super) fn new(listener: TcpListener, home: Station<H>, ways: Vec<Way>) -> Self {
        Self {
            listener,
            home,
            ways,
        }
    }

    /// Accepts until the listener is of no more use.
    pub(super) async fn run(self) -> Broken {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => self.place(stream, peer),
                Err(error) => {
                    tracing::error!(%error, "a listener broke: nothing is accepted any more");
                    let ways = self.ways;
                    return Broken { error, ways };
                }
            }
        }
    }

    /// Gives a connection to the shard with the fewest.
    fn place(&self, stream: TcpStream, peer: SocketAddr) {
        let Some(way) = self.way_to_fewest() else {
            return self.home.admit(stream, peer, Seat::new(self.home.counts()));
        };
        let seat = Seat::new(&way.counts);
        // The seat is dropped with a socket that cannot be moved, and counts it as lost.
        match stream.into_std() {
            Ok(stream) => {
                let moved = Moved::new(stream, peer, seat);
                if way.outlet.push(moved).is_err() {
                    unreachable!("the room was there, and only this task takes it");
                }
            }
            Err(error) => tracing::warn!(%error, %peer, "a connection could not be moved"),
        }
    }

    /// The way to the shard with the fewest connections; `None` when that is this one.
    fn way_to_fewest(&self) -> Option<&Way> {
        let mut fewest = self.home.counts().load();
        let mut chosen = None;
        for way in &self.ways {
            let load = way.counts.load();
            if load < fewest && way.outlet.slots() > 0 && !way.outlet.is_abandoned() {
                fewest = load;
                chosen = Some(way);
            }
        }
        chosen
    }
}
