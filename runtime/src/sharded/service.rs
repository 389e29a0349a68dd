//! The handle of a service.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc as StdArc;
use std::time::Duration;

use thread_aware::affinity::Affinity;
use thread_aware::{Arc, PerCore, ThreadAware};

use super::calls::{Invoke, in_order};
use super::error::{InvokeError, StopError};
use super::seat::{self, Left, Local, Stopped};
use crate::directory::Directory;
use crate::error::{JoinError, SubmitError};
use crate::home::{Lodging, ResidentKey};
use crate::shard::{Context, Shard, ShardIndex};
use crate::task::spawn;

/// A service with a part of its own on every shard.
///
/// Each part is made, used and dropped on its shard and need not be `Send`. The handle travels
/// (`Send` and `Sync`), also to threads outside; it is `ThreadAware`: relocated, it finds its table
/// of places in the memory of the core where it is, so that calls from different shards read
/// nothing in common. A clone costs a count of its own core.
///
/// A call to one part ([`invoke_on`](Self::invoke_on)), to all ([`invoke_on_all`]) or over all
/// ([`map_reduce`]) gets a [`Local`] of the part. What a call's closure captures is moved as it is;
/// the forms with `_with` take data that is relocated once, on the target.
///
/// # The end
///
/// [`stop`](Self::stop) ends it with a deadline. The last handle that is dropped ends it too, for
/// new calls at once; calls that are under way have handles of their own. A shard that ends drops
/// its part itself, after its tasks.
///
/// [`invoke_on_all`]: Self::invoke_on_all
/// [`map_reduce`]: Self::map_reduce
///
/// ```
/// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(3)).run(|| async {
/// use std::cell::RefCell;
/// use std::collections::HashMap;
/// use std::time::Duration;
/// use corelane::Sharded;
///
/// // A map in three parts, each of which only its shard touches.
/// type Part = RefCell<HashMap<u64, String>>;
/// let map = Sharded::<Part>::start(|_shard| async { Part::default() }).await?;
///
/// for key in 0..10_u64 {
///     let owner = &corelane::shards()[key as usize % 3];
///     map.invoke_on(owner, move |part| async move {
///         part.borrow_mut().insert(key, key.to_string());
///     })
///     .await?;
/// }
/// let counts = map.invoke_on_all(|part| async move { part.borrow().len() });
/// assert_eq!(counts.await?, [4, 3, 3]);
/// let longest = |part: corelane::Local<Part>| async move {
///     part.borrow().values().map(String::len).max().unwrap_or(0)
/// };
/// assert_eq!(map.map_reduce(longest, 0, usize::max).await?, 1);
/// assert_eq!(map.local()?.borrow().len(), 4); // 0, 3, 6 and 9 are here
///
/// map.stop(Duration::from_secs(1)).await?;
/// assert!(map.local().is_err());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?.expect("the service answers");
/// # Ok::<_, corelane::StartError>(())
/// ```
pub struct Sharded<S: 'static> {
    table: Arc<Table, PerCore>,
    part: PhantomData<fn() -> S>,
}

/// Where the parts are.
#[derive(Clone)]
pub(super) struct Table {
    keys: Box<[ResidentKey]>,
    /// The hold on the parts, the same for all clones of the table.
    places: StdArc<Places>,
}

struct Places {
    directory: Directory,
    /// Their drop is the parts' end.
    _lodgings: Box<[Lodging]>,
}

