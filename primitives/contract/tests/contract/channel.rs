//! The contract of the channel.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use corelane_primitives::{Closed, Receiver, Sender, channel};

use crate::channel;
use crate::futures::{give_up_after, give_way};
use crate::hosts::Host;
use crate::random::Random;

on_every_host!(
    channel::crowd_that_waits_is_served_whole_and_in_order,
    channel::cancelled_waits_lose_nothing_and_hang_nobody,
    channel::receiver_that_goes_ends_all_who_wait,
);

/// Fewer places than senders, few, and enough for turns.
const CAPACITIES: [usize; 4] = [1, 3, 64, 100];
const CROWD: u64 = 120;

/// An item: whose it is, and its number there.
type Item = (u64, u64);

/// Polls all of them, on one task, until each is ready.
async fn all(mut futures: Vec<Pin<Box<dyn Future<Output = ()>>>>) {
    poll_fn(|cx| {
        futures.retain_mut(|future| future.as_mut().poll(cx).is_pending());
        if futures.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// A crowd of handles of `sender`, each doing `work`.
async fn crowd<F: Future<Output = ()> + 'static>(
    sender: Sender<Item>,
    work: impl Fn(u64, Sender<Item>) -> F,
) {
    let works = (0..CROWD).map(|who| Box::pin(work(who, sender.clone())) as _);
    let works = works.collect();
    drop(sender);
    all(works).await;
}

/// Takes everything, in drains that may be given up, and checks each handle's order.
async fn receive_all(mut receiver: Receiver<Item>, seed: u64) -> u64 {
    let mut random = Random::new(seed);
    let (mut next, mut out) = ([0; CROWD as usize], Vec::new());
    let mut count = 0;
    loop {
        let max = 1 + random.below(300) as usize;
        let polls = 1 + random.below(4);
        match give_up_after(polls, receiver.recv_batch(&mut out, max)).await {
            Some(0) => return count,
            Some(drained) => count += drained as u64,
            None => give_way().await,
        }
        for (who, value) in out.drain(..) {
            let next = &mut next[who as usize];
            assert_eq!(value, *next);
            *next += 1;
        }
    }
}

pub(crate) fn crowd_that_waits_is_served_whole_and_in_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let count = host.count(200);
        let (sender, receiver) = channel(capacity);
        let send = move || {
            crowd(sender, move |who, sender| async move {
                for value in 0..count {
                    sender.send((who, value)).await.unwrap();
                }
            })
        };
        let ((), received) = host.pair(send, move || receive_all(receiver, capacity as u64));
        assert_eq!(received, CROWD * count, "capacity {capacity}");
    }
}

/// Sends `count` items, one by one or by permits, and gives many waits up.
async fn send_giving_up(who: u64, sender: Sender<Item>, count: u64) {
    let mut random = Random::new(who);
    let mut value = 0;
    while value < count {
        let polls = 1 + random.below(3);
        if random.below(3) > 0 {
            match give_up_after(polls, sender.send((who, value))).await {
                Some(sent) => value += u64::from(sent.is_ok()),
                None => give_way().await,
            }
            continue;
        }
        let wanted = 1 + random.below(sender.capacity() as u64);
        let Some(permits) = give_up_after(polls, sender.reserve(wanted as usize)).await else {
            continue;
        };
        let mut permits = permits.unwrap();
        // Some of them go back unused.
        for _ in 0..random.below(wanted + 1).min(count - value) {
            permits.send((who, value)).unwrap();
            value += 1;
        }
    }
}

pub(crate) fn cancelled_waits_lose_nothing_and_hang_nobody<H: Host>(host: &H) {
    for capacity in [2, 64] {
        let count = host.count(20);
        let (sender, receiver) = channel(capacity);
        let send = move || {
            crowd(sender, move |who, sender| {
                send_giving_up(who, sender, count)
            })
        };
        let ((), received) = host.pair(send, move || receive_all(receiver, capacity as u64));
        assert_eq!(received, CROWD * count, "capacity {capacity}");
    }
}

pub(crate) fn receiver_that_goes_ends_all_who_wait<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let (sender, mut receiver) = channel(capacity);
        let send = move || {
            crowd(sender, |who, sender| async move {
                let mut value = 0;
                while sender.send((who, value)).await.is_ok() {
                    value += 1;
                }
                assert_eq!(sender.send((who, value)).await, Err(Closed((who, value))));
                sender.closed().await;
            })
        };
        let receive = move || async move {
            for _ in 0..3 * capacity {
                assert!(receiver.recv().await.is_some());
            }
        };
        host.pair(send, receive);
    }
}
