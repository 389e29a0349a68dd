//! Floods: N producers push as fast as there is room, one consumer takes and checks.

use std::rc::Rc;
use std::sync::Arc;

use super::item::{Inbox, Items};
use super::patience::Patience;
use super::rows::{By, Flood};
use super::start::{Start, host, places};
use super::{BATCH, Host, Pull, Push, Queue};
use crate::{BenchError, Meter, Params, Sample, Spent};

/// Pushes of a task before it lets the others run.
const TURN: u64 = 256;

/// The round of `flood`: wall time a value; percentiles are of a value's age when it is taken.
pub(super) fn flood<Q: Queue, H: Host>(
    params: &Params,
    flood: Flood,
) -> Result<Sample, BenchError> {
    let (producers, mut consumer) = Q::open(flood.shape());
    let items = Items::shared(params.ops, flood.producers);
    let mut inbox = Inbox::of(&items);
    let (own, others) = places(params, flood.on);
    let groups = groups(producers.into_iter().zip(items), &others, flood.by);
    let start = Arc::new(Start::of(groups.len() + 1));
    let spent = std::thread::scope(|scope| {
        let start = &start;
        let threads: Vec<_> = (groups.into_iter())
            .map(|(core, group)| {
                scope.spawn(move || match flood.by {
                    By::Tasks => by_tasks::<Q, H>(start, core, group, flood.batch),
                    By::Threads => by_thread(start, core, group),
                })
            })
            .collect();
        let spent = consume(start, own, params.ops, &mut consumer, &mut inbox);
        for thread in threads {
            thread.join().map_err(|_| BenchError::Panicked)??;
        }
        spent
    })?;
    let age_ns = inbox.check()?;
    Ok(spent.wall_sample().with_latency(&age_ns))
}

type Group<P> = Vec<(P, Items)>;

/// One group a core for tasks, and one a thread for threads.
fn groups<P>(
    ends: impl Iterator<Item = (P, Items)>,
    cores: &[usize],
    by: By,
) -> Vec<(usize, Group<P>)> {
    let mut groups: Vec<(usize, Group<P>)> = Vec::new();
    for (index, end) in ends.enumerate() {
        let place = index % cores.len();
        match groups.get_mut(place) {
            Some((_, group)) if by == By::Tasks => group.push(end),
            _ => groups.push((cores[place], vec![end])),
        }
    }
    groups
}

fn consume<C: Pull>(
    start: &Start,
    core: usize,
    ops: u64,
    consumer: &mut C,
    inbox: &mut Inbox,
) -> Result<Spent, BenchError> {
    let pinned = start.pin(core);
    start.meet()?;
    pinned?;
    let meter = Meter::start();
    let patience = Patience::default();
    while inbox.count() < ops {
        if consumer.pull(BATCH, |value| inbox.take(value)) > 0 {
            patience.calm();
        } else if !patience.wait() {
            let done = inbox.count();
            return Err(BenchError::Stalled { done, of: ops });
        }
    }
    Ok(meter.stop(ops))
}

fn by_thread<P: Push>(start: &Start, core: usize, group: Group<P>) -> Result<(), BenchError> {
    let pinned = start.pin(core);
    start.meet()?;
    pinned?;
    let patience = Patience::default();
    for (mut producer, mut items) in group {
        while let Some(value) = items.next() {
            while !producer.push(value) {
                if !patience.wait() {
                    return Err(stalled(&items));
                }
            }
            patience.calm();
        }
    }
    Ok(())
}

fn by_tasks<Q: Queue, H: Host>(
    start: &Arc<Start>,
    core: usize,
    group: Group<Q::Producer>,
    batch: usize,
) -> Result<(), BenchError> {
    let patience = Rc::new(Patience::default());
    let tasks = (group.into_iter())
        .map(|(producer, items)| produce::<Q, H>(producer, items, batch, Rc::clone(&patience)));
    host::<H, _>(start, core, tasks.collect())
}

async fn produce<Q: Queue, H: Host>(
    mut producer: Q::Producer,
    mut items: Items,
    batch: usize,
    patience: Rc<Patience>,
) {
    let mut run = Vec::with_capacity(batch);
    let mut turn = 0;
    loop {
        run.extend(items.by_ref().take(batch));
        if run.is_empty() {
            return;
        }
        let mut pushed = 0;
        while pushed < run.len() {
            let count = match batch {
                1 => usize::from(producer.push(run[0])),
                _ => producer.push_batch(&run[pushed..]),
            };
            pushed += count;
            if count > 0 {
                patience.calm();
                continue;
            }
            if !patience.miss() {
                return; // the consumer says how many came
            }
            H::yield_now().await;
        }
        turn += run.len() as u64;
        run.clear();
        if turn >= TURN {
            turn = 0;
            H::yield_now().await;
        }
    }
}

fn stalled(items: &Items) -> BenchError {
    BenchError::Stalled {
        done: items.given() - 1,
        of: items.count(),
    }
}
