//! A handle that may travel, of a value that stays.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use thread_aware::ThreadAware;
use thread_aware::affinity::Affinity;

use super::ResidentKey;
use crate::directory::Directory;
use crate::mesh::Submit;
use crate::shard::{Context, Shard, ShardIndex};
use crate::task::Departure;

/// A handle of a value that lives on one shard, its home. The handle may go anywhere (`Send` and
/// `Sync`); the value need not be `Send`, never leaves, and is dropped at home.
///
/// When the last handle goes, the value goes: at once if that happens at home, else in the home's
/// next turn, which the drop asks for. It never waits or blocks, on whatever thread. A home that
/// ends drops its values itself, after its tasks; handles that are left then stand for nothing.
///
/// It is `ThreadAware`: relocating it changes nothing, since its value stays on purpose. Clones
/// share a count, as those of a std `Arc` do.
///
/// ```
/// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
/// use std::{cell::Cell, rc::Rc};
/// use corelane::Remote;
///
/// let count = Remote::new(Rc::new(Cell::new(1))); // neither `Send` nor `Sync`
/// let there = corelane::shards()[1].clone();
/// let call = there.submit_with(count, |count| async move {
///     // It runs on shard 0, where the count is. Then the handle goes, over here.
///     count.with(|count| count.replace(5)).await
/// });
/// assert_eq!(call.await??, 1);
/// # Ok::<_, corelane::SubmitError>(())
/// # })?.expect("the shards are there");
/// # Ok::<_, corelane::StartError>(())
/// ```
pub struct Remote<T: 'static> {
    lodging: Arc<Lodging>,
    value: PhantomData<fn() -> T>,
}

/// One value's place at home. Its drop is the value's departure.
pub(crate) struct Lodging {
    directory: Directory,
    home: ShardIndex,
    key: ResidentKey,
    /// `None` only while it is dropped.
    departure: Option<Departure>,
}

impl<T: 'static> Remote<T> {
    /// Gives `value` to this shard, its home.
    ///
    /// Costs three allocations.
    ///
    /// # Panics
    ///
    /// Outside of the shards, and when the shard has 2^24 such values.
    #[must_use]
    pub fn new(value: T) -> Self {
        let lodging = Lodging::new(Rc::new(value));
        Self {
            lodging: Arc::new(lodging),
            value: PhantomData,
        }
    }

    /// The shard that the value lives on.
    #[must_use]
    pub fn home(&self) -> Shard {
        self.lodging.shard()
    }

    /// The value, where this is called at home; `None` elsewhere, and once the home drops its
    /// values.
    ///
    /// Who keeps it beyond the last handle, or the shard's end, keeps the value.
    #[must_use]
    pub fn get(&self) -> Option<Rc<T>> {
        self.lodging.get()
    }

    /// Calls `f` with the value, at home, and answers with what it returns.
    ///
    /// The call is sent at once and keeps the value alive until it ends, also when the handle goes
    /// meanwhile. It costs what [`Shard::submit`] costs.
    ///
    /// # Errors
    ///
    /// As [`Shard::submit`]: [`SubmitError::ShardGone`](crate::SubmitError::ShardGone) when the
    /// home has ended.
    ///
    /// # Cancel safety
    ///
    /// See [`Submit`].
    pub fn with<F, R>(&self, f: F) -> Submit<R>
    where
        F: FnOnce(&T) -> R + Send + 'static,
        R: Send + 'static,
    {
        self.invoke(|value| async move { f(&value) })
    }

    /// As [`Remote::with`], for what waits: `f` gets a handle of the value that it may keep while
    /// its future runs.
    ///
    /// # Errors
    ///
    /// As [`Remote::with`].
    ///
    /// # Cancel safety
    ///
    /// See [`Submit`].
    ///
    /// ```
    /// # corelane::Runtime::builder().placement(corelane::Placement::Unpinned(2)).run(|| async {
    /// use std::{cell::Cell, time::Duration};
    /// use corelane::{Remote, time};
    ///
    /// let count = Remote::new(Cell::new(1));
    /// let doubled = count.invoke(|count| async move {
    ///     time::sleep(Duration::from_millis(1)).await;
    ///     count.set(count.get() * 2);
    ///     count.get()
    /// });
    /// assert_eq!(doubled.await?, 2);
    /// # Ok::<_, corelane::SubmitError>(())
    /// # })?.expect("the shard is there");
    /// # Ok::<_, corelane::StartError>(())
    /// ```
    pub fn invoke<F, Fut>(&self, f: F) -> Submit<Fut::Output>
    where
        F: FnOnce(Rc<T>) -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        let lodging = Arc::clone(&self.lodging);
        self.home().submit(move || async move {
            let value = lodging
                .get()
                .expect("a handle keeps its value, and a shard ends its calls before its values");
            f(value).await
        })
    }
}

impl Lodging {
    /// Gives `value` to this shard.
    pub(crate) fn new<T: 'static>(value: Rc<T>) -> Self {
        Context::with(|context| {
            let key = context.residents().insert(value);
            Self {
                directory: context.directory().clone(),
                home: context.index(),
                key,
                departure: Some(Departure::new(key)),
            }
        })
    }

    /// The value, at home.
    pub(crate) fn get<T: 'static>(&self) -> Option<Rc<T>> {
        let value = self.at_home(|context| context.residents().get(self.key))?;
        Some(value?.downcast().expect("a key is of one value"))
    }

    pub(crate) fn key(&self) -> ResidentKey {
        self.key
    }

    fn shard(&self) -> Shard {
        Shard::new(self.directory.clone(), self.home)
    }

    /// Calls `f` if this is the value's home.
    fn at_home<R>(&self, f: impl FnOnce(&Context) -> R) -> Option<R> {
        Context::try_with(|context| {
            let is_home =
                context.index() == self.home && context.directory().is_same(&self.directory);
            is_home.then(|| f(context))
        })
        .flatten()
    }
}

impl Drop for Lodging {
    fn drop(&mut self) {
        if let Some(value) = self.at_home(|context| context.residents().remove(self.key)) {
            return drop(value);
        }
        let Some(departure) = self.departure.take() else {
            return;
        };
        let home = self.directory.member(self.home);
        home.inbox.depart(departure);
        home.mailbox.note();
        let rang = Context::try_with(|context| context.ring(*home.mailbox));
        if rang.is_none() {
            home.mailbox.ring(None);
        }
    }
}

impl<T> Clone for Remote<T> {
    fn clone(&self) -> Self {
        Self {
            lodging: Arc::clone(&self.lodging),
            value: PhantomData,
        }
    }
}

impl<T> ThreadAware for Remote<T> {
    /// Changes nothing: the value stays at home.
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T> fmt::Debug for Remote<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("home", &self.lodging.home.get())
            .finish_non_exhaustive()
    }
}
