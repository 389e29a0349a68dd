//! What a task with a mailbox costs, beside the actors that Datum runs on.

use std::sync::mpsc;

use corelane::IdlePolicy;
use corelane_bench_harness::{BenchError, Meter, Params, Sample, pin};
use corelane_primitives::{Receiver, channel};

use crate::ours;
use crate::tasks::on_shard;

/// Places of the mailbox.
const PLACES: usize = 256;

enum Message {
    /// Does nothing.
    Noop,
    /// Answers how many messages came before it.
    Ack(mpsc::Sender<u64>),
}

/// A thread sends messages to a task of a shard on another core; the last one is answered.
pub(super) fn round(params: &Params, _one: usize) -> Result<Sample, BenchError> {
    let (mailbox, messages) = channel(PLACES);
    let (cores, ops) = (params.cores, params.ops);
    std::thread::scope(|scope| {
        let actor = scope
            .spawn(move || on_shard(cores.first, IdlePolicy::default(), move || handle(messages)));
        pin(cores.second)?;
        let meter = Meter::start();
        for _ in 0..ops {
            mailbox.blocking_send(Message::Noop).map_err(ours)?;
        }
        let (reply, answer) = mpsc::channel();
        mailbox.blocking_send(Message::Ack(reply)).map_err(ours)?;
        let handled = answer.recv().map_err(ours)?;
        let spent = meter.stop(ops);
        drop(mailbox);
        actor.join().map_err(|_| BenchError::Panicked)??;
        BenchError::check("messages handled", ops, handled)?;
        Ok(spent.wall_sample())
    })
}

async fn handle(mut messages: Receiver<Message>) -> Result<(), BenchError> {
    let mut handled = 0;
    while messages.ready().await {
        let folded = messages.fold(PLACES, handled, |handled, message| match message {
            Message::Noop => handled + 1,
            Message::Ack(reply) => {
                // Whoever asked may be gone.
                reply.send(handled).map_or(handled, |()| handled)
            }
        });
        handled = folded.acc;
    }
    Ok(())
}
