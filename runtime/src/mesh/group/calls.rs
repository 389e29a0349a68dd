//! Calls in service groups.

use std::future::Future;
use std::num::NonZero;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, ready};

use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

use super::credits::{Credit, Waiter, Way};
use super::order::{Rank, check, within};
use crate::error::SubmitError;
use crate::mesh::Submit;
use crate::shard::{Context, Shard};
use crate::sync::{AtomicU64, Ordering};
use crate::task::JoinHandle;

/// Bounds what each shard may have in flight on each other one, for calls of one kind.
///
/// A shard that makes many calls at once fills its target with the tasks of all of them. In a
/// group, at most `limit` calls of one caller are with one target; further ones wait on the
/// caller's side, in order, for a credit. A call is in flight until the target has dropped it, also
/// when its caller has given it up.
///
/// The group is two numbers: it is `Copy`, may be sent anywhere, and means the same on every shard.
/// What is counted is counted by each caller for itself.
///
/// # Nested calls
///
/// A call in a group may make calls in groups itself, but only in groups that were made *after* its
/// own, whatever the targets. Then nobody ever waits in a circle: calls in the newest group wait
/// for no credit, so they end, and so do those that wait for theirs. Two calls in one group that
/// call back each other's shard, each with the last credit, would wait for ever.
///
/// Debug builds check it at each call and panic with this rule, in the call that broke it. They see
/// what a call's own future does, and the plain calls that it makes ([`Shard::submit`]); a task
/// that it spawns stands for itself, since nothing says that the call waits for it.
///
/// ```
/// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
/// use corelane::ServiceGroup;
///
/// let requests = ServiceGroup::new(64);
/// let lookups = ServiceGroup::new(16); // made later: requests may make lookups
/// let there = corelane::shards()[1].clone();
/// let here = corelane::shard();
/// let request = requests.submit(&there, move || async move {
///     lookups.submit(&here, || async { 42 }).await
/// });
/// assert_eq!(request.await??, 42);
/// # Ok::<_, corelane::SubmitError>(())
/// # })?.expect("the shards are there");
/// # Ok::<_, corelane::StartError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceGroup {
    rank: Rank,
    limit: NonZero<usize>,
}

impl ServiceGroup {
    /// A group in which a caller has at most `limit` calls in flight on one target. It is newer
    /// than all groups that the process has made before.
    ///
    /// # Panics
    ///
    /// When `limit` is 0.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        static GROUPS: AtomicU64 = AtomicU64::new(0);
        Self {
            rank: Rank(GROUPS.fetch_add(1, Ordering::Relaxed) + 1),
            limit: NonZero::new(limit).expect("a service group has room for a call"),
        }
    }

    /// How many calls a caller may have in flight on one target.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.get()
    }

    /// How many calls this shard has in flight on `shard` in this group; none on a shard of another
    /// runtime.
    ///
    /// # Panics
    ///
    /// Outside of the shards.
    #[must_use]
    pub fn in_flight(&self, shard: &Shard) -> usize {
        Context::with(|context| {
            if shard.is_of(context) {
                context.groups().in_flight(self.rank, shard.place())
            } else {
                0
            }
        })
    }

    /// Calls `call` on `shard`, as [`Shard::submit`] does, as soon as there is a credit for it.
    ///
    /// With a credit at hand it is sent at once; else in the order of the calls, as credits come
    /// back. Beyond the call it costs a look into a table of this shard, and a spawn.
    ///
    /// # Errors
    ///
    /// The answer says [`SubmitError`], as that of [`Shard::submit`].
    ///
    /// # Panics
    ///
    /// On a thread that is not a shard of `shard`'s runtime, and in debug builds when it breaks the
    /// rule of nested calls.
    ///
    /// # Cancel safety
    ///
    /// See [`GroupCall`].
    pub fn submit<F, Fut>(&self, shard: &Shard, call: F) -> GroupCall<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let rank = self.rank;
        self.send(shard, move |shard| shard.submit(move || within(rank, call)))
    }

    /// As [`ServiceGroup::submit`], with `data` that is relocated once, on `shard`; see
    /// [`Shard::submit_with`].
    ///
    /// # Errors
    ///
    /// As [`ServiceGroup::submit`].
    ///
    /// # Panics
    ///
    /// As [`ServiceGroup::submit`].
    ///
    /// # Cancel safety
    ///
    /// See [`GroupCall`].
    pub fn submit_with<D, F, Fut>(&self, shard: &Shard, data: D, call: F) -> GroupCall<Fut::Output>
    where
        D: ThreadAware + 'static,
        F: FnOnce(D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let rank = self.rank;
        self.send(shard, move |shard| {
            shard.submit_with(data, move |data| within(rank, || call(data)))
        })
    }

    fn send<T: Send + 'static>(
        &self,
        shard: &Shard,
        send: impl FnOnce(&Shard) -> Submit<T> + 'static,
    ) -> GroupCall<T> {
        Context::with(|context| {
            assert!(
                shard.is_of(context),
                "a service group is for the shards of one runtime; see OutsideShard"
            );
            check(context, self.rank);
            let groups = context.groups();
            let way = groups.way(self.rank, shard.place(), self.limit.get());
            let stage = match way.take() {
                Some(credit) => Stage::Sent(send(shard), credit),
                None => Stage::Waiting(Waiting {
                    waiter: way.wait(),
                    way,
                    shard: shard.clone(),
                    send,
                }),
            };
            GroupCall(context.spawn(Flight(stage)))
        })
    }
}

