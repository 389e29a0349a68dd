//! The wheel against an ordered map, and the edges of its levels.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const TICK_NS: u64 = 1 << TICK_BITS;

/// Pops until nothing is due, within the wheel's own bounds.
fn drain(wheel: &mut Wheel<u64>, now_ns: u64) -> Vec<u64> {
    let mut expired = Vec::new();
    let limit = (wheel.len() + 1) * (LEVELS + 1);
    for _ in 0..limit {
        match wheel.pop_expired(now_ns) {
            Some(value) => expired.push(value),
            None if wheel.next_ns().is_some_and(|next| next <= now_ns) => {}
            None => return expired,
        }
    }
    panic!("the wheel has something due after {limit} calls");
}

fn tick_of(deadline_ns: u64) -> u64 {
    deadline_ns.div_ceil(TICK_NS)
}

/// Deadlines on, just before and just after each level's first ticks.
fn edges() -> Vec<u64> {
    let mut edges = vec![0, 1, TICK_NS - 1, TICK_NS, TICK_NS + 1];
    for level in 1..LEVELS as u32 {
        let Some(edge) = 1_u64.checked_shl(TICK_BITS + level * LEVEL_BITS) else {
            continue;
        };
        let near = [edge - TICK_NS, edge - 1, edge, edge + 1, edge + TICK_NS];
        edges.extend(near);
    }
    edges.extend([1 << 63, u64::MAX - TICK_NS, u64::MAX - 1, u64::MAX]);
    edges
}

// proves: RT-14
#[test]
fn timers_at_level_edges_expire_in_their_tick_and_never_early() {
    for origin in [0, 5, 63 * TICK_NS, 64 * TICK_NS, (1 << 40) - 1] {
        for edge in edges() {
            let deadline = edge.max(origin);
            let due = tick_of(deadline).checked_mul(TICK_NS);
            let mut wheel = Wheel::new(origin);
            wheel.insert(deadline, deadline);
            assert_eq!(wheel.next_ns().is_some(), due.is_some());
            let before = due
                .map_or(u64::MAX, |due| due.saturating_sub(1))
                .max(origin);
            if due.is_none_or(|due| before < due) {
                assert_eq!(drain(&mut wheel, before), vec![], "early");
            }
            let Some(due) = due else { continue };
            assert_eq!(drain(&mut wheel, due), vec![deadline], "late");
        }
    }
}

// proves: RT-14
#[test]
fn jump_of_days_visits_every_timer_in_order() {
    const DAY_NS: u64 = 86_400_000_000_000;
    let mut wheel = Wheel::new(3);
    let mut deadlines: Vec<u64> = (0..20_000).map(|i| i * i * 7_919 % (3 * DAY_NS)).collect();
    for &deadline in &deadlines {
        wheel.insert(deadline, tick_of(deadline));
    }
    let expired = drain(&mut wheel, 3 * DAY_NS);
    deadlines.sort_unstable();
    let expected: Vec<u64> = deadlines.into_iter().map(tick_of).collect();
    assert_eq!(expired, expected);
    assert_eq!(wheel.next_ns(), None);
}

// proves: RT-14
#[test]
fn one_call_moves_a_bounded_number_of_timers() {
    let deadline = 500 * 64 * TICK_NS;
    let mut wheel = Wheel::new(0);
    for i in 0..100_000 {
        wheel.insert(deadline + i % 64 * TICK_NS, i);
    }
    let mut calls = 0;
    while wheel.pop_expired(deadline - 1).is_none() && wheel.next_ns() < Some(deadline) {
        calls += 1;
        assert!(calls < 1_000);
    }
    assert!(calls >= 100_000 / MOVES_MAX, "{calls} calls moved all");
    assert_eq!(wheel.len(), 100_000);
    // The clock stood for five seconds.
    assert_eq!(drain(&mut wheel, deadline + 5_000_000_000).len(), 100_000);
}

#[test]
fn timers_that_are_armed_while_a_slot_moves_down_keep_their_order() {
    let start = 64 * 64 * TICK_NS;
    let mut wheel = Wheel::new(0);
    for i in 0..2_000 {
        wheel.insert(start + 10 * TICK_NS + i * TICK_NS / 8, 1);
    }
    assert_eq!(wheel.pop_expired(start), None);
    assert!(wheel.next_ns() <= Some(start), "the slot is not empty yet");
    let before = wheel.insert(start + TICK_NS, 0);
    let cancelled = wheel.insert(start + 2 * TICK_NS, 9);
    assert_eq!(wheel.cancel(cancelled), Some(9));
    assert_eq!(drain(&mut wheel, start + 9 * TICK_NS), vec![0]);
    assert_eq!(wheel.cancel(before), None);
    assert_eq!(drain(&mut wheel, start + 1_000 * TICK_NS), vec![1; 2_000]);
}

#[test]
fn slot_that_is_emptied_by_cancels_while_it_moves_down_is_done() {
    let start = 64 * 64 * TICK_NS;
    let mut wheel = Wheel::new(0);
    let keys: Vec<_> = (0..1_000)
        .map(|i| wheel.insert(start + 5 * TICK_NS, i))
        .collect();
    assert_eq!(wheel.pop_expired(start), None);
    for (i, key) in keys.into_iter().enumerate() {
        assert_eq!(wheel.cancel(key), Some(i as u64));
    }
    assert_eq!(wheel.next_ns(), None);
    wheel.insert(start + TICK_NS, 7);
    assert_eq!(wheel.next_ns(), Some(start + TICK_NS));
    assert_eq!(drain(&mut wheel, start + TICK_NS), vec![7]);
}

