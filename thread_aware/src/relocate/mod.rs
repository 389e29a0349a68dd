//! Telling a value that it has moved.

mod impls;
mod thread_aware;

pub use thread_aware::ThreadAware;
