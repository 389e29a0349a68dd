//! A program's allocator may spawn: here it does, at every allocation of a spawn.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use super::{spawn, yield_now};
use crate::settings::{Driver, Placement};
use crate::start::Runtime;

struct Spawning;

#[global_allocator]
static ALLOCATOR: Spawning = Spawning;

thread_local! {
    /// Whether this thread's allocations spawn. Taken back while one does.
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static SPAWNED: Cell<u64> = const { Cell::new(0) };
    static RAN: Cell<u64> = const { Cell::new(0) };
}

fn spawn_if_armed() {
    if ARMED.replace(false) {
        SPAWNED.set(SPAWNED.get() + 1);
        spawn(async { RAN.set(RAN.get() + 1) }).detach();
        ARMED.set(true);
    }
}

// SAFETY: Valid: the system's allocator does the work, with the same arguments. Exclusive: what it
// gives is the caller's alone; the spawn beside it has memory of its own.
unsafe impl GlobalAlloc for Spawning {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        spawn_if_armed();
        // SAFETY: As the caller vouches.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        spawn_if_armed();
        // SAFETY: As the caller vouches.
        unsafe { System.dealloc(block, layout) }
    }
}

/// More than two segments of a mailbox, and several times the first memory of the table.
const TASKS: u64 = 10_000;

#[test]
fn allocator_that_spawns_breaks_no_spawn() {
    for driver in [Driver::Epoll, Driver::Sim(1)] {
        SPAWNED.set(0);
        RAN.set(0);
        let sum = Runtime::builder()
            .placement(Placement::Unpinned(1))
            .driver(driver)
            .run(async || {
                let mut tasks = Vec::with_capacity(TASKS as usize);
                for number in 0..TASKS {
                    // Not each time: else one of two always finds the room that the other made.
                    ARMED.set(number % 3 != 0);
                    let task = spawn(async move {
                        yield_now().await;
                        number
                    });
                    ARMED.set(false);
                    tasks.push(task);
                }
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.unwrap();
                }
                sum
            });
        assert_eq!(sum.unwrap(), TASKS * (TASKS - 1) / 2);
        assert!(SPAWNED.get() > TASKS / 2, "the memory of most tasks is new");
        assert_eq!(RAN.get(), SPAWNED.get());
    }
}
