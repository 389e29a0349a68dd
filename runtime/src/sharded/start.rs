//! Starting a service: all of its parts, or none.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use thread_aware::ThreadAware;

use super::Sharded;
use super::error::ShardedError;
use super::seat::Seat;
use crate::home::Lodging;
use crate::mesh::Submit;
use crate::shard::{Context, Shard, shard, shards};
use crate::task::yield_now;

impl<S: 'static> Sharded<S> {
    /// Starts a service: `make` makes each part on its shard, all at once.
    ///
    /// # Errors
    ///
    /// [`ShardedError::Submit`] for the first shard on which `make` panicked. The making of the
    /// others is cancelled then, also where it waits for the part that failed, and the parts that
    /// had started are gone with the error, dropped each on its shard.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it starts nothing: parts that were made are dropped on their shards.
    pub async fn start<F, Fut>(make: F) -> Result<Self, ShardedError<Infallible>>
    where
        F: FnOnce(Shard) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = S> + 'static,
    {
        Self::try_start(move |shard| async move { Ok(make(shard).await) }).await
    }

    /// As [`Sharded::start`], with a clone of `data` for each shard, which is relocated once,
    /// there, before `make` gets it.
    ///
    /// # Errors
    ///
    /// As [`Sharded::start`]; a panic of the relocation is the making's.
    ///
    /// # Panics
    ///
    /// As [`Sharded::start`].
    ///
    /// # Cancel safety
    ///
    /// As [`Sharded::start`].
    pub async fn start_with<D, F, Fut>(data: D, make: F) -> Result<Self, ShardedError<Infallible>>
    where
        D: ThreadAware + Clone + 'static,
        F: FnOnce(Shard, D) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = S> + 'static,
    {
        Self::try_start_with(data, move |shard, data| async move {
            Ok(make(shard, data).await)
        })
        .await
    }

    /// As [`Sharded::start`], where making a part may fail.
    ///
    /// # Errors
    ///
    /// As [`Sharded::start`], and [`ShardedError::Failed`] with what `make` said.
    ///
    /// # Panics
    ///
    /// As [`Sharded::start`].
    ///
    /// # Cancel safety
    ///
    /// As [`Sharded::start`].
    pub async fn try_start<F, Fut, E>(make: F) -> Result<Self, ShardedError<E>>
    where
        F: FnOnce(Shard) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = Result<S, E>> + 'static,
        E: Send + 'static,
    {
        Self::launch(|target| {
            let make = make.clone();
            target.submit(move || settled(make(shard())))
        })
        .await
    }

    /// As [`Sharded::try_start`], with data as [`Sharded::start_with`].
    ///
    /// # Errors
    ///
    /// As [`Sharded::try_start`] and [`Sharded::start_with`].
    ///
    /// # Panics
    ///
    /// As [`Sharded::start`].
    ///
    /// # Cancel safety
    ///
    /// As [`Sharded::start`].
    pub async fn try_start_with<D, F, Fut, E>(data: D, make: F) -> Result<Self, ShardedError<E>>
    where
        D: ThreadAware + Clone + 'static,
        F: FnOnce(Shard, D) -> Fut + Clone + Send + 'static,
        Fut: Future<Output = Result<S, E>> + 'static,
        E: Send + 'static,
    {
        Self::launch(|target| {
            let make = make.clone();
            target.submit_with(data.clone(), move |data| settled(make(shard(), data)))
        })
        .await
    }

    async fn launch<E: Send + 'static>(
        start_on: impl Fn(&Shard) -> Start<E>,
    ) -> Result<Self, ShardedError<E>> {
        let shards = shards();
        let starts = shards.iter().map(start_on).collect();
        match all(starts).await {
            Ok(lodgings) => {
                let directory = Context::with(|context| context.directory().clone());
                Ok(Self::new(directory, lodgings))
            }
            Err(error) => {
                barrier(&shards).await;
                Err(error)
            }
        }
    }
}

/// Gives the part that `making` ends in to this shard.
async fn settled<S: 'static, E>(making: impl Future<Output = Result<S, E>>) -> Result<Lodging, E> {
    Ok(Lodging::new(Rc::new(Seat::new(making.await?))))
}

/// What a part's start sends back: its place, which is its end when it is dropped.
type Start<E> = Submit<Result<Lodging, E>>;

/// Waits for all starts together. With the first that fails the others are cancelled, since they
/// may wait for its part, and waited for all the same: what they made until then comes back, and is
/// dropped here with the places before.
async fn all<E: Send + 'static>(starts: Vec<Start<E>>) -> Result<Vec<Lodging>, ShardedError<E>> {
    let mut lodgings: Vec<_> = starts.iter().map(|_| None).collect();
    let mut starts: Vec<_> = starts.into_iter().map(Some).collect();
    let mut failed = None;
    poll_fn(|cx| {
        let has_failed = failed.is_some();
        for (shard, place) in starts.iter_mut().enumerate() {
            let Some(Poll::Ready(answer)) = place.as_mut().map(|start| Pin::new(start).poll(cx))
            else {
                continue;
            };
            *place = None;
            let error = match answer {
                Ok(Ok(lodging)) => {
                    lodgings[shard] = Some(lodging);
                    continue;
                }
                Ok(Err(source)) => ShardedError::Failed { shard, source },
                Err(source) => ShardedError::Submit { shard, source },
            };
            failed.get_or_insert(error);
        }
        if failed.is_some() && !has_failed {
            starts.iter().flatten().for_each(Submit::cancel);
        }
        if starts.iter().any(Option::is_some) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
    match failed {
        Some(error) => Err(error),
        None => Ok(lodgings.into_iter().flatten().collect()),
    }
}

/// Waits until each shard has dropped what was given up before.
async fn barrier(shards: &[Shard]) {
    let calls: Vec<_> = shards.iter().map(|shard| shard.submit(next_turn)).collect();
    for call in calls {
        // A shard that has ended has dropped its part.
        let _ = call.await;
    }
}

/// Ends in a later turn of its shard than it began in. Each turn looks at departures before it
/// polls, so it drops those that were there when this began; a second poll could be in the same
/// turn.
async fn next_turn() {
    let turns = || Context::with(|context| context.counters().turns.value());
    let began = turns();
    while turns() == began {
        yield_now().await;
    }
}
