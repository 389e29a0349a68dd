//! Who is to be woken by news: the crews of a source's feeds.

use super::{Crew, Member};
use crate::control::Control;
use crate::feed::OnShard;
use crate::panics::Panics;
use crate::sync::{AtomicU64, Ordering};
use std::sync::Arc;

/// The crews of one source. Feeds come and go through the control plane; who publishes reads one
/// word.
pub(crate) struct Bells {
    /// How many crews have somebody parked.
    pub(super) parked: AtomicU64,
    crews: Control<Vec<Arc<Crew>>>,
    scans: AtomicU64,
    bells: AtomicU64,
}

impl Bells {
    pub(crate) fn new() -> Self {
        Self {
            parked: AtomicU64::new(0),
            crews: Control::new(),
            scans: AtomicU64::new(0),
            bells: AtomicU64::new(0),
        }
    }

    /// A member of the calling thread's crew, which is made if there is none.
    pub(super) fn join(&self) -> Member<OnShard> {
        let found = self.crews.read(|crews| {
            let mut crews = crews?.iter();
            crews.find(|crew| crew.is_here()).cloned()
        });
        let crew = found.unwrap_or_else(|| {
            let crew = Crew::here();
            self.register(&crew);
            crew
        });
        crew.join()
    }

    /// From now on publishers look at `crew`. It needs no fence: parking has one.
    pub(super) fn register(&self, crew: &Arc<Crew>) {
        self.crews.change(|crews| {
            let mut all = crews.cloned().unwrap_or_default();
            all.push(Arc::clone(crew));
            Some(all)
        });
    }

    /// Takes `member` off its crew, and a crew without members off the list.
    pub(super) fn leave<P>(&self, member: &Member<P>) {
        if !member.leave() {
            return;
        }
        self.crews.change(|crews| {
            let rest = crews?.iter();
            let rest: Vec<_> = rest
                .filter(|crew| !Arc::ptr_eq(crew, member.crew()))
                .cloned()
                .collect();
            (!rest.is_empty()).then_some(rest)
        });
        // Only now: what a waker's drop runs may make new feeds on this thread.
        member.clear();
    }

    /// Wakes each crew that is parked. With none parked it is a load; the caller has fenced since
    /// it published.
    #[inline]
    pub(crate) fn ring_after_fence(&self) {
        // Relaxed: a crew counts itself before its mark's fence. Either a feed sees the news, or
        // its mark is seen here.
        if self.parked.load(Ordering::Relaxed) > 0 {
            self.ring_parked();
        }
    }

    #[cold]
    #[inline(never)]
    fn ring_parked(&self) {
        self.scans.fetch_add(1, Ordering::Relaxed);
        let mut panics = Panics::default();
        self.crews.read(|crews| {
            for crew in crews.into_iter().flatten() {
                if panics.run(|| crew.wake_after_fence()) == Some(true) {
                    self.bells.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        panics.resume();
    }

    pub(crate) fn turns(&self) -> u64 {
        self.crews.turns()
    }

    pub(crate) fn scans(&self) -> u64 {
        self.scans.load(Ordering::Relaxed)
    }

    pub(crate) fn bells(&self) -> u64 {
        self.bells.load(Ordering::Relaxed)
    }
}
