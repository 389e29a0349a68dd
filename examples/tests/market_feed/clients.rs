//! Plain clients of the service.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::program::LIMIT;

pub(crate) fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream.set_write_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Subscribers that read all that they get.
pub(crate) struct Readers {
    threads: Vec<JoinHandle<Vec<Value>>>,
    hear: Sender<()>,
    heard: Receiver<()>,
}

impl Readers {
    pub(crate) fn new() -> Self {
        let (hear, heard) = channel();
        Self {
            threads: Vec::new(),
            hear,
            heard,
        }
    }

    /// One more of them. Every line must be whole and be JSON.
    pub(crate) fn subscribe(&mut self, addr: SocketAddr) {
        let (mut stream, hear) = (BufReader::new(connect(addr)), self.hear.clone());
        self.threads.push(thread::spawn(move || {
            let (mut found, mut line) = (Vec::new(), String::new());
            while stream.read_line(&mut line).unwrap() > 0 {
                assert!(line.ends_with('\n'), "a torn line: {line}");
                found.push(serde_json::from_str(&line).unwrap());
                line.clear();
                if found.len() == 1 {
                    hear.send(()).unwrap();
                }
            }
            found
        }));
    }

    /// Sends trades of a symbol of their own through `input` until every reader has heard one.
    ///
    /// Subscribers that came before the readers are then subscribed too: a shard takes connections
    /// in their order.
    pub(crate) fn warm_up(&self, input: &mut TcpStream) {
        let mut silent = self.threads.len();
        for id in 1..100_000 {
            writeln!(input, "1 {}", warm_up_trade(id)).unwrap();
            // Not a pause but a wait, which ends when there is nothing to wait for.
            while silent > 0 && self.heard.recv_timeout(Duration::from_millis(2)).is_ok() {
                silent -= 1;
            }
            if silent == 0 {
                return;
            }
        }
        panic!("{silent} subscribers hear nothing");
    }

    /// What each of them was sent, once the program has closed.
    pub(crate) fn end(self) -> Vec<Vec<Value>> {
        let threads = self.threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    }
}

fn warm_up_trade(id: u64) -> String {
    format!(r#"{{"stream":"WARM@trade","data":{{"s":"WARM","t":{id},"p":"1","q":"1"}}}}"#)
}

/// Ends an input and waits until the service has taken all of it: it closes the connection then.
pub(crate) fn finish(mut input: TcpStream) {
    input.shutdown(Shutdown::Write).unwrap();
    assert_eq!(input.read(&mut [0]).unwrap(), 0);
}
