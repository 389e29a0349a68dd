//! The values that a part has copied out of the log, and how its feeds share them.
//!
//! With Backpressure and DropOldest a part keeps one row of copies that all its feeds read, each
//! from its own position; with DropNew, whose feeds have gaps of their own, each feed has its own
//! queue. Copying comes before every read, so a feed's room at that moment is its room when the
//! values were published.

use super::log::{At, Log};
use super::part::Part;
use super::settings::TopicOverflow;
use crate::feed::FeedStats;
use crate::panics::Panics;
use std::collections::VecDeque;

/// The most values that one look copies with Backpressure, and that one batch takes.
pub(super) const BATCH_MAX: usize = 256;

/// What one feed has of its part.
pub(super) struct Reader<T> {
    /// The next position to read; with DropNew the next one to decide about.
    next: u64,
    /// With DropNew: what it accepted.
    queue: VecDeque<T>,
    delivered: u64,
    dropped: u64,
}

pub(super) struct Copies<T> {
    overflow: TopicOverflow,
    capacity: u64,
    /// The next position to copy.
    end: u64,
    /// The copies of the positions before `end`.
    row: VecDeque<T>,
    /// With Backpressure: how many readers stand at each position from the row's first to `end`.
    standing: VecDeque<u32>,
}

impl<T> Copies<T> {
    /// Nothing, from position `start` on.
    pub(super) fn new(overflow: TopicOverflow, capacity: u64, start: u64) -> Self {
        Self {
            overflow,
            capacity,
            end: start,
            row: VecDeque::new(),
            standing: VecDeque::from([0]),
        }
    }

    pub(super) fn end(&self) -> u64 {
        self.end
    }

    pub(super) fn start_at(&mut self, position: u64) {
        self.end = position;
    }

    /// The position that writers may not reach as long as the slowest reader stands where it does.
    pub(super) fn limit(&self) -> u64 {
        match self.overflow {
            TopicOverflow::Backpressure => self.first() + self.capacity,
            TopicOverflow::DropNew | TopicOverflow::DropOldest => u64::MAX,
        }
    }

    /// The limit that this reader alone would set.
    pub(super) fn limit_of(&self, reader: &Reader<T>) -> u64 {
        match self.overflow {
            TopicOverflow::Backpressure => reader.next + self.capacity,
            TopicOverflow::DropNew | TopicOverflow::DropOldest => u64::MAX,
        }
    }

    /// Whether every read must copy first, since what is published is decided about then.
    pub(super) fn decides_at_reads(&self) -> bool {
        self.overflow != TopicOverflow::Backpressure
    }

    /// A reader of everything from `end` on.
    pub(super) fn join(&mut self) -> Reader<T> {
        if let Some(standing) = self.standing.back_mut() {
            *standing += 1;
        }
        Reader {
            next: self.end,
            queue: VecDeque::new(),
            delivered: 0,
            dropped: 0,
        }
    }

    /// Ends what [`join`](Self::join) began. Returns what nobody needs any more, so that it is
    /// dropped when the part is no longer borrowed.
    pub(super) fn leave(&mut self, reader: &Reader<T>) -> VecDeque<T> {
        if self.overflow != TopicOverflow::Backpressure {
            return VecDeque::new();
        }
        let at = (reader.next - self.first()) as usize;
        self.standing[at] -= 1;
        let passed = self.pass();
        self.row.drain(..passed).collect()
    }

    /// All copies, when the last reader has left.
    pub(super) fn take_all(&mut self) -> VecDeque<T> {
        std::mem::take(&mut self.row)
    }

    /// How many values the reader can take now.
    pub(super) fn available(&self, reader: &Reader<T>) -> usize {
        match self.overflow {
            TopicOverflow::DropNew => reader.queue.len(),
            TopicOverflow::Backpressure | TopicOverflow::DropOldest => {
                (self.end - reader.next.max(self.first())) as usize
            }
        }
    }

