//! Generic items get the bounds that they need and no others: each check names the weakest
//! arguments that must do.

// Public items, so that private types in what is derived for them would be seen.
#![allow(missing_docs)]
#![deny(private_bounds, private_interfaces)]

use std::{
    borrow::Cow,
    cell::Cell,
    collections::{BTreeMap, HashMap},
    marker::PhantomData,
    num::NonZero,
    rc::Rc,
    sync::Mutex,
};

use thread_aware::{
    Arc, ThreadAware, Unaware,
    affinity::{Affinity, pinned_affinities},
    storage::Strategy,
};

fn is_aware<T: ThreadAware>() {}

/// `Send`, and nothing else.
pub struct OnlySend(pub Cell<u8>);

/// Not even `Send`.
pub struct Nothing(pub Rc<u8>);

/// Relocates `value`, and gives it back.
fn moved<T: ThreadAware>(mut value: T) -> T {
    let cores = pinned_affinities(&[2]);
    value.relocate(None, cores[1]);
    value
}

#[derive(ThreadAware)]
pub struct Plain<A, B> {
    pub a: A,
    pub b: Vec<Option<B>>,
}

// proves: TA-15
#[test]
fn parameters_in_fields_are_aware() {
    let plain = moved(Plain {
        a: 1,
        b: vec![Some("b")],
    });
    assert_eq!((plain.a, plain.b), (1, vec![Some("b")]));
}

#[derive(ThreadAware)]
pub struct Marked<T: ?Sized> {
    pub code: PhantomData<fn(*const T)>,
}

#[derive(ThreadAware)]
pub struct Owning<T> {
    pub owned: PhantomData<Option<T>>,
}

// proves: TA-15
#[test]
fn a_parameter_in_a_marker_need_not_be_aware() {
    is_aware::<Marked<Nothing>>();
    is_aware::<Marked<dyn Fn()>>();
    is_aware::<Owning<OnlySend>>();
}

#[derive(ThreadAware)]
pub struct Code<T, R> {
    pub code: fn(T, u8) -> R,
    pub more: Option<fn(T) -> R>,
}

// proves: TA-15
#[test]
fn a_parameter_of_code_needs_nothing() {
    is_aware::<Code<Nothing, Nothing>>();
    let code = moved(Code::<u8, u8> {
        code: |n, more| n + more,
        more: Some(|n| n + 2),
    });
    assert_eq!((code.code)(1, 1), 2);
    assert_eq!(code.more.map(|code| code(1)), Some(3));
}

#[derive(ThreadAware)]
pub struct Service<T, S: Strategy, U> {
    pub shared: Vec<Arc<T, S>>,
    pub plain: Option<Unaware<U>>,
}

/// A partition for even processors and one for odd ones; it is not thread-aware itself.
pub struct Parity;

impl Strategy for Parity {
    fn index(affinity: Affinity) -> usize {
        affinity.processor_index() % 2
    }

    fn count(_: Affinity) -> NonZero<usize> {
        NonZero::new(2).expect("two is not zero")
    }
}

// proves: TA-15
#[test]
fn parameters_of_shared_and_unaware_values_need_not_be_aware() {
    let cores = pinned_affinities(&[2]);
    let mut service = Service::<_, Parity, _> {
        shared: vec![Arc::new(|| Mutex::new(OnlySend(Cell::new(0))))],
        plain: Some(Unaware(OnlySend(Cell::new(1)))),
    };
    let before = service.shared[0].clone();
    service.relocate(Some(cores[0]), cores[1]);
    assert!(!Arc::ptr_eq(&before, &service.shared[0]), "it has moved");
    assert_eq!(service.plain.map(|plain| plain.0.0.get()), Some(1));
}

pub trait Shape<T>: ThreadAware {
    fn area(&self) -> T;
}

#[derive(ThreadAware)]
pub struct Object<T> {
    pub shape: Box<dyn Shape<T>>,
}

impl Shape<Rc<u8>> for u8 {
    fn area(&self) -> Rc<u8> {
        Rc::new(*self)
    }
}

// proves: TA-15
#[test]
fn a_parameter_of_a_trait_object_needs_nothing() {
    is_aware::<Object<Nothing>>();
    let object = moved(Object::<Rc<u8>> { shape: Box::new(7) });
    assert_eq!(*object.shape.area(), 7);
}

