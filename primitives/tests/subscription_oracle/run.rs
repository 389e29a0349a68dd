//! One sequence of calls, each beside its oracle.

use crate::bell::{Bell, bell};
use crate::face::Token;
use crate::line::{Answer, Line};
use crate::reader::{Now, Reader};
use corelane_primitives::{
    Overflow, Replica, SetError, Subscription, TrySetError, Version, WeakSubscription,
};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use thread_aware::affinity::{Affinity, enter, pinned_affinities};

const FEEDS_MAX: usize = 5;
const HANDLES_MAX: usize = 3;
const SHARDS: usize = 3;
const WRITERS_MAX: usize = 6;

/// What a change answered.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    Set(Version),
    /// By a call that tells no version.
    Eventually,
    Overrun(Version),
    Closed(u64),
    /// By a call that had no value to give back.
    UpdateClosed,
}

/// A change that was polled and is not done.
struct Writer {
    number: u64,
    change: Pin<Box<dyn Future<Output = Done>>>,
    bell: Arc<Bell>,
    waker: Waker,
    /// Rings before its last poll.
    seen: usize,
}

fn done(answer: Result<Version, SetError<Token>>) -> Done {
    match answer {
        Ok(version) => Done::Set(version),
        Err(SetError::Overrun(version)) => Done::Overrun(version),
        Err(SetError::Closed(back)) => Done::Closed(back.0),
        Err(other) => panic!("{other}"),
    }
}

pub(crate) struct Run {
    handles: Vec<Subscription<Token>>,
    weak: WeakSubscription<Token>,
    root: Arc<()>,
    shards: Vec<Affinity>,
    readers: Vec<Reader>,
    writers: Vec<Writer>,
    line: Line,
    snapshots: Vec<(u64, Arc<Token>)>,
    replica: Replica<Subscription<Token>>,
    now: Now,
    numbers: u64,
}

impl Run {
    pub(crate) fn new(root: Arc<()>, capacity: usize, overflow: Overflow) -> Self {
        let subscription = Subscription::new(Token(0, root.clone()), capacity, overflow);
        assert_eq!(
            (subscription.capacity(), subscription.overflow()),
            (capacity, overflow)
        );
        Self {
            weak: subscription.downgrade(),
            replica: subscription.replica(),
            handles: vec![subscription],
            root,
            shards: pinned_affinities(&[SHARDS]),
            readers: Vec::new(),
            writers: Vec::new(),
            line: Line::default(),
            snapshots: Vec::new(),
            now: Now {
                version: 0,
                number: 0,
                is_closed: false,
            },
            numbers: 0,
        }
    }

    pub(crate) fn go(mut self, calls: &[u32]) {
        for &bits in calls {
            self.step(bits);
            self.check();
            if bits.is_multiple_of(3) {
                self.look();
            }
        }
        self.end();
    }

    fn step(&mut self, bits: u32) {
        let [kind, a, b, c] = bits.to_le_bytes().map(usize::from);
        match kind {
            0..100 => self.write(kind, a, b),
            100..115 if !self.writers.is_empty() => self.poll_writer(a % self.writers.len()),
            115..120 if !self.writers.is_empty() => self.drop_writer(a % self.writers.len()),
            120..140 => self.subscribe(a),
            140..150 => self.handles(a, b),
            150..155 => {
                let taken = self.handles.first().map(Subscription::get);
                self.snapshots
                    .extend(taken.map(|taken| (self.now.number, taken)));
            }
            155..250 if !self.readers.is_empty() => {
                self.read(kind, b % self.readers.len(), a, c);
            }
            _ => self.poll_woken(),
        }
    }

    fn token(&mut self) -> Token {
        self.numbers += 1;
        Token(self.numbers, self.root.clone())
    }

    /// How many more changes all feeds have room for.
    fn free(&self) -> usize {
        match self.now.is_closed {
            true => usize::MAX,
            false => {
                let rooms = self.readers.iter().map(Reader::free);
                rooms.min().unwrap_or(usize::MAX)
            }
        }
    }

    /// A change was made: whether it made a feed fail.
    fn changed(&mut self, number: u64) -> bool {
        self.now.version += 1;
        self.now.number = number;
        let failed = self.readers.iter_mut().map(|reader| reader.offer(number));
        failed.fold(false, |any, failed| any | failed)
    }

    /// What a change must have answered that was not refused.
    fn check_done(&mut self, done: Done, number: u64) {
        let has_failed = self.changed(number);
        match done {
            Done::Set(version) if !has_failed => assert_eq!(version.number(), self.now.version),
            Done::Overrun(version) if has_failed => {
                assert_eq!(version.number(), self.now.version);
            }
            Done::Eventually if !has_failed => {}
            done => panic!("{done:?}, and {has_failed}"),
        }
    }

