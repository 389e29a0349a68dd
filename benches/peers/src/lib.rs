//! The benchmark rows on rival libraries and bare loops.
//!
//! Each module says with which settings its library runs: the best that its documentation names for
//! this use. Rows, checks and the neutral client are the harness's, the same as for our side.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod bare;
mod compio_rows;
mod crossbeam_rows;
mod glommio_rows;
mod local_rows;
mod monoio_rows;
mod primitives;
mod rings;
mod rtrb_rows;
mod thread_aware_rows;
mod tokio_rows;
mod version;

use corelane_bench_harness::Entry;

/// Every row of every peer.
pub fn entries() -> Vec<Entry> {
    [
        rtrb_rows::entries(),
        crossbeam_rows::entries(),
        tokio_rows::entries(),
        glommio_rows::entries(),
        monoio_rows::entries(),
        compio_rows::entries(),
        thread_aware_rows::entries(),
        rings::entries(),
        primitives::entries(),
        bare::entries(),
    ]
    .concat()
}