impl<S: 'static> Sharded<S> {
    /// Takes the parts of all shards of the runtime, in their order.
    pub(super) fn new(directory: Directory, lodgings: Vec<Lodging>) -> Self {
        let keys = lodgings.iter().map(Lodging::key).collect();
        let places = StdArc::new(Places {
            directory,
            _lodgings: lodgings.into(),
        });
        Self {
            table: Arc::from_unaware(Table { keys, places }),
            part: PhantomData,
        }
    }

    /// This shard's part.
    ///
    /// Costs two looks into tables of this core, and a count that no other thread sees.
    ///
    /// # Errors
    ///
    /// [`InvokeError::Stopped`] once the service was stopped here.
    ///
    /// # Panics
    ///
    /// Outside of the shards of the service's runtime.
    pub fn local(&self) -> Result<Local<S>, InvokeError> {
        let index = Context::with(|context| {
            assert!(
                context.directory().is_same(&self.table.places.directory),
                "a service is local on the shards of its own runtime"
            );
            context.index()
        });
        let shard = index.get();
        Local::find(self.table.keys[shard]).map_err(|Stopped| InvokeError::Stopped { shard })
    }

    /// Calls `f` with the part of `shard`, there, and answers with what its future ends in.
    ///
    /// It is sent at once and costs what [`Shard::submit`] costs.
    ///
    /// # Errors
    ///
    /// The answer is [`InvokeError`].
    ///
    /// # Panics
    ///
    /// When `shard` is of another runtime.
    ///
    /// # Cancel safety
    ///
    /// See [`Invoke`].
    pub fn invoke_on<F, Fut>(&self, shard: &Shard, f: F) -> Invoke<Fut::Output>
    where
        F: FnOnce(Local<S>) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let key = self.key(shard);
        let call = shard.submit(move || seat::attend(key, f));
        Invoke::new(call, shard, &self.table)
    }

    /// As [`Sharded::invoke_on`], with `data` that is relocated once, on `shard`, before `f` gets
    /// it; see [`Shard::submit_with`].
    ///
    /// # Errors
    ///
    /// As [`Sharded::invoke_on`]; a panic of the relocation is the call's.
    ///
    /// # Panics
    ///
    /// As [`Sharded::invoke_on`].
    ///
    /// # Cancel safety
    ///
    /// See [`Invoke`].
    pub fn invoke_on_with<D, F, Fut>(&self, shard: &Shard, data: D, f: F) -> Invoke<Fut::Output>
    where
        D: ThreadAware + 'static,
        F: FnOnce(Local<S>, D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let key = self.key(shard);
        let call = move |data| seat::attend(key, |local| f(local, data));
        Invoke::new(shard.submit_with(data, call), shard, &self.table)
    }

    /// Calls `f` with each part, on its shard, all at once, and answers in the order of the shards.
    ///
    /// # Errors
    ///
    /// The first [`InvokeError`] in the order of the shards. The calls that are left then are
    /// cancelled.
    ///
    /// # Cancel safety
    ///
    /// As [`Invoke`], for each of the calls.
    pub fn invoke_on_all<F, Fut>(
        &self,
        f: F,
    ) -> impl Future<Output = Result<Vec<Fut::Output>, InvokeError>> + use<S, F, Fut>
    where
        F: FnOnce(Local<S>) -> Fut + Clone + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        self.map_reduce(f, Vec::new(), push)
    }

    /// As [`Sharded::invoke_on_all`], with a clone of `data` for each part, which is relocated
    /// once, on its shard.
    ///
    /// # Errors
    ///
    /// As [`Sharded::invoke_on_all`].
    ///
    /// # Cancel safety
    ///
    /// As [`Sharded::invoke_on_all`].
    pub fn invoke_on_all_with<D, F, Fut>(
        &self,
        data: D,
        f: F,
    ) -> impl Future<Output = Result<Vec<Fut::Output>, InvokeError>> + use<S, D, F, Fut>
    where
        D: ThreadAware + Clone + 'static,
        F: FnOnce(Local<S>, D) -> Fut + Clone + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let calls = self
            .shards()
            .map(|shard| self.invoke_on_with(&shard, data.clone(), f.clone()));
        in_order(calls.collect(), Vec::new(), push)
    }

    /// Calls `map` with each part, on its shard, all at once, and folds the answers here with
    /// `reduce`, from `init` on and in the order of the shards.
    ///
    /// # Errors
    ///
    /// As [`Sharded::invoke_on_all`].
    ///
    /// # Cancel safety
    ///
    /// As [`Sharded::invoke_on_all`].
    pub fn map_reduce<M, Fut, A, R>(
        &self,
        map: M,
        init: A,
        reduce: R,
    ) -> impl Future<Output = Result<A, InvokeError>> + use<S, M, Fut, A, R>
    where
        M: FnOnce(Local<S>) -> Fut + Clone + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
        R: FnMut(A, Fut::Output) -> A,
    {
        let calls = self
            .shards()
            .map(|shard| self.invoke_on(&shard, map.clone()));
        in_order(calls.collect(), init, reduce)
    }

    /// Stops the service, for all its handles, and waits until its parts are dropped.
    ///
    /// From its arrival on a shard on, calls of the part there say [`InvokeError::Stopped`]. Those
    /// that are under way have until `deadline`, counted on each shard from the arrival; then they
    /// end between polls, and say so too. The part is dropped when nothing uses it any more. A
    /// second stop finds nothing to do and does not wait for the first.
    ///
    /// A call that is carried out on the service must not stop it, or it waits for itself until the
    /// deadline.
    ///
    /// # Errors
    ///
    /// [`StopError`] says what is left. A shard that has ended has dropped its part already.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    ///
    /// # Cancel safety
    ///
    /// Once it was polled, the stop goes on by itself when it is dropped.
    pub async fn stop(&self, deadline: Duration) -> Result<(), StopError> {
        let stops: Vec<_> = self.shards().collect();
        let keys = self.table.keys.clone();
        let stopping = spawn(async move {
            let stops: Vec<_> = stops
                .iter()
                .zip(keys)
                .map(|(shard, key)| shard.submit(move || seat::stop::<S>(key, deadline)))
                .collect();
            let mut left = Vec::new();
            let mut failed = None;
            for (shard, stop) in stops.into_iter().enumerate() {
                match stop.await {
                    Ok(Left::Nothing) | Err(SubmitError::ShardGone) => {}
                    Ok(Left::Uses) => left.push(shard),
                    Err(source) => failed = failed.or(Some(StopError::Drop { shard, source })),
                }
            }
            match failed {
                Some(error) => Err(error),
                None if left.is_empty() => Ok(()),
                None => Err(StopError::StillUsed { shards: left }),
            }
        });
        match stopping.await {
            Ok(stopped) => stopped,
            // This shard ends, and drops its part.
            Err(JoinError::Cancelled) => Ok(()),
            Err(JoinError::Panicked(panic)) => std::panic::resume_unwind(panic.into_payload()),
        }
    }

    fn key(&self, shard: &Shard) -> ResidentKey {
        assert!(
            shard.directory().is_same(&self.table.places.directory),
            "a service has parts on the shards of its own runtime"
        );
        self.table.keys[shard.index()]
    }

    /// The shards of the service's runtime.
    fn shards(&self) -> impl Iterator<Item = Shard> {
        let directory = &self.table.places.directory;
        (0..self.table.keys.len())
            .map(|index| Shard::new(directory.clone(), ShardIndex::new(index)))
    }
}

