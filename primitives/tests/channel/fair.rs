//! Many producers get equal shares of a channel that is full.

use crate::random::Random;
use crate::support::Task;
use corelane_primitives::{Receiver, Sender, channel};

const PRODUCERS: usize = 1_024;

/// Producers that each send without end, polled by hand.
struct Crowd<'a> {
    senders: &'a [Sender<usize>],
    sends: Vec<Task<'a, Result<(), corelane_primitives::Closed<usize>>>>,
    /// Rings that were seen, a producer.
    seen: Vec<usize>,
    runnable: Vec<usize>,
}

impl<'a> Crowd<'a> {
    fn new(senders: &'a [Sender<usize>]) -> Self {
        Self {
            senders,
            sends: (0..PRODUCERS)
                .map(|who| Task::new(senders[who].send(who)))
                .collect(),
            seen: vec![0; PRODUCERS],
            runnable: (0..PRODUCERS).collect(),
        }
    }

    /// One of those that can run does, for as long as it may.
    fn run(&mut self, random: &mut Random) {
        let which = random.below(self.runnable.len() as u64) as usize;
        let who = self.runnable.swap_remove(which);
        while self.sends[who].poll().is_ready() {
            self.sends[who] = Task::new(self.senders[who].send(who));
            self.seen[who] = 0;
        }
    }

    /// Finds out who was woken.
    fn look(&mut self) {
        for who in 0..PRODUCERS {
            let rings = self.sends[who].rings();
            if rings > self.seen[who] {
                self.seen[who] = rings;
                self.runnable.push(who);
            }
        }
    }
}

fn drain(receiver: &mut Receiver<usize>, max: usize, received: &mut [u32]) {
    receiver.fold(max, (), |(), who| received[who] += 1);
}

/// Tasks that were woken are polled in any order, and the receiver drains at any time.
// proves: C-7
#[test]
fn fastest_of_1024_producers_gets_at_most_twice_what_the_slowest_gets() {
    for (capacity, laps) in [(1, 3), (7, 10), (256, 1_000)] {
        let mut random = Random::new(capacity as u64);
        let (sender, mut receiver) = channel(capacity);
        let senders = vec![sender; PRODUCERS];
        let mut crowd = Crowd::new(&senders);
        // Once everybody has come, whoever was first has sent a full channel.
        while !crowd.runnable.is_empty() {
            crowd.run(&mut random);
        }
        let mut received = [0; PRODUCERS];
        drain(&mut receiver, capacity, &mut received);
        received.fill(0);
        while received.iter().sum::<u32>() < laps * PRODUCERS as u32 {
            crowd.look();
            for _ in 0..random.below(crowd.runnable.len() as u64 + 1) {
                crowd.run(&mut random);
            }
            let max = 1 + random.below(2 * capacity as u64) as usize;
            drain(&mut receiver, max, &mut received);
        }
        let most = received.iter().max().expect("there are some");
        let least = received.iter().min().expect("there are some");
        assert!(
            *most <= 2 * least,
            "{least} to {most} at capacity {capacity}"
        );
    }
}
