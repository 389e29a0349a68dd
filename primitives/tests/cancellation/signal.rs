//! Signals: only their feeds have a future.

use crate::script::{Company, Event, Script, Setup, Task};
use crate::table::calls;
use corelane_primitives::{Changes, NextError, Plain, PlainSignal, Shared, Signal};
use std::cell::Cell;
use std::rc::Rc;
use thread_aware::affinity::{enter, pinned_affinities};

macro_rules! world {
    ($way:ident, $signal:ty, $changes:ty, $make:path) => {
        mod $way {
            use super::*;

            /// Reads to the end; the last value that it found.
            fn reading(mut feed: $changes, last: Rc<Cell<u64>>) -> Task {
                Box::pin(async move {
                    while let Some(value) = feed.next().await {
                        assert!(value >= last.get());
                        last.set(value);
                    }
                })
            }

            fn run(setup: Setup, script: Script, are_ahead: bool) {
                let shards = pinned_affinities(&[2]);
                let at = |shard: usize| enter(shards[shard], Rc::new(()));
                let signal: $signal = $make(0);
                let (mut others, mut lasts) = (Company::default(), Vec::new());
                let mut to_come = Vec::new();
                let mut own = {
                    let _entered = at(0);
                    signal.changes()
                };
                for shard in 0..2 {
                    let _entered = at(shard);
                    let last = Rc::new(Cell::new(0));
                    to_come.push(reading(signal.changes(), last.clone()));
                    lasts.push(last);
                }
                if are_ahead {
                    to_come.drain(..).for_each(|task| others.add(task));
                }
                let sets = Cell::new(0);
                let set = || {
                    let _entered = at(usize::from(setup.is_across));
                    let is_set = signal.set(sets.get() + 1).is_ok();
                    sets.set(sets.get() + u64::from(is_set));
                };
                let mut taken = u64::from(own.try_next() == Ok(0));
                (0..setup.inside).for_each(|_| set());
                if setup.is_closed {
                    signal.close();
                }
                let item = script.run(own.next(), |event| {
                    to_come.drain(..).for_each(|task| others.add(task));
                    match event {
                        Event::Nothing => {}
                        Event::Put => set(),
                        Event::Take => drop(others.run()),
                        Event::Close => signal.close(),
                        Event::Leave => {
                            others.leave();
                            lasts.remove(0);
                        }
                    }
                });
                to_come.drain(..).for_each(|task| others.add(task));
                taken += u64::from(matches!(item, Some(Some(_))));
                // Nobody is stuck: who waits has what was set, and gets what is set now.
                others.run();
                for last in &lasts {
                    assert_eq!(last.get(), sets.get(), "a feed is stuck");
                }
                set();
                others.run();
                for last in &lasts {
                    assert_eq!(last.get(), sets.get(), "a feed is stuck");
                }
                signal.close();
                others.run();
                assert!(others.is_empty(), "a feed does not end");
                taken += u64::from(own.try_next() == Ok(sets.get()));
                assert_eq!(own.try_next(), Err(NextError::Closed));
                let stats = own.stats();
                assert_eq!((stats.delivered, stats.lag), (taken, 0));
                assert_eq!(stats.delivered + stats.dropped, sets.get() + 1);
            }

            // proves: S-11
            #[test]
            fn dropped_reads_lose_nothing_and_hold_up_nobody() {
                assert_eq!(calls("signal/changes.rs"), ["next"]);
                for setup in Setup::all(1) {
                    for script in Script::all() {
                        run(setup, script, false);
                        run(setup, script, true);
                    }
                }
            }
        }
    };
}

world!(shared, Signal<u64>, Changes<u64, Shared<u64>>, Signal::new);
world!(plain, PlainSignal<u64>, Changes<u64, Plain<u64>>, Signal::plain);
