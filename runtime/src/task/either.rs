//! Waiting for the first of two futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// Which of two futures ended first, and in what; the answer of [`either`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Either<L, R> {
    /// The one that was named first.
    Left(L),
    /// The one that was named second.
    Right(R),
}

/// Waits for whichever of two futures ends first; the other one is dropped then.
///
/// `left` is polled first, and when both are ready it is the one that counts: name what ends a loop
/// first, and what it works on second. For more than two, nest. It costs nothing but the polls.
///
/// What becomes of the one that is dropped stands under "Cancel safety" in its docs. Accepting,
/// reading chunks, receiving from lanes and waiting for timers lose nothing. To go on with a future
/// afterwards, pass `&mut` of a pinned one, or of a [`JoinHandle`](crate::JoinHandle).
///
/// # Cancel safety
///
/// That of both futures.
///
/// ```
/// use corelane::net::{TcpListener, TcpStream};
/// use corelane::task::{Either, either};
/// use corelane::{shutdown, spawn};
///
/// /// Accepts until the runtime's end begins.
/// async fn accept_all(listener: TcpListener) -> std::io::Result<u32> {
///     let mut accepted = 0;
///     loop {
///         match either(shutdown::wait(), listener.accept()).await {
///             Either::Left(()) => return Ok(accepted),
///             Either::Right(connection) => drop(connection?),
///         }
///         accepted += 1;
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # corelane::Runtime::builder().shards(1).run(|| async {
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let addr = listener.local_addr()?;
/// let accepting = spawn(accept_all(listener));
/// let client = TcpStream::connect(addr).await?;
/// assert!(client.read_chunk().await?.is_empty()); // it was accepted, and dropped
/// shutdown::trigger();
/// assert_eq!(accepting.await??, 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })??;
/// # Ok(())
/// # }
/// ```
pub fn either<L: Future, R: Future>(
    left: L,
    right: R,
) -> impl Future<Output = Either<L::Output, R::Output>> {
    FirstOf { left, right }
}

pin_project! {
    struct FirstOf<L, R> {
        #[pin]
        left: L,
        #[pin]
        right: R,
    }
}

impl<L: Future, R: Future> Future for FirstOf<L, R> {
    type Output = Either<L::Output, R::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.left.poll(cx) {
            return Poll::Ready(Either::Left(output));
        }
        this.right.poll(cx).map(Either::Right)
    }
}
