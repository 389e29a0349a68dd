//! Topics and subscriptions: whoever puts values in, and their feeds.

use crate::script::{Company, Event, Script, Setup, Tally, Task};
use crate::table::calls;
use corelane_primitives::{
    Closed, Feed, FeedStats, Order, Overflow, SetError, Subscription, Topic, TopicOverflow,
    TrySetError, Version,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use thread_aware::affinity::{Affinity, enter, pinned_affinities};

const CAPACITY: usize = 2;
/// Values of a batch that is published.
const BATCH: usize = 3;

/// A source of values and what it does when a feed is full.
#[derive(Clone)]
enum Source {
    Topic(Topic<u64>),
    Subscription(Subscription<u64>),
}

/// Whether a change was made.
fn was_set<E>(answer: &Result<Version, E>, is_overrun: impl Fn(&E) -> bool) -> bool {
    answer.as_ref().map_or_else(is_overrun, |_| true)
}

impl Source {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for policy in [
            TopicOverflow::Backpressure,
            TopicOverflow::DropNew,
            TopicOverflow::DropOldest,
        ] {
            for order in [Order::Total, Order::PerPublisher] {
                all.push(Self::Topic(Topic::new(CAPACITY, policy).order(order)));
            }
        }
        for overflow in [
            Overflow::Backpressure,
            Overflow::DropNew,
            Overflow::DropOldest,
            Overflow::Fail,
        ] {
            all.push(Self::Subscription(Subscription::new(0, CAPACITY, overflow)));
        }
        all
    }

    fn calls(&self) -> Vec<&'static str> {
        match self {
            Self::Topic(_) => calls("topic/handle.rs"),
            Self::Subscription(_) => calls("subscription/handle.rs"),
        }
    }

    /// A feed that has had the value which it starts with.
    fn feed(&self) -> Feed<u64> {
        match self {
            Self::Topic(topic) => topic.subscribe(),
            Self::Subscription(subscription) => {
                let mut feed = subscription.changes();
                assert_eq!(feed.try_next(), Ok(0));
                feed
            }
        }
    }

    /// What a feed counts besides what was put in.
    fn first(&self) -> u64 {
        u64::from(matches!(self, Self::Subscription(_)))
    }

    fn try_put(&self, tally: &Tally) -> bool {
        let number = tally.offer();
        tally.count(match self {
            Self::Topic(topic) => topic.try_publish(number).is_ok(),
            Self::Subscription(subscription) => was_set(&subscription.try_set(number), |error| {
                matches!(error, TrySetError::Overrun(_))
            }),
        })
    }

    fn close(&self) {
        match self {
            Self::Topic(topic) => topic.close(),
            Self::Subscription(subscription) => subscription.close(),
        }
    }

    /// Runs the future of `call`; `run` polls and maybe drops it.
    async fn put(self, call: &'static str, tally: Tally) {
        // Counts also when this is dropped.
        struct Offered(Tally, Rc<Cell<u64>>, Cell<u64>);
        impl Drop for Offered {
            fn drop(&mut self) {
                self.0.accept(self.2.get());
                self.0.refuse(self.1.get() - self.2.get());
            }
        }
        let given = Rc::new(Cell::new(0));
        let offered = Offered(tally.clone(), given.clone(), Cell::new(0));
        let give = || {
            // Of a batch, all before the last one that was given are in.
            offered.2.set(given.get());
            given.set(given.get() + 1);
            tally.offer()
        };
        let overran = |error: &SetError<u64>| matches!(error, SetError::Overrun(_));
        let accepted = match (&self, call) {
            (Self::Topic(topic), "publish") => topic.publish(give()).await.is_ok(),
            (Self::Topic(topic), "publish_batch") => {
                let values = std::iter::from_fn(|| Some(give())).take(BATCH);
                match topic.publish_batch(values).await {
                    Ok(count) => count == BATCH,
                    Err(Closed(_)) => false,
                }
            }
            (Self::Subscription(subscription), "set") => {
                was_set(&subscription.set(give()).await, overran)
            }
            (Self::Subscription(subscription), "set_eventually") => {
                let set = subscription.set_eventually(give()).await;
                set.is_ok() || matches!(set, Err(SetError::Overrun(_)))
            }
            (Self::Subscription(subscription), "update") => {
                let number = give();
                was_set(&subscription.update(|_| number).await, |error| {
                    matches!(error, SetError::Overrun(_))
                })
            }
            (_, other) => panic!("no run of {other}"),
        };
        if accepted {
            offered.2.set(given.get());
        }
    }
}

