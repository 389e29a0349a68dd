//! The process's own mask is known also when a pin is the first thing that is asked for. The file
//! holds one test, since the answer is one a process.
#![cfg(feature = "threads")]

use std::thread;

use thread_aware::{
    registry::{original_mask, pin_current_thread},
    topology::ProcessorId,
};

#[test]
fn a_pin_remembers_the_mask_that_it_narrows() {
    let allowed = thread::available_parallelism()
        .expect("the system tells")
        .get();
    let asked_after_pinning = || {
        let pinned = (0..1024)
            .map(ProcessorId::new)
            .find(|&id| pin_current_thread(id).is_ok());
        (pinned, original_mask())
    };
    let (pinned, mask) = thread::spawn(asked_after_pinning)
        .join()
        .expect("it does not panic");
    let mask = mask.expect("the kernel tells");
    assert!(
        mask.len() >= allowed,
        "it is the mask before the pin: {mask:?}"
    );
    assert!(pinned.is_some_and(|id| mask.contains(&id)));
}
