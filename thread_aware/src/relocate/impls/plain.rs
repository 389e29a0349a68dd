//! Types without anything inside that could belong to a core: relocating them does nothing.

use alloc::{ffi::CString, string::String};
use core::{
    any::TypeId,
    cmp::Ordering,
    convert::Infallible,
    ffi::CStr,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
    num::NonZero,
    ops::RangeFull,
    time::Duration,
};

use crate::{
    ThreadAware,
    affinity::{Affinity, TopologyId},
    sync::plain as atomic,
};

/// Implements the trait for types whose relocation does nothing.
macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::ThreadAware for $type {
            #[inline]
            fn relocate(
                &mut self,
                _: Option<$crate::affinity::Affinity>,
                _: $crate::affinity::Affinity,
            ) {}
        }
    )*};
}
#[cfg(any(
    feature = "bytes",
    feature = "http",
    feature = "jiff02",
    feature = "uuid"
))]
pub(super) use plain;

/// References to what can never belong to a core are as plain as it is.
macro_rules! borrowed {
    ($($type:ty),* $(,)?) => {$(
        plain!($type);

        impl ThreadAware for &$type {
            #[inline]
            fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
        }
    )*};
}

macro_rules! integers {
    ($($type:ty),*) => { plain!($($type, NonZero<$type>),*); };
}

macro_rules! atomics {
    ($($width:literal: $($name:ident),*;)*) => {$($(
        #[cfg(target_has_atomic = $width)]
        plain!(atomic::$name);
    )*)*};
}

integers!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);
plain!(f32, f64, bool, char, String, CString);
borrowed!(str, CStr);
plain!(
    IpAddr,
    Ipv4Addr,
    Ipv6Addr,
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    Duration
);
plain!(
    RangeFull, Ordering, TypeId, Infallible, Affinity, TopologyId
);

#[cfg(feature = "std")]
plain!(
    std::ffi::OsString,
    std::path::PathBuf,
    std::thread::ThreadId,
    std::time::Instant,
    std::time::SystemTime,
);
#[cfg(feature = "std")]
borrowed!(std::ffi::OsStr, std::path::Path);

atomics! {
    "8": AtomicBool, AtomicU8, AtomicI8;
    "16": AtomicU16, AtomicI16;
    "32": AtomicU32, AtomicI32;
    "64": AtomicU64, AtomicI64;
    "ptr": AtomicUsize, AtomicIsize;
}

/// The pointer stays; what it points to is the business of whoever gives it a meaning.
#[cfg(target_has_atomic = "ptr")]
impl<T> ThreadAware for atomic::AtomicPtr<T> {
    #[inline]
    fn relocate(&mut self, _: Option<Affinity>, _: Affinity) {}
}
