//! How figures read: three digits and the unit that suits them.

/// A figure with its unit: times in ns, µs, ms or s, anything else as it is.
pub(super) fn figure(value: f64, unit: &str) -> String {
    match unit.strip_prefix("ns") {
        Some(rest) => format!("{}{rest}", time(value)),
        None => format!("{} {unit}", digits(value)),
    }
}

/// A time in the unit that leaves few digits.
pub(super) fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let unit = units.iter().find(|(size, _)| ns.abs() >= *size);
    let (size, unit) = *unit.unwrap_or(&(1.0, "ns"));
    format!("{} {unit}", digits(ns / size))
}

/// A rate in operations a second.
pub(super) fn rate(per_second: f64) -> String {
    let units = [(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s")];
    let unit = units.iter().find(|(size, _)| per_second >= *size);
    let (size, unit) = *unit.unwrap_or(&(1.0, "/s"));
    format!("{} {unit}", digits(per_second / size))
}

/// Three digits, as in the printed tables.
pub(super) fn digits(value: f64) -> String {
    let text = crate::table::number(Some(value));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_get_the_unit_that_suits() {
        assert_eq!(figure(4_399_103.0, "ns"), "4.4 ms");
        assert_eq!(figure(5_220.0, "ns cpu"), "5.22 µs cpu");
        assert_eq!(figure(0.88, "ns"), "0.88 ns");
        assert_eq!(figure(2.5, "% delivered"), "2.5 % delivered");
        assert_eq!(rate(7_000_000.0), "7 M/s");
        assert_eq!(time(2e9), "2 s");
    }
}
