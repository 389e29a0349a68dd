//! Models of the inbox: calls and departures reach their shard, whoever else is stopped.

use crate::explore::explore;
use corelane::model::{Home, Job, Leaving, Refused, Shard};
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize as Count;
use std::task::{Wake, Waker};

/// Name and model, in the order in which mutants meet them.
pub(crate) const MODELS: &[(&str, fn())] = &[
    (
        "departure_brings_what_came_before",
        departure_brings_what_came_before,
    ),
    (
        "departures_of_two_threads_are_all_taken",
        departures_of_two_threads_are_all_taken,
    ),
    (
        "departure_nobody_takes_is_freed",
        departure_nobody_takes_is_freed,
    ),
    (
        "stopped_departure_takes_no_call_from_the_shard",
        stopped_departure_takes_no_call_from_the_shard,
    ),
    (
        "call_reaches_a_sleeping_shard",
        call_reaches_a_sleeping_shard,
    ),
    (
        "calls_and_departures_are_all_taken",
        calls_and_departures_are_all_taken,
    ),
    (
        "who_waits_for_room_is_woken_by_it",
        who_waits_for_room_is_woken_by_it,
    ),
    (
        "call_that_meets_the_end_is_dropped_once",
        call_that_meets_the_end_is_dropped_once,
    ),
];

/// What threads did, and what their shard has seen of it.
#[derive(Default)]
struct Seen {
    /// Drops and calls that saw what came before them. Std's on purpose: it must not order what is
    /// explored.
    whole: Arc<Count>,
}

impl Seen {
    fn whole(&self) -> usize {
        self.whole.load(Ordering::Relaxed)
    }

    /// News, written before they are told of. Relaxed: the inbox alone orders them.
    fn news(&self) -> News {
        News {
            written: Arc::new(AtomicUsize::new(0)),
            whole: Arc::clone(&self.whole),
        }
    }
}

#[derive(Clone)]
struct News {
    written: Arc<AtomicUsize>,
    whole: Arc<Count>,
}

impl News {
    fn write(&self) {
        self.written.store(1, Ordering::Relaxed);
    }

    fn read(&self) {
        if self.written.load(Ordering::Relaxed) == 1 {
            self.whole.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A call that reads them.
    fn job(&self) -> Job {
        let news = self.clone();
        Box::new(move || news.read())
    }
}

/// A value that lives on a shard; its drop reads the news. A panic there would be contained.
struct Resident(News);

impl Drop for Resident {
    fn drop(&mut self) {
        self.0.read();
    }
}

/// A value at home, with its news.
fn resident(seen: &Seen, home: &Home) -> (News, Leaving) {
    let news = seen.news();
    let leaving = home.take_in(Resident(news.clone()));
    (news, leaving)
}

/// Wakes a thread of the model.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Puts a call, and waits for room as long as there is none. Tells whether the shard took it.
fn put(shard: &Shard, owner: &thread::Thread, mut job: Job) -> bool {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match shard.put(job, &waker, || owner.unpark()) {
            Ok(()) => return true,
            Err(Refused::Closed(_)) => return false,
            Err(Refused::Full(back)) => job = back,
        }
        thread::park();
    }
}

/// A thread whose value goes.
fn departing(shard: &Arc<Shard>, (news, leaving): (News, Leaving)) {
    let (shard, owner) = (shard.clone(), thread::current());
    thread::spawn(move || {
        news.write();
        shard.depart(leaving, || owner.unpark());
    });
}

/// A thread that puts a call for each of `news`, one after the other.
fn calling(shard: &Arc<Shard>, news: Vec<News>) {
    let (shard, owner) = (shard.clone(), thread::current());
    thread::spawn(move || {
        for news in news {
            news.write();
            assert!(put(&shard, &owner, news.job()));
        }
    });
}

/// Takes turns until the shard has seen so many. What is not seen by then was lost, and the shard
/// sleeps for ever.
fn run_until(shard: &Shard, home: &Home, seen: &Seen, wanted: usize) {
    loop {
        shard.work(home);
        if seen.whole() == wanted {
            break;
        }
        shard.sleep(thread::park);
    }
}

/// Who finds something left to do finds the departure, and what was done before it.
pub(crate) fn departure_brings_what_came_before() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        departing(&shard, resident(&seen, &home));
        if shard.has_any() {
            shard.work(&home);
            assert_eq!(seen.whole(), 1);
            assert!(!shard.has_any());
        }
    });
}

pub(crate) fn departures_of_two_threads_are_all_taken() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        departing(&shard, resident(&seen, &home));
        departing(&shard, resident(&seen, &home));
        run_until(&shard, &home, &seen, 2);
    });
}

/// Its memory goes with the inbox; loom and the leak sanitizer see it. The value is its home's.
pub(crate) fn departure_nobody_takes_is_freed() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        departing(&shard, resident(&seen, &home));
        shard.work(&home);
        assert!(seen.whole() <= 1);
    });
}

/// One thread leaves a departure and never goes on. It is taken with another one or it stays, and
/// the calls behind it are taken all the same.
pub(crate) fn stopped_departure_takes_no_call_from_the_shard() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        let (_, stopped) = resident(&Seen::default(), &home);
        shard.depart_half(stopped);
        let (news, leaving) = resident(&seen, &home);
        let call = seen.news();
        let (theirs, owner) = (shard.clone(), thread::current());
        thread::spawn(move || {
            news.write();
            theirs.depart(leaving, || owner.unpark());
            call.write();
            assert!(put(&theirs, &owner, call.job()));
        });
        run_until(&shard, &home, &seen, 2);
    });
}

pub(crate) fn call_reaches_a_sleeping_shard() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        calling(&shard, vec![seen.news()]);
        run_until(&shard, &home, &seen, 1);
    });
}

pub(crate) fn calls_and_departures_are_all_taken() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        calling(&shard, vec![seen.news()]);
        departing(&shard, resident(&seen, &home));
        run_until(&shard, &home, &seen, 2);
    });
}

pub(crate) fn who_waits_for_room_is_woken_by_it() {
    explore(|| {
        let (shard, home, seen) = (Arc::new(Shard::new(1)), Home::new(), Seen::default());
        calling(&shard, vec![seen.news(), seen.news()]);
        run_until(&shard, &home, &seen, 2);
    });
}

/// A call is started by the shard, dropped at its end, or handed back; who waits for room is told.
pub(crate) fn call_that_meets_the_end_is_dropped_once() {
    explore(|| {
        let (shard, home) = (Arc::new(Shard::new(1)), Home::new());
        let held = Arc::new(());
        let (theirs, owner) = (shard.clone(), thread::current());
        let jobs = [held.clone(), held.clone()].map(|held| Box::new(move || drop(held)) as Job);
        let calling = thread::spawn(move || {
            for job in jobs {
                put(&theirs, &owner, job);
            }
        });
        shard.work(&home);
        shard.close();
        calling.join().unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(!shard.has_any());
    });
}
