//! The venue's rule, case by case.

use corelane_examples::feed::{Book, Change, KEPT_UPDATES_MAX, Update};

use crate::support::{depth, levels, snapshot, symbol};

fn book() -> Book {
    Book::new(symbol("ES"), KEPT_UPDATES_MAX)
}

fn apply_all(book: &mut Book, updates: impl IntoIterator<Item = Update>) {
    for update in updates {
        book.apply(update);
    }
}

fn bids(book: &Book) -> Vec<corelane_examples::feed::Level> {
    book.bids().collect()
}

#[test]
fn updates_before_a_snapshot_are_judged_by_it() {
    let mut book = book();
    apply_all(
        &mut book,
        [
            depth((1, 4), &[(9, 1)], &[]),
            depth((5, 8), &[(8, 1)], &[]),
            depth((9, 9), &[(7, 1)], &[]),
        ],
    );
    assert_eq!(
        (book.kept_updates(), book.is_current(), book.last_id()),
        (3, false, 0)
    );
    // Ids 5 and 6 are in the snapshot, 7 and 8 are not, so the second update applies.
    let change = book.apply(snapshot(6, &[(9, 5)], &[(20, 1)]));
    assert_eq!(
        change,
        Change {
            top: true,
            gap: false
        }
    );
    assert_eq!(bids(&book), levels(&[(9, 5), (8, 1), (7, 1)]));
    let counts = book.counts();
    assert_eq!(
        (
            counts.applied,
            counts.stale,
            counts.gaps,
            counts.level_changes
        ),
        (2, 1, 0, 2)
    );
    assert_eq!(
        (book.last_id(), book.is_current(), book.kept_updates()),
        (9, true, 0)
    );
}

#[test]
fn the_first_update_must_cover_the_id_after_the_snapshot() {
    for (ids, applied, stale, gaps) in [
        ((1, 10), 0, 1, 0),
        ((1, 11), 1, 0, 0),
        ((10, 12), 1, 0, 0),
        ((11, 11), 1, 0, 0),
        ((12, 12), 0, 0, 1),
    ] {
        let mut book = book();
        apply_all(
            &mut book,
            [snapshot(10, &[], &[]), depth(ids, &[(1, 1)], &[])],
        );
        let counts = book.counts();
        assert_eq!(
            (counts.applied, counts.stale, counts.gaps),
            (applied, stale, gaps),
            "{ids:?}"
        );
    }
}

#[test]
fn later_updates_must_follow_exactly() {
    for (ids, applied, stale, gaps) in [
        ((12, 12), 2, 0, 0),
        ((12, 20), 2, 0, 0),
        ((11, 11), 1, 1, 0),
        ((9, 11), 1, 1, 0),
        ((11, 12), 1, 0, 1),
        ((13, 13), 1, 0, 1),
    ] {
        let mut book = book();
        let first = depth((11, 11), &[(1, 1)], &[]);
        apply_all(
            &mut book,
            [snapshot(10, &[], &[]), first, depth(ids, &[(2, 1)], &[])],
        );
        let counts = book.counts();
        assert_eq!(
            (counts.applied, counts.stale, counts.gaps),
            (applied, stale, gaps),
            "{ids:?}"
        );
    }
}

#[test]
fn a_gap_heals_at_the_next_snapshot_that_joins() {
    let mut book = book();
    apply_all(
        &mut book,
        [
            snapshot(10, &[(5, 1)], &[]),
            depth((11, 12), &[(6, 1)], &[]),
        ],
    );
    let change = book.apply(depth((15, 16), &[(7, 1)], &[]));
    assert_eq!(
        change,
        Change {
            top: false,
            gap: true
        }
    );
    assert!(!book.is_current());
    apply_all(&mut book, [depth((17, 17), &[(8, 1)], &[])]);
    assert_eq!(
        bids(&book),
        levels(&[(6, 1), (5, 1)]),
        "a stale book stands still"
    );
    // Ids 13 and 14 are still missing from this snapshot: it is newer, yet nothing joins it.
    let change = book.apply(snapshot(13, &[(4, 1)], &[]));
    assert_eq!(
        change,
        Change {
            top: true,
            gap: false
        }
    );
    assert_eq!(
        (book.is_current(), book.counts().gaps, book.kept_updates()),
        (false, 1, 2)
    );
    book.apply(snapshot(15, &[(5, 2)], &[]));
    assert!(book.is_current());
    assert_eq!(bids(&book), levels(&[(8, 1), (7, 1), (5, 2)]));
    let counts = book.counts();
    assert_eq!(
        (counts.applied, counts.stale, counts.gaps, book.last_id()),
        (3, 0, 1, 17)
    );
    book.apply(depth((18, 18), &[(8, 0)], &[]));
    assert_eq!(bids(&book), levels(&[(7, 1), (5, 2)]));
}

