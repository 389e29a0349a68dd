//! Rows about many producers and one consumer, all of which await.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::ITEMS;
use crate::rings::rows::On;
use crate::rings::{Start, enter, flood_with};
use crate::{AwaitQueue, BenchError, Host, Meter, Params, Sample, Shape, Spent};

/// Places of a channel, as in Datum's own row.
const PLACES: usize = 256;
/// Values that a consumer takes at a time.
const BATCH: usize = 256;

fn shape(producers: usize) -> Shape {
    Shape {
        slots: PLACES,
        producers,
        shards: 1,
    }
}

/// 1,024 values from each producer; an operation is all of it.
pub(super) fn mpsc<Q: AwaitQueue, H: Host>(
    params: &Params,
    producers: usize,
) -> Result<Sample, BenchError> {
    let mut spent = Spent::default();
    for _ in 0..params.ops.max(1) {
        let pass = Params {
            ops: ITEMS * producers as u64,
            ..*params
        };
        let (mut pass, inbox) = flood_with::<Q, H>(&pass, shape(producers), On::Apart)?;
        inbox.check()?;
        pass.ops = 1;
        spent.add(&pass);
    }
    Ok(spent.wall_sample())
}

/// Every producer sends as fast as it may until `params.ops` values have come; the value is what
/// the fastest got through for each value of the slowest.
pub(super) fn fairness<Q: AwaitQueue, H: Host>(
    params: &Params,
    producers: usize,
) -> Result<Sample, BenchError> {
    let (senders, receiver) = Q::open(shape(producers));
    let start = Arc::new(Start::of(2));
    let outcome = Rc::new(RefCell::new(None));
    let (cores, ops) = (params.cores, params.ops);
    std::thread::scope(|scope| {
        let there = Arc::clone(&start);
        let sends = scope.spawn(move || {
            let sends = senders.into_iter().enumerate();
            let sends = sends.map(|(number, sender)| send_on::<Q>(sender, number as u64));
            let sends: Vec<_> = sends.collect();
            enter(&there, cores.second, |meet| {
                H::run(cores.second, sends, move || meet.now())
            })
        });
        let counts = count::<Q>(receiver, ops, producers, Rc::clone(&outcome));
        let ran = enter(&start, cores.first, |meet| {
            H::run(cores.first, vec![counts], move || meet.now())
        });
        sends.join().map_err(|_| BenchError::Panicked)??;
        ran
    })?;
    let (spent, counts): (Spent, Vec<u64>) = outcome.take().ok_or(BenchError::Panicked)?;
    Fairness(counts).sample(&spent)
}

/// How many values of each producer came.
#[derive(Debug, Clone)]
pub struct Fairness(pub Vec<u64>);

impl Fairness {
    /// The sample of a round that took so many values.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when others came.
    pub fn sample(&self, spent: &Spent) -> Result<Sample, BenchError> {
        let Self(counts) = self;
        BenchError::check("values received", spent.ops, counts.iter().sum())?;
        let most = counts.iter().max().copied().unwrap_or_default();
        let least = counts.iter().min().copied().unwrap_or_default();
        let ratio = most as f64 / least.max(1) as f64;
        let sample = spent.sample(ratio).with_extra("least", least as f64);
        Ok(sample.with_extra("ns a value", spent.wall_ns as f64 / spent.ops as f64))
    }
}

/// What the consumer spent, and how many values of each producer it took.
type Outcome = Rc<RefCell<Option<(Spent, Vec<u64>)>>>;

async fn send_on<Q: AwaitQueue>(mut sender: Q::Sender, number: u64) {
    // Ends when the consumer has had enough.
    while Q::send(&mut sender, number).await {}
}

async fn count<Q: AwaitQueue>(
    mut receiver: Q::Receiver,
    ops: u64,
    producers: usize,
    outcome: Outcome,
) {
    let mut counts = vec![0_u64; producers];
    let mut values = Vec::with_capacity(BATCH);
    let mut left = ops;
    let meter = Meter::start();
    while left > 0 {
        if Q::receive(&mut receiver, BATCH, &mut values).await == 0 {
            return; // the check says that there is no outcome
        }
        let taken = values.drain(..).take(left as usize);
        for producer in taken {
            counts[producer as usize] += 1;
            left -= 1;
        }
    }
    *outcome.borrow_mut() = Some((meter.stop(ops), counts));
}
