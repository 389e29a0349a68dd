//! Rows about bounded queues with one consumer, the same lines of code for every library.
//!
//! A library says in [`Queue`] how its ends are made, and in [`Push`] and [`Pull`] how a value goes
//! in and comes out; the rounds are generic over these and are compiled in the twin, so that all
//! calls can be inlined alike. Whoever finds no room or no value spins a few times and then gives
//! its core away, for a bounded time, so every round ends on one core as well.

mod burst;
mod drain;
mod flood;
mod idle;
mod item;
mod overload;
mod patience;
pub(crate) mod rows;
mod sharded;
mod start;
mod waiting;

use std::time::Duration;

use crate::{BenchError, Entry, Params, Sample};
pub(crate) use patience::Patience;
pub use sharded::{Sharded, Walk};
pub(crate) use start::{Start, enter};
pub(crate) use waiting::flood_with;

/// Slots that a queue of these rows has, with all its parts together.
pub const SLOTS: usize = 65_536;
/// Values taken at a time.
const BATCH: usize = 256;

/// What a queue is made for.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Slots of all shards together, a power of two.
    pub slots: usize,
    /// Producers.
    pub producers: usize,
    /// Parts of the queue, each with its share of the slots; producers stick to one.
    pub shards: usize,
}

/// A bounded queue of words with one consumer, as one library has it.
pub trait Queue: 'static {
    /// One producer's end.
    type Producer: Push + Send + 'static;
    /// The consumer's end.
    type Consumer: Pull + Send + 'static;

    /// An empty queue: an end for each producer, and the consumer's.
    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer);
}

/// The end where values go in.
pub trait Push {
    /// Pushes `value` if there is room, and says whether there was.
    fn push(&mut self, value: u64) -> bool;

    /// Pushes values from the front of `values` while there is room, and says how many.
    fn push_batch(&mut self, values: &[u64]) -> usize {
        let refused = values.iter().position(|value| !self.push(*value));
        refused.unwrap_or(values.len())
    }

    /// Waits for room for at most `timeout`, and says whether `value` went in.
    ///
    /// A library without such a call gets what the rounds do everywhere: it tries again.
    fn push_wait(&mut self, value: u64, timeout: Duration) -> bool {
        let patience = Patience::of(timeout);
        while !self.push(value) {
            if !patience.wait() {
                return false;
            }
        }
        true
    }

    /// Wakes a consumer that waits; for a library whose push alone does not.
    fn notify(&mut self) {}
}

/// The end where values come out.
pub trait Pull {
    /// Takes the next value if there is one.
    fn pop(&mut self) -> Option<u64>;

    /// Hands up to `max` values that are there to `take`, and says how many; more than `max` where
    /// the library's own call takes all.
    fn pull(&mut self, max: usize, mut take: impl FnMut(u64)) -> usize {
        let mut taken = 0;
        while taken < max {
            let Some(value) = self.pop() else { break };
            take(value);
            taken += 1;
        }
        taken
    }

    /// Appends up to `max` values that are there to `out`, and says how many.
    fn pop_batch(&mut self, max: usize, out: &mut Vec<u64>) -> usize {
        self.pull(max, |value| out.push(value))
    }

    /// Waits for a value; `None` when none will come.
    ///
    /// A library without such a call gets what the rounds do everywhere: it tries again.
    fn pop_wait(&mut self) -> Option<u64> {
        wait_by_looking(self)
    }
}

/// Looks again and again, as every side does that has no call that waits.
fn wait_by_looking(consumer: &mut (impl Pull + ?Sized)) -> Option<u64> {
    let patience = Patience::default();
    loop {
        if let Some(value) = consumer.pop() {
            return Some(value);
        }
        if !patience.wait() {
            return None;
        }
    }
}

