//! The only file of this crate that names atomics.
//!
//! Data moves by Release and Acquire; `fence(SeqCst)` stands only in sleep and wake. What is in
//! [`modelled`] has models in `tests/loom_*.rs`, which run the production types; lanes, sleep and
//! wake have theirs in `corelane-primitives`.

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU8, AtomicU16, AtomicU64, Ordering,
};

use modelled::Site;

/// Atomics from std or, under `--cfg corelane_loom`, from loom.
///
/// Every ordering that matters has a [`Site`](modelled::Site). In ordinary builds a site vanishes;
/// in a model build the environment variable `CORELANE_WEAKEN` names one that becomes Relaxed, and
/// `tests/loom_mutants.rs` demands that some model then fails.
pub(crate) mod modelled {
    #[cfg(corelane_loom)]
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64};
    #[cfg(corelane_loom)]
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) use std::sync::atomic::Ordering;
    #[cfg(not(corelane_loom))]
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64};
    #[cfg(not(corelane_loom))]
    pub(crate) use std::sync::{Mutex, MutexGuard};

    /// A place whose ordering a model must depend on.
    #[derive(Clone, Copy)]
    pub(crate) struct Site(#[cfg(corelane_loom)] &'static str);

    macro_rules! sites {
        ($($(#[$doc:meta])* $site:ident = $name:literal,)+) => {
            impl Site {
                $($(#[$doc])* pub(crate) const $site: Self = Self(#[cfg(corelane_loom)] $name);)+
            }

            /// The names of all sites.
            #[cfg(corelane_loom)]
            pub(crate) const SITES: &[&str] = &[$($name,)+];
        };
    }

    sites! {
        /// A waker sets a slot's bit; partner: `MAILBOX_TAKE_BITS`.
        MAILBOX_BIT = "mailbox.bit",
        /// The shard takes a word of bits.
        MAILBOX_TAKE_BITS = "mailbox.take_bits",
        /// A sender rings; partner: `DOORBELL_LOOK`.
        DOORBELL_SET = "doorbell.set",
        /// The target looks who has rung.
        DOORBELL_LOOK = "doorbell.look",
        /// A target hands items back; partner: `RETURNS_TAKE`.
        RETURNS_PUBLISH = "returns.publish",
        /// The sender takes them.
        RETURNS_TAKE = "returns.take",
        /// A target stores an answer; partner: `ITEM_READ_ANSWER`.
        ITEM_ANSWER = "item.answer",
        /// The sender looks for it.
        ITEM_READ_ANSWER = "item.read_answer",
        /// One end of an item goes; partner: itself, at the other end.
        ITEM_END = "item.end",
        /// Between a cancel and the look at who works; partner: `ITEM_ENTER_FENCE`.
        ITEM_CANCEL_FENCE = "item.cancel_fence",
        /// Between who works and the look at the cancel.
        ITEM_ENTER_FENCE = "item.enter_fence",
        /// A departure is told of; partner: `INBOX_TAKE_DEPARTED`.
        INBOX_DEPART = "inbox.depart",
        /// The shard takes back that it was told of departures.
        INBOX_TAKE_DEPARTED = "inbox.take_departed",
        /// A shard is done with one thing of its inbox; partner: `INBOX_LOOK`.
        INBOX_STARTED = "inbox.started",
        /// Who drains looks for what is left in an inbox.
        INBOX_LOOK = "inbox.look",
        /// A task of a shard has ended; partner: `ENDED_LOOK`.
        ENDED_PUBLISH = "ended.publish",
        /// Who drains looks how many tasks have ended.
        ENDED_LOOK = "ended.look",
    }

    /// The Acquire of `site`.
    #[inline(always)]
    pub(crate) fn acquire(site: Site) -> Ordering {
        site.order(Ordering::Acquire)
    }

    /// The Release of `site`.
    #[inline(always)]
    pub(crate) fn release(site: Site) -> Ordering {
        site.order(Ordering::Release)
    }

    /// The Acquire and Release of `site`.
    #[inline(always)]
    pub(crate) fn acq_rel(site: Site) -> Ordering {
        site.order(Ordering::AcqRel)
    }

    /// A SeqCst fence.
    #[cfg(not(corelane_loom))]
    #[inline(always)]
    pub(crate) fn fence(_site: Site) {
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// A SeqCst fence.
    #[cfg(corelane_loom)]
    #[track_caller]
    pub(crate) fn fence(site: Site) {
        if site.order(Ordering::SeqCst) == Ordering::SeqCst {
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    impl Site {
        #[cfg(not(corelane_loom))]
        #[inline(always)]
        fn order(self, order: Ordering) -> Ordering {
            order
        }

        #[cfg(corelane_loom)]
        fn order(self, order: Ordering) -> Ordering {
            if corelane_primitives::model::is_weakened(self.0) {
                Ordering::Relaxed
            } else {
                order
            }
        }
    }
}

/// A count that one thread writes and any thread reads.
///
/// Adding is a load and a store, not a read-modify-write: the owner is the only writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(modelled::AtomicU64);

impl Counter {
    /// Adds `n`. Only the owning shard calls this.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(n),
            Ordering::Relaxed,
        );
    }

    /// As [`Counter::add`]; what the shard did before is seen by who sees the new value in
    /// [`Counter::value_published`]. Only the owning shard calls this.
    #[inline]
    pub(crate) fn publish(&self, n: u64) {
        // Release: pairs with the Acquire in `value_published`.
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(n),
            modelled::release(Site::ENDED_PUBLISH),
        );
    }

    /// The value now, and what its shard did before it published it. Any thread.
    pub(crate) fn value_published(&self) -> u64 {
        self.0.load(modelled::acquire(Site::ENDED_LOOK))
    }

    /// Raises the value to `n` if it is below. Only the owning shard calls this.
    #[inline]
    pub(crate) fn raise(&self, n: u64) {
        if self.0.load(Ordering::Relaxed) < n {
            self.0.store(n, Ordering::Relaxed);
        }
    }

    /// The value now, from any thread.
    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long a shard has slept, a sleep that goes on included.
///
/// One word, so that a reader never sees half of a sleep: awake it is the sum; asleep it is the sum
/// less the beginning of this sleep, so that adding the time gives the sum until now. The highest
/// bit says which.
#[derive(Debug, Default)]
pub(crate) struct SleepTime(AtomicU64);

const ASLEEP: u64 = 1 << 63;

impl SleepTime {
    /// The shard goes to sleep. Only the owning shard calls this, and `end` next.
    pub(crate) fn begin(&self, now_ns: u64) {
        let sum = self.0.load(Ordering::Relaxed);
        // Release: pairs with the Acquire in `value`, whose time is then a later one.
        self.0
            .store(sum.wrapping_sub(now_ns) | ASLEEP, Ordering::Release);
    }

    /// The shard is awake. Only the owning shard calls this, after `begin`.
    pub(crate) fn end(&self, now_ns: u64) {
        let open = self.0.load(Ordering::Relaxed);
        self.0
            .store(open.wrapping_add(now_ns) & !ASLEEP, Ordering::Release);
    }

    /// Nanoseconds slept until now, from any thread. `now_ns` is read after the word.
    pub(crate) fn value(&self, now_ns: impl FnOnce() -> u64) -> u64 {
        let word = self.0.load(Ordering::Acquire);
        if word & ASLEEP == 0 {
            return word;
        }
        word.wrapping_add(now_ns()) & !ASLEEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_time_counts_the_sleep_that_goes_on() {
        let slept = SleepTime::default();
        assert_eq!(slept.value(|| unreachable!("it is awake")), 0);
        for (begin, end, sum) in [
            (1_000, 1_300, 300),
            (1_300, 1_300, 300),
            (u64::MAX >> 2, (u64::MAX >> 2) + 50, 350),
        ] {
            let before = slept.value(|| 0);
            slept.begin(begin);
            assert_eq!(slept.value(|| begin), before);
            assert_eq!(slept.value(|| begin + 7), before + 7);
            slept.end(end);
            assert_eq!(slept.value(|| 0), sum);
        }
    }
}
