//! The two ends of whatever has one consumer, each with its futures.

use crate::script::{Company, Event, Script, Tally};
use corelane_primitives::{
    Consumer, Consumer64, Producer, Receiver, Ring, Ring64, RingConsumer, Sender, Shards64,
};
use futures_sink::Sink;
use std::pin::Pin;
use std::time::Duration;

/// The end that puts in.
pub(crate) trait Sending: Sized {
    fn try_put(&mut self, number: u64) -> bool;
    /// Whether this end is of use afterwards.
    fn close(&mut self) -> bool;
    fn is_closed(&self) -> bool;
    /// Runs the future of `call`, and counts what it offers.
    fn put(&mut self, call: &str, tally: &Tally, script: Script, event: &mut dyn FnMut(Event));
    /// Another handle, unless there is but one.
    fn another(&self) -> Option<Self>;
    /// Lets another sender wait, if there can be one.
    fn beside(&self, tally: &Tally, company: &mut Company);
}

/// The end that takes.
pub(crate) trait Taking {
    fn try_take(&mut self) -> Option<u64>;
    /// Runs the future of `call`; how many it took.
    fn take(&mut self, call: &str, script: Script, event: &mut dyn FnMut(Event)) -> u64;
}

impl Sending for Producer<u64> {
    fn try_put(&mut self, number: u64) -> bool {
        let is_in = self.push(number).is_ok();
        self.notify();
        is_in
    }

    fn close(&mut self) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        self.is_abandoned()
    }

    fn put(&mut self, call: &str, tally: &Tally, script: Script, event: &mut dyn FnMut(Event)) {
        match call {
            "room" => drop(script.run(self.room(1), event)),
            "send" => {
                let sent = script.run(self.send(tally.offer()), event);
                tally.count(sent == Some(Ok(())));
            }
            other => panic!("no run of {other}"),
        }
    }

    fn another(&self) -> Option<Self> {
        None
    }

    fn beside(&self, _tally: &Tally, _company: &mut Company) {}
}

impl Taking for Consumer<u64> {
    fn try_take(&mut self) -> Option<u64> {
        let taken = self.pop();
        self.notify();
        taken
    }

    fn take(&mut self, call: &str, script: Script, event: &mut dyn FnMut(Event)) -> u64 {
        match call {
            "ready" => {
                script.run(self.ready(), event);
                0
            }
            "recv" => u64::from(matches!(script.run(self.recv(), event), Some(Some(_)))),
            other => panic!("no run of {other}"),
        }
    }
}

macro_rules! ring {
    ($ring:ty) => {
        impl Sending for $ring {
            fn try_put(&mut self, number: u64) -> bool {
                self.push(number).is_ok()
            }

            fn close(&mut self) -> bool {
                Self::close(self);
                true
            }

            fn is_closed(&self) -> bool {
                Self::is_closed(self)
            }

            fn put(
                &mut self,
                call: &str,
                tally: &Tally,
                script: Script,
                event: &mut dyn FnMut(Event),
            ) {
                assert_eq!(call, "push_wait");
                let push = self.push_wait(tally.offer(), Duration::MAX);
                tally.count(script.run(push, event) == Some(Ok(())));
            }

            fn another(&self) -> Option<Self> {
                Some(self.clone())
            }

            fn beside(&self, tally: &Tally, company: &mut Company) {
                let (ring, tally) = (self.clone(), tally.clone());
                company.add(Box::pin(async move {
                    let pushed = ring.push_wait(tally.offer(), Duration::MAX).await;
                    tally.count(pushed.is_ok());
                }));
            }
        }
    };
}

ring!(Ring<u64>);
ring!(Ring64);
ring!(Shards64);

macro_rules! ring_consumer {
    ($consumer:ty) => {
        impl Taking for $consumer {
            fn try_take(&mut self) -> Option<u64> {
                self.pop()
            }

            fn take(&mut self, call: &str, script: Script, event: &mut dyn FnMut(Event)) -> u64 {
                match call {
                    "ready" => {
                        script.run(self.ready(), event);
                        0
                    }
                    "recv" => u64::from(matches!(script.run(self.recv(), event), Some(Some(_)))),
                    other => panic!("no run of {other}"),
                }
            }
        }
    };
}

ring_consumer!(RingConsumer<u64>);
ring_consumer!(Consumer64);

impl Sending for Sender<u64> {
    fn try_put(&mut self, number: u64) -> bool {
        self.try_send(number).is_ok()
    }

    fn close(&mut self) -> bool {
        Self::close(self);
        true
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    fn put(&mut self, call: &str, tally: &Tally, script: Script, event: &mut dyn FnMut(Event)) {
        match call {
            "send" => {
                let sent = script.run(self.send(tally.offer()), event);
                tally.count(sent == Some(Ok(())));
            }
            "send_timeout" => {
                let sent = script.run(self.send_timeout(tally.offer(), Duration::MAX), event);
                tally.count(sent == Some(Ok(())));
            }
            "reserve" => {
                // One place is used, and the other one comes back.
                if let Some(Ok(mut permits)) = script.run(self.reserve(2), event) {
                    tally.count(permits.send(tally.offer()).is_ok());
                }
            }
            "closed" => drop(script.run(self.closed(), event)),
            "poll_ready" => {
                let mut sink = self.clone();
                let ready = std::future::poll_fn(|cx| Pin::new(&mut sink).poll_ready(cx));
                script.run(ready, event);
            }
            other => panic!("no run of {other}"),
        }
    }

    fn another(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn beside(&self, tally: &Tally, company: &mut Company) {
        let (sender, tally) = (self.clone(), tally.clone());
        company.add(Box::pin(async move {
            let sent = sender.send(tally.offer()).await;
            tally.count(sent.is_ok());
        }));
    }
}

impl Taking for Receiver<u64> {
    fn try_take(&mut self) -> Option<u64> {
        self.try_recv().ok()
    }

    fn take(&mut self, call: &str, script: Script, event: &mut dyn FnMut(Event)) -> u64 {
        let mut out = Vec::new();
        match call {
            "ready" => {
                script.run(self.ready(), event);
                0
            }
            "recv" => u64::from(matches!(script.run(self.recv(), event), Some(Some(_)))),
            "recv_batch" => {
                script.run(self.recv_batch(&mut out, 8), event);
                out.len() as u64
            }
            other => panic!("no run of {other}"),
        }
    }
}
