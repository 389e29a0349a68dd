//! Where the feeds of a pass and its writer meet: who is there, and what came of it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nix::unistd::{Pid, gettid};

use super::value::Seen;
use super::{Crowd, Ear, Host};
use crate::measure::{Memory, book_thread};
use crate::rings::{Patience, Start, enter};
use crate::{BenchError, Cores, Meter, Spent, Tally};

/// Which values a feed must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gets {
    /// Newer and newer ones, and the last one.
    Latest,
    /// Each one, in order.
    Each,
}

/// What is known of one pass.
pub(super) struct Stage {
    feeds: usize,
    ready: AtomicUsize,
    done: AtomicUsize,
    wrong: AtomicU64,
    taken: AtomicU64,
    start: Mutex<Option<Meter>>,
    end: Mutex<Option<Meter>>,
    listener: OnceLock<Pid>,
    writer: OnceLock<Pid>,
}

impl Stage {
    pub(super) fn of(feeds: usize) -> Arc<Self> {
        Arc::new(Self {
            feeds,
            ready: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            wrong: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            start: Mutex::default(),
            end: Mutex::default(),
            listener: OnceLock::new(),
            writer: OnceLock::new(),
        })
    }

    /// A listener for each feed; the last one ends the pass.
    pub(super) fn listeners(self: &Arc<Self>, gets: Gets, last: u64) -> Vec<Listener> {
        let listener = || Listener {
            stage: Arc::clone(self),
            gets,
            last,
            seen: Seen::default(),
            tally: Tally::default(),
        };
        (0..self.feeds).map(|_| listener()).collect()
    }

    /// Waits in a task of `H` until every feed is there; `false` when one does not come.
    pub(super) async fn await_ready<H: Host>(&self) -> bool {
        let patience = Patience::default();
        while self.ready.load(Ordering::Acquire) < self.feeds {
            if !patience.miss() {
                return false;
            }
            H::yield_now().await;
        }
        true
    }

    /// The same on a plain thread.
    pub(super) fn wait_ready(&self) -> Result<(), BenchError> {
        let patience = Patience::default();
        while self.ready.load(Ordering::Acquire) < self.feeds {
            if !patience.wait() {
                return Err(BenchError::Stalled { done: 0, of: 1 });
            }
        }
        Ok(())
    }

    pub(super) fn count_ready(&self) {
        self.listener.get_or_init(gettid);
        self.ready.fetch_add(1, Ordering::Release);
    }

    /// The writer begins.
    pub(super) fn begin(&self) {
        self.writer.get_or_init(gettid);
        self.listener
            .get()
            .copied()
            .into_iter()
            .for_each(book_thread);
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Some(Meter::start());
    }

    fn finish(&self, taken: u64, wrong: u64) {
        self.taken.fetch_add(taken, Ordering::Relaxed);
        self.wrong.fetch_add(wrong, Ordering::Relaxed);
        // AcqRel: the last one sees what the others have added.
        if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.feeds {
            self.writer.get().copied().into_iter().for_each(book_thread);
            *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Meter::start());
        }
    }

    /// What the pass spent from the writer's begin to the last feed's end, if all was right.
    pub(super) fn spent(&self, ops: u64) -> Result<Spent, BenchError> {
        let done = self.done.load(Ordering::Acquire) as u64;
        BenchError::check("feeds that got the last value", self.feeds as u64, done)?;
        let wrong = self.wrong.load(Ordering::Relaxed);
        BenchError::check("values lost, doubled or misplaced", 0, wrong)?;
        let at = |meter: &Mutex<Option<Meter>>| {
            let meter = *meter.lock().unwrap_or_else(PoisonError::into_inner);
            meter.ok_or(BenchError::Panicked)
        };
        let memory = Memory::read();
        let (start, end) = (at(&self.start)?, at(&self.end)?);
        Ok(start.until(end, ops, memory.peak_rss_kib, memory.threads))
    }

    /// Values that the feeds took, all together.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

/// Takes and checks what one feed gets.
pub(super) struct Listener {
    stage: Arc<Stage>,
    gets: Gets,
    last: u64,
    seen: Seen,
    tally: Tally,
}

impl Ear for Listener {
    fn ready(&mut self) {
        self.stage.count_ready();
    }

    #[inline]
    fn take(&mut self, value: u64) -> bool {
        match self.gets {
            Gets::Latest => {
                if self.seen.take(value) < self.last {
                    return true;
                }
                self.stage.finish(self.seen.count(), self.seen.wrong());
            }
            Gets::Each => {
                if value == 0 && self.tally.count() == 0 {
                    return true; // what the source was opened with
                }
                self.tally.take(value.wrapping_sub(1));
                if self.tally.count() < self.last {
                    return true;
                }
                let wrong = u64::from(self.tally.check(self.last).is_err());
                self.stage.finish(self.tally.count(), wrong);
            }
        }
        false
    }
}

/// Runs `listen` for `ears` on the first core while `write` runs here on the second.
///
/// `write` runs in a task of the crowd's host.
pub(super) fn against<C: Crowd, E: Ear, F: Future<Output = ()> + 'static>(
    cores: Cores,
    crowd: &C,
    ears: Vec<E>,
    write: F,
) -> Result<(), BenchError> {
    beside(cores, crowd, ears, |start| {
        let core = cores.second;
        enter(start, core, |meet| {
            C::Host::run(core, vec![write], move || meet.now())
        })
    })
}

/// Runs `listen` for `ears` on the first core while `other` runs here; `other` meets at the start.
pub(super) fn beside<C: Crowd, E: Ear>(
    cores: Cores,
    crowd: &C,
    ears: Vec<E>,
    other: impl FnOnce(&Arc<Start>) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let start = Arc::new(Start::of(2));
    let core = cores.first;
    let listening = crowd.clone();
    std::thread::scope(|scope| {
        let there = Arc::clone(&start);
        let listener = scope.spawn(move || {
            enter(&there, core, |meet| {
                listening.listen(core, ears, move || meet.now())
            })
        });
        let here = other(&start);
        if here.is_err() {
            crowd.close(); // what the feeds wait for will not come
        }
        listener.join().map_err(|_| BenchError::Panicked)??;
        here
    })
}