/// What a task that reads to the end has found, and its feed once it is there.
#[derive(Clone, Default)]
struct Reading {
    taken: Rc<Cell<u64>>,
    feed: Rc<RefCell<Option<Feed<u64>>>>,
}

impl Reading {
    fn task(&self, mut feed: Feed<u64>) -> Task {
        let reading = self.clone();
        Box::pin(async move {
            while let Some(item) = feed.next().await {
                reading
                    .taken
                    .set(reading.taken.get() + u64::from(item.is_ok()));
            }
            *reading.feed.borrow_mut() = Some(feed);
        })
    }
}

struct World {
    source: Source,
    tally: Tally,
    shards: Vec<Affinity>,
    is_across: bool,
    own: Option<Feed<u64>>,
    taken: u64,
    /// Who reads beside the own feed, and has not begun to.
    to_come: Vec<Task>,
    readers: Company,
    readings: Vec<Reading>,
    writers: Company,
    is_closed: bool,
}

impl World {
    fn new(source: Source, setup: Setup, readers: usize) -> Self {
        let mut world = Self {
            tally: Tally::default(),
            shards: pinned_affinities(&[2]),
            is_across: setup.is_across,
            own: None,
            taken: 0,
            to_come: Vec::new(),
            readers: Company::default(),
            readings: Vec::new(),
            writers: Company::default(),
            is_closed: false,
            source,
        };
        for shard in 0..readers {
            let reading = Reading::default();
            let feed = world.at(shard, Source::feed);
            world.to_come.push(reading.task(feed));
            world.readings.push(reading);
        }
        world.own = Some(world.at(0, Source::feed));
        for _ in 0..setup.inside {
            world.at_other(Source::try_put);
        }
        if setup.is_closed {
            world.close();
        }
        world
    }

    fn at<R>(&self, shard: usize, run: impl FnOnce(&Source) -> R) -> R {
        let _entered = enter(self.shards[shard], Rc::new(()));
        run(&self.source)
    }

    /// At the shard where values come from, unless they come from where they go.
    fn at_other<R>(&self, run: impl FnOnce(&Source, &Tally) -> R) -> R {
        let shard = usize::from(self.is_across);
        self.at(shard, |source| run(source, &self.tally))
    }

    fn add_writer(&mut self, call: &'static str) {
        let source = self.source.clone();
        let writer = Box::pin(source.put(call, self.tally.clone()));
        let _entered = enter(self.shards[0], Rc::new(()));
        self.writers.add(writer);
    }

    fn close(&mut self) {
        self.source.close();
        self.is_closed = true;
    }

    fn begin_to_read(&mut self) {
        self.to_come
            .drain(..)
            .for_each(|task| self.readers.add(task));
    }

    /// The own feed's future.
    fn read(&mut self, call: &str, script: Script) {
        let mut own = self.own.take().expect("it is there until somebody leaves");
        let mut out = Vec::new();
        let event = |event| {
            self.begin_to_read();
            match event {
                Event::Nothing => {}
                Event::Put => drop(self.at_other(Source::try_put)),
                Event::Take => drop(self.readers.run()),
                Event::Close => self.close(),
                // Who waits at the same shard goes.
                Event::Leave => {
                    self.readers.leave();
                    self.readings.remove(0);
                }
            }
        };
        match call {
            "next" => {
                let item = script.run(own.next(), event);
                self.taken += u64::from(matches!(item, Some(Some(Ok(_)))));
            }
            "next_batch" => {
                script.run(own.next_batch(&mut out, 8), event);
                self.taken += out.len() as u64;
            }
            other => panic!("no run of {other}"),
        }
        self.own = Some(own);
        self.begin_to_read();
        // Who waits learns what is there, whatever the own feed does.
        self.readers.run();
        for reading in &self.readings {
            assert!(
                reading.taken.get() > 0 || self.tally.accepted() == 0,
                "a feed is stuck"
            );
        }
    }

