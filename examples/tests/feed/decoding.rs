//! What lines say, and what is wrong with those that say nothing.

use corelane_examples::feed::{Received, Update};

use crate::support::{decode, symbol};

const DEPTH: &str = concat!(
    r#"{"stream":"es@depth@100ms","data":{"e":"depthUpdate","E":1,"s":"ES","#,
    r#""U":5,"u":7,"b":[["6050.25","3"]],"a":[]}}"#
);
const TICKER: &str =
    r#"{"stream":"es@bookTicker","data":{"u":9,"s":"ES","b":"1","B":"2","a":"3","A":"4"}}"#;
const SNAPSHOT: &str = r#"{"lastUpdateId":4,"bids":[["6050","1"]],"asks":[]}"#;

fn reason(json: &str) -> String {
    let found = decode(format!("1 {json}\n").as_bytes());
    let [outcome] = &found[..] else {
        panic!("{found:?}")
    };
    outcome.as_ref().unwrap_err().reason.to_string()
}

fn updates(text: &str) -> Vec<Received> {
    decode(text.as_bytes())
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn fields_are_found_in_any_order_and_unknown_ones_do_not_matter() {
    let swapped = concat!(
        r#"{"data":{"a":[],"b":[["6050.25","3",[]]],"u":7,"U":5,"s":"ES","#,
        r#""x":{"y":[1]}},"stream":"es@depth"}"#
    );
    let (plain, swapped) = (
        updates(&format!("1 {DEPTH}\n")),
        updates(&format!("1 {swapped}")),
    );
    assert_eq!(plain, swapped);
    let Update::Depth(depth) = &plain[0].update else {
        panic!("{plain:?}")
    };
    assert_eq!(
        (
            depth.first_id,
            depth.last_id,
            depth.bids.len(),
            depth.asks.len()
        ),
        (5, 7, 1, 0)
    );
}

/// A message's JSON, and a part of what is said of it.
const MALFORMED: &[(&str, &str)] = &[
    ("", "EOF while parsing a value"),
    ("{", "EOF while parsing"),
    ("[]", "neither a stream message nor a snapshot"),
    ("{}", "neither a stream message nor a snapshot"),
    (r#"{"stream":"es@trade"}"#, "the field \"data\" is missing"),
    (
        r#"{"stream":"es@kline","data":{"b":7}}"#,
        "unknown stream \"es@kline\"",
    ),
    (r#"{"stream":"es","data":{}}"#, "unknown stream \"es\""),
    (
        r#"{"stream":"es@trade","data":{"s":"ES"}}"#,
        "the field \"t\" is missing",
    ),
    (
        r#"{"stream":"es@trade","data":{"t":1,"p":"1","q":"1"}}"#,
        "the field \"s\" is missing",
    ),
    (
        r#"{"stream":"es@trade","data":{"t":1,"p":1}}"#,
        "expected a string",
    ),
    (
        r#"{"stream":"es@trade","data":{"q":"-1"}}"#,
        "a quantity has no sign",
    ),
    (
        r#"{"stream":"es@trade","data":{"p":"1e5"}}"#,
        "more than digits and one point",
    ),
    (
        r#"{"stream":"es@trade","data":{"p":"1.123456789"}}"#,
        "more than 8 digits",
    ),
    (
        r#"{"stream":"es@trade","data":{"p":"99999999999999"}}"#,
        "too large",
    ),
    (
        r#"{"stream":"es@trade","data":{"s":"E S"}}"#,
        "a symbol holds more than",
    ),
    (
        r#"{"stream":"es@trade","data":{"t":1,"t":1}}"#,
        "duplicate field",
    ),
    (
        r#"{"stream":"es@depth","data":{"U":1,"u":1,"s":"ES","b":"1"}}"#,
        "\"b\" is missing",
    ),
    (
        r#"{"stream":"es@depth","data":{"U":2,"u":1}}"#,
        "the first id 2 is behind the last id 1",
    ),
    (r#"{"stream":"es@depth","data":{"U":-2}}"#, "invalid value"),
    (
        r#"{"stream":"es@depth","data":{"b":[["1"]]}}"#,
        "invalid length 1",
    ),
    (
        r#"{"lastUpdateId":1,"bids":[]}"#,
        "the field \"asks\" is missing",
    ),
    (r#"{"lastUpdateId":1,"bids":"1"}"#, "invalid type"),
    (SNAPSHOT, "a snapshot without a symbol"),
];

#[test]
fn a_malformed_line_says_why() {
    for (json, expected) in MALFORMED {
        let reason = reason(json);
        assert!(
            reason.contains(expected),
            "{json}\n gives {reason:?}, not {expected:?}"
        );
    }
    let trailing = reason(&format!("{DEPTH} x"));
    assert!(trailing.contains("trailing characters"), "{trailing}");
    assert!(reason("\u{fffd}").contains("expected value"));
}

#[test]
fn a_long_name_from_outside_is_cut_in_the_reason() {
    let name = "x".repeat(100_000);
    assert!(reason(&format!(r#"{{"stream":"{name}","data":{{}}}}"#)).len() < 100);
}

#[test]
fn the_receive_time_is_a_number_and_a_space() {
    for line in [
        "",
        "5",
        "5{}",
        "-5 {}",
        "+5 {}",
        " {}",
        "5x {}",
        "99999999999999999999999 {}",
    ] {
        let found = decode(format!("{line}\n").as_bytes());
        let error = found[0].as_ref().unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: no receive time stands before the JSON",
            "{line}"
        );
    }
}

#[test]
fn bytes_that_are_not_utf8_are_malformed() {
    let found = decode(b"1 {\"stream\":\"\xff\xfe@trade\",\"data\":{}}\n1 \xff\n");
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(Result::is_err), "{found:?}");
}

#[test]
fn a_snapshot_belongs_to_the_one_symbol_of_its_input() {
    for text in [
        format!("1 {SNAPSHOT}\n2 {DEPTH}\n3 {TICKER}\n"),
        format!("2 {DEPTH}\n1 {SNAPSHOT}\n3 {TICKER}\n"),
    ] {
        let found = updates(&text);
        assert_eq!(found.len(), 3);
        let snapshot = found.iter().find(|one| one.received_ns == 1).unwrap();
        assert_eq!(snapshot.update.symbol(), symbol("ES"));
        let lines: Vec<_> = found.iter().map(|one| one.line).collect();
        assert_eq!(lines, [1, 2, 3], "order is kept");
    }
}

#[test]
fn a_snapshot_in_an_input_of_several_symbols_must_name_its_own() {
    let nq = TICKER.replace("ES", "NQ");
    let named = SNAPSHOT.replace(r#"{"last"#, r#"{"symbol":"NQ","last"#);
    let text = format!("1 {TICKER}\n1 {nq}\n1 {SNAPSHOT}\n1 {named}\n");
    let found = decode(text.as_bytes());
    let snapshot = found[2].as_ref().unwrap_err();
    assert!(
        snapshot
            .to_string()
            .starts_with("line 3: a snapshot without a symbol"),
        "{snapshot}"
    );
    assert_eq!(found[3].as_ref().unwrap().update.symbol(), symbol("NQ"));
}

#[test]
fn of_two_unnamed_snapshots_the_older_one_is_told() {
    let text = format!("1 {SNAPSHOT}\n2 {SNAPSHOT}\n3 {TICKER}\n");
    let found = decode(text.as_bytes());
    assert_eq!(found[0].as_ref().unwrap_err().line, 1);
    let kept: Vec<_> = found[1..]
        .iter()
        .map(|one| one.as_ref().unwrap().line)
        .collect();
    assert_eq!(kept, [2, 3]);
}

#[test]
fn deep_nesting_does_no_harm() {
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let unknown_field = reason(&format!(r#"{{"x":{nested}}}"#));
    assert_eq!(unknown_field, "neither a stream message nor a snapshot");
    let levels = reason(&format!(r#"{{"lastUpdateId":1,"bids":{nested}}}"#));
    assert!(levels.contains("invalid type"), "{levels}");
}
