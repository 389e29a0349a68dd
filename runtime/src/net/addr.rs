//! What a socket address can be given as.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Something that is a socket address: one of std's types, an address with a port, or text like
/// `127.0.0.1:80` or `[::1]:80`.
///
/// A host name is none of them: looking it up blocks the thread, so it is the caller's to do
/// elsewhere (`std::net::ToSocketAddrs`).
///
/// # Example
///
/// ```
/// use corelane::net::ToAddr;
/// assert_eq!("[::1]:80".to_addr()?, ([0_u16, 0, 0, 0, 0, 0, 0, 1], 80).into());
/// assert!("localhost:80".to_addr().is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ToAddr {
    /// The address.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when it is text that is not an address with a port.
    fn to_addr(&self) -> io::Result<SocketAddr>;
}

macro_rules! addresses {
    ($($type:ty),* $(,)?) => {$(
        impl ToAddr for $type {
            fn to_addr(&self) -> io::Result<SocketAddr> {
                Ok(SocketAddr::from(*self))
            }
        }
    )*};
}

addresses!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16),
    ([u8; 4], u16),
);

impl ToAddr for str {
    fn to_addr(&self) -> io::Result<SocketAddr> {
        self.parse()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

impl ToAddr for String {
    fn to_addr(&self) -> io::Result<SocketAddr> {
        self.as_str().to_addr()
    }
}

impl<T: ToAddr + ?Sized> ToAddr for &T {
    fn to_addr(&self) -> io::Result<SocketAddr> {
        (**self).to_addr()
    }
}
