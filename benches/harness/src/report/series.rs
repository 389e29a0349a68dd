//! Which rows make a curve: those that differ in one number of their name, or in their shards.

use std::collections::BTreeMap;

use crate::Row;

/// Points that a curve needs at least; two make no shape.
const POINTS_MIN: usize = 3;

/// A plot of rates: a curve for each side over the number in which the rows differ.
#[derive(Debug, PartialEq)]
pub(super) struct Curves {
    /// The rows' common name, with N for the number.
    pub(super) name: String,
    /// For each side its points, by the number.
    pub(super) sides: BTreeMap<String, BTreeMap<u64, f64>>,
}

/// The curves of a suite, in the order in which their first rows come.
pub(super) fn curves(rows: &[Row]) -> Vec<Curves> {
    let mut all: Vec<Curves> = Vec::new();
    for row in rows.iter().filter(|row| row.unit.starts_with("ns")) {
        let by_shards = (format!("{}, N shards", row.row), row.shards as u64);
        for (name, number) in numbered(&row.row).into_iter().chain([by_shards]) {
            let place = all.iter().position(|curves| curves.name == name);
            let place = place.unwrap_or_else(|| {
                let sides = BTreeMap::new();
                all.push(Curves { name, sides });
                all.len() - 1
            });
            let side = all[place].sides.entry(row.who.clone()).or_default();
            side.insert(number, 1e9 / row.value);
        }
    }
    all.retain(|curves| {
        let numbers = curves.sides.values().flat_map(BTreeMap::keys);
        let numbers: std::collections::BTreeSet<_> = numbers.collect();
        let wanted = if curves.name.ends_with(", N shards") {
            2
        } else {
            POINTS_MIN
        };
        numbers.len() >= wanted
    });
    all
}

/// Each number among the words of a row's name, and the name with N in its place.
fn numbered(row: &str) -> Vec<(String, u64)> {
    let words: Vec<&str> = row.split('_').collect();
    let at = |place: usize| {
        let number = words[place].parse().ok()?;
        let mut name = words.clone();
        name[place] = "N";
        Some((name.join("_"), number))
    };
    (0..words.len()).filter_map(at).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Better;

    pub(in crate::report) fn row(name: &str, who: &str, shards: usize, value: f64) -> Row {
        Row {
            suite: "rings".to_owned(),
            row: name.to_owned(),
            who: who.to_owned(),
            shards,
            value,
            unit: "ns".to_owned(),
            better: Better::Lower,
            p50: Some(value),
            p99: Some(2.0 * value),
            cpu_ns_per_op: Some(1.5 * value),
            alloc_b_per_op: None,
            peak_rss_kib: Some(1),
            checked: true,
            note: String::new(),
        }
    }

    #[test]
    fn rows_that_differ_in_one_number_make_a_curve() {
        let rows = [
            row("flood_1_shards_4", "a", 2, 10.0),
            row("flood_2_shards_4", "a", 2, 20.0),
            row("flood_2_shards_4", "b", 2, 50.0),
            row("flood_8_shards_4", "a", 2, 40.0),
            row("flood_8_shards_1", "a", 2, 40.0),
        ];
        let curves = curves(&rows);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].name, "flood_N_shards_4");
        assert_eq!(
            curves[0].sides["a"],
            BTreeMap::from([(1, 1e8), (2, 5e7), (8, 2.5e7)])
        );
        assert_eq!(curves[0].sides["b"], BTreeMap::from([(2, 2e7)]));
    }

    #[test]
    fn a_row_of_several_shard_counts_makes_a_curve() {
        let rows = [row("echo", "a", 1, 10.0), row("echo", "a", 2, 5.0)];
        assert_eq!(curves(&rows)[0].name, "echo, N shards");
        assert_eq!(curves(&rows[..1]), []);
    }
}
