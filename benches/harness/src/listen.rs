//! Listening and connecting sockets with the same options for every side.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind as bind_socket, listen, socket_with, sockopt,
};

use crate::BenchError;

/// Connections that may wait to be accepted; above any row's connections at a time.
const BACKLOG: i32 = 4_096;

/// Opens a loopback listener; `port` 0 lets the system choose, and listeners of one port share it.
///
/// # Errors
///
/// [`BenchError::Io`] when the system refuses.
pub fn bind(port: u16) -> Result<(TcpListener, SocketAddr), BenchError> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
        .map_err(BenchError::errno("open a listener"))?;
    sockopt::set_socket_reuseaddr(&socket, true).map_err(BenchError::errno("set SO_REUSEADDR"))?;
    sockopt::set_socket_reuseport(&socket, true).map_err(BenchError::errno("set SO_REUSEPORT"))?;
    bind_socket(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
        .map_err(BenchError::errno("bind a listener"))?;
    listen(&socket, BACKLOG).map_err(BenchError::errno("listen"))?;
    let listener = TcpListener::from(socket);
    let address = listener
        .local_addr()
        .map_err(BenchError::io("read the listener's address"))?;
    Ok((listener, address))
}

/// Connects to `address` with `TCP_NODELAY`, blocking.
///
/// # Errors
///
/// [`BenchError::Io`] when the system refuses.
pub fn connect(address: SocketAddr) -> Result<TcpStream, BenchError> {
    let stream = TcpStream::connect(address).map_err(BenchError::io("connect"))?;
    stream
        .set_nodelay(true)
        .map_err(BenchError::io("set TCP_NODELAY"))?;
    Ok(stream)
}
