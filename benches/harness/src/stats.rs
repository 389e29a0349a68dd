//! Medians, quantiles and spreads of rounds.

/// The quantile `q` (0 to 1) of `values` by linear interpolation; `None` when there are none.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    Some(low + (high - low) * place.fract())
}

/// The median of `values`; `None` when there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// What the rounds of one side say together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The median round.
    pub median: f64,
    /// The 99th percentile of the rounds: with few rounds nearly the slowest.
    pub p99: f64,
    /// The interquartile range over the median: how far rounds of one side differ among themselves.
    pub spread: f64,
}

impl Summary {
    /// Summarizes rounds; `None` when there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let median = median(values)?;
        let quartiles = (quantile(values, 0.25)?, quantile(values, 0.75)?);
        let spread = if median == 0.0 {
            0.0
        } else {
            (quartiles.1 - quartiles.0) / median
        };
        Some(Self {
            median,
            p99: quantile(values, 0.99)?,
            spread,
        })
    }
}

/// The median of the ratios `ours / theirs` of rounds that ran side by side.
///
/// A slow minute of the machine hits both sides of a pair, so paired ratios move less than medians
/// do.
pub(crate) fn paired_ratio(ours: &[f64], theirs: &[f64]) -> Option<f64> {
    let ratios: Vec<f64> = ours
        .iter()
        .zip(theirs)
        .filter(|(_, theirs)| **theirs != 0.0)
        .map(|(a, b)| a / b)
        .collect();
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(median(&values), Some(2.5));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn spread_is_the_interquartile_range_over_the_median() {
        let summary = Summary::of(&[8.0, 9.0, 10.0, 11.0, 12.0]).unwrap();
        assert_eq!(summary.median, 10.0);
        assert!((summary.spread - 0.2).abs() < 1e-12);
    }

    #[test]
    fn paired_ratio_ignores_a_drift_that_hits_both_sides() {
        let ratio = paired_ratio(&[1.0, 10.0, 100.0], &[2.0, 20.0, 200.0]).unwrap();
        assert_eq!(ratio, 0.5);
    }
}
