//! The end of a runtime: in time, with everything dropped once.
#![allow(clippy::unwrap_used)]

use std::future::{Future, pending};
use std::io::Read;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use corelane::net::TcpStream;
use corelane::task::yield_now;
use corelane::time::sleep;
use corelane::{
    Builder, Driver, Placement, Running, Runtime, ShutdownError, StartError, SubmitError, shards,
    shutdown, spawn,
};

const LIMIT: Duration = Duration::from_secs(60);
const AN_HOUR: Duration = Duration::from_secs(3_600);
const MANY: u64 = 10_000;

fn two_shards(driver: Driver) -> Builder {
    Runtime::builder()
        .placement(Placement::Unpinned(2))
        .driver(driver)
}

/// Starts two shards on each driver that is there.
fn on_each(test: impl Fn(Running)) {
    on_each_with(|builder| builder, test);
}

fn on_each_with(settings: fn(Builder) -> Builder, test: impl Fn(Running)) {
    for driver in [Driver::Uring, Driver::Epoll] {
        match settings(two_shards(driver)).start() {
            Ok(running) => test(running),
            Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                eprintln!("this machine refuses io_uring");
            }
            Err(error) => panic!("{driver:?} did not start: {error}"),
        }
    }
}

/// Counts drops from any shard.
#[derive(Clone, Default)]
struct Drops(Arc<AtomicU64>);

struct Held(Drops);

