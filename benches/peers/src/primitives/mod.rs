//! State and messages between cores: what the rows of suite `primitives` run on.
//!
//! Feeds, producers and consumers are tasks of tokio's `LocalRuntime`, one a core, which has the
//! cheapest spawn and wake of tokio's runtimes. datum-core runs a thread for each of its streams
//! and may use every core. A broadcast channel that drops what is too old for a slow receiver
//! (tokio's) gets room for all values of a row that loses none.

mod actors;
mod broadcast;
mod channel;
mod datum;
mod host;
mod overflow;
mod queues;
mod stories;
mod watch;

use corelane_bench_harness::{
    AwaitQueue, Crowd, Entry, Hosted, Latest, Source, actor_entries, fairness_entries,
    form_a_lossless, form_a_mpsc, form_a_propagation, form_a_topic, get_arc_entries, get_entries,
    live_entries, live_mpsc_entries, lossless_entries, overflow_oldest_entries, queue_entries,
    set_entries, story_overflow_new, story_overflow_oldest, topic_entries, watch_entries,
};

use crate::rings::waiting;
use crate::version::named;
use host::TokioOne;

pub(crate) fn entries() -> Vec<Entry> {
    let name = named("datum-core");
    datum::remember_cores();
    [
        reads_and_sets::<datum::Signal>(&name),
        slow(watch_entries::<datum::Signal>(&name)),
        get_arc_entries::<datum::Signal>(&name),
        form_a_propagation(&name, stories::propagation),
        form_a_lossless(&name, stories::lossless),
        slow(lossless_entries::<datum::Subscription>(&name)),
        form_a_mpsc(&name, stories::mpsc),
        live_mpsc_entries(&name, channel::mpsc),
        fairness_entries(&name, channel::fairness),
        form_a_topic(&name, stories::topic),
        slow(topic_entries::<datum::Topic>(&name)),
        story_overflow_oldest(&name, stories::overflow_sliding),
        story_overflow_new(&name, stories::overflow_dropping),
        actor_entries(&named("ractor"), actors::ractor),
        actor_entries(&named("tokio"), actors::tokio),
        hosted_state::<watch::Tokio>("tokio"),
        hosted_state::<watch::Eyeball>("eyeball"),
        hosted_state::<watch::Postage>("postage"),
        every_value::<broadcast::Tokio>("tokio"),
        every_value::<broadcast::AsyncBroadcast>("async-broadcast"),
        every_value::<broadcast::Postage>("postage"),
        overflow_oldest_entries::<overflow::Tokio, TokioOne>(&named("tokio")),
        overflow_oldest_entries::<overflow::AsyncBroadcast, TokioOne>(&named("async-broadcast")),
        queue::<waiting::Tokio>("tokio"),
        queue::<waiting::AsyncChannel>("async-channel"),
        queue::<waiting::Kanal>("kanal"),
        queue::<waiting::Flume>("flume"),
        queue::<queues::Crossfire>("crossfire"),
        queue::<queues::Postage>("postage"),
    ]
    .concat()
}

/// Rows of hundreds of threads are done once a round: that takes a second and more.
fn slow(entries: Vec<Entry>) -> Vec<Entry> {
    let many = |row: &str| {
        ["propagation", "lossless", "topic"]
            .iter()
            .any(|of| row.starts_with(of))
    };
    let entries = entries.into_iter();
    let fewer = |entry: Entry| match many(entry.row) {
        true => entry.fewer(1_000),
        false => entry,
    };
    entries.map(fewer).collect()
}

fn reads_and_sets<S: Crowd + Latest>(who: &str) -> Vec<Entry> {
    [
        get_entries::<S>(who),
        live_entries::<S>(who),
        set_entries::<S>(who),
    ]
    .concat()
}

fn hosted_state<S: Source + Latest>(library: &str) -> Vec<Entry> {
    let who = named(library);
    [
        reads_and_sets::<Hosted<S, TokioOne>>(&who),
        watch_entries::<Hosted<S, TokioOne>>(&who),
    ]
    .concat()
}

fn every_value<S: Source>(library: &str) -> Vec<Entry> {
    let who = named(library);
    [
        lossless_entries::<Hosted<S, TokioOne>>(&who),
        topic_entries::<Hosted<S, TokioOne>>(&who),
    ]
    .concat()
}

fn queue<Q: AwaitQueue>(library: &str) -> Vec<Entry> {
    queue_entries::<Q, TokioOne>(&named(library))
}
