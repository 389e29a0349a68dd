//! Rows with live feeds: a writer on one core, all feeds on a host of another.

use std::sync::Arc;

use super::stage::{Gets, Stage, against};
use super::value::encoded;
use super::{Crowd, ITEMS};
use crate::{BenchError, Params, Sample, Spent};

/// What a writer does and its feeds must get.
#[derive(Debug, Clone, Copy)]
struct Story {
    feeds: usize,
    capacity: usize,
    gets: Gets,
    items: u64,
}

/// Places of a subscription's feeds: as many as there are changes, as in Datum's own row.
const CHANGES: usize = ITEMS as usize;
/// Places of a topic's feeds, as in Datum's own row.
const MESSAGES: usize = 256;

/// Feeds of the latest value.
pub(super) fn propagation<C: Crowd>(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    let story = Story {
        feeds,
        capacity: CHANGES,
        gets: Gets::Latest,
        items: ITEMS,
    };
    passes::<C>(params, story)
}

/// Feeds that get every change.
pub(super) fn lossless<C: Crowd>(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    let story = Story {
        feeds,
        capacity: CHANGES,
        gets: Gets::Each,
        items: ITEMS,
    };
    passes::<C>(params, story)
}

/// Feeds that get every message, and have room for a quarter of them.
pub(super) fn topic<C: Crowd>(params: &Params, feeds: usize) -> Result<Sample, BenchError> {
    let story = Story {
        feeds,
        capacity: MESSAGES,
        gets: Gets::Each,
        items: ITEMS,
    };
    passes::<C>(params, story)
}

/// One feed of the latest value; an operation is a set.
pub(super) fn sets<C: Crowd>(params: &Params) -> Result<Sample, BenchError> {
    let story = Story {
        feeds: 1,
        capacity: CHANGES,
        gets: Gets::Latest,
        items: params.ops,
    };
    let (spent, _) = pass::<C>(params, story, params.ops)?;
    Ok(spent.wall_sample())
}

/// An operation is the whole story.
fn passes<C: Crowd>(params: &Params, story: Story) -> Result<Sample, BenchError> {
    let mut spent = Spent::default();
    let mut taken = 0;
    for _ in 0..params.ops.max(1) {
        let (pass, values) = pass::<C>(params, story, 1)?;
        spent.add(&pass);
        taken += values;
    }
    let values = taken as f64 / spent.ops as f64 / story.feeds as f64;
    Ok(spent.wall_sample().with_extra("values a feed", values))
}

/// One source and its feeds; the values that all feeds took beside what it spent.
fn pass<C: Crowd>(params: &Params, story: Story, ops: u64) -> Result<(Spent, u64), BenchError> {
    let crowd = C::open(story.capacity);
    let stage = Stage::of(story.feeds);
    let ears = stage.listeners(story.gets, story.items);
    let write = write(crowd.clone(), Arc::clone(&stage), story);
    against(params.cores, &crowd, ears, write)?;
    Ok((stage.spent(ops)?, stage.taken()))
}

async fn write<C: Crowd>(crowd: C, stage: Arc<Stage>, story: Story) {
    if !stage.await_ready::<C::Host>().await {
        crowd.close(); // the stage knows who is missing
        return;
    }
    stage.begin();
    for number in 1..=story.items {
        let value = match story.gets {
            Gets::Latest => encoded(number),
            Gets::Each => number,
        };
        if !crowd.send(value).await {
            return; // the feeds' checks say how many came
        }
    }
}
