//! Runs a test on drivers.

use corelane::{Builder, Driver, StartError};

/// Runs `test` with each of `drivers`; a machine that refuses io_uring goes without that one.
pub(crate) fn run_on<F: Future + 'static>(builder: &Builder, drivers: &[Driver], test: fn() -> F) {
    for &driver in drivers {
        // Shown when the test fails.
        eprintln!("driver: {driver:?}");
        match builder.clone().driver(driver).run(test) {
            Ok(_) => {}
            Err(StartError::Driver { .. }) if driver == Driver::Uring => {
                eprintln!("this machine refuses io_uring");
            }
            Err(error) => panic!("{driver:?} did not start: {error}"),
        }
    }
}
