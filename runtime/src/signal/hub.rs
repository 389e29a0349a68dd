//! The process's hub: one thread that counts signals and wakes who listens.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use thread_aware::registry::{original_mask, restore_mask};

use crate::task::wake_all;

/// Signals that are read at once from one socket.
const READ_BYTES: usize = 256;

static HUB: Mutex<Option<Arc<Hub>>> = Mutex::new(None);

/// How many signals of each kind have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) interrupts: u64,
    pub(super) terminations: u64,
}

/// One listener of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListenerId(u64);

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    listeners: u64,
    waiting: BTreeMap<ListenerId, Waker>,
}

/// What the signals' thread and the listeners share.
#[derive(Debug, Default)]
pub(super) struct Hub(Mutex<State>);

impl Hub {
    /// The process's hub, made by the first call that succeeds.
    ///
    /// # Errors
    ///
    /// When its sockets, handlers or thread cannot be made.
    pub(super) fn of_process() -> io::Result<Arc<Self>> {
        let mut made = HUB.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = &*made {
            return Ok(Arc::clone(hub));
        }
        let hub = Arc::new(Self::default());
        start(Arc::clone(&hub))?;
        *made = Some(Arc::clone(&hub));
        Ok(hub)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new listener, and what had come before it.
    pub(super) fn listen(&self) -> (ListenerId, Counts) {
        let mut state = self.lock();
        state.listeners += 1;
        (ListenerId(state.listeners), state.counts)
    }

    /// What has come, if `news` finds some in it; else keeps the waker.
    pub(super) fn poll<R>(
        &self,
        listener: ListenerId,
        waker: &Waker,
        news: impl FnOnce(Counts) -> Option<R>,
    ) -> Option<R> {
        let mut state = self.lock();
        let found = news(state.counts);
        let old = if found.is_none() {
            state.waiting.insert(listener, waker.clone())
        } else {
            None
        };
        drop(state);
        drop(old);
        found
    }

    /// Forgets a listener's waker.
    pub(super) fn leave(&self, listener: ListenerId) {
        let waker = self.lock().waiting.remove(&listener);
        drop(waker);
    }

    fn add(&self, come: Counts) {
        let mut state = self.lock();
        state.counts.interrupts += come.interrupts;
        state.counts.terminations += come.terminations;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        // One that panics must not end this thread, which everybody hears signals by.
        wake_all(waiting.into_values());
    }
}

/// Starts the hub's thread and then registers the handlers, so that a failure leaves none behind
/// but for one of SIGINT that writes into a closed socket.
fn start(hub: Arc<Hub>) -> io::Result<()> {
    let mask = original_mask().map_err(io::Error::other)?;
    let (interrupts, interrupt) = UnixStream::pair()?;
    let (terminations, terminate) = UnixStream::pair()?;
    let (report, ready) = mpsc::channel();
    thread::Builder::new()
        .name("corelane-signals".to_owned())
        .spawn(move || {
            // The thread that made this one may be pinned.
            let restored = restore_mask(&mask).map_err(io::Error::other);
            let failed = restored.is_err();
            if report.send(restored).is_err() || failed {
                return;
            }
            run(&hub, interrupts, terminations);
        })?;
    ready
        .recv()
        .map_err(|_| io::Error::other("the signals' thread did not start"))??;
    pipe::register(SIGINT, interrupt)?;
    pipe::register(SIGTERM, terminate)?;
    Ok(())
}

/// Counts for ever; ends when the handlers' ends of the sockets are gone.
fn run(hub: &Hub, mut interrupts: UnixStream, mut terminations: UnixStream) {
    loop {
        let mut sockets = [
            PollFd::new(&interrupts, PollFlags::IN),
            PollFd::new(&terminations, PollFlags::IN),
        ];
        match poll(&mut sockets, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return report(&error.into()),
        }
        let [interrupted, terminated] = sockets.map(|socket| !socket.revents().is_empty());
        let come = count(interrupted, &mut interrupts).and_then(|interrupts| {
            let terminations = count(terminated, &mut terminations)?;
            Ok(Counts {
                interrupts,
                terminations,
            })
        });
        match come {
            Ok(come) => hub.add(come),
            Err(error) => return report(&error),
        }
    }
}

/// How many signals wait in `socket`, at most [`READ_BYTES`].
fn count(readable: bool, socket: &mut UnixStream) -> io::Result<u64> {
    if !readable {
        return Ok(0);
    }
    match socket.read(&mut [0; READ_BYTES]) {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Ok(bytes) => Ok(bytes as u64),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(error) => Err(error),
    }
}

fn report(error: &io::Error) {
    tracing::error!(%error, "signals are not heard any more");
}