#[test]
fn key_of_an_expired_timer_reaches_nothing() {
    let mut wheel = Wheel::new(0);
    let first = wheel.insert(TICK_NS, 1);
    assert_eq!(wheel.get_mut(first), Some(&mut 1));
    assert_eq!(drain(&mut wheel, TICK_NS), vec![1]);
    let second = wheel.insert(2 * TICK_NS, 2);
    assert_eq!(wheel.slab.places(), 1, "the place is used again");
    assert_eq!(wheel.get_mut(first), None);
    assert_eq!(wheel.cancel(first), None);
    assert_eq!(wheel.cancel(second), Some(2));
    assert_eq!(wheel.cancel(second), None);
}

#[test]
fn next_is_exact_for_a_lone_timer_on_any_level() {
    for edge in edges()
        .into_iter()
        .filter(|&edge| edge < u64::MAX - TICK_NS)
    {
        let mut wheel = Wheel::new(0);
        wheel.insert(edge, 0);
        assert_eq!(wheel.next_ns(), Some(tick_of(edge) * TICK_NS));
    }
}

#[test]
fn clock_that_goes_back_does_no_harm() {
    let mut wheel = Wheel::new(1_000 * TICK_NS);
    wheel.insert(1_001 * TICK_NS, 1);
    assert_eq!(wheel.pop_expired(3), None);
    wheel.insert(0, 0);
    assert_eq!(drain(&mut wheel, 1_001 * TICK_NS), vec![0, 1]);
}

#[derive(Debug, Clone)]
enum Step {
    /// Arms a timer so far ahead.
    Insert(u64),
    /// Cancels one of the keys given so far.
    Cancel(usize),
    /// Moves the clock on.
    Advance(u64),
}

/// The step that a random number stands for: one number a step keeps a million of them cheap.
fn step(random: u64) -> Step {
    let (bits, rest) = ((random >> 4) % 50, random >> 10);
    // Each order of magnitude is as likely as another, and so are round distances.
    let distance = if random & 8 == 0 {
        1 << bits
    } else {
        rest & ((1 << bits) - 1)
    };
    match random % 8 {
        0..4 => Step::Insert(distance),
        4..6 => Step::Cancel(rest as usize),
        _ => Step::Advance(distance),
    }
}

/// Plays the steps on the wheel and on an ordered map, and compares after each.
fn play(origin: u64, steps: Vec<u64>) {
    let mut wheel = Wheel::new(origin);
    let mut oracle: BTreeMap<(u64, u64), TimerKey> = BTreeMap::new();
    let mut keys: Vec<(u64, u64, TimerKey)> = Vec::new();
    let mut now = origin;
    for (id, random) in (0..).zip(steps) {
        match step(random) {
            Step::Insert(ahead) => {
                let deadline = now.saturating_add(ahead);
                let key = wheel.insert(deadline, id);
                oracle.insert((tick_of(deadline), id), key);
                keys.push((tick_of(deadline), id, key));
            }
            Step::Cancel(_) if keys.is_empty() => {}
            Step::Cancel(which) => {
                let (tick, id, key) = keys[which % keys.len()];
                let armed = oracle.remove(&(tick, id)).is_some();
                assert_eq!(wheel.get_mut(key).is_some(), armed);
                assert_eq!(wheel.cancel(key), armed.then_some(id));
            }
            Step::Advance(ahead) => {
                now = now.saturating_add(ahead);
                let later = oracle.split_off(&(now / TICK_NS + 1, 0));
                let due = std::mem::replace(&mut oracle, later).into_keys();
                let mut due: BTreeMap<u64, u64> = due.map(|(tick, id)| (id, tick)).collect();
                let mut last = 0;
                for id in drain(&mut wheel, now) {
                    let tick = due.remove(&id).expect("it is due, once");
                    assert!(tick >= last, "out of order");
                    last = tick;
                }
                assert!(due.is_empty(), "late");
            }
        }
        assert_eq!(wheel.len(), oracle.len());
        let next = oracle
            .keys()
            .next()
            .and_then(|&(tick, _)| tick.checked_mul(TICK_NS));
        match next {
            Some(next) => assert!(
                wheel.next_ns().is_some_and(|ns| ns <= next),
                "parks too long"
            ),
            None => assert!(
                wheel.next_ns().is_none() || !oracle.is_empty(),
                "never parks"
            ),
        }
    }
}

proptest! {
    // 1,024 times 1,000: about a million operations.
    #![proptest_config(ProptestConfig { cases: 1_024, ..ProptestConfig::default() })]

    // proves: RT-14
    #[test]
    fn wheel_agrees_with_an_ordered_map(
        origin in prop_oneof![Just(0), any::<u64>(), Just(u64::MAX - (1 << 40))],
        steps in proptest::collection::vec(any::<u64>(), 950..1_050),
    ) {
        play(origin, steps);
    }
}
