//! Each guarantee names the files whose tests prove it, and those tests name the guarantee.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{File, Tree, assert_clean, assert_fires};

const DOCUMENT: &str = "docs/guarantees.md";
const MARK: &str = "// proves: ";

/// What one sentence may take, in characters.
const SENTENCE_CHARS_MAX: usize = 200;

/// For each id the files with its tests: the same facts, read from the document or the sources.
type Proofs = BTreeMap<String, BTreeSet<String>>;

/// The rows `| ID | sentence | files |` of the document, files in backticks.
fn promised(tree: &Tree) -> (Proofs, Vec<String>) {
    let mut proofs = Proofs::new();
    let mut offenders = Vec::new();
    for (number, line) in tree.find(DOCUMENT).into_iter().flat_map(File::lines) {
        let cells: Vec<&str> = line
            .split(" | ")
            .map(|cell| cell.trim_matches(['|', ' ']))
            .collect();
        if !line.starts_with("| ") || !is_id(cells[0]) {
            continue;
        }
        let [id, sentence, files] = cells[..] else {
            offenders.push(format!(
                "{DOCUMENT}:{number}: wants | id | sentence | `file` |"
            ));
            continue;
        };
        if !is_one_sentence(sentence) {
            let max = SENTENCE_CHARS_MAX;
            offenders.push(format!(
                "{DOCUMENT}:{number}: wants one sentence, up to {max} chars"
            ));
        }
        let files = files.split('`').skip(1).step_by(2).map(str::to_owned);
        if proofs.insert(id.into(), files.collect()).is_some() {
            offenders.push(format!("{DOCUMENT}:{number}: a second row for {id}"));
        }
    }
    (proofs, offenders)
}

/// Whether a cell is an id such as `RT-3` or `L-1`.
fn is_id(cell: &str) -> bool {
    cell.split_once('-').is_some_and(|(family, number)| {
        let upper = !family.is_empty() && family.chars().all(|c| c.is_ascii_uppercase());
        upper && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    })
}

fn is_one_sentence(text: &str) -> bool {
    let ends = text.ends_with('.') && !text.contains(". ") && !text.contains("; ");
    ends && text.chars().count() <= SENTENCE_CHARS_MAX
}

/// The marks in the sources, each directly above the attributes of its test.
fn proved(tree: &Tree) -> (Proofs, Vec<String>) {
    let mut proofs = Proofs::new();
    let mut offenders = Vec::new();
    for file in tree.rust() {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(ids) = line.strip_prefix(MARK) else {
                continue;
            };
            if !is_above_test(&lines[index + 1..]) {
                let number = index + 1;
                offenders.push(format!("{}:{number}: no test below the mark", file.path));
                continue;
            }
            for id in ids.split(',').map(|id| id.trim().trim_end_matches('.')) {
                let files = proofs.entry(id.into()).or_default();
                files.insert(file.path.clone());
            }
        }
    }
    (proofs, offenders)
}

/// Whether a test's attributes begin at the first line that is no comment.
fn is_above_test(lines: &[&str]) -> bool {
    let mut is_test = false;
    for line in lines.iter().skip_while(|line| line.starts_with("//")) {
        if line.contains("fn ") && !line.starts_with("#[") {
            return is_test;
        }
        is_test |= line.starts_with("#[") && line.contains("test");
        if line.is_empty() {
            return false;
        }
    }
    false
}

fn offenders(tree: &Tree) -> Vec<String> {
    let (promised, mut offenders) = promised(tree);
    let (proved, misplaced) = proved(tree);
    offenders.extend(misplaced);
    let none = BTreeSet::new();
    let ids: BTreeSet<&String> = promised.keys().chain(proved.keys()).collect();
    for id in ids {
        let named = promised.get(id).unwrap_or(&none);
        let marked = proved.get(id).unwrap_or(&none);
        if !promised.contains_key(id) {
            offenders.push(format!("{DOCUMENT}: no row for {id}, proved in {marked:?}"));
        } else if named.is_empty() {
            offenders.push(format!("{DOCUMENT}: {id} names no file"));
        }
        for file in named.difference(marked) {
            offenders.push(format!(
                "{DOCUMENT}: {id}: no test in `{file}` has `{MARK}{id}`"
            ));
        }
        for file in marked.difference(named).filter(|_| !named.is_empty()) {
            offenders.push(format!("{DOCUMENT}: {id}: its row lacks `{file}`"));
        }
    }
    offenders
}

#[test]
fn guarantees_and_proofs_agree() {
    assert_clean("guarantees", &offenders(&Tree::checkout()));
}

#[test]
fn agreement_passes() {
    let row = "| L-1 | Holds. | `a/tests/b.rs`, `a/tests/c.rs` |";
    let test = format!(
        "{MARK}L-1\n// In both ways.\n#[test]\nfn holds() {{}}\n\n\
         {MARK}L-1\n    #[corelane::test(sim)]\n    async fn too() {{}}\n"
    );
    let files = [
        (DOCUMENT, row),
        ("a/tests/b.rs", &test),
        ("a/tests/c.rs", &test),
    ];
    assert_fires(&offenders(&Tree::sample(&files)), &[]);
}

#[test]
fn rule_fires() {
    let rows = "| id | what holds | tests |\n|---|---|---|\n| L-1 | Holds. | `gone.rs` |\n\
                | L-2 | Holds. | none |\n| L-3 | Holds; too. | `b.rs` |\n| L-4 | Holds. |\n\
                | L-1 | Holds. | `gone.rs` |\n| L-5 | Holds | `b.rs` |";
    let tests = format!(
        "{MARK}RT-3, L-3, L-5\n#[test]\nfn f() {{}}\n{MARK}RT-7\n\n#[test]\nfn g() {{}}\n\
         {MARK}RT-8\nfn h() {{}}"
    );
    let other = format!("{MARK}L-3\n#[test]\nfn i() {{}}");
    let tree = Tree::sample(&[(DOCUMENT, rows), ("b.rs", &tests), ("c.rs", &other)]);
    let wanted = [
        "guarantees.md:5: wants one sentence",
        "guarantees.md:6: wants | id |",
        "guarantees.md:7: a second row for L-1",
        "guarantees.md:8: wants one sentence",
        "b.rs:4: no test below",
        "b.rs:8: no test below",
        "L-1: no test in `gone.rs`",
        "L-2 names no file",
        "L-3: its row lacks `c.rs`",
        "no row for RT-3",
    ];
    assert_fires(&offenders(&tree), &wanted);
}
