//! The owner's side of the rings: words and fills on their way into the books.

use std::rc::Rc;
use std::sync::Arc;

use corelane::task::yield_now;
use corelane::time::Instant;
use corelane_primitives::{Consumer64, Parker, RingConsumer, Topic};

use super::crew::Crew;
use super::desk::{Desk, Gauges};
use super::owner::{Owner, State};
use super::routes::Timed;
use crate::feed::{RingReport, ShardSummary, Trade, Update};
use crate::words::{Followers, Quote, WordError};

/// Words that are applied before other tasks of the shard have their turn.
const WORDS_MAX: usize = 1024;

/// The same for fills.
const FILLS_MAX: usize = 256;

/// What a shard knows of the rings to it.
#[derive(Debug)]
pub(super) struct Ringside {
    followers: Followers,
    gauges: Gauges,
    malformed: u64,
}

impl Ringside {
    /// What the rings tell now.
    pub(super) fn rings(&self) -> [RingReport; 2] {
        self.gauges.read()
    }

    /// What the rings refused of words. Of fills the decoders know.
    pub(super) fn refused(&self) -> u64 {
        let [words, _] = self.rings();
        words.refused
    }

    /// Adds what is known at the end.
    pub(super) fn close(&self, summary: &mut ShardSummary) {
        summary.refused += self.refused();
        summary.malformed += self.malformed;
        summary.rings.extend(self.rings());
        for follower in self.followers.iter() {
            summary.holes.discarded += follower.discarded();
            summary.holes.snapshots += follower.snapshots();
        }
    }

    /// Gives `apply` what a word says, and the snapshots before it.
    fn take_word(
        &mut self,
        word: u64,
        mut apply: impl FnMut(Instant, Update),
    ) -> Result<(), WordError> {
        let quote = Quote::unpack(word)?;
        let follower = self.followers.of(&quote)?;
        while let Some(snapshot) = follower.aside() {
            apply(Instant::from_nanos(follower.decoded_ns()), snapshot);
        }
        if let Some(update) = follower.follow(&quote) {
            apply(Instant::from_nanos(follower.decoded_ns()), update);
        }
        Ok(())
    }
}

impl Owner {
    /// Applies what comes over the rings, until both have ended. Trades go to `topic`.
    pub(super) fn take_desk(self: &Rc<Self>, desk: Desk, topic: Topic<Trade>, crew: &Crew) {
        let ringside = Ringside {
            followers: desk.followers,
            gauges: desk.gauges,
            malformed: 0,
        };
        self.0.borrow_mut().ringside = Some(ringside);
        crew.start(Rc::clone(self).apply_words(desk.words, desk.waiting));
        crew.start(Rc::clone(self).apply_fills(desk.fills, topic));
    }

    async fn apply_words(self: Rc<Self>, mut words: Consumer64, waiting: Vec<Arc<Parker>>) {
        while words.ready().await {
            self.0.borrow_mut().take_words(&mut words);
            for decoder in &waiting {
                decoder.wake();
            }
            yield_now().await;
        }
        // What the decoders said at their end stands behind the last word.
        self.0.borrow_mut().take_asides();
    }

    async fn apply_fills(self: Rc<Self>, mut fills: RingConsumer<Timed>, topic: Topic<Trade>) {
        let (mut batch, mut trades) = (Vec::new(), Vec::new());
        while fills.ready().await {
            fills.pop_batch(&mut batch, FILLS_MAX);
            self.0.borrow_mut().apply_all(batch.drain(..));
            self.publish(&topic, &mut trades).await;
            yield_now().await;
        }
    }
}

impl State {
    fn take_words(&mut self, words: &mut Consumer64) {
        let Some(mut ringside) = self.ringside.take() else {
            unreachable!("only this puts it away, and back");
        };
        words.fold(WORDS_MAX, (), |(), word| {
            let apply = |decoded, update| self.apply(decoded, update);
            if ringside.take_word(word, apply).is_err() {
                ringside.malformed += 1;
            }
        });
        self.finish();
        self.ringside = Some(ringside);
    }

    fn take_asides(&mut self) {
        let Some(mut ringside) = self.ringside.take() else {
            unreachable!("only this puts it away, and back");
        };
        for follower in ringside.followers.iter_mut() {
            while let Some(snapshot) = follower.aside() {
                let decoded = Instant::from_nanos(follower.decoded_ns());
                self.apply(decoded, snapshot);
            }
        }
        self.finish();
        self.ringside = Some(ringside);
    }
}
