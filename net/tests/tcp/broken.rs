//! A listener that breaks while it serves.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use corelane::time::timeout;
use corelane_net::Tcp;
use rustix::net::sockopt::socket_acceptconn;
use rustix::net::{Shutdown, getsockname, shutdown};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use super::support::{PATIENCE, ask, assert_whole, close_at_leisure, echo, served, until};

/// Another descriptor of this process's listener on `addr`.
fn listener_on(addr: SocketAddr) -> OwnedFd {
    let process = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap();
    let numbers = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut copies = numbers.filter_map(|number: i32| {
        // Other tests close theirs meanwhile.
        pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()
    });
    let found = copies.find(|copy| {
        let name = getsockname(copy).ok();
        let is_there = name.and_then(|name| SocketAddr::try_from(name).ok()) == Some(addr);
        is_there && socket_acceptconn(copy) == Ok(true)
    });
    found.unwrap()
}

#[corelane::test]
async fn a_listener_that_breaks_is_told_and_its_connections_go_on() {
    let mut binding = Tcp::bind("127.0.0.1:0").serve(echo).unwrap();
    let addr = binding.local_addr();
    let clients = [served(addr).await, served(addr).await];
    shutdown(listener_on(addr), Shutdown::Both).unwrap();
    let error = timeout(PATIENCE, binding.failed()).await.unwrap();
    let told = error.to_string();
    // It is told as often as it is asked for.
    assert_eq!(binding.failed().await.to_string(), told);
    for client in &clients {
        ask(client, vec![1; 1000]).await;
    }
    drop(clients);
    until(&binding, |total| total.finished == 2).await;
    assert_whole(close_at_leisure(&mut binding).await.total);
    assert_eq!(binding.failed().await.to_string(), told);
}
