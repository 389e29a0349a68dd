//! What the tests of the feed share.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use corelane_examples::feed::{
    Books, CHUNK_BYTES, Decimal, Decoder, Depth, InputEnd, InputError, KEPT_UPDATES_MAX, Level,
    Malformed, Received, Snapshot, Symbol, Update, read_input,
};

pub(crate) fn symbol(name: &str) -> Symbol {
    name.parse().unwrap()
}

/// Levels from whole prices and quantities.
pub(crate) fn levels(pairs: &[(i64, i64)]) -> Vec<Level> {
    let one = |number: i64| Decimal::from_units(number * 100_000_000);
    pairs
        .iter()
        .map(|(price, quantity)| Level {
            price: one(*price),
            quantity: one(*quantity),
        })
        .collect()
}

pub(crate) fn snapshot(last_update_id: u64, bids: &[(i64, i64)], asks: &[(i64, i64)]) -> Update {
    let (bids, asks) = (levels(bids).into(), levels(asks).into());
    Update::Snapshot(Snapshot {
        symbol: symbol("ES"),
        last_update_id,
        bids,
        asks,
    })
}

pub(crate) fn depth(ids: (u64, u64), bids: &[(i64, i64)], asks: &[(i64, i64)]) -> Update {
    let ((first_id, last_id), bids, asks) = (ids, levels(bids).into(), levels(asks).into());
    Update::Depth(Depth {
        symbol: symbol("ES"),
        first_id,
        last_id,
        bids,
        asks,
    })
}

/// Everything that a decoder says about `text`, cut after each of `sizes` bytes in turn.
pub(crate) fn decode_in_chunks(
    decoder: &mut Decoder,
    mut text: &[u8],
    sizes: &[usize],
) -> Vec<Result<Received, Malformed>> {
    let mut found = Vec::new();
    let mut sizes = sizes.iter().cycle();
    while !text.is_empty() {
        let size = sizes
            .next()
            .map_or(text.len(), |size| (*size).clamp(1, text.len()));
        let (mut chunk, rest) = text.split_at(size);
        while let Some(outcome) = decoder.decode(&mut chunk) {
            found.push(outcome);
        }
        assert!(chunk.is_empty(), "a chunk is used up");
        text = rest;
    }
    while let Some(outcome) = decoder.finish() {
        found.push(outcome);
    }
    found
}

pub(crate) fn decode(text: &[u8]) -> Vec<Result<Received, Malformed>> {
    decode_in_chunks(&mut Decoder::default(), text, &[])
}

/// What one replayed file came to.
pub(crate) struct Replayed {
    pub(crate) books: Books,
    pub(crate) malformed: Vec<Malformed>,
    pub(crate) end: Result<InputEnd, InputError>,
}

/// Replays a file as the service does, on one thread.
pub(crate) fn replay(path: &Path) -> Replayed {
    let mut decoder = Decoder::default();
    let mut books = Books::new(KEPT_UPDATES_MAX);
    let mut malformed = Vec::new();
    let mut take = |outcome: Result<Received, Malformed>| match outcome {
        Ok(received) => {
            books.apply(received.update).unwrap();
        }
        Err(bad) => malformed.push(bad),
    };
    let end = read_input(path, CHUNK_BYTES, |chunk| {
        let mut chunk = &chunk[..];
        while let Some(outcome) = decoder.decode(&mut chunk) {
            take(outcome);
        }
        ControlFlow::Continue(())
    });
    while let Some(outcome) = decoder.finish() {
        take(outcome);
    }
    Replayed {
        books,
        malformed,
        end,
    }
}

/// A directory of a test's own, gone when the test ends.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("corelane-feed-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}
