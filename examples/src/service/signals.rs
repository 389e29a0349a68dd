//! SIGINT and SIGTERM: the first one lets the run end, the second one ends the program.

use std::io;
use std::sync::Arc;

use corelane::signal::{Signal, Signals};

use super::control::Control;
use super::run::Run;
use crate::feed::Command;

/// Ears for signals, to be had before the program says that it is ready.
#[derive(Debug)]
pub(super) struct Ears(Signals);

impl Ears {
    /// Takes both signals from now on.
    ///
    /// # Errors
    ///
    /// When the system refuses their handlers.
    pub(super) fn open() -> io::Result<Self> {
        Signals::new().map(Self)
    }

    /// Has `control` end the run at the first signal.
    pub(super) fn attend(mut self, run: Arc<Run>, control: Control) {
        let attend = async move {
            let first = self.0.next().await;
            run.voice
                .say(format!("{first}: the run ends; once more ends it at once"));
            control.tell(Command::Stop).await;
            let second = self.0.next().await;
            // What a shell calls the status of a program that a signal has ended.
            std::process::exit(match second {
                Signal::Terminate => 143,
                Signal::Interrupt | _ => 130,
            });
        };
        corelane::spawn(attend).detach();
    }
}
