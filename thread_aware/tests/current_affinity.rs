//! What `current`, `enter` and `with_context` promise to the code that runs inside a shard.
#![cfg(feature = "std")]

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    rc::{Rc, Weak},
    thread,
};

use thread_aware::affinity::{
    Affinity, Entered, context, current, enter, pinned_affinities, with_context,
};

fn name() -> Option<&'static str> {
    with_context(|name: Option<&&'static str>| name.copied())
}

fn cores() -> Vec<Affinity> {
    pinned_affinities(&[2, 2])
}

#[test]
fn nested_entries_restore_what_they_covered() {
    let cores = cores();
    let anonymous = current();
    let outer = enter(cores[0], Rc::new("outer"));
    {
        let _inner = enter(cores[3], Rc::new("inner"));
        assert_eq!((current(), name()), (cores[3], Some("inner")));
        let _innermost = enter(cores[0], Rc::new("innermost"));
        assert_eq!((current(), name()), (cores[0], Some("innermost")));
    }
    assert_eq!((current(), name()), (cores[0], Some("outer")));
    drop(outer);
    assert_eq!((current(), name()), (anonymous, None));
}

#[test]
fn the_last_entry_still_held_counts_when_guards_drop_in_any_order() {
    const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];
    let numbers = 0..4_usize.pow(4);
    let orders = numbers.map(|n| [n % 4, n / 4 % 4, n / 16 % 4, n / 64]);
    let permutations = orders.filter(|order| (0..4).all(|i| order.contains(&i)));
    let mut tried = 0;
    for order in permutations {
        let cores = cores();
        let contexts = NAMES.map(Rc::new);
        let mut guards: Vec<Option<Entered>> = (0..4)
            .map(|i| Some(enter(cores[i], contexts[i].clone())))
            .collect();
        for dropped in order {
            guards[dropped] = None;
            let last = (0..4).rev().find(|&i| guards[i].is_some());
            assert_eq!(name(), last.map(|i| NAMES[i]), "{order:?} after {dropped}");
            assert_eq!(
                last.map(|i| cores[i]),
                Some(current()).filter(|a| !a.is_anonymous())
            );
            assert_eq!(
                Rc::strong_count(&contexts[dropped]),
                1,
                "its guard let it go"
            );
        }
        tried += 1;
    }
    assert_eq!(tried, 24);
}

#[test]
fn a_context_of_another_type_is_not_found_but_its_affinity_is() {
    let entered = enter(cores()[1], Rc::new(7_u32));
    assert!(with_context(|name: Option<&String>| name.is_none()));
    assert!(with_context(|number: Option<&u32>| number == Some(&7)));
    assert_eq!(current(), cores()[1]);
    drop(entered);
}

#[test]
fn code_inside_with_context_may_enter_leave_and_ask_again() {
    let cores = cores();
    let entered = Cell::new(Some(enter(cores[0], Rc::new(String::from("outer")))));
    with_context(|outer: Option<&String>| {
        let inner = enter(cores[1], Rc::new(String::from("inner")));
        with_context(|inner: Option<&String>| assert_eq!(inner.map(String::as_str), Some("inner")));
        drop(inner);
        entered.set(None);
        assert!(current().is_anonymous());
        assert!(context().is_none());
        assert_eq!(
            outer.map(String::as_str),
            Some("outer"),
            "the argument outlives the guard"
        );
    });
}

#[test]
fn a_panic_inside_with_context_leaves_everything_usable() {
    let _entered = enter(cores()[2], Rc::new("shard"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _inner = enter(cores()[3], Rc::new("inner"));
        with_context(|_: Option<&&str>| panic!("on purpose"))
    }));
    assert!(panicked.is_err());
    assert_eq!((current(), name()), (cores()[2], Some("shard")));
}

/// Asks and enters from its destructor, as a shard that shuts down does.
struct Curious(Weak<Cell<bool>>);

impl Drop for Curious {
    fn drop(&mut self) {
        assert!(
            current().is_anonymous(),
            "the affinity was left before its context is dropped"
        );
        let _entered = enter(cores()[0], Rc::new("from a destructor"));
        assert_eq!(name(), Some("from a destructor"));
        self.0.upgrade().expect("the test holds it").set(true);
    }
}

#[test]
fn the_destructor_of_a_context_may_enter_and_ask() {
    let dropped = Rc::new(Cell::new(false));
    let entered = enter(cores()[1], Rc::new(Curious(Rc::downgrade(&dropped))));
    drop(entered);
    assert!(dropped.get());
    assert_eq!(name(), None);
}

#[test]
fn entering_still_works_while_a_thread_tears_its_locals_down() {
    struct AtTheEnd(std::sync::mpsc::Sender<(bool, Option<&'static str>)>);
    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            let before = current().is_anonymous();
            let _entered = enter(cores()[0], Rc::new("late"));
            self.0.send((before, name())).expect("the test waits");
        }
    }
    thread_local!(static LATE: Cell<Option<AtTheEnd>> = const { Cell::new(None) });

    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || LATE.with(|late| late.set(Some(AtTheEnd(send)))))
        .join()
        .expect("the thread does not panic");
    assert_eq!(receive.recv(), Ok((true, Some("late"))));
}

#[test]
fn every_thread_has_an_anonymous_affinity_of_its_own_that_no_later_one_gets() {
    let mut seen = vec![current()];
    for _ in 0..100 {
        let (first, second) = thread::spawn(|| (current(), current()))
            .join()
            .expect("the thread does not panic");
        assert_eq!(first, second);
        assert!(first.is_anonymous());
        assert!(!seen.contains(&first));
        seen.push(first);
    }
    assert_eq!(current(), seen[0]);
}

#[test]
fn leaving_does_not_change_the_anonymous_affinity() {
    let before = current();
    drop(enter(cores()[0], Rc::new(())));
    assert_eq!(current(), before);
}

#[test]
fn an_entry_concerns_its_thread_alone() {
    let _entered = enter(cores()[0], Rc::new("here"));
    let there = thread::spawn(|| (current().is_anonymous(), name())).join();
    assert_eq!(there.expect("the thread does not panic"), (true, None));
}
