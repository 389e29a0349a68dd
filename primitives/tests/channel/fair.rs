//! Many producers get equal shares of a channel that is full.

use crate::random::Random;
use crate::support::Task;
use corelane_primitives::channel;

const PRODUCERS: usize = 1_024;

/// Tasks that were woken are polled in any order, and the receiver drains at any time.
// proves: C-7
#[test]
fn fastest_of_1024_producers_gets_at_most_twice_what_the_slowest_gets() {
    for capacity in [1, 7, 256] {
        let mut random = Random::new(capacity as u64);
        let (sender, mut receiver) = channel(capacity);
        let mut waiting: Vec<_> = (0..PRODUCERS)
            .map(|who| Task::new(sender.send(who)))
            .collect();
        let mut rung = vec![0; PRODUCERS];
        let mut runnable: Vec<usize> = (0..PRODUCERS).collect();
        let mut received = vec![0_u32; PRODUCERS];
        while received.iter().sum::<u32>() < 20 * PRODUCERS as u32 {
            // Some of those that can run do, each for as long as it may.
            for _ in 0..random.below(runnable.len() as u64 + 1) {
                let who = runnable.swap_remove(random.below(runnable.len() as u64) as usize);
                while waiting[who].poll().is_ready() {
                    waiting[who] = Task::new(sender.send(who));
                    rung[who] = 0;
                }
            }
            let max = 1 + random.below(2 * capacity as u64) as usize;
            receiver.fold(max, (), |(), who| received[who] += 1);
            for who in 0..PRODUCERS {
                if waiting[who].rings() > rung[who] {
                    rung[who] = waiting[who].rings();
                    runnable.push(who);
                }
            }
        }
        let most = received.iter().max().expect("there are some");
        let least = received.iter().min().expect("there are some");
        assert!(
            *most <= 2 * least,
            "{least} to {most} at capacity {capacity}"
        );
    }
}