/// A queue whose ends are awaited.
pub trait AwaitQueue: 'static {
    /// One producer's end.
    type Sender: Send + 'static;
    /// The consumer's end.
    type Receiver: Send + 'static;

    /// An empty queue: an end for each producer, and the consumer's.
    fn open(shape: Shape) -> (Vec<Self::Sender>, Self::Receiver);

    /// Waits for room and sends `value`; `false` when nobody will take it.
    fn send(sender: &mut Self::Sender, value: u64) -> impl Future<Output = bool>;

    /// Waits for a value, then appends up to `max` that are there to `out`, and says how many;
    /// zero when none will come.
    fn receive(
        receiver: &mut Self::Receiver,
        max: usize,
        out: &mut Vec<u64>,
    ) -> impl Future<Output = usize>;
}

/// What runs tasks on one thread.
pub trait Host: 'static {
    /// Runs `tasks` on the calling thread, which is pinned to `core`, until all have ended.
    ///
    /// `begin` is called once all are spawned, before the first of them runs.
    ///
    /// # Errors
    ///
    /// [`BenchError::Runtime`] and the like, when the host does not start or a task ends badly.
    fn run<F: Future<Output = ()> + 'static>(
        core: usize,
        tasks: Vec<F>,
        begin: impl FnOnce() + 'static,
    ) -> Result<(), BenchError>;

    /// Lets the host's other tasks run.
    fn yield_now() -> impl Future<Output = ()>;
}

/// Every row of a queue without shards: floods, bursts, draining, overload, idling.
pub fn ring_entries<Q: Queue, H: Host>(who: &str) -> Vec<Entry> {
    let mut entries = one_queue_entries::<Q, H>(who);
    entries.extend(spsc_entries::<Q, H>(who));
    entries
}

/// The rows of one producer: bursts, and those about the consumer.
pub fn spsc_entries<Q: Queue, H: Host>(who: &str) -> Vec<Entry> {
    let mut entries = burst_entries::<Q, H>(who);
    entries.extend(consumer_entries::<Q>(who));
    entries
}

/// The rows about a consumer: draining, overload, idling.
pub fn consumer_entries<Q: Queue>(who: &str) -> Vec<Entry> {
    vec![
        entry("fold_1000", who, drain::fold::<Q>),
        entry("pop_batch_1000", who, drain::pop_batch::<Q>),
        entry("overload_50x_refuse", who, overload::refuse::<Q>),
        entry("overload_50x_wait", who, overload::wait::<Q>),
        entry("idle", who, idle::idle::<Q>),
    ]
}

/// Floods from one and from three threads that a program of another language runs.
///
/// `round` gets the number of producers.
pub fn other_process_floods(
    who: &str,
    round: fn(&Params, usize) -> Result<Sample, BenchError>,
) -> Vec<Entry> {
    let floods = rows::FLOODS.iter();
    let floods = floods.filter(|flood| ["flood_1_threads", "flood_3_threads"].contains(&flood.row));
    let one = |flood: &'static rows::Flood| {
        entry(flood.row, who, move |params| round(params, flood.producers))
    };
    floods.map(one).collect()
}

/// The rows of floods into several shards.
pub fn sharded_entries<Q: Queue, H: Host>(who: &str) -> Vec<Entry> {
    flood_entries::<Q, H>(who, |flood| flood.named_shards)
}

/// The floods into one queue, by tasks or threads.
pub fn one_queue_entries<Q: Queue, H: Host>(who: &str) -> Vec<Entry> {
    flood_entries::<Q, H>(who, |flood| !flood.named_shards)
}

/// The bursts of one producer.
pub fn burst_entries<Q: Queue, H: Host>(who: &str) -> Vec<Entry> {
    let bursts = rows::BURSTS.iter().map(|burst| {
        entry(burst.row, who, move |params| {
            burst::burst::<Q, H>(params, *burst)
        })
    });
    bursts.collect()
}

/// The floods by tasks that await room, and a consumer that awaits values.
pub fn await_entries<Q: AwaitQueue, H: Host>(who: &str) -> Vec<Entry> {
    let floods = rows::FLOODS.iter();
    floods
        .filter(|flood| flood.by == rows::By::Tasks && !flood.named_shards && flood.batch == 1)
        .map(|flood| {
            entry(flood.row, who, move |params| {
                waiting::flood::<Q, H>(params, *flood)
            })
        })
        .collect()
}

