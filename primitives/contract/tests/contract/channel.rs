//! The contract of the channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use corelane_primitives::{Closed, Receiver, RecvError, SendError, Sender, channel, lane};

use crate::channel;
use crate::futures::{count_polls, flag_waiting, give_up_after, give_way, until_raised};
use crate::hosts::{Host, PLACES};
use crate::random::Random;
use crate::tasks::{Task, all};

on_every_host! {
    // proves: C-4
    #[test]
    fn channel::crowd_that_waits_is_served_whole_and_in_order;
    // proves: C-6
    #[test]
    fn channel::cancelled_waits_lose_nothing_and_hang_nobody;
    // proves: C-3
    #[test]
    fn channel::receiver_that_goes_ends_all_who_wait;
    // proves: C-1
    #[test]
    fn channel::a_full_channel_makes_senders_wait;
    // proves: C-3
    #[test]
    fn channel::a_close_gives_waiting_values_back_and_drains;
    // proves: C-4
    #[test]
    fn channel::handle_that_changes_places_keeps_its_order;
    // proves: W-1
    #[test]
    fn channel::parked_receivers_are_woken_from_other_places;
    // proves: W-3
    #[test]
    fn channel::idle_senders_and_receivers_cause_no_polls;
}

/// Fewer places than senders, few, and enough for turns.
const CAPACITIES: [usize; 4] = [1, 3, 64, 100];
/// Handles of one channel, at two places.
const CROWD: u64 = 120;
/// A wait takes a poll that finds nothing and a poll that finds it; a third comes of a waker that
/// was under way when an earlier poll found it by itself.
const POLLS_MAX: u64 = 3;
/// Polls that a receiver which has just had an item adds to that, before it sleeps.
const LOOKS: u64 = 16;

/// An item: whose it is, and its number there.
type Item = (u64, u64);

