//! The order of one handle, whatever carries it.

use crate::support::{Task, at_once};
use corelane_primitives::{Sender, channel};
use std::thread;

const ITEMS: u32 = 2_000;

// proves: C-4
#[test]
fn waiting_sends_are_received_in_the_order_of_coming() {
    let (sender, mut receiver) = channel(1);
    assert_eq!(sender.try_send(0), Ok(()));
    let mut waiting: Vec<_> = (1..5)
        .map(|value| Task::waiting(sender.send(value)))
        .collect();
    for value in 0..5 {
        assert_eq!(receiver.try_recv(), Ok(value));
        // Everybody tries, the last one first.
        for (index, task) in waiting.iter_mut().enumerate().rev() {
            if index as u32 >= value {
                assert_eq!(task.poll().is_ready(), index as u32 == value);
            }
        }
    }
}

// proves: C-4
#[test]
fn nobody_overtakes_who_waits() {
    let (sender, mut receiver) = channel(1);
    assert_eq!(sender.try_send(0), Ok(()));
    let mut first = Task::waiting(sender.send(1));
    assert_eq!(receiver.try_recv(), Ok(0));
    assert!(sender.try_send(2).is_err_and(|refused| refused.is_full()));
    let mut second = Task::waiting(sender.send(2));
    assert_eq!(first.ready(), Ok(()));
    assert_eq!(at_once(receiver.recv()), Some(1));
    assert_eq!(second.ready(), Ok(()));
    assert_eq!(at_once(receiver.recv()), Some(2));
}

/// Sends `from..to` on a thread of its own, and gives the handle back.
fn send_elsewhere(
    sender: Sender<(usize, u32)>,
    who: usize,
    from: u32,
    to: u32,
) -> Sender<(usize, u32)> {
    let sent = thread::spawn(move || {
        for value in from..to {
            sender
                .blocking_send((who, value))
                .expect("the receiver is there");
        }
        sender
    });
    sent.join().expect("no send panics")
}

// proves: C-4
#[test]
fn handle_that_changes_threads_keeps_its_order() {
    for capacity in [1, 2, 7, 64, 100] {
        let (sender, mut receiver) = channel(capacity);
        let senders: Vec<_> = (0..3)
            .map(|who| {
                let mut sender = sender.clone();
                thread::spawn(move || {
                    for lap in 0..4 {
                        sender =
                            send_elsewhere(sender, who, lap * ITEMS / 4, (lap + 1) * ITEMS / 4);
                    }
                })
            })
            .collect();
        drop(sender);
        let mut next = [0; 3];
        while let Some((who, value)) = receiver.blocking_recv() {
            assert_eq!(value, next[who], "at capacity {capacity}");
            next[who] += 1;
        }
        assert_eq!(next, [ITEMS; 3]);
        senders
            .into_iter()
            .for_each(|sender| sender.join().expect("it ends"));
    }
}

/// More threads than places, so that all of them wait again and again.
// proves: C-4
#[test]
fn crowd_of_threads_is_served_whole_and_in_order() {
    const CROWD: usize = 150;
    for capacity in [5, 64, 128] {
        let (sender, mut receiver) = channel(capacity);
        let crowd: Vec<_> = (0..CROWD)
            .map(|who| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for value in 0..200 {
                        let sent = sender.blocking_send((who, value));
                        sent.expect("the receiver is there");
                    }
                })
            })
            .collect();
        drop(sender);
        let mut next = [0; CROWD];
        while receiver.blocking_ready() {
            receiver.fold(256, (), |(), (who, value)| {
                assert_eq!(value, next[who]);
                next[who] += 1;
            });
        }
        assert_eq!(next, [200; CROWD]);
        for thread in crowd {
            thread.join().expect("no send panics");
        }
    }
}
