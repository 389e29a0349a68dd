//! What goes through a queue: who sent it, its number, and now and then when.
//!
//! 10 bits producer, 22 bits number, 32 bits time in steps of 64 ns, or zero.

use hdrhistogram::Histogram;

use crate::client::latency_histogram;
use crate::{BenchError, clock_ns};

/// One value in so many says when it was made: reading the clock takes longer than a push.
const STAMP_EVERY: u64 = 64;
const PRODUCER_SHIFT: u32 = 54;
const NUMBER_SHIFT: u32 = 32;
const NUMBER_MASK: u64 = (1 << (PRODUCER_SHIFT - NUMBER_SHIFT)) - 1;
const STEP_SHIFT: u32 = 6;

fn stamp() -> u32 {
    (clock_ns() >> STEP_SHIFT) as u32
}

/// The values of one producer, in order.
#[derive(Debug)]
pub(crate) struct Items {
    producer: u64,
    next: u64,
    count: u64,
}

impl Items {
    /// Shares `ops` values out to `producers`.
    pub(crate) fn shared(ops: u64, producers: usize) -> Vec<Self> {
        let producers = producers as u64;
        let share = |producer| ops / producers + u64::from(producer < ops % producers);
        (0..producers)
            .map(|producer| Self {
                producer,
                next: 0,
                count: share(producer),
            })
            .collect()
    }

    /// How many there are in all.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How many have been given.
    pub(crate) fn given(&self) -> u64 {
        self.next
    }
}

impl Iterator for Items {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.next == self.count {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let time = match number % STAMP_EVERY {
            0 => stamp().max(1),
            _ => 0,
        };
        Some(self.producer << PRODUCER_SHIFT | number << NUMBER_SHIFT | u64::from(time))
    }
}

/// What the consumer took: count, each producer's order, sum, and ages.
pub(crate) struct Inbox {
    next: Vec<u64>,
    expected: Vec<u64>,
    count: u64,
    misplaced: u64,
    sum: u64,
    age_ns: Histogram<u64>,
}

impl Inbox {
    /// For what `items` will give.
    pub(crate) fn of(items: &[Items]) -> Self {
        let expected: Vec<u64> = items.iter().map(Items::count).collect();
        assert!(
            expected.len() <= 1 << (64 - PRODUCER_SHIFT)
                && expected.iter().all(|count| *count <= NUMBER_MASK),
            "producer or number does not fit its bits"
        );
        Self {
            next: vec![0; expected.len()],
            expected,
            count: 0,
            misplaced: 0,
            sum: 0,
            age_ns: latency_histogram(),
        }
    }

    /// Takes the next value.
    #[inline]
    pub(crate) fn take(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value >> NUMBER_SHIFT);
        let number = value >> NUMBER_SHIFT & NUMBER_MASK;
        match self.next.get_mut((value >> PRODUCER_SHIFT) as usize) {
            Some(next) => {
                self.misplaced += u64::from(*next != number);
                *next = number + 1;
            }
            None => self.misplaced += 1,
        }
        let time = value as u32;
        if time != 0 {
            let steps = stamp().wrapping_sub(time);
            self.age_ns
                .saturating_record(u64::from(steps) << STEP_SHIFT);
        }
    }

    /// How many have come.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Checks that everything came once and in each producer's order; how old it was.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] naming the first difference.
    pub(crate) fn check(self) -> Result<Histogram<u64>, BenchError> {
        let sum_of = |(producer, count): (usize, &u64)| {
            let numbers = u128::from(*count) * u128::from(count.saturating_sub(1)) / 2;
            let producer = (producer as u64 * count) << (PRODUCER_SHIFT - NUMBER_SHIFT);
            producer.wrapping_add(numbers as u64)
        };
        let expected = self.expected.iter().sum();
        let sum = self.expected.iter().enumerate().map(sum_of);
        BenchError::check("values received", expected, self.count)?;
        BenchError::check("values out of order", 0, self.misplaced)?;
        BenchError::check(
            "sum of the values",
            sum.fold(0, u64::wrapping_add),
            self.sum,
        )?;
        Ok(self.age_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> (Inbox, Vec<u64>) {
        let items = Items::shared(7, 3);
        let inbox = Inbox::of(&items);
        (inbox, items.into_iter().flatten().collect())
    }

    fn check(values: impl IntoIterator<Item = u64>) -> Result<Histogram<u64>, BenchError> {
        let (mut inbox, _) = self::values();
        values.into_iter().for_each(|value| inbox.take(value));
        inbox.check()
    }

    #[test]
    fn each_producers_values_come_once_and_in_order() {
        let (_, values) = values();
        // One of each three has a time: the first of each producer.
        assert_eq!(check(values.iter().copied()).unwrap().len(), 3);
        let (first, rest) = values.split_at(3);
        let other_order = rest.iter().chain(first).copied();
        assert!(check(other_order).is_ok());
    }

    #[test]
    fn a_lost_a_doubled_and_a_swapped_value_are_seen() {
        let (_, values) = values();
        assert!(check(values[1..].iter().copied()).is_err());
        let swapped = [values[1], values[0]].into_iter();
        assert!(check(swapped.chain(values[2..].iter().copied())).is_err());
        let doubled = [values[1], values[1]].into_iter();
        assert!(check(doubled.chain(values[2..].iter().copied())).is_err());
    }
}
