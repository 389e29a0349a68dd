//! Echo over one connection with both ends in one runtime, each end on its own core.

use std::net::{SocketAddr, TcpListener};

use hdrhistogram::Histogram;

use crate::client::{latency_histogram, payload};
use crate::{BenchError, Meter, Params, Sample, Spent, bind, clock_ns, on_two_cores};

/// Requests before the clock starts.
const WARMUP: u64 = 200;
/// Bytes of a request.
const BYTES: usize = 64;

/// The client's side of a round: what to send next, whether the reply is right, and how long it
/// took.
///
/// ```
/// # use corelane_bench_harness::EchoLog;
/// let mut log = EchoLog::new(3);
/// while log.begin() {
///     let reply = log.request().to_vec(); // a real client sends the request and receives this
///     log.end(&reply)?;
/// }
/// assert!(log.finish()?.value > 0.0);
/// # Ok::<(), corelane_bench_harness::BenchError>(())
/// ```
pub struct EchoLog {
    request: Vec<u8>,
    begun: u64,
    ended: u64,
    ops: u64,
    sent_at_ns: u64,
    meter: Option<Meter>,
    spent: Option<Spent>,
    latency_ns: Histogram<u64>,
    remark: Option<String>,
}

impl EchoLog {
    /// A round of `ops` timed requests after the warm-up.
    pub fn new(ops: u64) -> Self {
        Self {
            request: payload(0, BYTES),
            begun: 0,
            ended: 0,
            ops,
            sent_at_ns: 0,
            meter: None,
            spent: None,
            latency_ns: latency_histogram(),
            remark: None,
        }
    }

    /// Starts the next request; false when the round is over.
    pub fn begin(&mut self) -> bool {
        if self.begun == WARMUP + self.ops {
            return false;
        }
        if self.begun == WARMUP {
            self.meter = Some(Meter::start());
        }
        self.request[..8].copy_from_slice(&self.begun.to_le_bytes());
        self.begun += 1;
        self.sent_at_ns = clock_ns();
        true
    }

    /// Says something of the runtime for the row's note, such as its driver.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.remark = Some(remark.into());
    }

    /// The bytes to send now.
    pub fn request(&self) -> &[u8] {
        &self.request
    }

    /// Takes the reply to the request begun last.
    ///
    /// # Errors
    ///
    /// [`BenchError::Check`] when it differs from the request.
    pub fn end(&mut self, reply: &[u8]) -> Result<(), BenchError> {
        let now_ns = clock_ns();
        let same = reply == self.request;
        BenchError::check("replies like their request", 1, u64::from(same))?;
        self.ended += 1;
        if let Some(meter) = self.meter {
            self.latency_ns.saturating_record(now_ns - self.sent_at_ns);
            if self.ended == WARMUP + self.ops {
                self.spent = Some(meter.stop(self.ops));
            }
        }
        Ok(())
    }

    /// The round's sample: the median request, percentiles, and the mean as an extra.
    ///
    /// # Errors
    ///
    /// [`BenchError::Stalled`] when not every request has ended.
    pub fn finish(self) -> Result<Sample, BenchError> {
        let stalled = BenchError::Stalled {
            done: self.ended,
            of: WARMUP + self.ops,
        };
        let spent = self.spent.ok_or(stalled)?;
        let median_ns = self.latency_ns.value_at_quantile(0.5) as f64;
        let mean_ns = spent.wall_ns as f64 / self.ops as f64;
        let mut sample = spent.sample(median_ns).with_extra("mean ns", mean_ns);
        sample.remark = self.remark;
        Ok(sample.with_latency(&self.latency_ns))
    }
}

/// Runs one echo round: `serve` accepts one connection on the first core and echoes until it is
/// closed; `drive` connects from the second, works through the log and gives it back.
///
/// # Errors
///
/// What the two return, [`BenchError::Io`] when no listener can be opened, and those of
/// `on_two_cores`.
pub fn echo_pair(
    params: &Params,
    serve: impl FnOnce(TcpListener) -> Result<(), BenchError> + Send,
    drive: impl FnOnce(SocketAddr, EchoLog) -> Result<EchoLog, BenchError> + Send,
) -> Result<Sample, BenchError> {
    let (listener, address) = bind(0)?;
    let ops = params.ops;
    let client = move || drive(address, EchoLog::new(ops))?.finish();
    let ((), sample) = on_two_cores(params.cores, move || serve(listener), client)?;
    Ok(sample)
}
