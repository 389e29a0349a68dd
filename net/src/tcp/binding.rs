//! What is being served, as its owner has it.

use std::fmt;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use corelane::time::Instant;
use corelane::{JoinError, JoinHandle, Submit, SubmitError};

use super::acceptor::Broken;
use super::roster::Roster;
use crate::CloseError;
use crate::stats::{Counts, Stats};

/// A TCP address that is being served.
///
/// Dropping it stops accepting and drops every connection on every shard; [`Binding::close`] gives
/// them time. It stays on the shard that served.
///
/// ```
/// # use std::time::Duration;
/// # use corelane_net::Tcp;
/// # corelane::Runtime::builder().run(|| async {
/// let mut binding = Tcp::bind("127.0.0.1:0").serve(|_| async {})?;
/// println!("serving on {}", binding.local_addr());
/// // A service waits here, for example for `corelane::shutdown::wait()`.
/// let stats = binding.close(Duration::from_secs(10)).await?;
/// assert_eq!(stats.total.open, 0);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?.expect("nothing fails here");
/// # Ok::<_, corelane::StartError>(())
/// ```
#[must_use = "dropping a binding drops all its connections"]
pub struct Binding {
    addr: SocketAddr,
    acceptor: Option<JoinHandle<Broken>>,
    broken: Option<Broken>,
    home: Home,
    others: Vec<Other>,
    deadline: Deadline,
}

/// The end of a close, in nanoseconds of the runtime's clock; never while none was asked for.
#[derive(Clone)]
pub(super) struct Deadline(Arc<AtomicU64>);

/// The shard that accepts.
pub(super) struct Home {
    pub(super) shard: usize,
    pub(super) counts: Arc<Counts>,
    pub(super) roster: Rc<Roster>,
}

/// Another shard that serves.
pub(super) struct Other {
    pub(super) shard: usize,
    pub(super) counts: Arc<Counts>,
    /// Gone once it was waited for.
    pub(super) serving: Option<Submit<()>>,
}

impl Binding {
    pub(super) fn new(
        addr: SocketAddr,
        acceptor: JoinHandle<Broken>,
        home: Home,
        others: Vec<Other>,
        deadline: Deadline,
    ) -> Self {
        Self {
            addr,
            acceptor: Some(acceptor),
            broken: None,
            home,
            others,
            deadline,
        }
    }

    /// The address that is served, with the port that the kernel chose.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What became of the connections so far. Costs the serving shards nothing.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let others = self
            .others
            .iter()
            .map(|other| (other.shard, &*other.counts));
        Stats::of(
            [(self.home.shard, &*self.home.counts)]
                .into_iter()
                .chain(others),
        )
    }

    /// Waits until the listener is of no more use, and says why. Connections that are open go on.
    ///
    /// Running out of descriptors or memory is no such end: accepting waits then, and goes on.
    ///
    /// # Panics
    ///
    /// With the panic of the task that accepts, should it have one.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and called again at any time.
    pub async fn failed(&mut self) -> &io::Error {
        if let Some(acceptor) = &mut self.acceptor {
            let ended = acceptor.await;
            // Before anything that may be given up: a handle is not polled again.
            self.acceptor = None;
            match ended {
                Ok(broken) => self.broken = Some(broken),
                Err(JoinError::Panicked(panic)) => resume_unwind(panic.into_payload()),
                // A close was begun, or the shard stops.
                Err(_) => pending().await,
            }
        }
        match &self.broken {
            Some(broken) => &broken.error,
            None => pending().await,
        }
    }

    /// Stops accepting, tells the handlers ([`Connection::closing`](crate::Connection::closing)),
    /// lets them end until `deadline` from now, and drops those that are left. Gives the final
    /// counts: `accepted = finished + cut + panicked`.
    ///
    /// Connections that the kernel has made and nobody has accepted are reset by it. A second call
    /// finds nothing left to do.
    ///
    /// # Errors
    ///
    /// [`CloseError`] when a shard stopped serving by itself before; the others were closed.
    ///
    /// # Cancel safety
    ///
    /// A dropped future leaves the closing going on by itself on the other shards; call it again
    /// for this one, or drop the binding.
    pub async fn close(&mut self, deadline: Duration) -> Result<Stats, CloseError> {
        let until = Instant::now().saturating_add(deadline);
        self.deadline.set(until);
        let mut failed = None;
        let mut note = |shard, source| {
            failed.get_or_insert(CloseError::Shard { shard, source });
        };
        if let Some(acceptor) = &mut self.acceptor {
            acceptor.abort();
            let ended = acceptor.await;
            self.acceptor = None;
            match ended {
                Ok(broken) => self.broken = Some(broken),
                Err(JoinError::Cancelled) => {}
                Err(error) => note(self.home.shard, SubmitError::from(error)),
            }
        }
        if let Some(broken) = &mut self.broken {
            broken.ways.clear();
        }
        self.home.roster.drain(until).await;
        for other in &mut self.others {
            if let Some(serving) = &mut other.serving {
                if let Err(source) = serving.await {
                    note(other.shard, source);
                }
                other.serving = None;
            }
        }
        failed.map_or_else(|| Ok(self.stats()), Err)
    }
}

impl Deadline {
    pub(super) fn never() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }

    // Relaxed: a lane's end is dropped after the store, and the reader has seen that.
    fn set(&self, until: Instant) {
        self.0.store(until.as_nanos(), Ordering::Relaxed);
    }

    pub(super) fn until(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        if let Some(acceptor) = &self.acceptor {
            acceptor.abort();
        }
        self.home.roster.cut();
        // A dropped call is cancelled on its shard, and cuts what that shard serves.
    }
}

impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Binding")
            .field("addr", &self.addr)
            .field("stats", &self.stats().total)
            .finish_non_exhaustive()
    }
}
