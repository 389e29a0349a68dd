//! The plots: bars of wall beside processor time, spans of percentiles, curves of rates.

use std::collections::BTreeSet;

use super::figure::{figure, rate, time};
use super::series::Curves;
use super::svg::{Anchor, Svg};
use crate::Row;
use crate::table::OURS;

const NAMES: f64 = 190.0;
const PANEL: f64 = 300.0;
const LABEL: f64 = 70.0;
const LINE: f64 = 26.0;
const TOP: f64 = 24.0;

/// The sides of one row: wall (or the row's own figure) beside processor time, and percentiles.
pub(super) fn bars(rows: &[&Row]) -> String {
    let width = NAMES + 2.0 * (PANEL + LABEL);
    let height = TOP + LINE * rows.len() as f64 + 4.0;
    let title = rows.first().map_or("", |row| row.row.as_str());
    let mut svg = Svg::new(width, height, &format!("{title}: time and percentiles"));
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let in_time = unit.starts_with("ns");
    let values = rows.iter().map(|row| row.value);
    let cpus = rows.iter().filter_map(|row| row.cpu_ns_per_op);
    let value_max = values.clone().chain(cpus.filter(|_| in_time));
    let value_max = value_max.fold(f64::MIN_POSITIVE, f64::max);
    let legend = if in_time {
        "solid: wall; pale: processor time"
    } else {
        unit
    };
    svg.text((NAMES, 14.0), Anchor::Start, legend);
    let spans = NAMES + PANEL + LABEL;
    svg.text((spans, 14.0), Anchor::Start, "p50 to p99, logarithmic");
    let percentiles = Percentiles::of(rows);
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + LINE * index as f64;
        let colour = colour(&row.who, index, rows.len());
        svg.text((NAMES - 8.0, y + 15.0), Anchor::End, &row.who);
        let length = PANEL * row.value / value_max;
        let (solid, pale) = (
            format!("fill=\"{colour}\""),
            format!("fill=\"{colour}\" opacity=\"0.4\""),
        );
        svg.rectangle((NAMES, y + 2.0), (length, 11.0), &solid);
        let mut longest = length;
        if let Some(cpu) = row.cpu_ns_per_op.filter(|_| in_time) {
            let length = PANEL * cpu / value_max;
            svg.rectangle((NAMES, y + 13.0), (length, 8.0), &pale);
            longest = longest.max(length);
        }
        let label = figure(row.value, unit);
        svg.text((NAMES + longest + 5.0, y + 16.0), Anchor::Start, &label);
        percentiles.draw(&mut svg, row, (spans, y + 11.0), &solid);
    }
    svg.finish()
}

/// The scale of the percentiles of one row's sides.
struct Percentiles {
    low: f64,
    high: f64,
}

impl Percentiles {
    fn of(rows: &[&Row]) -> Self {
        let all = || {
            (rows.iter())
                .flat_map(|row| [row.p50, row.p99])
                .flatten()
                .filter(|p| *p > 0.0)
        };
        Self {
            low: all().fold(f64::INFINITY, f64::min).ln(),
            high: all().fold(f64::MIN_POSITIVE, f64::max).ln(),
        }
    }

