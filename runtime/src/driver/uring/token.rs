//! What a completion belongs to, packed into its 64 bits of user data.

use super::slots::Key;

/// Where a completion goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// An operation of the in-flight table.
    Slot(Key),
    /// The poll on the bell's eventfd.
    Bell,
    /// Another ring's `MSG_RING` arrived here: it has ended a park, and that is all it is for.
    Rung,
    /// Our `MSG_RING` to the target with this index. Only a failure posts one.
    Ring(u16),
    /// A cancel or a close: whatever it says, nothing follows from it.
    Ignore,
}

const KIND_SHIFT: u32 = 61;
const KIND_SLOT: u64 = 0;
const KIND_BELL: u64 = 1;
const KIND_RUNG: u64 = 2;
const KIND_RING: u64 = 3;
const KIND_IGNORE: u64 = 4;
/// Bits of a slot's generation that fit beside its index and the kind.
pub(super) const GENERATION_MASK: u32 = (1 << 29) - 1;

impl Token {
    /// The 64 bits that the kernel hands back.
    pub(super) fn pack(self) -> u64 {
        match self {
            Self::Slot(key) => (u64::from(key.generation) << 32) | u64::from(key.index),
            Self::Bell => KIND_BELL << KIND_SHIFT,
            Self::Rung => KIND_RUNG << KIND_SHIFT,
            Self::Ring(target) => (KIND_RING << KIND_SHIFT) | u64::from(target),
            Self::Ignore => KIND_IGNORE << KIND_SHIFT,
        }
    }

    /// The token of 64 bits; `None` for bits that no token has, which no ring of ours sends.
    pub(super) fn unpack(bits: u64) -> Option<Self> {
        let low = u32::try_from(bits & u64::from(u32::MAX)).ok()?;
        match bits >> KIND_SHIFT {
            KIND_SLOT => {
                let generation = u32::try_from(bits >> 32).ok()? & GENERATION_MASK;
                Some(Self::Slot(Key {
                    index: low,
                    generation,
                }))
            }
            KIND_BELL => Some(Self::Bell),
            KIND_RUNG => Some(Self::Rung),
            KIND_RING => Some(Self::Ring(u16::try_from(low).ok()?)),
            KIND_IGNORE => Some(Self::Ignore),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_survives_packing() {
        let tokens = [
            Token::Slot(Key {
                index: 0,
                generation: 0,
            }),
            Token::Slot(Key {
                index: u32::MAX,
                generation: GENERATION_MASK,
            }),
            Token::Bell,
            Token::Rung,
            Token::Ring(u16::MAX),
            Token::Ignore,
        ];
        for token in tokens {
            assert_eq!(Token::unpack(token.pack()), Some(token));
        }
        assert_eq!(Token::unpack(u64::MAX), None);
    }
}
