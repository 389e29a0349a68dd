//! Wall and processor time, memory, threads, context switches and allocations of one measured
//! stretch.
//!
//! Processor time is `CLOCK_PROCESS_CPUTIME_ID`, which counts every thread of the process in
//! nanoseconds, so that a side which spins pays for it in its row.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::BenchError;

static ALLOCATED_BYTES: OnceLock<fn() -> u64> = OnceLock::new();

/// Tells the meters how to read the bytes allocated so far; the counting twins call it first in
/// `main`.
///
/// The timed twins leave it out: counting costs two shared writes an allocation.
pub fn count_allocations_by(allocated_bytes: fn() -> u64) {
    // A second call would name the same allocator, since a binary has one.
    ALLOCATED_BYTES.get_or_init(|| allocated_bytes);
}

/// The monotonic clock in nanoseconds.
pub fn clock_ns() -> u64 {
    read_clock(ClockId::Monotonic)
}

/// Processor time of another process, in nanoseconds.
///
/// # Errors
///
/// [`BenchError::Io`] when there is no such process.
pub fn process_cpu_ns(process: u32) -> Result<u64, BenchError> {
    let process = nix::unistd::Pid::from_raw(process as i32);
    let time = nix::time::clock_getcpuclockid(process)
        .and_then(nix::time::clock_gettime)
        .map_err(|errno| BenchError::io("read a process's clock")(errno.into()))?;
    Ok(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Has the system book what another thread of this process has run so far.
///
/// It books a thread's time at its switches and ticks, so the process's clock alone lags by what
/// threads on other cores have run since, and a short stretch would be told what they did before.
pub(crate) fn book_thread(thread: nix::unistd::Pid) {
    // The number of a thread's processor clock, as the system call takes it.
    let clock = nix::time::ClockId::from_raw((!thread.as_raw() << 3) | 6);
    match nix::time::clock_gettime(clock) {
        Ok(_) | Err(_) => {} // one that has ended is booked
    }
}

fn read_clock(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The start of a measured stretch, or a cumulative reading of a server process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Meter {
    wall_ns: u64,
    cpu_ns: u64,
    allocated_bytes: Option<u64>,
    switches: u64,
}

impl Meter {
    /// Reads every clock and counter once.
    ///
    /// Costs about two microseconds, so a stretch should last a millisecond or more.
    pub fn start() -> Self {
        Self {
            switches: switches(),
            allocated_bytes: ALLOCATED_BYTES.get().map(|read| read()),
            cpu_ns: read_clock(ClockId::ProcessCPUTime),
            wall_ns: clock_ns(),
        }
    }

    /// Ends the stretch: what `ops` operations spent since the start.
    ///
    /// Call it while the threads of the round still live, so that they are counted.
    pub fn stop(self, ops: u64) -> Spent {
        let wall_ns = clock_ns();
        let cpu_ns = read_clock(ClockId::ProcessCPUTime);
        let allocated_bytes = ALLOCATED_BYTES.get().map(|read| read());
        Spent {
            ops,
            wall_ns: wall_ns - self.wall_ns,
            cpu_ns: cpu_ns - self.cpu_ns,
            allocated_bytes: allocated_bytes
                .zip(self.allocated_bytes)
                .map(|(end, start)| end - start),
            switches: switches() - self.switches,
            memory: Memory::read(),
        }
    }

    /// What lies between two readings of another process, which did `ops` operations.
    pub fn until(self, end: Self, ops: u64, peak_rss_kib: u64, threads: u64) -> Spent {
        Spent {
            ops,
            wall_ns: end.wall_ns - self.wall_ns,
            cpu_ns: end.cpu_ns - self.cpu_ns,
            allocated_bytes: end
                .allocated_bytes
                .zip(self.allocated_bytes)
                .map(|(end, start)| end - start),
            switches: end.switches - self.switches,
            memory: Memory {
                peak_rss_kib,
                threads,
            },
        }
    }
}

/// Peak resident memory and threads of this process.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) peak_rss_kib: u64,
    pub(crate) threads: u64,
}

impl Memory {
    /// Reads `/proc/self/status`; getrusage keeps the peak of the image before `exec`.
    pub(crate) fn read() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Self {
            peak_rss_kib: field("VmHWM:").unwrap_or_default(),
            threads: field("Threads:").unwrap_or_default(),
        }
    }
}

fn switches() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("getrusage of the own process cannot fail");
    let both = usage.voluntary_context_switches() + usage.involuntary_context_switches();
    both as u64
}

