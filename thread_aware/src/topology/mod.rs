//! What the machine looks like, as far as this process may use it (feature `threads`).
//!
//! [`Topology`] answers which physical cores, sibling processors, shared caches and memory nodes
//! there are, how far two processors are apart, which processors the process is allowed to use,
//! and how much processor time its control group grants. The answers come from the kernel's files
//! under `/sys` and from the affinity mask; [`Source`] lets them be read from a recorded tree, and
//! with feature `hwloc` from libhwloc.

mod cgroup;
mod core;
mod description;
mod error;
mod files;
#[cfg(feature = "hwloc")]
mod hwloc;
mod ids;
mod machine;
mod source;
mod sysfs;

pub use self::core::{Core, Distance, Origin, Processor};
pub use error::{Fault, TopologyError};
pub use ids::{CoreId, L3Id, NodeId, ProcessorId, SocketId};
pub use machine::Topology;
pub use source::Source;
