//! The feeds of one thread that wait for the same news.
//!
//! One of those that wait has the *duty*: publishers ring its waker alone, through the crew's
//! [`Parker`], so they wake once a crew however many feeds wait. Whichever member finds news wakes
//! all others that have not seen them. A member that leaves or gives up waiting hands its duty on;
//! one that could do neither unseen waits in a crew of its own (see `seat`).
//!
//! What a member has seen is a number that grows with every change, as the source counts them.
//!
//! Owner: the thread that the crew was made on, or whoever holds its only member; publishers touch
//! the parker alone. Nothing runs while the list is borrowed but the clone of a waker.

use super::Parker;
use super::parker::Spare;
use crate::feed::{Detached, OnShard};
use crate::pad::CachePadded;
use crate::panics::Panics;
use crate::sync::{AtomicU64, Ordering, ThreadId, thread_id};
use std::cell::{RefCell, RefMut};
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::Waker;
use thread_aware::affinity::{self, Affinity};

pub(crate) struct Crew {
    /// `None` for a crew of one, which may travel.
    owner: Option<(Affinity, ThreadId)>,
    parker: CachePadded<Parker>,
    list: RefCell<List>,
}

// SAFETY: Valid: the list holds wakers and numbers, which are Send. Exclusive: it is reached
// through a member alone, see `Member::list`.
unsafe impl Sync for Crew {}

#[derive(Default)]
struct List {
    /// Where each member stands in `waiting`.
    places: Vec<Option<usize>>,
    vacant: Vec<usize>,
    waiting: Vec<Waiting>,
    /// Who is to be rung. `Some` exactly while the crew counts as parked.
    duty: Option<usize>,
    /// Room for the wakers of one [`Member::found`], kept so that a wait allocates nothing; as much
    /// as the most that ever waited together needed. Empty but meanwhile.
    woken: Vec<Waker>,
    /// What the parker had before, kept for the same reason.
    spare: Spare,
}

struct Waiting {
    member: usize,
    waker: Waker,
    /// What the member has seen, as it names it.
    seen: u64,
}

impl Crew {
    /// A crew of the calling thread, at its affinity, without a member.
    pub(crate) fn here() -> Arc<Self> {
        Self::of(Some((affinity::current(), thread_id())))
    }

    /// The only member of a crew that nobody joins.
    pub(crate) fn alone() -> Member<Detached> {
        let crew = Self::of(None);
        crew.list.borrow_mut().places.push(None);
        Member::new(crew, 0)
    }

    /// Whether it has one member only, which may travel.
    pub(super) fn is_alone(&self) -> bool {
        self.owner.is_none()
    }

    /// Whether it belongs to the calling thread and affinity.
    pub(crate) fn is_here(&self) -> bool {
        self.owner == Some((affinity::current(), thread_id()))
    }

    /// One more member.
    ///
    /// # Panics
    ///
    /// If the crew is not the calling thread's.
    pub(crate) fn join(self: &Arc<Self>) -> Member<OnShard> {
        assert!(self.is_here(), "a crew belongs to one thread");
        let mut list = self.list.borrow_mut();
        let id = list.vacant.pop().unwrap_or_else(|| {
            list.places.push(None);
            list.places.len() - 1
        });
        drop(list);
        Member::new(Arc::clone(self), id)
    }

    /// Wakes who has the duty, if the crew is parked, and tells whether this call did. The caller
    /// has fenced since it published.
    pub(crate) fn wake_after_fence(&self) -> bool {
        self.parker.wake_after_fence()
    }

    fn of(owner: Option<(Affinity, ThreadId)>) -> Arc<Self> {
        Arc::new(Self {
            owner,
            parker: CachePadded::new(Parker::new()),
            list: RefCell::new(List::default()),
        })
    }
}

/// One feed of a crew. On a shared crew it stays on its thread, since [`OnShard`] is not Send; the
/// one that may travel has its crew alone, and is not Sync.
pub(crate) struct Member<P> {
    crew: Arc<Crew>,
    id: usize,
    place: PhantomData<P>,
}

impl<P> Member<P> {
    fn new(crew: Arc<Crew>, id: usize) -> Self {
        let place = PhantomData;
        Self { crew, id, place }
    }

    pub(crate) fn crew(&self) -> &Arc<Crew> {
        &self.crew
    }

    /// Waits for news after `seen`; the crew counts in `parked` while somebody does.
    ///
    /// Returns whether this member has the duty: it then looks once more. Otherwise another one
    /// waits for all.
    pub(crate) fn wait(&self, waker: &Waker, seen: u64, parked: &AtomicU64) -> bool {
        let mut list = self.list();
        let old = list.enter(self.id, waker, seen);
        if list.duty.is_none() {
            // Relaxed: the mark's fence follows, and orders it with a publisher's look.
            parked.fetch_add(1, Ordering::Relaxed);
            list.duty = Some(self.id);
        }
        let has_duty = list.duty == Some(self.id);
        drop(list);
        drop(old);
        if has_duty {
            self.park(waker);
        }
        has_duty
    }

