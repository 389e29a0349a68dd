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

/// Does `work` with each state on a thread of its own, the first on the first of `cores` and so on
/// round-robin, all from one release of a barrier until the last is done. A thread does `ops`
/// operations: many, so that barrier and wakes vanish among them.
///
/// # Errors
///
/// [`BenchError::Pin`] and [`BenchError::Panicked`].
pub(super) fn together<S: Send>(
    cores: &[usize],
    states: Vec<S>,
    ops: u64,
    work: impl Fn(&mut S) + Sync,
) -> Result<Together<S>, BenchError> {
    let threads = states.len();
    let total = ops * threads as u64;
    let [ready, release, done] = [(); 3].map(|()| Barrier::new(threads));
    let run = |first: bool, core: usize, mut state: S| {
        let pinned = pin(core);
        ready.wait();
        let meter = first.then(Meter::start);
        release.wait();
        let arrival = Arrival(&done);
        if pinned.is_ok() {
            work(&mut state);
        }
        drop(arrival);
        let spent = meter.map(|meter| meter.stop(total));
        pinned.map(|()| (spent, state))
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let spawned: Vec<_> = (states.into_iter().zip(cores.iter().cycle()).enumerate())
            .map(|(index, (state, core))| {
                let run = &run;
                scope.spawn(move || run(index == 0, *core, state))
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

/// Arrives at the barrier also when its thread panics, so that the others end.
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
        let cores = [cores.first, cores.second];
        let outcome = together(&cores, vec![0, 1, 2], 1, |state| assert_ne!(*state, 1));
        assert!(matches!(outcome, Err(BenchError::Panicked)));
    }

    #[test]
    fn operations_of_all_threads_are_counted() {
        let Ok(cores) = Cores::allowed() else {
            return;
        };
        let cores = [cores.first, cores.second];
        let round = together(&cores, vec![0; 4], 10, |state| *state += 10).unwrap();
        assert_eq!((round.spent.ops, round.states), (40, vec![10; 4]));
    }
}
