//! One shard's part of the service, from its start to its end.

use std::rc::Rc;
use std::sync::Arc;

use corelane::net::TcpStream;
use corelane_primitives::{Consumer, DetachedFeed, Producer, Topic};

use super::accept::Arrival;
use super::commander::Commanders;
use super::connections::Connections;
use super::control::Control;
use super::crew::Crew;
use super::desk::Desk;
use super::door::{Door, Hall};
use super::hub::Hub;
use super::input::Input;
use super::intake::Tally;
use super::live::{self, Sample};
use super::orders::Orders;
use super::owner::Owner;
use super::routes::{Instruments, Routes, Timed};
use super::run::Run;
use super::tape;
use super::tops::{Boards, Tops};
use crate::feed::{Limits, ShardSummary, Trade};

/// What a shard needs for its part and is no core's; sent to it as it is.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) run: Arc<Run>,
    pub(super) shard: usize,
    pub(super) inputs: Vec<Input>,
    /// The rings to here, if the embedded feed has any.
    pub(super) desk: Option<Desk>,
    /// Lanes with updates: those to here, and the doors of all shards.
    pub(super) lanes: Hall<Consumer<Timed>>,
    pub(super) lane_doors: Vec<Door<Consumer<Timed>>>,
    /// Where the best prices of all shards stand.
    pub(super) boards: Boards,
    /// Whether subscribers may come.
    pub(super) serves: bool,
    /// Where trades go, and where those of all shards come from.
    pub(super) topic: Topic<Trade>,
    pub(super) trades: DetachedFeed<Trade>,
    /// The versions of the risk limits.
    pub(super) limits: DetachedFeed<Arc<Limits>>,
    /// Who decides about the run.
    pub(super) control: Control,
    pub(super) arrivals: Hall<Arrival>,
    pub(super) samples: Producer<Sample>,
}

/// Runs one shard's part, with its core's table of `instruments`. Each step ends when what it waits
/// for has ended on all shards, so that nothing is left on the way between two of them.
pub(super) async fn work(instruments: Instruments, mut seat: Seat) -> ShardSummary {
    let run = seat.run;
    let owner = Rc::new(Owner::new(Tops::new(seat.boards[seat.shard].clone())));
    let hub = Rc::new(Hub::new(seat.shard, Arc::clone(&seat.boards)));
    let shards = seat.boards.len();
    let orders = Rc::new(Orders::new(seat.shard, shards, &mut seat.limits));
    let tally = Rc::new(Tally::default());
    let (applying, reading) = (Crew::default(), Crew::default());
    if let Some(desk) = seat.desk {
        owner.take_desk(desk, seat.topic.clone(), &applying);
    }
    // From here on those who apply have the topic.
    applying.start(Rc::clone(&owner).apply_all(seat.lanes, seat.topic));
    reading.start(Rc::clone(&orders).follow(seat.limits));
    reading.start(tape::read(seat.trades, Rc::clone(&hub), Rc::clone(&orders)));
    if seat.serves {
        hub.follow_all(&reading);
    }
    corelane::spawn(live::sample(
        Arc::clone(&run),
        Rc::clone(&owner),
        Rc::clone(&hub),
        Rc::clone(&orders),
        Rc::clone(&tally),
        seat.samples,
    ))
    .detach();

    take_inputs(
        &run,
        &tally,
        &hub,
        Routes::new(instruments, seat.lane_doors),
        seat.inputs,
        seat.arrivals,
        Commanders::new(seat.control),
    )
    .await;
    applying.done().await;
    // Those who follow and read end behind the last of all shards.
    owner.end_tops();
    reading.done().await;
    hub.finish().await;

    let mut summary = owner.close();
    summary.malformed += tally.malformed.get();
    summary.refused += tally.refused.get() + tally.fills.get().total();
    summary.fills = tally.fills.get();
    hub.report(&mut summary);
    summary.orders = orders.report();
    summary
}

/// Runs all inputs of the shard to their ends, and lets subscribers in meanwhile. The shard's ends
/// of lanes go with the last input.
async fn take_inputs(
    run: &Arc<Run>,
    tally: &Rc<Tally>,
    hub: &Rc<Hub>,
    routes: Routes,
    inputs: Vec<Input>,
    mut arrivals: Hall<Arrival>,
    commanders: Commanders,
) {
    let (routes, known) = (Rc::new(routes), Crew::default());
    for input in inputs {
        known.start(input.run(Arc::clone(run), Rc::clone(tally), Rc::clone(&routes)));
    }
    let mut connections = Connections::new(Arc::clone(run), Rc::clone(tally), routes);
    while let Some(arrival) = arrivals.next().await {
        let taken = match arrival {
            Arrival::Input(stream, peer) => {
                TcpStream::from_std(stream).map(|stream| connections.start(stream, peer))
            }
            Arrival::Subscriber(stream) => {
                TcpStream::from_std(stream).map(|stream| hub.join(stream))
            }
            Arrival::Control(stream) => {
                TcpStream::from_std(stream).map(|stream| commanders.start(stream))
            }
        };
        match taken {
            Ok(true) => {}
            Ok(false) => tally.count_refused(),
            Err(error) => {
                tally.count_refused();
                run.voice
                    .warn(&format!("a connection could not be taken over: {error}"));
            }
        }
    }
    known.done().await;
    connections.finish().await;
    commanders.finish().await;
}
