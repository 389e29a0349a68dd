//! What has arrived on a stream and was not read yet.

use std::collections::VecDeque;
use std::mem::MaybeUninit;

use crate::io::Chunk;

/// Chunks in the order they came. The first stands in the structure itself: a stream that is read
/// as fast as it receives never allocates.
#[derive(Debug, Default)]
pub(super) struct Stash {
    first: Option<Chunk>,
    rest: VecDeque<Chunk>,
    bytes: usize,
}

impl Stash {
    pub(super) fn push(&mut self, chunk: Chunk) {
        self.bytes += chunk.len();
        match &mut self.first {
            Some(_) => self.rest.push_back(chunk),
            empty => *empty = Some(chunk),
        }
    }

    pub(super) fn pop(&mut self) -> Option<Chunk> {
        let chunk = self.first.take()?;
        self.bytes -= chunk.len();
        self.first = self.rest.pop_front();
        Some(chunk)
    }

    /// Copies from the first chunk into `room`, as much as fits, and hands the chunk out when it is
    /// spent: its buffer's return may wake others, which needs the caller's borrow to be over.
    pub(super) fn copy(&mut self, room: &mut [MaybeUninit<u8>]) -> (usize, Option<Chunk>) {
        let Some(chunk) = &mut self.first else {
            return (0, None);
        };
        let n = chunk.len().min(room.len());
        for (place, byte) in room.iter_mut().zip(chunk.iter()) {
            place.write(*byte);
        }
        chunk.advance(n);
        self.bytes -= n;
        let spent = if chunk.is_empty() { self.pop() } else { None };
        (n, spent)
    }

    pub(super) fn chunks(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::io::Pool;

    fn chunk(pool: &Rc<Pool>, bytes: &[u8]) -> Chunk {
        let id = pool.take().unwrap();
        pool.fill(id, |slot| slot[..bytes.len()].copy_from_slice(bytes));
        pool.chunk(id, bytes.len())
    }

    #[test]
    fn bytes_leave_in_the_order_they_came() {
        let pool = Pool::new(8, 16).unwrap();
        let mut stash = Stash::default();
        for piece in [&b"ab"[..], b"cdef", b"g", b"hi"] {
            stash.push(chunk(&pool, piece));
        }
        assert_eq!((stash.chunks(), stash.bytes()), (4, 9));
        let mut left = Vec::new();
        let mut room = [MaybeUninit::new(b'-'); 3];
        while stash.chunks() > 1 {
            let (n, spent) = stash.copy(&mut room);
            drop(spent);
            left.extend(room[..n].iter().map(|byte| {
                // SAFETY: Valid: initialised when the array was made. Exclusive: a copy of one
                // byte.
                unsafe { byte.assume_init() }
            }));
        }
        left.extend_from_slice(&stash.pop().unwrap());
        assert_eq!(left, b"abcdefghi");
        assert_eq!((stash.chunks(), stash.bytes()), (0, 0));
        assert_eq!(stash.copy(&mut room).0, 0);
        assert!(stash.pop().is_none());
    }
}
