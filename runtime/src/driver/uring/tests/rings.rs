//! Parking, and being rung.

use std::io::Write;
use std::sync::Barrier;
use std::thread;

use super::*;

// proves: RT-11
#[test]
fn a_turn_without_news_makes_no_system_call() {
    on_every_shape(|driver| {
        driver.turn();
        let enters = driver.counters().enters.value();
        for _ in 0..100 {
            assert!(!driver.needs_turn());
            driver.turn();
        }
        assert_eq!(driver.counters().enters.value(), enters);
    });
}

// proves: RT-12
#[test]
fn a_turn_submits_and_reaps_with_one_system_call() {
    const STREAMS: usize = 12;
    // Where shards spin, the hot stream is received from without the ring.
    for shape in SHAPES.map(|shape| Shape {
        idle: IdlePolicy::Park,
        ..shape
    }) {
        on(shape, turn_once_a_round);
    }

    fn turn_once_a_round(driver: &Rc<Uring>) {
        let pairs: Vec<_> = (0..STREAMS).map(|_| pair(driver)).collect();
        driver.turn();
        let counters = driver.counters();
        for round in 0..10_u8 {
            for (stream, _) in &pairs {
                assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
            }
            for (_, peer) in &pairs {
                (&mut &*peer).write_all(&[round; 8]).unwrap();
            }
            let enters = counters.enters.value();
            let completions = counters.completions.value();
            driver.turn();
            assert_eq!(counters.enters.value() - enters, 1);
            // What was submitted just now, and what was armed, is there already.
            assert!(counters.completions.value() - completions >= STREAMS as u64);
            for (stream, _) in &pairs {
                let read = poll_once(stream.read(Vec::with_capacity(8)));
                assert!(matches!(read, Poll::Ready((Ok(8), buf)) if buf == [round; 8]));
            }
        }
    }
}

#[test]
fn a_park_ends_when_its_time_is_over() {
    on_every_shape(|driver| {
        for time in [
            Duration::ZERO,
            Duration::from_nanos(1),
            Duration::from_millis(2),
        ] {
            let enters = driver.counters().enters.value();
            driver.park(Some(time)).unwrap();
            assert_eq!(driver.counters().enters.value(), enters + 1);
        }
    });
}

#[test]
fn the_eventfd_ends_a_park_rung_before_or_within() {
    for shape in SHAPES {
        let (driver, bell) = open(shape);
        for round in 0..200 {
            let epoch = bell.sleep.prepare();
            let ringer = thread::spawn(move || bell.ring_event(epoch));
            if round % 2 == 0 {
                ringer.join().unwrap();
                driver.park(None).unwrap();
            } else {
                driver.park(None).unwrap();
                ringer.join().unwrap();
            }
            assert_eq!(bell.sleep.sleeper(), None, "marked rung");
            bell.sleep.awake();
        }
        assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
    }
}

