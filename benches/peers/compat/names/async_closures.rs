//! `closure::{async_closure, async_closure_mut, async_closure_once}`, their types and traits.

use std::{
    fmt::Debug,
    task::{Context, Poll, Waker},
};

use thread_aware::closure::{
    AsyncClosure, AsyncClosureMut, AsyncClosureOnce, BoxFuture, ThreadAwareAsyncFn,
    ThreadAwareAsyncFnMut, ThreadAwareAsyncFnOnce, async_closure, async_closure_mut,
    async_closure_once,
};

use crate::probe::{Probe, twice};

fn ready<T>(mut future: BoxFuture<'_, T>) -> T {
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for nothing"),
    }
}

fn read(probe: &Probe) -> BoxFuture<'_, u32> {
    Box::pin(async move { probe.0 })
}

fn change(probe: &mut Probe) -> BoxFuture<'_, u32> {
    Box::pin(async move {
        probe.0 += 10;
        probe.0
    })
}

fn take(probe: Probe) -> BoxFuture<'static, u32> {
    Box::pin(async move { probe.0 })
}

fn shared(mut f: impl ThreadAwareAsyncFn<u32>) -> u32 {
    twice(&mut f);
    ready(f.call())
}

fn mutable(mut f: impl ThreadAwareAsyncFnMut<u32>) -> u32 {
    twice(&mut f);
    ready(f.call_mut())
}

fn once(mut f: impl ThreadAwareAsyncFnOnce<u32>) -> u32 {
    twice(&mut f);
    ready(Box::new(f).call_once())
}

#[test]
fn async_closures_relocate_what_they_capture() {
    let f: AsyncClosure<u32, Probe> = async_closure(Probe(5), read);
    assert_eq!(
        (shared(f.clone()), mutable(f.clone()), once(f.clone())),
        (7, 7, 7)
    );
    assert_eq!(ready(f.call()), 5);
    let mut f: AsyncClosureMut<u32, Probe> = async_closure_mut(Probe(5), change);
    assert_eq!((mutable(f.clone()), once(f.clone())), (17, 17));
    assert_eq!(ready(f.call_mut()), 15);
    let f: AsyncClosureOnce<u32, Probe> = async_closure_once(Probe(5), take);
    assert_eq!(once(f.clone()), 7);
    assert_eq!(ready(f.call_once()), 5);
}

#[test]
fn async_closures_are_trait_objects() {
    let f: Box<dyn ThreadAwareAsyncFn<u32>> = Box::new(async_closure(Probe(1), read));
    assert_eq!(ready(f.call()), 1);
    let mut f: Box<dyn ThreadAwareAsyncFnMut<u32>> = Box::new(async_closure_mut(Probe(1), change));
    assert_eq!(ready(f.call_mut()), 11);
    let mut f: Box<dyn ThreadAwareAsyncFnOnce<u32>> = Box::new(async_closure_once(Probe(1), take));
    twice(&mut f);
    assert_eq!(ready(f.call_once()), 3);
}

#[test]
fn async_closures_copy_and_show() {
    fn check<T: Copy + Debug>(f: T) {
        let copy = f;
        assert!(format!("{copy:?}").contains('3'));
    }
    check(async_closure(3_u8, |n| Box::pin(async move { *n })));
    check(async_closure_mut(3_u8, |n| Box::pin(async move { *n })));
    check(async_closure_once(3_u8, |n| Box::pin(async move { n })));
}
