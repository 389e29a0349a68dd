//! A handle that keeps no channel open.

use super::passage::{AsIs, Passage};
use super::sender::Sender;
use super::shared::Shared;
use crate::sync::Arc;
use std::fmt;
use thread_aware::{ThreadAware, affinity::Affinity};

/// A sender that does not count as one, made by [`Sender::downgrade`](crate::Sender::downgrade).
///
/// It keeps the channel's memory, and neither keeps it open nor can send by itself.
///
/// ```
/// let (sender, receiver) = corelane_primitives::channel::<u32>(8);
/// let weak = sender.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(sender);
/// assert!(weak.upgrade().is_none());
/// assert!(receiver.is_closed());
/// ```
pub struct WeakSender<T, P: Passage<T> = AsIs> {
    shared: Arc<Shared<T, P>>,
}

impl<T, P: Passage<T>> WeakSender<T, P> {
    pub(super) fn new(shared: Arc<Shared<T, P>>) -> Self {
        Self { shared }
    }

    /// A sender, unless the last one has gone.
    pub fn upgrade(&self) -> Option<Sender<T, P>> {
        self.shared
            .try_add_sender()
            .then(|| Sender::new(Arc::clone(&self.shared)))
    }
}

impl<T, P: Passage<T>> Clone for WeakSender<T, P> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.shared))
    }
}

/// A channel is one place for all cores.
impl<T, P: Passage<T>> ThreadAware for WeakSender<T, P>
where
    P::Item: Send,
{
    fn relocate(&mut self, _source: Option<Affinity>, _destination: Affinity) {}
}

impl<T, P: Passage<T>> fmt::Debug for WeakSender<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
