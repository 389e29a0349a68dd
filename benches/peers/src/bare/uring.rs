//! A bare io_uring with a provided buffer ring: what the echo loop needs and no more.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, Fd};
use io_uring::{IoUring, cqueue, opcode, squeue};

use corelane_bench_harness::BenchError;

/// Submissions a turn at most; a full queue is submitted early.
const ENTRIES: u32 = 1_024;
/// Completions that may wait: more than all connections can have at once.
const COMPLETIONS: u32 = 8_192;
const GROUP: u16 = 0;
const MSG_WAITALL: i32 = 0x100;
const MSG_NOSIGNAL: i32 = 0x4000;
/// `IORING_ENTER_GETEVENTS`.
const ENTER_GETEVENTS: u32 = 1;

/// How a turn waits for completions.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    Park,
    Spin,
}

/// What a completion belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Accept,
    Receive(RawFd),
    Send(RawFd, u16),
}

impl Op {
    fn pack(self) -> u64 {
        match self {
            Self::Accept => 0,
            Self::Receive(fd) => (1 << 48) | fd as u64,
            Self::Send(fd, buffer) => (2 << 48) | (u64::from(buffer) << 32) | fd as u64,
        }
    }

    fn unpack(data: u64) -> Self {
        let (fd, buffer) = (data as u32 as RawFd, (data >> 32) as u16);
        match data >> 48 {
            0 => Self::Accept,
            1 => Self::Receive(fd),
            _ => Self::Send(fd, buffer),
        }
    }
}

/// A completion, decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) op: Op,
    pub(super) result: i32,
    /// The provided buffer that it filled.
    pub(super) buffer: Option<u16>,
    /// Whether the multishot operation stays armed.
    pub(super) more: bool,
}

#[repr(C, align(4096))]
#[derive(Clone)]
struct Page([u8; 4_096]);

/// The ring and its buffers.
pub(super) struct Ring {
    ring: IoUring,
    // Declared after `ring`: the kernel lets go of both when the ring is dropped.
    entries: Box<[Page]>,
    memory: Box<[u8]>,
    count: u16,
    bytes: usize,
    tail: u16,
}

impl Ring {
    /// Makes a ring with `count` (a power of two) provided buffers of `bytes` each.
    pub(super) fn new(count: u16, bytes: usize) -> Result<Self, BenchError> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)
            .map_err(BenchError::io("set up io_uring"))?;
        let table_bytes = usize::from(count) * size_of::<BufRingEntry>();
        let entries = vec![Page([0; 4_096]); table_bytes.div_ceil(4_096)].into_boxed_slice();
        let memory = vec![0; usize::from(count) * bytes].into_boxed_slice();
        let mut own = Self {
            ring,
            entries,
            memory,
            count,
            bytes,
            tail: 0,
        };
        let address = own.table() as u64;
        // SAFETY: Valid: the table is page-aligned, holds `count` entries and lives as long as the
        // ring. Exclusive: only `recycle` writes entries, and the kernel only reads up to the tail.
        unsafe {
            own.ring
                .submitter()
                .register_buf_ring_with_flags(address, count, GROUP, 0)
        }
        .map_err(BenchError::io("register a buffer ring"))?;
        for buffer in 0..count {
            own.recycle(buffer);
        }
        Ok(own)
    }

    fn table(&mut self) -> *mut BufRingEntry {
        self.entries.as_mut_ptr().cast()
    }

    /// Gives a buffer back to the kernel.
    pub(super) fn recycle(&mut self, buffer: u16) {
        let slot = usize::from(self.tail & (self.count - 1));
        let address = self.memory[usize::from(buffer) * self.bytes..].as_mut_ptr() as u64;
        let table = self.table();
        // SAFETY: Valid: `slot` is below `count`, within the table.
        let entry = unsafe { table.add(slot) };
        // SAFETY: Valid: as above, aligned and initialized. Exclusive: the kernel does not read
        // this entry until the tail passes it below.
        let entry = unsafe { &mut *entry };
        entry.set_addr(address);
        entry.set_len(self.bytes as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: Valid: the table starts with the entry that holds the tail.
        let tail = unsafe { BufRingEntry::tail(table) };
        // SAFETY: Valid: aligned, and it lives with the table; both sides use it as an atomic.
        let tail = unsafe { &*tail.cast::<AtomicU16>() };
        // Release: the kernel that sees this tail sees the entry.
        tail.store(self.tail, Ordering::Release);
    }

    /// The first `length` bytes of a buffer.
    pub(super) fn bytes(&self, buffer: u16, length: usize) -> &[u8] {
        let start = usize::from(buffer) * self.bytes;
        &self.memory[start..start + length]
    }

    pub(super) fn accept(&mut self, listener: RawFd) -> Result<(), BenchError> {
        let entry = opcode::AcceptMulti::new(Fd(listener)).build();
        self.push(entry.user_data(Op::Accept.pack()))
    }

    pub(super) fn receive(&mut self, fd: RawFd) -> Result<(), BenchError> {
        let entry = opcode::RecvMulti::new(Fd(fd), GROUP).build();
        self.push(entry.user_data(Op::Receive(fd).pack()))
    }

    /// Sends the first `length` bytes of a buffer whole, then completes once.
    pub(super) fn send(&mut self, fd: RawFd, buffer: u16, length: u32) -> Result<(), BenchError> {
        let start = self.memory[usize::from(buffer) * self.bytes..].as_ptr();
        let flags = MSG_WAITALL | MSG_NOSIGNAL;
        let entry = opcode::Send::new(Fd(fd), start, length)
            .flags(flags)
            .build();
        self.push(entry.user_data(Op::Send(fd, buffer).pack()))
    }

    fn push(&mut self, entry: squeue::Entry) -> Result<(), BenchError> {
        loop {
            // SAFETY: Valid: descriptors stay open and buffers stay in `memory` until their
            // completion. Exclusive: a buffer belongs to one operation at a time, since only
            // `recycle` gives it on.
            if unsafe { self.ring.submission().push(&entry) }.is_ok() {
                return Ok(());
            }
            self.ring.submit().map_err(BenchError::io("submit"))?;
        }
    }

    /// Submits, waits as told, and moves what has completed into `completions`.
    pub(super) fn turn(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), BenchError> {
        completions.clear();
        let entered = match wait {
            Wait::Park => self.ring.submit_and_wait(1),
            Wait::Spin => self.enter_now(),
        };
        match entered {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(BenchError::io("enter the ring")(error)),
        }
        completions.extend(self.ring.completion().map(|entry| decode(&entry)));
        Ok(())
    }

    /// Enters without waiting: deferred work runs only there.
    fn enter_now(&mut self) -> io::Result<usize> {
        let pending = self.ring.submission().len() as u32;
        // SAFETY: Valid: no signal mask is passed, and the queued entries were checked in `push`.
        unsafe {
            self.ring
                .submitter()
                .enter::<()>(pending, 0, ENTER_GETEVENTS, None)
        }
    }
}

fn decode(entry: &cqueue::Entry) -> Completion {
    Completion {
        op: Op::unpack(entry.user_data()),
        result: entry.result(),
        buffer: cqueue::buffer_select(entry.flags()),
        more: cqueue::more(entry.flags()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_survive_their_packing() {
        for op in [Op::Accept, Op::Receive(70_000), Op::Send(70_000, 65_535)] {
            assert_eq!(Op::unpack(op.pack()), op);
        }
    }
}
