//! The files that the rules read: the checkout, or a sample written in a test.

use std::{fs, path::Path};

/// Directories that hold no sources of ours.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// One text file, by its path from the root of the repository.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the file lies in `module`: `a/b` covers `a/b.rs` and everything below `a/b/`.
    pub(crate) fn is_in(&self, module: &str) -> bool {
        self.path
            .strip_prefix(module)
            .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }

    /// The lines with their numbers, counted from one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// All text files under one root, sorted by path.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

impl Tree {
    /// The checkout that this test was built from.
    pub(crate) fn checkout() -> Self {
        let mut files = Vec::new();
        collect(&root(), "", &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        assert!(
            files.len() > 20,
            "only {} files found: is the root right?",
            files.len()
        );
        Self { files }
    }

    /// A tree of the given paths and texts.
    pub(crate) fn sample(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| File {
                path: (*path).into(),
                text: (*text).into(),
            })
            .collect();
        Self { files }
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub(crate) fn find(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text of a file that a rule cannot do without.
    pub(crate) fn text(&self, path: &str) -> &str {
        &self
            .find(path)
            .unwrap_or_else(|| panic!("{path} is missing"))
            .text
    }
}

/// The root of the checkout.
pub(crate) fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn collect(directory: &Path, prefix: &str, files: &mut Vec<File>) {
    let entries =
        fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    for entry in entries {
        let entry = entry.expect("a directory that opened can be read");
        let name = entry
            .file_name()
            .into_string()
            .expect("file names are UTF-8");
        let path = format!("{prefix}{name}");
        let kind = entry
            .file_type()
            .expect("an entry that was read has a type");
        let hidden = name.starts_with('.') && name != ".ci";
        if kind.is_dir() && !hidden && !SKIPPED.contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file() && !hidden {
            let bytes = fs::read(entry.path()).unwrap_or_else(|error| panic!("{path}: {error}"));
            // Captures and other binary fixtures are no business of these rules.
            if let Ok(text) = String::from_utf8(bytes) {
                files.push(File { path, text });
            }
        }
    }
}

/// Fails with all offenders when there are any.
#[track_caller]
pub(crate) fn assert_clean(rule: &str, offenders: &[String]) {
    assert!(
        offenders.is_empty(),
        "{rule}: {} offender(s)\n  {}",
        offenders.len(),
        offenders.join("\n  ")
    );
}

/// Fails unless the offenders are exactly one a fragment, each holding its fragment, in order.
#[track_caller]
pub(crate) fn assert_fires(offenders: &[String], fragments: &[&str]) {
    let matches = offenders.len() == fragments.len()
        && offenders
            .iter()
            .zip(fragments)
            .all(|(offender, fragment)| offender.contains(fragment));
    assert!(matches, "wanted {fragments:?}, got {offenders:?}");
}

#[test]
fn module_covers_its_file_and_its_directory() {
    let tree = Tree::sample(&[("a/lane.rs", ""), ("a/lane/mod.rs", ""), ("a/lanes.rs", "")]);
    let inside: Vec<bool> = tree.files.iter().map(|file| file.is_in("a/lane")).collect();
    assert_eq!(inside, [true, true, false]);
}
