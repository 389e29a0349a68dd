//! How fast a recorded feed is replayed.

use std::str::FromStr;
use std::time::Duration;

/// How many times faster than it was recorded a feed is replayed.
///
/// ```
/// use corelane_examples::feed::Speed;
/// use std::time::Duration;
///
/// let speed: Speed = "100x".parse()?;
/// let (first_ns, recorded_ns) = (1_000_000_000, 6_000_000_000);
/// assert_eq!(speed.due(first_ns, recorded_ns), Some(Duration::from_millis(50)));
/// assert_eq!(Speed::Max.due(first_ns, recorded_ns), None);
/// # Ok::<(), corelane_examples::feed::SpeedError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// As fast as it goes.
    Max,
    /// So many times as fast as recorded; finite and above zero.
    Times(f64),
}

impl Speed {
    /// When what was received at `recorded_ns` is due, counted from the replay's start at
    /// `first_ns`.
    ///
    /// `None` means at once. What was recorded before the first is due at the start: the clock of a
    /// recorder steps back at times.
    pub fn due(self, first_ns: u64, recorded_ns: u64) -> Option<Duration> {
        match self {
            Self::Max => None,
            Self::Times(times) => {
                let due_ns = recorded_ns.saturating_sub(first_ns) as f64 / times;
                // A float above the range of u64 turns into its largest value.
                Some(Duration::from_nanos(due_ns as u64))
            }
        }
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, SpeedError> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let times: f64 = text
            .strip_suffix('x')
            .and_then(|n| n.parse().ok())
            .ok_or(SpeedError)?;
        if times.is_finite() && times > 0.0 {
            Ok(Self::Times(times))
        } else {
            Err(SpeedError)
        }
    }
}

/// The text is no [`Speed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a speed is `max` or a number above zero with an x, such as 100x")]
pub struct SpeedError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_max_and_positive_multiples_are_speeds() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("0.5x".parse(), Ok(Speed::Times(0.5)));
        for text in ["", "x", "0x", "-1x", "infx", "NaNx", "100", "Max", "1 x"] {
            assert_eq!(text.parse::<Speed>(), Err(SpeedError), "{text}");
        }
    }

    #[test]
    fn a_clock_that_steps_back_or_far_is_no_trouble() {
        assert_eq!(Speed::Times(2.0).due(500, 100), Some(Duration::ZERO));
        let slow = Speed::Times(f64::MIN_POSITIVE);
        assert_eq!(slow.due(0, u64::MAX), Some(Duration::from_nanos(u64::MAX)));
    }
}
