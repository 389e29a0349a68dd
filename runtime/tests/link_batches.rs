//! A batch whose iterator uses the outlet that it is pushed to.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use corelane::{Inlet, Outlet, shards};

fn link<T>(capacity: usize) -> (Outlet<T>, Inlet<T>) {
    let (producer, consumer) = corelane_primitives::lane(capacity);
    (Outlet::new(producer), Inlet::new(consumer))
}

fn drain<T>(inlet: &Inlet<T>) -> Vec<T> {
    std::iter::from_fn(|| inlet.pop()).collect()
}

/// Pushes a batch of `values` whose iterator pushes `between` values of its own before each. Checks
/// that the lane then has what was taken, in that order, and returns how many of each kind that is.
fn overtaken(capacity: usize, values: u32, between: u32) -> (usize, usize) {
    let (outlet, inlet) = link(capacity);
    let taken = RefCell::new(Vec::new());
    let mut own = 1_000;
    let mut given = (0..values).inspect(|&value| {
        for _ in 0..between {
            own += 1;
            match outlet.push(own) {
                Ok(()) => taken.borrow_mut().push(own),
                Err(full) => assert_eq!(full.0, own),
            }
        }
        taken.borrow_mut().push(value);
    });
    let pushed = outlet.push_batch(&mut given);
    drop(given);
    outlet.flush();
    let taken = taken.into_inner();
    assert_eq!(drain(&inlet), taken);
    assert_eq!(outlet.slots(), capacity, "nothing is kept after the batch");
    (pushed, taken.len() - pushed)
}

#[corelane::test(shards = 1, epoll)]
async fn iterator_pushes_to_the_outlet_of_its_batch() {
    assert_eq!(overtaken(8, 3, 1), (3, 3));
    assert_eq!(overtaken(8, 9, 0), (8, 0));
    assert_eq!(overtaken(8, 9, 1), (4, 4));
    // The iterator finds the lane full one slot early, for that is the slot of its value.
    assert_eq!(overtaken(8, 9, 100), (1, 7));
    assert_eq!(overtaken(1, 9, 100), (1, 0));
    for capacity in [1, 2, 4, 16] {
        for values in 0..20 {
            for between in 0..4 {
                let (pushed, own) = overtaken(capacity, values, between);
                assert!(pushed + own <= capacity);
                assert!(pushed == values as usize || pushed + own == capacity);
            }
        }
    }
}

#[corelane::test(shards = 1, epoll)]
async fn iterator_pushes_a_batch_to_the_outlet_of_its_batch() {
    for (capacity, inner, wanted) in [
        (16, 2, vec![10, 11, 0, 10, 11, 1, 10, 11, 2]),
        (4, 2, vec![10, 11, 0, 1]),
        (4, 9, vec![10, 11, 12, 0]),
        (1, 9, vec![0]),
    ] {
        let (outlet, inlet) = link(capacity);
        let mut given = (0..3).inspect(|_| {
            // The innermost pushes too: it leaves a slot to each batch around it.
            let mut values = (10..10 + inner).inspect(|_| assert!(outlet.slots() < capacity));
            outlet.push_batch(&mut values);
        });
        outlet.push_batch(&mut given);
        outlet.flush();
        assert_eq!(drain(&inlet), wanted);
    }
}

#[corelane::test(shards = 1, epoll)]
async fn innermost_iterator_leaves_a_slot_to_each_batch_around_it() {
    let (outlet, inlet) = link(4);
    let mut refused = 0;
    let mut outer = (0..1).inspect(|_| {
        let mut inner = (10..11).inspect(|_| {
            while outlet.push(20).is_ok() {}
            refused += 1;
        });
        assert_eq!(outlet.push_batch(&mut inner), 1);
        assert!(outlet.push(30).is_err());
    });
    assert_eq!(outlet.push_batch(&mut outer), 1);
    drop(outer);
    outlet.flush();
    assert_eq!((drain(&inlet), refused), (vec![20, 20, 10, 0], 1));
}

#[corelane::test(shards = 1, epoll)]
async fn wait_inside_an_iterator_is_pending_and_goes_on_after_the_batch() {
    let (outlet, inlet) = link(1);
    let mut send = pin!(outlet.send(7));
    let mut room = pin!(outlet.room(1));
    poll_fn(|cx| {
        let mut given = (0..5).inspect(|_| {
            assert!(send.as_mut().poll(cx).is_pending());
            assert!(room.as_mut().poll(cx).is_pending());
        });
        assert_eq!(outlet.push_batch(&mut given), 1);
        Poll::Ready(())
    })
    .await;
    assert_eq!(inlet.recv().await, Some(0));
    room.await.unwrap();
    send.await.unwrap();
    assert_eq!(inlet.recv().await, Some(7));
}

/// What was given before the panic is sent, and its receiver is told, though it sleeps.
#[corelane::test(shards = 2, uring, epoll, sim)]
async fn iterator_that_panics_sends_what_it_gave_before() {
    let (producer, consumer) = corelane_primitives::lane(8);
    let outlet = Outlet::new(producer);
    let received = shards()[1].submit(move || async move {
        let inlet = Inlet::new(consumer);
        [inlet.recv().await, inlet.recv().await]
    });
    // The other shard has nothing to do but to wait at its end.
    shards()[1].submit(|| async {}).await.unwrap();
    let mut values = (0..).inspect(|&value| assert!(value < 2, "the third is too much"));
    let batch = || outlet.push_batch(&mut values);
    assert!(catch_unwind(AssertUnwindSafe(batch)).is_err());
    assert_eq!(received.await.unwrap(), [Some(0), Some(1)]);
    assert_eq!(outlet.slots(), 8, "no slot is kept for ever");
}
