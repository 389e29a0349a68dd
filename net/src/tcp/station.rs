//! Serving on one shard.

use std::any::Any;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use corelane::net::TcpStream;
use corelane::{Inlet, spawn};
use corelane_primitives::{Consumer, Producer};

use super::Connection;
use super::binding::Deadline;
use super::roster::{Entry, Roster};
use crate::stats::{Counts, End, Seat};
use crate::{Limit, Permit};

/// What a shard serves with.
pub(super) struct Station<H> {
    handler: Rc<H>,
    place: Place,
}

/// What a shard has of a carrier before it can serve.
pub(super) struct Place {
    limit: Limit,
    roster: Rc<Roster>,
    counts: Arc<Counts>,
}

impl Place {
    pub(super) fn new(connections_max: usize) -> Self {
        Self::with_counts(connections_max, Arc::default())
    }

    /// A place whose counts the shard that accepts has too.
    pub(super) fn with_counts(connections_max: usize, counts: Arc<Counts>) -> Self {
        Self {
            limit: Limit::new(connections_max),
            roster: Rc::default(),
            counts,
        }
    }

    pub(super) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    pub(super) fn roster(&self) -> Rc<Roster> {
        Rc::clone(&self.roster)
    }
}

/// A connection on its way to another shard.
pub(super) struct Moved {
    stream: std::net::TcpStream,
    peer: SocketAddr,
    seat: Seat,
}

impl Moved {
    pub(super) fn new(stream: std::net::TcpStream, peer: SocketAddr, seat: Seat) -> Self {
        Self { stream, peer, seat }
    }
}

impl<H, Fut> Station<H>
where
    H: Fn(Connection) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    pub(super) fn new(handler: H, place: Place) -> Self {
        Self {
            handler: Rc::new(handler),
            place,
        }
    }

    pub(super) fn counts(&self) -> &Arc<Counts> {
        &self.place.counts
    }

    /// Serves a connection that was accepted here, or refuses it.
    pub(super) fn admit(&self, stream: TcpStream, peer: SocketAddr, mut seat: Seat) {
        if let Some(permit) = self.permit(&mut seat) {
            seat.accept();
            self.serve(stream, peer, permit, seat);
        }
    }

    /// Serves a connection that was accepted on another shard, or refuses it.
    fn admit_moved(&self, moved: Moved) {
        let Moved {
            stream,
            peer,
            mut seat,
        } = moved;
        let Some(permit) = self.permit(&mut seat) else {
            return;
        };
        match TcpStream::from_std(stream) {
            Ok(stream) => {
                seat.accept_moved();
                self.serve(stream, peer, permit, seat);
            }
            Err(error) => {
                seat.ends(End::Lost);
                tracing::warn!(%error, %peer, "a connection could not be moved");
            }
        }
    }

    fn permit(&self, seat: &mut Seat) -> Option<Permit> {
        let permit = self.place.limit.try_acquire();
        if permit.is_none() {
            seat.ends(End::Refused);
        }
        permit
    }

    fn serve(&self, stream: TcpStream, peer: SocketAddr, permit: Permit, seat: Seat) {
        let served = Served {
            entry: Roster::enter(&self.place.roster),
            _permit: permit,
            seat,
        };
        let number = served.entry.number();
        let connection = Connection::new(stream, peer, self.place.roster());
        let handler = Rc::clone(&self.handler);
        let task = spawn(async move {
            let end = match caught(|| handler(connection)).await {
                Ok(()) => End::Finished,
                Err(panic) => {
                    let message = message(&*panic);
                    tracing::error!(%peer, message, "a handler panicked");
                    End::Panicked
                }
            };
            // Named whole, so that the task holds all of it and not the seat alone.
            served.end(end);
        });
        self.place.roster.keep(number, task);
    }
}

/// What goes when a connection's task does, in this order: whoever sees the seat free finds the
/// permit there.
struct Served {
    entry: Entry,
    _permit: Permit,
    seat: Seat,
}

impl Served {
    fn end(mut self, end: End) {
        self.seat.ends(end);
    }
}

/// Runs one handler; its panic ends it alone.
async fn caught<Fut>(call: impl FnOnce() -> Fut) -> Result<(), Box<dyn Any + Send>>
where
    Fut: Future<Output = ()>,
{
    let future = catch_unwind(AssertUnwindSafe(call))?;
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

/// What a panic said, as far as it said it in text.
fn message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(not a text)")
}

/// Serves what comes over the lane until its other end is gone, then closes by `deadline`. Dropped
/// before, it cuts its connections. It says by `word` that it has its handler.
pub(super) async fn serve_moved<H, Fut>(
    making: impl Future<Output = H>,
    word: Option<Producer<()>>,
    place: Place,
    consumer: Consumer<Moved>,
    deadline: Deadline,
) where
    H: Fn(Connection) -> Fut + 'static,
    Fut: Future<Output = ()> + 'static,
{
    /// Cuts what is left when the task is dropped.
    struct Cut(Rc<Roster>);
    impl Drop for Cut {
        fn drop(&mut self) {
            self.0.cut();
        }
    }
    let inlet = Inlet::new(consumer);
    let Some(handler) = unless_closed(making, &inlet).await else {
        return;
    };
    if let Some(mut word) = word {
        word.push(()).expect("the lane has room for its one word");
    }
    let cut = Cut(place.roster());
    let station = Station::new(handler, place);
    while let Some(moved) = inlet.recv().await {
        station.admit_moved(moved);
    }
    cut.0.drain(deadline.until()).await;
}

/// What `making` gives, or `None` when the other end of the lane goes first.
async fn unless_closed<H>(making: impl Future<Output = H>, inlet: &Inlet<Moved>) -> Option<H> {
    let mut making = pin!(making);
    let mut news = pin!(inlet.ready());
    poll_fn(|cx| {
        if let Poll::Ready(handler) = making.as_mut().poll(cx) {
            return Poll::Ready(Some(handler));
        }
        news.as_mut().poll(cx).map(|is_open| {
            assert!(!is_open, "nobody sends to a shard that has no handler");
            None
        })
    })
    .await
}
