//! Listeners: what a task has of the hub.

use std::fmt;
use std::future::{pending, poll_fn};
use std::io;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use super::hub::{Counts, Hub, ListenerId};
use crate::driver::Driver;
use crate::shard::Context;

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// SIGINT: somebody pressed Ctrl-C.
    Interrupt,
    /// SIGTERM: whoever supervises the program wants it to end.
    Terminate,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// A listener to SIGINT and SIGTERM.
///
/// It hears each signal that the process gets after it was made, and none twice; so do all other
/// listeners. Signals are counted, so none is lost between two calls of [`Signals::next`]. The
/// kernel itself merges a signal with an equal one that it has not delivered yet. Of signals that
/// wait, SIGINT comes first.
///
/// The first listener of a process takes both signals for good: they end the program no more, also
/// when all listeners are gone. A simulation has no signals: its listeners take nothing and hear
/// nothing.
///
/// It needs no shard, only a waker: any task of any executor may wait.
///
/// ```no_run
/// use corelane::signal::{Signal, Signals};
///
/// # async fn serve() -> std::io::Result<()> {
/// let mut signals = Signals::new()?;
/// while signals.next().await == Signal::Interrupt {
///     println!("Ctrl-C again? SIGTERM ends this.");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Signals(Option<Listener>);

#[derive(Debug)]
struct Listener {
    hub: Arc<Hub>,
    id: ListenerId,
    heard: Counts,
}

impl Signals {
    /// Begins to listen.
    ///
    /// The first call of a process makes a thread and two pairs of sockets.
    ///
    /// # Errors
    ///
    /// When these cannot be made, or the handlers cannot be set. The next call tries again.
    pub fn new() -> io::Result<Self> {
        let simulated = Context::try_with(|context| matches!(context.driver(), Driver::Sim(_)));
        if simulated == Some(true) {
            return Ok(Self(None));
        }
        let hub = Hub::of_process()?;
        let (id, heard) = hub.listen();
        Ok(Self(Some(Listener { hub, id, heard })))
    }

    /// Waits for the next signal.
    ///
    /// # Cancel safety
    ///
    /// A signal is taken only by the call that returns it.
    pub async fn next(&mut self) -> Signal {
        match &mut self.0 {
            Some(listener) => poll_fn(|cx| listener.poll(cx)).await,
            None => pending().await,
        }
    }
}

impl Listener {
    fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<Signal> {
        let heard = &mut self.heard;
        let found = self.hub.poll(self.id, cx.waker(), |come| {
            if heard.interrupts < come.interrupts {
                heard.interrupts += 1;
                Some(Signal::Interrupt)
            } else if heard.terminations < come.terminations {
                heard.terminations += 1;
                Some(Signal::Terminate)
            } else {
                None
            }
        });
        found.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.leave(self.id);
    }
}

/// Waits for the first signal from now on: [`Signals`] for one use.
///
/// Signals between two calls are heard by neither; where that matters, keep one [`Signals`].
///
/// # Errors
///
/// As [`Signals::new`].
///
/// # Cancel safety
///
/// A signal that came while it was waiting is not given to a later call.
///
/// ```no_run
/// # async fn serve() -> std::io::Result<()> {
/// let signal = corelane::signal::next().await?;
/// println!("{signal}: closing");
/// # Ok(())
/// # }
/// ```
pub async fn next() -> io::Result<Signal> {
    Ok(Signals::new()?.next().await)
}