fn flood_entries<Q: Queue, H: Host>(who: &str, wanted: fn(&rows::Flood) -> bool) -> Vec<Entry> {
    let floods = rows::FLOODS.iter().filter(|flood| wanted(flood));
    floods
        .map(|flood| {
            entry(flood.row, who, move |params| {
                flood::flood::<Q, H>(params, *flood)
            })
        })
        .collect()
}

fn entry(
    row: &'static str,
    who: &str,
    round: impl Fn(&Params) -> Result<Sample, BenchError> + Send + Sync + 'static,
) -> Entry {
    Entry::round((rows::RINGS, row), who, round)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::VecDeque;
    use std::marker::PhantomData;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::{Cores, Work};

    /// What a faulty queue does with what goes in.
    trait Fault: Send + 'static {
        fn store(queue: &mut VecDeque<u64>, value: u64);
    }

    struct None_;
    impl Fault for None_ {
        fn store(queue: &mut VecDeque<u64>, value: u64) {
            queue.push_back(value);
        }
    }

    /// Gives each second pair in the wrong order.
    struct Swaps;
    impl Fault for Swaps {
        fn store(queue: &mut VecDeque<u64>, value: u64) {
            let place = queue
                .len()
                .saturating_sub(usize::from(queue.len() % 4 == 3));
            queue.insert(place, value);
        }
    }

    /// Says that it took a value, and puts another in its place.
    struct Doubles;
    impl Fault for Doubles {
        fn store(queue: &mut VecDeque<u64>, value: u64) {
            let value = match queue.back() {
                Some(last) if queue.len() % 4 == 3 => *last,
                _ => value,
            };
            queue.push_back(value);
        }
    }

    /// A queue behind a lock.
    struct Locked<F>(PhantomData<F>);

    struct End<F> {
        queue: Arc<Mutex<VecDeque<u64>>>,
        slots: usize,
        fault: PhantomData<F>,
    }

    fn open<F>(shape: Shape) -> (Vec<End<F>>, End<F>) {
        let queue = Arc::default();
        let end = || End {
            queue: Arc::clone(&queue),
            slots: shape.slots,
            fault: PhantomData,
        };
        ((0..shape.producers).map(|_| end()).collect(), end())
    }

    impl<F: Fault> Queue for Locked<F> {
        type Producer = End<F>;
        type Consumer = End<F>;

        fn open(shape: Shape) -> (Vec<End<F>>, End<F>) {
            open(shape)
        }
    }

    impl<F: Fault> Push for End<F> {
        fn push(&mut self, value: u64) -> bool {
            let mut queue = self.queue.lock().unwrap();
            let room = queue.len() < self.slots;
            if room {
                F::store(&mut queue, value);
            }
            room
        }
    }

    impl<F: Fault> Pull for End<F> {
        fn pop(&mut self) -> Option<u64> {
            self.queue.lock().unwrap().pop_front()
        }
    }

    impl<F: Fault> AwaitQueue for Locked<F> {
        type Sender = End<F>;
        type Receiver = End<F>;

        fn open(shape: Shape) -> (Vec<End<F>>, End<F>) {
            open(shape)
        }

        async fn send(sender: &mut End<F>, value: u64) -> bool {
            while !sender.push(value) {
                Turns::yield_now().await;
            }
            true
        }

        async fn receive(receiver: &mut End<F>, max: usize, out: &mut Vec<u64>) -> usize {
            loop {
                match receiver.pop_batch(max, out) {
                    0 => Turns::yield_now().await,
                    count => return count,
                }
            }
        }
    }

    /// Polls its tasks in turn.
    pub(crate) struct Turns;

    impl Host for Turns {
        fn run<F: Future<Output = ()> + 'static>(
            _: usize,
            tasks: Vec<F>,
            begin: impl FnOnce() + 'static,
        ) -> Result<(), BenchError> {
            let mut tasks: Vec<_> = tasks.into_iter().map(Box::pin).collect();
            begin();
            let mut context = Context::from_waker(Waker::noop());
            while !tasks.is_empty() {
                tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
                std::thread::yield_now();
            }
            Ok(())
        }

        async fn yield_now() {
            let mut yielded = false;
            let turn = pin!(std::future::poll_fn(|_| {
                let ready = std::mem::replace(&mut yielded, true);
                if ready {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            }));
            turn.await;
        }
    }

    fn outcomes(entries: Vec<Entry>) -> Vec<(&'static str, Result<Sample, BenchError>)> {
        let params = Params {
            ops: 1_603,
            shards: 2,
            cores: Cores::allowed_or_one().unwrap(),
        };
        let outcome = |entry: Entry| match entry.work {
            Work::Round(round) => (entry.row, round(&params)),
            Work::Serve(_) => panic!("{} serves a client", entry.row),
        };
        entries.into_iter().map(outcome).collect()
    }

    fn every_entry<F: Fault>() -> Vec<Entry> {
        let mut entries = ring_entries::<Locked<F>, Turns>("test");
        entries.extend(sharded_entries::<Sharded<Locked<F>>, Turns>("test"));
        entries.retain(|entry| entry.row != "idle"); // its operations are milliseconds
        entries.extend(await_entries::<Locked<F>, Turns>("test-await"));
        entries
    }

    #[test]
    fn rows_give_a_figure_of_a_queue() {
        let outcomes = outcomes(every_entry::<None_>());
        for (row, outcome) in &outcomes {
            let sample = outcome
                .as_ref()
                .unwrap_or_else(|error| panic!("{row}: {error}"));
            assert!(sample.value > 0.0 || row.contains("overload"), "{row}");
        }
        let named = |name: &str| outcomes.iter().filter(|(row, _)| *row == name).count();
        let counts = [
            "flood_1000",
            "flood_3_threads",
            "flood_8_shards_64",
            "one_core",
        ]
        .map(named);
        assert_eq!(counts, [2, 1, 1, 2]);
    }

    #[test]
    fn rows_refuse_a_queue_that_swaps_or_doubles() {
        for entries in [every_entry::<Swaps>(), every_entry::<Doubles>()] {
            // Fewer than four values are in the queue at a time.
            let small = ["burst_1", "burst_1_one_core"];
            let entries = entries.into_iter().filter(|entry| {
                let calm = entry.row.starts_with("flood") || entry.row == "one_core";
                !small.contains(&entry.row) && !calm
            });
            for (row, outcome) in outcomes(entries.collect()) {
                assert!(matches!(outcome, Err(BenchError::Check { .. })), "{row}");
            }
        }
    }

    #[test]
    fn a_consumer_that_waits_is_woken_and_told() {
        let params = Params {
            ops: 5,
            shards: 1,
            cores: Cores::allowed_or_one().unwrap(),
        };
        let sample = idle::idle::<Locked<None_>>(&params).unwrap();
        assert!(sample.value >= 0.0);
    }

    #[test]
    fn shards_share_the_slots_and_keep_each_producers_order() {
        let shape = Shape {
            slots: 8,
            producers: 3,
            shards: 4,
        };
        let (mut producers, mut consumer) = <Sharded<Locked<None_>> as Queue>::open(shape);
        assert_eq!(producers.len(), 3);
        for (index, producer) in producers.iter_mut().enumerate() {
            let values = [index as u64, 10 + index as u64, 20];
            assert_eq!(producer.push_batch(&values), 2);
        }
        let mut out = Vec::new();
        assert_eq!(consumer.pop_batch(4, &mut out), 4);
        assert_eq!(consumer.pop_batch(4, &mut out), 2);
        assert_eq!(out, [0, 10, 1, 11, 2, 12]);
        assert_eq!(consumer.pop(), None);
    }
}
