//! What the program says while it runs: a thread that may block on its terminal, so that no shard
//! does.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Messages that wait for a slow terminal at most. What comes on top is not shown.
const MESSAGES_MAX: usize = 1024;

/// Erases the line and goes to its start.
const ERASE_LINE: &str = "\r\x1b[2K";

#[derive(Debug)]
enum Message {
    Say(String),
    Warn(String),
    Live(String),
    End,
}

/// The thread that writes.
#[derive(Debug)]
pub(super) struct Console {
    voice: Voice,
    thread: JoinHandle<()>,
}

/// Gives the console something to write. Never waits.
#[derive(Clone, Debug)]
pub(super) struct Voice(SyncSender<Message>);

impl Console {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub(super) fn start() -> io::Result<Self> {
        let (sender, messages) = sync_channel(MESSAGES_MAX);
        let thread = thread::Builder::new()
            .name("console".to_owned())
            .spawn(move || Screen::new().show(messages))?;
        Ok(Self {
            voice: Voice(sender),
            thread,
        })
    }

    pub(super) fn voice(&self) -> Voice {
        self.voice.clone()
    }

    /// Waits until all that was given before is written.
    pub(super) fn finish(self) {
        self.voice
            .0
            .send(Message::End)
            .expect("the console's thread takes messages until this one");
        self.thread
            .join()
            .expect("the console's thread does not panic");
    }
}

impl Voice {
    /// Writes a line to standard output.
    pub(super) fn say(&self, text: impl Into<String>) {
        self.give(Message::Say(text.into()));
    }

    /// Writes a line to standard error, behind the name of the program.
    pub(super) fn warn(&self, text: &dyn Display) {
        self.give(Message::Warn(text.to_string()));
    }

    /// Shows the state of the run: on a terminal in place of the last one.
    pub(super) fn live(&self, text: &dyn Display) {
        self.give(Message::Live(text.to_string()));
    }

    fn give(&self, message: Message) {
        // A terminal that does not keep up misses messages; waiting for it would stop a shard.
        drop(self.0.try_send(message));
    }
}

/// Where messages go, and whether the last line of it is a live one.
struct Screen {
    is_terminal: bool,
    is_live: bool,
    is_broken: bool,
}

impl Screen {
    fn new() -> Self {
        Self {
            is_terminal: io::stdout().is_terminal(),
            is_live: false,
            is_broken: false,
        }
    }

    fn show(mut self, messages: Receiver<Message>) {
        for message in messages {
            match message {
                Message::Say(text) => {
                    let clear = self.clear();
                    self.out(&format!("{clear}{text}\n"));
                }
                Message::Warn(text) => {
                    let clear = self.clear();
                    self.out(clear);
                    // Nobody is left to be told when standard error is gone.
                    let _ = writeln!(io::stderr(), "market-feed: {text}");
                }
                Message::Live(text) if self.is_terminal => {
                    self.out(&format!("{ERASE_LINE}{text}"));
                    self.is_live = true;
                }
                Message::Live(text) => self.out(&format!("{text}\n")),
                Message::End => break,
            }
        }
        let clear = self.clear();
        self.out(clear);
    }

    fn clear(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_live) {
            ERASE_LINE
        } else {
            ""
        }
    }

    fn out(&mut self, text: &str) {
        if self.is_broken || text.is_empty() {
            return;
        }
        let mut out = io::stdout().lock();
        // A reader that has gone, as in `| head`, is no reason to stop the run.
        self.is_broken = out
            .write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err();
    }
}
