//! Bad input is named and counted, and does no harm to what is good.

use std::io::Write;
use std::ops::ControlFlow;

use corelane_examples::feed::{
    CHUNK_BYTES, Decoder, Generator, InputEnd, InputError, LINE_BYTES_MAX, LineError, MalformedLog,
    read_input, write_line,
};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{Replayed, Scratch, decode_in_chunks, replay, symbol};

fn feed_text(updates: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for update in Generator::new(9).take(updates) {
        write_line(&mut text, 1, &update).unwrap();
    }
    text
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_truncated_gzip_is_named_and_used_up_to_where_it_breaks() {
    let text = feed_text(20_000);
    let zipped = gzip(&text);
    let scratch = Scratch::new();
    let path = scratch.file("cut.gz", &zipped[..zipped.len() / 2]);
    let Replayed {
        books,
        malformed,
        end,
    } = replay(&path);
    let error = end.unwrap_err();
    assert!(matches!(&error, InputError::Truncated { path: named } if *named == path));
    assert_eq!(
        error.to_string(),
        format!("{}: the gzip stream is truncated", path.display())
    );
    // The last line is cut too, so it is malformed or, by chance, whole.
    assert!(malformed.len() <= 1, "{malformed:?}");
    let applied: u64 = books.iter().map(|book| book.counts().applied).sum();
    assert!(
        applied > 5_000,
        "{applied} updates of half the file were applied"
    );
}

#[test]
fn every_cut_of_a_gzip_gives_a_prefix_of_its_text() {
    let text = feed_text(30);
    let zipped = gzip(&text);
    let scratch = Scratch::new();
    // A cut inside the first two bytes leaves nothing that tells gzip from text.
    for cut in 2..zipped.len() {
        let path = scratch.file("cut.gz", &zipped[..cut]);
        let mut given = Vec::new();
        let end = read_input(&path, 100, |chunk| {
            assert!(!chunk.is_empty() && chunk.len() <= 100);
            given.extend(chunk);
            ControlFlow::Continue(())
        });
        assert!(
            matches!(end, Err(InputError::Truncated { .. })),
            "cut at {cut}: {end:?}"
        );
        assert!(text.starts_with(&given), "cut at {cut}");
    }
}

/// How reading `bytes` as a file ends, and whether its text was `text`.
fn read_whole(bytes: &[u8], text: &[u8]) -> Result<InputEnd, InputError> {
    let scratch = Scratch::new();
    let mut given = Vec::new();
    let end = read_input(&scratch.file("some.gz", bytes), 1_000, |chunk| {
        given.extend(chunk);
        ControlFlow::Continue(())
    });
    assert_eq!(given, text);
    end
}

#[test]
fn zeros_behind_a_gzip_are_padding() {
    let text = feed_text(30);
    let two = [gzip(&text), gzip(&text)].concat();
    for (zipped, text) in [(gzip(&text), text.clone()), (two, text.repeat(2))] {
        for zeros in [0, 1, 2, 3, 9, 512, CHUNK_BYTES, 2 * CHUNK_BYTES + 1] {
            let mut padded = zipped.clone();
            padded.resize(zipped.len() + zeros, 0);
            let end = read_whole(&padded, &text);
            assert_eq!(end.unwrap(), InputEnd::Complete, "{zeros} zeros");
        }
    }
}

#[test]
fn data_behind_a_gzip_is_named_and_the_text_before_it_is_used() {
    let text = feed_text(30);
    let zipped = gzip(&text);
    let zeros = vec![0; CHUNK_BYTES];
    for data in [
        &b"x"[..],
        b"garbage behind it",
        &[0x1f],
        &[0x1f, 0],
        &[0x8b, 0x1f],
        &[0, 1],
        &[&zeros[..], b"x"].concat(),
        // gzip takes members behind zeros for garbage, too.
        &[&zeros[..5], &zipped].concat(),
    ] {
        let error = read_whole(&[&zipped, data].concat(), &text).unwrap_err();
        assert!(
            matches!(&error, InputError::TrailingData { .. }),
            "{error:?}"
        );
        let said = error.to_string();
        assert!(
            said.ends_with("some.gz: data after the end of the gzip stream"),
            "{said}"
        );
    }
}

#[test]
fn a_second_member_may_break_off_or_be_broken() {
    let text = feed_text(30);
    let zipped = gzip(&text);
    for cut in [2, 5, 10, 11] {
        let end = read_whole(&[&zipped, &zipped[..cut]].concat(), &text);
        assert!(
            matches!(end, Err(InputError::Truncated { .. })),
            "{cut}: {end:?}"
        );
    }
    let mut other = zipped.clone();
    // A method of compression that does not exist.
    other[2] = 99;
    let end = read_whole(&[&zipped[..], &other].concat(), &text);
    assert!(matches!(end, Err(InputError::Corrupt { .. })), "{end:?}");
}

#[test]
fn a_broken_gzip_is_named() {
    let mut zipped = gzip(&feed_text(1_000));
    let middle = zipped.len() / 2;
    zipped[middle..].fill(0xff);
    let scratch = Scratch::new();
    let path = scratch.file("broken.gz", &zipped);
    let error = replay(&path).end.unwrap_err();
    assert!(matches!(&error, InputError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("broken.gz"), "{error}");
}

#[test]
fn an_unreadable_file_is_named() {
    let scratch = Scratch::new();
    // A directory opens and then gives no bytes; a missing file does not open.
    for path in [scratch.path().join("missing"), scratch.path().to_owned()] {
        let error = replay(&path).end.unwrap_err();
        assert!(matches!(&error, InputError::Unreadable { .. }), "{error:?}");
        assert!(
            error.to_string().starts_with(&path.display().to_string()),
            "{error}"
        );
    }
}

#[test]
fn an_empty_file_is_complete_and_builds_no_book() {
    let scratch = Scratch::new();
    for bytes in [&b""[..], &gzip(b"")] {
        let Replayed {
            books,
            malformed,
            end,
        } = replay(&scratch.file("empty", bytes));
        assert_eq!(end.unwrap(), InputEnd::Complete);
        assert!(malformed.is_empty());
        assert_eq!(books.iter().count(), 0);
    }
}

#[test]
fn a_file_of_one_byte_is_one_malformed_line() {
    let scratch = Scratch::new();
    let Replayed { malformed, end, .. } = replay(&scratch.file("one", &[0x1f]));
    assert_eq!(end.unwrap(), InputEnd::Complete);
    assert_eq!(
        malformed[0].to_string(),
        "line 1: no receive time stands before the JSON"
    );
}

#[test]
fn a_taker_that_has_enough_ends_the_reading() {
    let scratch = Scratch::new();
    let path = scratch.file("feed.log", &feed_text(1_000));
    let mut chunks = 0;
    let end = read_input(&path, 1_000, |_| {
        chunks += 1;
        if chunks == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!((end.unwrap(), chunks), (InputEnd::Stopped, 3));
}

#[test]
fn a_line_of_16_mib_is_counted_and_what_follows_is_used() {
    let mut text = feed_text(10);
    text.extend(b"1 {\"stream\":\"");
    text.resize(text.len() + (16 << 20), b'x');
    text.push(b'\n');
    text.extend(feed_text(10));
    let found = decode_in_chunks(&mut Decoder::default(), &text, &[CHUNK_BYTES]);
    let bad: Vec<_> = found
        .iter()
        .filter_map(|outcome| outcome.as_ref().err())
        .collect();
    let [bad] = bad[..] else {
        panic!("{} malformed lines", bad.len())
    };
    assert_eq!(bad.line, 11);
    assert!(matches!(
        bad.reason,
        LineError::TooLong {
            line_bytes_max: LINE_BYTES_MAX
        }
    ));
    assert_eq!(found.len(), 21);
}

#[test]
fn a_file_without_a_snapshot_builds_an_empty_book_and_keeps_a_bounded_part() {
    let text = feed_text(60_000);
    let text: Vec<u8> = String::from_utf8(text)
        .unwrap()
        .split_inclusive('\n')
        .filter(|line| !line.contains("lastUpdateId"))
        .flat_map(str::bytes)
        .collect();
    let scratch = Scratch::new();
    let Replayed {
        books,
        malformed,
        end,
    } = replay(&scratch.file("feed.log", &text));
    assert_eq!(end.unwrap(), InputEnd::Complete);
    assert!(malformed.is_empty());
    let book = books.book(symbol("ES")).unwrap();
    assert_eq!(
        (book.bid_levels(), book.ask_levels(), book.is_current()),
        (0, 0, false)
    );
    let counts = book.counts();
    assert_eq!((counts.applied, counts.gaps), (0, 0));
    assert_eq!(
        book.kept_updates(),
        corelane_examples::feed::KEPT_UPDATES_MAX
    );
    assert!(counts.lapsed > 0 && counts.trades > 0 && counts.tickers > 0);
}

#[test]
fn malformed_lines_do_not_change_the_books() {
    let good = feed_text(2_000);
    let mut bad = Vec::new();
    for (number, line) in good.split_inclusive(|byte| *byte == b'\n').enumerate() {
        bad.extend(line);
        if number % 10 == 0 {
            // The first half of a line, as a torn recording has it.
            bad.extend(&line[..line.len() / 2]);
            bad.push(b'\n');
        }
    }
    let scratch = Scratch::new();
    let (whole, torn) = (scratch.file("whole", &good), scratch.file("torn", &bad));
    let (whole, torn) = (replay(&whole), replay(&torn));
    assert_eq!(torn.malformed.len(), 200);
    for book in whole.books.iter() {
        let other = torn.books.book(book.symbol()).unwrap();
        assert_eq!(
            (book.sha256(), book.counts()),
            (other.sha256(), other.counts())
        );
    }
}

#[test]
fn the_log_counts_all_and_shows_the_first() {
    let mut log = MalformedLog::new(2);
    let mut shown = 0;
    for outcome in crate::support::decode(b"a\nb\nc\nd\n") {
        shown += usize::from(log.record(outcome.unwrap_err()).is_some());
    }
    assert_eq!((log.count(), shown), (4, 2));
    let lines: Vec<_> = log.shown().iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [1, 2]);
}
