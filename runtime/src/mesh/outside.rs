//! Calls from threads outside the shards, through the target's locked inbox.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Wake, Waker};
use std::thread::{self, Thread};

use thread_aware::ThreadAware;

use super::calls::{Answer, carry_out};
use super::relocation::relocating;
use crate::directory::Directory;
use crate::error::{SubmitError, TrySubmitError};
use crate::inbox::{Job, Refused};
use crate::shard::{Context, ShardIndex};
use crate::task::token::Token;
use crate::task::wake;

/// A shard as threads outside the runtime see it; from [`Running`](crate::Running).
#[derive(Clone)]
pub struct OutsideShard {
    directory: Directory,
    index: ShardIndex,
}

/// The answer of a call that was made from outside the shards; works on any executor.
///
/// # Cancel safety
///
/// Dropping it cancels the call and never waits, as with [`Submit`](crate::Submit).
#[must_use = "dropping it cancels the call; await it or wait for it"]
pub struct OutsideCall<T> {
    slot: Arc<Slot<T>>,
    shard: OutsideShard,
    /// The call, while the inbox has had no room for it.
    unsent: Option<Job>,
}

struct Slot<T>(Mutex<Content<T>>);

struct Content<T> {
    output: Option<Result<T, SubmitError>>,
    waiter: Option<Waker>,
    worker: Option<Token>,
    cancelled: bool,
}

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, Content<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OutsideShard {
    pub(crate) fn new(directory: Directory, index: ShardIndex) -> Self {
        Self { directory, index }
    }

    /// The shard's place in its runtime, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index.get()
    }

    /// Calls `call` on the shard. When its inbox is full, the call goes as soon as the answer is
    /// polled or waited for and there is room.
    ///
    /// Costs an allocation and a lock on each side; shards among themselves have lanes.
    ///
    /// # Errors
    ///
    /// The answer says [`SubmitError`].
    pub fn submit<F, Fut>(&self, call: F) -> OutsideCall<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let (slot, job) = job(call);
        let mut answer = OutsideCall {
            slot,
            shard: self.clone(),
            unsent: Some(job),
        };
        answer.send(None);
        answer
    }

    /// As [`Shard::submit_with`](crate::Shard::submit_with), from outside: `data` is relocated
    /// once, on the shard, from no known source.
    ///
    /// # Errors
    ///
    /// As [`OutsideShard::submit`]; a panic of the relocation is the call's.
    ///
    /// ```
    /// use std::time::Duration;
    /// use corelane::{Placement, Runtime};
    /// use thread_aware::{Arc, PerCore};
    ///
    /// let running = Runtime::builder().placement(Placement::Unpinned(2)).start()?;
    /// let cache = Arc::<_, PerCore>::new(|| vec![0_u8; 64]);
    /// let shard = running.shard(1);
    /// let there = shard.submit_with(cache.clone(), |cache| async { cache }).wait()?;
    /// assert!(!Arc::ptr_eq(&cache, &there));
    /// running.shutdown(Duration::from_secs(5))?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn submit_with<D, F, Fut>(&self, data: D, call: F) -> OutsideCall<Fut::Output>
    where
        D: ThreadAware + 'static,
        F: FnOnce(D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        self.submit(relocating(None, data, call))
    }

    /// As [`OutsideShard::submit`], but gives up at once when the inbox is full.
    ///
    /// # Errors
    ///
    /// [`TrySubmitError`] when the inbox is full or the shard is gone. The call is dropped then:
    /// its captures went into the box that was refused.
    pub fn try_submit<F, Fut>(
        &self,
        call: F,
    ) -> Result<OutsideCall<Fut::Output>, TrySubmitError<()>>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let (slot, job) = job(call);
        match self.put(job, None) {
            Ok(()) => Ok(OutsideCall {
                slot,
                shard: self.clone(),
                unsent: None,
            }),
            Err(Refused::Full(_)) => Err(TrySubmitError::Full(())),
            Err(Refused::Closed(_)) => Err(TrySubmitError::ShardGone(())),
        }
    }

    /// As [`OutsideShard::submit_with`], but gives up at once when the inbox is full.
    ///
    /// # Errors
    ///
    /// As [`OutsideShard::try_submit`]; the data is dropped with the call, not relocated.
    pub fn try_submit_with<D, F, Fut>(
        &self,
        data: D,
        call: F,
    ) -> Result<OutsideCall<Fut::Output>, TrySubmitError<()>>
    where
        D: ThreadAware + 'static,
        F: FnOnce(D) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        self.try_submit(relocating(None, data, call))
    }

    fn put(&self, job: Job, waiter: Option<&Waker>) -> Result<(), Refused> {
        let member = self.directory.member(self.index);
        member.inbox.put(job, waiter)?;
        member.mailbox.note();
        member.mailbox.ring(None);
        Ok(())
    }
}

