//! Which instructions of a file lock memory, and which enter the kernel: read from `objdump`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::GateError;
use super::callgrind::Address;
use super::measure::output_of;

/// The instructions of one file that are counted by kind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    /// Read-modify-writes with a lock, exchanges with memory (which lock without a prefix), and
    /// full fences.
    pub(super) locked: BTreeSet<Address>,
    pub(super) syscalls: BTreeSet<Address>,
}

impl Listing {
    fn of(object: &str) -> Result<Self, GateError> {
        if !cfg!(target_arch = "x86_64") {
            return Err(GateError::Machine);
        }
        let mut command = Command::new("objdump");
        command.args(["--disassemble", "--no-show-raw-insn", "--wide", object]);
        Ok(Self::read(&output_of(&mut command)?))
    }

    /// Reads the lines `address:<TAB>instruction`.
    fn read(text: &str) -> Self {
        let mut listing = Self::default();
        for line in text.lines() {
            let Some((address, instruction)) = line.split_once(":\t") else {
                continue;
            };
            let Ok(address) = Address::from_str_radix(address.trim(), 16) else {
                continue;
            };
            if locks(instruction) {
                listing.locked.insert(address);
            } else if instruction.trim_end() == "syscall" {
                listing.syscalls.insert(address);
            }
        }
        listing
    }
}

fn locks(instruction: &str) -> bool {
    let mut words = instruction.split_whitespace();
    let exchange = words.clone().any(|word| word.starts_with("xchg")) && instruction.contains('(');
    exchange || words.any(|word| word == "lock" || word == "mfence")
}

/// The listings of all files that were seen.
#[derive(Debug, Default)]
pub(super) struct Listings(BTreeMap<String, Listing>);

impl Listings {
    /// The listing of one file, made once.
    pub(super) fn of(&mut self, object: &str) -> Result<&Listing, GateError> {
        if !self.0.contains_key(object) {
            let listing = Listing::of(object)?;
            self.0.insert(object.to_owned(), listing);
        }
        Ok(&self.0[object])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_exchanges_and_fences_are_found() {
        let text = "/bin/a:     file format elf64-x86-64\n\n0000000000001000 <f>:\n\
            \x20   1000:\tlock xadd %rax,(%rdi)\n\
            \x20   1005:\txchg   %al,0x10(%rdi)\n\
            \x20   1008:\txchg   %ax,%ax\n\
            \x20   100a:\tmfence\n\
            \x20   100d:\tcs lock cmpxchg %rcx,0x8(%rsi)\n\
            \x20   1012:\tcall   1000 <lock>\n\
            \x20   1017:\tsyscall\n\
            \x20   1019:\tmov    %rax,(%rdi)\n";
        let listing = Listing::read(text);
        let locked: Vec<Address> = listing.locked.into_iter().collect();
        assert_eq!(locked, [0x1000, 0x1005, 0x100a, 0x100d]);
        assert_eq!(listing.syscalls.into_iter().collect::<Vec<_>>(), [0x1017]);
    }
}
