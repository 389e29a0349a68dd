//! Numbers that name parts of a machine. Each kind is a type of its own, so that they never mix.

use core::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $word:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Makes the id out of its number; whether there is such a thing is found out where
            /// the id is used.
            #[must_use]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The number of the id.
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    )*};
}

ids! {
    /// A logical processor, by the kernel's number of it: what a thread is pinned to.
    ProcessorId, "processor";
    /// A physical core, by its place in
    /// [`Topology::physical_cores`](super::Topology::physical_cores).
    CoreId, "core";
    /// A memory node (NUMA node), by the kernel's number of it.
    NodeId, "node";
    /// A socket (physical package), by the kernel's number of it.
    SocketId, "socket";
    /// A group of processors that share a third-level cache, by the lowest processor in it.
    L3Id, "L3 group";
}