#[derive(ThreadAware)]
pub struct Skipped<T, U> {
    #[thread_aware(skip)]
    pub a: T,
    pub b: U,
}

// proves: TA-15
#[test]
fn a_skipped_parameter_is_sent_only() {
    let skipped = moved(Skipped {
        a: OnlySend(Cell::new(3)),
        b: 4,
    });
    assert_eq!((skipped.a.0.get(), skipped.b), (3, 4));
}

#[derive(ThreadAware)]
pub struct Items<I: Iterator> {
    pub next: Option<I::Item>,
    pub other: <I as Iterator>::Item,
    #[thread_aware(skip)]
    pub rest: I,
}

// proves: TA-15
#[test]
fn an_associated_type_is_bounded_itself() {
    let numbers = [1, 2, 3].into_iter().map(|n| n * 2);
    let items = moved(Items {
        next: Some(2),
        other: 4,
        rest: numbers,
    });
    assert_eq!(items.next.map(|next| next + items.other), Some(6));
    assert_eq!(items.rest.sum::<i32>(), 12);
}

pub trait Owner {
    type Owned;
}

/// Refers to an associated type of its own.
#[derive(ThreadAware)]
pub struct Owned<T>
where
    Self: Owner,
{
    pub owned: <Self as Owner>::Owned,
    #[thread_aware(skip)]
    pub by: T,
}

impl Owner for Owned<OnlySend> {
    type Owned = String;
}

// proves: TA-15
#[test]
fn an_associated_type_of_the_item_itself_is_bounded() {
    let owned = moved(Owned {
        owned: String::from("a"),
        by: OnlySend(Cell::new(1)),
    });
    assert_eq!((&*owned.owned, owned.by.0.get()), ("a", 1));
}

#[derive(ThreadAware)]
pub struct Tail<T: ?Sized> {
    pub head: u8,
    pub tail: T,
}

// proves: TA-15
#[test]
fn the_last_field_may_be_unsized() {
    let cores = pinned_affinities(&[2]);
    let mut tail: Box<Tail<[String]>> = Box::new(Tail {
        head: 1,
        tail: [String::from("a"), String::from("b")],
    });
    tail.relocate(None, cores[0]);
    assert_eq!((tail.head, tail.tail.len()), (1, 2));
}

#[derive(ThreadAware)]
pub enum List<T> {
    End,
    Node(T, Box<List<T>>),
    Tree {
        left: Option<Box<Self>>,
        more: Vec<Tree<T>>,
    },
}

/// Refers back to what refers to it.
#[derive(ThreadAware)]
pub struct Tree<T> {
    pub branches: BTreeMap<String, List<T>>,
}

// proves: TA-15
#[test]
fn types_that_hold_one_another_are_derived() {
    is_aware::<Tree<u8>>();
    let list = moved(List::Node(
        1,
        Box::new(List::Tree {
            left: Some(Box::new(List::End)),
            more: vec![Tree {
                branches: BTreeMap::new(),
            }],
        }),
    ));
    assert!(matches!(list, List::Node(1, rest) if matches!(*rest, List::Tree { .. })));
}

#[derive(ThreadAware)]
pub struct Everything<'a, K, V = u8, const N: usize = 2>
where
    K: Eq + std::hash::Hash,
{
    pub map: HashMap<K, (V, [V; N])>,
    pub text: Cow<'a, str>,
    pub n: [u8; N],
}

// proves: TA-15
#[test]
fn lifetimes_constants_defaults_and_clauses_are_kept() {
    let everything = moved(Everything::<'_, &'static str> {
        map: HashMap::from([("k", (1, [2, 3]))]),
        text: Cow::Borrowed("t"),
        n: [4, 5],
    });
    assert_eq!(everything.map["k"], (1, [2, 3]));
    assert_eq!((&*everything.text, everything.n), ("t", [4, 5]));
}

struct Private<T>(T);

/// Public, with a private type in a field that is bounded by its type.
#[derive(ThreadAware)]
pub struct Public<T> {
    private: PhantomData<Private<T>>,
}

// proves: TA-15
#[test]
fn private_types_in_fields_are_no_trouble() {
    is_aware::<Public<OnlySend>>();
    let public = moved(Public::<u8> {
        private: PhantomData,
    });
    assert_eq!(std::mem::size_of_val(&public.private), 0);
    assert_eq!(Private(3).0, 3);
}
