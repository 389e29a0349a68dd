//! Signals between threads: whole values, one version each, nobody asleep for good.
#![cfg(not(corelane_loom))]

mod support;

use corelane_primitives::Signal;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use support::block_on;

const WRITERS: u64 = 3;
const UPDATES: u64 = 20_000;
const ALL: u64 = WRITERS * UPDATES;

/// A value of 64 bytes whose words are the version's number.
type Line = [u64; 8];

/// Tells when all writers are done, so that readers end.
struct Course {
    ready: Barrier,
    at_work: AtomicU64,
}

impl Course {
    fn new(readers: usize) -> Self {
        Self {
            ready: Barrier::new(readers + WRITERS as usize),
            at_work: AtomicU64::new(WRITERS),
        }
    }

    fn is_over(&self) -> bool {
        self.at_work.load(Ordering::Acquire) == 0
    }
}

/// The stress for one way to keep the value: `$make` a signal of lines.
macro_rules! stress {
    ($way:ident, $make:path) => {
        mod $way {
            use super::*;

            // proves: S-10
            // proves: S-14
            // proves: S-15
            #[test]
            fn reads_are_whole_and_of_their_version() {
                let signal = $make([0; 8]);
                let course = Course::new(2);
                thread::scope(|scope| {
                    for _ in 0..WRITERS {
                        scope.spawn(|| {
                            course.ready.wait();
                            for _ in 0..UPDATES {
                                let updated = signal.update(|line| [line[0] + 1; 8]);
                                updated.expect("the signal is open");
                            }
                            course.at_work.fetch_sub(1, Ordering::Release);
                        });
                    }
                    for _ in 0..2 {
                        scope.spawn(|| {
                            course.ready.wait();
                            let mut last = 0;
                            let mut replica = signal.replica();
                            while !course.is_over() {
                                let (version, line) = replica.look_versioned();
                                assert_eq!(**line, [version.number(); 8]);
                                assert!(line[0] >= last, "{line:?} after {last}");
                                last = line[0];
                                signal.read_versioned(|version, line| {
                                    assert_eq!(*line, [version.number(); 8]);
                                    assert!(line[0] >= last, "{line:?} after {last}");
                                    last = line[0];
                                });
                            }
                        });
                    }
                });
                assert_eq!(signal.get_cloned(), [ALL; 8]);
                assert_eq!(signal.version().number(), ALL);
            }

            // proves: S-2
            // proves: S-11
            #[test]
            fn feeds_go_monotonously_to_the_last_value() {
                let signal = $make([0; 8]);
                let course = Course::new(2);
                thread::scope(|scope| {
                    let writers: Vec<_> = (0..WRITERS)
                        .map(|_| {
                            scope.spawn(|| {
                                course.ready.wait();
                                for _ in 0..UPDATES {
                                    let updated = signal.update(|line| [line[0] + 1; 8]);
                                    updated.expect("the signal is open");
                                }
                            })
                        })
                        .collect();
                    for _ in 0..2 {
                        scope.spawn(|| {
                            course.ready.wait();
                            // Each round has feeds that come while writers run.
                            for round in 0.. {
                                let ends = round == 20;
                                let mut feeds = [signal.changes(), signal.changes()];
                                let mut last = [None; 2];
                                block_on(async {
                                    for step in 0_usize.. {
                                        let own = step % 2;
                                        let Some(line) = feeds[own].next().await else {
                                            break;
                                        };
                                        assert_eq!(line, [line[0]; 8]);
                                        assert!(Some(line[0]) > last[own], "{line:?} twice");
                                        last[own] = Some(line[0]);
                                        let is_last = line[0] == ALL;
                                        if is_last || (!ends && step == 40) {
                                            break;
                                        }
                                    }
                                });
                                if ends {
                                    break;
                                }
                            }
                            // One more, to the end.
                            let mut feed = signal.changes();
                            let mut last = None;
                            while let Ok(line) = feed.blocking_next(Duration::MAX) {
                                assert!(Some(line[0]) > last, "{line:?} twice");
                                last = Some(line[0]);
                            }
                            assert_eq!(last, Some(ALL));
                        });
                    }
                    for writer in writers {
                        writer.join().expect("a writer does not panic");
                    }
                    signal.close();
                });
            }
        }
    };
}

stress!(shared, Signal::<Line>::new);
stress!(plain, Signal::plain);

/// A set and its answer cross threads by feeds alone: a lost wake hangs it.
// proves: S-11
#[test]
fn two_feeds_answer_each_other() {
    let (there, back) = (Signal::plain(0_u64), Signal::new(0_u64));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut feed = there.changes();
            while let Ok(value) = feed.blocking_next(Duration::MAX) {
                back.set(value).expect("the signal is open");
            }
            done.store(true, Ordering::Relaxed);
        });
        let mut answers = back.changes();
        assert_eq!(answers.try_next(), Ok(0));
        for value in 1..=5_000 {
            there.set(value).expect("the signal is open");
            let answer = block_on(async {
                loop {
                    match answers.next().await {
                        // The first value of the other feed is answered too.
                        Some(answer) if answer < value => {}
                        answer => break answer,
                    }
                }
            });
            assert_eq!(answer, Some(value));
        }
        there.close();
    });
    assert!(done.into_inner());
}
