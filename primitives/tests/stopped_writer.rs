//! A writer that stands still in the middle of a set: readers and other writers go on.
//!
//! This program starts itself again as a child, and stops the child's writer as a debugger does:
//! after each instruction that locks memory, and at [`PLACES`] others. Each time another thread of
//! the child must set, read, take from its feed and close as if nobody else were there.
#![cfg(all(target_arch = "x86_64", not(corelane_loom)))]
#![allow(clippy::unwrap_used)]

use corelane_primitives::{Feed, NextError, Overflow, Signal, Subscription, TrySetError};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::process::parent_id;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

const CHILD: &str = "CORELANE_STOPPED_WRITER";
/// How many places, besides those behind a lock, the writer is stopped at.
const PLACES: usize = 10;
/// More rounds than there are places.
const ROUNDS_MAX: usize = 256;
/// Instructions after which a set is taken for endless.
const STEPS_MAX: usize = 1_000_000;
/// How long a round may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);
/// The call that marks the beginning of a set: nothing else in the writer asks for its parent.
const MARK: u64 = 110;
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// What the child works on: the set of the writer, and the round of the others.
struct Work {
    set: Box<dyn Fn() + Send + Sync>,
    round: Box<dyn FnMut(u64)>,
}

fn signal_work(name: &str) -> Option<Work> {
    macro_rules! work {
        ($signal:expr) => {{
            let signal = $signal;
            let mut feed = signal.changes();
            let writer = signal.clone();
            Work {
                set: Box::new(move || {
                    writer.set([7; 8]).unwrap();
                }),
                round: Box::new(move |number| {
                    signal.set([number; 8]).unwrap();
                    assert_eq!(signal.get_cloned(), [number; 8]);
                    assert_eq!(feed.try_next(), Ok([number; 8]));
                    assert_eq!(feed.try_next(), Err(NextError::Empty));
                    signal.update(|value| [value[0] + 1; 8]).unwrap();
                    assert_eq!(signal.changes().try_next(), Ok([number + 1; 8]));
                }),
            }
        }};
    }
    match name {
        "plain" => Some(work!(Signal::plain([0_u64; 8]))),
        "shared" => Some(work!(Signal::new([0_u64; 8]))),
        _ => None,
    }
}

fn take_all(feed: &mut Feed<u64>) -> Vec<u64> {
    std::iter::from_fn(|| feed.try_next().ok()).collect()
}

/// What the others do first while a writer stands still: whoever comes finishes its change.
#[derive(Clone, Copy, PartialEq)]
enum First {
    Set,
    Take,
    Close,
}

/// A subscription for each round, since a round closes it.
fn subscription_work(overflow: Overflow, first: First) -> Work {
    let subscriptions = Vec::from_iter((0..ROUNDS_MAX).map(|_| {
        let subscription = Subscription::new(0, 8, overflow);
        // The first changes allocate.
        for value in 1..=16 {
            assert!(subscription.changes().try_next().is_ok());
            subscription.try_set(value).unwrap();
        }
        subscription
    }));
    let feeds = Vec::from_iter(subscriptions.iter().map(|subscription| {
        let mut feed = subscription.changes();
        assert_eq!(feed.try_next(), Ok(16));
        feed
    }));
    let (writers, current) = (subscriptions.clone(), Arc::new(AtomicUsize::new(0)));
    let own = Arc::clone(&current);
    let mut rounds = subscriptions.into_iter().zip(feeds);
    Work {
        set: Box::new(move || {
            // Closed meanwhile, or at the end, when it runs on alone with nobody to make room.
            let answer = writers[own.load(Ordering::Relaxed)].try_set(7);
            assert!(!matches!(answer, Err(TrySetError::Busy(_))));
        }),
        round: Box::new(move |number| {
            let (subscription, feed) = rounds.next().unwrap();
            subscription_round(&subscription, feed, first, number);
            current.fetch_add(1, Ordering::Relaxed);
        }),
    }
}

