//! The page: a summary, curves, and for each row its plot and table.

use std::fmt::Write as _;

use super::chart::{bars, lines};
use super::figure::{digits, figure, time};
use super::series::curves;
use super::svg::escaped;
use crate::table::{OURS, is_peer};
use crate::{Better, Row, allowed_cores, find_row};

const STYLE: &str = "body{font:14px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;\
padding:0 1em;color:#222}h1,h2,h3{line-height:1.2}h2{border-top:2px solid #ccc;padding-top:1em}\
table{border-collapse:collapse;margin:.6em 0;font-variant-numeric:tabular-nums}\
td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #e4e4e4;vertical-align:top}\
td:first-child,th:first-child,td.note,th.note{text-align:left}td.note{color:#666;font-size:12px;\
max-width:360px}tr.ours{background:#fde7ef}.lost{color:#b00020;font-weight:600}\
svg{display:block;max-width:100%;height:auto;margin:.5em 0}svg text{font:12px system-ui,sans-serif;\
fill:#333}.grid{stroke:#ddd}nav a{margin-right:1em}";

/// Where the page was made, which is where its figures come from.
pub(super) struct Machine {
    processor: String,
    kernel: String,
    cores: usize,
}

impl Machine {
    pub(super) fn read() -> Self {
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processors
            .lines()
            .find(|line| line.starts_with("model name"));
        let model = model.and_then(|line| line.split_once(':'));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            processor: model
                .map_or("unknown processor", |(_, name)| name.trim())
                .to_owned(),
            kernel: kernel.trim().to_owned(),
            cores: allowed_cores().len(),
        }
    }
}

/// The whole page.
pub(super) fn page(suites: &[(String, Vec<Row>)], machine: &Machine) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Corelane benchmarks</title>\n<style>{STYLE}</style></head><body>\n\
         <h1>Corelane benchmarks</h1>\n<p>{} · {} cores · Linux {}</p>\n\
         <p>Each figure is the median of interleaved rounds, with counts and checksums verified. \
         Ratios are of medians; below 1 we are faster or take less. A win or a loss counts only \
         beyond the peer's spread, which stands in the notes. Figures of different rows do not \
         compare.</p>\n<nav>",
        escaped(&machine.processor),
        machine.cores,
        escaped(&machine.kernel)
    );
    for (suite, _) in suites {
        put(&mut page, format_args!("<a href=\"#{suite}\">{suite}</a>"));
    }
    page.push_str("</nav>\n");
    for (suite, rows) in suites {
        put(&mut page, format_args!("<h2 id=\"{suite}\">{suite}</h2>\n"));
        let rows = by_row(rows);
        summary(&mut page, &rows);
        let all: Vec<Row> = rows.iter().flatten().map(|row| (*row).clone()).collect();
        for curves in curves(&all) {
            page.push_str(&lines(&curves));
        }
        for sides in &rows {
            section(&mut page, sides);
        }
    }
    page.push_str("</body></html>\n");
    page
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = page.write_fmt(text);
}

/// The sides of each row (and shard count), in the order of the file.
fn by_row(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut all: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let of_row =
            |sides: &&mut Vec<&Row>| (&sides[0].row, sides[0].shards) == (&row.row, row.shards);
        match all.iter_mut().find(of_row) {
            Some(sides) => sides.push(row),
            None => all.push(vec![row]),
        }
    }
    all
}

fn ours<'a>(sides: &[&'a Row]) -> Option<&'a Row> {
    sides.iter().find(|row| row.who == OURS).copied()
}

/// Our figure over theirs, so that below 1 is better for us.
fn ratio(ours: &Row, theirs: &Row) -> f64 {
    match ours.better {
        Better::Lower => ours.value / theirs.value,
        Better::Higher => theirs.value / ours.value,
    }
}

fn best_peer<'a>(sides: &[&'a Row]) -> Option<&'a Row> {
    let peers = sides.iter().filter(|row| is_peer(&row.who));
    let best = peers.min_by(|a, b| match a.better {
        Better::Lower => a.value.total_cmp(&b.value),
        Better::Higher => b.value.total_cmp(&a.value),
    });
    best.copied()
}

fn summary(page: &mut String, rows: &[Vec<&Row>]) {
    page.push_str(
        "<table><tr><th>row</th><th>ours</th><th>best peer</th><th></th><th>ratio</th></tr>\n",
    );
    for sides in rows {
        let (own, best) = (ours(sides), best_peer(sides));
        let figure =
            |row: Option<&Row>| row.map_or("–".to_owned(), |row| figure(row.value, &row.unit));
        let ratio = own.zip(best).map(|(own, best)| ratio(own, best));
        let class = if ratio.is_some_and(|ratio| ratio > 1.0) {
            " class=\"lost\""
        } else {
            ""
        };
        put(
            page,
            format_args!(
                "<tr><td><a href=\"#{id}\">{name}</a></td><td>{}</td><td>{}</td>\
                 <td>{}</td><td{class}>{}</td></tr>\n",
                escaped(&figure(own)),
                best.map_or(String::new(), |best| escaped(&best.who)),
                escaped(&figure(best)),
                ratio.map_or(String::new(), digits),
                id = id(sides[0]),
                name = escaped(&sides[0].row),
            ),
        );
    }
    page.push_str("</table>\n");
}

