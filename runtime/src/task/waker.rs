//! Wakers that carry no count: their data word is a [`Token`], so clone and drop do nothing.
//!
//! A wake from the shard itself goes to its run queue without an atomic operation; any other one
//! goes to the shard's mailbox (see `shard/mailbox.rs`).

use std::mem::ManuallyDrop;
use std::ptr;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::shard::Context;
use crate::task::token::Token;

const _: () = assert!(
    size_of::<*const ()>() == 8,
    "a token needs a 64-bit pointer"
);

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop_nothing);

/// The waker of the task that `token` names.
///
/// It need not be dropped, since it holds nothing.
#[inline]
pub(crate) fn waker(token: Token) -> ManuallyDrop<Waker> {
    let data = ptr::without_provenance(token.bits() as usize);
    // SAFETY: Valid: the functions of `VTABLE` take the data word as a number, never as a pointer,
    // and are safe on any thread for any number. Exclusive: nothing is shared or owned.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) })
}

/// The token of a waker that [`waker`] made, or `None` for one of another executor.
#[inline]
pub(super) fn token(waker: &Waker) -> Option<Token> {
    ptr::eq(waker.vtable(), &VTABLE).then(|| Token::from_bits(waker.data().addr() as u64))
}

fn clone(data: *const ()) -> RawWaker {
    RawWaker::new(data, &VTABLE)
}

fn wake(data: *const ()) {
    Context::wake(Token::from_bits(data.addr() as u64));
}

fn drop_nothing(_: *const ()) {}
