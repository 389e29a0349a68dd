//! One message to an actor, or to a task with a mailbox.

use std::sync::{OnceLock, mpsc};

use corelane_bench_harness::{BenchError, Meter, Params, Sample, pin};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{Receiver, channel};

/// Places of tokio's mailbox; ractor's has no bound.
const PLACES: usize = 256;
/// Messages that tokio's task takes at a time.
const BATCH: usize = 256;

enum Message {
    /// Does nothing.
    Noop,
    /// Answers how many messages came before it.
    Ack(mpsc::Sender<u64>),
}

struct Counter;

impl Actor for Counter {
    type Msg = Message;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        message: Message,
        handled: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Noop => *handled += 1,
            Message::Ack(reply) => reply.send(*handled)?,
        }
        Ok(())
    }
}

/// datum-core's actors run on a runtime of this kind.
fn runtime() -> Result<&'static Runtime, BenchError> {
    static RUNTIME: OnceLock<Result<Runtime, std::io::Error>> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Builder::new_multi_thread().enable_time().build());
    runtime.as_ref().map_err(BenchError::runtime("tokio"))
}

/// The shape of datum-core's own diagnostic row: messages to an actor, and one that is answered.
pub(crate) fn ractor(params: &Params, _one: usize) -> Result<Sample, BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::runtime("ractor")(error);
    let runtime = runtime()?;
    let spawned = runtime.block_on(Actor::spawn(None, Counter, ()));
    let (actor, handle) = spawned.map_err(|error| failed(&error))?;
    let meter = Meter::start();
    for _ in 0..params.ops {
        let sent = actor.send_message(Message::Noop);
        sent.map_err(|error| failed(&error))?;
    }
    let (reply, answer) = mpsc::channel();
    let sent = actor.send_message(Message::Ack(reply));
    sent.map_err(|error| failed(&error))?;
    let handled = answer.recv().map_err(|error| failed(&error))?;
    let spent = meter.stop(params.ops);
    actor.stop(None);
    runtime.block_on(handle).map_err(|error| failed(&error))?;
    BenchError::check("messages handled", params.ops, handled)?;
    Ok(spent.wall_sample())
}

/// A task on one core and a thread that sends on another.
pub(crate) fn tokio(params: &Params, _one: usize) -> Result<Sample, BenchError> {
    let (mailbox, messages) = channel(PLACES);
    let (cores, ops) = (params.cores, params.ops);
    let failed = |_| BenchError::Panicked;
    std::thread::scope(|scope| {
        let actor = scope.spawn(move || {
            pin(cores.first)?;
            let runtime = Builder::new_current_thread()
                .build()
                .map_err(BenchError::io("start tokio"))?;
            runtime.block_on(handle(messages));
            Ok::<_, BenchError>(())
        });
        pin(cores.second)?;
        let meter = Meter::start();
        for _ in 0..ops {
            mailbox.blocking_send(Message::Noop).map_err(failed)?;
        }
        let (reply, answer) = mpsc::channel();
        mailbox.blocking_send(Message::Ack(reply)).map_err(failed)?;
        let handled = answer.recv().map_err(|_| BenchError::Panicked)?;
        let spent = meter.stop(ops);
        drop(mailbox);
        actor.join().map_err(|_| BenchError::Panicked)??;
        BenchError::check("messages handled", ops, handled)?;
        Ok(spent.wall_sample())
    })
}

async fn handle(mut messages: Receiver<Message>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut handled = 0;
    while messages.recv_many(&mut batch, BATCH).await > 0 {
        for message in batch.drain(..) {
            match message {
                Message::Noop => handled += 1,
                Message::Ack(reply) => {
                    if reply.send(handled).is_err() {
                        return; // nobody asks any more
                    }
                }
            }
        }
    }
}
