//! The service: a slow function, and what is known of it on each core.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};

use thread_aware::{Arc, PerCore, ThreadAware};

/// Answers questions, and remembers the answers of the core it is on.
///
/// Its handles are cloned and sent freely. A handle that is relocated finds the cache of its new
/// core, or makes it on the first visit. The derive writes the relocation.
#[derive(Clone, ThreadAware)]
pub struct Resolver {
    cache: Arc<Mutex<Cache>, PerCore>,
}

/// What one core knows. The lock is never waited for, since one thread uses it; that is checked.
#[derive(Default)]
struct Cache {
    answers: HashMap<u64, u64>,
    hits: u64,
    users: HashSet<ThreadId>,
}

impl Default for Resolver {
    fn default() -> Self {
        Self {
            cache: Arc::new(Mutex::default),
        }
    }
}

impl Resolver {
    /// The answer for `number`: how many steps it takes until 1, halving what is even and
    /// tripling, plus one, what is odd.
    #[must_use]
    pub fn steps(&self, number: u64) -> u64 {
        let mut cache = self.lock();
        cache.users.insert(thread::current().id());
        if let Some(&known) = cache.answers.get(&number) {
            cache.hits += 1;
            return known;
        }
        let answer = count_steps(number);
        cache.answers.insert(number, answer);
        answer
    }

    /// How many questions the cache of this core has answered from memory, how many it computed,
    /// and how many threads have used it.
    #[must_use]
    pub fn counts(&self) -> (u64, u64, usize) {
        let cache = self.lock();
        (cache.hits, cache.answers.len() as u64, cache.users.len())
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slow function; it ends for every number that anybody has tried.
fn count_steps(number: u64) -> u64 {
    let mut at = number.max(1);
    let mut steps = 0;
    while at != 1 {
        at = if at.is_multiple_of(2) {
            at / 2
        } else {
            3 * at + 1
        };
        steps += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{Resolver, count_steps};
    use thread_aware::{ThreadAware, affinity::pinned_affinities};

    #[test]
    fn steps_are_counted() {
        assert_eq!([1, 2, 3, 6, 7, 27].map(count_steps), [0, 1, 7, 8, 16, 111]);
    }

    #[test]
    fn each_core_computes_an_answer_once() {
        let cores = pinned_affinities(&[2]);
        let mut here = Resolver::default();
        assert_eq!([here.steps(27), here.steps(27)], [111, 111]);
        assert_eq!(here.counts(), (1, 1, 1));
        let mut there = here.clone();
        there.relocate(Some(cores[0]), cores[1]);
        assert_eq!(there.counts(), (0, 0, 0));
        assert_eq!(there.steps(27), 111);
        here.relocate(Some(cores[0]), cores[1]);
        assert_eq!(here.counts(), (0, 1, 1), "they share that core's cache");
    }
}
