//! Results of a row and of a suite: text, markdown and JSON.

use std::fmt::Write as _;

use crate::stats::paired_ratio;
use crate::{BenchError, Better, Kind, Row, RowSpec, Sample, Summary, median};

/// How our side is named.
pub(crate) const OURS: &str = "corelane";

/// Bare loops and controls are limits to compare with, and other forms of ours no rivals.
pub(crate) fn is_peer(who: &str) -> bool {
    !["bare-", "control-", OURS]
        .iter()
        .any(|of| who.starts_with(of))
}

/// Why a side has no figure.
#[derive(Debug, Clone)]
pub(crate) enum Missing {
    /// A round went wrong.
    Failed(String),
    /// What it needs is not installed.
    Absent(String),
}

impl From<BenchError> for Missing {
    fn from(error: BenchError) -> Self {
        let reason = error.to_string();
        match error {
            BenchError::Absent(_) => Self::Absent(reason),
            _ => Self::Failed(reason),
        }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(reason) => write!(formatter, "failed: {reason}"),
            Self::Absent(reason) => write!(formatter, "absent: {reason}"),
        }
    }
}

/// All rounds of one side.
pub(crate) struct SideResult {
    pub(crate) who: String,
    pub(crate) outcome: Result<Vec<Sample>, Missing>,
    pub(crate) alloc_b_per_op: Option<f64>,
}

/// All sides of one row.
pub(crate) struct RowResult {
    pub(crate) spec: &'static RowSpec,
    pub(crate) shards: usize,
    pub(crate) quick: bool,
    pub(crate) sides: Vec<SideResult>,
}

impl SideResult {
    pub(crate) fn samples(&self) -> &[Sample] {
        self.outcome.as_deref().unwrap_or_default()
    }

    fn values(&self) -> Vec<f64> {
        self.samples().iter().map(|sample| sample.value).collect()
    }

    fn summary(&self) -> Option<Summary> {
        Summary::of(&self.values())
    }

    fn median_of(&self, field: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.samples().iter().filter_map(field).collect();
        median(&values)
    }
}

impl RowResult {
    pub(crate) fn ours(&self) -> Option<&SideResult> {
        self.sides
            .iter()
            .find(|side| side.who == OURS && side.outcome.is_ok())
    }

    /// Our figure over theirs, oriented so that below 1 is better for us.
    fn ratio(
        &self,
        side: &SideResult,
        figure: impl Fn(&Sample) -> Option<f64>,
        better: Better,
    ) -> Option<f64> {
        let take = |side: &SideResult| {
            side.samples()
                .iter()
                .filter_map(&figure)
                .collect::<Vec<_>>()
        };
        let (ours, theirs) = (take(self.ours()?), take(side));
        match better {
            Better::Lower => paired_ratio(&ours, &theirs),
            Better::Higher => paired_ratio(&theirs, &ours),
        }
    }

    fn best_peer(&self) -> Option<(&SideResult, Summary)> {
        let peers = self.sides.iter().filter(|side| is_peer(&side.who));
        let known = peers.filter_map(|side| Some((side, side.summary()?)));
        known.min_by(|(_, a), (_, b)| match self.spec.better {
            Better::Lower => a.median.total_cmp(&b.median),
            Better::Higher => b.median.total_cmp(&a.median),
        })
    }

    /// Whether we win, lose, or cannot tell, and against whom.
    pub(crate) fn verdict(&self) -> String {
        let Some((best, summary)) = self.best_peer() else {
            return "no peer has this row".to_owned();
        };
        let Some(ratio) = self.ratio(best, |sample| Some(sample.value), self.spec.better) else {
            return format!("the best peer is {}; ours is not in this run", best.who);
        };
        let spread = summary.spread;
        let outcome = if (ratio - 1.0).abs() <= spread {
            "even: within its spread"
        } else if ratio < 1.0 {
            "won: beyond its spread"
        } else {
            "LOST: beyond its spread"
        };
        let cpu = self.ratio(best, |sample| sample.cpu_ns_per_op, Better::Lower);
        let cpu = cpu.map_or(String::new(), |cpu| format!(", processor time {cpu:.2}×"));
        format!(
            "{ratio:.2}× the best peer, {}{cpu}; {outcome} of {:.1} %",
            best.who,
            spread * 100.0
        )
    }