fn subscription_round(
    subscription: &Subscription<u64>,
    mut feed: Feed<u64>,
    first: First,
    number: u64,
) {
    // What the writer has set before this round.
    let before = subscription.version().number();
    if first == First::Take {
        assert!(take_all(&mut feed).iter().all(|value| *value == 7));
    }
    let mut last = subscription.get_cloned();
    if first != First::Close {
        for value in [number, number + 1] {
            last = value;
            subscription.try_set(value).unwrap();
            assert_eq!(subscription.get_cloned(), value);
        }
        let taken = take_all(&mut feed);
        assert!(taken.ends_with(&[number, number + 1]), "{taken:?}");
        assert_eq!(subscription.version().number(), before + 2);
        assert_eq!(subscription.changes().try_next(), Ok(number + 1));
    }
    subscription.close();
    assert_eq!(subscription.try_set(9), Err(TrySetError::Closed(9)));
    let taken = take_all(&mut feed).len() as u64;
    let news = subscription.version().number() - 16;
    assert_eq!(taken, if first == First::Close { news } else { 0 });
    let stats = feed.stats();
    assert_eq!((stats.delivered, stats.dropped), (1 + news, 0));
    assert_eq!(feed.try_next(), Err(NextError::Closed));
    let mut late = subscription.changes();
    assert_eq!(
        (take_all(&mut late), subscription.get_cloned()),
        (vec![last], last)
    );
}

fn work(name: &str) -> Work {
    signal_work(name).unwrap_or_else(|| {
        let (overflow, first) = match name {
            "backpressure" => (Overflow::Backpressure, First::Set),
            "drop_new" => (Overflow::DropNew, First::Take),
            "drop_oldest" => (Overflow::DropOldest, First::Close),
            "fail" => (Overflow::Fail, First::Set),
            other => panic!("no work is named {other}"),
        };
        subscription_work(overflow, first)
    })
}

/// In the child: the writer sets until it is told to end, and this thread does a round for each
/// line that it reads.
fn child(name: &str) {
    let Work { set, mut round } = work(name);
    // The first time allocates, and resolves symbols.
    set();
    round(100);
    let (begins, ends) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            println!("\nwriter {}", gettid());
            while !begins.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            while !ends.load(Ordering::Relaxed) {
                assert_ne!(parent_id(), 0);
                set();
            }
        });
        let mut number = 1_000;
        for line in std::io::stdin().lines() {
            match line.unwrap().as_str() {
                "begin" => begins.store(true, Ordering::Release),
                "round" => {
                    number += 10;
                    round(number);
                    println!("done");
                }
                _ => break,
            }
        }
        ends.store(true, Ordering::Relaxed);
        begins.store(true, Ordering::Release);
    });
}

/// The child as its parent sees it.
struct Peer {
    input: ChildStdin,
    answers: Receiver<String>,
    rounds: usize,
}

impl Peer {
    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    fn round(&mut self, place: &str) {
        self.tell("round");
        self.rounds += 1;
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer = answer.unwrap_or_else(|_| panic!("a writer stopped {place} holds others up"));
        assert_eq!(answer, "done");
    }
}

fn forward(lines: Lines<impl BufRead + Send + 'static>) -> Receiver<String> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        // What the child says at its end is for nobody, and read all the same.
        let said: Vec<_> = lines.map(|line| sender.send(line.unwrap())).collect();
        drop(said);
    });
    answers
}

fn wait_for(thread: Pid) {
    match waitpid(thread, Some(WaitPidFlag::__WALL)).unwrap() {
        WaitStatus::Stopped(..) => {}
        other => panic!("the writer does not stop: {other:?}"),
    }
}

/// Whether the instruction at the start of `code` locks memory.
fn locks(code: [u8; 8]) -> bool {
    let prefixes = code.iter().take_while(|byte| {
        matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3 | 0x40..=0x4f)
    });
    let prefixes = prefixes.count();
    if code[..prefixes].contains(&0xf0) {
        return true;
    }
    // An exchange with memory locks without a prefix.
    match code[prefixes..] {
        [0x86 | 0x87, operands, ..] => operands < 0xc0,
        _ => false,
    }
}

