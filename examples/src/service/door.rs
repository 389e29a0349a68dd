//! Where one shard is brought things that it did not ask for: ends of lanes, accepted sockets.
//!
//! Rare things only, since everyone takes one lock: what is brought often goes over a lane, whose
//! end came through a door. The lock is held for a push or a pop, never while waiting.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use corelane_primitives::Full;

/// One of any number of ends that bring something. Dropping the last one closes the door.
pub(super) struct Door<T>(Arc<Shared<T>>);

/// The end of the shard that takes what is brought.
pub(super) struct Hall<T>(Arc<Shared<T>>);

struct Shared<T> {
    state: Mutex<State<T>>,
    waiting_max: usize,
}

struct State<T> {
    waiting: VecDeque<T>,
    doors: usize,
    waker: Option<Waker>,
}

/// A door behind which at most `waiting_max` things wait.
pub(super) fn door<T>(waiting_max: usize) -> (Door<T>, Hall<T>) {
    let state = State {
        waiting: VecDeque::new(),
        doors: 1,
        waker: None,
    };
    let shared = Arc::new(Shared {
        state: Mutex::new(state),
        waiting_max,
    });
    (Door(Arc::clone(&shared)), Hall(shared))
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Door<T> {
    /// Brings `thing`, or hands it back when too many wait.
    ///
    /// # Errors
    ///
    /// [`Full`]. A hall that is gone takes things all the same, and drops them with the last door.
    pub(super) fn bring(&self, thing: T) -> Result<(), Full<T>> {
        let mut state = self.0.lock();
        if state.waiting.len() == self.0.waiting_max {
            return Err(Full(thing));
        }
        state.waiting.push_back(thing);
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }
}

impl<T> Clone for Door<T> {
    fn clone(&self) -> Self {
        self.0.lock().doors += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Door<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.doors -= 1;
        let waker = if state.doors == 0 {
            state.waker.take()
        } else {
            None
        };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Hall<T> {
    /// Takes the next thing; `None` once every door is gone and nothing waits.
    ///
    /// # Cancel safety
    ///
    /// A thing is taken only by the call that returns it.
    pub(super) async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if let Some(thing) = state.waiting.pop_front() {
                return Poll::Ready(Some(thing));
            }
            if state.doors == 0 {
                return Poll::Ready(None);
            }
            let old = state.waker.replace(cx.waker().clone());
            drop(state);
            drop(old);
            Poll::Pending
        })
        .await
    }
}

impl<T> fmt::Debug for Door<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Door")
    }
}

impl<T> fmt::Debug for Hall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hall")
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_on::block_on;
    use super::*;

    #[test]
    fn things_of_all_doors_come_before_the_end() {
        let (door, mut hall) = door(100);
        let bringers: Vec<_> = (0..4)
            .map(|number| {
                let door = door.clone();
                std::thread::spawn(move || {
                    (0..25).for_each(|thing| door.bring(number * 25 + thing).unwrap());
                })
            })
            .collect();
        drop(door);
        let mut found = Vec::new();
        while let Some(thing) = block_on(hall.next()) {
            found.push(thing);
        }
        bringers
            .into_iter()
            .for_each(|bringer| bringer.join().unwrap());
        found.sort_unstable();
        assert_eq!(found, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_full_hall_hands_back() {
        let (door, mut hall) = door(1);
        door.bring(1).unwrap();
        assert_eq!(door.bring(2).unwrap_err().into_inner(), 2);
        assert_eq!(block_on(hall.next()), Some(1));
        door.bring(3).unwrap();
        drop(door);
        assert_eq!(block_on(hall.next()), Some(3));
        assert_eq!(block_on(hall.next()), None);
    }
}
