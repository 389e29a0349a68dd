//! Statics of which each shard has its own value.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;

use corelane::net::TcpListener;
use corelane::task::yield_now;
use corelane::{Builder, Driver, Placement, Runtime, ShardLocal, StartError, shard, shards, spawn};

const KERNEL: [Driver; 2] = [Driver::Uring, Driver::Epoll];
const ALL: [Driver; 3] = [Driver::Uring, Driver::Epoll, Driver::Sim(1)];

/// Runs `test` with so many shards on each of the drivers that is there.
fn on_each(drivers: &[Driver], count: usize, test: impl Fn(Builder)) {
    for &driver in drivers {
        let builder = || {
            let placement = Placement::Unpinned(count);
            Runtime::builder().placement(placement).driver(driver)
        };
        match builder().run(|| async {}) {
            Ok(()) => test(builder()),
            Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                eprintln!("this machine refuses io_uring");
            }
            Err(error) => panic!("{driver:?} did not start: {error}"),
        }
    }
}

/// Each shard counts to its own number, with others in between.
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn each_shard_has_its_own_value() {
    static COUNT: ShardLocal<Cell<usize>> = ShardLocal::new(|| Cell::new(100 * shard().index()));
    let all = shards();
    let counting = all.iter().map(|shard| {
        let times = shard.index() + 1;
        shard.submit(move || async move {
            for _ in 0..times {
                COUNT.with(|count| count.set(count.get() + 1));
                yield_now().await;
            }
        })
    });
    for counted in counting.collect::<Vec<_>>() {
        counted.await.unwrap();
    }
    for shard in all.iter() {
        let count = shard.submit(|| async { COUNT.with(Cell::get) });
        assert_eq!(count.await.unwrap(), 101 * shard.index() + 1);
    }
}

#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn statics_of_one_type_and_one_function_are_two() {
    static ONE: ShardLocal<RefCell<Vec<u32>>> = ShardLocal::new(RefCell::default);
    static TWO: ShardLocal<RefCell<Vec<u32>>> = ShardLocal::new(RefCell::default);
    ONE.with(|one| one.borrow_mut().push(1));
    let kept = TWO.get();
    kept.borrow_mut().push(2);
    yield_now().await;
    assert!(Rc::ptr_eq(&kept, &TWO.get()));
    assert_eq!((ONE.get().take(), TWO.get().take()), (vec![1], vec![2]));
}

#[test]
fn a_runtime_starts_with_no_values() {
    static USES: ShardLocal<Cell<u32>> = ShardLocal::new(Cell::default);
    on_each(&ALL, 1, |builder| {
        let uses = builder.run(|| async { USES.with(|uses| uses.replace(7)) });
        assert_eq!(uses.unwrap(), 0);
    });
}

/// What happened, in its order.
static SAID: Mutex<Vec<(usize, &str)>> = Mutex::new(Vec::new());

struct Says(&'static str);

impl Drop for Says {
    fn drop(&mut self) {
        SAID.lock().unwrap().push((shard().index(), self.0));
    }
}

static FIRST: ShardLocal<Says> = ShardLocal::new(|| Says("used by another"));
static SECOND: ShardLocal<(Says, Rc<Says>)> = ShardLocal::new(|| (Says("user"), FIRST.get()));
static THIRD: ShardLocal<Broken> = ShardLocal::new(|| Broken);

struct Broken;

impl Drop for Broken {
    fn drop(&mut self) {
        // Gone with the end, and too late to be made.
        let late = catch_unwind(AssertUnwindSafe(|| LATE.get()));
        SAID.lock()
            .unwrap()
            .push((shard().index(), if late.is_err() { "late" } else { "no" }));
        panic!("this one breaks");
    }
}

static LATE: ShardLocal<()> = ShardLocal::new(|| ());

/// A task that uses a value in its drop.
struct Uses;

impl Drop for Uses {
    fn drop(&mut self) {
        SECOND.with(|_| SAID.lock().unwrap().push((shard().index(), "task")));
    }
}

#[test]
fn values_are_dropped_on_their_shard_behind_the_tasks_and_the_last_one_first() {
    on_each(&ALL, 2, |builder| {
        SAID.lock().unwrap().clear();
        let ran = builder.run(|| async {
            let there = shards()[1].clone();
            let call = there.submit(|| async {
                let kept = SECOND.get();
                THIRD.get();
                let uses = Uses;
                spawn(async move {
                    let _held = (uses, kept);
                    pending::<()>().await;
                })
                .detach();
                yield_now().await;
            });
            call.await.unwrap();
        });
        ran.unwrap();
        let expected = ["task", "late", "user", "used by another"].map(|what| (1, what));
        assert_eq!(*SAID.lock().unwrap(), expected);
    });
}

#[test]
fn a_value_may_hold_a_socket_to_the_end() {
    static HOLDS: ShardLocal<RefCell<Option<TcpListener>>> = ShardLocal::new(RefCell::default);
    on_each(&KERNEL, 1, |builder| {
        let client = builder.run(|| async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            // Nobody accepts it.
            let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            HOLDS.with(|holds| holds.replace(Some(listener)));
            client
        });
        let mut client = client.unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let end = client.read(&mut [0]).map_err(|error| error.kind());
        assert!(
            matches!(end, Ok(0) | Err(ErrorKind::ConnectionReset)),
            "{end:?}"
        );
    });
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_panic_while_a_value_is_made_leaves_nothing() {
    static MADE: ShardLocal<u32> = ShardLocal::new(|| {
        FAILURES.with(|failures| {
            failures.set(failures.get() + 1);
            assert!(failures.get() > 2, "not yet");
            failures.get()
        })
    });
    static FAILURES: ShardLocal<Cell<u32>> = ShardLocal::new(Cell::default);
    for _ in 0..2 {
        let failed = spawn(async { MADE.with(|made| *made) }).await.unwrap_err();
        assert!(failed.to_string().contains("not yet"), "{failed}");
    }
    assert_eq!(MADE.with(|made| *made), 3);
    assert_eq!(MADE.with(|made| *made), 3);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn a_value_that_needs_itself_says_so() {
    static SELF: ShardLocal<u32> = ShardLocal::new(|| OTHER.with(|other| *other));
    static OTHER: ShardLocal<u32> = ShardLocal::new(|| SELF.with(|this| *this));
    let failed = spawn(async { SELF.with(|this| *this) }).await.unwrap_err();
    assert!(failed.to_string().contains("needs itself"), "{failed}");
}

#[test]
#[should_panic(expected = "needs a shard")]
fn outside_of_the_shards_there_is_none() {
    static NOWHERE: ShardLocal<()> = ShardLocal::new(|| ());
    NOWHERE.get();
}
