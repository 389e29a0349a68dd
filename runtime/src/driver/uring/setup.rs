//! Makes the ring with what this kernel has, and tries once, live, what a version number does not
//! tell.

use std::fmt;
use std::io;

use io_uring::IoUring;
use rustix::io::Errno;

use super::probe;

/// The smallest submission queue that a shard starts with.
pub(super) const ENTRIES_MIN: u32 = 16;
/// Completion queue entries for each submission queue entry: multishot operations post many.
const COMPLETIONS_FACTOR: u32 = 4;

/// What this shard's ring uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UringFeatures {
    /// Entries of the submission queue.
    pub(crate) entries: u32,
    /// Entries of the completion queue.
    pub(crate) completions: u32,
    /// How many times the ring was halved because memory was refused.
    pub(crate) halvings: u32,
    /// The set-up flags that the kernel took.
    pub(crate) setup: Setup,
    /// One accept operation delivers every connection.
    pub(crate) multishot_accept: bool,
    /// One receive operation delivers every chunk, from a ring of provided buffers.
    pub(crate) multishot_receive: bool,
    /// Shards wake each other with `MSG_RING`.
    pub(crate) msg_ring: bool,
    /// A success that nobody waits for posts no completion.
    pub(crate) skip_success: bool,
    /// Parking does not count as waiting for a disk.
    pub(crate) no_iowait: bool,
    /// A park waits for several completions, and after a moment for one.
    pub(crate) gather: bool,
}

/// Set-up flags, each newer than the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setup {
    /// No flag: before Linux 5.18.
    Plain,
    /// One bad submission does not stop the batch (5.18).
    SubmitAll,
    /// No interrupts for completions; a flag says when some are pending (5.19).
    CoopTaskrun,
    /// One thread submits (6.0).
    SingleIssuer,
    /// Completions are made only inside `enter` (6.1).
    DeferTaskrun,
    /// No index array beside the submission queue (6.6).
    NoSqArray,
}

/// What to try: everything, except in tests of the older ways.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) setup: Setup,
    pub(super) multishot_accept: bool,
    pub(super) multishot_receive: bool,
    pub(super) msg_ring: bool,
}

impl Wanted {
    /// All that the kernel has.
    pub(super) const ALL: Self = Self {
        setup: Setup::NoSqArray,
        multishot_accept: true,
        multishot_receive: true,
        msg_ring: true,
    };
}

impl fmt::Display for UringFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} entries", self.setup, self.entries)?;
        for (has, name) in [
            (self.multishot_accept, "multishot accept"),
            (self.multishot_receive, "multishot receive"),
            (self.msg_ring, "ring messages"),
            (self.no_iowait, "no iowait"),
        ] {
            write!(f, ", {}{name}", if has { "" } else { "without " })?;
        }
        if self.halvings > 0 {
            write!(f, ", halved {} times for lack of memory", self.halvings)?;
        }
        Ok(())
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "plain ring",
            Self::SubmitAll => "ring with submit-all",
            Self::CoopTaskrun => "ring with cooperative completions",
            Self::SingleIssuer => "ring with a single issuer",
            Self::DeferTaskrun => "ring with deferred completions",
            Self::NoSqArray => "ring with deferred completions and no index array",
        })
    }
}

impl Setup {
    /// The next older set of flags.
    fn older(self) -> Option<Self> {
        match self {
            Self::NoSqArray => Some(Self::DeferTaskrun),
            Self::DeferTaskrun => Some(Self::SingleIssuer),
            Self::SingleIssuer => Some(Self::CoopTaskrun),
            Self::CoopTaskrun => Some(Self::SubmitAll),
            Self::SubmitAll => Some(Self::Plain),
            Self::Plain => None,
        }
    }

    /// One attempt with exactly these flags.
    pub(super) fn build(self, entries: u32) -> io::Result<IoUring> {
        let mut builder = IoUring::builder();
        builder
            .setup_clamp()
            .setup_cqsize(entries.saturating_mul(COMPLETIONS_FACTOR));
        if self >= Self::SubmitAll {
            builder.setup_submit_all();
        }
        if self >= Self::CoopTaskrun {
            builder.setup_coop_taskrun().setup_taskrun_flag();
        }
        if self >= Self::SingleIssuer {
            builder.setup_single_issuer();
        }
        if self >= Self::DeferTaskrun {
            builder.setup_defer_taskrun();
        }
        if self >= Self::NoSqArray {
            builder.setup_no_sqarray();
        }
        builder.build(entries)
    }
}

/// Makes the ring on the calling thread, which is the only one that may use it.
///
/// EINVAL drops the newest flags, ENOMEM halves the ring down to [`ENTRIES_MIN`]; anything else is
/// the answer.
pub(super) fn open(entries: u32, wanted: Wanted) -> io::Result<(IoUring, UringFeatures)> {
    let (ring, setup, halvings) = step_down(entries, wanted.setup, Setup::build)?;
    let params = ring.params();
    if !params.is_feature_nodrop() || !params.is_feature_ext_arg() || !params.is_feature_fast_poll()
    {
        // Before Linux 5.11: completions could be lost and a wait could have no end.
        return Err(io::Error::from(io::ErrorKind::Unsupported));
    }
    let mut features = UringFeatures {
        entries: params.sq_entries(),
        completions: params.cq_entries(),
        halvings,
        setup,
        multishot_accept: false,
        multishot_receive: false,
        msg_ring: false,
        skip_success: params.is_feature_skip_cqe_on_success(),
        no_iowait: params.is_feature_no_iowait(),
        gather: params.is_feature_min_timeout(),
    };
    probe::run(wanted, &mut features);
    Ok((ring, features))
}

