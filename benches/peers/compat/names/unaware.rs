//! `Unaware` and `unaware`.

use std::{collections::HashMap, sync::Arc};

use thread_aware::{Unaware, unaware};

use crate::probe::{Probe, twice};

const CONSTANT: Unaware<u8> = unaware(3);

#[test]
fn an_unaware_value_is_moved_as_it_is() {
    let mut probe = Unaware(Probe(0));
    twice(&mut probe);
    assert_eq!(probe.0, Probe(0));
    assert_eq!(probe.into_inner(), Probe(0));
}

#[test]
fn an_unaware_value_behaves_as_the_value() {
    let mut text = Unaware::from(String::from("a"));
    text.push('b');
    assert_eq!((text.len(), text.clone()), (2, unaware(String::from("ab"))));
    assert_eq!(format!("{text:?}"), "Unaware(\"ab\")");
    let (copy, Unaware(inner)) = (CONSTANT, CONSTANT);
    assert_eq!((copy, inner), (CONSTANT, 3));
    assert_eq!(Unaware::<u8>::default(), unaware(0));
    assert_eq!(HashMap::from([(copy, 1)])[&CONSTANT], 1);
}

#[test]
fn an_arc_of_an_unaware_value_becomes_one_of_the_value() {
    let shared = Arc::new(unaware(String::from("a")));
    let other: Arc<String> = Unaware::into_arc(Arc::clone(&shared));
    assert!(std::ptr::eq(&shared.0, &*other));
    assert_eq!(Arc::strong_count(&other), 2);
    drop(shared);
    assert_eq!(Arc::try_unwrap(other).as_deref(), Ok("a"));
}
