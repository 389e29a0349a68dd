//! Closures relocate their data, and call their function with it.
// A probe hashes and compares by its id alone; what it writes to is its log.
#![allow(clippy::mutable_key_type)]

mod probe;

use std::{
    collections::{BTreeSet, HashSet},
    fmt::Debug,
    task::{Context, Poll, Waker},
};

use probe::{Log, Probe};
use thread_aware::{
    ThreadAware, Unaware,
    affinity::Affinity,
    closure::{
        AsyncClosure, AsyncClosureMut, AsyncClosureOnce, BoxFuture, Closure, ClosureMut,
        ClosureOnce, ThreadAwareAsyncFn, ThreadAwareAsyncFnMut, ThreadAwareAsyncFnMutWith,
        ThreadAwareAsyncFnOnce, ThreadAwareAsyncFnOnceWith, ThreadAwareAsyncFnWith, ThreadAwareFn,
        ThreadAwareFnMut, ThreadAwareFnMutWith, ThreadAwareFnOnce, ThreadAwareFnOnceWith,
        ThreadAwareFnWith, async_closure, async_closure_mut, async_closure_mut_with,
        async_closure_once, async_closure_once_with, async_closure_with, closure, closure_mut,
        closure_mut_with, closure_once, closure_once_with, closure_with,
    },
    unaware,
};

/// What a future gives that waits for nothing.
fn ready<T>(mut future: BoxFuture<'_, T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for something"),
    }
}

/// Passes a value on, as an async function does.
async fn later<T>(value: T) -> T {
    std::future::ready(()).await;
    value
}

fn id(probe: &Probe) -> u32 {
    probe.id
}

