//! The capacity of a ring in time: how old an update gets in front of a builder that is behind.
//!
//! Four decoders push words into one ring as fast as it takes them, and one builder applies them to
//! four books. Nothing is lost: who is refused tries again, and the refusals are counted. So a ring
//! of twice the slots holds updates that are twice as old, and brings no more of them: its capacity
//! times what one update takes is the bound of their age.
//!
//! ```
//! use corelane_examples::sweep::{Settings, Sweep};
//!
//! let settings = Settings {
//!     updates: 4_000,
//!     rounds: 1,
//! };
//! let sweep = Sweep::run(settings, |_| {})?;
//! assert_eq!(sweep.rows.len(), 7);
//! assert!(sweep.rows.iter().all(|row| row.peak <= row.capacity));
//! # Ok::<(), corelane_examples::sweep::SweepError>(())
//! ```

mod flood;
mod plan;
mod table;

pub use self::{
    flood::SweepError,
    plan::{DECODERS, ROUNDS, UPDATES},
    table::{CAPACITIES, Row, Settings, Sweep},
};
