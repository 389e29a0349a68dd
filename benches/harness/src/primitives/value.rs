//! Values that tell whether they are whole, and what a follower checks of them.

use crate::BenchError;

const HALF: u32 = 32;

/// A number with its own check in the upper half: a value of two sets at once has a wrong one.
#[inline]
pub(super) fn encoded(number: u64) -> u64 {
    let number = number as u32;
    u64::from(check_of(number)) << HALF | u64::from(number)
}

#[inline]
fn check_of(number: u32) -> u32 {
    number.wrapping_mul(0x9E37_79B1)
}

/// What one follower of the latest value has seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    newest: u64,
    wrong: u64,
    count: u64,
}

impl Seen {
    /// Takes the next value, and gives its number.
    #[inline]
    pub(super) fn take(&mut self, value: u64) -> u64 {
        let number = value as u32;
        let is_whole = u64::from(check_of(number)) == value >> HALF;
        let number = u64::from(number);
        self.wrong += u64::from(!is_whole || number < self.newest);
        self.newest = self.newest.max(number);
        self.count += 1;
        number
    }

    /// How many values came.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// How many values were torn, or older than one before.
    pub(super) fn wrong(&self) -> u64 {
        self.wrong
    }

    /// Checks that `count` whole values came, none older than one before it.
    pub(super) fn check(&self, count: u64) -> Result<(), BenchError> {
        BenchError::check("values seen", count, self.count)?;
        BenchError::check("values torn or out of order", 0, self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_in_order_are_right() {
        let mut seen = Seen::default();
        for number in [0, 1, 1, 7] {
            assert_eq!(seen.take(encoded(number)), number);
        }
        seen.check(4).unwrap();
        assert!(seen.check(5).is_err());
    }

    #[test]
    fn torn_and_old_values_are_seen() {
        for values in [[encoded(2), encoded(1)], [encoded(1), encoded(2) + 1]] {
            let mut seen = Seen::default();
            for value in values {
                seen.take(value);
            }
            assert_eq!(seen.wrong(), 1);
            assert!(seen.check(2).is_err());
        }
    }
}