    fn write(&mut self, kind: usize, a: usize, b: usize) {
        if self.handles.is_empty() {
            return;
        }
        let handle = self.handles[a % self.handles.len()].clone();
        let turns = handle.stats().control_turns;
        match kind {
            0..25 => self.try_set(&handle, None),
            25..35 => self.try_set(&handle, Some(Duration::ZERO)),
            35..90 if self.writers.len() < WRITERS_MAX => self.start(handle.clone(), kind, b),
            90..92 if b < 128 => {
                handle.close();
                self.now.is_closed = true;
            }
            92..94 if b < 128 => {
                let token = self.token();
                let number = token.0;
                match handle.close_with(token) {
                    Ok(version) => {
                        assert!(!self.now.is_closed);
                        self.now.version += 1;
                        self.now.number = number;
                        assert_eq!(version.number(), self.now.version);
                    }
                    Err(back) => assert!(self.now.is_closed && back.0.0 == number),
                }
                self.now.is_closed = true;
            }
            _ => {}
        }
        assert_eq!(handle.stats().control_turns, turns);
        let read = handle.read_versioned(|version, value| (version.number(), value.0));
        assert_eq!(read, (self.now.version, self.now.number));
        assert_eq!(handle.version().number(), read.0);
        assert_eq!((handle.get().0, handle.get_cloned().0), (read.1, read.1));
        assert_eq!(handle.read(|value| value.0), read.1);
        assert_eq!(handle.is_closed(), self.now.is_closed);
    }

    fn try_set(&mut self, handle: &Subscription<Token>, timeout: Option<Duration>) {
        let token = self.token();
        let number = token.0;
        let (free, was_idle) = (self.free(), self.line.is_empty());
        let answer = match timeout {
            None => handle.try_set(token),
            Some(timeout) => handle.blocking_set(token, timeout),
        };
        // A blocking call that finds others waiting stands behind them for a moment.
        let expected = match timeout {
            Some(_) => self.line.poll(number, free, self.now.is_closed),
            None if self.now.is_closed => Answer::Closed,
            None if was_idle && free > 0 => Answer::Taken,
            None => Answer::Waits,
        };
        self.line.leave(number);
        match (answer, expected) {
            (Ok(version), Answer::Taken) => self.check_done(Done::Set(version), number),
            (Err(TrySetError::Overrun(version)), Answer::Taken) => {
                self.check_done(Done::Overrun(version), number);
            }
            (Err(TrySetError::Closed(back)), Answer::Closed) => assert_eq!(back.0, number),
            (Err(TrySetError::Busy(back)), Answer::Waits) => {
                assert!(timeout.is_none() && free > 0 && back.0 == number);
            }
            (Err(TrySetError::Full(back)), Answer::Waits) => {
                assert!((timeout.is_some() || free == 0) && back.0 == number);
            }
            (answer, expected) => panic!("{answer:?} instead of {expected:?}"),
        }
    }

    fn start(&mut self, handle: Subscription<Token>, kind: usize, b: usize) {
        let token = self.token();
        let number = token.0;
        // Another change in the middle of the first attempt, where there is room for both.
        let is_faster = self.line.is_empty() && self.free() > 1 && !self.now.is_closed;
        let between = (is_faster && b.is_multiple_of(3)).then(|| self.token());
        let between_number = between.as_ref().map(|between| between.0);
        let change: Pin<Box<dyn Future<Output = Done>>> = match kind {
            35..60 => Box::pin(async move { done(handle.set(token).await) }),
            60..70 => Box::pin(async move {
                match handle.set_eventually(token).await {
                    Ok(()) => Done::Eventually,
                    Err(error) => done(Err(error)),
                }
            }),
            _ => {
                if let Some(between) = between_number {
                    self.changed(between);
                }
                let mut between = between;
                Box::pin(async move {
                    let update = handle.update(|_| {
                        if let Some(between) = between.take() {
                            let set = handle.try_set(between);
                            assert!(matches!(set, Ok(_) | Err(TrySetError::Overrun(_))));
                        }
                        token.clone()
                    });
                    match update.await {
                        Ok(version) => Done::Set(version),
                        Err(SetError::Overrun(version)) => Done::Overrun(version),
                        Err(SetError::Closed(())) => Done::UpdateClosed,
                        Err(other) => panic!("{other}"),
                    }
                })
            }
        };
        let (bell, waker) = bell();
        self.writers.push(Writer {
            number,
            change,
            bell,
            waker,
            seen: 0,
        });
        // A future may be dropped, or stay for a while, before its first poll.
        if !b.is_multiple_of(5) || between_number.is_some() {
            self.poll_writer(self.writers.len() - 1);
        }
    }

