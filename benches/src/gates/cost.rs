//! What one operation costs.

use std::fmt;

/// The counts of one operation, each an average over thousands.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Instructions executed.
    pub instructions: f64,
    /// Instructions that lock memory or drain the store buffer: atomic read-modify-writes,
    /// exchanges with memory, and full fences.
    pub locked: f64,
    /// System calls. Readings of a clock count too: callgrind hides the fast way to them.
    pub syscalls: f64,
    /// Calls of the allocator that give memory.
    pub allocations: f64,
    /// Bytes that these give.
    pub bytes: f64,
    /// Bytes that are still there when all operations are done and nothing is dropped yet.
    pub held: f64,
}

impl Cost {
    /// The names of the parts, in the order of [`Cost::parts`].
    pub const NAMES: [&'static str; 6] = [
        "instructions",
        "locked",
        "syscalls",
        "allocations",
        "bytes",
        "held",
    ];

    /// The parts, in the order of [`Cost::NAMES`].
    #[must_use]
    pub fn parts(&self) -> [f64; 6] {
        [
            self.instructions,
            self.locked,
            self.syscalls,
            self.allocations,
            self.bytes,
            self.held,
        ]
    }
}

/// The line of a table of limits that would hold exactly this cost.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, part)) in Self::NAMES.iter().zip(self.parts()).enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{name} = {}", rounded(part))?;
        }
        Ok(())
    }
}

/// Three decimals for what is rare, one for what is not: the rest is noise. Never a negative zero.
pub(super) fn rounded(part: f64) -> f64 {
    let scale = if part.abs() < 10.0 { 1_000.0 } else { 10.0 };
    (part * scale).round() / scale + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_a_cost_is_short_and_never_negative_zero() {
        let cost = Cost {
            instructions: 459.123,
            locked: -0.000_1,
            syscalls: 0.031_25,
            ..Cost::default()
        };
        let line = cost.to_string();
        let start = "instructions = 459.1, locked = 0, syscalls = 0.031, allocations = 0";
        assert!(line.starts_with(start), "{line}");
    }
}
