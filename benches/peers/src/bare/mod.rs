//! Bare loops, the limit to compare with, and the control of the round trips.
//!
//! A loop has no tasks, no timers and no futures: what a runtime adds is its distance to these.

mod adopt;
mod atomics;
mod epoll;
mod uring;
mod uring_echo;

pub(crate) use adopt::glommio_listener;

use corelane_bench_harness::Entry;

pub(crate) fn entries() -> Vec<Entry> {
    vec![
        Entry::round(
            ("lanes", "round_trip"),
            "control-atomics",
            atomics::round_trip,
        ),
        Entry::round(
            ("runtime", "submit_spin"),
            "control-atomics",
            atomics::round_trip,
        ),
        Entry::round(
            ("tcp", "echo_64b_c1_spin"),
            "bare-epoll",
            epoll::echo_c1_spin,
        ),
        Entry::round(
            ("tcp", "echo_64b_c1_spin"),
            "bare-io_uring",
            uring_echo::echo_c1_spin,
        ),
        Entry::round(
            ("tcp", "echo_64b_c1_park"),
            "bare-epoll",
            epoll::echo_c1_park,
        ),
        Entry::round(
            ("tcp", "echo_64b_c1_park"),
            "bare-io_uring",
            uring_echo::echo_c1_park,
        ),
        Entry::server("echo_64b_c64", "bare-epoll", epoll::serve),
        Entry::server("echo_64b_c64", "bare-io_uring", uring_echo::serve),
        Entry::server("echo_64b_c1000", "bare-epoll", epoll::serve),
        Entry::server("echo_64b_c1000", "bare-io_uring", uring_echo::serve),
        Entry::server("echo_16k_c64", "bare-epoll", epoll::serve),
        Entry::server("echo_16k_c64", "bare-io_uring", uring_echo::serve),
        Entry::server("accept_churn", "bare-epoll", epoll::serve),
        Entry::server("accept_churn", "bare-io_uring", uring_echo::serve),
    ]
}
