//! Several tasks of a shard at one end of a lane.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use corelane::{Inlet, Outlet, shards, spawn, task};

/// Enough rounds of every task that all who can wait do.
async fn settle() {
    for _ in 0..100 {
        task::yield_now().await;
    }
}

#[corelane::test(shards = 2, uring, epoll, sim, seeds = 16)]
async fn every_sender_that_waits_at_one_outlet_gets_its_turn() {
    const SENDERS: u64 = 8;
    const VALUES: u64 = 500;
    let (producer, consumer) = corelane_primitives::lane(2);
    let sum = shards()[1].submit(move || async move {
        let inlet = Inlet::new(consumer);
        let mut sum = 0;
        while let Some(value) = inlet.recv().await {
            sum += value;
        }
        sum
    });
    let outlet = Rc::new(Outlet::new(producer));
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let outlet = Rc::clone(&outlet);
            spawn(async move {
                for value in 0..VALUES {
                    outlet.send(sender * VALUES + value).await.unwrap();
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.unwrap();
    }
    drop(outlet);
    let all = SENDERS * VALUES;
    assert_eq!(sum.await.unwrap(), all * (all - 1) / 2);
}

#[corelane::test(shards = 2, uring, epoll, sim, seeds = 16)]
async fn every_receiver_that_waits_at_one_inlet_gets_its_turn_and_the_end() {
    let (producer, consumer) = corelane_primitives::lane(4);
    let sum = shards()[1].submit(move || async move {
        let inlet = Rc::new(Inlet::new(consumer));
        let sum = Rc::new(Cell::new(0_u64));
        let receivers: Vec<_> = (0..5)
            .map(|_| {
                let (inlet, sum) = (Rc::clone(&inlet), Rc::clone(&sum));
                spawn(async move {
                    while let Some(value) = inlet.recv().await {
                        sum.set(sum.get() + value);
                    }
                })
            })
            .collect();
        for receiver in receivers {
            receiver.await.unwrap();
        }
        sum.get()
    });
    let outlet = Outlet::new(producer);
    for value in 0..1_000 {
        outlet.send(value).await.unwrap();
    }
    drop(outlet);
    assert_eq!(sum.await.unwrap(), 499_500);
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn a_wait_that_is_given_up_hangs_nobody() {
    let (producer, consumer) = corelane_primitives::lane(1);
    let (outlet, inlet) = (Rc::new(Outlet::new(producer)), Inlet::new(consumer));
    outlet.push(0).unwrap();
    let waits = spawn({
        let outlet = Rc::clone(&outlet);
        async move { outlet.send(1).await.unwrap() }
    });
    settle().await;
    {
        // The last one to wait is the one that the lane knows.
        let mut given_up = pin!(outlet.send(2));
        poll_fn(|cx| {
            assert!(given_up.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
    }
    assert_eq!(inlet.pop(), Some(0));
    waits.await.unwrap();
    outlet.flush();
    assert_eq!(inlet.pop(), Some(1));
}

#[corelane::test(shards = 1, uring, epoll, sim, seeds = 4)]
async fn everybody_who_waits_learns_that_the_other_end_is_gone() {
    let (producer, consumer) = corelane_primitives::lane(1);
    let (outlet, inlet) = (Rc::new(Outlet::new(producer)), Inlet::new(consumer));
    outlet.push(0).unwrap();
    let waiting: Vec<_> = (1..6)
        .map(|value| {
            let outlet = Rc::clone(&outlet);
            spawn(async move { outlet.send(value).await })
        })
        .collect();
    settle().await;
    drop(inlet);
    for (value, waits) in (1..).zip(waiting) {
        assert_eq!(waits.await.unwrap().unwrap_err().into_inner(), value);
    }
}
