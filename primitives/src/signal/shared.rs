//! Values of any type, each behind a pointer that is exchanged.

use super::keep::{Follow, Keep, Mark, Version};
use crate::sync::Newest;
use std::fmt;
use std::sync::Arc;

/// How [`Signal::new`](super::Signal::new) keeps its value: as an immutable snapshot, which readers
/// share.
pub struct Shared<T>(Newest<Snapshot<T>>);

/// A value with its version: who has one has the other.
pub struct Snapshot<T> {
    pub(crate) mark: Mark,
    pub(crate) value: Arc<T>,
}

impl<T> Snapshot<T> {
    /// What comes after this one.
    pub(crate) fn next(&self, value: Arc<T>, follow: Follow) -> Self {
        let mark = Mark {
            version: Version(self.mark.version.0 + 1),
            is_last: follow == Follow::Nothing,
        };
        Self { mark, value }
    }

    /// The same value as the last one.
    pub(crate) fn last(&self) -> Self {
        let mark = Mark {
            is_last: true,
            ..self.mark
        };
        let value = Arc::clone(&self.value);
        Self { mark, value }
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        let mark = Mark {
            version: Version(0),
            is_last: false,
        };
        let value = Arc::new(value);
        Self(Newest::new(Arc::new(Snapshot { mark, value })))
    }

    /// Lends the newest snapshot.
    #[inline]
    pub(crate) fn snapshot<R>(&self, read: impl FnOnce(&Arc<Snapshot<T>>) -> R) -> R {
        self.0.read(read)
    }

    /// Where the newest snapshot is.
    #[inline]
    pub(crate) fn newest(&self) -> &Newest<Snapshot<T>> {
        &self.0
    }

    /// Puts `next` in place of `last`, if that is still the newest.
    pub(crate) fn exchange(&self, last: &Arc<Snapshot<T>>, next: Arc<Snapshot<T>>) -> bool {
        self.0.replace(last, next)
    }

    /// Publishes `value` after `last`, if that is still the newest.
    fn publish(&self, last: &Arc<Snapshot<T>>, value: Arc<T>, follow: Follow) -> Option<Version> {
        let next = last.next(value, follow);
        let version = next.mark.version;
        self.exchange(last, Arc::new(next)).then_some(version)
    }
}

impl<T> Keep<T> for Shared<T> {
    #[inline]
    fn mark(&self) -> Mark {
        self.0.read(|newest| newest.mark)
    }

    #[inline]
    fn read<R>(&self, read: impl FnOnce(Mark, &T) -> R) -> R {
        self.0.read(|newest| read(newest.mark, &newest.value))
    }

    #[inline]
    fn get(&self) -> Arc<T> {
        self.0.read(|newest| Arc::clone(&newest.value))
    }

    fn put(&self, value: T, follow: Follow) -> Result<Version, T> {
        let value = Arc::new(value);
        // Repeats only when another value was published meanwhile.
        loop {
            let published = self.0.read(|last| match last.mark.is_last {
                true => Err(()),
                false => Ok(self.publish(last, Arc::clone(&value), follow)),
            });
            match published {
                Ok(Some(version)) => return Ok(version),
                Ok(None) => {}
                Err(()) => {
                    let value = Arc::into_inner(value);
                    return Err(value.expect("what was never published has one holder"));
                }
            }
        }
    }

    fn replace(&self, mut next: impl FnMut(&T) -> T) -> Option<Version> {
        // Repeats only when another value was published meanwhile.
        loop {
            let published = self.0.read(|last| match last.mark.is_last {
                true => Err(()),
                false => Ok(self.publish(last, Arc::new(next(&last.value)), Follow::More)),
            });
            match published {
                Ok(Some(version)) => return Some(version),
                Ok(None) => {}
                Err(()) => return None,
            }
        }
    }

    fn close(&self) {
        // Repeats only when another value was published meanwhile.
        loop {
            let closed = self
                .snapshot(|last| last.mark.is_last || self.exchange(last, Arc::new(last.last())));
            if closed {
                return;
            }
        }
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.mark()).finish()
    }
}
