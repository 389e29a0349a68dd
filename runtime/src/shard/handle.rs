//! Handles of shards: where one is, and where to send a call.

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

use super::Context;
use crate::directory::{Directory, DriverInfo};
use crate::error::TrySubmitError;
use crate::mesh::{self, OutsideShard, Submit};

/// A shard's place in its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ShardIndex(u16);

impl ShardIndex {
    /// Takes a number below 4,096, which the builder checks.
    pub(crate) fn new(index: usize) -> Self {
        Self(u16::try_from(index).expect("a runtime has at most 4,096 shards"))
    }

    pub(crate) fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// A shard of a runtime, as its tasks and others address it.
///
/// Cloning costs a count of one core: that on which [`shard`] or [`shards`] gave it, or where it
/// was relocated to, since it is `ThreadAware`.
#[derive(Clone)]
pub struct Shard {
    directory: Directory,
    index: ShardIndex,
}

/// The shard that this code runs on.
///
/// # Panics
///
/// Outside of the shards.
#[must_use]
#[track_caller]
pub fn shard() -> Shard {
    Context::with(Context::shard)
}

/// All shards of the runtime that this code runs in, in the order of their indices.
///
/// # Panics
///
/// Outside of the shards.
#[must_use]
#[track_caller]
pub fn shards() -> Rc<[Shard]> {
    Context::with(|context| {
        let directory = context.directory();
        (0..directory.members.len())
            .map(|index| Shard::new(directory.clone(), ShardIndex::new(index)))
            .collect()
    })
}

impl Shard {
    pub(crate) fn new(directory: Directory, index: ShardIndex) -> Self {
        Self { directory, index }
    }

    /// The shard's place in its runtime, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index.get()
    }

    /// The affinity of the shard's processor.
    #[must_use]
    pub fn affinity(&self) -> Affinity {
        self.directory.member(self.index).affinity
    }

    /// Which driver the shard runs on, and why.
    #[must_use]
    pub fn driver(&self) -> Option<&DriverInfo> {
        self.directory.member(self.index).driver.get()
    }

