//! Runs a test on every driver that this machine has.

use corelane::{Driver, Runtime, StartError};

/// Runs `test` on one shard with each kernel driver, and on a machine that refuses io_uring with
/// epoll alone.
pub(crate) fn on_every_driver<F: Future + 'static>(test: fn() -> F) {
    for driver in [Driver::Epoll, Driver::Uring] {
        eprintln!("driver: {driver:?}");
        match Runtime::builder().shards(1).driver(driver).run(test) {
            Ok(_) => {}
            Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                eprintln!("this machine refuses io_uring");
            }
            Err(error) => panic!("{driver:?} did not start: {error}"),
        }
    }
}
