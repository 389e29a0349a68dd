//! Our `Arc` in the rows of relocations.

use corelane_bench_harness::{Entry, Relocating, Value, relocating_entries};
use thread_aware::{
    Arc, PerCore, ThreadAware,
    affinity::{Affinity, pinned_affinities},
};

use crate::WHO;

pub(crate) fn entries() -> Vec<Entry> {
    relocating_entries::<Handle>(WHO)
}

#[derive(Clone)]
struct Handle(Arc<Value, PerCore>);

impl Relocating for Handle {
    type Place = Affinity;
    const MAKES_ONCE: bool = true;

    fn places(count: usize) -> Vec<Affinity> {
        pinned_affinities(&[count])
    }

    fn make(make: fn() -> Value) -> Self {
        Self(Arc::new(make))
    }

    #[inline]
    fn relocate(&mut self, source: &Affinity, destination: &Affinity) {
        self.0.relocate(Some(*source), *destination);
    }

    #[inline]
    fn value(&self) -> &Value {
        &self.0
    }

    fn strong_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}
