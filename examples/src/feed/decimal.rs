//! Prices and quantities as exact decimals.
//!
//! A venue writes decimals, so a binary float would round them and no two books would hash alike.
//! Eight digits behind the point are what the venues of this service use.

use std::fmt;

use serde::{Serialize, Serializer};

/// Digits behind the point that a [`Decimal`] keeps.
pub const DECIMAL_DIGITS: usize = 8;

const UNITS_PER_ONE: u64 = 100_000_000;

/// A price or a quantity, counted in units of 10^-8.
///
/// The range is that of an `i64` of such units: about ±92 thousand million.
///
/// ```
/// use corelane_examples::feed::Decimal;
///
/// let price = Decimal::parse("61685.99000000")?;
/// assert_eq!(price.units(), 6_168_599_000_000);
/// assert_eq!(price.to_string(), "61685.99");
/// # Ok::<(), corelane_examples::feed::DecimalError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(i64);

impl Decimal {
    /// Nothing; as a quantity it removes a level.
    pub const ZERO: Self = Self(0);

    /// A decimal of that many units of 10^-8.
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// The decimal in units of 10^-8.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Whether this is exactly nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Parses digits with an optional leading minus and an optional point; the result is exact.
    ///
    /// Neither a plus sign, nor an exponent, nor white space is allowed. There must be a digit on
    /// each side of a point. The cost is one pass over the text.
    ///
    /// # Errors
    ///
    /// [`DecimalError`] says what kept the text from being a decimal of at most eight digits behind
    /// the point.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        match text.as_bytes() {
            [b'-', digits @ ..] => units_of(digits).map(|units| Self(-units)),
            digits => units_of(digits).map(Self),
        }
    }

    /// Parses what [`parse`](Self::parse) does, but refuses a sign, as quantities need it.
    ///
    /// # Errors
    ///
    /// [`DecimalError::Sign`] for a minus, otherwise as `parse`.
    pub fn parse_unsigned(text: &str) -> Result<Self, DecimalError> {
        if text.starts_with('-') {
            return Err(DecimalError::Sign);
        }
        units_of(text.as_bytes()).map(Self)
    }
}

impl fmt::Display for Decimal {
    /// Writes plain digits without zeros at the end, and without a point when nothing stands behind
    /// it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = self.0.unsigned_abs();
        write_parts(f, self.0 < 0, units / UNITS_PER_ONE, units % UNITS_PER_ONE)
    }
}

impl Serialize for Decimal {
    /// Gives a JSON number with exactly the digits that [`Display`](fmt::Display) writes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        exact_number(self.to_string(), serializer)
    }
}

/// A sum of quantities: as exact as [`Decimal`], and wide enough for 2^64 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Volume(u128);

impl Volume {
    /// Adds the size of one quantity.
    pub fn add(&mut self, quantity: Decimal) {
        self.0 += u128::from(quantity.units().unsigned_abs());
    }
}

impl fmt::Display for Volume {
    /// Writes the same form as [`Decimal`] does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = u128::from(UNITS_PER_ONE);
        write_parts(f, false, self.0 / one, (self.0 % one) as u64)
    }
}

impl Serialize for Volume {
    /// Gives a JSON number with exactly the digits that [`Display`](fmt::Display) writes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        exact_number(self.to_string(), serializer)
    }
}

/// Why a text is not a [`Decimal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// The text has no digits where some must stand.
    #[error("a number lacks a digit")]
    Empty,
    /// The text holds something that is neither a digit nor a single point.
    #[error("a number holds more than digits and one point")]
    Garbage,
    /// More than eight digits stand behind the point.
    #[error("a number has more than 8 digits behind the point")]
    TooManyDigits,
    /// The number is beyond the range of 64 bits.
    #[error("a number is too large")]
    Overflow,
    /// A quantity is negative.
    #[error("a quantity has no sign")]
    Sign,
}