#[test]
fn shards_ring_each_other_through_their_rings() {
    const ROUNDS: u32 = 500;
    let bells: [&'static Bell; 2] = [bell(), bell()];
    let start = Barrier::new(2);
    let last = Barrier::new(2);
    thread::scope(|scope| {
        for me in 0..2 {
            let (start, last) = (&start, &last);
            scope.spawn(move || {
                let (mine, other) = (bells[me], bells[1 - me]);
                let driver = Uring::open(parts(mine)).unwrap();
                assert!(mine.ring_fd().is_some(), "this kernel has ring messages");
                start.wait();
                for round in 0..ROUNDS {
                    if round % 2 == me as u32 {
                        // Wait until the other sleeps, then ring.
                        let epoch = loop {
                            match other.sleep.sleeper() {
                                Some(epoch) => break epoch,
                                None => thread::yield_now(),
                            }
                        };
                        driver.ring(other, epoch);
                        driver.turn();
                        // Marked now, unless the other is awake already.
                        assert_ne!(other.sleep.sleeper(), Some(epoch));
                    } else {
                        mine.sleep.prepare();
                        driver.park(None).unwrap();
                        mine.sleep.awake();
                    }
                }
                // A message may come late and more than once; what counts is that nobody hung.
                last.wait();
                assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
                let kept = driver.release_ring();
                assert!(kept.is_some());
                last.wait();
            });
        }
    });
}

#[test]
fn a_message_to_a_ring_that_is_gone_goes_through_the_eventfd() {
    let (driver, _) = open(NEWEST);
    let target = bell();
    // A descriptor that is open and no ring: the message fails.
    let other = std::fs::File::open("/dev/null").unwrap();
    target.set_ring_fd(Some(std::os::fd::AsRawFd::as_raw_fd(&other)));
    let epoch = target.sleep.prepare();
    driver.ring(target, epoch);
    driver.turn();
    let mut count = [0; 8];
    assert_eq!(rustix::io::read(target.event(), &mut count).unwrap(), 8);
    assert_eq!(u64::from_ne_bytes(count), 1);
    assert_eq!(target.sleep.sleeper(), None);
    assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
}

#[test]
fn a_bell_without_a_ring_is_rung_at_once() {
    let (driver, _) = open(NEWEST);
    let target = bell();
    let epoch = target.sleep.prepare();
    driver.ring(target, epoch);
    assert_eq!(target.sleep.sleeper(), None, "before any turn");
    assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
}

#[test]
fn more_messages_than_the_queue_holds_all_arrive() {
    let (driver, _) = open(Shape {
        entries: 16,
        ..NEWEST
    });
    let target = bell();
    let sleeper = Uring::open(parts(target)).unwrap();
    let epoch = target.sleep.prepare();
    for _ in 0..500 {
        driver.ring(target, epoch);
    }
    turn_until(&driver, || !driver.needs_turn());
    assert_eq!(target.sleep.sleeper(), None);
    let before = sleeper.counters().completions.value();
    turn_until(&sleeper, || {
        sleeper.counters().completions.value() - before >= 500
    });
    for driver in [driver, sleeper] {
        assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
    }
}

#[test]
fn a_completion_queue_that_overflows_loses_nothing() {
    const STREAMS: usize = 300;
    for shape in SHAPES {
        on(
            Shape {
                entries: 16,
                buffers: 1024,
                buffer_bytes: 64,
                ..shape
            },
            |driver| {
                let pairs: Vec<_> = (0..STREAMS).map(|_| pair(driver)).collect();
                for (stream, _) in &pairs {
                    assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
                }
                while driver.needs_turn() {
                    driver.turn();
                }
                // 300 completions at once, for a queue of 64.
                for (n, (_, peer)) in pairs.iter().enumerate() {
                    (&mut &*peer).write_all(&n.to_ne_bytes()).unwrap();
                }
                if driver.features().setup == Setup::Plain {
                    assert!(overflows(driver), "this way of waiting overflows the queue");
                }
                for (n, (stream, _)) in pairs.iter().enumerate() {
                    let (read, buf) = block_on(driver, stream.read(Vec::with_capacity(8)));
                    assert_eq!((read.unwrap(), &buf[..]), (8, &n.to_ne_bytes()[..]));
                }
            },
        );
    }
}

#[test]
fn what_waits_behind_a_full_queue_goes_before_a_park() {
    let shape = Shape {
        entries: 16,
        ..NEWEST
    };
    on(shape, |driver| {
        let pairs: Vec<_> = (0..60).map(|_| pair(driver)).collect();
        while driver.needs_turn() {
            driver.turn();
        }
        for (stream, _) in &pairs {
            assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        }
        // Nothing comes to those that are in the queue.
        let (last, peer) = &pairs[59];
        (&mut &*peer).write_all(b"last").unwrap();
        for _ in 0..8 {
            if last.socket.stash.borrow().chunks() == 0 {
                driver.park(None).unwrap();
            }
        }
        let read = poll_once(last.read(Vec::with_capacity(8)));
        assert!(matches!(read, Poll::Ready((Ok(4), buf)) if buf == b"last"));
    });
}

#[test]
fn a_bell_that_rings_into_a_full_completion_queue_rings_again() {
    for setup in [Setup::NoSqArray, Setup::Plain] {
        let (driver, bell) = open(Shape {
            entries: 16,
            buffers: 1024,
            buffer_bytes: 64,
            wanted: Wanted {
                setup,
                ..Wanted::ALL
            },
            ..NEWEST
        });
        let pairs: Vec<_> = (0..100).map(|_| pair(&driver)).collect();
        for (stream, _) in &pairs {
            assert!(poll_once(stream.read(Vec::with_capacity(8))).is_pending());
        }
        while driver.needs_turn() {
            driver.turn();
        }
        for (_, peer) in &pairs {
            (&mut &*peer).write_all(b"news").unwrap();
        }
        bell.ring_event(bell.sleep.prepare());
        bell.sleep.awake();
        while driver.needs_turn() {
            driver.turn();
        }
        bell.ring_event(bell.sleep.prepare());
        driver.park(None).unwrap();
        bell.sleep.awake();
        assert!(driver.bell_armed.get());
        drop(pairs);
        assert_eq!(driver.close(Duration::from_secs(10)).unwrap(), 0);
    }
}

fn overflows(driver: &Uring) -> bool {
    let ring = driver.ring.borrow();
    // SAFETY: Valid: the ring is open. Exclusive: the driver's own queue handles live within its
    // calls alone, and none runs.
    unsafe { ring.as_ref().unwrap().inner().submission_shared() }.cq_overflow()
}

fn parts(bell: &'static Bell) -> DriverParts {
    DriverParts {
        bell,
        counters: Arc::default(),
        ring_entries: 32,
        buffers: 8,
        buffer_bytes: 1024,
        idle: IdlePolicy::Park,
    }
}
