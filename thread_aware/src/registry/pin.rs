//! The affinity mask of a thread: reading, narrowing to one processor, and restoring it.

use core::{error::Error, fmt};
use std::{io, sync::OnceLock, vec::Vec};

use core_affinity::CoreId;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

use crate::{
    affinity::{Affinity, set_pinned},
    topology::ProcessorId,
};

/// Why a thread's affinity mask could not be read or set. Each names the processor concerned.
#[derive(Debug)]
#[non_exhaustive]
pub enum PinError {
    /// The kernel refuses the processor: there is none of this number, it is offline, or it is
    /// outside of the cpuset.
    Refused {
        /// The processor; of a mask, its first one.
        processor: ProcessorId,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel accepted the processor, but the thread's mask does not show it.
    NotInForce(ProcessorId),
    /// The number is beyond those that an affinity mask of this system's C library can name.
    OutOfReach(ProcessorId),
    /// The affinity is not one of the registry.
    Foreign(Affinity),
    /// A mask without a processor was to be restored.
    EmptyMask,
    /// The kernel did not tell the affinity mask of this thread.
    MaskUnknown,
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { processor, .. } => {
                write!(f, "the kernel refuses to pin a thread to {processor}")
            }
            Self::NotInForce(processor) => {
                write!(f, "pinning a thread to {processor} had no effect")
            }
            Self::OutOfReach(processor) => {
                write!(f, "{processor} is beyond what an affinity mask can name")
            }
            Self::Foreign(affinity) => write!(f, "{affinity:?} is not of this registry"),
            Self::EmptyMask => f.write_str("an affinity mask needs a processor"),
            Self::MaskUnknown => f.write_str("the kernel did not tell the affinity mask"),
        }
    }
}

impl Error for PinError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}

static ORIGINAL: OnceLock<Vec<ProcessorId>> = OnceLock::new();

/// The processors that the process was allowed to use before this crate pinned a thread of it,
/// ascending.
///
/// It is the mask of the process's first thread at the moment when somebody first asked for it,
/// read a topology of the system, or pinned a thread; all later answers are the same. Threads
/// inherit the mask of the thread that makes them, so one that a pinned thread makes and that is
/// not itself to be pinned there restores this mask.
///
/// # Errors
///
/// [`PinError::MaskUnknown`] when the kernel does not tell.
///
/// ```
/// use thread_aware::registry::{original_mask, restore_mask};
///
/// let mask = original_mask()?;
/// std::thread::spawn(move || restore_mask(&mask)).join().expect("it does not panic")?;
/// # Ok::<(), thread_aware::registry::PinError>(())
/// ```
pub fn original_mask() -> Result<Vec<ProcessorId>, PinError> {
    if let Some(mask) = ORIGINAL.get() {
        return Ok(mask.clone());
    }
    let first = i32::try_from(std::process::id())
        .ok()
        .and_then(Pid::from_raw);
    let set = sched_getaffinity(first).map_err(|_| PinError::MaskUnknown)?;
    let mask: Vec<_> = (0..CpuSet::MAX_CPU as u32)
        .filter(|&number| set.is_set(number as usize))
        .map(ProcessorId::new)
        .collect();
    Ok(ORIGINAL.get_or_init(|| mask).clone())
}

/// Pins the current thread to one processor, and makes sure that it took effect.
///
/// The process's [`original_mask`] is remembered before. Threads that this one makes afterwards
/// inherit the pin.
///
/// # Errors
///
/// [`PinError::Refused`], [`PinError::NotInForce`] and [`PinError::OutOfReach`] name the processor;
/// [`PinError::MaskUnknown`] when the mask cannot be read. After an error other than `NotInForce`
/// the thread's mask is what it was.
///
/// ```
/// use thread_aware::{registry::pin_current_thread, topology::Topology};
///
/// let topology = Topology::detect()?;
/// let core = topology.physical_cores()[0].processor();
/// std::thread::spawn(move || pin_current_thread(core)).join().expect("it does not panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pin_current_thread(processor: ProcessorId) -> Result<(), PinError> {
    original_mask()?;
    let id = in_reach(processor)?;
    if !core_affinity::set_for_current(CoreId { id }) {
        let source = io::Error::last_os_error();
        return Err(PinError::Refused { processor, source });
    }
    set_pinned(None);
    if current_mask()? != [processor] {
        return Err(PinError::NotInForce(processor));
    }
    Ok(())
}

/// Lets the current thread run on all processors of `mask`, which is what a thread of a pool does
/// with the [`original_mask`].
///
/// The kernel leaves out those that are offline or outside of the cpuset by now.
///
/// # Errors
///
/// [`PinError::EmptyMask`], [`PinError::OutOfReach`], and [`PinError::Refused`] when the kernel
/// grants none of them; the thread's mask is then what it was.
pub fn restore_mask(mask: &[ProcessorId]) -> Result<(), PinError> {
    let &[first, ..] = mask else {
        return Err(PinError::EmptyMask);
    };
    let mut set = CpuSet::new();
    for &processor in mask {
        set.set(in_reach(processor)?);
    }
    match sched_setaffinity(None, &set) {
        Ok(()) => {
            set_pinned(None);
            Ok(())
        }
        Err(error) => Err(PinError::Refused {
            processor: first,
            source: error.into(),
        }),
    }
}

/// The processors that the current thread may use now, ascending.
///
/// # Errors
///
/// [`PinError::MaskUnknown`] when the kernel does not tell.
pub fn current_mask() -> Result<Vec<ProcessorId>, PinError> {
    let ids = core_affinity::get_core_ids().ok_or(PinError::MaskUnknown)?;
    let numbers = ids.into_iter().map(|CoreId { id }| u32::try_from(id));
    let mask: Result<Vec<_>, _> = numbers.map(|number| number.map(ProcessorId::new)).collect();
    match mask {
        Ok(mask) if !mask.is_empty() => Ok(mask),
        _ => Err(PinError::MaskUnknown),
    }
}

/// The number of a processor that a mask can name; beyond it the mask's own functions panic.
fn in_reach(processor: ProcessorId) -> Result<usize, PinError> {
    match usize::try_from(processor.number()) {
        Ok(number) if number < CpuSet::MAX_CPU => Ok(number),
        _ => Err(PinError::OutOfReach(processor)),
    }
}
