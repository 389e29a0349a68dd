//! Services with a part on every shard: made, used and dropped there.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use corelane::metrics::snapshot;
use corelane::task::yield_now;
use corelane::{InvokeError, Sharded, ShardedError, SubmitError, shard, shards};
use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

const LONG: Duration = Duration::from_secs(3_600);

/// Where parts were made and dropped, by shard.
#[derive(Clone, Default)]
struct Book {
    made: Arc<Mutex<Vec<usize>>>,
    dropped: Arc<Mutex<Vec<usize>>>,
}

impl Book {
    fn made(&self) -> Vec<usize> {
        sorted(&self.made)
    }

    fn dropped(&self) -> Vec<usize> {
        sorted(&self.dropped)
    }

    /// Waits until as many parts were dropped as were made.
    async fn settled(&self) -> Vec<usize> {
        for _ in 0..10_000_000 {
            if self.dropped().len() == self.made().len() {
                break;
            }
            yield_now().await;
        }
        self.dropped()
    }
}

fn sorted(list: &Mutex<Vec<usize>>) -> Vec<usize> {
    let mut list = list.lock().unwrap().clone();
    list.sort_unstable();
    list
}

/// A part that must not leave its thread.
struct Part {
    book: Book,
    count: Rc<Cell<u64>>,
}

impl Part {
    fn new(book: &Book) -> Self {
        book.made.lock().unwrap().push(shard().index());
        Self {
            book: book.clone(),
            count: Rc::default(),
        }
    }

    fn add(&self, by: u64) -> u64 {
        self.count.set(self.count.get() + by);
        self.count.get()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.book.dropped.lock().unwrap().push(shard().index());
    }
}

