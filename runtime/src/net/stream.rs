//! A TCP connection.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::task::{Context as TaskContext, Poll, ready};

use super::{ToAddr, budget};
use crate::driver::net::Stream;
use crate::driver::transfer::Transfer;
use crate::io::{AsyncRead, AsyncReadExt, AsyncWrite, BufResult, Chunk, Compat, IoBuf, IoBufMut};
use crate::shard::Context;

/// A TCP connection of one shard.
///
/// All operations take `&self`, so one task can read while another writes: share it in an `Rc`, or
/// join both futures in one task. Several readers (or writers) at once are each served, in no given
/// order.
///
/// Small writes are sent at once (`TCP_NODELAY`) unless the listener or
/// [`set_nodelay`](TcpStream::set_nodelay) says otherwise. Dropping the stream closes it.
///
/// # Example
///
/// ```
/// use corelane::net::{TcpListener, TcpStream};
///
/// /// Sends everything back.
/// async fn echo(stream: TcpStream) -> std::io::Result<()> {
///     loop {
///         let chunk = stream.read_chunk().await?;
///         if chunk.is_empty() {
///             return Ok(());
///         }
///         stream.write_all(chunk).await.0?;
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// corelane::Runtime::builder().run(|| async {
///     let listener = TcpListener::bind("127.0.0.1:0")?;
///     let client = TcpStream::connect(listener.local_addr()?).await?;
///     let (server, _) = listener.accept().await?;
///     corelane::spawn(echo(server)).detach();
///     client.write_all("hello").await.0?;
///     let (read, hello) = client.read_exact(Box::new([0; 5])).await;
///     read?;
///     assert_eq!(&hello[..], b"hello");
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub struct TcpStream {
    inner: Stream,
}

impl TcpStream {
    pub(super) fn new(inner: Stream) -> Self {
        Self { inner }
    }

    /// Connects to `addr`.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for text that is no address; else what the kernel says: `ConnectionRefused`,
    /// `TimedOut`, `HostUnreachable`, or that descriptors, ports or memory have run out.
    ///
    /// # Cancel safety
    ///
    /// A dropped future gives the attempt up and closes the socket.
    ///
    /// # Panics
    ///
    /// Outside of a shard.
    pub async fn connect(addr: impl ToAddr) -> io::Result<Self> {
        let addr = addr.to_addr()?;
        let driver = Context::with(|context| context.driver().clone());
        Stream::connect(&driver, addr).await.map(Self::new)
    }