fn job<F, Fut>(call: F) -> (Arc<Slot<Fut::Output>>, Job)
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    let slot = Arc::new(Slot(Mutex::new(Content {
        output: None,
        waiter: None,
        worker: None,
        cancelled: false,
    })));
    let work = OutsideWork(Some(Arc::clone(&slot)));
    let job: Job = Box::new(move || {
        Context::with(|context| context.spawn_detached(carry_out(call, work)));
    });
    (slot, job)
}

impl<T> OutsideCall<T> {
    fn send(&mut self, waiter: Option<&Waker>) {
        let Some(job) = self.unsent.take() else {
            return;
        };
        match self.shard.put(job, waiter) {
            Ok(()) => {}
            Err(Refused::Full(job)) => self.unsent = Some(job),
            // Dropping the job answers `ShardGone`.
            Err(Refused::Closed(job)) => drop(job),
        }
    }

    /// Blocks the calling thread until the answer is there.
    ///
    /// # Errors
    ///
    /// [`SubmitError`].
    ///
    /// # Panics
    ///
    /// On a shard, which must never block.
    pub fn wait(mut self) -> Result<T, SubmitError> {
        assert!(
            Context::try_with(|_| ()).is_none(),
            "a shard must not block; await the call instead"
        );
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = TaskContext::from_waker(&waker);
        loop {
            if let Poll::Ready(answer) = Pin::new(&mut self).poll(&mut cx) {
                return answer;
            }
            thread::park();
        }
    }
}

impl<T> Unpin for OutsideCall<T> {}

impl<T> Future for OutsideCall<T> {
    type Output = Result<T, SubmitError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.send(Some(cx.waker()));
        let mut content = self.slot.lock();
        if let Some(output) = content.output.take() {
            return Poll::Ready(output);
        }
        let old = content.waiter.replace(cx.waker().clone());
        drop(content);
        drop(old);
        Poll::Pending
    }
}

impl<T> Drop for OutsideCall<T> {
    fn drop(&mut self) {
        let mut content = self.slot.lock();
        content.cancelled = true;
        let worker = content.worker;
        let left = (content.output.take(), content.waiter.take());
        drop(content);
        drop(left);
        if let Some(worker) = worker {
            Context::wake(worker);
        }
    }
}

/// The shard's side of a call from outside: it ends in exactly one answer.
struct OutsideWork<T>(Option<Arc<Slot<T>>>);

impl<T> OutsideWork<T> {
    fn finish(&mut self, output: Result<T, SubmitError>) {
        let Some(slot) = self.0.take() else { return };
        let mut content = slot.lock();
        content.worker = None;
        let unwanted = if content.cancelled {
            Some(output)
        } else {
            content.output = Some(output);
            None
        };
        let waiter = content.waiter.take();
        drop(content);
        drop(unwanted);
        if let Some(waiter) = waiter {
            wake(waiter);
        }
    }
}

impl<T> Answer<T> for OutsideWork<T> {
    fn enter(&self, worker: Token) -> bool {
        let Some(slot) = &self.0 else { return true };
        let mut content = slot.lock();
        content.worker = Some(worker);
        content.cancelled
    }

    fn is_cancelled(&self) -> bool {
        self.0.as_ref().is_none_or(|slot| slot.lock().cancelled)
    }

    fn answer(mut self, output: Result<T, SubmitError>) {
        self.finish(output);
    }
}

impl<T> Drop for OutsideWork<T> {
    fn drop(&mut self) {
        self.finish(Err(SubmitError::lost()));
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl fmt::Debug for OutsideShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutsideShard")
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for OutsideCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutsideCall")
            .field("shard", &self.shard)
            .finish_non_exhaustive()
    }
}