fn id(row: &Row) -> String {
    escaped(&format!("{}-{}-{}", row.suite, row.row, row.shards))
}

/// One row: what it measures, its plot, its table.
fn section(page: &mut String, sides: &[&Row]) {
    let first = sides[0];
    let what = find_row(&first.suite, &first.row).map_or("", |spec| spec.what);
    put(
        page,
        format_args!(
            "<h3 id=\"{}\">{}/{}</h3>\n<p>{}; {} shards.</p>\n{}",
            id(first),
            escaped(&first.suite),
            escaped(&first.row),
            escaped(what),
            first.shards,
            bars(sides)
        ),
    );
    page.push_str(
        "<table><tr><th>who</th><th>value</th><th>p50</th><th>p99</th><th>processor time</th>\
         <th>allocated</th><th>peak memory</th><th>ours / it</th>\
         <th class=\"note\">note</th></tr>\n",
    );
    for row in sides {
        let class = if row.who.starts_with(OURS) {
            " class=\"ours\""
        } else {
            ""
        };
        let some = |value: Option<f64>, unit: &str| {
            value.map_or("–".to_owned(), |value| escaped(&figure(value, unit)))
        };
        put(
            page,
            format_args!(
                "<tr{class}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{}</td><td>{}</td><td class=\"note\">{}</td></tr>\n",
                escaped(&row.who),
                some(Some(row.value), &row.unit),
                some(row.p50, percentile_unit(row)),
                some(row.p99, percentile_unit(row)),
                row.cpu_ns_per_op.map_or("–".to_owned(), time),
                some(row.alloc_b_per_op, "B"),
                some(row.peak_rss_kib.map(|kib| kib as f64 / 1_024.0), "MiB"),
                ours(sides).map_or(String::new(), |own| digits(ratio(own, row))),
                escaped(&row.note),
            ),
        );
    }
    page.push_str("</table>\n");
}

/// Latencies stand beside some rows' processor time.
fn percentile_unit(row: &Row) -> &str {
    match row.unit.as_str() {
        "ns cpu" => "ns",
        unit => unit,
    }
}

#[cfg(test)]
mod tests {
    use super::super::series::tests::row;
    use super::*;

    fn machine() -> Machine {
        Machine {
            processor: "A <fast> one".to_owned(),
            kernel: "6.18".to_owned(),
            cores: 2,
        }
    }

    /// Every opened element is closed, in order.
    fn assert_balanced(page: &str) {
        let mut open = Vec::new();
        for tag in page.split('<').skip(1) {
            let name: String = tag
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '/')
                .collect();
            let tag = tag.split('>').next().unwrap();
            if let Some(name) = name.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
            } else if !tag.ends_with('/') && !["", "meta"].contains(&name.as_str()) {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<String>::new());
    }

    #[test]
    fn a_page_is_whole_and_needs_nothing_from_elsewhere() {
        let mut rows = Vec::new();
        for number in [1, 8, 64] {
            let name = format!("flood_{number}");
            rows.push(row(&name, OURS, 2, 30.0));
            rows.push(row(&name, "kanal-0.1", 2, 60.0));
            rows.push(row(&name, "bare-loop", 2, 1.0));
        }
        let page = page(&[("rings".to_owned(), rows)], &machine());
        assert_balanced(&page);
        assert_eq!(page.matches("<svg").count(), 1 + 3);
        assert!(page.contains("A &lt;fast&gt; one"));
        for foreign in ["http", "src=", "<script", "@import", "NaN", "inf"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        // A limit is no rival.
        assert!(page.contains("<td>kanal-0.1</td><td>60 ns</td><td>0.5</td>"));
        assert!(!page.contains("class=\"lost\">"));
    }

    #[test]
    fn a_lost_row_is_marked_and_a_row_without_ours_too_is_shown() {
        let rows = [
            row("flood_1", OURS, 2, 30.0),
            row("flood_1", "a-1", 2, 10.0),
        ];
        let lost = page(&[("rings".to_owned(), rows.to_vec())], &machine());
        assert!(lost.contains("<td class=\"lost\">3</td>"));
        let alone = page(&[("rings".to_owned(), rows[1..].to_vec())], &machine());
        assert_balanced(&alone);
        assert!(alone.contains("<td>–</td><td>a-1</td><td>10 ns</td><td></td>"));
    }
}
