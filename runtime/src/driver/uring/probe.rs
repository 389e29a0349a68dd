//! Tries multishot accept, multishot receive with provided buffers, and ring messages once, on a
//! ring of its own.
//!
//! The opcodes are older than these ways of using them, so asking the kernel for its opcodes tells
//! nothing. A probe that fails in any way means "not here": the driver has an older way for each.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use io_uring::cqueue::{buffer_select, more};
use io_uring::squeue::Entry;
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};

use super::bufring::BufferRing;
use super::setup::{Setup, UringFeatures, Wanted};

/// No probe waits longer: each completes at once where it is known.
const WAIT: Duration = Duration::from_millis(200);
const ENTRIES: u32 = 8;
const GROUP: u16 = 0;
const BUFFER_BYTES: usize = 64;

/// Sets what works here.
pub(super) fn run(wanted: Wanted, features: &mut UringFeatures) {
    let setup = features.setup;
    features.multishot_accept = wanted.multishot_accept && works(setup, multishot_accept);
    features.multishot_receive = wanted.multishot_receive && works(setup, multishot_receive);
    // Before deferred completions a message to a busy ring could need a kernel worker: the eventfd
    // is better then.
    features.msg_ring =
        wanted.msg_ring && setup >= Setup::DeferTaskrun && works(setup, ring_message);
}

fn works(setup: Setup, probe: fn(&mut IoUring) -> io::Result<bool>) -> bool {
    let tried = setup.build(ENTRIES).and_then(|mut ring| probe(&mut ring));
    tried.unwrap_or(false)
}

fn multishot_accept(ring: &mut IoUring) -> io::Result<bool> {
    let kind = SocketType::STREAM;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listening = SocketFlags::CLOEXEC;
    let listener = rustix::net::socket_with(AddressFamily::UNIX, kind, listening, None)?;
    rustix::net::bind(&listener, &SocketAddrUnix::new_unnamed())?;
    rustix::net::listen(&listener, 4)?;
    let address = rustix::net::getsockname(&listener)?;
    let accept = opcode::AcceptMulti::new(Fd(listener.as_raw_fd()));
    submit(ring, &accept.build())?;
    let peer = rustix::net::socket_with(AddressFamily::UNIX, kind, flags, None)?;
    rustix::net::connect(&peer, &address)?;
    let Some(entry) = wait(ring)? else {
        return Ok(false);
    };
    if entry.result() < 0 {
        return Ok(false);
    }
    // SAFETY: Valid: a successful accept hands over an open descriptor. Exclusive: this completion
    // alone names it.
    drop(unsafe { OwnedFd::from_raw_fd(entry.result()) });
    Ok(more(entry.flags()))
}

fn multishot_receive(ring: &mut IoUring) -> io::Result<bool> {
    let mut room = Box::new([[0_u8; BUFFER_BYTES]; 2]);
    let mut buffers = BufferRing::register(ring, GROUP, 2)?;
    for (id, buffer) in (0..).zip(&mut *room) {
        buffers.push(id, buffer.as_mut_ptr(), BUFFER_BYTES);
    }
    buffers.publish();
    let (near, far) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let received = receive(ring, near, far);
    if !matches!(received, Ok(true)) {
        // A receive that did not end as it should may still write.
        std::mem::forget(room);
    }
    received
}

/// Receives one byte, and waits for the end of the receive.
fn receive(ring: &mut IoUring, near: OwnedFd, far: OwnedFd) -> io::Result<bool> {
    let receive = opcode::RecvMulti::new(Fd(near.as_raw_fd()), GROUP);
    submit(ring, &receive.build())?;
    rustix::net::send(&far, b"x", SendFlags::empty())?;
    let first = wait(ring)?;
    let chunk = first
        .as_ref()
        .and_then(|entry| buffer_select(entry.flags()));
    let lives = first.is_some_and(|entry| entry.result() == 1 && more(entry.flags()));
    let works = lives && chunk.is_some_and(|id| id < 2);
    // The receive must be over before its buffers go: the peer's end ends it.
    drop(far);
    drop(near);
    while lives && wait(ring)?.is_some_and(|entry| more(entry.flags())) {}
    ring.submitter().unregister_buf_ring(GROUP)?;
    Ok(works)
}

fn ring_message(ring: &mut IoUring) -> io::Result<bool> {
    let message = opcode::MsgRingData::new(Fd(ring.as_raw_fd()), 0, 7, None);
    submit(ring, &message.build().user_data(8))?;
    let mut seen = [false; 2];
    for _ in 0..2 {
        match wait(ring)? {
            Some(entry) if entry.user_data() == 7 => seen[0] = true,
            Some(entry) if entry.user_data() == 8 => seen[1] = entry.result() >= 0,
            _ => return Ok(false),
        }
    }
    Ok(seen == [true, true])
}

fn submit(ring: &mut IoUring, entry: &Entry) -> io::Result<()> {
    // SAFETY: Valid: the probes' entries point at nothing but registered buffers, which outlive the
    // ring's use of them. Exclusive: the ring is borrowed mutably, so no other submission queue
    // exists.
    if unsafe { ring.submission().push(entry) }.is_err() {
        return Err(io::Error::from(io::ErrorKind::OutOfMemory));
    }
    ring.submit().map(drop)
}

/// The next completion, or `None` when none comes in time.
fn wait(ring: &mut IoUring) -> io::Result<Option<cqueue::Entry>> {
    if let Some(entry) = ring.completion().next() {
        return Ok(Some(entry));
    }
    let time = Timespec::from(WAIT);
    match ring
        .submitter()
        .submit_with_args(1, &SubmitArgs::new().timespec(&time))
    {
        Ok(_) => {}
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::TIME.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    Ok(ring.completion().next())
}