    /// Takes over a connected socket of std and sets it to blocking mode, which the drivers expect.
    ///
    /// # Errors
    ///
    /// What the kernel says; `Unsupported` in a simulation.
    ///
    /// # Panics
    ///
    /// Outside of a shard.
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        Context::with(|context| Stream::from_fd(context.driver(), stream.into())).map(Self::new)
    }

    /// Gives the socket away, in blocking mode: to another thread, or to another shard's
    /// [`from_std`](TcpStream::from_std).
    ///
    /// # Errors
    ///
    /// `Unsupported` in a simulation; `WouldBlock` while bytes that were received already would be
    /// lost: read them first.
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        self.inner.into_fd().map(std::net::TcpStream::from)
    }

    /// Reads what there is, at least a byte, to the start of `buf`, and tells how many bytes.
    ///
    /// `Ok(0)` is the end of the stream, or says that `buf` has no room. A `Vec` is read into up to
    /// its capacity, and its length is then what was read.
    ///
    /// # Errors
    ///
    /// What the kernel says, for example `ConnectionReset`; the buffer is as it was.
    ///
    /// # Cancel safety
    ///
    /// A dropped future takes no bytes: they stay for the next read. Its buffer is freed when
    /// nothing uses it any more.
    pub fn read<B: IoBufMut>(&self, buf: B) -> impl Future<Output = BufResult<usize, B>> {
        self.inner.read(buf)
    }

    /// Receives what there is into a buffer of the shard, without a copy. An empty chunk is the end
    /// of the stream.
    ///
    /// While the shard's buffers are all in use, this waits for one.
    ///
    /// # Errors
    ///
    /// What the kernel says, for example `ConnectionReset`.
    ///
    /// # Cancel safety
    ///
    /// A dropped future takes no bytes: they stay for the next read.
    pub async fn read_chunk(&self) -> io::Result<Chunk> {
        budget().await;
        self.inner.read_chunk().await
    }

    /// [`read_chunk`](TcpStream::read_chunk) for a future or stream of your own: `Pending` keeps
    /// the waker of the last caller, so one task polls a stream at a time.
    ///
    /// # Errors
    ///
    /// As [`read_chunk`](TcpStream::read_chunk).
    pub fn poll_read_chunk(&self, cx: &mut TaskContext<'_>) -> Poll<io::Result<Chunk>> {
        ready!(Context::poll_budget(cx));
        self.inner.poll_read_chunk(cx)
    }

    /// Reads until `buf` is full, as [`AsyncReadExt::read_exact`].
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` when the stream ends first, else what the kernel says.
    ///
    /// # Cancel safety
    ///
    /// None: a dropped future takes the bytes with it that it has read.
    pub async fn read_exact<B: IoBufMut>(&self, buf: B) -> BufResult<(), B> {
        AsyncReadExt::read_exact(&mut &*self, buf).await
    }

    /// Writes some bytes of `buf`, from its start, and tells how many: those that the socket had
    /// room for, at least one. `Ok(0)` says that `buf` holds no bytes.
    ///
    /// # Errors
    ///
    /// What the kernel says: `BrokenPipe` when the peer or this side ended the direction,
    /// `ConnectionReset`.
    ///
    /// # Cancel safety
    ///
    /// On a future that is dropped before it was ready, whether bytes were written is not known
    /// with the `uring` driver; with `epoll` none were.
    pub fn write<B: IoBuf>(&self, buf: B) -> impl Future<Output = BufResult<usize, B>> {
        self.inner.write(buf)
    }

    /// Writes all bytes of `buf`, as
    /// [`AsyncWriteExt::write_all`](crate::io::AsyncWriteExt::write_all).
    ///
    /// # Errors
    ///
    /// As [`TcpStream::write`]; how much was written before is not known.
    ///
    /// # Cancel safety
    ///
    /// None: a dropped future may have written a part.
    pub fn write_all<B: IoBuf>(&self, buf: B) -> impl Future<Output = BufResult<(), B>> {
        self.inner.write_all(buf)
    }

    /// Ends one direction, or both. After `Shutdown::Write` the peer finds the end behind the last
    /// byte that was written.
    ///
    /// # Errors
    ///
    /// `NotConnected` when the connection is gone.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.inner.shutdown(how)
    }

    /// Sends small writes at once (`true`, which is the default), or lets the kernel collect them
    /// into full segments (Nagle's algorithm).
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn set_nodelay(&self, on: bool) -> io::Result<()> {
        self.inner.set_nodelay(on)
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// What the kernel says.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// `NotConnected` when the connection is gone.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.inner.peer_addr()
    }

    /// Wraps the stream for code that wants `futures_io`'s traits.
    pub fn compat(self) -> Compat {
        Compat::new(self)
    }

    pub(crate) fn poll_read(
        &self,
        cx: &mut TaskContext<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        ready!(Context::poll_budget(cx));
        self.inner.poll_read(cx, buf)
    }

    pub(crate) fn poll_write(
        &self,
        cx: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(Context::poll_budget(cx));
        self.inner.poll_write(cx, bytes)
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TcpStream");
        // A connection that is gone has no addresses any more.
        if let Ok(addr) = self.local_addr() {
            shown.field("local", &addr);
        }
        if let Ok(addr) = self.peer_addr() {
            shown.field("peer", &addr);
        }
        shown.finish_non_exhaustive()
    }
}

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

impl AsyncRead for TcpStream {
    async fn read<B: IoBufMut>(&mut self, buf: B) -> BufResult<usize, B> {
        TcpStream::read(self, buf).await
    }
}

impl AsyncRead for &TcpStream {
    async fn read<B: IoBufMut>(&mut self, buf: B) -> BufResult<usize, B> {
        TcpStream::read(self, buf).await
    }
}

impl AsyncWrite for TcpStream {
    async fn write<B: IoBuf>(&mut self, buf: B) -> BufResult<usize, B> {
        TcpStream::write(self, buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

impl AsyncWrite for &TcpStream {
    async fn write<B: IoBuf>(&mut self, buf: B) -> BufResult<usize, B> {
        TcpStream::write(self, buf).await
    }

    async fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}
