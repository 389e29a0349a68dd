//! What is served, and how.

use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use corelane::net::{ListenOptions, TcpListener, ToAddr};
use corelane::{Inlet, Outlet, Shard, shard, shards, spawn};
use corelane_primitives::lane;

use super::acceptor::{Acceptor, Way, made};
use super::binding::{Deadline, Home, Other};
use super::station::{self, Place, Station};
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
    /// `Send`. A connection closes when its handler ends. For state of a shard, see
    /// [`Tcp::serve_with`].
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
        self.start(move |_| ready(handler), Begin::AtOnce)
    }

    /// As [`Tcp::serve`], with a state on each serving shard, which its connections share. `state`
    /// runs once a shard, on it, and makes the state; `handler` gets that with each connection. The
    /// state need not be `Send`: it stays on its shard, and is dropped there when the binding is
    /// closed and the last handler has let go of it.
    ///
    /// Nothing is accepted before every serving shard has its state; connections that come earlier
    /// wait in the kernel, as many as [`Limits::backlog`] says. This call itself never waits.
    ///
    /// A shard whose `state` panics does not serve: that is logged, [`Binding::close`] tells it,
    /// and the others go on. On the shard that accepts, nothing is served then, and
    /// [`Binding::failed`] gives the panic.
    ///
    /// # Errors
    ///
    /// As [`Tcp::serve`].
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use corelane::net::TcpStream;
    /// use corelane_net::{Sharding, Tcp};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # corelane::Runtime::builder().shards(1).run(|| async {
    /// let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Off);
    /// // Tells each connection which one it is on its shard.
    /// let binding = tcp.serve_with(
    ///     |_shard| async { Cell::new(0_u8) },
    ///     |served, conn| async move {
    ///         served.set(served.get() + 1);
    ///         if let (Err(error), _) = conn.write_all(vec![served.get()]).await {
    ///             eprintln!("{}: {error}", conn.peer());
    ///         }
    ///     },
    /// )?;
    /// for number in 1..=3 {
    ///     let client = TcpStream::connect(binding.local_addr()).await?;
    ///     assert_eq!(&client.read_chunk().await?[..], [number]);
    /// }
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })??;
    /// # Ok(())
    /// # }
    /// ```
    pub fn serve_with<M, Making, S, H, Fut>(
        self,
        state: M,
        handler: H,
    ) -> Result<Binding, ServeError>
    where
        M: FnOnce(Shard) -> Making + Clone + Send + 'static,
        Making: Future<Output = S> + 'static,
        S: 'static,
        H: Fn(Rc<S>, Connection) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let make = move |shard| async move {
            let state = Rc::new(state(shard).await);
            move |conn| handler(Rc::clone(&state), conn)
        };
        self.start(make, Begin::WhenMade)
    }

    /// Serves by the handlers that `make` makes, one a shard.
    fn start<M, Making, H, Fut>(self, make: M, begin: Begin) -> Result<Binding, ServeError>
    where
        M: FnOnce(Shard) -> Making + Clone + Send + 'static,
        Making: Future<Output = H> + 'static,
        H: Fn(Connection) -> Fut + 'static,
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
            .map(|shard| open_way(shard, make.clone(), begin, &self.limits, &deadline))
            .unzip();
        let place = Place::new(self.limits.connections_max);
        let home = Home {
            shard: here.index(),
            counts: place.counts(),
            roster: place.roster(),
        };
        let acceptor = spawn(async move {
            let handler = make(here).await;
            let ways = made(ways).await;
            Acceptor::new(listener, Station::new(handler, place), ways)
                .run()
                .await
        });
        Ok(Binding::new(addr, acceptor, home, others, deadline))
    }
}

/// When accepting begins.
#[derive(Debug, Clone, Copy)]
enum Begin {
    /// A shard has its handler at once.
    AtOnce,
    /// Every shard says first that it has its handler.
    WhenMade,
}

/// Starts to serve on another shard, and gives the way there.
fn open_way<M, Making, H, Fut>(
    shard: &Shard,
    make: M,
    begin: Begin,
    limits: &Limits,
    deadline: &Deadline,
) -> (Way, Other)
where
    M: FnOnce(Shard) -> Making + Send + 'static,
    Making: Future<Output = H> + 'static,
    H: Fn(Connection) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let counts = Arc::<Counts>::default();
    let (producer, consumer) = lane(usize::from(limits.handoffs_max).next_power_of_two());
    let (word, awaited) = match begin {
        Begin::AtOnce => (None, None),
        Begin::WhenMade => {
            let (word, awaited) = lane(1);
            (Some(word), Some(awaited))
        }
    };
    let connections_max = limits.connections_max;
    let (there, deadline) = (Arc::clone(&counts), deadline.clone());
    let serving = shard.submit(move || {
        let place = Place::with_counts(connections_max, there);
        let making = async { make(corelane::shard()).await };
        station::serve_moved(making, word, place, consumer, deadline)
    });
    let awaited = awaited.map(Inlet::new);
    let way = Way::new(
        shard.index(),
        Outlet::new(producer),
        Arc::clone(&counts),
        awaited,
    );
    let other = Other {
        shard: shard.index(),
        counts,
        serving: Some(serving),
    };
    (way, other)
}
