//! Best prices: a signal a symbol, and where to find it.
//!
//! Owner: the shard that owns the books sets the signals, once a batch for each symbol whose best
//! prices changed, and lists new symbols in its directory. Any shard reads and follows both. A set
//! waits for nobody: who follows is told the latest, and skips what was replaced before it looked.

use std::collections::HashMap;
use std::sync::Arc;

use corelane_primitives::{PlainSignal, Signal};

use crate::feed::{BEST_WORDS, Best, Book, Symbol, TopsReport};

/// The best prices of one symbol.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) symbol: Symbol,
    pub(super) top: PlainSignal<[u64; BEST_WORDS]>,
}

/// The symbols of one owner, in the order in which they came. It only grows.
pub(super) type Directory = Signal<Arc<[Listing]>>;

/// The directories of all shards.
pub(super) type Boards = Arc<[Directory]>;

/// The directories of `shards` shards, with nothing in them.
pub(super) fn boards(shards: usize) -> Boards {
    (0..shards).map(|_| Signal::new(Arc::default())).collect()
}

/// The best prices of all symbols of all shards, read where their owners set them.
pub(super) fn best_prices(boards: &Boards) -> Vec<(Symbol, Best)> {
    let mut all = Vec::new();
    for board in boards.iter() {
        let read = |listing: &Listing| {
            let best = listing.top.read(|words| Best::from_words(*words));
            (listing.symbol, best)
        };
        board.read(|listings| all.extend(listings.iter().map(read)));
    }
    all
}

/// The owner's end.
#[derive(Debug)]
pub(super) struct Tops {
    directory: Directory,
    listings: Vec<Listing>,
    places: HashMap<Symbol, usize>,
    /// How many of the listings stand in the directory.
    listed: usize,
    sets: u64,
}

impl Tops {
    /// No symbol yet; they will stand in `directory`.
    pub(super) fn new(directory: Directory) -> Self {
        Self {
            directory,
            listings: Vec::new(),
            places: HashMap::new(),
            listed: 0,
            sets: 0,
        }
    }

    /// Sets the best prices of `book`. Costs a look-up and one exchange, and 4 KiB at its first.
    pub(super) fn set(&mut self, book: &Book) {
        let symbol = book.symbol();
        let place = *self.places.entry(symbol).or_insert_with(|| {
            let top = Signal::plain(Best::default().to_words());
            self.listings.push(Listing { symbol, top });
            self.listings.len() - 1
        });
        let set = self.listings[place].top.set(Best::from(book).to_words());
        assert!(set.is_ok(), "only their owner closes the signals");
        self.sets += 1;
    }

    /// Lists the symbols that are new. To be called behind the sets of a batch.
    pub(super) fn list(&mut self) {
        if self.listed == self.listings.len() {
            return;
        }
        let listed = self.directory.set(Arc::from(&self.listings[..]));
        assert!(listed.is_ok(), "only its owner closes the directory");
        self.listed = self.listings.len();
    }

    /// How often a signal was set.
    pub(super) fn sets(&self) -> u64 {
        self.sets
    }

    /// Ends it: who follows gets the last values, and then the end.
    pub(super) fn close(&self) {
        self.directory.close();
        self.listings.iter().for_each(|listing| listing.top.close());
    }

    /// Adds what is known at the end.
    pub(super) fn report(&self, report: &mut TopsReport) {
        report.signals += self.listings.len() as u64;
        report.sets += self.sets;
        let versions = self.listings.iter().map(|listing| listing.top.version());
        report.versions += versions.map(|version| version.number()).sum::<u64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::{Books, Generator, KEPT_UPDATES_MAX};
    use corelane_primitives::NextError;

    #[test]
    fn every_symbol_is_listed_once_and_its_signal_has_the_books_best_prices() {
        let boards = boards(2);
        let mut tops = Tops::new(boards[1].clone());
        let mut followed = boards[1].changes();
        assert_eq!(followed.try_next().map(|listings| listings.len()), Ok(0));
        let mut books = Books::new(KEPT_UPDATES_MAX);
        for update in Generator::new(3).take(1_000) {
            let (change, book) = books.apply(update).unwrap();
            if change.top {
                tops.set(book);
            }
        }
        tops.list();
        let listings = followed.try_next().unwrap();
        assert_eq!((listings.len(), boards[0].read(|all| all.len())), (5, 0));
        for listing in listings.iter() {
            let best = listing.top.read(|words| Best::from_words(*words));
            assert_eq!(best.top, books.book(listing.symbol).unwrap().top());
        }
        tops.list();
        assert!(matches!(followed.try_next(), Err(NextError::Empty)));
        let mut report = TopsReport::default();
        tops.report(&mut report);
        assert_eq!((report.signals, report.sets), (5, report.versions));
        tops.close();
        assert!(matches!(followed.try_next(), Err(NextError::Closed)));
        assert!(listings.iter().all(|listing| listing.top.is_closed()));
    }
}
