//! A stream for code that polls with borrowed buffers (`futures::io`).

use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::net::TcpStream;

/// A [`TcpStream`] as `futures_io::AsyncRead` and `futures_io::AsyncWrite`, made by
/// [`TcpStream::compat`] or [`Compat::new`] (also around an `Rc<TcpStream>` or `&TcpStream`).
///
/// Bytes go straight between the socket and the borrowed buffer. One task reads and one writes at a
/// time through adapters of one stream: of two readers the last one's waker counts.
#[derive(Debug)]
pub struct Compat<S = TcpStream> {
    stream: S,
}

impl<S: AsRef<TcpStream>> Compat<S> {
    /// Wraps a stream.
    pub fn new(stream: S) -> Self {
        Self { stream }
    }

    /// Shows the stream.
    pub fn stream(&self) -> &TcpStream {
        self.stream.as_ref()
    }

    /// Gives the stream back.
    pub fn into_inner(self) -> S {
        self.stream
    }
}

impl<S: AsRef<TcpStream> + Unpin> futures_io::AsyncRead for Compat<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_read(cx, buf)
    }
}

impl<S: AsRef<TcpStream> + Unpin> futures_io::AsyncWrite for Compat<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A write that was reported has gone to the kernel.
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.stream().shutdown(Shutdown::Write))
    }
}
