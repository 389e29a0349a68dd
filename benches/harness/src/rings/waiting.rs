//! Floods whose ends are awaited: nobody spins, and a full or empty queue puts tasks to sleep.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::item::{Inbox, Items};
use super::rows::{Flood, On};
use super::start::{Start, host, places};
use super::{AwaitQueue, BATCH, Host, Shape};
use crate::{BenchError, Meter, Params, Sample, Spent};

/// The round of `flood` with an executor for the consumer's task and one a core for the others.
pub(super) fn flood<Q: AwaitQueue, H: Host>(
    params: &Params,
    flood: Flood,
) -> Result<Sample, BenchError> {
    let (spent, inbox) = flood_with::<Q, H>(params, flood.shape(), flood.on)?;
    let age_ns = inbox.check()?;
    Ok(spent.wall_sample().with_latency(&age_ns))
}

/// `params.ops` values through a queue of this shape: what it spent, and what came.
pub(crate) fn flood_with<Q: AwaitQueue, H: Host>(
    params: &Params,
    shape: Shape,
    on: On,
) -> Result<(Spent, Inbox), BenchError> {
    let (senders, receiver) = Q::open(shape);
    let items = Items::shared(params.ops, shape.producers);
    let inbox = Inbox::of(&items);
    let (own, others) = places(params, on);
    let mut groups: Vec<Vec<_>> = others.iter().map(|_| Vec::new()).collect();
    for (index, end) in senders.into_iter().zip(items).enumerate() {
        groups[index % others.len()].push(end);
    }
    if on == On::OneCore {
        let group = groups.pop().ok_or(BenchError::Panicked)?;
        return together::<Q, H>(own, params.ops, group, receiver, inbox);
    }
    groups.retain(|group| !group.is_empty());
    let start = Arc::new(Start::of(groups.len() + 1));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (others.iter().zip(groups))
            .map(|(core, group)| {
                let start = Arc::clone(&start);
                scope.spawn(move || {
                    let sends = group.into_iter().map(|end| send_all::<Q>(end).boxed());
                    host::<H, _>(&start, *core, sends.collect::<Vec<_>>())
                })
            })
            .collect();
        let outcome = Rc::new(RefCell::new(None));
        let receives = receive_all::<Q>(receiver, params.ops, inbox, Rc::clone(&outcome));
        let ran = host::<H, _>(&start, own, vec![receives.boxed()]);
        for thread in threads {
            thread.join().map_err(|_| BenchError::Panicked)??;
        }
        ran?;
        outcome.take().ok_or(BenchError::Panicked)
    })
}

/// Everything on one executor.
fn together<Q: AwaitQueue, H: Host>(
    core: usize,
    ops: u64,
    group: Vec<(Q::Sender, Items)>,
    receiver: Q::Receiver,
    inbox: Inbox,
) -> Result<(Spent, Inbox), BenchError> {
    let outcome = Rc::new(RefCell::new(None));
    let receives = receive_all::<Q>(receiver, ops, inbox, Rc::clone(&outcome));
    let mut tasks = vec![receives.boxed()];
    tasks.extend(group.into_iter().map(|end| send_all::<Q>(end).boxed()));
    host::<H, _>(&Arc::new(Start::of(1)), core, tasks)?;
    outcome.take().ok_or(BenchError::Panicked)
}

type Task = std::pin::Pin<Box<dyn Future<Output = ()>>>;

trait Boxed: Future<Output = ()> + Sized + 'static {
    fn boxed(self) -> Task {
        Box::pin(self)
    }
}

impl<F: Future<Output = ()> + 'static> Boxed for F {}

type Outcome = Rc<RefCell<Option<(Spent, Inbox)>>>;

async fn send_all<Q: AwaitQueue>((mut sender, items): (Q::Sender, Items)) {
    for value in items {
        if !Q::send(&mut sender, value).await {
            return; // the consumer's check says how many came
        }
    }
}

async fn receive_all<Q: AwaitQueue>(
    mut receiver: Q::Receiver,
    ops: u64,
    mut inbox: Inbox,
    outcome: Outcome,
) {
    let mut values = Vec::with_capacity(BATCH);
    let meter = Meter::start();
    while inbox.count() < ops {
        if Q::receive(&mut receiver, BATCH, &mut values).await == 0 {
            break; // the check says how many are missing
        }
        values.drain(..).for_each(|value| inbox.take(value));
    }
    *outcome.borrow_mut() = Some((meter.stop(ops), inbox));
}
