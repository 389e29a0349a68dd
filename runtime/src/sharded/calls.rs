//! Answers of calls to the parts of a service.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use thread_aware::{Arc, PerCore};

use super::error::InvokeError;
use super::seat::Stopped;
use super::service::Table;
use crate::mesh::Submit;
use crate::shard::Shard;

/// The answer of a call to a part of a service. The call is on its way already, and holds the
/// service.
///
/// # Cancel safety
///
/// Dropping it cancels the call and never waits, as with [`Submit`].
#[must_use = "dropping it cancels the call; await it"]
pub struct Invoke<T> {
    call: Submit<Result<T, Stopped>>,
    shard: usize,
    /// Keeps the parts.
    _table: Arc<Table, PerCore>,
}

impl<T> Invoke<T> {
    pub(super) fn new(
        call: Submit<Result<T, Stopped>>,
        shard: &Shard,
        table: &Arc<Table, PerCore>,
    ) -> Self {
        Self {
            call,
            shard: shard.index(),
            _table: table.clone(),
        }
    }
}

impl<T: Send + 'static> Future for Invoke<T> {
    type Output = Result<T, InvokeError>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let shard = self.shard;
        Poll::Ready(match ready!(Pin::new(&mut self.call).poll(cx)) {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(Stopped)) => Err(InvokeError::Stopped { shard }),
            Err(source) => Err(InvokeError::Submit { shard, source }),
        })
    }
}

impl<T> fmt::Debug for Invoke<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoke")
            .field("shard", &self.shard)
            .finish_non_exhaustive()
    }
}

/// Folds the answers in the order of the calls. With the first error the others are cancelled.
pub(super) async fn in_order<T, A>(
    calls: Vec<Invoke<T>>,
    init: A,
    mut reduce: impl FnMut(A, T) -> A,
) -> Result<A, InvokeError>
where
    T: Send + 'static,
{
    let mut folded = init;
    for call in calls {
        folded = reduce(folded, call.await?);
    }
    Ok(folded)
}