    /// The future of one who puts in, between two others.
    fn write(&mut self, call: &'static str, script: Script) {
        self.add_writer(call);
        let future = Box::pin(self.source.clone().put(call, self.tally.clone()));
        let shards = self.shards.clone();
        let _entered = enter(shards[0], Rc::new(()));
        script.run(future, |event| {
            self.add_writer(call);
            match event {
                Event::Nothing => {}
                Event::Put => drop(self.at_other(Source::try_put)),
                Event::Take => self.take(),
                Event::Close => self.close(),
                Event::Leave => self.own = None,
            }
        });
    }

    fn take(&mut self) {
        if let Some(own) = &mut self.own {
            self.taken += u64::from(own.try_next().is_ok());
        }
        self.readers.run();
    }

    /// A feed of the first hour has what was accepted.
    fn check(&self, stats: FeedStats, taken: u64) {
        let first = self.source.first();
        let accounted = stats.delivered + stats.dropped + stats.lag;
        assert_eq!(accounted, self.tally.accepted() + first, "{stats:?}");
        assert_eq!(stats.delivered, taken + first);
    }

    /// Everybody who waits goes on once there is room, and all that was accepted is accounted for.
    fn end(mut self) {
        for _ in 0..4 * CAPACITY + 16 {
            self.writers.run();
            self.take();
        }
        assert!(self.writers.is_empty(), "a writer is stuck");
        if !self.is_closed {
            let before: Vec<u64> = self
                .readings
                .iter()
                .map(|reading| reading.taken.get())
                .collect();
            assert!(
                self.at_other(Source::try_put),
                "there is room and nobody waits"
            );
            self.readers.run();
            for (reading, before) in self.readings.iter().zip(before) {
                let has_ended = reading.feed.borrow().is_some();
                assert!(
                    has_ended || reading.taken.get() == before + 1,
                    "a feed is stuck"
                );
            }
            self.close();
        }
        self.readers.run();
        assert!(self.readers.is_empty(), "a feed does not end");
        while let Some(Ok(_)) = self.own.as_mut().map(Feed::try_next) {
            self.taken += 1;
        }
        self.tally.check();
        if let Some(own) = &self.own {
            self.check(own.stats(), self.taken);
        }
        for reading in &self.readings {
            let feed = reading.feed.take().expect("it has ended");
            self.check(feed.stats(), reading.taken.get());
        }
    }
}

/// Every source in every state, with every script.
fn each(readers: usize, mut run: impl FnMut(&dyn Fn() -> World, Script)) {
    for setup in Setup::all(CAPACITY as u64) {
        for script in Script::all() {
            for which in 0..Source::all().len() {
                let world = || World::new(Source::all().swap_remove(which), setup, readers);
                run(&world, script);
            }
        }
    }
}

// proves: S-9
// proves: S-11
// proves: T-6
// proves: T-8
#[test]
fn dropped_reads_lose_nothing_and_hold_up_nobody() {
    for call in calls("feed/local.rs") {
        each(2, |world, script| {
            for are_ahead in [false, true] {
                let mut world = world();
                if are_ahead {
                    world.begin_to_read();
                }
                world.read(call, script);
                world.end();
            }
        });
    }
}

// proves: S-9
// proves: S-11
// proves: T-6
// proves: T-8
#[test]
fn dropped_writes_leave_nothing_and_hold_up_nobody() {
    each(0, |world, script| {
        for call in world().source.calls() {
            let mut world = world();
            world.write(call, script);
            world.end();
        }
    });
}
