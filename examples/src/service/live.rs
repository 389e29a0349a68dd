//! The line a second that says how the run goes.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use corelane::metrics::{Snapshot, snapshot};
use corelane::time::{Instant, interval_at};
use corelane_primitives::{Consumer, Producer};

use super::control::Control;
use super::hub::Hub;
use super::intake::Tally;
use super::orders::Orders;
use super::owner::{Owner, Progress};
use super::run::{Run, unless_ended};
use crate::feed::{AgeReport, Ages, LiveLine, OrdersReport};

const PERIOD: Duration = Duration::from_secs(1);

/// Samples that wait at most. When the line is late, its next one covers more.
pub(super) const SAMPLES_MAX: usize = 2;

/// What one shard has to say about the last second.
#[derive(Debug)]
pub(super) struct Sample {
    progress: Progress,
    ages: Ages,
    subscribers: usize,
    /// Trades that the shard's reader has lost.
    dropped: u64,
    orders: OrdersReport,
}

/// Sends a sample a second until the run ends. The clock of all shards is one, so they agree on the
/// seconds.
pub(super) async fn sample(
    run: Arc<Run>,
    owner: Rc<Owner>,
    hub: Rc<Hub>,
    orders: Rc<Orders>,
    tally: Rc<Tally>,
    mut samples: Producer<Sample>,
) {
    let mut seconds = interval_at(run.start + PERIOD, PERIOD);
    while unless_ended(seconds.tick()).await.is_some() {
        if samples.slots() == 0 {
            continue;
        }
        let mut ages = Ages::default();
        let mut progress = owner.progress(&mut ages);
        progress.refused += tally.refused.get() + tally.fills.get().total();
        let sample = Sample {
            progress,
            ages,
            subscribers: hub.subscribers(),
            dropped: hub.reader().dropped,
            orders: orders.report(),
        };
        if samples.push(sample).is_err() {
            unreachable!("there is room, and only this end takes it");
        }
        samples.notify();
    }
}

/// Shows what the shards say, until the first of them says no more.
pub(super) async fn show(run: Arc<Run>, control: Control, mut shards: Vec<Consumer<Sample>>) {
    let (mut updates_before, mut then) = (0, run.start);
    let mut counted = snapshot();
    loop {
        let mut line = LiveLine {
            limits: u64::MAX,
            control: control.sent(),
            ..LiveLine::default()
        };
        let (mut updates, mut ages) = (0, Ages::default());
        for shard in &mut shards {
            let Some(sample) = shard.recv().await else {
                return;
            };
            let Progress {
                updates: applied,
                gaps,
                refused,
                lane_peak,
                tops,
                trades,
                rings,
            } = sample.progress;
            updates += applied;
            ages.merge(&sample.ages);
            line.gaps += gaps;
            line.refused += refused;
            line.lane_peak = line.lane_peak.max(lane_peak);
            line.tops += tops;
            line.trades += trades;
            line.dropped += sample.dropped;
            let orders = sample.orders;
            line.limits = line.limits.min(orders.version);
            line.over += orders.orders_over + orders.positions_over;
            for ring in &rings {
                line.rings.get_or_insert_default().add(ring);
            }
            line.subscribers += sample.subscribers as u64;
        }
        let now = Instant::now();
        line.seconds = now.duration_since(run.start).as_secs_f64();
        line.updates_per_s =
            (updates - updates_before) as f64 / now.duration_since(then).as_secs_f64();
        line.age_ns = AgeReport::from(&ages);
        (updates_before, then) = (updates, now);
        let before = std::mem::replace(&mut counted, snapshot());
        line.busy = busy_shares(&before, &counted);
        run.voice.live(&line);
    }
}

/// The part of the time between two snapshots that each shard was at work.
fn busy_shares(before: &Snapshot, after: &Snapshot) -> Vec<f64> {
    let shards = before.shards.iter().zip(&after.shards);
    shards
        .map(|(before, after)| {
            let busy = after.busy.saturating_sub(before.busy);
            let time = after.uptime.saturating_sub(before.uptime);
            if time.is_zero() {
                0.0
            } else {
                busy.div_duration_f64(time).min(1.0)
            }
        })
        .collect()
}