impl ThreadAware for ServiceGroup {
    /// Changes nothing: a group is two numbers.
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

/// The answer of a call in a [`ServiceGroup`]. It stays on its shard, where a task of its own sends
/// the call and takes the credit back, whether this is polled or not.
///
/// # Cancel safety
///
/// Dropped while it waits for a credit, it leaves the queue and nothing is sent; a credit that it
/// was just given goes to the next. Dropped later it cancels the call, as
/// [`Submit`](crate::Submit) does, and the credit comes back when the target has dropped the call.
/// It never waits.
#[must_use = "dropping it cancels the call; await it"]
#[derive(Debug)]
pub struct GroupCall<T>(JoinHandle<Result<T, SubmitError>>);

impl<T> Future for GroupCall<T> {
    type Output = Result<T, SubmitError>;

    /// # Panics
    ///
    /// When it is polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let joined = ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(joined.unwrap_or_else(|error| Err(error.into())))
    }
}

impl<T> Drop for GroupCall<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A call on its way: what its task does.
struct Flight<T: Send + 'static, L>(Stage<T, L>);

enum Stage<T, L> {
    Waiting(Waiting<L>),
    Sent(Submit<T>, Credit),
    Done,
}

/// A call that waits for a credit.
struct Waiting<L> {
    way: Rc<Way>,
    waiter: Rc<Waiter>,
    shard: Shard,
    /// Sends the call.
    send: L,
}

// Neither the call nor its answer is pinned in here.
impl<T: Send + 'static, L> Unpin for Flight<T, L> {}

impl<T: Send + 'static, L: FnOnce(&Shard) -> Submit<T>> Future for Flight<T, L> {
    type Output = Result<T, SubmitError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        if let Stage::Waiting(waiting) = &self.0 {
            let credit = ready!(waiting.way.poll_granted(&waiting.waiter, cx.waker()));
            let Stage::Waiting(waiting) = std::mem::replace(&mut self.0, Stage::Done) else {
                unreachable!("it was waiting a moment ago");
            };
            self.0 = Stage::Sent((waiting.send)(&waiting.shard), credit);
        }
        let Stage::Sent(call, _) = &mut self.0 else {
            panic!("a call is not polled after it was ready");
        };
        let answer = ready!(Pin::new(call).poll(cx));
        // The credit goes back: the target has dropped the call.
        self.0 = Stage::Done;
        Poll::Ready(answer)
    }
}

impl<T: Send + 'static, L> Drop for Flight<T, L> {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.0, Stage::Done) {
            Stage::Waiting(waiting) => waiting.way.give_up(&waiting.waiter),
            // Outside of the shards nobody counts any more, and both are dropped.
            Stage::Sent(call, credit) => {
                Context::try_with(move |context| {
                    call.cancel();
                    context.spawn_detached(async move {
                        // Nobody wants the answer; it says that the target has dropped the call.
                        drop(call.await);
                        drop(credit);
                    });
                });
            }
            Stage::Done => {}
        }
    }
}