/// What a measured stretch spent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// Operations done.
    pub ops: u64,
    /// Wall time.
    pub wall_ns: u64,
    /// Processor time of the whole process.
    pub cpu_ns: u64,
    allocated_bytes: Option<u64>,
    switches: u64,
    memory: Memory,
}

impl Spent {
    /// What another process says and its clocks say; peak memory and threads are unknown.
    pub fn of_other(ops: u64, wall_ns: u64, cpu_ns: u64) -> Self {
        Self {
            ops,
            wall_ns,
            cpu_ns,
            ..Self::default()
        }
    }

    /// Adds a further stretch; what lies between the two is in neither.
    pub fn add(&mut self, other: &Self) {
        self.ops += other.ops;
        self.wall_ns += other.wall_ns;
        self.cpu_ns += other.cpu_ns;
        if let Some(bytes) = other.allocated_bytes {
            self.allocated_bytes = Some(self.allocated_bytes.unwrap_or_default() + bytes);
        }
        self.switches += other.switches;
        self.memory = other.memory;
    }

    /// A sample whose value is the wall time an operation, in nanoseconds.
    pub fn wall_sample(&self) -> Sample {
        self.sample(self.wall_ns as f64 / self.ops as f64)
    }

    /// A sample whose value is the processor time an operation, in nanoseconds.
    pub fn cpu_sample(&self) -> Sample {
        self.sample(self.cpu_ns as f64 / self.ops as f64)
    }

    /// A sample with a value of the row's own kind.
    pub fn sample(&self, value: f64) -> Sample {
        let ops = self.ops as f64;
        Sample {
            value,
            p50: None,
            p99: None,
            cpu_ns_per_op: Some(self.cpu_ns as f64 / ops),
            alloc_b_per_op: self.allocated_bytes.map(|bytes| bytes as f64 / ops),
            switches_per_op: self.switches as f64 / ops,
            peak_rss_kib: self.memory.peak_rss_kib,
            threads: self.memory.threads,
            extras: BTreeMap::new(),
            remark: None,
        }
    }
}

/// One measured round of one side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sample {
    /// The figure in the row's unit.
    pub value: f64,
    /// Median latency of single operations in the row's unit, where the row times them.
    pub p50: Option<f64>,
    /// 99th percentile of the same.
    pub p99: Option<f64>,
    /// Processor time an operation.
    pub cpu_ns_per_op: Option<f64>,
    /// Bytes allocated an operation; only counting twins know it.
    pub alloc_b_per_op: Option<f64>,
    /// Context switches an operation, voluntary and forced.
    pub switches_per_op: f64,
    /// Peak resident memory of the process so far.
    pub peak_rss_kib: u64,
    /// Threads of the process when the round ended.
    pub threads: u64,
    /// Further figures by name, such as requests a second or enters a request.
    pub extras: BTreeMap<String, f64>,
    /// What the side says of itself, such as the driver that it runs on.
    pub remark: Option<String>,
}

impl Sample {
    /// Adds the percentiles of single operations.
    #[must_use]
    pub fn with_latency(mut self, latency_ns: &Histogram<u64>) -> Self {
        self.p50 = Some(latency_ns.value_at_quantile(0.5) as f64);
        self.p99 = Some(latency_ns.value_at_quantile(0.99) as f64);
        self
    }

    /// Adds what the side says of itself.
    #[must_use]
    pub fn with_remark(mut self, remark: impl Into<String>) -> Self {
        self.remark = Some(remark.into());
        self
    }

    /// Adds a further figure.
    #[must_use]
    pub fn with_extra(mut self, name: &str, value: f64) -> Self {
        self.extras.insert(name.to_owned(), value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_counts_its_wall_and_processor_time() {
        let meter = Meter::start();
        let mut sum = 0_u64;
        while meter.stop(1).cpu_ns < 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        let spent = meter.stop(10);
        assert!(spent.cpu_ns >= 1_000_000);
        assert!(spent.wall_ns > 0);
        let sample = spent.cpu_sample();
        assert_eq!(sample.value, spent.cpu_ns as f64 / 10.0);
        assert_eq!(sample.alloc_b_per_op, None);
        assert!(sample.peak_rss_kib > 0);
        assert!(sample.threads >= 1);
    }
}
