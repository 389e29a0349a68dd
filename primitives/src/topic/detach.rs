//! Feeds that may travel: each has a part of its own.

use super::copies::Copies;
use super::cursor::Cursor;
use super::local::{After, FeedId, Local};
use super::log::Log;
use super::part::{Key, Part};
use super::settings::TopicOverflow;
use crate::panics::Panics;
use std::sync::Arc;

impl<T: Clone + Send + Sync> Cursor<T> {
    /// Moves this seat, with all that it has, to a new part that nobody else joins.
    ///
    /// The old part is left only when the new one holds what comes next: no value is lost or
    /// doubled. A writer that finds the old part's limit grown by that finds a turn of the control
    /// plane too, and looks again.
    pub(super) fn detach(self) -> Self {
        let key = Key {
            owner: None,
            ..self.part.key
        };
        // Writers are stopped where this seat's part stops them, or sooner, until it is known.
        let limit = self.local().borrow().limit_of(self.id());
        let start = self.log.tail();
        let copies = Copies::new(key.overflow, key.capacity, start);
        let part = self
            .log
            .register(Part::new(key, self.log.slots(), limit, Local::new(copies)));
        let mut panics = Panics::default();
        let Some(id) = panics.run(|| self.move_to(&part)) else {
            self.log.forget(&part);
            panics.resume();
            unreachable!("a panic was caught");
        };
        let detached = Cursor::new(Arc::clone(&self.log), part, id);
        // Here and not at the end: a drop that panics then is met by a local, which goes too, and
        // not by a returned value, which would stay for ever.
        panics.run(|| drop(self));
        panics.resume();
        detached
    }

    fn move_to(&self, part: &Part<T>) -> FeedId {
        let mut after = After::default();
        let log: &Log<T> = &self.log;
        let id = {
            let look = self.look();
            let mut old = look.local();
            // Repeats only when writers have gone a whole ring on meanwhile; see `settle`.
            loop {
                old.catch_up(log, &self.part, &mut after);
                if part.key.overflow != TopicOverflow::DropNew {
                    break;
                }
                part.hold(old.end());
                if log.tail() - old.end() < log.slots() {
                    break;
                }
            }
            let (copies, reader) = old.fork(self.id());
            // SAFETY: Valid: the part is borrowed. Exclusive: no other cursor knows it.
            let mut new = unsafe { part.owned() }.local.borrow_mut();
            *new = Local::new(copies);
            new.seat(reader)
        };
        after.run(log);
        id
    }
}
