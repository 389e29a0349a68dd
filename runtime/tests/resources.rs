//! A runtime that ends gives back what it took, however much was in flight.
#![allow(clippy::unwrap_used)]

mod alone;

use std::alloc::System;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use alone::alone;
use corelane::net::{ListenOptions, TcpListener, TcpStream};
use corelane::task::yield_now;
use corelane::time::sleep;
use corelane::{Driver, Placement, Running, Runtime, spawn};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SHARDS: usize = 2;
/// Operations in flight when the runtime ends.
const OPERATIONS: usize = 10_000;
/// Descriptors for everything but streams.
const SPARE: u64 = 200;
/// Connections that are made between two looks at what has arrived.
const BACKLOG: u16 = 128;
/// 16 MiB a shard, so that a slab that stays is seen among the mappings.
const BUFFERS: u16 = 4096;
const SLAB_BYTES: u64 = BUFFERS as u64 * 4096;
/// Looks for a thread that has ended and is still listed.
const LOOKS_MAX: u32 = 1_000_000;

/// Allows as many streams as the machine does, and tells how many: the reads in flight.
fn streams_max() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let wanted = OPERATIONS as u64 + SPARE;
    let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = Rlimit {
        current: Some(most),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    let streams = usize::try_from(most - SPARE).unwrap();
    // Two streams a connection, the same on each shard.
    streams - streams % (2 * SHARDS)
}

/// What a process has.
#[derive(Debug, PartialEq, Eq)]
struct Resources {
    descriptors: usize,
    threads: usize,
    allocations: usize,
    allocated_bytes: usize,
    rings_mapped: usize,
}

impl Resources {
    fn now() -> Self {
        let entries = |of: &str| std::fs::read_dir(of).unwrap().count();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let rings_mapped = maps.matches("[io_uring]").count();
        let (descriptors, threads) = (entries("/proc/self/fd"), entries("/proc/self/task"));
        drop(maps);
        let stats = ALLOCATOR.stats();
        Self {
            descriptors,
            threads,
            allocations: stats.allocations - stats.deallocations,
            allocated_bytes: stats.bytes_allocated - stats.bytes_deallocated,
            rings_mapped,
        }
    }
}

/// Bytes of address space.
fn mapped_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096
}

/// Connects `streams / 2` times to itself and leaves a read on each end, and `sleeps` sleeps.
async fn fill(streams: usize, sleeps: usize) {
    let options = ListenOptions::new().backlog(BACKLOG);
    let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let addr = listener.local_addr().unwrap();
    let open = Rc::new(RefCell::new(Vec::new()));
    for _ in 0..streams / 2 {
        let client = TcpStream::connect(addr).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        open.borrow_mut().extend([client, server]);
    }
    for stream in open.take() {
        spawn(async move {
            let (read, _) = stream.read(Vec::with_capacity(64)).await;
            unreachable!("nobody sends: {read:?}");
        })
        .detach();
    }
    for _ in 0..sleeps {
        spawn(sleep(Duration::from_secs(3_600))).detach();
    }
    // Every task runs once, and what it started goes to the kernel.
    for _ in 0..OPERATIONS / 16 {
        yield_now().await;
    }
}

fn start(driver: Driver) -> Option<Running> {
    let started = Runtime::builder()
        .placement(Placement::Unpinned(SHARDS))
        .driver(driver)
        .receive_buffers(BUFFERS)
        .start();
    match started {
        Ok(running) => Some(running),
        Err(error) if driver == Driver::Uring => {
            eprintln!("this machine refuses io_uring: {error}");
            None
        }
        Err(error) => panic!("{driver:?} did not start: {error}"),
    }
}

/// Runs a runtime that ends with its operations in flight.
fn run(driver: Driver, streams: usize) -> bool {
    let Some(running) = start(driver) else {
        return false;
    };
    let (here, sleeps) = (streams / SHARDS, (OPERATIONS - streams) / SHARDS);
    let filled: Vec<_> = running
        .shards()
        .map(|shard| shard.submit(move || fill(here, sleeps)))
        .collect();
    for shard in filled {
        shard.wait().unwrap();
    }
    let shards = running.metrics().shards;
    let live: u64 = shards.iter().map(|shard| shard.tasks_live).sum();
    assert!(live >= OPERATIONS as u64, "{live} wait");
    let started: u64 = shards.iter().map(|shard| shard.driver_operations).sum();
    assert!(
        started >= streams as u64,
        "{started} operations of {streams} reads"
    );
    running.shutdown(Duration::ZERO).unwrap();
    true
}

// proves: RT-23
#[test]
fn shutdown_with_many_operations_in_flight_gives_everything_back() {
    alone(
        "shutdown_with_many_operations_in_flight_gives_everything_back",
        || {
            let streams = streams_max();
            for driver in [Driver::Uring, Driver::Epoll] {
                // The first one leaves what a process keeps: mailboxes, and what std and the
                // allocator make once.
                if !run(driver, streams) {
                    continue;
                }
                let threads = Resources::now().threads;
                let (before, mapped) = (Resources::now(), mapped_bytes());
                assert!(run(driver, streams));
                // A thread that was joined may be listed for a moment.
                for _ in 0..LOOKS_MAX {
                    if Resources::now().threads == threads {
                        break;
                    }
                    std::thread::yield_now();
                }
                assert_eq!(Resources::now(), before, "{driver:?}");
                let grown = mapped_bytes().saturating_sub(mapped);
                assert!(
                    grown < SLAB_BYTES,
                    "{driver:?}: {grown} bytes more are mapped"
                );
            }
        },
        |program| program.wait_with_output().unwrap(),
    );
}
