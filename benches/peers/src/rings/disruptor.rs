//! disruptor: events polled on the row's own thread; `try_` calls, as its documentation recommends.
//!
//! It pushes a batch whole or not at all, so a batch is cut to the free slots that it names.

use corelane_bench_harness::{Pull, Push, Queue, Shape};
use disruptor::{
    BusySpin, EventPoller, MissingFreeSlots, MultiProducer, MultiProducerBarrier, Producer,
    SingleConsumerBarrier, SingleProducer, SingleProducerBarrier, build_multi_producer,
    build_single_producer,
};

use super::{Rx, Tx, clones};

/// Producers that claim from each other.
pub(crate) struct Multi;

impl Queue for Multi {
    type Producer = Tx<MultiProducer<u64, SingleConsumerBarrier>>;
    type Consumer = Rx<EventPoller<u64, MultiProducerBarrier>>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        let builder = build_multi_producer(shape.slots, u64::default, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        clones((builder.build(), poller), shape.producers)
    }
}

/// One producer.
pub(crate) struct Single;

impl Queue for Single {
    type Producer = Tx<SingleProducer<u64, SingleConsumerBarrier>>;
    type Consumer = Rx<EventPoller<u64, SingleProducerBarrier>>;

    fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
        let builder = build_single_producer(shape.slots, u64::default, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        (vec![Tx(builder.build())], Rx(poller))
    }
}

macro_rules! ends {
    ($producer:ty, $barrier:ty) => {
        impl Push for Tx<$producer> {
            #[inline]
            fn push(&mut self, value: u64) -> bool {
                self.0.try_publish(|slot| *slot = value).is_ok()
            }

            fn push_batch(&mut self, values: &[u64]) -> usize {
                let mut fits = values;
                while !fits.is_empty() {
                    let published = self.0.try_batch_publish(fits.len(), |slots| {
                        slots.zip(fits).for_each(|(slot, value)| *slot = *value);
                    });
                    match published {
                        Ok(_) => break,
                        Err(MissingFreeSlots(missing)) => {
                            fits = &fits[..fits.len().saturating_sub(missing as usize)];
                        }
                    }
                }
                fits.len()
            }
        }

        impl Pull for Rx<EventPoller<u64, $barrier>> {
            #[inline]
            fn pop(&mut self) -> Option<u64> {
                let mut events = self.0.take(1).ok()?;
                (&mut events).next().copied()
            }

            #[inline]
            fn pull(&mut self, max: usize, mut take: impl FnMut(u64)) -> usize {
                let Ok(mut events) = self.0.take(max as u64) else {
                    return 0;
                };
                let mut count = 0;
                for event in &mut events {
                    take(*event);
                    count += 1;
                }
                count
            }
        }
    };
}

ends!(MultiProducer<u64, SingleConsumerBarrier>, MultiProducerBarrier);
ends!(SingleProducer<u64, SingleConsumerBarrier>, SingleProducerBarrier);
