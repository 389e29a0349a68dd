//! A bound on every fact.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::hosts::Host;

/// A fact that takes longer has lost a wake: the slowest takes a few seconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `fact` on `host`, on a thread of its own that is left behind if it does not end.
pub(crate) fn run<H: Host>(host: H, fact: fn(&H)) {
    let (end, ended) = channel();
    let running = thread::spawn(move || {
        host.run(fact);
        // Dropped when the fact panics, sent when it holds.
        end.send(()).expect("the test waits for this word");
    });
    match ended.recv_timeout(PATIENCE) {
        Ok(()) => {}
        Err(RecvTimeoutError::Timeout) => panic!("no end after {PATIENCE:?}: a wake was lost"),
        Err(RecvTimeoutError::Disconnected) => match running.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => unreachable!("the word is sent last"),
        },
    }
}
