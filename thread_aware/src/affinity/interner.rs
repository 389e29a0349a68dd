//! Numbers for lists, so that a long list can be compared by one number.

use alloc::{boxed::Box, collections::BTreeMap};

/// Gives equal lists one number and different lists different ones.
///
/// It never forgets: what it holds is as large as the different lists that the process made, which
/// are a few topologies.
pub(super) struct Interner<T> {
    numbers: BTreeMap<Box<[T]>, u64>,
}

impl<T: Ord + Clone> Interner<T> {
    pub(super) const fn new() -> Self {
        Self {
            numbers: BTreeMap::new(),
        }
    }

    pub(super) fn number(&mut self, list: &[T]) -> u64 {
        if let Some(&number) = self.numbers.get(list) {
            return number;
        }
        let number = self.numbers.len() as u64;
        self.numbers.insert(list.into(), number);
        number
    }
}
