//! Feeds that are full: everything on one core, and nobody reads until all is published.

use std::cell::RefCell;
use std::rc::Rc;

use super::{ITEMS, Scenarios, Source};
use crate::{BenchError, Host, Params, Sample, pin};

/// Places of a feed, as in Datum's own row.
const PLACES: u64 = 16;

/// What a full feed must have at the end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keeps {
    /// The newest messages.
    Newest,
    /// The oldest ones.
    Oldest,
}

impl Keeps {
    /// Whether `value` may be there; libraries differ in how many places they really have.
    fn allows(self, value: u64) -> bool {
        match self {
            Self::Newest => value > ITEMS - 2 * PLACES,
            Self::Oldest => value <= 2 * PLACES,
        }
    }
}

/// An operation is the whole story: open, subscribe, publish, close, drain.
pub(super) fn overflow<S: Source, H: Host>(
    params: &Params,
    feeds: usize,
    keeps: Keeps,
) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let outcome = Rc::new(RefCell::new(None));
    let (told, params) = (Rc::clone(&outcome), *params);
    let stories = async move {
        let sample = stories::<S>(&params, feeds, keeps).await;
        *told.borrow_mut() = Some(sample);
    };
    H::run(params.cores.first, vec![stories], || ())?;
    outcome.take().ok_or(BenchError::Panicked)?
}

async fn stories<S: Source>(
    params: &Params,
    feeds: usize,
    keeps: Keeps,
) -> Result<Sample, BenchError> {
    // Each feed has engaged, and has what it must keep.
    let mut scenarios = Scenarios::start(params, feeds as u64);
    while scenarios.more() {
        let right = story::<S>(feeds, keeps).await;
        scenarios.done(right)?;
    }
    scenarios.finish()
}

/// How many feeds have lost what they must lose and kept what they must keep.
async fn story<S: Source>(feeds: usize, keeps: Keeps) -> u64 {
    let source = S::open(PLACES as usize);
    let all: Vec<_> = (0..feeds).map(|_| source.feed()).collect();
    let mut accepted = 0;
    for value in 1..=ITEMS {
        accepted += u64::from(source.send(value).await);
    }
    source.close();
    drop(source);
    let mut right = 0;
    for mut feed in all {
        let (mut count, mut last, mut wrong) = (0, 0, 0);
        let take = |value| {
            count += 1;
            wrong += u64::from(value <= last || !keeps.allows(value));
            last = value;
            true
        };
        drain::<S>(&mut feed, take).await;
        let engaged = count > 0 && count <= 2 * PLACES;
        right += u64::from(engaged && wrong == 0 && accepted == ITEMS);
    }
    right
}

async fn drain<S: Source>(feed: &mut S::Feed, mut take: impl FnMut(u64) -> bool) {
    while S::pull(feed, &mut take).await {}
}
