//! What a relocation, a clone and a drop take while no other thread does any.

use std::hint::black_box;

use super::traveller::{Ticket, Traveller, clone_and_drop};
use super::value::made_here;
use super::{Identity, Relocating, Value};
use crate::{BenchError, Meter, Params, Sample, Spent, pin};

/// Values that are first touched together: few enough to stay in the second-level cache.
const BATCH: u64 = 256;

/// An operation: a handle is relocated to where it is.
pub(super) fn same<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let mut traveller = Traveller::<H>::depart(Ticket::for_one())?;
    let meter = Meter::start();
    traveller.stay(params.ops);
    let spent = meter.stop(params.ops);
    traveller.check(0)?;
    traveller.check_count(1)?;
    Ok(spent.wall_sample())
}

/// An operation: the only handle is relocated to a place that has its value, to and fro.
pub(super) fn hit<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let mut traveller = Traveller::<H>::depart(Ticket::for_one())?;
    let meter = Meter::start();
    traveller.commute(params.ops);
    let spent = meter.stop(params.ops);
    traveller.check(params.ops)?;
    traveller.check_count(1)?;
    Ok(spent.wall_sample())
}

/// An operation: a new handle is relocated for the first time, which makes the place's value.
///
/// Making and dropping handles is in no figure.
pub(super) fn miss<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let places = H::places(2);
    let mut spent = Spent::default();
    while spent.ops < params.ops {
        let count = BATCH.min(params.ops - spent.ops);
        let mut handles: Vec<H> = (0..count).map(|_| H::make(Value::new)).collect();
        let firsts: Vec<Identity> = handles.iter().map(Identity::of).collect();
        let made = made_here();
        let meter = Meter::start();
        for handle in &mut handles {
            black_box(handle).relocate(&places[0], &places[1]);
        }
        spent.add(&meter.stop(count));
        BenchError::check("values made", count, made_here() - made)?;
        for (handle, first) in handles.iter_mut().zip(firsts) {
            let equal = u64::from(Identity::of(handle) == first);
            BenchError::check("places that share a value", 0, equal)?;
            handle.relocate(&places[1], &places[0]);
            first.check(handle)?;
        }
    }
    Ok(spent.wall_sample())
}

/// An operation: a handle is cloned and the clone dropped.
pub(super) fn clone_drop<H: Relocating>(params: &Params) -> Result<Sample, BenchError> {
    pin(params.cores.first)?;
    let handle = H::make(Value::new);
    let known = Identity::of(&handle);
    let meter = Meter::start();
    clone_and_drop(&handle, params.ops);
    let spent = meter.stop(params.ops);
    known.check(&handle)?;
    BenchError::check("handles of the value", 1, handle.strong_count() as u64)?;
    Ok(spent.wall_sample())
}
