//! Whatever has one consumer: lanes, rings and channels.

use crate::ends::{Sending, Taking};
use crate::script::{Company, Event, Script, Setup, Tally};
use crate::table::calls;
use corelane_primitives::{Ring, Ring64, RingChannel, Shards64, channel, lane};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use thread_aware::affinity::{Affinity, enter, pinned_affinities};

const CAPACITY: usize = 2;

struct World<S, R> {
    sender: Option<S>,
    receiver: Option<R>,
    tally: Tally,
    taken: u64,
    beside: Company,
    shards: Vec<Affinity>,
}

impl<S: Sending, R: Taking> World<S, R> {
    fn new((sender, receiver): (S, R), setup: Setup) -> Self {
        let mut world = Self {
            sender: Some(sender),
            receiver: Some(receiver),
            tally: Tally::default(),
            taken: 0,
            beside: Company::default(),
            shards: pinned_affinities(&[2]),
        };
        let _entered = enter(world.shards[usize::from(setup.is_across)], Rc::new(()));
        for _ in 0..setup.inside {
            world.try_put();
        }
        if setup.is_closed {
            world.close();
        }
        world
    }

    fn try_put(&mut self) -> bool {
        let number = self.tally.offer();
        let is_in = self
            .sender
            .as_mut()
            .is_some_and(|sender| sender.try_put(number));
        self.tally.count(is_in)
    }

    fn try_take(&mut self) -> bool {
        let taken = self.receiver.as_mut().and_then(Taking::try_take);
        self.taken += u64::from(taken.is_some());
        taken.is_some()
    }

    fn close(&mut self) {
        if self.sender.as_mut().is_some_and(|sender| !sender.close()) {
            self.sender = None;
        }
    }

    /// The receiver's future.
    fn read(&mut self, call: &str, script: Script) {
        let _entered = enter(self.shards[0], Rc::new(()));
        let mut receiver = self.receiver.take().expect("it is there at first");
        self.taken += receiver.take(call, script, &mut |event| match event {
            Event::Nothing | Event::Take => {}
            Event::Put => drop(self.try_put()),
            Event::Close => self.close(),
            Event::Leave => self.sender = None,
        });
        self.receiver = Some(receiver);
    }

    /// A sender's future, between two others.
    fn write(&mut self, call: &str, script: Script) {
        let Some(mut sender) = self.sender.take() else {
            return;
        };
        let _entered = enter(self.shards[0], Rc::new(()));
        sender.beside(&self.tally, &mut self.beside);
        let tally = self.tally.clone();
        let mut other = sender.another();
        sender.put(call, &tally, script, &mut |event| {
            if let Some(other) = &other {
                other.beside(&self.tally, &mut self.beside);
            }
            match event {
                Event::Nothing | Event::Put => {}
                Event::Take => drop(self.try_take()),
                Event::Close => drop(other.as_mut().map(Sending::close)),
                Event::Leave => self.receiver = None,
            }
        });
        self.sender = Some(sender);
    }

    /// Everybody who waits goes on, and all that was accepted is taken.
    fn end(mut self) {
        for _ in 0..4 * CAPACITY + 8 {
            self.beside.run();
            self.try_take();
        }
        assert!(self.beside.is_empty(), "a sender is stuck");
        let is_open = self
            .sender
            .as_ref()
            .is_some_and(|sender| !sender.is_closed());
        if is_open && self.receiver.is_some() {
            assert!(self.try_put(), "there is room and nobody waits");
            assert!(self.try_take());
        }
        self.tally.check();
        // With the receiver goes what was inside.
        if self.receiver.is_some() {
            assert_eq!(self.taken, self.tally.accepted());
        }
    }
}

/// Every end's futures in every state, with every script.
fn each<S: Sending, R: Taking>(make: fn() -> (S, R), puts: &[&str], takes: &[&str]) {
    for setup in Setup::all(CAPACITY as u64) {
        for script in Script::all() {
            for call in puts {
                let mut world = World::new(make(), setup);
                world.write(call, script);
                world.end();
            }
            for call in takes {
                let mut world = World::new(make(), setup);
                world.read(call, script);
                world.end();
            }
        }
    }
}

// proves: L-3
#[test]
fn dropped_waits_of_a_lane_leave_nothing() {
    let (puts, takes) = (["room", "send"], ["ready", "recv"]);
    assert_eq!(calls("lane/wait.rs").len(), puts.len() + takes.len());
    each(|| lane(CAPACITY), &puts, &takes);
}

// proves: F-6
#[test]
fn dropped_waits_of_a_ring_leave_nothing() {
    let (puts, takes) = (["push_wait"], ["ready", "recv"]);
    assert_eq!(calls("claim/wait.rs").len(), puts.len() + takes.len());
    each(|| Ring::new(CAPACITY), &puts, &takes);
}

// proves: F-6
#[test]
fn dropped_waits_of_a_ring_of_integers_leave_nothing() {
    each(
        || Ring64::new(CAPACITY),
        &calls("ring64/ring.rs"),
        &calls("ring64/wait.rs"),
    );
    each(
        || Shards64::new(2, CAPACITY),
        &calls("ring64/shards.rs"),
        &calls("ring64/wait.rs"),
    );
}

// proves: C-3
// proves: C-4
// proves: C-6
#[test]
fn dropped_waits_of_a_channel_leave_nothing() {
    let mut puts = calls("channel/sender.rs");
    // A sink's wait goes with its handle.
    puts.push("poll_ready");
    each(|| channel(CAPACITY), &puts, &calls("channel/receiver.rs"));
}

// proves: F-5
#[test]
fn dropped_task_of_a_ring_channel_closes_its_ring() {
    assert_eq!(calls("ring64/channel.rs"), ["run"]);
    for script in Script::all() {
        let handled = Rc::new(Cell::new(0));
        let handling = handled.clone();
        let builder = RingChannel::builder().capacity(CAPACITY);
        let task = builder.handler(move |_| handling.set(handling.get() + 1));
        let (channel, run) = task.run().expect("the capacity is a power of two");
        let ring = channel.ring();
        let mut pushed = 0;
        let ended = script.run(run, |event| match event {
            Event::Put => pushed += u64::from(ring.push(1).is_ok()),
            Event::Close | Event::Leave => channel.close(),
            Event::Nothing | Event::Take => {}
        });
        assert!(ended.is_none_or(|ended| ended.is_ok()));
        assert!(channel.is_closed() && ring.push(2).is_err());
        let answer = ring.blocking_push(3, Duration::MAX);
        assert!(answer.is_err(), "nobody waits for a task that is gone");
        assert_eq!(
            handled.get(),
            pushed * u64::from(script.after > 0 || script.before > 0 && pushed == 0)
        );
    }
}