    /// What the reader has counted, as if everything before `tail`, the log's, were copied now.
    pub(super) fn stats(&self, reader: &Reader<T>, tail: u64) -> FeedStats {
        let ahead = tail - self.end;
        let (lag, lost) = match self.overflow {
            TopicOverflow::Backpressure => (tail - reader.next, 0),
            TopicOverflow::DropNew => {
                let accepted = reader.queue.len() as u64;
                let more = ahead.min(self.capacity - accepted);
                (accepted + more, ahead - more)
            }
            TopicOverflow::DropOldest => {
                let first = self.first().max(tail.saturating_sub(self.capacity));
                let lost = first.saturating_sub(reader.next);
                (tail - reader.next - lost, lost)
            }
        };
        FeedStats {
            delivered: reader.delivered,
            dropped: reader.dropped + lost,
            lag,
        }
    }

    /// The position of the row's first value.
    fn first(&self) -> u64 {
        self.end - self.row.len() as u64
    }

    /// The reader has taken `count` values.
    fn advance(&mut self, reader: &mut Reader<T>, count: usize) {
        reader.delivered += count as u64;
        if self.overflow == TopicOverflow::DropNew {
            return;
        }
        let at = (reader.next - self.first()) as usize;
        reader.next += count as u64;
        if self.overflow == TopicOverflow::Backpressure {
            self.standing[at] -= 1;
            self.standing[at + count] += 1;
            self.trim();
        }
    }

    /// Drops what all readers have passed.
    fn trim(&mut self) {
        let passed = self.pass();
        // Last, since a value's drop may panic.
        self.row.drain(..passed);
    }

    /// How many of the first copies all readers have passed, which the caller takes off the row.
    fn pass(&mut self) -> usize {
        let passed = self.standing.iter().take_while(|count| **count == 0);
        let passed = passed.count().min(self.row.len());
        self.standing.drain(..passed);
        passed
    }
}

impl<T: Clone> Copies<T> {
    /// Copies for this reader alone, and the reader there; it reads nothing here any more.
    pub(super) fn fork(&self, reader: &mut Reader<T>) -> (Self, Reader<T>) {
        self.skip_lost(reader);
        let mut copies = Self::new(self.overflow, self.capacity, self.end);
        if self.overflow != TopicOverflow::DropNew {
            let at = (reader.next - self.first()) as usize;
            copies.row = self.row.range(at..).cloned().collect();
            copies.standing = std::iter::once(1)
                .chain(copies.row.iter().map(|_| 0))
                .collect();
        }
        let forked = Reader {
            queue: std::mem::take(&mut reader.queue),
            ..*reader
        };
        (copies, forked)
    }

    /// The reader's next value.
    pub(super) fn take(&mut self, reader: &mut Reader<T>) -> Option<T> {
        if self.overflow == TopicOverflow::DropNew {
            let value = reader.queue.pop_front()?;
            reader.delivered += 1;
            return Some(value);
        }
        self.skip_lost(reader);
        let at = (reader.next - self.first()) as usize;
        let value = self.row.get(at)?.clone();
        self.advance(reader, 1);
        Some(value)
    }

    /// Puts the reader's next values, up to `max`, at the end of `out`; `None` if there is none.
    ///
    /// If a clone panics, what stands in `out` counts as delivered.
    pub(super) fn take_batch(
        &mut self,
        reader: &mut Reader<T>,
        out: &mut Vec<T>,
        max: usize,
    ) -> Option<usize> {
        self.skip_lost(reader);
        let count = self.available(reader).min(max).min(BATCH_MAX);
        if count == 0 {
            return None;
        }
        let before = out.len();
        let mut panics = Panics::default();
        if self.overflow == TopicOverflow::DropNew {
            out.extend(reader.queue.drain(..count));
        } else {
            let at = (reader.next - self.first()) as usize;
            let (front, back) = self.row.as_slices();
            let in_front = front.len().saturating_sub(at).min(count);
            let from = at.saturating_sub(front.len());
            panics.run(|| {
                if in_front > 0 {
                    out.extend_from_slice(&front[at..at + in_front]);
                }
                out.extend_from_slice(&back[from..from + count - in_front]);
            });
        }
        self.advance(reader, out.len() - before);
        panics.resume();
        Some(count)
    }

