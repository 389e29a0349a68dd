//! Wakers of other executors that panic: each loses its own wake alone.
#![allow(clippy::unwrap_used)]

mod tcp_pair;

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use corelane::task::yield_now;
use corelane::time::{Instant, sleep, sleep_until};
use corelane::{Inlet, Outlet, Placement, Runtime, SubmitError, metrics, shards, shutdown, spawn};
use corelane_primitives::lane;
use tcp_pair::pair;

/// Counts its wakes and panics at each.
#[derive(Default)]
struct Bomb(AtomicUsize);

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("a waker that panics");
    }
}

/// Panics when it is dropped without a wake.
struct PanicsInDrop;

impl Wake for PanicsInDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        panic!("a waker that panics in its drop");
    }
}

impl Bomb {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Polls `future` under this waker.
    fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }
}

/// Lets a bomb and then a task wait for the same thing: `release` must wake both, and what the bomb
/// waited for is there when it is looked at again.
async fn both_are_woken<F, R>(wait: impl Fn() -> F, release: R)
where
    F: Future<Output: 'static> + 'static,
    R: Future,
{
    let bomb = Bomb::new();
    let mut first = Box::pin(wait());
    assert!(bomb.poll(first.as_mut()).is_pending());
    let second = spawn(wait());
    yield_now().await;
    assert!(!second.is_finished());
    release.await;
    second.await.unwrap();
    assert_eq!(bomb.wakes(), 1);
    first.await;
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn timers_behind_a_waker_that_panics_fire() {
    let due = Instant::now() + Duration::from_millis(2);
    both_are_woken(|| sleep_until(due), async {}).await;
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn tasks_behind_a_waker_that_panics_learn_of_the_shutdown() {
    both_are_woken(shutdown::wait, async { shutdown::trigger() }).await;
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn sockets_wake_everybody_beside_a_waker_that_panics() {
    let (client, server) = pair().await;
    let server = Rc::new(server);
    let read = || {
        let server = Rc::clone(&server);
        async move { server.read_chunk().await.unwrap() }
    };
    both_are_woken(read, async { drop(client) }).await;

    let listener = Rc::new(TcpListener::bind(([127, 0, 0, 1], 0)).unwrap());
    let addr = listener.local_addr().unwrap();
    let accept = || {
        let listener = Rc::clone(&listener);
        async move { listener.accept().await.unwrap() }
    };
    let connect = async {
        let clients = [TcpStream::connect(addr), TcpStream::connect(addr)];
        for client in clients {
            client.await.unwrap();
        }
    };
    both_are_woken(accept, connect).await;

    // A write that finds no room waits for it.
    let (client, server) = pair().await;
    let client = Rc::new(client);
    let write = || {
        let client = Rc::clone(&client);
        async move { client.write_all(vec![7_u8; 16 << 20]).await }
    };
    let drain = spawn(async move {
        let mut bytes = 0;
        while bytes < 32 << 20 {
            bytes += server.read_chunk().await.unwrap().len();
        }
    });
    let bomb = Bomb::new();
    let mut first = Box::pin(write());
    assert!(bomb.poll(first.as_mut()).is_pending());
    sleep(Duration::from_millis(1)).await;
    first.await.0.unwrap();
    write().await.0.unwrap();
    drain.await.unwrap();
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn task_that_wakes_a_waker_that_panics_ends_as_it_would() {
    let bomb = Bomb::new();
    let mut handle = spawn(async { 7 });
    assert!(bomb.poll(Pin::new(&mut handle)).is_pending());
    yield_now().await;
    assert_eq!(bomb.wakes(), 1);
    assert_eq!(handle.await.unwrap(), 7);
    // Aborted, and by a panic of its own.
    for ends in 0..2 {
        let mut handle = spawn(async move {
            if ends == 1 {
                panic!("the task's own");
            }
            pending::<()>().await;
        });
        assert!(bomb.poll(Pin::new(&mut handle)).is_pending());
        handle.abort();
        yield_now().await;
        assert!(handle.await.is_err());
    }
    assert_eq!(bomb.wakes(), 3);
    let counted = &metrics::snapshot().shards[0];
    assert_eq!(counted.tasks_live, 1, "all have left the table");
}

// proves: RT-18
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn answer_that_meets_a_waker_that_panics_is_there_all_the_same() {
    let there = shards()[1].clone();
    let bomb = Bomb::new();
    let mut call = there.submit(|| async { 7 });
    assert!(bomb.poll(Pin::new(&mut call)).is_pending());
    // Calls are answered in their order here: the one before is back.
    assert_eq!(there.submit(|| async { 8 }).await.unwrap(), 8);
    assert_eq!(bomb.wakes(), 1);
    assert_eq!(call.await.unwrap(), 7);
}

// proves: RT-18
#[corelane::test(shards = 2, uring, epoll, sim, seeds = 2)]
async fn tasks_at_an_end_of_a_lane_are_woken_beside_a_waker_that_panics() {
    let (producer, consumer) = lane(1);
    let (outlet, inlet) = (
        Rc::new(Outlet::new(producer)),
        Rc::new(Inlet::new(consumer)),
    );
    let ready = || {
        let inlet = Rc::clone(&inlet);
        async move { assert!(inlet.ready().await) }
    };
    both_are_woken(ready, async { outlet.push(1).unwrap() }).await;
    let room = || {
        let outlet = Rc::clone(&outlet);
        async move { outlet.room(1).await.unwrap() }
    };
    let take = async { assert_eq!(inlet.pop(), Some(1)) };
    both_are_woken(room, take).await;
}

/// The shard tells the other ends of its lanes after a turn, which a wait for a timer ends.
async fn turn_ends() {
    sleep(Duration::from_micros(1)).await;
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn value_that_wakes_a_waker_that_panics_has_passed() {
    // The other end is a bare one, which any executor may poll.
    let bomb = Bomb::new();
    let waker = Waker::from(Arc::clone(&bomb));
    let mut cx = Context::from_waker(&waker);
    let (producer, mut consumer) = lane(2);
    let outlet = Outlet::new(producer);
    assert!(consumer.poll_ready(&mut cx).is_pending());
    outlet.push(1).unwrap();
    assert_eq!(consumer.pop(), Some(1));
    assert!(consumer.poll_ready(&mut cx).is_pending());
    assert_eq!(outlet.push_batch(&mut (2..3)), 1);
    outlet.flush();
    assert_eq!(consumer.pop(), Some(2));
    assert!(consumer.poll_ready(&mut cx).is_pending());
    assert_eq!(outlet.push_batch(&mut (3..4)), 1);
    turn_ends().await;
    assert_eq!(consumer.pop(), Some(3));
    assert!(bomb.wakes() >= 3, "{}", bomb.wakes());
    consumer.unpark();

    let (mut producer, consumer) = lane(128);
    let inlet = Inlet::new(consumer);
    for taken in 0..3 {
        while producer.push(taken).is_ok() {}
        assert!(producer.poll_room(&mut cx, 128).is_pending());
        while let Some(value) = inlet.pop() {
            assert_eq!(value, taken);
        }
        turn_ends().await;
    }
    producer.unpark();
    assert!(bomb.wakes() >= 6, "{}", bomb.wakes());
}

// proves: RT-18
#[corelane::test(shards = 1, uring, epoll, sim, seeds = 2)]
async fn waker_that_panics_in_its_drop_ends_no_shard() {
    let wakers = || Waker::from(Arc::new(PanicsInDrop));
    let mut handle = spawn(async { 7 });
    let mut call = shards()[0].submit(|| async { 8 });
    {
        let (one, other) = (wakers(), wakers());
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&one));
        assert!(polled.is_pending());
        let polled = Pin::new(&mut call).poll(&mut Context::from_waker(&other));
        assert!(polled.is_pending());
        // The last holds are the runtime's now.
    }
    yield_now().await;
    yield_now().await;
    assert_eq!((handle.await.unwrap(), call.await.unwrap()), (7, 8));
}

// proves: RT-18
#[test]
fn call_from_outside_is_answered_past_a_waker_that_panics() {
    let running = Runtime::builder()
        .placement(Placement::Unpinned(1))
        .inbox_capacity(1)
        .start()
        .unwrap();
    let shard = running.shard(0);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (enter, entered) = std::sync::mpsc::channel();
    let busy = shard.submit(move || async move {
        enter.send(()).unwrap();
        let _released_or_gone = released.recv_timeout(Duration::from_secs(60));
    });
    entered.recv_timeout(Duration::from_secs(60)).unwrap();
    let bomb = Bomb::new();
    // One waits for its answer, one for room in the inbox, and behind it one more, by this thread.
    let mut answer = pin!(shard.submit(|| async { 1 }));
    let mut room = pin!(shard.submit(|| async { 2 }));
    assert!(bomb.poll(answer.as_mut()).is_pending());
    assert!(bomb.poll(room.as_mut()).is_pending());
    let behind = shard.submit(|| async { 3 });
    release.send(()).unwrap();
    assert_eq!(behind.wait().unwrap(), 3);
    busy.wait().unwrap();
    assert!(bomb.wakes() >= 2, "{}", bomb.wakes());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(answer.as_mut().poll(&mut cx), Poll::Ready(Ok(1))));
    while room.as_mut().poll(&mut cx).is_pending() {
        std::thread::yield_now();
    }
    assert_eq!(running.metrics().shards[0].tasks_panicked, 0);
    running.shutdown(Duration::from_secs(60)).unwrap();
}

/// Panics when it is dropped.
struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("a capture that panics in its drop");
    }
}

// proves: RT-18
#[test]
fn call_from_outside_that_panics_in_its_drop_ends_with_its_shard() {
    const LIMIT: Duration = Duration::from_secs(60);
    let running = Runtime::builder()
        .placement(Placement::Unpinned(1))
        .start()
        .unwrap();
    let shard = running.shard(0);
    let (enter, entered) = std::sync::mpsc::channel();
    let busy = shard.submit(move || async move {
        enter.send(()).unwrap();
        // Keeps the shard in this poll until its runtime ends.
        let limit = Instant::now().saturating_add(LIMIT);
        let mut end = pin!(shutdown::wait());
        let mut cx = Context::from_waker(Waker::noop());
        while end.as_mut().poll(&mut cx).is_pending() && Instant::now() < limit {
            std::hint::spin_loop();
        }
    });
    entered.recv_timeout(LIMIT).unwrap();
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let fragile = Fragile;
            shard.submit(move || async move { std::mem::forget(fragile) })
        })
        .collect();
    running.shutdown(Duration::ZERO).unwrap();
    drop(busy);
    for call in calls {
        assert!(matches!(call.wait(), Err(SubmitError::Panicked(_))));
    }
}
