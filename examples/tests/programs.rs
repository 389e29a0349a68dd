//! The small programs run, count right and end with their status.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    reason = "what the tests share may panic as they do"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Barrier;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// No socket is waited for longer. Far above what any of it takes.
const LIMIT: Duration = Duration::from_secs(120);

/// A server, ended with the test.
struct Server {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
    addr: SocketAddr,
}

impl Server {
    fn echo(options: &[&str]) -> Self {
        Self::start(env!("CARGO_BIN_EXE_echo"), "echo on ", options)
    }

    fn chat(options: &[&str]) -> Self {
        Self::start(env!("CARGO_BIN_EXE_chat"), "chat on ", options)
    }

    fn start(program: &str, says: &str, options: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(["--addr", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let addr = line.strip_prefix(says).unwrap();
        let (addr, _) = addr.split_once(',').unwrap();
        let addr = addr.parse().unwrap();
        Self { child, said, addr }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already unless the test failed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn echo_sends_every_byte_of_many_connections_back() {
    const CONNECTIONS: usize = 200;
    for options in [
        &["--driver", "epoll"][..],
        &["--shards", "4"],
        &["--idle", "park"],
    ] {
        let echo = Server::echo(options);
        let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| echo.connect()).collect();
        let message =
            |round: usize, client: usize| vec![(round * 31 + client) as u8; 1_000 + client];
        for round in 0..3 {
            for (number, client) in clients.iter_mut().enumerate() {
                client.write_all(&message(round, number)).unwrap();
            }
            for (number, client) in clients.iter_mut().enumerate() {
                let mut back = message(round, number);
                back.fill(0);
                client.read_exact(&mut back).unwrap();
                assert_eq!(back, message(round, number));
            }
        }
        drop(clients);
        let said = echo.end(Signal::INT);
        let bytes: usize = (0..CONNECTIONS).map(|client| 3 * (1_000 + client)).sum();
        let end = format!("SIGINT: {CONNECTIONS} connections, 0 broken, {bytes} bytes\n");
        assert_eq!(said, end, "{options:?}");
    }
}

/// Raises this process's limit of descriptors, which the programs inherit, as far as it may.
fn allow_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// One connection of a tokio client: waits for all others, then sends messages and reads each back.
async fn tokio_client(addr: SocketAddr, number: usize, all: Arc<Barrier>) -> usize {
    let mut stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    all.wait().await;
    let mut bytes = 0;
    for round in 0..10 {
        let sent = vec![(round * 31 + number) as u8; 1 + (round * 397 + number) % 2_000];
        stream.write_all(&sent).await.unwrap();
        let mut back = vec![0; sent.len()];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(back, sent);
        bytes += sent.len();
    }
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    bytes
}

#[test]
fn echo_holds_a_thousand_connections_of_a_tokio_client() {
    const CONNECTIONS: usize = 1_000;
    allow_descriptors();
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for options in [&["--driver", "epoll"][..], &["--driver", "auto"]] {
        let echo = Server::echo(options);
        let addr = echo.addr;
        let clients = async move {
            let all = Arc::new(Barrier::new(CONNECTIONS));
            let clients = (0..CONNECTIONS).map(|number| tokio_client(addr, number, all.clone()));
            let counts = clients.collect::<JoinSet<usize>>().join_all().await;
            counts.into_iter().sum::<usize>()
        };
        let bytes = tokio.block_on(async { timeout(LIMIT, clients).await.unwrap() });
        let end = format!("SIGTERM: {CONNECTIONS} connections, 0 broken, {bytes} bytes\n");
        assert_eq!(echo.end(Signal::TERM), end, "{options:?}");
    }
}

#[test]
fn echo_names_a_taken_port() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_echo"))
        .args(["--addr", &taken.local_addr().unwrap().to_string()])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8(ended.stderr).unwrap().contains("in use"));
}

/// A member of a chat, after its welcome.
fn join(chat: &Server, others: usize) -> (String, BufReader<TcpStream>) {
    let mut stream = BufReader::new(chat.connect());
    let line = read_line(&mut stream);
    let (member, rest) = line
        .strip_prefix("welcome, ")
        .unwrap()
        .split_once(':')
        .unwrap();
    assert_eq!(rest, format!(" {others} others are here"));
    (member.to_owned(), stream)
}

fn read_line(stream: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert_eq!(line.pop(), Some('\n'));
    line
}

#[test]
fn chat_passes_lines_on_to_all_others_in_their_order() {
    for options in [
        &["--driver", "epoll", "--shards", "1"][..],
        &["--driver", "epoll", "--shards", "3"],
        &["--shards", "3"],
    ] {
        let chat = Server::chat(options);
        let mut members: Vec<_> = (0..6).map(|others| join(&chat, others)).collect();
        for speaker in 0..members.len() {
            let name = members[speaker].0.clone();
            let text: String = (0..50).map(|number| format!("line {number}\n")).collect();
            members[speaker]
                .1
                .get_mut()
                .write_all(text.as_bytes())
                .unwrap();
            for (hearer, (_, stream)) in members.iter_mut().enumerate() {
                for number in 0..50 {
                    if hearer != speaker {
                        assert_eq!(read_line(stream), format!("{name}: line {number}"));
                    }
                }
            }
        }
        // One that leaves is missed by nobody, and one with a line too long is put out.
        let (_, mut leaves) = members.pop().unwrap();
        leaves.get_mut().shutdown(Shutdown::Write).unwrap();
        assert_eq!(leaves.read(&mut [0]).unwrap(), 0);
        let (_, mut long) = members.pop().unwrap();
        long.get_mut().write_all(&[b'x'; 4097]).unwrap();
        assert!(matches!(long.read(&mut [0]), Ok(0) | Err(_)));
        let (name, stream) = &mut members[0];
        stream.get_mut().write_all(b"bye\n").unwrap();
        let bye = format!("{name}: bye");
        assert_eq!(read_line(&mut members[1].1), bye);
        assert_eq!(chat.end(Signal::INT), "SIGINT: 6 members came\n");
        assert_eq!(members[1].1.read(&mut [0]).unwrap(), 0);
    }
}

#[test]
fn soak_counts_all_that_it_sends() {
    for options in [&["--driver", "epoll"][..], &["--idle", "park"]] {
        let ended = Command::new(env!("CARGO_BIN_EXE_soak"))
            .args(["--elements", "1000000", "--submits", "20000"])
            .args(["--messages", "50000", "--values", "400000"])
            .args(options)
            .output()
            .unwrap();
        let said = String::from_utf8(ended.stdout).unwrap();
        assert!(ended.status.success(), "{said}");
        let lines: Vec<_> = said.lines().collect();
        // Four readers of the topic at each shard.
        let mut counts = vec!["1000000", "20000", "20000", "400000"];
        counts.extend(["50000"; 8]);
        assert_eq!(lines.len(), counts.len(), "{said}");
        for (line, count) in lines.iter().zip(counts) {
            assert!(
                line.contains(&format!(" {count} of {count}, 0 wrong")),
                "{said}"
            );
        }
    }
}