    /// Has looked at news, which `now` counts: waits no more, and wakes all others that have not
    /// seen them. It need not have waited.
    pub(crate) fn found(&self, parked: &AtomicU64, now: impl Fn() -> u64) {
        let mut list = self.list();
        if list.duty.is_none() {
            return; // nobody waits
        }
        let mut panics = Panics::default();
        let own = list.exit(self.id);
        let mut woken = list.exit_before(now());
        let has_duty = list.duty.is_some_and(|duty| list.places[duty].is_some());
        if has_duty {
            drop(list);
        } else {
            panics.run(|| self.hand_on(list, parked, now));
        }
        panics.run(|| drop(own));
        for waker in woken.drain(..) {
            panics.run(|| waker.wake());
        }
        self.list().woken = woken;
        panics.resume();
    }

    /// Takes a wait back, and hands the duty on.
    pub(crate) fn stop_waiting(&self, parked: &AtomicU64, now: impl Fn() -> u64) {
        let mut list = self.list();
        let own = list.exit(self.id);
        let mut panics = Panics::default();
        if list.duty == Some(self.id) {
            panics.run(|| self.hand_on(list, parked, now));
        } else {
            drop(list);
        }
        panics.run(|| drop(own));
        panics.resume();
    }

    /// Gives the duty to another one that waits, which is woken if there are news for it: whoever
    /// rang before it was parked rang somebody else.
    fn hand_on(&self, mut list: RefMut<'_, List>, parked: &AtomicU64, now: impl Fn() -> u64) {
        let Some(next) = list.waiting.last() else {
            return self.end_duty(list, parked);
        };
        let (member, waker, seen) = (next.member, next.waker.clone(), next.seen);
        list.duty = Some(member);
        drop(list);
        self.park(&waker);
        if now() > seen {
            waker.wake();
        }
    }

    /// Leaves, and tells whether it was the last one. It waits no more.
    pub(crate) fn leave(&self) -> bool {
        let mut list = self.list();
        list.vacant.push(self.id);
        list.vacant.len() == list.places.len()
    }

    /// Forgets the waker of a crew whose last member has left, which nobody can join any more.
    pub(crate) fn clear(&self) {
        self.crew.parker.clear();
    }

    fn end_duty(&self, mut list: RefMut<'_, List>, parked: &AtomicU64) {
        list.duty = None;
        self.crew.parker.unpark();
        parked.fetch_sub(1, Ordering::Relaxed);
    }

    /// Parks the crew under `waker`. Foreign wakers are dropped on the way, so the list is free.
    fn park(&self, waker: &Waker) {
        let mut spare = std::mem::take(&mut self.list().spare);
        self.crew.parker.park_with(waker, &mut spare);
        self.list().spare = spare;
    }

    fn list(&self) -> RefMut<'_, List> {
        self.crew.list.borrow_mut()
    }
}

impl List {
    /// Puts a member on the list; returns a waker that is not needed any more.
    fn enter(&mut self, member: usize, waker: &Waker, seen: u64) -> Option<Waker> {
        let Some(place) = self.places[member] else {
            let waker = waker.clone();
            self.places[member] = Some(self.waiting.len());
            self.waiting.push(Waiting {
                member,
                waker,
                seen,
            });
            return None;
        };
        let own = &mut self.waiting[place];
        own.seen = seen;
        if own.waker.will_wake(waker) {
            return None;
        }
        Some(std::mem::replace(&mut own.waker, waker.clone()))
    }

    /// Takes all off the list that have seen less than `now`; returns their wakers in the room that
    /// is kept for them.
    fn exit_before(&mut self, now: u64) -> Vec<Waker> {
        let mut woken = std::mem::take(&mut self.woken);
        for other in self.waiting.extract_if(.., |other| now > other.seen) {
            self.places[other.member] = None;
            woken.push(other.waker);
        }
        for (place, other) in self.waiting.iter().enumerate() {
            self.places[other.member] = Some(place);
        }
        woken
    }

    /// Takes a member off the list; returns its waker.
    fn exit(&mut self, member: usize) -> Option<Waker> {
        let place = self.places[member].take()?;
        let own = self.waiting.swap_remove(place);
        if let Some(moved) = self.waiting.get(place) {
            self.places[moved.member] = Some(place);
        }
        Some(own.waker)
    }
}
