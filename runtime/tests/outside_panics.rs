//! What is called where it cannot work names the line that called it. A program of its own, since
//! the panic hook is the process's.
#![allow(clippy::unwrap_used)]

use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Mutex;
use std::time::Duration;

use corelane::time::sleep;
use corelane::{ShardLocal, lane, shard, shards, spawn};

static FILES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static VALUE: ShardLocal<()> = ShardLocal::new(|| ());

#[test]
fn a_misplaced_call_names_its_caller() {
    let calls: [fn(); 6] = [
        || drop(shard()),
        || drop(shards()),
        || drop(spawn(async {})),
        || drop(sleep(Duration::ZERO)),
        || VALUE.with(|()| ()),
        || drop(lane::<u8>(3)),
    ];
    set_hook(Box::new(|panic| {
        let file = panic.location().unwrap().file().to_owned();
        FILES.lock().unwrap().push(file);
    }));
    let ends = calls.map(catch_unwind);
    drop(take_hook());
    assert!(ends.iter().all(Result::is_err));
    assert_eq!(*FILES.lock().unwrap(), [file!(); 6]);
}
