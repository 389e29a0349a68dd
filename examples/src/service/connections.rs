//! The inputs of one shard that came over TCP.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use corelane::net::TcpStream;

use super::crew::Crew;
use super::intake::{Intake, Tally};
use super::routes::Routes;
use super::run::Run;

/// Connections of one shard that bring lines, at most.
const CONNECTIONS_MAX: usize = 4096;

/// The inputs of one shard that came over TCP.
#[derive(Debug)]
pub(super) struct Connections {
    run: Arc<Run>,
    tally: Rc<Tally>,
    routes: Rc<Routes>,
    crew: Crew,
    open: Rc<RefCell<BTreeMap<u64, Rc<TcpStream>>>>,
    last: u64,
}

impl Connections {
    /// None yet.
    pub(super) fn new(run: Arc<Run>, tally: Rc<Tally>, routes: Rc<Routes>) -> Self {
        Self {
            run,
            tally,
            routes,
            crew: Crew::default(),
            open: Rc::default(),
            last: 0,
        }
    }

    /// Decodes what `peer` sends, unless there are too many already; then the connection closes.
    pub(super) fn start(&mut self, stream: TcpStream, peer: SocketAddr) -> bool {
        if self.crew.working() == CONNECTIONS_MAX {
            return false;
        }
        self.last += 1;
        let (id, open, run) = (self.last, Rc::clone(&self.open), Arc::clone(&self.run));
        let stream = Rc::new(stream);
        open.borrow_mut().insert(id, Rc::clone(&stream));
        let intake = Intake::new(
            Arc::clone(&run),
            Rc::clone(&self.tally),
            Rc::clone(&self.routes),
            peer.to_string(),
        );
        self.crew.start(async move {
            if let Err(error) = decode(&run, intake, &stream).await {
                // The peer's fault, and its own loss: the service goes on.
                run.voice.warn(&format!("{peer}: {error}"));
            }
            open.borrow_mut().remove(&id);
        });
        true
    }

    /// Ends all of them behind what has been received, and waits for that.
    pub(super) async fn finish(self) {
        for stream in self.open.borrow().values() {
            // The read that waits finds the end of the stream. One that has none is over already.
            drop(stream.shutdown(Shutdown::Read));
        }
        self.crew.done().await;
    }
}

async fn decode(run: &Run, mut intake: Intake, stream: &TcpStream) -> io::Result<()> {
    while !run.ends() {
        let chunk = stream.read_chunk().await?;
        if chunk.is_empty() {
            // Only a line that the peer itself left open is its last one.
            if !run.ends() {
                // The run or the input ends; nothing follows either way.
                let _ = intake.finish().await;
            }
            break;
        }
        if intake.take(&chunk).await.is_break() {
            break;
        }
    }
    Ok(())
}
