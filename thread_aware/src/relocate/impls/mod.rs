//! `ThreadAware` for the types of core, alloc and std.

mod cells;
mod functions;
mod plain;
mod rebuilt;
mod sequences;
mod tuples;
mod wrappers;
