//! A search through all states, depth first.

use crate::protocol::{Fault, Met, Setup, State};
use std::collections::HashSet;

/// States that a search may meet at most, so that a fault cannot make it endless.
const STATES_MAX: usize = 3_000_000;

/// What a search has met.
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// States in which everybody is done.
    pub(crate) ends: usize,
    pub(crate) met: Met,
    /// The first broken promise; the search ends there.
    pub(crate) broken: Option<&'static str>,
}

/// Tries every order of steps and every choice.
pub(crate) fn explore(setup: Setup, fault: Fault) -> Explored {
    let mut explored = Explored {
        states: 0,
        ends: 0,
        met: Met::default(),
        broken: None,
    };
    let first = State::new(setup, fault);
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    while let Some(state) = open.pop() {
        explored.states += 1;
        let next = match state.next(&mut explored.met) {
            Ok(next) => next,
            Err(broken) => {
                explored.broken = Some(broken);
                return explored;
            }
        };
        if next.is_empty() {
            explored.ends += 1;
            if let Err(broken) = state.check_end() {
                explored.broken = Some(broken);
                return explored;
            }
        }
        for state in next {
            if seen.insert(state.clone()) {
                open.push(state);
            }
        }
        assert!(seen.len() < STATES_MAX, "the model is too large");
    }
    explored
}
