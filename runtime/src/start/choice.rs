//! Which I/O driver a shard gets, and who is told.
//!
//! Each shard chooses for itself: memory may last for the rings of some shards alone.

use std::error::Error;

use crate::directory::DriverInfo;
use crate::error::DriverError;
use crate::settings::Driver;
use crate::sync::{AtomicBool, Ordering};

/// Opens what `wanted` names. Only [`Driver::Auto`] takes epoll for io_uring; the first shard of a
/// runtime that has to says so in a log line and sets `told`.
///
/// # Errors
///
/// What the last driver says that was tried.
pub(super) fn choose<D>(
    wanted: Driver,
    told: &AtomicBool,
    uring: impl FnOnce() -> Result<(D, String), DriverError>,
    epoll: impl FnOnce() -> Result<D, DriverError>,
) -> Result<(D, DriverInfo), DriverError> {
    const ASKED_FOR: &str = "asked for by the settings";
    let (driver, name, reason) = match wanted {
        Driver::Epoll => (epoll()?, "epoll", ASKED_FOR.to_owned()),
        Driver::Uring => {
            let (driver, features) = uring()?;
            (driver, "uring", format!("{ASKED_FOR}; {features}"))
        }
        Driver::Auto => match uring() {
            Ok((driver, features)) => {
                (driver, "uring", format!("the kernel allows it; {features}"))
            }
            Err(refused) => {
                let reason = format!("{refused}: {}", source_of(&refused));
                if !told.swap(true, Ordering::Relaxed) {
                    tracing::warn!(driver = "epoll", %reason, "falling back to epoll");
                }
                (epoll()?, "epoll", reason)
            }
        },
        Driver::Sim(_) => unreachable!("a simulation makes its own drivers"),
    };
    Ok((driver, DriverInfo { name, reason }))
}

fn source_of(error: &DriverError) -> String {
    error.source().map_or_else(String::new, ToString::to_string)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fmt::Debug;
    use std::sync::Once;

    use rustix::io::Errno;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    const REFUSALS: [Errno; 4] = [Errno::PERM, Errno::NOSYS, Errno::ACCESS, Errno::NOMEM];

    fn refuse<D>(errno: Errno) -> Result<D, DriverError> {
        Err(DriverError::UringRefused(errno.into()))
    }

    thread_local! {
        /// The log lines of this thread, their fields one behind the other.
        static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    /// Keeps each thread's log lines. One for the whole process: subscribers that come and go on
    /// several threads hide lines from each other for a moment.
    struct Log;

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut line = Line(event.metadata().level().to_string());
            event.record(&mut line);
            LINES.with_borrow_mut(|lines| lines.push(line.0));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0.push_str(&format!(" {field}={value:?}"));
        }
    }

    /// What `test` logs.
    fn logged(test: impl FnOnce()) -> Vec<String> {
        static LOG: Once = Once::new();
        LOG.call_once(|| tracing::subscriber::set_global_default(Log).unwrap());
        LINES.take();
        test();
        LINES.take()
    }

    // proves: RT-11
    #[test]
    fn refused_io_uring_gives_epoll_and_one_line_that_says_why() {
        for errno in REFUSALS {
            let told = AtomicBool::new(false);
            let why = std::io::Error::from(errno).to_string();
            let lines = logged(|| {
                let (driver, info) =
                    choose(Driver::Auto, &told, || refuse(errno), || Ok("epoll")).unwrap();
                assert_eq!((driver, info.name()), ("epoll", "epoll"));
                assert_eq!(info.reason(), format!("io_uring is refused: {why}"));
            });
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(lines[0].starts_with("WARN"), "{lines:?}");
            assert!(lines[0].contains("falling back to epoll"), "{lines:?}");
            assert!(lines[0].contains(&why), "{lines:?}");
        }
    }

    // proves: RT-11
    #[test]
    fn fallback_is_told_once_a_runtime_whichever_shards_it_meets() {
        // Memory for one ring, whose shard may come first, in between or last.
        for lucky in 0..3 {
            let told = AtomicBool::new(false);
            let lines = logged(|| {
                for shard in 0..3 {
                    let uring = || match shard == lucky {
                        true => Ok(("uring", "features".to_owned())),
                        false => refuse(Errno::NOMEM),
                    };
                    let (driver, info) =
                        choose(Driver::Auto, &told, uring, || Ok("epoll")).unwrap();
                    let wanted = if shard == lucky { "uring" } else { "epoll" };
                    assert_eq!((driver, info.name()), (wanted, wanted));
                }
            });
            assert_eq!(lines.len(), 1, "{lines:?}");
        }
    }

    // proves: RT-11
    #[test]
    fn driver_that_is_asked_for_is_the_only_one_tried() {
        let told = AtomicBool::new(false);
        let lines = logged(|| {
            for errno in REFUSALS {
                let epoll = || -> Result<(), _> { unreachable!("nobody asked for epoll") };
                let refused = choose(Driver::Uring, &told, || refuse(errno), epoll).unwrap_err();
                let DriverError::UringRefused(error) = refused else {
                    panic!("{refused:?}");
                };
                assert_eq!(Errno::from_io_error(&error), Some(errno));
            }
            let uring = || unreachable!("nobody asked for io_uring");
            let (_, info) = choose(Driver::Epoll, &told, uring, || Ok(())).unwrap();
            assert_eq!(info.name(), "epoll");
        });
        assert_eq!(lines, Vec::<String>::new());
    }

    // proves: RT-11
    #[test]
    fn neither_driver_is_an_error_of_the_last_one_tried() {
        let told = AtomicBool::new(false);
        let epoll = || -> Result<(), _> { Err(DriverError::Epoll(Errno::MFILE.into())) };
        let refused = choose(Driver::Auto, &told, || refuse(Errno::PERM), epoll);
        assert!(matches!(refused, Err(DriverError::Epoll(_))), "{refused:?}");
    }
}
