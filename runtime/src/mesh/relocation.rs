//! Calls with data that is told of its move.
//!
//! Rule: data is relocated once, by the task that carries the call out, on the target, outside of
//! every borrow of the shard's own: a relocation is the user's code, and its panic is the call's.

use thread_aware::ThreadAware;
use thread_aware::affinity::{self, Affinity};

use crate::shard::Context;

/// `call` with `data`, as a call that relocates `data` from `source` to where it is made.
pub(crate) fn relocating<D, F, Fut>(
    source: Option<Affinity>,
    mut data: D,
    call: F,
) -> impl FnOnce() -> Fut + Send + 'static
where
    D: ThreadAware + 'static,
    F: FnOnce(D) -> Fut + Send + 'static,
    Fut: 'static,
{
    move || {
        data.relocate(source, affinity::current());
        Context::with(|context| context.counters().relocations.add(1));
        call(data)
    }
}