/// Tries `build` with fewer flags and entries until it succeeds or fails for good. Gives what was
/// built, with which flags, and after how many halvings.
fn step_down<T>(
    entries: u32,
    mut setup: Setup,
    build: impl Fn(Setup, u32) -> io::Result<T>,
) -> io::Result<(T, Setup, u32)> {
    let mut entries = entries.next_power_of_two().max(ENTRIES_MIN);
    let mut halvings = 0;
    loop {
        let error = match build(setup, entries) {
            Ok(built) => return Ok((built, setup, halvings)),
            Err(error) => error,
        };
        match (Errno::from_io_error(&error), setup.older()) {
            (Some(Errno::INVAL), Some(older)) => setup = older,
            (Some(Errno::NOMEM), _) if entries / 2 >= ENTRIES_MIN => {
                entries /= 2;
                halvings += 1;
            }
            _ => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The set-up flags by name, as `io_uring_setup(2)` numbers them.
    const FLAGS: [(Setup, u32); 6] = [
        (Setup::SubmitAll, 1 << 7),
        (Setup::CoopTaskrun, 1 << 8),
        (Setup::CoopTaskrun, 1 << 9), // TASKRUN_FLAG
        (Setup::SingleIssuer, 1 << 12),
        (Setup::DeferTaskrun, 1 << 13),
        (Setup::NoSqArray, 1 << 16),
    ];

    /// Which of [`FLAGS`] the kernel took. The crate tells no flags but one.
    fn flags(ring: &IoUring) -> u32 {
        let params = std::ptr::from_ref(ring.params()).cast::<[u32; 3]>();
        // SAFETY: Valid: a transparent wrapper of the kernel's `io_uring_params`, whose third word
        // is the flags. Exclusive: the ring's own copy, which nobody writes to.
        let [_, _, taken] = unsafe { params.read() };
        FLAGS.iter().fold(0, |all, (_, flag)| all | flag) & taken
    }

    // proves: RT-11
    #[test]
    fn every_older_set_of_flags_makes_a_ring() {
        let mut setup = Some(Setup::NoSqArray);
        let mut tried = 0;
        while let Some(now) = setup {
            let (ring, features) = open(
                32,
                Wanted {
                    setup: now,
                    ..Wanted::ALL
                },
            )
            .expect("a ring");
            assert!(ring.params().sq_entries() >= 32);
            assert!(features.setup <= now);
            let wanted = FLAGS.iter().filter(|(since, _)| *since <= features.setup);
            assert_eq!(flags(&ring), wanted.fold(0, |all, (_, flag)| all | flag));
            assert_eq!(features.completions, features.entries * COMPLETIONS_FACTOR);
            tried += 1;
            setup = now.older();
        }
        assert_eq!(tried, 6);
    }

    /// What a kernel that knows flags up to `newest` and gives memory for `room` entries says.
    fn kernel(newest: Setup, room: u32) -> impl Fn(Setup, u32) -> io::Result<u32> {
        move |setup, entries| {
            if setup > newest {
                return Err(Errno::INVAL.into());
            }
            if entries > room {
                return Err(Errno::NOMEM.into());
            }
            Ok(entries)
        }
    }

    // proves: RT-11
    #[test]
    fn an_older_kernel_gets_older_flags_and_little_memory_a_smaller_ring() {
        let newest = Setup::NoSqArray;
        let tried = |kernel_has, room| step_down(1024, newest, kernel(kernel_has, room)).unwrap();
        assert_eq!(tried(newest, 4096), (1024, newest, 0));
        assert_eq!(
            tried(Setup::SingleIssuer, 4096),
            (1024, Setup::SingleIssuer, 0)
        );
        assert_eq!(tried(newest, 100), (64, newest, 4));
        assert_eq!(
            tried(Setup::Plain, ENTRIES_MIN),
            (ENTRIES_MIN, Setup::Plain, 6)
        );
    }

    // proves: RT-11
    #[test]
    fn a_refusal_is_final() {
        let too_little = step_down(1024, Setup::NoSqArray, kernel(Setup::NoSqArray, 4));
        assert_eq!(too_little.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        for refusal in [Errno::PERM, Errno::NOSYS, Errno::ACCESS, Errno::INVAL] {
            let calls = std::cell::Cell::new(0);
            // An argument that is refused without any flag is no flag's fault.
            let setup = match refusal {
                Errno::INVAL => Setup::Plain,
                _ => Setup::NoSqArray,
            };
            let refused = step_down(64, setup, |_, _| {
                calls.set(calls.get() + 1);
                Err::<(), _>(refusal.into())
            });
            assert_eq!(Errno::from_io_error(&refused.unwrap_err()), Some(refusal));
            assert_eq!(calls.get(), 1);
        }
    }

    #[test]
    fn features_are_readable() {
        let (_ring, features) = open(64, Wanted::ALL).expect("a ring");
        let text = features.to_string();
        assert!(text.contains("64 entries"), "{text}");
        assert!(text.contains("multishot receive"), "{text}");
    }
}
