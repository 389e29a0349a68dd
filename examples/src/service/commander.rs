//! One connection to the control: a command a line in, lines of JSON out.

use std::net::Shutdown;

use corelane::net::TcpStream;

use super::control::{Control, refusal};
use super::crew::Crew;
use super::run::unless_ended;
use crate::feed::{COMMAND_BYTES_MAX, Command, CommandError, Line, LineFramer};

/// Connections to the control on one shard at most.
const COMMANDERS_MAX: usize = 64;

/// The connections to the control on one shard.
#[derive(Debug)]
pub(super) struct Commanders {
    control: Control,
    crew: Crew,
}

impl Commanders {
    /// None yet; what they say goes to `control`.
    pub(super) fn new(control: Control) -> Self {
        Self {
            control,
            crew: Crew::default(),
        }
    }

    /// Listens to one, unless there are too many; then the connection closes.
    pub(super) fn start(&self, stream: TcpStream) -> bool {
        if self.crew.working() == COMMANDERS_MAX {
            return false;
        }
        self.crew.start(listen(stream, self.control.clone()));
        true
    }

    /// Waits until all have the answers to what they asked. The run must have ended.
    pub(super) async fn finish(self) {
        self.crew.done().await;
    }
}

/// Does what comes until the peer or the run ends, or the connection breaks.
async fn listen(stream: TcpStream, control: Control) {
    let mut framer = LineFramer::new(COMMAND_BYTES_MAX);
    while let Some(Ok(chunk)) = unless_ended(stream.read_chunk()).await {
        if chunk.is_empty() {
            break;
        }
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            let (used, line) = framer.split(rest);
            rest = &rest[used..];
            let Some(line) = line else { continue };
            let answer = match read(line) {
                Ok(command) => control.ask(command).await,
                Err(error) => refusal(&error),
            };
            let (written, _) = stream.write_all(answer.into_bytes()).await;
            if written.is_err() {
                // The peer has gone; what it said was done.
                return;
            }
        }
    }
    // The connection closes either way.
    drop(stream.shutdown(Shutdown::Write));
}

fn read(line: Line<'_>) -> Result<Command, CommandError> {
    let bytes = line.bytes.ok_or(CommandError::Line)?;
    let text = std::str::from_utf8(bytes).map_err(|_| CommandError::Line)?;
    text.parse()
}
