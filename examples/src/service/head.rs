//! The service as shard 0 sees it: seats for all shards, listeners, and the summaries at the end.

use std::future::{Future, poll_fn};
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use corelane::time::sleep;
use corelane::{JoinHandle, Submit};
use corelane_primitives::{Consumer, lane};
use thread_aware::Unaware;

use super::accept::{ARRIVALS_MAX, Arrival, Listener, accept};
use super::console::Voice;
use super::control::{Control, Governed, Governor, control};
use super::desk::{Desk, desks};
use super::door::{Door, Hall, door};
use super::failure::Failure;
use super::input::Input;
use super::live::{self, SAMPLES_MAX, Sample};
use super::orders::limits;
use super::reader::Piece;
use super::recorder::{Recorder, Tape, recorder};
use super::routes::Instruments;
use super::run::{Run, unless_ended};
use super::signals::Ears;
use super::tape;
use super::tops::boards;
use super::worker::{Seat, work};
use crate::feed::{
    self, Command, DriverReport, INSTRUMENTS, Options, RecordReport, Report, ShardSummary, shard_of,
};

/// A run that came to its end.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) report: Report,
    /// Whether a part of it failed.
    pub(super) failed: bool,
}

/// Runs the service on the shards of this runtime, from shard 0.
pub(super) async fn serve(
    options: Options,
    readers: Vec<(PathBuf, Consumer<Piece>)>,
    tape: Option<Tape>,
    voice: Voice,
) -> Result<Ended, Failure> {
    // Ears and listeners first: without them there is no run, and whoever reads an address may
    // send a signal at once.
    let ears = Ears::open().map_err(Failure::Signals)?;
    let listeners = Listener::bind_all(&options, &voice)?;
    let inputs = input_count(&options, readers.len());
    let run = Arc::new(Run::new(options.speed(), options.strict, inputs, voice));
    let shards = corelane::shards();
    let Table {
        seats,
        arrivals,
        samples,
        control,
        governor,
        recorder,
    } = Table::set(&run, &options, readers, tape, shards.len());
    ears.attend(Arc::clone(&run), control.clone());
    let offices = Offices {
        control: control.clone(),
        governing: corelane::spawn(governor.govern(Arc::clone(&run))),
        recording: recorder.map(|recorder| corelane::spawn(recorder.run())),
    };
    let instruments = Instruments::from_unaware(feed::Instruments::new(shards.len()));
    let answers: Vec<_> = shards
        .iter()
        .zip(seats)
        .map(|(shard, seat)| {
            let data = (instruments.clone(), Unaware(seat));
            shard.submit_with(data, |(instruments, seat)| {
                work(instruments, seat.into_inner())
            })
        })
        .collect();
    let acceptors: Vec<JoinHandle<u64>> = listeners
        .into_iter()
        .map(|listener| corelane::spawn(accept(Arc::clone(&run), listener, arrivals.clone())))
        .collect();
    // From here on the acceptors alone bring connections.
    drop(arrivals);
    corelane::spawn(live::show(Arc::clone(&run), control.clone(), samples)).detach();
    if let Some(duration) = options.duration() {
        let limit = async move {
            if unless_ended(sleep(duration)).await.is_some() {
                control.tell(Command::Stop).await;
            }
        };
        corelane::spawn(limit).detach();
    }
    let mut summaries = all(answers).await?;
    for acceptor in acceptors {
        let refused = acceptor.await;
        summaries[0].refused += refused.expect("an acceptor ends by itself");
    }
    let mut report = Report::of_shards(run.start.elapsed().as_secs_f64(), summaries);
    offices.close(&run, &mut report).await;
    report.driver = driver();
    report.relocations = relocations();
    report.trades.overflow = options.trades_overflow;
    Ok(Ended {
        report,
        failed: run.has_failed(),
    })
}

/// How many inputs the run ends with.
fn input_count(options: &Options, files: usize) -> usize {
    match (options.listen, files) {
        (Some(_), _) => 1,
        (None, 0) => INSTRUMENTS.len(),
        (None, files) => files,
    }
}

/// What works on shard 0 for all, and ends behind all shards.
struct Offices {
    control: Control,
    governing: JoinHandle<Governed>,
    recording: Option<JoinHandle<io::Result<RecordReport>>>,
}

impl Offices {
    /// Waits for their ends, and adds what they have counted.
    async fn close(self, run: &Run, report: &mut Report) {
        let governed = self.governing.await;
        let governed = governed.expect("the governor ends by itself");
        report.control = self.control.report(governed);
        report.limits.version = governed.version;
        report.tops.reads += governed.reads;
        let Some(recording) = self.recording else {
            return;
        };
        match recording.await.expect("the recorder ends by itself") {
            Ok(recorded) => report.recording = recorded,
            Err(error) => run.fail(&format!("the recording broke: {error}")),
        }
    }
}

