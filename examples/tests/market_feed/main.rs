//! The service as its users run it: the built program, its files, its sockets and its status.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    reason = "what the tests share may panic as they do"
)]

mod bad_input;
mod clients;
mod control;
mod flows;
mod listening;
mod overload;
mod program;
mod replay;
mod report;
mod scratch;
mod serving;
mod signals;
mod sweep;
mod texts;