    fn lines(&self) -> Vec<[String; 9]> {
        (self.sides.iter())
            .map(|side| {
                let Some(summary) = side.summary() else {
                    let mut line: [String; 9] = Default::default();
                    line[0].clone_from(&side.who);
                    line[1] = side
                        .outcome
                        .as_ref()
                        .err()
                        .map(Missing::to_string)
                        .unwrap_or_default();
                    return line;
                };
                let ratio = self.ratio(side, |sample| Some(sample.value), self.spec.better);
                let cpu = self.ratio(side, |sample| sample.cpu_ns_per_op, Better::Lower);
                let (p50, p99) = percentiles(side, summary);
                [
                    side.who.clone(),
                    number(Some(summary.median)),
                    number(p50),
                    number(p99),
                    number(side.median_of(|sample| sample.cpu_ns_per_op)),
                    number(side.alloc_b_per_op),
                    format!("{:.1} %", summary.spread * 100.0),
                    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                    cpu.map_or("-".to_owned(), |cpu| format!("{cpu:.2}")),
                ]
            })
            .collect()
    }

    fn header(&self) -> [String; 9] {
        let unit = self.spec.unit;
        [
            "who",
            unit,
            "p50",
            "p99",
            "cpu ns/op",
            "alloc B/op",
            "spread",
            "ours/it",
            "cpu ours/it",
        ]
        .map(str::to_owned)
    }

    fn title(&self) -> String {
        let quick = if self.quick { ", quick: no claim" } else { "" };
        let (suite, row, shards) = (self.spec.suite, self.spec.row, self.shards);
        format!("{suite}/{row}: {}, {shards} shards{quick}", self.spec.what)
    }