/// Handles of `sender`, each doing `work` in a task of its own.
async fn crowd<F: Future<Output = ()> + 'static>(
    sender: Sender<Item>,
    crowd: std::ops::Range<u64>,
    work: impl Fn(u64, Sender<Item>) -> F,
) {
    let works = crowd.map(|who| Box::pin(work(who, sender.clone())) as Task<()>);
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

/// Half of the crowd at each of two places, the receiver at a third; how many items it got.
fn crowds<H, F>(
    host: &H,
    capacity: usize,
    size: u64,
    work: impl Fn(u64, Sender<Item>) -> F + Clone + Send + 'static,
) -> u64
where
    H: Host,
    F: Future<Output = ()> + 'static,
{
    let (sender, receiver) = channel(capacity);
    let mut ends = vec![Ok(receiver), Err((0..size / 2, sender.clone()))];
    ends.push(Err((size / 2..size, sender)));
    let at_place = |end: Result<Receiver<Item>, (std::ops::Range<u64>, Sender<Item>)>| {
        let work = work.clone();
        move || async move {
            match end {
                Ok(receiver) => receive_all(receiver, capacity as u64).await,
                Err((whose, sender)) => {
                    crowd(sender, whose, work).await;
                    0
                }
            }
        }
    };
    assert_eq!(ends.len(), PLACES);
    let received = host.each(ends.into_iter().map(at_place).collect());
    received.into_iter().sum()
}

pub(crate) fn crowd_that_waits_is_served_whole_and_in_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let count = host.count(100);
        let send = move |who, sender: Sender<Item>| async move {
            for value in 0..count {
                sender.send((who, value)).await.unwrap();
            }
        };
        let received = crowds(host, capacity, CROWD, send);
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
            give_way().await;
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

/// A crowd that gives up goes round once a turn of its place, however long the receiver is on its
/// way: the larger it is, the longer this takes, and nothing is shown by that.
pub(crate) fn cancelled_waits_lose_nothing_and_hang_nobody<H: Host>(host: &H) {
    const SIZE: u64 = 12;
    for capacity in [2, 8, 64] {
        let count = host.count(200);
        let send = move |who, sender| send_giving_up(who, sender, count);
        let received = crowds(host, capacity, SIZE, send);
        assert_eq!(received, SIZE * count, "capacity {capacity}");
    }
}

pub(crate) fn receiver_that_goes_ends_all_who_wait<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let (sender, mut receiver) = channel(capacity);
        let send = move || {
            crowd(sender, 0..CROWD, |who, sender| async move {
                let mut value = 0;
                while sender.send((who, value)).await.is_ok() {
                    value += 1;
                }
                assert_eq!(sender.send((who, value)).await, Err(Closed((who, value))));
                assert!(matches!(sender.reserve(1).await, Err(Closed(()))));
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

pub(crate) fn a_full_channel_makes_senders_wait<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let room = capacity as u64;
        let count = host.count(2_000).max(2 * room);
        let (sender, mut receiver) = channel(capacity);
        let sent = Arc::new(AtomicU64::new(0));
        let waits = Arc::new(AtomicBool::new(false));
        let (sending, waiting) = (Arc::clone(&sent), Arc::clone(&waits));
        let send = move || async move {
            for value in 0..count {
                if value == room {
                    let refused = sender.try_send(value);
                    assert_eq!(refused, Err(SendError::Full(value)));
                }
                let send = flag_waiting(&waiting, sender.send(value));
                let (closed, polls) = count_polls(send).await;
                closed.unwrap();
                assert!(value >= room || polls == 1, "there is room for {value}");
                sending.fetch_add(1, Ordering::Release);
            }
        };
        let receive = move || async move {
            until_raised(&waits).await;
            assert_eq!(sent.load(Ordering::Acquire), room);
            assert_eq!(receiver.occupancy(), capacity);
            for value in 0..count {
                assert_eq!(receiver.recv().await, Some(value));
                let ahead = sent.load(Ordering::Acquire) - value;
                assert!(ahead <= room + 1, "{ahead} ahead of {value}");
            }
            assert_eq!(receiver.recv().await, None);
        };
        host.pair(send, receive);
    }
}

pub(crate) fn a_close_gives_waiting_values_back_and_drains<H: Host>(host: &H) {
    for _ in 0..host.count(200) {
        let (sender, mut receiver) = channel(2);
        let waits = Arc::new(AtomicBool::new(false));
        let waiting = Arc::clone(&waits);
        let send = move || async move {
            for value in 0..2 {
                sender.send(value).await.unwrap();
            }
            let refused = flag_waiting(&waiting, sender.send(2)).await;
            assert_eq!(refused, Err(Closed(2)));
            assert_eq!(sender.try_send(3), Err(SendError::Closed(3)));
            sender.closed().await;
        };
        let receive = move || async move {
            until_raised(&waits).await;
            receiver.close();
            for value in 0..2 {
                assert_eq!(receiver.recv().await, Some(value));
            }
            assert_eq!(receiver.recv().await, None);
            assert_eq!(receiver.try_recv(), Err(RecvError::Closed));
        };
        host.pair(send, receive);
    }
}

/// One handle goes to and fro between two places, each of which sends by it before it goes on.
pub(crate) fn handle_that_changes_places_keeps_its_order<H: Host>(host: &H) {
    for capacity in CAPACITIES {
        let (count, rounds) = (3, host.count(500));
        let (sender, mut receiver) = channel(capacity);
        let (mut to_right, mut from_left) = lane::<Sender<u64>>(1);
        let (mut to_left, mut from_right) = lane::<Sender<u64>>(1);
        let left = move || async move {
            let receive = async move {
                for value in 0..2 * count * rounds {
                    assert_eq!(receiver.recv().await, Some(value));
                }
                assert_eq!(receiver.recv().await, None);
            };
            let send = async move {
                let mut sender = sender;
                for round in 0..rounds {
                    for value in 0..count {
                        sender.send(2 * count * round + value).await.unwrap();
                    }
                    to_right.send(sender).await.unwrap();
                    sender = from_right.recv().await.unwrap();
                }
            };
            all(vec![Box::pin(receive) as Task<()>, Box::pin(send)]).await;
        };
        let right = move || async move {
            for round in 0..rounds {
                let sender = from_left.recv().await.unwrap();
                for value in 0..count {
                    let value = 2 * count * round + count + value;
                    sender.send(value).await.unwrap();
                }
                to_left.send(sender).await.unwrap();
            }
        };
        host.pair(left, right);
    }
}

/// Each place waits for what the other sends because of it: one lost wake ends it all.
pub(crate) fn parked_receivers_are_woken_from_other_places<H: Host>(host: &H) {
    let count = host.count(5_000);
    let ((to_right, from_left), (to_left, from_right)) = (channel(1), channel(1));
    let place = move |sender: Sender<u64>, mut receiver: Receiver<u64>, is_first: bool| async move {
        for value in 0..count {
            if is_first {
                sender.send(value).await.unwrap();
            }
            assert_eq!(receiver.recv().await, Some(value));
            if !is_first {
                sender.send(value).await.unwrap();
            }
        }
    };
    let left = move || place(to_right, from_right, true);
    let right = move || place(to_left, from_left, false);
    host.pair(left, right);
}

/// In turn the one end is busy while the other one waits.
pub(crate) fn idle_senders_and_receivers_cause_no_polls<H: Host>(host: &H) {
    async fn be_busy() {
        for _ in 0..50 {
            give_way().await;
        }
    }
    for busy_sender in [true, false] {
        let count = host.count(300);
        let (sender, mut receiver) = channel(1);
        let send = move || async move {
            for value in 0..count {
                if busy_sender {
                    be_busy().await;
                }
                let (sent, polls) = count_polls(sender.send(value)).await;
                sent.unwrap();
                assert!(polls <= POLLS_MAX, "{polls} polls for value {value}");
            }
        };
        let receive = move || async move {
            for expected in 0..count {
                if !busy_sender {
                    be_busy().await;
                }
                let (value, polls) = count_polls(receiver.recv()).await;
                assert_eq!(value, Some(expected));
                let polls_max = POLLS_MAX + LOOKS;
                assert!(polls <= polls_max, "{polls} polls for value {expected}");
            }
        };
        host.pair(send, receive);
    }
}
