//! datum-core's channel with its consumer as a stream on a thread of datum-core's pool.

use corelane_bench_harness::{
    BenchError, Fairness, Host, ITEMS, Meter, Params, Sample, Scenarios, fold_sum, pin,
};
use datum::{Keep, Sink, Source};

use super::datum::{failed, materializer, use_every_core};
use super::host::TokioOne;

/// Places of the channel, as in datum-core's own row.
const PLACES: usize = 256;
/// Bits of a value's number; the producer's stands above.
const NUMBER_BITS: u32 = 32;

/// What a consumer has seen: each producer's next number, what was out of order, and the sum.
#[derive(Debug, Clone)]
struct Inbox {
    next: Vec<u64>,
    misplaced: u64,
    sum: u64,
}

impl Inbox {
    fn of(producers: usize) -> Self {
        Self {
            next: vec![1; producers],
            misplaced: 0,
            sum: 0,
        }
    }

    fn take(mut self, value: u64) -> Self {
        let number = value & u64::from(u32::MAX);
        let next = &mut self.next[(value >> NUMBER_BITS) as usize];
        self.misplaced += u64::from(*next != number);
        *next = number + 1;
        self.sum += number;
        self
    }
}

/// 1,024 values from each of so many tasks of one core, each of which the consumer reads.
pub(crate) fn mpsc(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    use_every_core()?;
    let mut stories = Scenarios::start(params, producers as u64 * fold_sum(ITEMS));
    while stories.more() {
        stories.done(mpsc_once(params, producers)?)?;
    }
    stories.finish()
}

fn mpsc_once(params: &Params, producers: usize) -> Result<u64, BenchError> {
    let count = producers * ITEMS as usize;
    let (channel, consumer) = Source::<u64>::channel(PLACES)
        .take(count)
        .to_mat(Sink::fold(Inbox::of(producers), Inbox::take), Keep::both)
        .run_with_materializer(materializer())
        .map_err(failed)?;
    let core = params.cores.second;
    std::thread::scope(|scope| {
        let sends = scope.spawn(move || {
            pin(core)?;
            let sends = (0..producers as u64).map(|producer| {
                let channel = channel.clone();
                async move {
                    for number in 1..=ITEMS {
                        if channel
                            .send(producer << NUMBER_BITS | number)
                            .await
                            .is_err()
                        {
                            return; // the consumer's sum tells
                        }
                    }
                }
            });
            TokioOne::run(core, sends.collect(), || ())
        });
        let inbox = consumer.wait().map_err(failed)?;
        sends.join().map_err(|_| BenchError::Panicked)??;
        BenchError::check("values out of order", 0, inbox.misplaced)?;
        Ok(inbox.sum)
    })
}

/// Every producer sends as fast as it may until so many values have come.
pub(crate) fn fairness(params: &Params, producers: usize) -> Result<Sample, BenchError> {
    use_every_core()?;
    let ops = params.ops;
    let count = |mut counts: Fairness, producer: u64| {
        counts.0[producer as usize] += 1;
        counts
    };
    let none = Fairness(vec![0; producers]);
    let (channel, consumer) = Source::<u64>::channel(PLACES)
        .take(ops as usize)
        .to_mat(Sink::fold(none, count), Keep::both)
        .run_with_materializer(materializer())
        .map_err(failed)?;
    let core = params.cores.second;
    std::thread::scope(|scope| {
        let meter = Meter::start();
        let sends = scope.spawn(move || {
            pin(core)?;
            let sends = (0..producers as u64).map(|producer| {
                let channel = channel.clone();
                async move {
                    // Ends when the consumer has had enough.
                    while channel.send(producer).await.is_ok() {}
                }
            });
            TokioOne::run(core, sends.collect(), || ())
        });
        let counts = consumer.wait().map_err(failed)?;
        let spent = meter.stop(ops);
        sends.join().map_err(|_| BenchError::Panicked)??;
        counts.sample(&spent)
    })
}