    fn poll_writer(&mut self, which: usize) {
        let mut writer = self.writers.swap_remove(which);
        writer.seen = writer.bell.rings();
        let free = self.free();
        let expected = self.line.poll(writer.number, free, self.now.is_closed);
        let mut cx = Context::from_waker(&writer.waker);
        match (writer.change.as_mut().poll(&mut cx), expected) {
            (Poll::Pending, Answer::Waits) => self.writers.push(writer),
            (Poll::Ready(Done::Closed(back)), Answer::Closed) => assert_eq!(back, writer.number),
            (Poll::Ready(Done::UpdateClosed), Answer::Closed) => {}
            (Poll::Ready(done), Answer::Taken) => self.check_done(done, writer.number),
            (answer, expected) => panic!("{answer:?} instead of {expected:?}"),
        }
        // A change that is done has given its handle up.
        self.close_if_last();
    }

    fn drop_writer(&mut self, which: usize) {
        let writer = self.writers.swap_remove(which);
        self.line.leave(writer.number);
        drop(writer);
        self.close_if_last();
    }

    fn subscribe(&mut self, a: usize) {
        let Some(handle) = self.handles.first() else {
            return;
        };
        if self.readers.len() < FEEDS_MAX {
            let _entered = enter(self.shards[a % SHARDS], Rc::new(()));
            let (capacity, overflow) = (handle.capacity(), handle.overflow());
            let feed = Box::new(handle.changes());
            self.readers
                .push(Reader::new(feed, capacity, overflow, self.now));
        }
    }

    /// Handles come and go; with the last one the subscription is closed.
    fn handles(&mut self, a: usize, b: usize) {
        if a < 128 && self.handles.len() < HANDLES_MAX {
            let upgraded = self.weak.clone().upgrade();
            let is_open = !self.handles.is_empty() || !self.writers.is_empty();
            assert_eq!(upgraded.is_some(), is_open);
            self.handles.extend(upgraded);
        } else if self.handles.len() > 1 || (b < 16 && !self.handles.is_empty()) {
            drop(self.handles.swap_remove(b % self.handles.len()));
            self.close_if_last();
        }
    }

    /// A change that waits has a handle too.
    fn close_if_last(&mut self) {
        self.now.is_closed |= self.handles.is_empty() && self.writers.is_empty();
    }

    fn read(&mut self, kind: usize, which: usize, a: usize, c: usize) {
        let now = self.now;
        let reader = &mut self.readers[which];
        match kind {
            155..180 => reader.try_next(now),
            180..205 => reader.poll(now),
            205..220 => reader.wait(now),
            220..230 => reader.poll_and_drop(a % 3, now),
            230..240 => reader.batch(c % 5, now),
            240..244 => reader.detach(),
            _ => drop(self.readers.swap_remove(which)),
        }
    }

    /// Who waits for room is woken once it has the right of way, and not before.
    fn check(&mut self) {
        self.line.grant(self.free());
        for writer in &self.writers {
            let grants = self.line.grants(writer.number);
            assert_eq!(writer.bell.rings(), grants, "wakes of a writer");
        }
        self.readers
            .iter()
            .for_each(|reader| reader.check(self.now));
    }

    /// The replica looks, which it may not have done for several changes.
    fn look(&mut self) {
        let (version, token) = self.replica.look_versioned();
        assert_eq!(
            (version.number(), token.0),
            (self.now.version, self.now.number)
        );
        assert_eq!(self.replica.is_closed(), self.now.is_closed);
    }

    /// Runs everybody who was woken until nobody is; then nobody waits for what is there.
    fn poll_woken(&mut self) {
        loop {
            let now = self.now;
            let woken = |writer: &Writer| writer.bell.rings() > writer.seen;
            if let Some(which) = self.writers.iter().position(woken) {
                self.poll_writer(which);
            } else if let Some(reader) = self.readers.iter_mut().find(|reader| reader.is_woken()) {
                reader.poll(now);
            } else {
                break;
            }
            self.check();
        }
        for reader in self.readers.iter().filter(|reader| reader.waits()) {
            assert!(!reader.has_news(self.now), "a wake was lost");
        }
    }

    fn end(mut self) {
        self.poll_woken();
        while !self.writers.is_empty() {
            self.drop_writer(0);
            self.check();
        }
        self.handles.clear();
        self.now.is_closed = true;
        self.check();
        self.poll_woken();
        for reader in &mut self.readers {
            reader.drain(self.now);
            reader.check(self.now);
        }
        assert!(self.weak.upgrade().is_none());
        self.look();
        for (number, snapshot) in &self.snapshots {
            assert_eq!(snapshot.0, *number);
        }
    }
}