    /// Shows the reader's next values, up to `max`, to `visit`, which does not panic; `None` if
    /// there is none.
    pub(super) fn visit(
        &mut self,
        reader: &mut Reader<T>,
        max: usize,
        mut visit: impl FnMut(&T),
    ) -> Option<usize> {
        self.skip_lost(reader);
        let count = self.available(reader).min(max).min(BATCH_MAX);
        if count == 0 {
            return None;
        }
        if self.overflow == TopicOverflow::DropNew {
            reader.queue.drain(..count).for_each(|value| visit(&value));
        } else {
            let at = (reader.next - self.first()) as usize;
            self.row.range(at..at + count).for_each(visit);
        }
        self.advance(reader, count);
        Some(count)
    }

    /// With DropOldest: counts what the row no longer has.
    fn skip_lost(&self, reader: &mut Reader<T>) {
        let lost = self.first().saturating_sub(reader.next);
        if lost > 0 && self.overflow == TopicOverflow::DropOldest {
            reader.dropped += lost;
            reader.next += lost;
        }
    }

    /// Copies what was published, and tells whether there was anything.
    pub(super) fn copy<'a>(
        &mut self,
        log: &Log<T>,
        part: &Part<T>,
        readers: impl Iterator<Item = &'a mut Reader<T>>,
    ) -> bool
    where
        T: 'a,
    {
        match self.overflow {
            TopicOverflow::Backpressure => self.copy_every(log),
            TopicOverflow::DropOldest => self.copy_newest(log, part),
            TopicOverflow::DropNew => self.copy_first(log, part, readers),
        }
    }

    /// Backpressure: everything. The limit keeps it in its slots.
    fn copy_every(&mut self, log: &Log<T>) -> bool {
        let mut copied = 0;
        while copied < BATCH_MAX {
            let node = match log.at(self.end) {
                At::Here(node) => node,
                At::Ahead | At::End => break,
                At::Gone => unreachable!("the limit keeps writers off what was not copied"),
            };
            // SAFETY: The slot's word was read with Acquire. The limit stays below a whole ring
            // after `end`, so no writer puts this node out of its slot before `end` has passed it.
            let value = unsafe { log.pool.read(node, T::clone) };
            self.row.push_back(value);
            self.standing.push_back(0);
            self.end += 1;
            copied += 1;
        }
        copied > 0
    }

    /// DropOldest: the newest, as many as the capacity says.
    fn copy_newest(&mut self, log: &Log<T>, part: &Part<T>) -> bool {
        /// Opens the window also when a clone panics.
        struct Held<'a, T>(&'a Part<T>);
        impl<T> Drop for Held<'_, T> {
            fn drop(&mut self) {
                self.0.hold_nothing();
            }
        }
        let (mut copied, mut held) = (false, false);
        // Repeats only when writers have overtaken the window before it was held. What they append
        // while values are cloned is for the next look: they may be faster than the clones.
        while !copied {
            let tail = log.tail();
            let from = self.end.max(tail.saturating_sub(self.capacity));
            if from == tail {
                break;
            }
            if from > self.end {
                self.end = from;
                self.row.clear();
            }
            held = true;
            part.hold(from);
            let _held = Held(part);
            while self.end < tail
                && let At::Here(node) = log.at(self.end)
            {
                // SAFETY: The slot's word was read with Acquire, and after the window's fence: so
                // whoever puts the node out of its slot finds it in the window.
                let value = unsafe { log.pool.read(node, T::clone) };
                self.end += 1;
                self.row.push_back(value);
                copied = true;
                if self.row.len() as u64 > self.capacity {
                    self.row.pop_front();
                }
            }
        }
        if held {
            log.reclaim_retired(part);
        }
        copied
    }

    /// DropNew: what each reader has room for, of the window that began at the last copy.
    fn copy_first<'a>(
        &mut self,
        log: &Log<T>,
        part: &Part<T>,
        readers: impl Iterator<Item = &'a mut Reader<T>>,
    ) -> bool
    where
        T: 'a,
    {
        let tail = log.tail();
        if tail == self.end {
            return false;
        }
        let window_end = tail.min(self.end + log.slots());
        let mut readers: Vec<&mut Reader<T>> = readers.collect();
        for reader in &mut readers {
            while reader.next < window_end && (reader.queue.len() as u64) < self.capacity {
                let node = match log.at(reader.next) {
                    At::Here(node) => node,
                    At::Gone | At::Ahead | At::End => part
                        .kept(reader.next, log.lap(reader.next))
                        .expect("what leaves its slot in the window is kept first"),
                };
                // SAFETY: The word was read with Acquire. The window was published and fenced
                // before any writer came a whole ring after its start (see `settle`), so whoever
                // puts the node out of its slot finds it in the window, until that moves on below.
                let value = unsafe { log.pool.read(node, T::clone) };
                reader.queue.push_back(value);
                reader.next += 1;
            }
        }
        self.end = settle(log, part, tail);
        for reader in readers {
            reader.dropped += self.end - reader.next;
            reader.next = self.end;
        }
        log.reclaim_retired(part);
        true
    }
}

