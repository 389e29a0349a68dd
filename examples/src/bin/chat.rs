//! A chat over TCP: connections on every shard, and one shard that owns the room.
//!
//! Each shard has one lane to the owner, made for its first member, and the owner has one to each
//! member. So the room needs no lock, and what a member writes costs a push for each who hears it.
//! A member that does not keep up is put out: nobody waits for it. One that ends its own direction
//! leaves.
//!
//! `cargo run --release --bin chat -- --addr 127.0.0.1:7002`, and in other terminals
//! `socat - TCP:127.0.0.1:7002`.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use corelane::net::TcpStream;
use corelane::signal::Signals;
use corelane::task::{Either, either};
use corelane::{Inlet, Outlet, Producer, Runtime, ShardLocal, lane, shard, shards, spawn};
use corelane_examples::feed::Driver;
use corelane_net::{Connection, Tcp};

/// Longest line of a member, in bytes, its end included.
const LINE_BYTES_MAX: usize = 4096;

/// Lines that wait for one member, at most; who is further behind is put out.
const WAITING_MAX: usize = 256;

/// Messages on the way from one shard to the owner; when it is full, the shard's members wait.
const TO_ROOM_MAX: usize = 1024;

/// How long members may take to hear the last lines when the program ends.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Lets TCP clients talk to each other, line by line.
#[derive(Clone, Debug, Parser)]
#[command(name = "chat", version)]
struct Options {
    /// Where to listen; port 0 lets the system choose
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7002")]
    addr: SocketAddr,

    /// How many shards; one a physical core by default
    #[arg(long, value_name = "N")]
    shards: Option<usize>,

    /// The I/O driver
    #[arg(long, value_enum, default_value_t)]
    driver: Driver,
}

/// A member's name: its shard, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    shard: usize,
    number: u64,
}

/// What the shards tell the owner of the room.
#[derive(Debug)]
enum Message {
    /// A member comes, with the way to it.
    Join(Member, Producer<String>),
    /// A member says a line.
    Say(Member, String),
    /// A member leaves.
    Leave(Member),
}

/// Who is there; only its owner, shard 0, ever uses its value.
static ROOM: ShardLocal<RefCell<Room>> = ShardLocal::new(RefCell::default);

/// The way of each shard to the room.
static TO_ROOM: ShardLocal<Outlet<Message>> = ShardLocal::new(|| {
    let (producer, consumer) = lane(TO_ROOM_MAX);
    let serving = shards()[0].submit(move || async move {
        let inlet = Inlet::new(consumer);
        while let Some(message) = inlet.recv().await {
            ROOM.with(|room| room.borrow_mut().take(message));
        }
    });
    // The call ends with the lane, and is dropped with this shard.
    spawn(serving).detach();
    Outlet::new(producer)
});

/// Members of this shard so far.
static MEMBERS: ShardLocal<Cell<u64>> = ShardLocal::new(Cell::default);

#[derive(Debug, Default)]
struct Room {
    members: BTreeMap<Member, Outlet<String>>,
}

impl Room {
    fn take(&mut self, message: Message) {
        match message {
            Message::Join(member, way) => {
                let (way, others) = (Outlet::new(way), self.members.len());
                if way
                    .push(format!("welcome, {member}: {others} others are here\n"))
                    .is_ok()
                {
                    self.members.insert(member, way);
                }
            }
            Message::Say(member, line) => self.say(member, &line),
            Message::Leave(member) => drop(self.members.remove(&member)),
        }
    }

    /// Passes a line on to all others. Who has gone or does not keep up is there no more.
    fn say(&mut self, from: Member, line: &str) {
        self.members.retain(|member, way| {
            *member == from || !way.is_abandoned() && way.push(format!("{from}: {line}")).is_ok()
        });
    }
}

fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).init();
    let options = Options::parse();
    let mut builder = Runtime::builder().driver(options.driver.into());
    if let Some(shards) = options.shards {
        builder = builder.shards(shards);
    }
    let ended = builder.run(move || chat(options.addr));
    match ended.map_err(io::Error::other).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told when standard error is gone.
            let _ = writeln!(io::stderr(), "chat: {error}");
            ExitCode::from(2)
        }
    }
}