    /// The row as an aligned table for a terminal.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![self.header()];
        lines.extend(self.lines());
        let width = |column: usize| {
            // A side without a figure has its reason there, however long.
            let aligned = lines
                .iter()
                .filter(|line| column == 0 || !line[2].is_empty());
            aligned
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..9).map(width).collect();
        let mut text = format!("{}\n", self.title());
        for line in &lines {
            for (column, cell) in line.iter().enumerate() {
                let width = widths[column];
                let cell = match column {
                    0 => format!("  {cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                };
                text.push_str(&cell);
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}", self.verdict());
        text
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "### {}/{}\n\n{}\n\n",
            self.spec.suite,
            self.spec.row,
            self.title()
        );
        let header = self.header();
        let rule = header.clone().map(|_| "---".to_owned());
        for line in [header, rule].iter().chain(&self.lines()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", line.join(" | "));
        }
        let _ = writeln!(text, "\n{}\n", self.verdict());
        text
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        (self.sides.iter())
            .filter_map(|side| {
                let summary = side.summary()?;
                let (p50, p99) = percentiles(side, summary);
                Some(Row {
                    suite: self.spec.suite.to_owned(),
                    row: self.spec.row.to_owned(),
                    who: side.who.clone(),
                    shards: self.shards,
                    value: summary.median,
                    unit: self.spec.unit.to_owned(),
                    better: self.spec.better,
                    p50,
                    p99,
                    cpu_ns_per_op: side.median_of(|sample| sample.cpu_ns_per_op),
                    alloc_b_per_op: side.alloc_b_per_op,
                    peak_rss_kib: side
                        .samples()
                        .iter()
                        .map(|sample| sample.peak_rss_kib)
                        .max(),
                    checked: side.outcome.is_ok(),
                    note: self.note(side, summary),
                })
            })
            .collect()
    }

    fn note(&self, side: &SideResult, summary: Summary) -> String {
        let samples = side.samples();
        let mut note = format!(
            "{} rounds, spread {:.1} %",
            samples.len(),
            summary.spread * 100.0
        );
        if self.quick {
            if let Some(remark) = samples.iter().find_map(|sample| sample.remark.as_ref()) {
                let _ = write!(note, ", {remark}");
            }
            note.push_str(", quick");
        }
        if let Some(threads) = samples.iter().map(|sample| sample.threads).max() {
            let _ = write!(note, ", {threads} threads");
        }
        let switches = side.median_of(|sample| Some(sample.switches_per_op));
        let _ = write!(note, ", {} switches/op", number(switches));
        let names = samples
            .first()
            .into_iter()
            .flat_map(|sample| sample.extras.keys());
        for name in names {
            let value = side.median_of(|sample| sample.extras.get(name).copied());
            let _ = write!(note, ", {} {name}", number(value));
        }
        note.push_str(
            match (
                self.spec.kind,
                samples.iter().any(|sample| sample.p50.is_some()),
            ) {
                (Kind::Round, true) => "; p50 and p99 of single operations",
                (Kind::Round, false) => "; p50 and p99 of the rounds",
                _ => "; p50 and p99 are the client's latency in ns",
            },
        );
        note
    }
}

/// Of single operations where the row times them, else of the rounds.
fn percentiles(side: &SideResult, summary: Summary) -> (Option<f64>, Option<f64>) {
    let p50 = side.median_of(|sample| sample.p50);
    let p99 = side.median_of(|sample| sample.p99);
    (p50.or(Some(summary.median)), p99.or(Some(summary.p99)))
}

/// Three digits or so: enough to compare, not so many that noise looks like news.
pub(crate) fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value.abs() >= 100.0 => format!("{value:.0}"),
        Some(value) if value.abs() >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Meter, find_row};

    pub(crate) fn side(who: &str, values: &[f64]) -> SideResult {
        let sample = |value: &f64| Meter::start().stop(1).sample(*value);
        SideResult {
            who: who.to_owned(),
            outcome: Ok(values.iter().map(sample).collect()),
            alloc_b_per_op: None,
        }
    }

    pub(crate) fn result(row: &str, sides: Vec<SideResult>) -> RowResult {
        let spec = find_row("lanes", row).unwrap();
        RowResult {
            spec,
            shards: 2,
            quick: false,
            sides,
        }
    }

    #[test]
    fn best_peer_is_no_control_and_a_win_needs_more_than_its_spread() {
        let row = result(
            "round_trip",
            vec![
                side(OURS, &[5.0, 5.0, 5.0]),
                side("control-atomics", &[1.0, 1.0, 1.0]),
                side("rtrb-0.0", &[10.0, 10.0, 10.0]),
                side("slow-0.0", &[99.0, 99.0, 99.0]),
            ],
        );
        let verdict = row.verdict();
        assert!(
            verdict.starts_with("0.50× the best peer, rtrb-0.0"),
            "{verdict}"
        );
        assert!(verdict.contains("won"), "{verdict}");
    }

    #[test]
    fn a_loss_and_a_draw_are_named() {
        let lost = result(
            "round_trip",
            vec![side(OURS, &[20.0; 3]), side("rtrb-0.0", &[10.0; 3])],
        );
        assert!(lost.verdict().contains("LOST"));
        let even = result(
            "round_trip",
            vec![side(OURS, &[11.0; 3]), side("rtrb-0.0", &[8.0, 10.0, 14.0])],
        );
        assert!(even.verdict().contains("even"));
    }

    #[test]
    fn rows_have_the_documented_fields_and_null_for_what_they_cannot_have() {
        let row = result("round_trip", vec![side("rtrb-0.0", &[10.0])]);
        let json = serde_json::to_value(row.rows()).unwrap();
        let fields: Vec<_> = json[0].as_object().unwrap().keys().cloned().collect();
        let mut expected = vec![
            "suite",
            "row",
            "who",
            "shards",
            "value",
            "unit",
            "better",
            "p50",
            "p99",
            "cpu_ns_per_op",
            "alloc_b_per_op",
            "peak_rss_kib",
            "checked",
            "note",
        ];
        expected.sort_unstable();
        assert_eq!(fields, expected);
        assert!(json[0]["alloc_b_per_op"].is_null());
        assert_eq!(json[0]["better"], "lower");
    }

    #[test]
    fn a_failed_side_is_printed_with_its_reason() {
        let mut failed = side("glommio-0.0", &[]);
        failed.outcome = Err(BenchError::runtime("glommio")("no memlock").into());
        let mut absent = side("lmax", &[]);
        absent.outcome = Err(BenchError::Absent("a JDK".to_owned()).into());
        let row = result("round_trip", vec![failed, absent]);
        assert!(row.text().contains("failed: glommio: no memlock"));
        assert!(row.text().contains("absent: a JDK is not installed"));
        assert!(row.rows().is_empty());
    }
}
