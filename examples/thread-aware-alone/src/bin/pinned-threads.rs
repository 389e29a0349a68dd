//! Caches a core in plain threads, one pinned to each core, with channels of std between them.
#![forbid(unsafe_code)]

use std::{
    process::ExitCode,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
};

use corelane_thread_aware_alone::{Report, Resolver, TOURS, Tour, Visited, conclude};
use thread_aware::{
    ThreadAware,
    affinity::Affinity,
    registry::{PinError, ProcessorCount, ThreadRegistry},
};

/// What a worker is sent.
enum Message {
    Tour(Tour),
    Stop,
}

/// One thread of the host.
struct Worker<'a> {
    registry: &'a ThreadRegistry,
    here: Affinity,
    inbox: Receiver<Message>,
    next: SyncSender<Message>,
    finished: SyncSender<Result<Tour, PinError>>,
    resolver: Resolver,
}

impl Worker<'_> {
    /// Serves tours until it is told to stop, and says what the cache of its core did.
    ///
    /// No channel is ever full: each has room for everything that is sent at once.
    fn run(mut self) -> Visited {
        if let Err(error) = self.registry.try_pin_to(self.here) {
            self.finish(Err(error));
        }
        while let Ok(Message::Tour(mut tour)) = self.inbox.recv() {
            tour.arrive(self.here);
            if tour.is_over() {
                self.finish(Ok(tour));
            } else if self.next.send(Message::Tour(tour)).is_err() {
                break; // the next one has been told to stop
            }
        }
        self.resolver.relocate(None, self.here);
        Visited::of(self.here, &self.resolver)
    }

    fn finish(&self, outcome: Result<Tour, PinError>) {
        let sent = self.finished.send(outcome);
        sent.expect("the main thread keeps its end until all workers have ended");
    }
}

/// Sends all tours around, and collects what became of them.
fn tour_all(registry: &ThreadRegistry) -> Result<Report, PinError> {
    let resolver = Resolver::default();
    let cores = registry.num_affinities();
    let (senders, inboxes): (Vec<_>, Vec<_>) =
        (0..cores).map(|_| mpsc::sync_channel(TOURS + 1)).unzip();
    let (finished, results) = mpsc::sync_channel(TOURS + cores);
    thread::scope(|scope| {
        let start = |(here, inbox): (Affinity, _)| {
            let worker = Worker {
                registry,
                here,
                inbox,
                next: senders[(here.processor_index() + 1) % cores].clone(),
                finished: finished.clone(),
                resolver: resolver.clone(),
            };
            scope.spawn(|| worker.run())
        };
        let workers: Vec<_> = registry.affinities().zip(inboxes).map(start).collect();
        let send = |worker: usize, message| {
            let sent = senders[worker % cores].send(message);
            sent.expect("a worker listens until it is told to stop");
        };
        for (n, tour) in Report::tours(&resolver).into_iter().enumerate() {
            send(n, Message::Tour(tour));
        }
        let tours: Result<Vec<Tour>, _> = results.iter().take(TOURS).collect();
        (0..cores).for_each(|worker| send(worker, Message::Stop));
        let visited = workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker does not panic"));
        let visited = visited.collect();
        Ok(Report::new("pinned threads", visited, &tours?))
    })
}

fn main() -> ExitCode {
    conclude(tour_all(&ThreadRegistry::new(&ProcessorCount::Auto)))
}
