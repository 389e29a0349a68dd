//! Threads that read recorded feeds, one an input.
//!
//! A file that is not in memory blocks its reader, so no shard reads one. The lane to the decoder
//! is bounded: a reader that is ahead parks until there is room, and ends when the decoder is gone.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;

use corelane_primitives::{Consumer, Producer, lane};

use crate::feed::{CHUNK_BYTES, InputEnd, InputError, read_input};

/// Pieces that wait for a decoder at most: a MiB of text an input.
const PIECES_WAITING_MAX: usize = 16;

/// What a reader hands over.
#[derive(Debug)]
pub(super) enum Piece {
    /// The next bytes.
    Chunk(Vec<u8>),
    /// How the reading ended; nothing follows.
    End(Result<InputEnd, InputError>),
}

/// Starts reading `path` on a thread of its own.
///
/// To be called before the runtime pins the calling thread, since threads inherit that.
///
/// # Errors
///
/// When the system gives no thread. What is wrong with the file comes as the last piece.
pub(super) fn start(path: PathBuf) -> io::Result<Consumer<Piece>> {
    let (producer, consumer) = lane(PIECES_WAITING_MAX);
    thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || read(&path, producer))?;
    Ok(consumer)
}

fn read(path: &Path, mut pieces: Producer<Piece>) {
    let mut hand_over = |piece| match pieces.blocking_send(piece) {
        Ok(()) => ControlFlow::Continue(()),
        // The decoder is gone, since the run ends.
        Err(_) => ControlFlow::Break(()),
    };
    let end = read_input(path, CHUNK_BYTES, |chunk| hand_over(Piece::Chunk(chunk)));
    // Whether the end is still wanted or not, this thread is done.
    let _ = hand_over(Piece::End(end));
}
