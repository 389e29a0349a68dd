//! The work that goes from core to core.

use thread_aware::{ThreadAware, affinity::Affinity};

use crate::{Resolver, VISITS};

/// A message of a host: it visits core after core and asks the same questions on each.
#[derive(ThreadAware)]
pub struct Tour {
    resolver: Resolver,
    numbers: std::ops::Range<u64>,
    /// Where it was last; the host fills it in.
    at: Option<Affinity>,
    visits: usize,
    sum: u64,
}

impl Tour {
    /// A tour that asks for the steps of `numbers`.
    #[must_use]
    pub fn new(resolver: Resolver, numbers: std::ops::Range<u64>) -> Self {
        Self {
            resolver,
            numbers,
            at: None,
            visits: 0,
            sum: 0,
        }
    }

    /// What a host does with a message that has arrived: it tells the value where it was and where
    /// it is. Then the work runs, on the caches of this core.
    pub fn arrive(&mut self, here: Affinity) {
        let source = self.at.replace(here);
        self.relocate(source, here);
        self.visits += 1;
        let steps = self
            .numbers
            .clone()
            .map(|number| self.resolver.steps(number));
        self.sum += steps.sum::<u64>();
    }

    /// Whether it has visited as many cores as it should.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.visits >= VISITS
    }

    /// The sum of all answers.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }
}
