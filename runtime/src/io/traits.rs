//! Reading and writing with owned buffers, for code that is generic over the stream.
//!
//! The futures are polled on one shard, so none of them has to be `Send`.

use std::future::Future;
use std::io;

use super::buf::{BufResult, IoBuf, IoBufMut};

/// Something that bytes can be read from.
///
/// # Example
///
/// ```
/// use corelane::io::{AsyncRead, AsyncReadExt};
///
/// /// Reads one message: its length in two bytes, then as many bytes.
/// async fn message(stream: &mut impl AsyncRead) -> std::io::Result<Vec<u8>> {
///     let (read, head) = stream.read_exact(Box::new([0; 2])).await;
///     read?;
///     let (read, body) = stream.read_exact(vec![0; u16::from_be_bytes(*head).into()]).await;
///     read?;
///     Ok(body)
/// }
/// ```
pub trait AsyncRead {
    /// Reads what there is, at least a byte, to the start of `buf`, and tells how many bytes.
    ///
    /// `Ok(0)` is the end of the stream, or says that `buf` has no room. The buffer comes back with
    /// its length set to what was read, if it has one (see [`IoBufMut::set_init`]).
    ///
    /// # Errors
    ///
    /// What the stream says; the buffer is as it was.
    fn read<B: IoBufMut>(&mut self, buf: B) -> impl Future<Output = BufResult<usize, B>>;
}

/// Something that bytes can be written to.
pub trait AsyncWrite {
    /// Writes some bytes of `buf`, from its start, and tells how many.
    ///
    /// `Ok(0)` says that `buf` holds no bytes.
    ///
    /// # Errors
    ///
    /// What the stream says.
    fn write<B: IoBuf>(&mut self, buf: B) -> impl Future<Output = BufResult<usize, B>>;

    /// Waits until nothing written is held back on this side.
    ///
    /// # Errors
    ///
    /// What the stream says.
    fn flush(&mut self) -> impl Future<Output = io::Result<()>>;

    /// Ends the writing direction, so that the peer finds the end after the last byte.
    ///
    /// # Errors
    ///
    /// What the stream says.
    fn close(&mut self) -> impl Future<Output = io::Result<()>>;
}

/// What every [`AsyncRead`] can do.
pub trait AsyncReadExt: AsyncRead {
    /// Reads until `buf` is full: up to [`IoBufMut::bytes_total`], which for a `Vec` is its
    /// capacity.
    ///
    /// To read `n` bytes into a larger buffer give `buf.slice(..n)`.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` when the stream ends first, else what it says. The buffer then holds what
    /// was read before.
    ///
    /// # Cancel safety
    ///
    /// None: a dropped future takes the bytes with it that it has read.
    fn read_exact<B: IoBufMut>(&mut self, buf: B) -> impl Future<Output = BufResult<(), B>> {
        async {
            let mut buf = buf;
            let total = buf.bytes_total();
            let mut filled = 0;
            while filled < total {
                let (read, part) = self.read(buf.slice(filled..total)).await;
                buf = part.into_inner();
                match read {
                    Ok(0) => return (Err(io::ErrorKind::UnexpectedEof.into()), buf),
                    Ok(n) => filled += n,
                    Err(error) => return (Err(error), buf),
                }
            }
            (Ok(()), buf)
        }
    }
}

impl<T: AsyncRead + ?Sized> AsyncReadExt for T {}

/// What every [`AsyncWrite`] can do.
pub trait AsyncWriteExt: AsyncWrite {
    /// Writes all bytes of `buf`.
    ///
    /// # Errors
    ///
    /// `WriteZero` when the stream takes nothing more, else what it says. How much was written
    /// before is not known.
    ///
    /// # Cancel safety
    ///
    /// None: a dropped future may have written a part.
    fn write_all<B: IoBuf>(&mut self, buf: B) -> impl Future<Output = BufResult<(), B>> {
        async {
            let mut buf = buf;
            let total = buf.bytes_init();
            let mut written = 0;
            while written < total {
                let (wrote, part) = self.write(buf.slice(written..)).await;
                buf = part.into_inner();
                match wrote {
                    Ok(0) => return (Err(io::ErrorKind::WriteZero.into()), buf),
                    Ok(n) => written += n,
                    Err(error) => return (Err(error), buf),
                }
            }
            (Ok(()), buf)
        }
    }
}

impl<T: AsyncWrite + ?Sized> AsyncWriteExt for T {}

#[cfg(test)]
mod tests {
    use super::super::buf::copy_in;
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// Gives and takes at most `step` bytes a call.
    struct Stutter {
        data: Vec<u8>,
        step: usize,
        room: usize,
    }

    impl AsyncRead for Stutter {
        async fn read<B: IoBufMut>(&mut self, mut buf: B) -> BufResult<usize, B> {
            let n = copy_in(&mut buf, &self.data[..self.data.len().min(self.step)]);
            self.data.drain(..n);
            (Ok(n), buf)
        }
    }

    impl AsyncWrite for Stutter {
        async fn write<B: IoBuf>(&mut self, buf: B) -> BufResult<usize, B> {
            let n = buf.bytes_init().min(self.step).min(self.room);
            self.room -= n;
            self.data.extend_from_slice(&buf.as_slice()[..n]);
            (Ok(n), buf)
        }

        async fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn now<F: Future>(future: F) -> F::Output {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn read_exact_fills_whatever_room_there_is() {
        let stream = |data: &[u8]| Stutter {
            data: data.to_vec(),
            step: 3,
            room: 0,
        };
        let (read, buf) = now(stream(b"0123456789").read_exact(Box::new([0; 7])));
        assert_eq!((read.is_ok(), &buf[..]), (true, &b"0123456"[..]));
        let (read, buf) = now(stream(b"0123456789").read_exact(vec![b'x'; 10].slice(2..9)));
        assert_eq!(
            (read.is_ok(), buf.into_inner()),
            (true, b"xx0123456x".to_vec())
        );
        let (read, buf) = now(stream(b"").read_exact(Vec::new()));
        assert_eq!((read.is_ok(), buf.len()), (true, 0));
        let mut spare = Vec::with_capacity(8);
        spare.push(b'x');
        let (read, buf) = now(stream(&[b'y'; 64]).read_exact(spare));
        assert_eq!((read.is_ok(), buf.len()), (true, buf.capacity()));
    }

    #[test]
    fn read_exact_says_that_the_stream_ended_and_keeps_the_start() {
        let mut stream = Stutter {
            data: b"0123".to_vec(),
            step: 3,
            room: 0,
        };
        let (read, buf) = now(stream.read_exact(Vec::with_capacity(8)));
        assert_eq!(
            read.map_err(|error| error.kind()),
            Err(io::ErrorKind::UnexpectedEof)
        );
        assert_eq!(buf, b"0123");
    }

    #[test]
    fn write_all_writes_every_byte_or_says_why_not() {
        let mut stream = Stutter {
            data: Vec::new(),
            step: 3,
            room: 20,
        };
        let (wrote, text) = now(stream.write_all("0123456789"));
        assert_eq!((wrote.is_ok(), text), (true, "0123456789"));
        assert!(now(stream.write_all("")).0.is_ok());
        assert!(now(stream.write_all("abcdef".slice(1..3))).0.is_ok());
        assert_eq!(stream.data, b"0123456789bc");
        let (wrote, _) = now(stream.write_all(vec![0; 9]));
        assert_eq!(
            wrote.map_err(|error| error.kind()),
            Err(io::ErrorKind::WriteZero)
        );
    }
}
