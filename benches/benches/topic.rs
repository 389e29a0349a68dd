//! Topics with all feeds on one thread: what a publish and a drain take, without a cache line that
//! crosses. Between cores see the suite `primitives`.

use std::hint::black_box;

use corelane_bench_harness::Tally;
use corelane_primitives::{Feed, Topic, TopicOverflow};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use futures_util::FutureExt;

/// Places of every feed.
const CAPACITY: usize = 1_024;
/// Messages that are published before they are drained.
const BATCH: u64 = 64;

/// A topic, its feeds, and what each of them got so far, which must be `0..next`.
struct Checked {
    topic: Topic<u64>,
    feeds: Vec<(Feed<u64>, Tally)>,
    values: Vec<u64>,
    next: u64,
}

impl Checked {
    fn new(feeds: usize, overflow: TopicOverflow) -> Self {
        let topic = Topic::new(CAPACITY, overflow);
        Self {
            feeds: (0..feeds)
                .map(|_| (topic.subscribe(), Tally::default()))
                .collect(),
            topic,
            values: Vec::with_capacity(BATCH as usize),
            next: 0,
        }
    }

    fn publish(&mut self, count: u64) {
        for number in self.next..self.next + count {
            assert!(self.topic.try_publish(black_box(number)).is_ok());
        }
        self.next += count;
    }

    fn drain(&mut self) {
        for (feed, tally) in &mut self.feeds {
            while let Ok(number) = feed.try_next() {
                tally.take(number);
            }
        }
    }

    fn drain_batch(&mut self) {
        for (feed, tally) in &mut self.feeds {
            let drained = feed.next_batch(&mut self.values, BATCH as usize);
            assert!(matches!(drained.now_or_never(), Some(Ok(count)) if count > 0));
            self.values.drain(..).for_each(|number| tally.take(number));
        }
    }

    fn check(&self) {
        for (_, tally) in &self.feeds {
            let came = tally.check(self.next);
            came.expect("each message comes once and in order");
        }
    }
}

type Drain = fn(&mut Checked);

fn rows(criterion: &mut Criterion, name: &str, feeds: usize, batch: u64, drain: Drain) {
    let overflows = [
        ("backpressure", TopicOverflow::Backpressure),
        ("drop_oldest", TopicOverflow::DropOldest),
        ("drop_new", TopicOverflow::DropNew),
    ];
    let mut group = criterion.benchmark_group(format!("topic/{name}"));
    group.throughput(Throughput::Elements(batch));
    for (policy, overflow) in overflows {
        group.bench_function(policy, |bencher| {
            let mut checked = Checked::new(feeds, overflow);
            bencher.iter(|| {
                checked.publish(batch);
                drain(&mut checked);
            });
            checked.check();
        });
    }
    group.finish();
}

fn topics(criterion: &mut Criterion) {
    rows(criterion, "publish_and_next_1_feed", 1, 1, Checked::drain);
    rows(
        criterion,
        "publish_and_next_64_feeds",
        64,
        1,
        Checked::drain,
    );
    rows(
        criterion,
        "publish_64_and_batch_1_feed",
        1,
        BATCH,
        Checked::drain_batch,
    );
    rows(
        criterion,
        "publish_64_and_batch_64_feeds",
        64,
        BATCH,
        Checked::drain_batch,
    );
}

fn nobody(criterion: &mut Criterion) {
    criterion.bench_function("topic/publish_to_nobody", |bencher| {
        let topic = Topic::new(CAPACITY, TopicOverflow::Backpressure);
        bencher.iter(|| assert!(topic.try_publish(black_box(7_u64)).is_ok()));
        assert_eq!(topic.stats().published, 0);
    });
}

criterion_group!(benches, topics, nobody);
criterion_main!(benches);
