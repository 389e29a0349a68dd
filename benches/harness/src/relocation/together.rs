//! Many threads that begin at once.

use std::sync::Barrier;

use crate::{BenchError, Meter, Sample, Spent, pin};

/// What threads that ran together spent, and their states afterwards.
pub(super) struct Together<S> {
    pub(super) spent: Spent,
    pub(super) states: Vec<S>,
    /// Cores that were busy.
    cores: usize,
}

impl<S> Together<S> {
    /// A sample whose value is the time that an operation has a core.
    ///
    /// With a core a thread that is the wall time of a thread's operation; with more threads than
    /// cores it says what they take from each other beyond their turns.
    pub(super) fn core_time_sample(&self) -> Sample {
        let core_ns = self.spent.wall_ns as f64 * self.cores as f64;
        self.spent.sample(core_ns / self.spent.ops as f64)
    }
}

/// Does `work` on a thread a seed, the first on the first of `cores` and so on round-robin, all
/// from one release of a barrier until the last is done. What it works on is prepared on its thread
/// before. A thread does `ops` operations: many, so that barrier and wakes vanish among them.
///
/// # Errors
///
/// [`BenchError::Pin`], [`BenchError::Panicked`], and what `prepare` returns.
pub(super) fn together<A: Send, S: Send>(
    cores: &[usize],
    seeds: Vec<A>,
    ops: u64,
    prepare: impl Fn(A) -> Result<S, BenchError> + Sync,
    work: impl Fn(&mut S) + Sync,
) -> Result<Together<S>, BenchError> {
    let threads = seeds.len();
    let total = ops * threads as u64;
    let [ready, release, done] = [(); 3].map(|()| Barrier::new(threads));
    let run = |first: bool, core: usize, seed: A| {
        let [ready, release, done] = [&ready, &release, &done].map(Arrival);
        let mut state = pin(core).and_then(|()| prepare(seed));
        drop(ready);
        let meter = first.then(Meter::start);
        drop(release);
        if let Ok(state) = &mut state {
            work(state);
        }
        drop(done);
        let spent = meter.map(|meter| meter.stop(total));
        state.map(|state| (spent, state))
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let spawned: Vec<_> = (seeds.into_iter().zip(cores.iter().cycle()).enumerate())
            .map(|(index, (seed, core))| {
                let run = &run;
                scope.spawn(move || run(index == 0, *core, seed))
            })
            .collect();
        (spawned.into_iter())
            .map(|thread| thread.join().unwrap_or(Err(BenchError::Panicked)))
            .collect()
    });
    let mut together = Together {
        spent: Spent::default(),
        states: Vec::with_capacity(threads),
        cores: threads.min(cores.len()),
    };
    for outcome in outcomes {
        let (spent, state) = outcome?;
        if let Some(spent) = spent {
            together.spent = spent;
        }
        together.states.push(state);
    }
    Ok(together)
}

/// Waits at the barrier when dropped, so also when its thread panics: the others end.
struct Arrival<'a>(&'a Barrier);

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cores;

    #[test]
    fn a_panic_on_one_thread_ends_the_round() {
        let Ok(cores) = Cores::allowed() else {
            return;
        };
        let outcome = together(&cores.both(), vec![0, 1, 2], 1, Ok, |state| {
            assert_ne!(*state, 1)
        });
        assert!(matches!(outcome, Err(BenchError::Panicked)));
    }

    #[test]
    fn who_is_not_prepared_ends_the_round() {
        let Ok(cores) = Cores::allowed() else {
            return;
        };
        let prepare = |seed| match seed {
            1 => Err(BenchError::Cores(9)),
            _ => Ok(seed),
        };
        let outcome = together(&cores.both(), vec![0, 1, 2], 1, prepare, |_| ());
        assert!(matches!(outcome, Err(BenchError::Cores(9))));
    }

    #[test]
    fn operations_of_all_threads_are_counted() {
        let Ok(cores) = Cores::allowed() else {
            return;
        };
        let round = together(&cores.both(), vec![0; 4], 10, Ok, |state| *state += 10).unwrap();
        assert_eq!((round.spent.ops, round.states), (40, vec![10; 4]));
    }
}