async fn start(book: &Book) -> Sharded<Part> {
    let book = book.clone();
    let started = Sharded::start(|at| async move {
        assert_eq!(at, shard());
        Part::new(&book)
    });
    started.await.unwrap()
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn parts_are_made_used_and_dropped_each_on_its_shard() {
    let book = Book::default();
    let service = start(&book).await;
    assert_eq!(book.made(), [0, 1, 2]);
    for (number, target) in shards().iter().enumerate() {
        let by = number as u64 + 1;
        let call = service.invoke_on(target, move |part| async move {
            yield_now().await;
            (shard().index(), part.add(by))
        });
        assert_eq!(call.await.unwrap(), (number, by));
    }
    assert_eq!(service.local().unwrap().add(10), 11);
    let all = service.invoke_on_all(|part| async move { part.add(0) });
    assert_eq!(all.await.unwrap(), [11, 2, 3]);
    let folded = service.map_reduce(
        |part| async move { part.add(0) },
        String::new(),
        |text, count| text + &count.to_string() + ".",
    );
    assert_eq!(folded.await.unwrap(), "11.2.3.");
    assert_eq!(book.dropped(), []);
    service.stop(LONG).await.unwrap();
    assert_eq!(book.dropped(), [0, 1, 2]);
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn calls_after_a_stop_say_so_and_run_nothing() {
    let book = Book::default();
    let service = start(&book).await;
    let other = service.clone();
    service.stop(LONG).await.unwrap();
    for target in shards().iter() {
        let called = other.invoke_on(target, |part| async move { part.add(1) });
        match called.await {
            Err(InvokeError::Stopped { shard }) => assert_eq!(shard, target.index()),
            other => panic!("{other:?}"),
        }
    }
    let all = other.map_reduce(|part| async move { part.add(1) }, 0, |sum, more| sum + more);
    assert!(matches!(all.await, Err(InvokeError::Stopped { shard: 0 })));
    assert!(matches!(
        other.local(),
        Err(InvokeError::Stopped { shard: 0 })
    ));
    other.stop(LONG).await.unwrap();
    assert_eq!(book.dropped(), [0, 1, 2]);
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn stop_waits_for_calls_under_way() {
    let book = Book::default();
    let service = start(&book).await;
    let calls: Vec<_> = shards()
        .iter()
        .map(|target| {
            service.invoke_on(target, |part| async move {
                for _ in 0..50 {
                    yield_now().await;
                    assert!(!part.book.dropped().contains(&shard().index()));
                }
                // Longer than a stop without a deadline would give it.
                corelane::time::sleep(Duration::from_millis(2)).await;
                part.add(3)
            })
        })
        .collect();
    // They have arrived once a later call has.
    service.invoke_on_all(|_| async {}).await.unwrap();
    service.stop(LONG).await.unwrap();
    assert_eq!(book.dropped(), [0, 1]);
    for call in calls {
        assert_eq!(call.await.unwrap(), 3);
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn calls_that_outlast_the_deadline_end_between_polls() {
    struct Ends(Arc<Mutex<Vec<usize>>>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(shard().index());
        }
    }
    let book = Book::default();
    let ended = Arc::new(Mutex::new(Vec::new()));
    let service = start(&book).await;
    let calls: Vec<_> = shards()
        .iter()
        .map(|target| {
            let ended = Arc::clone(&ended);
            service.invoke_on(target, move |_part| async move {
                let _ends = Ends(ended);
                std::future::pending::<()>().await;
            })
        })
        .collect();
    service.invoke_on_all(|_| async {}).await.unwrap();
    service.stop(Duration::from_millis(1)).await.unwrap();
    assert_eq!(book.dropped(), [0, 1]);
    assert_eq!(sorted(&ended), [0, 1]);
    for (number, call) in calls.into_iter().enumerate() {
        match call.await {
            Err(InvokeError::Stopped { shard }) => assert_eq!(shard, number),
            other => panic!("{other:?}"),
        }
    }
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn part_that_a_task_keeps_is_reported_and_dropped_with_its_last_use() {
    let book = Book::default();
    let service = start(&book).await;
    let there = shards()[1].clone();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let holder = service.invoke_on(&there, move |part| async move {
        corelane::spawn(async move {
            while released.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
                yield_now().await;
            }
            drop(part);
        })
        .detach();
    });
    holder.await.unwrap();
    let error = service.stop(Duration::from_millis(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "the parts on shards [1] are still used");
    assert_eq!(book.dropped(), [0]);
    drop(release);
    assert_eq!(book.settled().await, [0, 1]);
}

// proves: RT-9
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 8)]
async fn stop_that_is_dropped_goes_on() {
    let book = Book::default();
    let service = start(&book).await;
    {
        let mut stop = std::pin::pin!(service.stop(LONG));
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(stop.as_mut().poll(cx)));
        assert!(first.await.is_pending());
    }
    assert_eq!(book.settled().await, [0, 1]);
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn last_handle_ends_the_service_and_calls_under_way_have_one() {
    let book = Book::default();
    let service = start(&book).await;
    let call = service.invoke_on(&shards()[2], |part| async move {
        yield_now().await;
        part.add(1)
    });
    // Handles travel; the last one goes elsewhere.
    let moved = service.clone();
    let there = shards()[1].submit_with(moved, |service| async move {
        let count = service.local().unwrap().add(4);
        drop(service);
        count
    });
    drop(service);
    assert_eq!(call.await.unwrap(), 1);
    assert_eq!(there.await.unwrap(), 4);
    assert_eq!(book.settled().await, [0, 1, 2]);
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn failed_start_drops_the_parts_that_had_started() {
    for broken in 0..3 {
        let book = Book::default();
        let made = book.clone();
        let started = Sharded::try_start(move |at| async move {
            if at.index() == broken {
                yield_now().await;
                return Err(format!("no {broken}"));
            }
            Ok(Part::new(&made))
        });
        match started.await.map(drop) {
            Err(ShardedError::Failed { shard, source }) => {
                assert_eq!((shard, source), (broken, format!("no {broken}")));
            }
            other => panic!("{other:?}"),
        }
        // Not later: when the error is known.
        assert_eq!(book.dropped(), book.made());
    }
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn failed_start_ends_those_that_wait_for_the_part_that_failed() {
    for (broken, panics) in (0..3).flat_map(|broken| [(broken, false), (broken, true)]) {
        let book = Book::default();
        let made = book.clone();
        let started = Sharded::try_start(move |at| async move {
            let part = Part::new(&made);
            if at.index() != broken {
                std::future::pending::<()>().await;
            }
            yield_now().await;
            assert!(!panics, "not here");
            drop(part);
            Err::<Part, _>("not here")
        });
        let error = started.await.map(drop).unwrap_err();
        let text = error.to_string();
        match error {
            ShardedError::Failed { shard, .. } if !panics => assert_eq!(shard, broken),
            ShardedError::Submit {
                shard,
                source: SubmitError::Panicked(_),
            } if panics => assert_eq!(shard, broken),
            _ => panic!("{text}"),
        }
        assert_eq!(book.dropped(), book.made());
    }
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn panic_of_a_start_is_its_error_and_drops_the_parts_that_had_started() {
    let book = Book::default();
    let made = book.clone();
    let started = Sharded::start(move |at| async move {
        let part = Part::new(&made);
        assert!(at.index() != 1, "not here");
        part
    });
    let error = started.await.map(drop).unwrap_err();
    assert_eq!(error.to_string(), "the part on shard 1 was not made");
    let ShardedError::Submit { shard: 1, source } = error else {
        panic!("{error:?}");
    };
    assert_eq!(source.to_string(), "the submitted call panicked: not here");
    assert_eq!(book.dropped(), book.made());
    assert!(book.made().contains(&1));
}

// proves: RT-9
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn start_that_is_dropped_leaves_no_part() {
    for polls in 1..6 {
        let book = Book::default();
        {
            let mut starting = std::pin::pin!(start(&book));
            for _ in 0..polls {
                let poll = std::future::poll_fn(|cx| {
                    std::task::Poll::Ready(starting.as_mut().poll(cx).is_ready())
                });
                if poll.await {
                    break;
                }
                yield_now().await;
            }
        }
        for target in shards().iter() {
            target.submit(yield_now).await.unwrap();
        }
        assert_eq!(book.settled().await, book.made());
    }
}

/// Remembers how it was relocated.
#[derive(Clone, Default)]
struct Probe(Vec<(Option<Affinity>, Affinity, usize)>);

impl ThreadAware for Probe {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0.push((source, destination, shard().index()));
    }
}

// proves: RT-10
#[corelane::test(shards = 3, uring, epoll, sim, seeds = 8)]
async fn data_of_a_service_is_relocated_once_on_each_target() {
    let source = Some(shard().affinity());
    let expected = |shard: &corelane::Shard| vec![(source, shard.affinity(), shard.index())];
    let all: Vec<_> = shards().iter().map(expected).collect();
    let made = Sharded::start_with(Probe::default(), |_, probe| async { probe });
    let service = made.await.unwrap();
    let kept = service.invoke_on_all(|probe| async move { probe.0.clone() });
    assert_eq!(kept.await.unwrap(), all);
    for target in shards().iter() {
        let call = service.invoke_on_with(target, Probe::default(), |_, data| async { data.0 });
        assert_eq!(call.await.unwrap(), expected(target));
    }
    let sent = service.invoke_on_all_with(Probe::default(), |_, data| async { data.0 });
    assert_eq!(sent.await.unwrap(), all);
    let counted: Vec<_> = snapshot().shards.iter().map(|s| s.relocations).collect();
    assert_eq!(counted, [3, 3, 3]);
}

// proves: RT-9
#[test]
fn shard_that_ends_drops_its_part() {
    let book = Book::default();
    let service = corelane::Runtime::builder()
        .placement(corelane::Placement::Unpinned(3))
        .run({
            let book = book.clone();
            || async move { start(&book).await }
        })
        .unwrap();
    assert_eq!(book.dropped(), [0, 1, 2]);
    drop(service);
    assert_eq!(book.dropped(), [0, 1, 2]);
    assert_eq!(Arc::strong_count(&book.dropped), 1);
}

// proves: RT-9
#[test]
fn threads_outside_call_the_parts() {
    let running = corelane::Runtime::builder()
        .placement(corelane::Placement::Unpinned(2))
        .start()
        .unwrap();
    let book = Book::default();
    let made = book.clone();
    let service = running
        .shard(1)
        .submit(|| async move { start(&made).await });
    let service = service.wait().unwrap();
    let there = running.shard(0).submit(|| async { shard() });
    let there = there.wait().unwrap();
    let call = service.invoke_on(&there, |part| async move { (shard().index(), part.add(2)) });
    assert_eq!(block_on(call).unwrap(), (0, 2));
    let sum = service.map_reduce(|part| async move { part.add(1) }, 0, |sum, more| sum + more);
    assert_eq!(block_on(sum).unwrap(), 4);
    drop(service);
    running.shutdown(Duration::from_secs(30)).unwrap();
    assert_eq!(book.dropped(), [0, 1]);
}

/// Runs a future on this plain thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        std::thread::park();
    }
}
