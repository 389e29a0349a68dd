//! Values without parts are thread-aware, and a relocation leaves them as they are.
#![cfg(feature = "std")]

use std::{
    collections::HashMap,
    ffi::{CStr, CString, OsStr, OsString},
    fmt::Debug,
    marker::PhantomData,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    num::NonZero,
    path::{Path, PathBuf},
    sync::atomic::{self, Ordering},
    time::{Duration, Instant, SystemTime},
};

use thread_aware::{
    ThreadAware,
    affinity::{current, pinned_affinities},
};

/// Relocates a clone in every direction and finds it equal to what it was.
fn stays<T: ThreadAware + Clone + PartialEq + Debug>(value: T) {
    let cores = pinned_affinities(&[1, 1]);
    let mut moved = value.clone();
    moved.relocate(None, cores[0]);
    moved.relocate(Some(cores[0]), cores[1]);
    moved.relocate(Some(cores[1]), current());
    assert_eq!(moved, value);
}

fn is_aware<T: ThreadAware + ?Sized>() {}

#[test]
fn numbers_stay_at_their_extremes() {
    macro_rules! check {
        ($($type:ty),*) => {$(
            stays(<$type>::MIN);
            stays(<$type>::MAX);
            stays(NonZero::new(<$type>::MAX));
        )*};
    }
    check!(
        u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
    );
    stays(f32::MIN_POSITIVE);
    stays(f64::NEG_INFINITY);
}

#[test]
fn text_paths_addresses_and_times_stay() {
    stays((true, 'ß', String::from("text"), "static"));
    stays((
        OsString::from("os"),
        PathBuf::from("/a/b"),
        CString::from(c"c"),
    ));
    stays((Box::<str>::from("b"), Box::<Path>::from(Path::new("p"))));
    stays((Box::<OsStr>::from(OsStr::new("o")), Box::<CStr>::from(c"c")));
    stays((
        IpAddr::from([127, 0, 0, 1]),
        Ipv4Addr::BROADCAST,
        Ipv6Addr::LOCALHOST,
    ));
    let (v4, v6) = (
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80),
        SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 1, 2),
    );
    stays((SocketAddr::from(v4), v4, v6));
    stays((Duration::MAX, Instant::now(), SystemTime::UNIX_EPOCH));
    stays((.., std::cmp::Ordering::Less, PhantomData::<String>));
    stays((current(), current().topology()));
}

#[test]
fn function_pointers_stay_callable() {
    let mut none: fn() -> u8 = || 7;
    let mut two: fn(u8, u8) -> u8 = |a, b| a + b;
    none.relocate(None, current());
    two.relocate(None, current());
    assert_eq!((none(), two(3, 4)), (7, 7));
    is_aware::<unsafe fn(u8) -> u8>();
    is_aware::<extern "C" fn(u8)>();
    is_aware::<unsafe extern "C" fn()>();
    is_aware::<fn(u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8) -> String>();
}

#[test]
fn atomics_keep_their_value() {
    macro_rules! check {
        ($($type:ident: $value:expr),*) => {$(
            let mut value = atomic::$type::new($value);
            value.relocate(None, current());
            assert_eq!(value.load(Ordering::Relaxed), $value);
        )*};
    }
    check!(AtomicBool: true, AtomicU8: u8::MAX, AtomicI8: i8::MIN, AtomicU16: u16::MAX);
    check!(AtomicI16: i16::MIN, AtomicU32: u32::MAX, AtomicI32: i32::MIN, AtomicU64: u64::MAX);
    check!(AtomicI64: i64::MIN, AtomicUsize: usize::MAX, AtomicIsize: isize::MIN);
    let mut target = 5;
    let pointer: *mut i32 = &mut target;
    check!(AtomicPtr: pointer);
}

#[test]
fn unsized_values_and_deep_types_are_aware() {
    is_aware::<str>();
    is_aware::<Path>();
    is_aware::<[String]>();
    is_aware::<dyn ThreadAware>();
    is_aware::<HashMap<(u8, String), Vec<Option<Box<[PathBuf; 3]>>>>>();
}
