//! `#[derive(ThreadAware)]` with its attribute.

use std::marker::PhantomData;

use thread_aware::{ThreadAware, Unaware};

use crate::probe::{Probe, twice};

#[derive(Debug, Clone, ThreadAware)]
struct Point {
    x: i32,
    y: Probe,
}

#[derive(ThreadAware)]
struct Pair(Probe, #[thread_aware(skip)] std::sync::Arc<str>);

#[derive(ThreadAware)]
struct Unit;

#[derive(ThreadAware)]
enum Shape<T> {
    Empty,
    One(T),
    Many { all: Vec<T>, marker: PhantomData<T> },
}

#[derive(ThreadAware)]
struct Container<T: ThreadAware, U> {
    value: Option<T>,
    code: PhantomData<fn(*const U)>,
    #[thread_aware(skip)]
    raw: Probe,
    plain: Unaware<std::sync::Weak<()>>,
}

#[derive(ThreadAware)]
enum Tree<T> {
    Leaf(T),
    Node(Box<Tree<T>>, Box<Tree<T>>),
}

#[test]
fn structs_relocate_every_field_but_skipped_ones() {
    let mut point = Point { x: 1, y: Probe(0) };
    twice(&mut point);
    assert_eq!((point.x, point.clone().y), (1, Probe(2)));
    assert_eq!(format!("{point:?}"), "Point { x: 1, y: Probe(2) }");
    let mut pair = Pair(Probe(0), "a".into());
    twice(&mut pair);
    assert_eq!((pair.0, &*pair.1), (Probe(2), "a"));
    twice(&mut Unit);
}

#[test]
fn generic_items_are_derived() {
    let mut shapes = [
        Shape::Empty,
        Shape::One(Probe(0)),
        Shape::Many {
            all: vec![Probe(1)],
            marker: PhantomData,
        },
    ];
    shapes.iter_mut().for_each(twice);
    assert!(matches!(&shapes[0], Shape::Empty));
    assert!(matches!(&shapes[1], Shape::One(Probe(2))));
    assert!(matches!(&shapes[2], Shape::Many { all, .. } if *all == [Probe(3)]));
    let mut tree = Tree::Node(
        Box::new(Tree::Leaf(Probe(0))),
        Box::new(Tree::Leaf(Probe(1))),
    );
    twice(&mut tree);
    let Tree::Node(left, right) = tree else {
        panic!("it is a node")
    };
    assert!(matches!(
        (*left, *right),
        (Tree::Leaf(Probe(2)), Tree::Leaf(Probe(3)))
    ));
}

#[test]
fn skipped_fields_and_markers_need_nothing() {
    let mut container = Container::<Probe, *const ()> {
        value: Some(Probe(0)),
        code: PhantomData,
        raw: Probe(0),
        plain: Unaware::default(),
    };
    twice(&mut container);
    assert_eq!((container.value, container.raw), (Some(Probe(2)), Probe(0)));
    assert_eq!(
        (container.code, container.plain.strong_count()),
        (PhantomData, 0)
    );
}