fn push<T>(mut all: Vec<T>, one: T) -> Vec<T> {
    all.push(one);
    all
}

impl<S> Clone for Sharded<S> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            part: PhantomData,
        }
    }
}

impl<S> ThreadAware for Sharded<S> {
    /// Takes the table of `destination`'s core. The parts stay where they are.
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.table.relocate(source, destination);
    }
}

impl<S> fmt::Debug for Sharded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sharded")
            .field("shards", &self.table.keys.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Placement;
    use crate::shard::shards;
    use crate::start::Runtime;

    // proves: RT-10
    #[test]
    fn handle_that_is_sent_reads_the_table_of_its_core() {
        let check = async || {
            let service = Sharded::start(|_| async {}).await.unwrap();
            let read = |service: &Sharded<()>| Arc::as_ptr(&service.table).addr();
            let mut tables = Vec::new();
            for target in shards().iter() {
                let sent = target.submit_with(service.clone(), move |sent| async move {
                    assert!(sent.local().is_ok());
                    (read(&sent), sent)
                });
                let (there, mut back) = sent.await.unwrap();
                assert_eq!(read(&back), there);
                let here = shards()[0].affinity();
                back.relocate(Some(target.affinity()), here);
                assert_eq!(read(&back) == there, target.affinity() == here);
                tables.push(there);
            }
            tables.sort_unstable();
            tables.dedup();
            assert_eq!(tables.len(), 3);
        };
        let builder = || Runtime::builder().placement(Placement::Unpinned(3));
        builder().run(check).unwrap();
        for seed in 0..4 {
            builder().simulate(seed, check).unwrap();
        }
    }
}
