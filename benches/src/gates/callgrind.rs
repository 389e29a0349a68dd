//! Runs a program under callgrind and reads how often each of its instructions was executed.
//!
//! The format is described in the Valgrind manual, "Callgrind Format Specification". Without
//! compression of names and positions every line stands for itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::GateError;
use super::measure::output_of;

/// An instruction's address within its file.
pub(super) type Address = u64;

/// What was executed, by file and address.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Profile {
    pub(super) total: u64,
    pub(super) objects: BTreeMap<String, BTreeMap<Address, Executed>>,
    /// The functions that [`Executed::function`] numbers.
    pub(super) functions: Vec<String>,
}

/// How often one instruction was executed, and in which function it stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Executed {
    pub(super) count: u64,
    pub(super) function: usize,
}

impl Profile {
    /// Runs `program` with a row and a count of operations.
    ///
    /// # Errors
    ///
    /// [`GateError::Start`] without callgrind, [`GateError::Failed`] when the program's own checks
    /// fail, [`GateError::File`], and [`GateError::Output`] for a profile that is none.
    pub(super) fn of(program: &Path, row: &str, ops: u64) -> Result<Self, GateError> {
        let name = format!("corelane-gates-{}.callgrind", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut out_file = std::ffi::OsString::from("--callgrind-out-file=");
        out_file.push(&path);
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--dump-instr=yes", "--dump-line=no"])
            .args(["--compress-strings=no", "--compress-pos=no"])
            .arg(out_file)
            .arg(program)
            .args([row, &ops.to_string()]);
        let run = output_of(&mut command);
        let text = std::fs::read_to_string(&path);
        // Without a run there may be no file; the run's own error says more.
        let removed = std::fs::remove_file(&path);
        run?;
        let file = |source| GateError::File { path, source };
        let (text, ()) = text.and_then(|text| Ok((text, removed?))).map_err(file)?;
        Self::read(&text)
    }

    /// Reads a profile's text.
    ///
    /// # Errors
    ///
    /// [`GateError::Output`] for a line that is none, and [`GateError::Total`] when the lines do
    /// not add up.
    pub(super) fn read(text: &str) -> Result<Self, GateError> {
        let mut profile = Self::default();
        let mut object = String::new();
        let mut numbers = BTreeMap::new();
        let mut function = 0;
        let mut listed = 0;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("ob=") {
                name.clone_into(&mut object);
            } else if let Some(name) = line.strip_prefix("fn=") {
                let next = numbers.len();
                function = *numbers.entry(name.to_owned()).or_insert(next);
                if function == next {
                    profile.functions.push(name.to_owned());
                }
            } else if line.starts_with("calls=") {
                // What the called function took is counted where it stands.
                lines.next();
            } else if let Some(total) = line.strip_prefix("totals: ") {
                profile.total = number(total, line)?;
            } else if line.starts_with("0x") {
                let (address, count) = line.split_once(' ').ok_or_else(|| unknown(line))?;
                let address = address.strip_prefix("0x").unwrap_or(address);
                let address = Address::from_str_radix(address, 16).map_err(|_| unknown(line))?;
                let count = number(count, line)?;
                listed += count;
                let addresses = profile.objects.entry(object.clone()).or_default();
                let executed = addresses.entry(address).or_default();
                executed.count += count;
                executed.function = function;
            }
        }
        if listed != profile.total || listed == 0 {
            let total = profile.total;
            return Err(GateError::Total { listed, total });
        }
        Ok(profile)
    }
}

fn number(text: &str, line: &str) -> Result<u64, GateError> {
    text.trim().parse().map_err(|_| unknown(line))
}

fn unknown(line: &str) -> GateError {
    GateError::Output {
        program: "callgrind",
        line: line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "version: 1\npositions: instr\nevents: Ir\nsummary: 12\n\n\
        ob=/bin/a\nfl=x.rs\nfn=main\n0x10 1\ncob=/lib/c\ncfi=c.c\ncfn=malloc\ncalls=2 0x40 \n\
        0x14 7\n0x14 2\n\nob=/lib/c\nfl=c.c\nfn=malloc\n0x40 4\n0x44 3\n\n\
        ob=/bin/a\nfn=main\n0x10 2\n\ntotals: 12\n";

    #[test]
    fn instructions_are_counted_where_they_stand() {
        let profile = Profile::read(TEXT).unwrap();
        let counts = |object: &str| -> Vec<(u64, u64)> {
            let addresses = profile.objects[object].iter();
            addresses
                .map(|(at, executed)| (*at, executed.count))
                .collect()
        };
        assert_eq!(profile.total, 12);
        assert_eq!(counts("/bin/a"), [(0x10, 3), (0x14, 2)]);
        assert_eq!(counts("/lib/c"), [(0x40, 4), (0x44, 3)]);
        let function = profile.objects["/lib/c"][&0x44].function;
        assert_eq!(profile.functions[function], "malloc");
    }

    #[test]
    fn profile_that_does_not_add_up_is_refused() {
        for (from, to) in [("totals: 12", "totals: 13"), ("0x44 3", "0x44 x")] {
            let error = Profile::read(&TEXT.replace(from, to)).unwrap_err();
            let expected = matches!(
                error,
                GateError::Total {
                    listed: 12,
                    total: 13
                } | GateError::Output { .. }
            );
            assert!(expected, "{error}");
        }
        assert!(matches!(Profile::read(""), Err(GateError::Total { .. })));
    }
}
