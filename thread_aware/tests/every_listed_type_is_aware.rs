//! The list of types that are thread-aware, each with the weakest contents that it may have.

use core::{
    cell::{Cell, OnceCell, RefCell},
    cmp::{Ordering, Reverse},
    ffi::CStr,
    marker::PhantomData,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    num::{
        NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
        NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize, Saturating, Wrapping,
    },
    ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive},
    pin::Pin,
    sync::atomic::{
        AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8,
        AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
    },
    time::Duration,
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque},
    ffi::CString,
};

use thread_aware::{
    ThreadAware, Unaware,
    affinity::{Affinity, TopologyId},
};

/// Can be relocated, and has no other trait.
struct Aware;

impl ThreadAware for Aware {
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
}

/// Can be sent, and has no other trait.
struct Sent;

/// Relocatable, and a key.
type Key = u8;

fn is_aware<T: ThreadAware + ?Sized>() {}

macro_rules! all {
    ($($type:ty),* $(,)?) => { $(is_aware::<$type>();)* };
}

#[test]
fn numbers_and_their_kin() {
    all!(
        u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char
    );
    all!(
        NonZeroU8,
        NonZeroU16,
        NonZeroU32,
        NonZeroU64,
        NonZeroU128,
        NonZeroUsize
    );
    all!(
        NonZeroI8,
        NonZeroI16,
        NonZeroI32,
        NonZeroI64,
        NonZeroI128,
        NonZeroIsize
    );
    all!(Wrapping<Aware>, Saturating<Aware>, Reverse<Aware>, Ordering);
    all!(AtomicBool, AtomicPtr<Sent>, AtomicUsize, AtomicIsize);
    all!(
        AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicI8, AtomicI16, AtomicI32, AtomicI64
    );
    all!(
        core::any::TypeId,
        core::convert::Infallible,
        Affinity,
        TopologyId
    );
}

#[test]
fn text_addresses_and_times() {
    fn borrowed<'a>(_: &'a ()) {
        all!(
            &'a str,
            &'a CStr,
            Cow<'a, str>,
            Cow<'a, CStr>,
            Cow<'a, [Key]>
        );
    }
    borrowed(&());
    all!(
        str,
        String,
        &'static str,
        Box<str>,
        CStr,
        CString,
        Box<CStr>
    );
    all!(
        IpAddr,
        Ipv4Addr,
        Ipv6Addr,
        SocketAddr,
        SocketAddrV4,
        SocketAddrV6,
        Duration
    );
}

#[test]
fn what_holds_elements() {
    all!(
        [Aware],
        [Aware; 3],
        [Aware; 0],
        Vec<Aware>,
        VecDeque<Aware>,
        LinkedList<Aware>
    );
    all!(BinaryHeap<Key>, BTreeSet<Key>, BTreeMap<Key, Aware>);
    all!(Option<Aware>, Result<Aware, Aware>, Bound<Aware>, PhantomData<Sent>, PhantomData<[Sent]>);
    all!(
        Box<Aware>,
        Box<[Aware]>,
        Box<dyn ThreadAware>,
        Box<dyn ThreadAware + Sync>
    );
    all!(Pin<Box<Aware>>, Pin<Box<[Aware]>>, Unaware<Sent>);
    all!(
        Cell<Aware>,
        RefCell<Aware>,
        RefCell<[Aware]>,
        OnceCell<Aware>
    );
    all!(
        Range<Aware>,
        RangeFrom<Aware>,
        RangeTo<Aware>,
        RangeToInclusive<Aware>,
        RangeFull
    );
    all!(RangeInclusive<Key>);
}

#[test]
fn tuples_and_code_to_twelve() {
    type A = Aware;
    all!(
        (),
        (A,),
        (A, A),
        (A, A, A),
        (A, A, A, A),
        (A, A, A, A, A),
        (A, A, A, A, A, A)
    );
    all!(
        (A, A, A, A, A, A, A),
        (A, A, A, A, A, A, A, A),
        (A, A, A, A, A, A, A, A, A)
    );
    all!(
        (A, A, A, A, A, A, A, A, A, A),
        (A, A, A, A, A, A, A, A, A, A, A)
    );
    all!((A, A, A, A, A, A, A, A, A, A, A, A));
    type S = *const Sent;
    all!(
        fn(),
        fn() -> S,
        fn(S),
        fn(S, S) -> S,
        fn(S, S, S, S, S, S, S, S, S, S, S, S) -> S
    );
    all!(
        unsafe fn(S) -> S,
        extern "C" fn(S) -> S,
        unsafe extern "C" fn(S) -> S
    );
}

#[cfg(feature = "std")]
#[test]
fn what_std_adds() {
    use std::{
        collections::{HashMap, HashSet},
        ffi::{OsStr, OsString},
        hash::{BuildHasherDefault, DefaultHasher},
        path::{Path, PathBuf},
        sync::{Mutex, OnceLock, RwLock},
        thread::ThreadId,
        time::{Instant, SystemTime},
    };

    type Hasher = BuildHasherDefault<DefaultHasher>;

    fn borrowed<'a>(_: &'a ()) {
        all!(&'a Path, &'a OsStr, Cow<'a, Path>, Cow<'a, OsStr>);
    }
    borrowed(&());
    all!(
        OsStr,
        OsString,
        Path,
        PathBuf,
        Box<Path>,
        Instant,
        SystemTime,
        ThreadId
    );
    all!(HashMap<Key, Aware>, HashMap<Key, Aware, Hasher>, HashSet<Key>, HashSet<Key, Hasher>);
    all!(
        Mutex<Aware>,
        Mutex<[Aware]>,
        RwLock<Aware>,
        RwLock<[Aware]>,
        OnceLock<Aware>
    );
}
