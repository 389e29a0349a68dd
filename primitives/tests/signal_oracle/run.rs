//! One sequence of calls, each beside its oracle.

use crate::kinds::{AnyReplica, AnySignal, Weak};
use crate::reader::{Now, Reader};
use std::rc::Rc;
use thread_aware::affinity::{Affinity, enter, pinned_affinities};

const FEEDS_MAX: usize = 6;
const HANDLES_MAX: usize = 4;
const REPLICAS_MAX: usize = 4;
const SHARDS: usize = 3;

pub(crate) struct Run {
    handles: Vec<Box<dyn AnySignal>>,
    weak: Weak,
    shards: Vec<Affinity>,
    readers: Vec<Reader>,
    snapshots: Vec<(u64, Box<dyn Fn() -> u64>)>,
    replicas: Vec<Box<dyn AnyReplica>>,
    now: Now,
    numbers: u64,
}

impl Run {
    pub(crate) fn new(signal: Box<dyn AnySignal>) -> Self {
        Self {
            weak: signal.downgrade(),
            handles: vec![signal],
            shards: pinned_affinities(&[SHARDS]),
            readers: Vec::new(),
            snapshots: Vec::new(),
            replicas: Vec::new(),
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
        }
        self.end();
    }

    fn step(&mut self, bits: u32) {
        let [kind, a, b, c] = bits.to_le_bytes().map(usize::from);
        match kind {
            0..110 => self.write(kind, a, b),
            110..140 => self.subscribe(a),
            140..150 => self.handles(a, b),
            150..155 => self.snapshot(),
            155..160 => self.replica(a, b),
            160..252 if !self.readers.is_empty() => {
                let which = b % self.readers.len();
                self.read(kind, which, a);
            }
            _ => self.poll_woken(),
        }
        self.readers
            .iter()
            .for_each(|reader| reader.check(self.now));
        self.look(c);
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// A value was put in place of the last one.
    fn changed(&mut self, number: u64) -> u64 {
        self.now.version += 1;
        self.now.number = number;
        self.now.version
    }

    fn write(&mut self, kind: usize, a: usize, b: usize) {
        let (number, between) = (self.number(), self.number());
        if self.handles.is_empty() {
            return;
        }
        let signal = self.handles[a % self.handles.len()].another();
        let turns = signal.stats().control_turns;
        let was_closed = self.now.is_closed;
        match kind {
            0..60 => match signal.set(number) {
                Ok(version) => assert_eq!(version, self.changed(number)),
                Err(back) => assert!(was_closed && back == number),
            },
            60..75 => match signal.set_eventually(number) {
                Ok(()) => drop(self.changed(number)),
                Err(back) => assert!(was_closed && back == number),
            },
            75..100 => {
                let between = Some(between).filter(|_| b.is_multiple_of(3) && !was_closed);
                let (version, runs) = signal.update(number, between);
                assert_eq!(version.is_none(), was_closed);
                if let Some(version) = version {
                    between.map(|between| self.changed(between));
                    assert_eq!(version, self.changed(number));
                    assert_eq!(runs, 1 + usize::from(between.is_some()));
                }
            }
            100..103 if b < 64 => {
                signal.close();
                self.now.is_closed = true;
            }
            103..106 if b < 64 => {
                match signal.close_with(number) {
                    Ok(version) => assert_eq!(version, self.changed(number)),
                    Err(back) => assert!(was_closed && back == number),
                }
                self.now.is_closed = true;
            }
            _ => {}
        }
        assert_eq!(signal.stats().control_turns, turns);
        assert_eq!(signal.read(), (self.now.version, self.now.number));
        assert_eq!(signal.is_closed(), self.now.is_closed);
    }

    fn subscribe(&mut self, a: usize) {
        if self.readers.len() == FEEDS_MAX || self.handles.is_empty() {
            return;
        }
        let _entered = enter(self.shards[a % SHARDS], Rc::new(()));
        let feed = self.handles[0].changes();
        self.readers.push(Reader::new(feed, self.now));
    }

    /// Handles come and go; with the last one the signal is closed.
    fn handles(&mut self, a: usize, b: usize) {
        if a < 128 && self.handles.len() < HANDLES_MAX {
            let upgraded = (self.weak)();
            assert_eq!(upgraded.is_some(), !self.handles.is_empty());
            self.handles.extend(upgraded);
        } else if self.handles.len() > 1 || (b < 16 && !self.handles.is_empty()) {
            drop(self.handles.swap_remove(b % self.handles.len()));
            self.now.is_closed |= self.handles.is_empty();
        }
    }

    /// Keeps what `get` answers: it stays as it is.
    fn snapshot(&mut self) {
        let taken = self.handles.first().map(|signal| signal.snapshot());
        self.snapshots
            .extend(taken.map(|taken| (self.now.number, taken)));
    }

    /// Replicas come and go; some are clones of one that may be behind.
    fn replica(&mut self, a: usize, b: usize) {
        if self.replicas.len() == REPLICAS_MAX {
            drop(self.replicas.swap_remove(a % REPLICAS_MAX));
        }
        let replica = match self.replicas.is_empty() || b < 128 {
            true => self.handles.first().map(|signal| signal.replica()),
            false => Some(self.replicas[b % self.replicas.len()].another()),
        };
        self.replicas.extend(replica);
    }

    /// One replica looks, or none, so that others are behind by more than one set.
    fn look(&mut self, which: usize) {
        if let Some(replica) = self.replicas.get_mut(which % (2 * REPLICAS_MAX)) {
            let Now {
                version,
                number,
                is_closed,
            } = self.now;
            assert_eq!(replica.look(), (version, number, is_closed));
        }
    }

    fn read(&mut self, kind: usize, which: usize, a: usize) {
        let now = self.now;
        let reader = &mut self.readers[which];
        match kind {
            160..180 => reader.try_next(now),
            180..205 => reader.poll(now),
            205..225 => reader.wait(now),
            225..238 => reader.poll_and_drop(a % 3, now),
            238..242 => reader.detach(),
            _ => drop(self.readers.swap_remove(which)),
        }
    }

    /// Runs every woken feed until none is; then nobody waits for what is there.
    fn poll_woken(&mut self) {
        let now = self.now;
        while let Some(reader) = self.readers.iter_mut().find(|reader| reader.is_woken()) {
            reader.poll(now);
        }
        for reader in self.readers.iter().filter(|reader| reader.waits()) {
            assert!(!reader.has_news(now), "a wake was lost");
        }
    }

    fn end(mut self) {
        self.poll_woken();
        self.handles.clear();
        self.now.is_closed = true;
        self.readers
            .iter()
            .for_each(|reader| reader.check(self.now));
        self.poll_woken();
        // The last value, and the end.
        for reader in &mut self.readers {
            reader.poll(self.now);
            reader.poll(self.now);
            reader.check(self.now);
        }
        assert!((self.weak)().is_none());
        (0..REPLICAS_MAX).for_each(|which| self.look(which));
        for (number, snapshot) in &self.snapshots {
            assert_eq!(snapshot(), *number);
        }
    }
}
