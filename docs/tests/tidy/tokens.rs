//! Rust sources as flat tokens, so that comments and strings cannot confuse a rule.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tree::File;

/// One identifier, punctuation mark, literal or bracket, and the line that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// All tokens of a file in order. Comments are gone; doc comments are attributes with a string.
pub(crate) fn flat(file: &File) -> Vec<Token> {
    let mut out = Vec::new();
    flatten(stream(file), &mut out);
    out
}

/// The file's token trees.
pub(crate) fn stream(file: &File) -> TokenStream {
    file.text
        .parse()
        .unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

fn flatten(stream: TokenStream, out: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                out.push(Token {
                    text: open.into(),
                    line,
                });
                let end = group.span_close().end().line;
                flatten(group.stream(), out);
                out.push(Token {
                    text: close.into(),
                    line: end,
                });
            }
            other => out.push(Token {
                text: other.to_string(),
                line,
            }),
        }
    }
}

/// Where `pattern` begins in `tokens`: `*` stands for any one token.
pub(crate) fn find<'a>(
    tokens: &'a [Token],
    pattern: &'a [&'a str],
) -> impl Iterator<Item = usize> + 'a {
    let starts = tokens.windows(pattern.len()).enumerate();
    starts.filter_map(move |(index, window)| {
        let pairs = window.iter().zip(pattern);
        let same = pairs
            .into_iter()
            .all(|(token, wanted)| *wanted == "*" || token.text == *wanted);
        same.then_some(index)
    })
}

/// A path as written, with the `{…}` of an import multiplied out: `std::sync::atomic::AtomicU64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) parts: Vec<String>,
    /// The name that an import gives the last part with `as`.
    pub(crate) alias: Option<String>,
    pub(crate) line: usize,
}

impl Path {
    pub(crate) fn starts_with(&self, prefix: &[&str]) -> bool {
        self.parts.len() >= prefix.len() && self.parts.iter().zip(prefix).all(|(a, b)| a == b)
    }

    pub(crate) fn ends_with(&self, suffix: &[&str]) -> bool {
        self.parts.len() >= suffix.len()
            && self
                .parts
                .iter()
                .rev()
                .zip(suffix.iter().rev())
                .all(|(a, b)| a == b)
    }

    /// The path with `alloc` and `core` read as the `std` that re-exports them.
    pub(crate) fn is_std(&self, rest: &[&str]) -> bool {
        let roots = ["std", "core", "alloc"];
        let root = self
            .parts
            .first()
            .is_some_and(|part| roots.contains(&part.as_str()));
        root && self.parts[1..].iter().zip(rest).all(|(a, b)| a == b)
            && self.parts.len() > rest.len()
    }
}

/// Every path of two or more parts in the file, and every import.
pub(crate) fn paths(tokens: &[Token]) -> Vec<Path> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let continues = at > 2
            && is_separator(tokens, at - 2)
            && (is_name(&tokens[at - 3].text) || tokens[at - 3].text == ">");
        if is_name(&tokens[at].text) && is_separator(tokens, at + 1) && !continues {
            at = walk(tokens, at, &[], &mut out);
        } else {
            at += 1;
        }
    }
    out
}

/// Reads one path or one arm of an import at `at` and returns where it ends.
fn walk(tokens: &[Token], mut at: usize, prefix: &[String], out: &mut Vec<Path>) -> usize {
    let mut parts = prefix.to_vec();
    let line = tokens[at].line;
    loop {
        match tokens.get(at).map(|token| token.text.as_str()) {
            Some("{") => {
                at += 1;
                while at < tokens.len() && tokens[at].text != "}" {
                    at = if tokens[at].text == "," {
                        at + 1
                    } else {
                        walk(tokens, at, &parts, out)
                    };
                }
                return at + 1;
            }
            Some(text) if is_name(text) || text == "*" => parts.push(text.into()),
            _ => return at.max(1) + usize::from(parts.len() == prefix.len()),
        }
        at += 1;
        if is_separator(tokens, at) {
            at += 2;
            continue;
        }
        let renamed = tokens.get(at).is_some_and(|token| token.text == "as");
        let alias = renamed.then(|| tokens[at + 1].text.clone());
        at += if renamed { 2 } else { 0 };
        out.push(Path { parts, alias, line });
        return at;
    }
}

fn is_separator(tokens: &[Token], at: usize) -> bool {
    matches!(tokens.get(at..at + 2), Some([a, b]) if a.text == ":" && b.text == ":")
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The tokens that are test code: a whole file below `tests/` or named `tests.rs`, else the bodies
/// of modules under `#[cfg(test)]`.
pub(crate) fn test_code(file: &File) -> Vec<Token> {
    let tokens = flat(file);
    if file.path.contains("/tests/") || file.path.ends_with("/tests.rs") {
        return tokens;
    }
    let mut out = Vec::new();
    let mut depth_of_test: Option<usize> = None;
    let mut armed = false;
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        let attribute = tokens[..index]
            .iter()
            .rev()
            .take(4)
            .map(|token| token.text.as_str());
        if token.text == "test" && attribute.eq(["(", "cfg", "[", "#"]) {
            armed = true;
        }
        match token.text.as_str() {
            "{" => {
                depth += 1;
                if armed && depth_of_test.is_none() {
                    depth_of_test = Some(depth);
                }
                armed = false;
            }
            "}" => {
                if depth_of_test == Some(depth) {
                    depth_of_test = None;
                }
                depth -= 1;
            }
            ";" => armed = false,
            _ => {}
        }
        if depth_of_test.is_some() {
            out.push(token.clone());
        }
    }
    out
}

#[cfg(test)]
fn sample(text: &str) -> File {
    File {
        path: "sample.rs".into(),
        text: text.into(),
    }
}

#[test]
fn comments_and_strings_are_no_tokens() {
    let file = sample("// unsafe\nfn f() { let _ = \"unsafe\"; } /* unsafe */");
    assert_eq!(find(&flat(&file), &["unsafe"]).count(), 0);
}

#[test]
fn imports_are_multiplied_out() {
    let tokens = flat(&sample(
        "use std::{sync::atomic::{self, AtomicU8 as A}, time};",
    ));
    let written: Vec<String> = paths(&tokens)
        .iter()
        .map(|path| path.parts.join("::"))
        .collect();
    assert_eq!(
        written,
        [
            "std::sync::atomic::self",
            "std::sync::atomic::AtomicU8",
            "std::time"
        ]
    );
    assert_eq!(paths(&tokens)[1].alias.as_deref(), Some("A"));
}

#[test]
fn paths_in_expressions_are_found_with_their_line() {
    let tokens = flat(&sample(
        "fn f() {\n    std::thread::sleep(d(Vec::<u8>::new()));\n}",
    ));
    let found = paths(&tokens);
    assert!(found[0].ends_with(&["thread", "sleep"]));
    assert_eq!(found[0].line, 2);
}

#[test]
fn only_test_modules_are_test_code() {
    let file =
        sample("fn a() { one(); }\n#[cfg(test)]\nmod tests { fn b() { two(); } }\nfn c() {}");
    let tokens = test_code(&file);
    assert_eq!(find(&tokens, &["two"]).count(), 1);
    assert_eq!(
        find(&tokens, &["one"]).count() + find(&tokens, &["c"]).count(),
        0
    );
}
