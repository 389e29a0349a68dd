//! Feature `threads`: reading topologies of machines whose files are written for the test, the
//! affinities of their processors, and pinning on the machine that the tests run on.
#![cfg(feature = "threads")]

mod affinities;
#[cfg(feature = "hwloc")]
mod by_hwloc;
mod of_hostile_files;
mod of_machines;
mod of_unusual_machines;
mod threads_are_pinned;
mod tree;
mod within_control_groups;