    fn draw(&self, svg: &mut Svg, row: &Row, at: (f64, f64), style: &str) {
        let place = |value: f64| {
            let share = (value.ln() - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
            at.0 + PANEL * share.clamp(0.0, 1.0)
        };
        let both = row
            .p50
            .zip(row.p99)
            .filter(|(p50, p99)| *p50 > 0.0 && *p99 > 0.0);
        let Some((p50, p99)) = both else { return };
        let (from, to) = (place(p50), place(p99));
        svg.rectangle((from, at.1 - 2.0), ((to - from).max(1.0), 4.0), style);
        svg.circle((from, at.1), 4.0, style);
        svg.circle((to, at.1), 2.5, style);
        let label = match row.unit.starts_with("ns") {
            true => time(p99),
            false => super::figure::digits(p99),
        };
        svg.text((to + 7.0, at.1 + 4.0), Anchor::Start, &label);
    }
}

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 34.0;

/// Rates over a number: the higher the better; the number's axis is logarithmic.
pub(super) fn lines(curves: &Curves) -> String {
    let sides = curves.sides.len();
    let height = (HEIGHT + TOP + BOTTOM).max(TOP + 16.0 * sides as f64 + 8.0);
    let title = format!("{}: operations a second over N", curves.name);
    let mut svg = Svg::new(LEFT + WIDTH + NAMES + 30.0, height, &title);
    svg.text((LEFT, 14.0), Anchor::Start, &title);
    let points = || curves.sides.values().flatten();
    let numbers: BTreeSet<u64> = points().map(|(number, _)| *number).collect();
    let rate_max = points()
        .map(|(_, rate)| *rate)
        .fold(f64::MIN_POSITIVE, f64::max);
    let log = |number: u64| (number.max(1) as f64).ln();
    let ends = (
        numbers.first().copied().unwrap_or(1),
        numbers.last().copied().unwrap_or(1),
    );
    let span = (log(ends.1) - log(ends.0)).max(f64::MIN_POSITIVE);
    let x = |number: u64| LEFT + WIDTH * (log(number) - log(ends.0)) / span;
    let y = |rate: f64| TOP + HEIGHT * (1.0 - rate / rate_max);
    for part in 0..=4 {
        let value = rate_max * f64::from(part) / 4.0;
        svg.line((LEFT, y(value)), (LEFT + WIDTH, y(value)), "class=\"grid\"");
        svg.text((LEFT - 6.0, y(value) + 4.0), Anchor::End, &rate(value));
    }
    for number in &numbers {
        let bottom = TOP + HEIGHT;
        svg.line(
            (x(*number), bottom),
            (x(*number), bottom + 5.0),
            "class=\"grid\"",
        );
        svg.text(
            (x(*number), bottom + 18.0),
            Anchor::Middle,
            &number.to_string(),
        );
    }
    for (index, (who, points)) in curves.sides.iter().enumerate() {
        let colour = colour(who, index, sides);
        let ours = who.starts_with(OURS);
        let stroke = if ours { 3.5 } else { 1.5 };
        let dash = if index % 2 == 1 && !ours {
            " stroke-dasharray=\"5 3\""
        } else {
            ""
        };
        let style = format!("stroke=\"{colour}\" stroke-width=\"{stroke}\"{dash}");
        let places: Vec<_> = points
            .iter()
            .map(|(number, rate)| (x(*number), y(*rate)))
            .collect();
        svg.path(&places, &style);
        for place in places {
            svg.circle(place, stroke + 0.5, &format!("fill=\"{colour}\""));
        }
        let legend = (LEFT + WIDTH + 14.0, TOP + 6.0 + 16.0 * index as f64);
        svg.line(legend, (legend.0 + 22.0, legend.1), &style);
        svg.text((legend.0 + 28.0, legend.1 + 4.0), Anchor::Start, who);
    }
    svg.finish()
}

/// Ours stands out; the others go round the circle of hues.
fn colour(who: &str, index: usize, count: usize) -> String {
    if who == OURS {
        return "#d81b60".to_owned();
    }
    let hue = 360 * index / count.max(1);
    let light = if who.starts_with(OURS) { 35 } else { 48 };
    format!("hsl({hue} 55% {light}%)")
}

#[cfg(test)]
mod tests {
    use super::super::series::{curves, tests::row};
    use super::*;

    fn attribute(svg: &str, name: &str) -> Vec<f64> {
        let begin = format!(" {name}=\"");
        let parts = svg.split(&begin).skip(1);
        let value = |part: &str| part.split('"').next()?.parse().ok();
        parts.filter_map(value).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let (fast, slow) = (
            row("flood_1", OURS, 2, 10.0),
            row("flood_1", "kanal-1", 2, 40.0),
        );
        let svg = bars(&[&fast, &slow]);
        let rectangles: Vec<&str> = svg
            .lines()
            .filter(|line| line.starts_with("<rect"))
            .collect();
        let widths: Vec<f64> = attribute(&rectangles.join(" "), "width");
        // Wall, processor time and percentiles of each; the longest is 60 ns.
        assert_eq!((widths[0], widths[1]), (50.0, 75.0));
        assert_eq!((widths[3], widths[4]), (200.0, 300.0));
        assert!(svg.contains(">40 ns</text>") && svg.contains(">80 ns</text>"));
    }

    #[test]
    fn a_row_without_percentiles_has_none_drawn() {
        let mut only = row("overload", "a", 2, 2.0);
        (only.p50, only.p99) = (None, None);
        only.unit = "% delivered".to_owned();
        let svg = bars(&[&only]);
        assert_eq!(svg.matches("<rect").count(), 1);
        assert!(!svg.contains("NaN") && !svg.contains("<circle"));
    }

    #[test]
    fn curves_rise_with_the_rate() {
        let rows = [1, 8, 64].map(|number| row(&format!("flood_{number}"), OURS, 2, number as f64));
        let svg = lines(&curves(&rows)[0]);
        let points = svg
            .split("points=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert_eq!(points, "64.0,24.0 374.0,269.0 684.0,299.6");
        assert!(!svg.contains("NaN"));
    }
}
