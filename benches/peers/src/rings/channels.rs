//! Bounded channels through their calls that never wait, and those that block a thread.
//!
//! kanal and flume take all that is there under one lock; the others have no call for several.

use std::time::Duration;

use corelane_bench_harness::{Pull, Push, Queue, Shape};

use super::{Rx, Tx, clones};

/// A channel: its ends, how they are made, and the calls for a push, a pop and two waits.
macro_rules! channel {
    (
        $name:ident: $sender:ty, $receiver:ty, $open:expr;
        push: $push:expr, $push_wait:expr;
        pop: $pop:expr, $pop_wait:expr;
        $($pull:item)?
    ) => {
        pub(crate) struct $name;

        impl Queue for $name {
            type Producer = Tx<$sender>;
            type Consumer = Rx<$receiver>;

            fn open(shape: Shape) -> (Vec<Self::Producer>, Self::Consumer) {
                clones($open(shape.slots), shape.producers)
            }
        }

        impl Push for Tx<$sender> {
            #[inline]
            fn push(&mut self, value: u64) -> bool {
                let push: fn(&$sender, u64) -> bool = $push;
                push(&self.0, value)
            }

            fn push_wait(&mut self, value: u64, timeout: Duration) -> bool {
                let push_wait: fn(&$sender, u64, Duration) -> bool = $push_wait;
                push_wait(&self.0, value, timeout)
            }
        }

        impl Pull for Rx<$receiver> {
            #[inline]
            fn pop(&mut self) -> Option<u64> {
                let pop: fn(&mut $receiver) -> Option<u64> = $pop;
                pop(&mut self.0)
            }

            fn pop_wait(&mut self) -> Option<u64> {
                let pop_wait: fn(&mut $receiver) -> Option<u64> = $pop_wait;
                pop_wait(&mut self.0)
            }

            $($pull)?
        }
    };
}

channel! {
    Crossbeam: crossbeam_channel::Sender<u64>, crossbeam_channel::Receiver<u64>,
        crossbeam_channel::bounded;
    push: |sender, value| sender.try_send(value).is_ok(),
        |sender, value, timeout| sender.send_timeout(value, timeout).is_ok();
    pop: |receiver| receiver.try_recv().ok(), |receiver| receiver.recv().ok();
}

/// kanal's receiver, and where its call puts what it drains.
pub(crate) struct KanalReceiver {
    receiver: kanal::Receiver<u64>,
    drained: Vec<u64>,
}

fn kanal(slots: usize) -> (kanal::Sender<u64>, KanalReceiver) {
    let (sender, receiver) = kanal::bounded(slots);
    let drained = Vec::with_capacity(slots);
    (sender, KanalReceiver { receiver, drained })
}

channel! {
    Kanal: kanal::Sender<u64>, KanalReceiver, kanal;
    push: |sender, value| matches!(sender.try_send(value), Ok(true)),
        |sender, value, timeout| sender.send_timeout(value, timeout).is_ok();
    pop: |end| end.receiver.try_recv().ok().flatten(), |end| end.receiver.recv().ok();
    fn pull(&mut self, _max: usize, take: impl FnMut(u64)) -> usize {
        // A closed channel gives nothing, which the round's check tells.
        let count = self.0.receiver.drain_into(&mut self.0.drained).unwrap_or(0);
        self.0.drained.drain(..).for_each(take);
        count
    }
}

channel! {
    Flume: flume::Sender<u64>, flume::Receiver<u64>, flume::bounded;
    push: |sender, value| sender.try_send(value).is_ok(),
        |sender, value, timeout| sender.send_timeout(value, timeout).is_ok();
    pop: |receiver| receiver.try_recv().ok(), |receiver| receiver.recv().ok();
    fn pull(&mut self, _max: usize, take: impl FnMut(u64)) -> usize {
        let drained = self.0.drain();
        let count = drained.len();
        drained.for_each(take);
        count
    }
}

channel! {
    AsyncChannel: async_channel::Sender<u64>, async_channel::Receiver<u64>, async_channel::bounded;
    push: |sender, value| sender.try_send(value).is_ok(),
        |sender, value, _no_timeout| sender.send_blocking(value).is_ok();
    pop: |receiver| receiver.try_recv().ok(), |receiver| receiver.recv_blocking().ok();
}

channel! {
    Thingbuf: thingbuf::mpsc::blocking::Sender<u64>, thingbuf::mpsc::blocking::Receiver<u64>,
        thingbuf::mpsc::blocking::channel;
    push: |sender, value| sender.try_send(value).is_ok(),
        |sender, value, timeout| sender.send_timeout(value, timeout).is_ok();
    pop: |receiver| receiver.try_recv().ok(), |receiver| receiver.recv();
}

channel! {
    Tokio: tokio::sync::mpsc::Sender<u64>, tokio::sync::mpsc::Receiver<u64>,
        tokio::sync::mpsc::channel;
    push: |sender, value| sender.try_send(value).is_ok(),
        |sender, value, _no_timeout| sender.blocking_send(value).is_ok();
    pop: |receiver| receiver.try_recv().ok(), |receiver| receiver.blocking_recv();
}
