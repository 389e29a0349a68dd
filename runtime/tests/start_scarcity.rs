//! A runtime that finds no descriptors or no memory does not start, and leaves nothing.
#![allow(clippy::unwrap_used)]

mod alone;

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::Duration;

use alone::alone;
use corelane::{Builder, Driver, Placement, Running, Runtime, StartError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const SHARDS: usize = 2;
/// Descriptors with which two shards start on any driver: the sweep ends there.
const ENOUGH: u64 = 64;
/// Address space beyond what the process has: enough for threads, not for the receive buffers.
const SPARE_BYTES: u64 = 100 << 20;
/// Looks for a thread that has ended and is still listed.
const LOOKS_MAX: u32 = 1_000_000;

fn builder(driver: Driver) -> Builder {
    Runtime::builder()
        .placement(Placement::Unpinned(SHARDS))
        .driver(driver)
}

/// The drivers that start here, after one runtime on each: what a process keeps for ever is there.
fn warm() -> Vec<Driver> {
    let mut drivers = vec![Driver::Auto, Driver::Epoll];
    match builder(Driver::Uring).start() {
        Ok(running) => {
            end(running);
            drivers.push(Driver::Uring);
        }
        Err(error) => eprintln!("this machine refuses io_uring: {error}"),
    }
    for &driver in &drivers {
        end(builder(driver).start().unwrap());
    }
    drivers
}

fn end(running: Running) {
    running.shutdown(Duration::ZERO).unwrap();
}

fn entries(of: &str) -> usize {
    std::fs::read_dir(of).unwrap().count()
}

fn descriptors() -> usize {
    entries("/proc/self/fd")
}

/// Waits until the process has `threads` threads: one that was joined may be listed for a moment.
fn assert_threads(threads: usize) {
    for _ in 0..LOOKS_MAX {
        if entries("/proc/self/task") == threads {
            return;
        }
        std::thread::yield_now();
    }
    panic!("{} threads, not {threads}", entries("/proc/self/task"));
}

/// Runs `body` while `resource` is limited to `most`.
fn limited<R>(resource: Resource, most: u64, body: impl FnOnce() -> R) -> R {
    let before = getrlimit(resource);
    let limit = Rlimit {
        current: Some(most),
        maximum: before.maximum,
    };
    setrlimit(resource, limit).unwrap();
    let result = body();
    setrlimit(resource, before).unwrap();
    result
}

// proves: RT-25
#[test]
fn start_with_few_descriptors_works_or_fails_and_leaves_nothing() {
    alone(
        "start_with_few_descriptors_works_or_fails_and_leaves_nothing",
        || {
            for driver in warm() {
                let (fds, threads) = (descriptors(), entries("/proc/self/task"));
                let lowest = File::open("/dev/null").unwrap().as_raw_fd() as u64;
                let mut refused = 0;
                for room in 0..=ENOUGH {
                    let start = || builder(driver).start();
                    match limited(Resource::Nofile, lowest + room, start) {
                        Ok(running) => end(running),
                        Err(StartError::Driver { .. } | StartError::Shard { .. }) => refused += 1,
                        // Without any descriptor nothing can be read.
                        Err(StartError::Topology(_)) if room == 0 => refused += 1,
                        Err(error) => panic!("{driver:?} with {room} descriptors: {error:?}"),
                    }
                    assert_eq!(descriptors(), fds, "{driver:?} with {room} descriptors");
                    assert_threads(threads);
                }
                assert!((1..=ENOUGH).contains(&refused), "{driver:?}: {refused}");
            }
        },
        |program| program.wait_with_output().unwrap(),
    );
}

/// Bytes of address space that the process has now.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

// proves: RT-25
#[test]
fn start_without_memory_for_its_buffers_fails_and_leaves_nothing() {
    alone(
        "start_without_memory_for_its_buffers_fails_and_leaves_nothing",
        || {
            for driver in warm() {
                let (fds, threads) = (descriptors(), entries("/proc/self/task"));
                // 128 MiB a shard.
                let start = || builder(driver).receive_buffers(1 << 15).start();
                let most = address_space() + SPARE_BYTES;
                let refused = limited(Resource::As, most, start).unwrap_err();
                assert!(
                    matches!(refused, StartError::Driver { .. }),
                    "{driver:?}: {refused:?}"
                );
                assert_eq!(descriptors(), fds, "{driver:?}");
                assert_threads(threads);
                // With memory it starts.
                end(builder(driver).receive_buffers(1 << 15).start().unwrap());
                assert_threads(threads);
            }
        },
        |program| program.wait_with_output().unwrap(),
    );
}