/// All that is set before the shards sit down.
struct Table {
    seats: Vec<Seat>,
    /// To each shard.
    arrivals: Vec<Door<Arrival>>,
    /// From each shard.
    samples: Vec<Consumer<Sample>>,
    control: Control,
    governor: Governor,
    recorder: Option<Recorder>,
}

impl Table {
    fn set(
        run: &Arc<Run>,
        options: &Options,
        readers: Vec<(PathBuf, Consumer<Piece>)>,
        tape: Option<Tape>,
        shards: usize,
    ) -> Self {
        let (mut desks, mut inputs) = assign(options, readers, shards);
        // Each shard brings each other one lane at most.
        let (lane_doors, lanes) = doors(shards, shards);
        let boards = boards(shards);
        let (topic, feeds) = tape::tape(options, shards);
        let (switch, recorder) = tape.map(|tape| recorder(tape, &topic)).unzip();
        let (limits, versions) = limits(options, shards);
        let (control, governor) = control(limits, Arc::clone(&boards), switch);
        let (arrivals, halls) = doors(shards, ARRIVALS_MAX);
        let (mut seats, mut samples) = (Vec::new(), Vec::new());
        let places = lanes.into_iter().zip(feeds).zip(versions).zip(halls);
        for (shard, (((lanes, trades), limits), arrivals)) in places.enumerate() {
            let (producer, consumer) = lane(SAMPLES_MAX);
            samples.push(consumer);
            seats.push(Seat {
                run: Arc::clone(run),
                shard,
                inputs: std::mem::take(&mut inputs[shard]),
                desk: desks[shard].take(),
                lanes,
                lane_doors: lane_doors.clone(),
                boards: Arc::clone(&boards),
                serves: options.serve.is_some(),
                topic: topic.clone(),
                trades,
                limits,
                control: control.clone(),
                arrivals,
                samples: producer,
            });
        }
        Self {
            seats,
            arrivals,
            samples,
            control,
            governor,
            recorder,
        }
    }
}

/// A door and its hall for each shard.
fn doors<T>(shards: usize, waiting_max: usize) -> (Vec<Door<T>>, Vec<Hall<T>>) {
    (0..shards).map(|_| door(waiting_max)).unzip()
}

/// Which shard decodes what, and the desks of the embedded feed. Files go round; an instrument of
/// that feed is made half the shards away from its book, so that every update crosses cores where
/// there are two.
fn assign(
    options: &Options,
    readers: Vec<(PathBuf, Consumer<Piece>)>,
    shards: usize,
) -> (Vec<Option<Desk>>, Vec<Vec<Input>>) {
    let mut inputs: Vec<Vec<Input>> = (0..shards).map(|_| Vec::new()).collect();
    let mut desks_of: Vec<Option<Desk>> = (0..shards).map(|_| None).collect();
    if options.is_embedded() {
        let (made, feeds) = desks(options.seed, shards);
        desks_of = made;
        for (id, feed) in feeds {
            let owner = shard_of(id.instrument().symbol(), shards);
            inputs[(owner + shards / 2) % shards].push(Input::Embedded(Box::new(feed)));
        }
    }
    for (number, (path, pieces)) in readers.into_iter().enumerate() {
        inputs[number % shards].push(Input::Replay(path, pieces));
    }
    (desks_of, inputs)
}

/// Waits for all shards, or for the first that fails.
async fn all(mut answers: Vec<Submit<ShardSummary>>) -> Result<Vec<ShardSummary>, Failure> {
    let mut summaries: Vec<Option<ShardSummary>> = answers.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (shard, answer) in answers.iter_mut().enumerate() {
            let summary = &mut summaries[shard];
            if summary.is_some() {
                continue;
            }
            match Pin::new(answer).poll(cx) {
                Poll::Ready(Ok(given)) => *summary = Some(given),
                Poll::Ready(Err(source)) => {
                    return Poll::Ready(Err(Failure::Shard { shard, source }));
                }
                Poll::Pending => {}
            }
        }
        if summaries.iter().any(Option::is_none) {
            return Poll::Pending;
        }
        Poll::Ready(Ok(summaries.drain(..).flatten().collect()))
    })
    .await
}

/// What was relocated on all shards.
fn relocations() -> u64 {
    let shards = corelane::metrics::snapshot().shards;
    shards.iter().map(|shard| shard.relocations).sum()
}

fn driver() -> DriverReport {
    let shard = corelane::shard();
    let info = shard.driver().expect("a shard that runs has its driver");
    DriverReport {
        name: info.name().to_owned(),
        reason: info.reason().to_owned(),
    }
}