#[test]
fn every_kind_relocates_its_data_and_nothing_else() {
    let log = Log::default();
    let probe = || log.probe(7);
    assert_eq!(log.ids_reached(&mut closure(probe(), id)), [7]);
    assert_eq!(log.ids_reached(&mut closure_mut(probe(), |p| p.id)), [7]);
    assert_eq!(log.ids_reached(&mut closure_once(probe(), |p| p.id)), [7]);
    let mut with = closure_with(probe(), |p, n: u32| p.id + n);
    assert_eq!(log.ids_reached(&mut with), [7]);
    let mut with = closure_mut_with(probe(), |p, n: u32| p.id + n);
    assert_eq!(log.ids_reached(&mut with), [7]);
    let mut with = closure_once_with(probe(), |p, n: u32| p.id + n);
    assert_eq!(log.ids_reached(&mut with), [7]);
    let mut waiting = async_closure(probe(), |p| Box::pin(later(p.id)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    let mut waiting = async_closure_mut(probe(), |p| Box::pin(later(p.id)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    let mut waiting = async_closure_once(probe(), |p| Box::pin(later(p.id)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    let mut waiting = async_closure_with(probe(), |p, n: u32| Box::pin(later(p.id + n)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    let mut waiting = async_closure_mut_with(probe(), |p, n: u32| Box::pin(later(p.id + n)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    let mut waiting = async_closure_once_with(probe(), |p, n: u32| Box::pin(later(p.id + n)));
    assert_eq!(log.ids_reached(&mut waiting), [7]);
    assert_eq!(log.ids_reached(&mut unaware(probe())), []);
    let set: BTreeSet<_> = log.probes::<3>().into_iter().collect();
    let mut of_set = closure(set, |set: &BTreeSet<Probe>| set.len());
    assert_eq!(log.ids_reached_sorted(&mut of_set), [0, 1, 2]);
    assert_eq!(of_set.call(), 3);
}

#[test]
fn a_shared_closure_is_called_in_every_way() {
    let mut shared = closure(vec![1, 2], |list: &Vec<u32>| list.len());
    assert_eq!(
        (shared.call(), shared.call_mut(), shared.call_once()),
        (2, 2, 2)
    );
    let mut shared = closure_with(vec![1, 2], |list, at: usize| list[at]);
    assert_eq!((shared.call_with(0), shared.call_mut_with(1)), (1, 2));
    assert_eq!(shared.call_once_with(1), 2);
}

#[test]
fn a_mutable_closure_keeps_what_it_changes() {
    let mut next = closure_mut(0, |n| {
        *n += 1;
        *n
    });
    assert_eq!(
        (next.call_mut(), next.call_mut(), next.call_once()),
        (1, 2, 3)
    );
    let mut sum = closure_mut_with(0, |sum, n| {
        *sum += n;
        *sum
    });
    assert_eq!((sum.call_mut_with(2), sum.call_once_with(3)), (2, 5));
}

#[test]
fn a_closure_that_is_called_once_gets_its_data_by_value() {
    let owned = closure_once(String::from("a"), |text| text);
    assert_eq!(owned.call_once(), "a");
    let owned = closure_once_with(String::from("a"), |text, more: &str| text + more);
    assert_eq!(owned.call_once_with("b"), "ab");
}

#[test]
fn boxed_once_closures_are_relocated_and_called() {
    let log = Log::default();
    let boxes: [Box<dyn ThreadAwareFnOnce<u32>>; 3] = [
        Box::new(closure(log.probe(1), id)),
        Box::new(closure_mut(log.probe(2), |p| p.id)),
        Box::new(closure_once(log.probe(3), |p| p.id)),
    ];
    let mut boxes = Vec::from(boxes);
    assert_eq!(log.ids_reached(&mut boxes), [1, 2, 3]);
    let sendable: Box<dyn ThreadAwareFnOnce<u32> + Send> = Box::new(boxes.remove(0));
    let called = std::thread::spawn(move || sendable.call_once());
    assert_eq!(called.join().ok(), Some(1));
    assert_eq!(
        boxes
            .into_iter()
            .map(ThreadAwareFnOnce::call_once)
            .sum::<u32>(),
        5
    );

    let mut with: Box<dyn ThreadAwareFnOnceWith<u32, u32>> =
        Box::new(closure_once_with(log.probe(4), |p, n| p.id + n));
    assert_eq!(log.ids_reached(&mut with), [4]);
    let with: Box<dyn ThreadAwareFnOnceWith<u32, u32> + Send> = Box::new(with);
    assert_eq!(with.call_once_with(5), 9);
}

#[test]
fn boxed_shared_and_mutable_closures_are_called() {
    let shared: Box<dyn ThreadAwareFn<u32>> = Box::new(closure(3, |n| *n));
    let mut mutable: Box<dyn ThreadAwareFnMut<u32>> = Box::new(closure_mut(3, |n| *n));
    assert_eq!((shared.call(), mutable.call_mut()), (3, 3));
    let shared: Box<dyn ThreadAwareFnWith<u32, u32>> = Box::new(closure_with(3, |n, m| n + m));
    assert_eq!(shared.call_with(4), 7);
}

#[test]
fn a_box_can_stand_where_its_closure_can() {
    fn shared(f: &(impl ThreadAwareFn<u32> + ThreadAwareFnWith<u32, u32>)) -> (u32, u32) {
        (f.call(), f.call_with(1))
    }
    fn mutable(
        f: &mut (impl ThreadAwareFnMut<u32> + ThreadAwareFnMutWith<u32, u32>),
    ) -> (u32, u32) {
        (f.call_mut(), f.call_mut_with(1))
    }
    fn waiting(f: &mut (impl ThreadAwareAsyncFn<u32> + ThreadAwareAsyncFnMut<u32>)) -> (u32, u32) {
        (ready(f.call()), ready(f.call_mut()))
    }
    fn waiting_with(
        f: &mut (impl ThreadAwareAsyncFnWith<u32, u32> + ThreadAwareAsyncFnMutWith<u32, u32>),
    ) -> (u32, u32) {
        (ready(f.call_with(1)), ready(f.call_mut_with(2)))
    }

    let both = Box::new(Both(
        Box::new(closure(3, |n| *n)),
        Box::new(closure_with(3, |n, m| n + m)),
    ));
    assert_eq!(shared(&both), (3, 4));
    assert_eq!(mutable(&mut { both }), (3, 4));
    let closure: AsyncClosure<u32, u32> = async_closure(3, |n| Box::pin(later(*n)));
    assert_eq!(waiting(&mut Box::new(closure)), (3, 3));
    let closure = async_closure_with(3, |n, m| Box::pin(later(n + m)));
    assert_eq!(waiting_with(&mut Box::new(closure)), (4, 5));
}

#[test]
fn async_closures_are_called_in_every_way_that_fits() {
    let mut shared = async_closure(3, |n| Box::pin(later(*n)));
    assert_eq!((ready(shared.call()), ready(shared.call_mut())), (3, 3));
    assert_eq!(ready(ThreadAwareAsyncFn::call(&shared)), 3);
    assert_eq!(ready(Box::new(shared).call_once()), 3);

    let mut mutable = async_closure_mut(3, |n| {
        Box::pin(async move {
            *n += 1;
            later(*n).await
        })
    });
    assert_eq!(ready(mutable.call_mut()), 4);
    assert_eq!(ready(ThreadAwareAsyncFnMut::call_mut(&mut mutable)), 5);
    let boxed: Box<dyn ThreadAwareAsyncFnOnce<i32>> = Box::new(mutable);
    assert_eq!(ready(boxed.call_once()), 6);

    let once = || async_closure_once(String::from("a"), |text| Box::pin(later(text)));
    assert_eq!(ready(once().call_once()), "a");
    assert_eq!(
        ready(ThreadAwareAsyncFnOnce::call_once(Box::new(once()))),
        "a"
    );
}

#[test]
fn async_closures_take_an_argument() {
    let mut shared = async_closure_with(3, |n, m: i32| Box::pin(later(n + m)));
    assert_eq!(
        (ready(shared.call_with(1)), ready(shared.call_mut_with(2))),
        (4, 5)
    );
    assert_eq!(ready(Box::new(shared).call_once_with(3)), 6);
    let mut mutable = async_closure_mut_with(3, |n, m: i32| {
        Box::pin(async move {
            *n += m;
            later(*n).await
        })
    });
    assert_eq!(ready(mutable.call_mut_with(1)), 4);
    assert_eq!(ready(Box::new(mutable).call_once_with(2)), 6);
    let once = async_closure_once_with(String::from("a"), |text, more: &'static str| {
        Box::pin(later(text + more))
    });
    assert_eq!(ready(Box::new(once).call_once_with("b")), "ab");
}

#[test]
fn closures_copy_clone_hash_and_show_as_their_data_does() {
    fn check<C: Copy + HashesAlike + Debug>(closure: C, name: &str) {
        let copy = closure;
        assert_eq!(format!("{copy:?}"), format!("{name} {{ data: 3, .. }}"));
        assert!(closure.same_hash(&copy));
    }
    check(closure(3, |n| *n), "Closure");
    check(closure_mut(3, |n| *n), "ClosureMut");
    check(closure_once(3, |n| n), "ClosureOnce");
    check(async_closure(3, |n| Box::pin(later(*n))), "AsyncClosure");
    check(
        async_closure_mut(3, |n| Box::pin(later(*n))),
        "AsyncClosureMut",
    );
    check(
        async_closure_once(3, |n| Box::pin(later(n))),
        "AsyncClosureOnce",
    );
    let cloned = closure(String::from("a"), String::len).clone();
    assert_eq!(cloned.call(), 1);
}

/// Two boxed closures, called as one.
struct Both(
    Box<dyn ThreadAwareFn<u32>>,
    Box<dyn ThreadAwareFnWith<u32, u32>>,
);

impl ThreadAware for Both {
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.0.relocate(source, destination);
        self.1.relocate(source, destination);
    }
}

impl ThreadAwareFn<u32> for Both {
    fn call(&self) -> u32 {
        self.0.call()
    }
}

impl ThreadAwareFnMut<u32> for Both {
    fn call_mut(&mut self) -> u32 {
        self.0.call()
    }
}

impl ThreadAwareFnWith<u32, u32> for Both {
    fn call_with(&self, argument: u32) -> u32 {
        self.1.call_with(argument)
    }
}

impl ThreadAwareFnMutWith<u32, u32> for Both {
    fn call_mut_with(&mut self, argument: u32) -> u32 {
        self.1.call_with(argument)
    }
}

/// Whether two values hash alike.
trait HashesAlike: std::hash::Hash {
    fn same_hash(&self, other: &Self) -> bool {
        use std::hash::BuildHasher;
        let hasher = std::hash::RandomState::new();
        hasher.hash_one(self) == hasher.hash_one(other)
    }
}

impl<T: std::hash::Hash> HashesAlike for T {}

/// The types have names, and results need not be sent.
type Named = (
    Closure<*const u8, u8>,
    ClosureMut<*const u8, u8>,
    ClosureOnce<*const u8, u8>,
    AsyncClosure<*const u8, u8>,
    AsyncClosureMut<*const u8, u8>,
    AsyncClosureOnce<*const u8, u8>,
);

#[test]
fn closures_are_sent_whatever_they_return() {
    fn is_sent<T: ThreadAware + Send + Sync>() {}
    is_sent::<Named>();
}

#[test]
fn an_unaware_value_behaves_as_the_value() {
    let mut value = Unaware::from(String::from("a"));
    value.push('b');
    assert_eq!((value.len(), format!("{value}")), (2, String::from("ab")));
    assert_eq!(value.clone().into_inner(), "ab");
    assert_eq!(format!("{value:?}"), "Unaware(\"ab\")");
    assert_eq!(Unaware::<u8>::default(), unaware(0));
    assert!(unaware(1) < unaware(2));
    assert_eq!(HashSet::from([unaware(1), unaware(1)]).len(), 1);
    assert_eq!(size_of::<Unaware<u64>>(), size_of::<u64>());
}

#[test]
fn a_shared_unaware_value_becomes_the_shared_value() {
    use std::sync::Arc;

    let wrapped = Arc::new(unaware(String::from("a")));
    let value = Unaware::into_arc(Arc::clone(&wrapped));
    assert!(std::ptr::eq(&*value, &wrapped.0));
    assert_eq!(
        (Arc::strong_count(&value), Arc::strong_count(&wrapped)),
        (2, 2)
    );
    drop(wrapped);
    assert_eq!(Arc::try_unwrap(value).as_deref(), Ok("a"));
}
