//! The table of bound threads has a limit. A process of its own, since the table is the process's.
#![forbid(unsafe_code)]

use std::thread;

use newer::ThreadBuilder;
use thread_aware::{
    affinity::pinned_affinities,
    interop::{self, BINDINGS_MAX, BindError},
};

#[test]
fn threads_beyond_the_limit_are_refused_and_bound_ones_stay() {
    let (id, cores) = (thread::current().id(), pinned_affinities(&[2]));
    // Every host has threads of its own, also with equal ids.
    let threads: Vec<_> = (0..BINDINGS_MAX)
        .map(|_| ThreadBuilder::default().build(id))
        .collect();
    for (n, thread) in threads.iter().enumerate() {
        assert_eq!(interop::bind(thread, cores[n % 2]), Ok(()));
    }
    let further = ThreadBuilder::default().build(id);
    assert_eq!(interop::bind(&further, cores[0]), Err(BindError::Full));
    assert_eq!(interop::affinity_of(&further), None);
    assert_eq!(interop::bind(&threads[1], cores[1]), Ok(()), "it is bound");
    let all = threads.iter().enumerate();
    let found = all.filter(|(n, thread)| interop::affinity_of(thread) == Some(cores[n % 2]));
    assert_eq!(found.count(), BINDINGS_MAX);
}