impl Drops {
    fn hold(&self) -> Held {
        Held(self.clone())
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// On the calling shard, makes many sleeping tasks and many calls to the other shard that do not
/// end; both hold something.
async fn fill(drops: Drops) {
    let here = corelane::shard();
    let other = shards()[1 - here.index()].clone();
    for _ in 0..MANY {
        let (task, call) = (drops.hold(), drops.hold());
        spawn(async move {
            sleep(AN_HOUR).await;
            drop(task);
        })
        .detach();
        let call = other.submit(move || async move {
            pending::<()>().await;
            drop(call);
        });
        spawn(call).detach();
    }
    yield_now().await;
}

/// Fills both shards.
fn fill_both(running: &Running, drops: &Drops) {
    for shard in running.shards() {
        let drops = drops.clone();
        shard.submit(move || fill(drops)).wait().unwrap();
    }
}

// proves: RT-23
#[test]
fn shutdown_with_many_sleeping_tasks_and_pending_calls_ends_in_time() {
    on_each(|running| {
        let drops = Drops::default();
        fill_both(&running, &drops);
        let live = running
            .metrics()
            .shards
            .iter()
            .map(|shard| shard.tasks_live)
            .sum::<u64>();
        assert!(live >= 4 * MANY, "{live}");
        assert_eq!(drops.count(), 0);
        // An error would say that the deadline had passed.
        running.shutdown(Duration::ZERO).unwrap();
        assert_eq!(drops.count(), 4 * MANY);
    });
}

// proves: RT-23
#[test]
fn dropped_runtime_drops_its_many_tasks_once() {
    on_each(|running| {
        let drops = Drops::default();
        fill_both(&running, &drops);
        drop(running);
        assert_eq!(drops.count(), 4 * MANY);
    });
}

// proves: RT-23
#[test]
fn run_returns_with_everything_dropped() {
    for driver in [Driver::Auto, Driver::Epoll, Driver::Sim(3)] {
        let drops = Drops::default();
        let main = drops.clone();
        two_shards(driver).run(move || fill(main)).unwrap();
        assert_eq!(drops.count(), 2 * MANY);
    }
}

// proves: RT-23
#[test]
fn draining_ends_when_the_last_task_does() {
    on_each(|running| {
        let drops = Drops::default();
        let calls: Vec<_> = running
            .shards()
            .map(|shard| {
                let held = drops.hold();
                shard.submit(move || async move {
                    shutdown::wait().await;
                    for _ in 0..1_000 {
                        let other = shards()[1 - corelane::shard().index()].clone();
                        other.submit(yield_now).await.unwrap();
                    }
                    drop(held);
                })
            })
            .collect();
        // Far longer than the test may take: it ends with its tasks.
        running.shutdown(AN_HOUR).unwrap();
        assert_eq!(drops.count(), 2);
        for call in calls {
            call.wait().unwrap();
        }
    });
}

// proves: RT-23
#[test]
fn shard_triggers_the_end_for_all() {
    on_each(|running| {
        let waiting = running.shard(1).submit(|| async {
            shutdown::wait().await;
            // It has begun, so this is ready at once.
            shutdown::wait().await;
        });
        running
            .shard(0)
            .submit(|| async { shutdown::trigger() })
            .wait()
            .unwrap();
        waiting.wait().unwrap();
        running.shutdown(AN_HOUR).unwrap();
    });
}

/// A runtime with a shard that stays inside a poll until the sender is used or dropped.
fn stuck(driver: Driver) -> Option<(Running, mpsc::Sender<()>)> {
    let running = two_shards(driver)
        .shutdown_limit(Duration::from_millis(10))
        .start();
    let running = match running {
        Ok(running) => running,
        Err(_) if driver == Driver::Uring => return None,
        Err(error) => panic!("{driver:?} did not start: {error}"),
    };
    let (release, released) = mpsc::channel::<()>();
    let (enter, entered) = mpsc::channel();
    let call = running.shard(1).submit(move || async move {
        enter.send(()).unwrap();
        // A sender that is gone releases too.
        let _ = released.recv_timeout(LIMIT);
    });
    entered.recv_timeout(LIMIT).unwrap();
    drop(call);
    Some((running, release))
}

// proves: RT-23
#[test]
fn runtime_with_a_stuck_shard_is_left_behind() {
    for driver in [Driver::Uring, Driver::Epoll] {
        let Some((running, release)) = stuck(driver) else {
            continue;
        };
        let left = running.shutdown(Duration::ZERO);
        assert!(
            matches!(left, Err(ShutdownError::StillRunning { shards: 1 })),
            "{left:?}"
        );
        drop(release);
        let (running, release) = stuck(driver).unwrap();
        // Returns, though the shard does not.
        drop(running);
        drop(release);
    }
}

// proves: RT-23
#[test]
fn what_tasks_start_while_they_are_dropped_is_dropped_too() {
    /// Starts a task, and waits for nothing, in its drop.
    struct StartsInDrop(Drops);
    impl Drop for StartsInDrop {
        fn drop(&mut self) {
            let held = self.0.hold();
            let started = spawn(async move {
                pending::<()>().await;
                drop(held);
            });
            assert!(started.is_finished(), "a shard that ends starts nothing");
            let held = self.0.hold();
            drop(shards()[1].submit(move || async move { drop(held) }));
        }
    }
    for driver in [Driver::Auto, Driver::Epoll, Driver::Sim(1)] {
        let drops = Drops::default();
        let main = drops.clone();
        two_shards(driver)
            .run(async move || {
                for _ in 0..100 {
                    let starts = StartsInDrop(main.clone());
                    spawn(async move {
                        pending::<()>().await;
                        drop(starts);
                    })
                    .detach();
                }
                yield_now().await;
            })
            .unwrap();
        assert_eq!(drops.count(), 200);
    }
}

// proves: RT-23
#[test]
fn call_made_before_shutdown_is_answered_within_its_deadline() {
    // The shard may not have seen the call when the end begins.
    for _ in 0..50 {
        on_each(|running| {
            let calls: Vec<_> = running
                .shards()
                .map(|shard| shard.submit(yield_now))
                .collect();
            running.shutdown(AN_HOUR).unwrap();
            for call in calls {
                call.wait().unwrap();
            }
        });
    }
}

// proves: RT-23
#[test]
fn no_deadline_and_no_limit_are_too_long() {
    on_each(|running| {
        let answer = running.shard(1).submit(|| async { 7 });
        running.shutdown(Duration::MAX).unwrap();
        assert_eq!(answer.wait().unwrap(), 7);
    });
    for driver in [Driver::Auto, Driver::Epoll, Driver::Sim(1)] {
        let endless = two_shards(driver).shutdown_limit(Duration::MAX);
        let main = endless.run(|| async {
            spawn(pending::<()>()).detach();
            shutdown::trigger();
            shutdown::wait().await;
            7
        });
        assert_eq!(main.unwrap(), 7);
    }
    let endless = two_shards(Driver::Auto).shutdown_limit(Duration::MAX);
    drop(endless.start().unwrap());
}

/// Without an end: what waited for the shards would wait for ever.
fn endless(builder: Builder) -> Builder {
    builder.shutdown_limit(Duration::MAX)
}

// proves: RT-23
#[test]
fn runtime_that_its_own_shard_drops_stops_without_blocking_it() {
    on_each_with(endless, |running| {
        let (tell, told) = mpsc::channel();
        let other = running.shard(1).submit(pending::<()>);
        let own = running.shard(0).submit(move || async move {
            drop(running);
            tell.send(()).unwrap();
            pending::<()>().await;
        });
        told.recv_timeout(LIMIT).unwrap();
        for call in [own, other] {
            assert!(matches!(call.wait(), Err(SubmitError::ShardGone)));
        }
    });
}

// proves: RT-23
#[test]
fn shutdown_on_an_own_shard_begins_the_end_and_does_not_wait() {
    on_each_with(endless, |running| {
        let (tell, told) = mpsc::channel();
        let other = running.shard(1).submit(shutdown::wait);
        let own = running.shard(0).submit(move || async move {
            tell.send(running.shutdown(AN_HOUR)).unwrap();
            shutdown::wait().await;
        });
        let answer = told.recv_timeout(LIMIT).unwrap();
        assert!(matches!(answer, Err(ShutdownError::OnShard)), "{answer:?}");
        // Tasks have their time, and the shards end with the last of them.
        for call in [own, other] {
            call.wait().unwrap();
        }
    });
}

/// Sends without waiting when it is dropped.
struct SaysBye(TcpStream);

impl Drop for SaysBye {
    fn drop(&mut self) {
        let sent = pin!(self.0.write_all("bye")).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(sent, Poll::Ready((Ok(()), _))), "{sent:?}");
    }
}

// proves: RT-23
#[test]
fn task_that_is_dropped_at_the_end_can_still_send() {
    on_each(|running| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let call = running.shard(1).submit(move || async move {
            let stream = SaysBye(TcpStream::connect(addr).await.unwrap());
            spawn(async move {
                pending::<()>().await;
                drop(stream);
            })
            .detach();
        });
        call.wait().unwrap();
        let (mut client, _) = listener.accept().unwrap();
        drop(running);
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        assert_eq!(said, "bye");
    });
}

// proves: RT-8
#[test]
fn call_that_outlives_its_runtime_finds_its_shard_gone() {
    for driver in [Driver::Auto, Driver::Epoll, Driver::Sim(1)] {
        let (call, ()) = two_shards(driver)
            .run(|| async {
                let call = shards()[1].submit(pending::<()>);
                (call, yield_now().await)
            })
            .unwrap();
        let answer = pin!(call).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(answer, Poll::Ready(Err(SubmitError::ShardGone))));
    }
}