/// Moves a window of kept values to `position`, or as far as writers came meanwhile, and returns
/// where it begins: no writer was a whole ring behind that when the window was published.
pub(super) fn settle<T>(log: &Log<T>, part: &Part<T>, mut position: u64) -> u64 {
    // Repeats only when writers have gone a whole ring on meanwhile.
    loop {
        part.hold(position);
        let tail = log.tail();
        if tail - position < log.slots() {
            return position;
        }
        position = tail;
    }
}

#[cfg(all(test, not(corelane_loom)))]
mod tests {
    use super::{Copies, FeedStats, TopicOverflow};

    /// Just below what 32 bits count.
    const START: u64 = u32::MAX as u64 - 1;
    const COUNT: u64 = 8;

    /// Positions and counts of a feed that has read and lost more than 2^32 values.
    // proves: T-8
    #[test]
    fn counts_go_on_beyond_32_bits() {
        for overflow in [
            TopicOverflow::Backpressure,
            TopicOverflow::DropNew,
            TopicOverflow::DropOldest,
        ] {
            let mut copies = Copies::new(overflow, COUNT, START);
            let mut reader = copies.join();
            (reader.delivered, reader.dropped) = (START, START);
            for value in 0..COUNT {
                if overflow == TopicOverflow::DropNew {
                    reader.queue.push_back(value);
                } else {
                    copies.row.push_back(value);
                    copies.standing.push_back(0);
                }
                copies.end += 1;
            }
            assert_eq!(copies.take(&mut reader), Some(0));
            let mut out = Vec::new();
            assert_eq!(copies.take_batch(&mut reader, &mut out, 3), Some(3));
            assert_eq!(
                copies.visit(&mut reader, 2, |value| out.push(*value)),
                Some(2)
            );
            assert_eq!(out, [1, 2, 3, 4, 5]);
            if overflow == TopicOverflow::DropOldest {
                // The last two are lost, since newer ones have come.
                copies.row.clear();
                assert_eq!(copies.take(&mut reader), None);
            }
            let (lost, lag) = match overflow {
                TopicOverflow::DropOldest => (2, 0),
                TopicOverflow::Backpressure | TopicOverflow::DropNew => (0, 2),
            };
            let expected = FeedStats {
                delivered: START + 6,
                dropped: START + lost,
                lag,
            };
            assert_eq!(
                copies.stats(&reader, copies.end()),
                expected,
                "{overflow:?}"
            );
        }
    }
}
