//! Thread-per-core runtime for Linux: a shard on every physical core that the process may use, and
//! `!Send` tasks that never migrate.
//!
//! A *shard* is a pinned thread with its own executor, I/O driver, timers and memory. A task lives
//! and dies on the shard that spawned it, so it may hold `Rc`s and `RefCell`s. What has to cross
//! cores goes by a call ([`Shard::submit`]) or through a lane ([`Outlet`], [`Inlet`]); no task of
//! one shard ever waits for a lock of another.
//!
//! # Starting
//!
//! ```
//! #[corelane::main]
//! async fn main() -> Result<(), corelane::SubmitError> {
//!     for shard in corelane::shards().iter() {
//!         let index = shard.submit(|| async { corelane::shard().index() }).await?;
//!         assert_eq!(index, shard.index());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`main`](macro@main) runs on shard 0, which is the calling thread. [`Runtime::builder`] has all
//! settings: where shards go, how many, what an idle one does, which driver. Its
//! [`run`](Builder::run) is what the attribute calls; [`start`](Builder::start) puts every shard on
//! a thread of its own and gives the caller a [`Running`] to call in from outside.
//!
//! ```
//! use std::time::Duration;
//! use corelane::{IdlePolicy, Runtime};
//!
//! let running = Runtime::builder().shards(2).idle(IdlePolicy::Park).start()?;
//! let answer = running.shard(1).submit(|| async { corelane::shard().index() });
//! assert_eq!(answer.wait()?, 1);
//! running.shutdown(Duration::from_secs(5))?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tasks
//!
//! [`spawn`] starts a task on this shard. Dropping its handle lets it go on, `abort` ends it, and a
//! panic in it is the handle's error and nobody else's.
//!
//! ```
//! # corelane::Runtime::builder().shards(1).run(|| async {
//! use corelane::JoinError;
//!
//! let sum = corelane::spawn(async { 1 + 2 });
//! let broken = corelane::spawn(async { panic!("no") });
//! assert_eq!(sum.await?, 3);
//! assert!(matches!(broken.await, Err::<(), _>(JoinError::Panicked(_))));
//! # Ok::<_, JoinError>(())
//! # })?.expect("the first task does not panic");
//! # Ok::<_, corelane::StartError>(())
//! ```
//!
//! [`either`](task::either) waits for the first of two futures. What belongs to the shard and not
//! to one task stands in a [`ShardLocal`], a static with one value a shard.
//!
//! # From shard to shard
//!
//! [`Shard::submit`] moves a closure to another shard, runs its future there and brings the answer
//! back. The closure and the answer are `Send`; the future need not be. Dropping the call cancels
//! it. [`Shard::try_submit`] hands the closure back where it would have to wait for room.
//! [`Shard::submit_with`] takes data along that is told of its move: it is relocated once, on the
//! target (see [`thread_aware`]), and finds its part of that core.
//!
//! [`Sharded`] starts a service with a part on every shard, calls its parts and stops it; a
//! [`Remote`] stands for one value that stays where it is. A [`ServiceGroup`] bounds how many calls
//! a shard has with another one at a time.
//!
//! What all shards share comes from the crate `corelane-primitives`, whose parts work on any
//! executor: the latest value (`Signal`), every change of one (`Subscription`), every message to
//! all (`Topic`), work from many to one (`channel`, `Ring`). What of them ends by time takes the
//! clock of the shards, [`time::ShardTimers`].
//!
//! For a stream of values take a [`lane`](lane()): a bounded ring with one sender and one receiver.
//! A value costs a small part of a call (bench rows `mesh_one_way` and `submit_spin`), and the
//! other end is told once a turn.
//!
//! ```
//! # corelane::Runtime::builder().shards(2).run(|| async {
//! use corelane::{Inlet, Outlet};
//!
//! let (producer, consumer) = corelane::lane(256);
//! let total = corelane::shards()[1].submit(move || async move {
//!     let (inlet, mut total) = (Inlet::new(consumer), 0_u64);
//!     while let Some(value) = inlet.recv().await {
//!         total += value;
//!     }
//!     total
//! });
//! let outlet = Outlet::new(producer);
//! for value in 0..1_000 {
//!     outlet.send(value).await.expect("the other end is there"); // waits while the lane is full
//! }
//! drop(outlet); // the receiver gets what is left, then `None`
//! assert_eq!(total.await?, 499_500);
//! # Ok::<_, corelane::SubmitError>(())
//! # })?.expect("the shard is there");
//! # Ok::<_, corelane::StartError>(())
//! ```
//!
//! # Time
//!
//! [`time`] has sleeps, timeouts and intervals with a resolution of 4,096 ns. They never end early.
//!
//! ```
//! # corelane::Runtime::builder().shards(1).run(|| async {
//! use std::{future::pending, time::Duration};
//! use corelane::time::{Instant, sleep, timeout};
//!
//! let start = Instant::now();
//! sleep(Duration::from_millis(2)).await;
//! assert!(start.elapsed() >= Duration::from_millis(2));
//! assert!(timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
//! # })?;
//! # Ok::<_, corelane::StartError>(())
//! ```
//!
//! # TCP
//!
//! Reads and writes take their buffer by value and give it back with the result, since the kernel
//! may use it until the operation ends, whatever becomes of the future.
//! [`read_chunk`](net::TcpStream::read_chunk) takes no buffer and gives a received piece of the
//! shard's own memory. See [`io`] for what is a buffer, and for the adapter to `futures::io`.
//!
//! ```
//! use corelane::net::{TcpListener, TcpStream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # corelane::Runtime::builder().shards(1).run(|| async {
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let addr = listener.local_addr()?;
//! let server = corelane::spawn(async move {
//!     let (stream, _peer) = listener.accept().await?;
//!     loop {
//!         let chunk = stream.read_chunk().await?;
//!         if chunk.is_empty() {
//!             return Ok::<_, std::io::Error>(());
//!         }
//!         stream.write_all(chunk).await.0?;
//!     }
//! });
//! let client = TcpStream::connect(addr).await?;
//! client.write_all("hello").await.0?;
//! let (read, buffer) = client.read_exact(vec![0; 5]).await;
//! read?;
//! assert_eq!(buffer, b"hello");
//! drop(client);
//! server.await??; // the task did not panic, and met no error
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # })??;
//! # Ok(())
//! # }
//! ```
//!
//! # Tests and simulation
//!
//! [`test`](macro@test) runs a test on each driver of the machine. With `sim` it runs all shards on
//! one thread, with a virtual clock and TCP inside the process, once for each seed: which shard
//! runs next, how long a packet takes and where a stream is cut follow from the seed, so a failure
//! names the seed that replays it. See [`sim`].
//!
//! ```
//! use std::time::Duration;
//!
//! #[corelane::test(shards = 2, uring, epoll, sim)]
//! async fn the_other_shard_answers() -> Result<(), corelane::SubmitError> {
//!     let there = corelane::shards()[1].clone();
//!     assert_eq!(there.submit(|| async { 6 * 7 }).await?, 42);
//!     Ok(())
//! }
//!
//! #[corelane::test(sim, seeds = 4)]
//! async fn an_hour_passes_in_no_time() {
//!     corelane::time::sleep(Duration::from_secs(3_600)).await;
//! }
//! ```
//!
//! # The end
//!
//! A runtime that was [run](Builder::run) ends with its `main`: what other tasks are left then is
//! dropped, on its own shard, within the builder's `shutdown_limit`. A task that wants to end well
//! waits for [`shutdown::wait`] beside its work, which [`shutdown::trigger`] or
//! [`Running::shutdown`] ends; [`signal`] says when somebody wants the program to end.
//!
//! ```
//! # corelane::Runtime::builder().shards(1).run(|| async {
//! use std::time::Duration;
//! use corelane::task::{Either, either};
//! use corelane::{shutdown, time};
//!
//! let worker = corelane::spawn(async {
//!     let mut requests = time::interval(Duration::from_millis(1));
//!     while let Either::Right(_) = either(shutdown::wait(), requests.tick()).await {}
//!     "drained"
//! });
//! shutdown::trigger(); // in a service: after a signal
//! assert_eq!(worker.await?, "drained");
//! # Ok::<_, corelane::JoinError>(())
//! # })?.expect("the task does not panic");
//! # Ok::<_, corelane::StartError>(())
//! ```
//!
//! # Drivers
//!
//! By default each shard has an io_uring, and falls back to epoll where the kernel, a seccomp
//! filter or a limit refuses it; one log line says so, and [`Shard::driver`] and [`metrics`] say
//! which one runs and why. [`Driver::Uring`] refuses to start instead. The environment variable
//! `CORELANE_DRIVER` (`uring` or `epoll`) decides for programs that leave the choice to the
//! runtime.
//!
//! # Limits
//!
//! | what | default | when it is reached |
//! |---|---|---|
//! | shards of a runtime | 1 to 4,096 | [`StartError`] |
//! | tasks of a shard | at most 2^24 | [`spawn`] panics |
//! | [`lane_capacity`](Builder::lane_capacity) | 1,024 calls a pair | a call waits in its order |
//! | calls in a [`ServiceGroup`] | its limit, a caller and target | a call waits in its order |
//! | values of [`Remote`]s and services | 2^24 a shard | [`Remote::new`] panics |
//! | [`inbox_capacity`](Builder::inbox_capacity) | 1,024 calls a shard | a call waits its turn |
//! | [`receive_buffers`](Builder::receive_buffers) | 1,024 of 4 KiB a shard | a read waits |
//! | [`task_budget`](Builder::task_budget) | 500 µs a poll | the runtime's futures yield |
//! | [`shutdown_limit`](Builder::shutdown_limit) | 5 s | a shard inside a poll is left behind |
//!
//! A poll that uses none of the runtime's futures is never cut: it holds up its whole shard, so
//! heavy work belongs on a thread of its own. This version has no files, no UDP and no TLS.
//!
//! # Recipes
//!
//! The guide in the repository (`docs/guide.md`) has programs for what every service needs: two
//! things at once, many tasks and all their answers, one shard that owns what all share, lines,
//! threads that block, and what goes wrong at first. `docs/services.md` has the larger parts: a
//! server that ends well, a service on every shard, values that know their core.
#![deny(unsafe_code)]

mod directory;
mod driver;
#[doc(hidden)]
pub mod entry;
mod error;
mod home;
mod idle;
mod inbox;
pub mod io;
mod local;
mod mesh;
pub mod metrics;
#[cfg(corelane_loom)]
#[doc(hidden)]
pub mod model;
pub mod net;
mod sched;
mod settings;
mod shard;
mod sharded;
pub mod shutdown;
pub mod signal;
pub mod sim;
mod start;
mod sync;
pub mod task;
pub mod time;

pub use corelane_macros::{main, test};
pub use corelane_primitives::{Closed, Consumer, Full, LaneError, Producer, lane, try_lane};
pub use directory::DriverInfo;
pub use error::{
    DriverError, JoinError, Panic, ShutdownError, StartError, SubmitError, TrySubmitError,
};
pub use home::Remote;
pub use local::ShardLocal;
pub use mesh::{GroupCall, Inlet, Outlet, OutsideCall, OutsideShard, ServiceGroup, Submit};
pub use settings::{Driver, IdlePolicy, Placement};
pub use shard::{Shard, shard, shards};
pub use sharded::{Invoke, InvokeError, Local, Sharded, ShardedError, StopError};
pub use start::{Builder, Running, Runtime};
pub use task::{JoinHandle, spawn};
