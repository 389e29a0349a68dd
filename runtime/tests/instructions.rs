//! The instructions of a shard, looked at one by one: this program runs itself as a child and steps
//! through a part of it, as a debugger does.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

mod tracer;

use std::sync::atomic::{AtomicU64, Ordering};

use corelane::task::yield_now;
use corelane::{Driver, IdlePolicy, Placement, Runtime, StartError, spawn};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tracer::{MARK, mark, wait_for};

/// Steps after which the child is taken for lost.
const STEPS_MAX: u64 = 20_000_000;
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// What lies between two marks of the child.
#[derive(Debug, Default)]
struct Part {
    steps: u64,
    /// Addresses of instructions that lock memory: atomic read-modify-writes.
    locked: Vec<u64>,
}

/// Rounds of each part.
const ROUNDS: u64 = 3;

/// What the child does: the part under test, and one with a known number of locks.
async fn traced() {
    let part = async || {
        for number in 0..ROUNDS {
            let task = spawn(async move {
                yield_now().await;
                number
            });
            assert_eq!(task.await.unwrap(), number);
        }
    };
    // The first time allocates, and resolves symbols.
    part().await;
    tracer::begin();
    let control = AtomicU64::new(0);
    mark();
    part().await;
    mark();
    for _ in 0..ROUNDS {
        control.fetch_add(1, Ordering::Relaxed);
    }
    mark();
    assert_eq!(control.into_inner(), ROUNDS);
}

/// Whether the instruction at the start of `code` locks memory.
fn locks(code: [u8; 8]) -> bool {
    let mut bytes = code.into_iter();
    let mut byte = bytes.next();
    loop {
        match byte {
            Some(0xf0) => return true,
            Some(0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf2 | 0xf3 | 0x40..=0x4f) => {
                byte = bytes.next();
            }
            // An exchange with memory locks without a prefix.
            Some(0x86 | 0x87) => return bytes.next().is_some_and(|operands| operands < 0xc0),
            _ => return false,
        }
    }
}

/// Steps through the child from its first mark to its third.
fn parts(thread: Pid) -> [Part; 2] {
    let mut parts = [Part::default(), Part::default()];
    let mut marks = 0;
    for _ in 0..STEPS_MAX {
        let registers = ptrace::getregs(thread).unwrap();
        let code = ptrace::read(thread, registers.rip as ptrace::AddressType).unwrap();
        let code = code.to_ne_bytes();
        if code.starts_with(&SYSCALL) && registers.rax == MARK {
            marks += 1;
            if marks > parts.len() {
                return parts;
            }
        } else if marks > 0 {
            let part = &mut parts[marks - 1];
            part.steps += 1;
            if locks(code) {
                part.locked.push(registers.rip);
            }
        }
        ptrace::step(thread, None).unwrap();
        assert_eq!(wait_for(thread), Signal::SIGTRAP);
    }
    panic!("the child does not come to its marks");
}

// proves: RT-2
#[test]
fn spawns_and_wakes_of_a_shard_lock_no_memory() {
    let start = |driver| {
        Runtime::builder()
            .placement(Placement::Unpinned(1))
            .idle(IdlePolicy::Spin)
            .driver(driver)
    };
    if let Some(driver) = tracer::child() {
        let driver = if driver == "uring" {
            Driver::Uring
        } else {
            Driver::Epoll
        };
        return start(driver).run(traced).unwrap();
    }
    for (name, driver) in [("uring", Driver::Uring), ("epoll", Driver::Epoll)] {
        match start(driver).run(async || ()) {
            Ok(()) => {}
            Err(StartError::Driver { .. }) if driver == Driver::Uring => continue,
            Err(error) => panic!("{name} did not start: {error}"),
        }
        let test = "spawns_and_wakes_of_a_shard_lock_no_memory";
        let Some(([part, control], _)) = tracer::look(test, name, parts) else {
            return;
        };
        let locked = control.locked.len() as u64;
        assert_eq!(locked, ROUNDS, "what locks is seen: {control:?}");
        assert!(part.steps > 1_000, "{part:?}");
        assert_eq!(part.locked, [], "on {name}, of {} steps", part.steps);
    }
}