async fn chat(addr: SocketAddr) -> io::Result<()> {
    let mut signals = Signals::new()?;
    let mut binding = Tcp::bind(addr).serve(serve).map_err(io::Error::other)?;
    say(&format!(
        "chat on {}, {} shards",
        binding.local_addr(),
        shards().len()
    ))?;
    let signal = match either(signals.next(), binding.failed()).await {
        Either::Left(signal) => signal,
        Either::Right(error) => return Err(io::Error::new(error.kind(), error.to_string())),
    };
    let closed = binding.close(CLOSE_LIMIT).await.map_err(io::Error::other)?;
    say(&format!("{signal}: {} members came", closed.total.accepted))
}

/// Serves one member, on the shard of its connection.
async fn serve(conn: Connection) {
    let to_room = TO_ROOM.get();
    let number = MEMBERS.with(|members| members.replace(members.get() + 1));
    let member = Member {
        shard: shard().index(),
        number,
    };
    let (producer, consumer) = lane(WAITING_MAX);
    let heard = Inlet::new(consumer);
    if to_room.send(Message::Join(member, producer)).await.is_err() {
        return; // The owner stops, and so will this shard.
    }
    let talk = either(
        read_lines(&conn, member, &to_room),
        write_lines(&conn, &heard),
    );
    match either(conn.closing(), talk).await {
        Either::Left(()) => {}
        Either::Right(Either::Left(ended) | Either::Right(ended)) => {
            if let Err(error) = ended {
                tracing::info!(%error, %member, peer = %conn.peer(), "a member has broken off");
            }
        }
    }
    // Without it, the owner would find out with the next line.
    drop(to_room.send(Message::Leave(member)).await);
}

/// Tells the room each line of a member, until it ends its direction.
async fn read_lines(
    stream: &TcpStream,
    member: Member,
    to_room: &Outlet<Message>,
) -> io::Result<()> {
    let mut open = Vec::new();
    loop {
        let chunk = stream.read_chunk().await?;
        if chunk.is_empty() {
            return Ok(());
        }
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            open.extend_from_slice(piece);
            if open.len() > LINE_BYTES_MAX {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a line is too long",
                ));
            }
            if open.last() != Some(&b'\n') {
                continue;
            }
            let line = String::from_utf8_lossy(&open).into_owned();
            open.clear();
            if to_room.send(Message::Say(member, line)).await.is_err() {
                return Err(io::Error::other("the owner of the room has stopped"));
            }
        }
    }
}

/// Writes what a member hears, until it is put out.
async fn write_lines(stream: &TcpStream, heard: &Inlet<String>) -> io::Result<()> {
    while let Some(mut lines) = heard.recv().await {
        // What waits goes in one write.
        for _ in 1..WAITING_MAX {
            let Some(line) = heard.pop() else { break };
            lines.push_str(&line);
        }
        stream.write_all(lines).await.0?;
    }
    Ok(())
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.shard, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corelane::time::sleep;

    /// Puts a member into the room.
    async fn join(room: &mut Room, number: u64) -> (Member, Inlet<String>) {
        let member = Member { shard: 0, number };
        let (producer, consumer) = lane(4);
        room.take(Message::Join(member, producer));
        let heard = Inlet::new(consumer);
        let welcome = format!("welcome, 0.{number}: {number} others are here\n");
        assert_eq!(heard.recv().await, Some(welcome));
        (member, heard)
    }

    #[corelane::test(shards = 1, sim, seeds = 1)]
    async fn who_does_not_keep_up_is_put_out_and_nobody_else() {
        let mut room = Room::default();
        let (talks, silence) = join(&mut room, 0).await;
        let (_, listens) = join(&mut room, 1).await;
        let (_, sleeps) = join(&mut room, 2).await;
        for number in 0..10 {
            room.take(Message::Say(talks, format!("{number}\n")));
            assert_eq!(listens.recv().await, Some(format!("0.0: {number}\n")));
        }
        // What had room is there, and then the end.
        for number in 0..4 {
            assert_eq!(sleeps.recv().await, Some(format!("0.0: {number}\n")));
        }
        assert_eq!((sleeps.recv().await, silence.pop()), (None, None));
        assert_eq!(room.members.len(), 2);
    }

    #[corelane::test(shards = 1, sim, seeds = 1)]
    async fn who_leaves_hears_no_more() {
        let mut room = Room::default();
        let (talks, _silence) = join(&mut room, 0).await;
        let (leaves, left) = join(&mut room, 1).await;
        let (_, gone) = join(&mut room, 2).await;
        room.take(Message::Leave(leaves));
        drop(gone);
        sleep(Duration::from_millis(1)).await; // an end that was just used goes with the turn
        room.take(Message::Say(talks, "alone\n".to_owned()));
        assert_eq!(left.recv().await, None);
        assert_eq!(room.members.len(), 1);
    }
}
