//! What every comparison with an oracle runs under.

use proptest::prelude::ProptestConfig;

/// `cases` random sequences, unless `PROPTEST_CASES` says another number.
///
/// Failures stand in the output alone, and leave no file in the tree.
pub(crate) fn sequences(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES");
    ProptestConfig {
        cases: asked.map_or(cases, |cases| cases.parse().expect("a number")),
        max_shrink_iters: 100_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
