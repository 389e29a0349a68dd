//! Accepting connections on shard 0 and handing them round.
//!
//! One listener for all shards, not one a shard: the kernel spreads few connections badly over a
//! reuseport group, and a port that is taken is an error only for who wants it alone.

use std::io;
use std::net::{SocketAddr, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use corelane::net::{TcpListener, TcpStream};
use rustix::net::sockopt;

use super::console::Voice;
use super::door::Door;
use super::failure::Failure;
use super::run::{Run, unless_ended};
use crate::feed::Options;

/// What the kernel may hold back for one subscriber, in bytes; it takes twice as much for its own
/// records. By default it would take some MiB before a slow subscriber shows.
const SEND_BUFFER_BYTES: usize = 128 << 10;

/// A subscriber that has not been heard of for so long is asked whether it is there.
const ASK_AFTER: Duration = Duration::from_secs(30);

/// How long an answer to that may take, and how many times it is asked.
const ASK_EVERY: Duration = Duration::from_secs(10);
const ASKS_MAX: u32 = 3;

/// Connections that wait for their shard at most.
pub(super) const ARRIVALS_MAX: usize = 4096;

/// A connection on its way to its shard.
#[derive(Debug)]
pub(super) enum Arrival {
    /// It brings lines of the feed.
    Input(StdStream, SocketAddr),
    /// It wants to hear what changes.
    Subscriber(StdStream),
    /// It has commands.
    Control(StdStream),
}

/// What the connections of a listener are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Input,
    Subscriber,
    Control,
}

/// A listener of the service.
#[derive(Debug)]
pub(super) struct Listener {
    purpose: Purpose,
    socket: TcpListener,
}

impl Listener {
    /// Listens on all addresses of the command line, and says where that is.
    ///
    /// # Errors
    ///
    /// [`Failure::Bind`] names the address that cannot be had.
    pub(super) fn bind_all(options: &Options, voice: &Voice) -> Result<Vec<Self>, Failure> {
        let asked = [
            (Purpose::Subscriber, "--serve", "serving", options.serve),
            (Purpose::Input, "--listen", "listening", options.listen),
            (
                Purpose::Control,
                "--control",
                "controlling",
                options.control,
            ),
        ];
        let mut listeners = Vec::new();
        for (purpose, option, does, addr) in asked {
            let Some(addr) = addr else { continue };
            let refused = |source| Failure::Bind {
                option,
                addr,
                source,
            };
            let socket = TcpListener::bind(addr).map_err(refused)?;
            let bound = socket.local_addr().map_err(refused)?;
            voice.say(format!("{does} on {bound}"));
            listeners.push(Self { purpose, socket });
        }
        Ok(listeners)
    }
}

/// Accepts until the run ends, and says how many connections were refused.
pub(super) async fn accept(run: Arc<Run>, listener: Listener, doors: Vec<Door<Arrival>>) -> u64 {
    let Listener { purpose, socket } = listener;
    let mut refused = 0;
    for door in doors.iter().cycle() {
        let (stream, peer) = match unless_ended(socket.accept()).await {
            None => break,
            Some(Ok(accepted)) => accepted,
            Some(Err(error)) => {
                run.fail(&format!("a listener broke: {error}"));
                run.end();
                break;
            }
        };
        if hand_over(stream, peer, purpose, door).is_err() {
            refused += 1;
        }
    }
    if purpose == Purpose::Input {
        run.input_ended();
    }
    refused
}

/// Sends the socket itself: it is registered with the driver of the shard that it comes to.
fn hand_over(
    stream: TcpStream,
    peer: SocketAddr,
    purpose: Purpose,
    door: &Door<Arrival>,
) -> io::Result<()> {
    let stream = stream.into_std()?;
    let arrival = match purpose {
        Purpose::Input => Arrival::Input(stream, peer),
        Purpose::Control => Arrival::Control(stream),
        Purpose::Subscriber => {
            sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER_BYTES)?;
            // The kernel asks: on a feed that rests, nothing else would tell that one has gone.
            sockopt::set_socket_keepalive(&stream, true)?;
            sockopt::set_tcp_keepidle(&stream, ASK_AFTER)?;
            sockopt::set_tcp_keepintvl(&stream, ASK_EVERY)?;
            sockopt::set_tcp_keepcnt(&stream, ASKS_MAX)?;
            Arrival::Subscriber(stream)
        }
    };
    door.bring(arrival)
        .map_err(|_| io::ErrorKind::WouldBlock.into())
}
