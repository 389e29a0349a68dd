//! One run: decoders and a builder, each a thread, and a ring between them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use corelane::time::Instant;
use corelane_primitives::{Consumer64, PushError, Ring64};

use super::plan::{Builder, Part};
use crate::feed::{Ages, Symbol};
use crate::words::{Quote, WordError};

/// Words that the builder takes before it reads the clock.
const BATCH_MAX: usize = 256;

/// The age of one word in so many is measured.
const AGE_EVERY: usize = 16;

/// How often a decoder that is refused gives up its turn before it sleeps for room.
const TRIES_MAX: u32 = 1000;

/// What one run has measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) updates_per_s: f64,
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) peak: f64,
    pub(super) drain_ns: f64,
    pub(super) refused: f64,
}

/// Why a sweep has no result. What it measured would mean nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// An update fits no word, or a word is no update.
    #[error("the feed does not fit its words")]
    Word(#[from] WordError),
    /// Words were lost or came twice.
    #[error("{symbol}: {found} words came of {expected}, with {gaps} gaps")]
    Count {
        /// Of which instrument.
        symbol: Symbol,
        /// Words that were sent.
        expected: usize,
        /// Words that came.
        found: usize,
        /// Holes in their numbers.
        gaps: u64,
    },
    /// A book is another one than its words make.
    #[error("{0}: the book has another hash than the words of the feed make")]
    Book(Symbol),
}

/// Sends all `parts` through a ring of `capacity` slots.
pub(super) fn flood(parts: &[Part], capacity: usize) -> Result<Measured, SweepError> {
    let (ring, words) = Ring64::new(capacity);
    let stamps: Vec<Stamps> = parts.iter().map(|part| Stamps::new(part.words)).collect();
    let start = Instant::now();
    let mut built = thread::scope(|scope| {
        let decoders: Vec<_> = parts
            .iter()
            .zip(&stamps)
            .map(|(part, stamps)| {
                let ring = ring.clone();
                scope.spawn(move || decode(part, &ring, stamps))
            })
            .collect();
        // It drops its end, so that no decoder waits for a builder that has failed.
        let built = build(parts, &stamps, words);
        for decoder in decoders {
            decoder.join().expect("a decoder does not panic")?;
        }
        built
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let mut updates = 0;
    for (part, builder) in parts.iter().zip(&built.builders) {
        check(part, builder)?;
        updates += builder.words;
    }
    Ok(Measured {
        updates_per_s: updates as f64 / seconds,
        p50_ns: built.ages.quantile_ns(0.5) as f64,
        p99_ns: built.ages.quantile_ns(0.99) as f64,
        peak: ring.peak() as f64,
        drain_ns: median(&mut built.drains_ns),
        refused: ring.refused() as f64,
    })
}

fn check(part: &Part, builder: &Builder) -> Result<(), SweepError> {
    let (symbol, gaps) = (builder.book.symbol(), builder.book.counts().gaps);
    if builder.words != part.words || gaps > 0 {
        return Err(SweepError::Count {
            symbol,
            expected: part.words,
            found: builder.words,
            gaps,
        });
    }
    if builder.book.sha256() != part.sha256 {
        return Err(SweepError::Book(symbol));
    }
    Ok(())
}

/// When some words of one decoder went into the ring, in ns. Relaxed: each is stored before the
/// push of its word, and read behind the Acquire of that word.
#[derive(Debug)]
struct Stamps(Box<[AtomicU64]>);

impl Stamps {
    fn new(words: usize) -> Self {
        let count = words.div_ceil(AGE_EVERY);
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    fn of(&self, word: usize) -> Option<&AtomicU64> {
        word.is_multiple_of(AGE_EVERY)
            .then(|| &self.0[word / AGE_EVERY])
    }
}

/// Packs and pushes one part. Closes the ring if that cannot be.
fn decode(part: &Part, ring: &Ring64, stamps: &Stamps) -> Result<(), WordError> {
    let sent = try_decode(part, ring, stamps);
    if sent.is_err() {
        ring.close();
    }
    sent
}

fn try_decode(part: &Part, ring: &Ring64, stamps: &Stamps) -> Result<(), WordError> {
    let (mut packer, mut words, mut sent) = (part.packer()?, Vec::new(), 0);
    for depth in part.depths() {
        words.clear();
        packer.pack(depth, &mut words)?;
        for &word in words.iter().take(part.words - sent) {
            if !push(ring, word, stamps.of(sent)) {
                // The builder has failed, and says why.
                return Ok(());
            }
            sent += 1;
        }
    }
    Ok(())
}

/// Pushes a word as soon as there is room; says whether there still is a builder.
fn push(ring: &Ring64, word: u64, stamp: Option<&AtomicU64>) -> bool {
    for _ in 0..TRIES_MAX {
        if let Some(stamp) = stamp {
            stamp.store(Instant::now().as_nanos(), Ordering::Relaxed);
        }
        match ring.push(word) {
            Ok(()) => return true,
            Err(PushError::Full(_)) => thread::yield_now(),
            Err(_) => return false,
        }
    }
    ring.blocking_push(word, Duration::MAX).is_ok()
}

/// What the builder has made and measured.
struct Built {
    builders: Vec<Builder>,
    ages: Ages,
    /// The time a word of each batch.
    drains_ns: Vec<f64>,
}

fn build(parts: &[Part], stamps: &[Stamps], mut words: Consumer64) -> Result<Built, WordError> {
    let mut built = Built {
        builders: parts.iter().map(Part::builder).collect(),
        ages: Ages::default(),
        drains_ns: Vec::new(),
    };
    let mut left: usize = parts.iter().map(|part| part.words).sum();
    let mut pushed_ns = Vec::new();
    while left > 0 && words.blocking_ready() {
        let begun = Instant::now();
        let folded = words.fold(BATCH_MAX, Ok(()), |so_far: Result<(), WordError>, word| {
            so_far?;
            let quote = Quote::unpack(word)?;
            let decoder = usize::from(quote.instrument);
            let builder = built
                .builders
                .get_mut(decoder)
                .ok_or(WordError::Instrument(quote.instrument))?;
            let stamp = stamps[decoder].of(builder.words);
            pushed_ns.extend(stamp.map(|stamp| stamp.load(Ordering::Relaxed)));
            builder.apply(&quote);
            Ok(())
        });
        folded.acc?;
        let applied = Instant::now();
        for pushed_ns in pushed_ns.drain(..) {
            let age = applied.duration_since(Instant::from_nanos(pushed_ns));
            built.ages.record(age.as_nanos() as u64);
        }
        // Of few words the clock would tell more about itself.
        if folded.consumed == BATCH_MAX {
            let batch_ns = applied.duration_since(begun).as_nanos() as f64;
            built.drains_ns.push(batch_ns / BATCH_MAX as f64);
        }
        left = left.saturating_sub(folded.consumed);
    }
    Ok(built)
}

/// The median; zero of nothing. Of an even count it is the higher one of the two in the middle.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
