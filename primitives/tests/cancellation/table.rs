//! Every future of the crate, by its file and the call that makes it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Each of these is dropped in every state by a test of this program, or of the one named beside.
pub(crate) const FUTURES: &[&str] = &[
    "channel/receiver.rs ready",
    "channel/receiver.rs recv",
    "channel/receiver.rs recv_batch",
    "channel/sender.rs closed",
    "channel/sender.rs reserve",
    "channel/sender.rs send",
    "channel/sender.rs send_timeout",
    "claim/wait.rs push_wait",
    "claim/wait.rs ready",
    "claim/wait.rs recv",
    "feed/local.rs next",
    "feed/local.rs next_batch",
    "lane/wait.rs ready",
    "lane/wait.rs recv",
    "lane/wait.rs room",
    "lane/wait.rs send",
    "ring64/channel.rs run",
    "ring64/ring.rs push_wait",
    "ring64/shards.rs push_wait",
    "ring64/wait.rs ready",
    "ring64/wait.rs recv",
    "signal/changes.rs next",
    "subscription/handle.rs set",
    "subscription/handle.rs set_eventually",
    "subscription/handle.rs update",
    "topic/handle.rs publish",
    "topic/handle.rs publish_batch",
];

/// The calls of one file, for the test that goes through them.
pub(crate) fn calls(file: &str) -> Vec<&'static str> {
    let all = FUTURES.iter().filter_map(|future| future.split_once(' '));
    let calls: Vec<_> = all
        .filter(|(of, _)| *of == file)
        .map(|(_, call)| call)
        .collect();
    assert!(!calls.is_empty(), "no future is made in {file}");
    calls
}

/// All files below `directory`.
fn files(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).expect("the sources are here") {
        let path = entry.expect("the sources are here").path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The public calls in `text` that answer with a future.
fn futures_of(text: &str) -> impl Iterator<Item = &str> {
    let calls = text.split("pub fn ").skip(1);
    calls.filter_map(|call| {
        // A signature ends where its body begins; closures in it do not.
        let signature = call
            .split_once('{')
            .map_or(call, |(signature, _)| signature);
        let name = signature.split(['(', '<']).next()?;
        let is_future = signature.contains("-> impl Future")
            || signature.contains("RingChannelRun<") && name == "run";
        is_future.then_some(name)
    })
}

#[test]
fn every_future_is_in_the_table() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&sources, &mut paths);
    let mut found = BTreeSet::new();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a source is text");
        assert!(
            !text.contains("pub async fn"),
            "{path:?} hides a future from this test"
        );
        let file = path
            .strip_prefix(&sources)
            .expect("it lies there")
            .display()
            .to_string();
        found.extend(futures_of(&text).map(|call| format!("{file} {call}")));
    }
    let listed: BTreeSet<_> = FUTURES.iter().map(ToString::to_string).collect();
    assert_eq!(found, listed);
}
