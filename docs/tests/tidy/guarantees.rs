//! Each guarantee names the test that proves it, and that test names the guarantee.

use std::collections::BTreeSet;

use crate::tree::{File, Tree, assert_clean, assert_fires};

const DOCUMENT: &str = "docs/guarantees.md";
const MARK: &str = "// proves: ";

/// One test of one guarantee: the same fact, read from the document or from a source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Proof {
    id: String,
    /// `path/of/file.rs::name_of_test`.
    test: String,
}

/// The rows `| ID | sentence | tests |` of the document, tests in backticks.
fn promised(tree: &Tree) -> (BTreeSet<Proof>, Vec<String>) {
    let mut proofs = BTreeSet::new();
    let mut offenders = Vec::new();
    for (number, line) in tree.find(DOCUMENT).into_iter().flat_map(File::lines) {
        let cells: Vec<&str> = line
            .split(" | ")
            .map(|cell| cell.trim_matches(['|', ' ']))
            .collect();
        if !line.starts_with("| ") || !is_id(cells[0]) {
            continue;
        }
        let tests = cells
            .last()
            .map_or("", |cell| *cell)
            .split('`')
            .skip(1)
            .step_by(2);
        let before = proofs.len();
        proofs.extend(tests.map(|test| Proof {
            id: cells[0].into(),
            test: test.into(),
        }));
        if cells.len() != 3 || proofs.len() == before {
            offenders.push(format!(
                "{DOCUMENT}:{number}: wants | ID | what holds | `file::test` |"
            ));
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

/// The marks in the sources, each directly above the attributes of its test.
fn proved(tree: &Tree) -> (BTreeSet<Proof>, Vec<String>) {
    let mut proofs = BTreeSet::new();
    let mut offenders = Vec::new();
    for file in tree.rust() {
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(ids) = line.strip_prefix(MARK) else {
                continue;
            };
            let Some(name) = test_below(&lines[index + 1..]) else {
                offenders.push(format!(
                    "{}:{}: no test below the mark",
                    file.path,
                    index + 1
                ));
                continue;
            };
            for id in ids.split(',').map(|id| id.trim().trim_end_matches('.')) {
                let test = format!("{}::{name}", file.path);
                proofs.insert(Proof {
                    id: id.into(),
                    test,
                });
            }
        }
    }
    (proofs, offenders)
}

/// The name of the test whose attributes begin at the first line that is no comment.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut is_test = false;
    for line in lines.iter().skip_while(|line| line.starts_with("//")) {
        if let Some((_, rest)) = line.split_once("fn ").filter(|_| !line.starts_with("#[")) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            return is_test.then(|| &rest[..end]);
        }
        is_test |= line.starts_with("#[") && line.contains("test");
        if line.is_empty() {
            return None;
        }
    }
    None
}

fn offenders(tree: &Tree) -> Vec<String> {
    let (promised, mut offenders) = promised(tree);
    let (proved, misplaced) = proved(tree);
    offenders.extend(misplaced);
    for Proof { id, test } in promised.difference(&proved) {
        offenders.push(format!("{DOCUMENT}: {id}: {test} carries no `{MARK}{id}`"));
    }
    let rows: BTreeSet<&str> = promised.iter().map(|proof| proof.id.as_str()).collect();
    for Proof { id, test } in proved
        .iter()
        .filter(|proof| !rows.contains(proof.id.as_str()))
    {
        offenders.push(format!("{DOCUMENT}: no row for {id}, which {test} proves"));
    }
    offenders
}

#[test]
fn guarantees_and_proofs_agree() {
    assert_clean("guarantees", &offenders(&Tree::checkout()));
}

#[test]
fn agreement_passes() {
    let row = "| L-1 | Holds. | `a/tests/b.rs::holds`, `a/tests/b.rs::too` |";
    let test = format!(
        "{MARK}L-1\n// In both ways.\n#[test]\nfn holds() {{}}\n\n\
         {MARK}L-1\n    #[corelane::test(sim)]\n    async fn too() {{}}\n\
         {MARK}L-1\n#[test]\nfn more() {{}}"
    );
    assert_fires(
        &offenders(&Tree::sample(&[(DOCUMENT, row), ("a/tests/b.rs", &test)])),
        &[],
    );
}

#[test]
fn rule_fires() {
    let rows = "| id | what holds | tests |\n|---|---|---|\n| L-1 | Holds. | `b.rs::gone` |\n\
                | L-2 | Holds. | none |";
    let tests = format!(
        "{MARK}RT-3, RT-4\n#[test]\nfn f() {{}}\n{MARK}RT-7\n\n#[test]\nfn g() {{}}\n\
         {MARK}RT-8\nfn h() {{}}"
    );
    let tree = Tree::sample(&[(DOCUMENT, rows), ("b.rs", &tests)]);
    let wanted = [
        "guarantees.md:4: wants",
        "b.rs:4: no test below",
        "b.rs:8: no test below",
        "L-1: b.rs::gone carries no",
        "no row for RT-3, which b.rs::f",
        "no row for RT-4, which b.rs::f",
    ];
    assert_fires(&offenders(&tree), &wanted);
}
