//! Polling an end until it sleeps.

use std::task::Poll;

/// Looks of an end by itself, after the last value and before it sleeps.
const LOOKS_MAX: usize = 16;

/// Polls until something comes or the end sleeps, since one that has just had values runs again by
/// itself for a while. Says also how many of its `rings` were its own.
pub(crate) fn settle<T>(
    rings: impl Fn() -> usize,
    mut poll: impl FnMut() -> Poll<T>,
) -> (Poll<T>, usize) {
    let before = rings();
    for own in 0..=LOOKS_MAX {
        let polled = poll();
        let rung = rings() - before;
        if polled.is_ready() || rung == own {
            assert_eq!(rung, own, "it sleeps, or says what came");
            return (polled, own);
        }
        assert_eq!(rung, own + 1, "once a look");
    }
    panic!("it never sleeps");
}