    /// Calls `call` on this shard and answers with what its future ends in.
    ///
    /// `call` moves to the shard; its future is made, polled and dropped there and need not be
    /// `Send`. Nothing is relocated, since a closure's captures cannot be visited: see
    /// [`Shard::submit_with`]. The call is sent at once, not at the first poll; when the lane is
    /// full it waits in order on this side.
    ///
    /// Costs one block, one push and at most one ring each way; a call to the shard itself is a
    /// spawn. From a thread outside the runtime it goes through the shard's locked inbox.
    ///
    /// # Errors
    ///
    /// The answer is [`SubmitError`](crate::SubmitError) when the shard stopped first, the call
    /// panicked or was cancelled.
    ///
    /// # Cancel safety
    ///
    /// See [`Submit`].
    ///
    /// ```
    /// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
    /// let there = corelane::shards()[1].clone();
    /// let index = there.submit(|| async { corelane::shard().index() }).await?;
    /// assert_eq!(index, 1);
    /// # Ok::<_, corelane::SubmitError>(())
    /// # })?.expect("the shard is there");
    /// # Ok::<_, corelane::StartError>(())
    /// ```
    pub fn submit<F, Fut>(&self, call: F) -> Submit<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let mut call = Some(call);
        let sent = Context::try_with(|context| {
            if !self.is_of(context) {
                return None;
            }
            call.take()
                .map(|call| mesh::send(context, self.index, call))
        });
        match (sent.flatten(), call) {
            (Some(sent), _) => sent,
            (None, Some(call)) => Submit::outside(self.outside().submit(call)),
            (None, None) => unreachable!("a call is taken only to be sent"),
        }
    }

    /// Calls `call` on this shard with `data`, which is told that it has moved.
    ///
    /// `data` is relocated once, on this shard, before `call` gets it: from the caller's affinity
    /// to this shard's. From a thread that is no shard of this runtime the source is `None`; to the
    /// caller's own shard both are the same, which keeps what `data` has and tells it where that
    /// is. A call that is cancelled before it starts relocates nothing. What is not thread-aware is
    /// wrapped in [`Unaware`](thread_aware::Unaware) here, so that the choice is seen; several
    /// values go as a tuple.
    ///
    /// Beyond [`Shard::submit`] it costs the relocation, which the shard counts in its metrics.
    ///
    /// # Errors
    ///
    /// As [`Shard::submit`]; a panic of the relocation is the call's.
    ///
    /// # Cancel safety
    ///
    /// See [`Submit`].
    ///
    /// ```
    /// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use thread_aware::{Arc, PerCore, Unaware};
    ///
    /// let served = Arc::<AtomicU64, PerCore>::new(AtomicU64::default);
    /// let there = corelane::shards()[1].clone();
    /// let data = (served.clone(), Unaware("one request"));
    /// let call = there.submit_with(data, |(served, request)| async move {
    ///     served.fetch_add(1, Relaxed); // the counter of the other core
    ///     request.len()
    /// });
    /// assert_eq!(call.await?, 11);
    /// assert_eq!(served.load(Relaxed), 0);
    /// # Ok::<_, corelane::SubmitError>(())
    /// # })?.expect("the shard is there");
    /// # Ok::<_, corelane::StartError>(())
    /// ```
    pub fn submit_with<D, F, Fut>(&self, data: D, call: F) -> Submit<Fut::Output>
    where
        D: ThreadAware + 'static,
        F: FnOnce(D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        self.submit(mesh::relocating(self.source(), data, call))
    }

    /// As [`Shard::submit`], but hands the call back when it would have to wait for room.
    ///
    /// # Errors
    ///
    /// [`TrySubmitError::Full`] when the lane is full, counted in the metrics. From outside the
    /// runtime, use [`OutsideShard::try_submit`].
    ///
    /// # Panics
    ///
    /// On a thread that is not a shard of this runtime.
    pub fn try_submit<F, Fut>(&self, call: F) -> Result<Submit<Fut::Output>, TrySubmitError<F>>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        if !self.has_room() {
            return Err(TrySubmitError::Full(call));
        }
        Ok(self.submit(call))
    }

    /// As [`Shard::submit_with`], but hands data and call back when the call would have to wait for
    /// room. What comes back was not relocated.
    ///
    /// # Errors
    ///
    /// As [`Shard::try_submit`].
    ///
    /// # Panics
    ///
    /// On a thread that is not a shard of this runtime.
    pub fn try_submit_with<D, F, Fut>(
        &self,
        data: D,
        call: F,
    ) -> Result<Submit<Fut::Output>, TrySubmitError<(D, F)>>
    where
        D: ThreadAware + 'static,
        F: FnOnce(D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        if !self.has_room() {
            return Err(TrySubmitError::Full((data, call)));
        }
        Ok(self.submit_with(data, call))
    }

    /// Whether a call would go at once. That it would not is counted.
    fn has_room(&self) -> bool {
        Context::with(|context| {
            assert!(
                self.is_of(context),
                "try_submit is for the shards of one runtime; see OutsideShard"
            );
            let has_room = self.index == context.index() || context.mesh().has_room(self.index);
            if !has_room {
                context.counters().lane_refusals.add(1);
            }
            has_room
        })
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    #[inline]
    pub(crate) fn place(&self) -> ShardIndex {
        self.index
    }

    /// Whether this is a shard of the runtime of `context`.
    #[inline]
    pub(crate) fn is_of(&self, context: &Context) -> bool {
        context.directory().is_same(&self.directory)
    }

    /// Where data comes from that is sent to this shard now.
    fn source(&self) -> Option<Affinity> {
        Context::try_with(|context| self.is_of(context).then(|| context.own().affinity)).flatten()
    }

    /// This shard for threads outside the runtime.
    #[must_use]
    pub fn outside(&self) -> OutsideShard {
        OutsideShard::new(self.directory.clone(), self.index)
    }
}

impl ThreadAware for Shard {
    /// Takes the tables of `destination`'s core. It is the same shard as before.
    fn relocate(&mut self, source: Option<Affinity>, destination: Affinity) {
        self.directory.relocate(source, destination);
    }
}

impl PartialEq for Shard {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.directory.is_same(&other.directory)
    }
}

impl Eq for Shard {}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
