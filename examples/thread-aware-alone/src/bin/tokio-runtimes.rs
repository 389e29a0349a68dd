//! Caches a core on Tokio: one current-thread runtime on each core, with a task for each tour.
#![forbid(unsafe_code)]

use std::{error::Error, process::ExitCode, thread};

use corelane_thread_aware_alone::{Report, Resolver, TOURS, Tour, Visited, conclude};
use thread_aware::{
    ThreadAware,
    affinity::Affinity,
    registry::{ProcessorCount, ThreadRegistry},
};
use tokio::{
    runtime::Builder,
    sync::mpsc::{self, Receiver, Sender},
    task::{LocalSet, yield_now},
};

type Failure = Box<dyn Error + Send + Sync>;

/// What a core is sent; `None` tells it to stop.
type Message = Option<Tour>;

/// One runtime of the host.
#[derive(Clone)]
struct Core<'a> {
    registry: &'a ThreadRegistry,
    here: Affinity,
    next: Sender<Message>,
    finished: Sender<Result<Tour, Failure>>,
    resolver: Resolver,
}

impl Core<'_> {
    /// Runs a runtime on this core until it is told to stop, and says what its cache did.
    fn run(mut self, inbox: Receiver<Message>) -> Option<Visited> {
        let runtime = self.registry.try_pin_to(self.here).map_err(Failure::from);
        let runtime = runtime.and_then(|()| Ok(Builder::new_current_thread().build()?));
        match runtime {
            Ok(runtime) => LocalSet::new().block_on(&runtime, self.serve(inbox)),
            Err(error) => {
                // Whoever waits for the tours hears of it. If nobody does, all is over anyway.
                self.finished.try_send(Err(error)).ok()?;
                return None;
            }
        }
        self.resolver.relocate(None, self.here);
        Some(Visited::of(self.here, &self.resolver))
    }

    /// Gives each tour that arrives a task. Tasks of one core wait for one another and never for
    /// another core's.
    async fn serve(&self, mut inbox: Receiver<Message>) {
        while let Some(Some(mut tour)) = inbox.recv().await {
            let (here, next, finished) = (self.here, self.next.clone(), self.finished.clone());
            tokio::task::spawn_local(async move {
                tour.arrive(here);
                yield_now().await;
                // Each channel has room for all tours; who has stopped wants no more of them.
                let refused = if tour.is_over() {
                    finished.try_send(Ok(tour)).is_err()
                } else {
                    next.try_send(Some(tour)).is_err()
                };
                if refused {
                    eprintln!("a tour was given up, since another core has stopped");
                }
            });
        }
    }
}

/// Sends all tours around, and collects what became of them.
fn tour_all(registry: &ThreadRegistry) -> Result<Report, Failure> {
    let resolver = Resolver::default();
    let cores = registry.num_affinities();
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..cores).map(|_| mpsc::channel(TOURS + 1)).unzip();
    let (finished, mut results) = mpsc::channel(TOURS + cores);
    thread::scope(|scope| {
        let start = |(here, inbox): (Affinity, _)| {
            let core = Core {
                registry,
                here,
                next: senders[(here.processor_index() + 1) % cores].clone(),
                finished: finished.clone(),
                resolver: resolver.clone(),
            };
            scope.spawn(|| core.run(inbox))
        };
        let threads: Vec<_> = registry.affinities().zip(inboxes).map(start).collect();
        for (n, tour) in Report::tours(&resolver).into_iter().enumerate() {
            // A core that could not start has closed its channel, and says why below.
            if senders[n % cores].blocking_send(Some(tour)).is_err() {
                break;
            }
        }
        let tours: Result<Vec<Tour>, _> =
            (0..TOURS).map_while(|_| results.blocking_recv()).collect();
        for sender in &senders {
            drop(sender.blocking_send(None)); // refused by a core that has ended
        }
        let visited = threads
            .into_iter()
            .filter_map(|thread| thread.join().expect("a core does not panic"));
        let visited = visited.collect();
        Ok(Report::new("runtimes of Tokio", visited, &tours?))
    })
}

fn main() -> ExitCode {
    conclude(tour_all(&ThreadRegistry::new(&ProcessorCount::Auto)))
}
