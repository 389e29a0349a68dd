//! The system calls of a thread, one by one.

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::tracer::MARK;

/// Calls after which the child is taken for lost.
const CALLS_MAX: u64 = 2_000_000;

/// A call that the thread is about to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
}

/// Lets the thread run to the entry or the exit of a call.
fn go_on(thread: Pid) {
    let mut signal = None;
    loop {
        ptrace::syscall(thread, signal).unwrap();
        match waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::PtraceSyscall(_) => return,
            WaitStatus::Stopped(_, other) => signal = Some(other),
            other => panic!("the child does not stop: {other:?}"),
        }
    }
}

/// Looks at each call between the thread's first mark and its second. Where `refuse` gives an error
/// the call is not made: the thread gets that.
pub(crate) fn between_marks(thread: Pid, mut refuse: impl FnMut(Call) -> Option<Errno>) {
    ptrace::setoptions(thread, Options::PTRACE_O_TRACESYSGOOD).unwrap();
    let mut marks = 0;
    for _ in 0..CALLS_MAX {
        go_on(thread);
        let mut registers = ptrace::getregs(thread).unwrap();
        let call = Call {
            number: registers.orig_rax,
            arguments: [
                registers.rdi,
                registers.rsi,
                registers.rdx,
                registers.r10,
                registers.r8,
                registers.r9,
            ],
        };
        if call.number == MARK {
            marks += 1;
        }
        let refused = (marks == 1).then(|| refuse(call)).flatten();
        if refused.is_some() {
            // No such call: the kernel makes none.
            registers.orig_rax = u64::MAX;
            ptrace::setregs(thread, registers).unwrap();
        }
        go_on(thread);
        if let Some(errno) = refused {
            let mut registers = ptrace::getregs(thread).unwrap();
            registers.rax = i64::from(-(errno as i32)).cast_unsigned();
            ptrace::setregs(thread, registers).unwrap();
        }
        if marks == 2 {
            return;
        }
    }
    panic!("the child does not come to its marks");
}