/// What the writer does next.
enum Next {
    Mark,
    Lock,
    Other,
}

fn next(thread: Pid) -> Next {
    let registers = ptrace::getregs(thread).unwrap();
    let code = ptrace::read(thread, registers.rip as ptrace::AddressType).unwrap();
    let code = code.to_ne_bytes();
    if code.starts_with(&SYSCALL) && registers.rax == MARK {
        Next::Mark
    } else if locks(code) {
        Next::Lock
    } else {
        Next::Other
    }
}

fn step(thread: Pid) {
    ptrace::step(thread, None).unwrap();
    wait_for(thread);
}

/// Runs to the next mark, and over it.
fn run_to_mark(thread: Pid) {
    loop {
        ptrace::syscall(thread, None).unwrap();
        wait_for(thread);
        let registers = ptrace::getregs(thread).unwrap();
        // At its entry a call has no answer yet, which shows as ENOSYS.
        if registers.orig_rax == MARK && registers.rax as i64 == -i64::from(Errno::ENOSYS as i32) {
            break;
        }
    }
    ptrace::syscall(thread, None).unwrap();
    wait_for(thread);
}

/// Stops the writer behind the first instruction of its set that `is_place` says, and lets the
/// others have their round; `Err` with the length of the set if there is none.
fn stop_once(
    thread: Pid,
    peer: &mut Peer,
    mut is_place: impl FnMut(usize, &Next) -> bool,
) -> Result<(), usize> {
    run_to_mark(thread);
    for steps in 0..STEPS_MAX {
        let next = next(thread);
        if matches!(next, Next::Mark) {
            return Err(steps);
        }
        step(thread);
        if is_place(steps, &next) {
            peer.round(&format!("behind instruction {steps}"));
            return Ok(());
        }
    }
    panic!("a set does not end");
}

fn stop_everywhere(thread: Pid, peer: &mut Peer) {
    let mut locks = 0;
    let length = loop {
        let mut seen = 0;
        let stopped = stop_once(thread, peer, |_, next| {
            seen += usize::from(matches!(next, Next::Lock));
            seen > locks
        });
        match stopped {
            Ok(()) => locks += 1,
            Err(length) => break length,
        }
    };
    assert!(locks > 2, "a set locks memory");
    for place in 0..PLACES {
        // The last ones may find a set that is shorter than that one was.
        let place = place * length / PLACES;
        let _was_there = stop_once(thread, peer, |steps, _| steps >= place);
    }
}

fn watch(name: &str) {
    let test = "writer_that_stands_still_holds_up_nobody";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let thread = output.find_map(|line| line.unwrap().strip_prefix("writer ")?.parse().ok());
    let thread = Pid::from_raw(thread.unwrap());
    let mut peer = Peer {
        input: child.stdin.take().unwrap(),
        answers: forward(output),
        rounds: 0,
    };
    let attached = ptrace::attach(thread);
    if attached == Err(Errno::EPERM) {
        eprintln!("this system lets no program trace its child");
    } else {
        attached.unwrap();
        wait_for(thread);
        peer.tell("begin");
        stop_everywhere(thread, &mut peer);
        peer.tell("end");
        ptrace::detach(thread, None).unwrap();
        println!("{name}: stopped at {} places", peer.rounds);
    }
    drop(peer);
    assert!(child.wait().unwrap().success());
}

// proves: S-13
#[test]
fn writer_that_stands_still_holds_up_nobody() {
    if let Ok(name) = std::env::var(CHILD) {
        return child(&name);
    }
    for name in [
        "plain",
        "shared",
        "backpressure",
        "drop_new",
        "drop_oldest",
        "fail",
    ] {
        watch(name);
    }
}