#[test]
fn a_second_hole_among_the_kept_updates_is_another_gap() {
    let mut book = book();
    let kept = [(1, 1), (2, 2), (5, 5), (6, 6), (9, 9)].map(|ids| depth(ids, &[], &[]));
    apply_all(&mut book, kept);
    book.apply(snapshot(1, &[], &[]));
    let seen = |book: &Book| {
        let counts = book.counts();
        (
            counts.applied,
            counts.stale,
            counts.gaps,
            book.kept_updates(),
            book.is_current(),
        )
    };
    assert_eq!(seen(&book), (1, 1, 1, 3, false));
    book.apply(snapshot(4, &[], &[]));
    assert_eq!(seen(&book), (3, 1, 2, 1, false));
    book.apply(snapshot(9, &[], &[]));
    assert_eq!(seen(&book), (3, 2, 2, 0, true));
}

#[test]
fn an_older_snapshot_does_not_turn_a_current_book_back() {
    let mut book = book();
    apply_all(
        &mut book,
        [
            snapshot(10, &[(5, 1)], &[]),
            depth((11, 12), &[(6, 1)], &[]),
        ],
    );
    assert_eq!(book.apply(snapshot(11, &[(1, 1)], &[])), Change::default());
    assert_eq!(
        (book.counts().stale, book.last_id(), book.is_current()),
        (1, 12, true)
    );
    assert_eq!(bids(&book), levels(&[(6, 1), (5, 1)]));
}

#[test]
fn an_older_snapshot_heals_what_overlaps_it() {
    let mut book = book();
    apply_all(
        &mut book,
        [
            snapshot(10, &[(5, 1)], &[]),
            depth((11, 12), &[(6, 1)], &[]),
        ],
    );
    // It overlaps what was applied, which the rule calls a gap.
    book.apply(depth((12, 14), &[(7, 1)], &[]));
    assert!(!book.is_current());
    book.apply(snapshot(11, &[(5, 3)], &[]));
    assert!(book.is_current());
    assert_eq!(
        (bids(&book), book.last_id()),
        (levels(&[(7, 1), (5, 3)]), 14)
    );
}

#[test]
fn only_the_newest_updates_wait_for_a_snapshot() {
    let mut book = Book::new(symbol("ES"), 3);
    for id in 1..=10 {
        book.apply(depth((id, id), &[(id as i64, 1)], &[]));
    }
    assert_eq!((book.kept_updates(), book.counts().lapsed), (3, 7));
    book.apply(snapshot(8, &[], &[]));
    assert_eq!(bids(&book), levels(&[(10, 1), (9, 1)]));
    assert_eq!(
        (
            book.counts().applied,
            book.counts().stale,
            book.is_current()
        ),
        (2, 1, true)
    );
}

#[test]
fn a_book_that_may_keep_nothing_heals_all_the_same() {
    let mut book = Book::new(symbol("ES"), 0);
    book.apply(depth((1, 1), &[(1, 1)], &[]));
    book.apply(snapshot(1, &[(2, 2)], &[]));
    book.apply(depth((2, 2), &[(3, 3)], &[]));
    assert_eq!((book.counts().lapsed, book.is_current()), (1, true));
    assert_eq!(bids(&book), levels(&[(3, 3), (2, 2)]));
}

#[test]
fn zero_removes_a_level_and_an_absent_one_may_be_removed() {
    let mut book = book();
    book.apply(snapshot(1, &[(5, 1), (4, 0)], &[(6, 1)]));
    assert_eq!(book.bid_levels(), 1);
    book.apply(depth((2, 2), &[(5, 0), (3, 0)], &[(6, 0), (6, 2)]));
    assert_eq!(book.bid_levels(), 0);
    assert_eq!(book.asks().collect::<Vec<_>>(), levels(&[(6, 2)]));
    assert_eq!(book.counts().level_changes, 4);
    assert_eq!(book.top().bid, None);
}

#[test]
fn only_a_change_of_the_best_levels_is_told() {
    let mut book = book();
    assert!(
        book.apply(snapshot(1, &[(5, 1), (4, 1)], &[(6, 1), (7, 1)]))
            .top
    );
    assert!(!book.apply(depth((2, 2), &[(4, 9)], &[(7, 0)])).top);
    assert!(
        !book.apply(depth((3, 3), &[(5, 1)], &[])).top,
        "the same quantity again"
    );
    assert!(
        book.apply(depth((4, 4), &[(5, 2)], &[])).top,
        "another quantity"
    );
    assert!(
        book.apply(depth((5, 5), &[], &[(6, 0)])).top,
        "another price"
    );
    assert_eq!(
        (book.top().bid, book.top().ask),
        (Some(levels(&[(5, 2)])[0]), None)
    );
}

#[test]
fn the_largest_ids_do_not_overflow() {
    let mut book = book();
    apply_all(
        &mut book,
        [
            snapshot(u64::MAX - 1, &[], &[]),
            depth((u64::MAX, u64::MAX), &[(1, 1)], &[]),
            depth((u64::MAX, u64::MAX), &[(2, 1)], &[]),
            snapshot(u64::MAX, &[], &[]),
            depth((0, u64::MAX), &[(3, 1)], &[]),
        ],
    );
    assert_eq!(
        (
            book.counts().applied,
            book.counts().stale,
            book.counts().gaps
        ),
        (1, 2, 0)
    );
}

#[test]
#[should_panic(expected = "routed to the book of its symbol")]
fn an_update_of_another_symbol_is_a_fault_of_the_caller() {
    Book::new(symbol("NQ"), KEPT_UPDATES_MAX).apply(snapshot(1, &[], &[]));
}