fn units_of(text: &[u8]) -> Result<i64, DecimalError> {
    let (whole, behind) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    };
    if whole.is_empty() || behind.is_some_and(<[u8]>::is_empty) {
        return Err(DecimalError::Empty);
    }
    let behind = behind.unwrap_or_default();
    let whole = digits_of(whole)?;
    let fraction = digits_of(behind)?;
    let Some(missing) = DECIMAL_DIGITS.checked_sub(behind.len()) else {
        return Err(DecimalError::TooManyDigits);
    };
    // At most eight digits stand behind the point, so the padded fraction is below one.
    let fraction = fraction * 10_i64.pow(missing as u32);
    let units = whole
        .checked_mul(UNITS_PER_ONE as i64)
        .and_then(|units| units.checked_add(fraction));
    units.ok_or(DecimalError::Overflow)
}

/// The value of a run of digits. Garbage is reported before a number that is too large.
fn digits_of(digits: &[u8]) -> Result<i64, DecimalError> {
    let mut value = Some(0_i64);
    for byte in digits {
        if !byte.is_ascii_digit() {
            return Err(DecimalError::Garbage);
        }
        let digit = i64::from(byte - b'0');
        value = value.and_then(|v| v.checked_mul(10)?.checked_add(digit));
    }
    value.ok_or(DecimalError::Overflow)
}

fn write_parts(
    f: &mut fmt::Formatter<'_>,
    is_negative: bool,
    whole: impl fmt::Display,
    mut fraction: u64,
) -> fmt::Result {
    let sign = if is_negative { "-" } else { "" };
    if fraction == 0 {
        return write!(f, "{sign}{whole}");
    }
    let mut width = DECIMAL_DIGITS;
    while fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    write!(f, "{sign}{whole}.{fraction:0width$}")
}

/// Serializes digits as a JSON number without a float between.
fn exact_number<S: Serializer>(digits: String, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::value::RawValue::from_string(digits)
        .map_err(serde::ser::Error::custom)?
        .serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_survive_without_zeros_at_the_end() {
        for (text, plain) in [
            ("0", "0"),
            ("0.00000000", "0"),
            ("-0.0", "0"),
            ("61686.00000000", "61686"),
            ("61685.99000000", "61685.99"),
            ("0.00000001", "0.00000001"),
            ("100", "100"),
            ("-37.63", "-37.63"),
            ("-0.5", "-0.5"),
            ("007.10", "7.1"),
            ("92233720368.54775807", "92233720368.54775807"),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), plain, "{text}");
        }
    }

    #[test]
    fn a_bad_text_says_what_is_wrong() {
        use DecimalError::{Empty, Garbage, Overflow, TooManyDigits};
        for (text, error) in [
            ("", Empty),
            ("-", Empty),
            (".", Empty),
            (".5", Empty),
            ("5.", Empty),
            ("+5", Garbage),
            ("--5", Garbage),
            ("1e5", Garbage),
            ("1.2.3", Garbage),
            (" 1", Garbage),
            ("1,5", Garbage),
            ("١", Garbage),
            ("NaN", Garbage),
            ("1.123456789", TooManyDigits),
            ("1.000000000", TooManyDigits),
            ("92233720368.54775808", Overflow),
            ("-92233720369", Overflow),
            ("99999999999999999999999999", Overflow),
            ("99999999999999999999999999x", Garbage),
        ] {
            assert_eq!(Decimal::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_quantity_has_no_sign() {
        assert_eq!(Decimal::parse_unsigned("-1"), Err(DecimalError::Sign));
        assert_eq!(
            Decimal::parse_unsigned("1.5"),
            Ok(Decimal::from_units(150_000_000))
        );
    }

    #[test]
    fn json_numbers_hold_every_digit() {
        let decimal = Decimal::parse("92233720368.54775807").unwrap();
        assert_eq!(
            serde_json::to_string(&decimal).unwrap(),
            "92233720368.54775807"
        );
    }

    #[test]
    fn a_volume_outgrows_a_decimal() {
        let mut volume = Volume::default();
        for _ in 0..3 {
            volume.add(Decimal::from_units(i64::MAX));
        }
        assert_eq!(volume.to_string(), "276701161105.64327421");
    }
}
