//! What is not served, and the errors that say so.

use std::error::Error;
use std::io::ErrorKind;
use std::net::TcpListener;

use corelane_net::{Limits, ServeError, Sharding, Tcp};

use super::support::echo;

/// The error of the operating system behind `error`.
fn kind(error: &ServeError) -> ErrorKind {
    let source = error.source().unwrap().downcast_ref::<std::io::Error>();
    source.unwrap().kind()
}

#[corelane::test]
async fn a_taken_port_is_refused_by_its_address() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let error = Tcp::bind(addr).serve(echo).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {addr}"));
    assert_eq!(kind(&error), ErrorKind::AddrInUse);
}

#[corelane::test]
async fn two_bindings_never_share_a_port() {
    let first = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let error = Tcp::bind(first.local_addr()).serve(echo).unwrap_err();
    assert_eq!(kind(&error), ErrorKind::AddrInUse);
}

#[corelane::test]
async fn an_address_of_another_machine_is_refused_by_its_name() {
    // TEST-NET-1 (RFC 5737): nobody has it.
    let error = Tcp::bind("192.0.2.1:80").serve(echo).unwrap_err();
    assert_eq!(error.to_string(), "cannot listen on 192.0.2.1:80");
    assert_eq!(kind(&error), ErrorKind::AddrNotAvailable);
}

#[corelane::test]
async fn text_without_an_address_is_refused() {
    let error = Tcp::bind("localhost").serve(echo).unwrap_err();
    assert!(matches!(error, ServeError::Address(_)), "{error}");
}

#[corelane::test]
async fn more_shards_than_there_are_cannot_serve() {
    for wanted in [0, 3, usize::MAX] {
        let tcp = Tcp::bind("127.0.0.1:0").shards(Sharding::Shards(wanted));
        let error = tcp.serve(echo).unwrap_err();
        let is_named = matches!(error, ServeError::Shards { wanted: w, shards: 2 } if w == wanted);
        assert!(is_named, "{error}");
    }
}

#[corelane::test]
async fn a_limit_of_zero_is_refused_by_its_name() {
    let limits = [
        ("connections_max", Limits::new().connections_max(0)),
        ("handoffs_max", Limits::new().handoffs_max(0)),
        ("backlog", Limits::new().backlog(0)),
    ];
    for (name, limits) in limits {
        let error = Tcp::bind("127.0.0.1:0").limits(limits).serve(echo);
        let error = error.unwrap_err();
        assert!(matches!(error, ServeError::Limit(limit) if limit == name));
    }
}

#[corelane::test(sim)]
async fn sockets_of_a_simulation_cannot_be_spread() {
    for sharding in [Sharding::Auto, Sharding::Shards(2)] {
        let error = Tcp::bind("127.0.0.1:0").shards(sharding).serve(echo);
        let error = error.unwrap_err();
        assert!(
            matches!(error, ServeError::Simulated { wanted: 2 }),
            "{error}"
        );
    }
}
