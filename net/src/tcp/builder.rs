//! What is served, and how.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use corelane::net::{ListenOptions, TcpListener, ToAddr};
use corelane::{Outlet, Shard, shard, shards, spawn};
use corelane_primitives::lane;

use super::acceptor::{Acceptor, Way};
use super::binding::{Deadline, Home, Other};
use super::station::{self, Station};
use super::{Binding, Connection};
use crate::stats::Counts;
use crate::{Limits, ServeError, Sharding};

/// TCP that is to be served; see [`Tcp::bind`]. Nothing happens before [`Tcp::serve`].
#[derive(Debug)]
#[must_use = "settings do nothing by themselves: call serve"]
pub struct Tcp {
    addr: io::Result<SocketAddr>,
    sharding: Sharding,
    limits: Limits,
}

impl Tcp {
    /// Serves on `addr`. Port 0 lets the kernel choose.
    ///
    /// ```
    /// use corelane_net::{Limits, Sharding, Tcp};
    ///
    /// # corelane::Runtime::builder().shards(1).run(|| async {
    /// let limits = Limits::new().connections_max(1_000);
    /// let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Off).limits(limits);
    /// let binding = tcp.serve(|conn| async move {
    ///     println!("{} says hello", conn.peer());
    /// })?;
    /// assert_ne!(binding.local_addr().port(), 0);
    /// # Ok::<_, corelane_net::ServeError>(())
    /// # })?.expect("port 0 is always free");
    /// # Ok::<_, corelane::StartError>(())
    /// ```
    pub fn bind(addr: impl ToAddr) -> Self {
        Self {
            addr: addr.to_addr(),
            sharding: Sharding::default(),
            limits: Limits::default(),
        }
    }

    /// On how many shards: by default on every one of the runtime.
    pub fn shards(mut self, sharding: Sharding) -> Self {
        self.sharding = sharding;
        self
    }

    /// What may be held at once.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Listens, and calls `handler` for each connection, on the shard that the connection stays on.
    /// The handler is cloned once a shard; its futures are tasks of their own and need not be
    /// `Send`. A connection closes when its handler ends.
    ///
    /// A handler that panics loses its connection; that is logged and counted, and all others go
    /// on.
    ///
    /// Costs a few system calls and never waits.
    ///
    /// # Errors
    ///
    /// [`ServeError`]; nothing is left then.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    pub fn serve<H, Fut>(self, handler: H) -> Result<Binding, ServeError>
    where
        H: Fn(Connection) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        self.limits.check()?;
        let addr = self.addr.map_err(ServeError::Address)?;
        let here = shard();
        let others = self.sharding.others(&here, &shards())?;
        let options = ListenOptions::new().backlog(self.limits.backlog);
        let bind = |source| ServeError::Bind { addr, source };
        let listener = TcpListener::bind_with(addr, &options).map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;

        let deadline = Deadline::never();
        let (ways, others) = others
            .iter()
            .map(|shard| open_way(shard, handler.clone(), &self.limits, &deadline))
            .unzip();
        let counts = Arc::<Counts>::default();
        let station = Station::new(handler, self.limits.connections_max, &counts);
        let home = Home {
            shard: here.index(),
            counts,
            roster: station.roster(),
        };
        let acceptor = spawn(Acceptor::new(listener, station, ways).run());
        Ok(Binding::new(addr, acceptor, home, others, deadline))
    }
}

/// Starts to serve on another shard, and gives the way there.
fn open_way<H, Fut>(shard: &Shard, handler: H, limits: &Limits, deadline: &Deadline) -> (Way, Other)
where
    H: Fn(Connection) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let counts = Arc::<Counts>::default();
    let (producer, consumer) = lane(usize::from(limits.handoffs_max).next_power_of_two());
    let connections_max = limits.connections_max;
    let (there, deadline) = (Arc::clone(&counts), deadline.clone());
    let serving = shard.submit(move || {
        let station = Station::new(handler, connections_max, &there);
        station::serve_moved(station, consumer, deadline)
    });
    let way = Way::new(Outlet::new(producer), Arc::clone(&counts));
    let other = Other {
        shard: shard.index(),
        counts,
        serving: Some(serving),
    };
    (way, other)
}
