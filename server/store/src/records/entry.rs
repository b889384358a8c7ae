//! The entries of a chain: what is hashed of them, and how.
//!
//! `hash = SHA-256(hash of the entry before || canonical bytes)`. The canonical bytes are one byte for the kind of entry
//! (`R` a record, `C` a completion), then every column in the order of its struct below, each with its own tag, so that no
//! two entries have the same bytes:
//!
//! | Value | Bytes |
//! |---|---|
//! | absent | `N` |
//! | integer, time, truth (0 or 1) | `I`, then 8 bytes, big endian |
//! | text | `T`, the length in 4 bytes, big endian, then UTF-8 |
//! | id | `U`, then its 16 bytes |
//!
//! What a completion says of a result (`notes`) is at its end, and only where there is something: completions from
//! before notes existed keep their hashes.
//!
//! The hash before the first entry is
//! `SHA-256("toolgate chain" || number in 8 bytes, big endian || instance in 16 bytes)`.

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// Bits of the position within a `seq`; the number of the chain is above them.
const POSITION_BITS: u32 = 40;

/// The `seq` of an entry. Position 0 is before the first.
pub(crate) const fn seq(chain: i64, position: i64) -> i64 {
    chain << POSITION_BITS | position
}

/// The chain and the position of a `seq`.
pub(crate) const fn place(seq: i64) -> (i64, i64) {
    (seq >> POSITION_BITS, seq & ((1 << POSITION_BITS) - 1))
}

/// The hash before the first entry of a chain.
pub(crate) fn genesis(chain: i64, instance: Uuid) -> Hash {
    Sha256::new()
        .chain_update(b"toolgate chain")
        .chain_update(chain.to_be_bytes())
        .chain_update(instance.as_bytes())
        .finalize()
        .into()
}

/// A record, as it is stored.
pub(super) struct RecordEntry<'a> {
    pub(super) seq: i64,
    pub(super) project: Uuid,
    pub(super) id: Uuid,
    pub(super) at: i64,
    pub(super) action: &'a str,
    pub(super) outcome: &'a str,
    pub(super) code: Option<&'a str>,
    pub(super) principal_kind: &'a str,
    pub(super) principal_id: &'a str,
    pub(super) tool: Option<&'a str>,
    pub(super) revision: Option<i64>,
    pub(super) snapshot_version: i64,
    pub(super) state_before: &'a str,
    pub(super) session: Option<Uuid>,
    pub(super) duration_ms: Option<i64>,
    pub(super) detail: &'a str,
}

impl RecordEntry<'_> {
    /// Its hash, after the entry before.
    pub(super) fn hash(&self, previous: &Hash) -> Hash {
        Canonical::new(b'R', 256 + self.detail.len())
            .integer(self.seq)
            .id(self.project)
            .id(self.id)
            .integer(self.at)
            .text(self.action)
            .text(self.outcome)
            .optional(self.code, Canonical::text)
            .text(self.principal_kind)
            .text(self.principal_id)
            .optional(self.tool, Canonical::text)
            .optional(self.revision, Canonical::integer)
            .integer(self.snapshot_version)
            .text(self.state_before)
            .optional(self.session, Canonical::id)
            .optional(self.duration_ms, Canonical::integer)
            .text(self.detail)
            .hash(previous)
    }
}

/// A completion, as it is stored.
pub(super) struct CompletionEntry<'a> {
    pub(super) record_seq: i64,
    pub(super) seq: i64,
    pub(super) outcome: &'a str,
    pub(super) code: Option<&'a str>,
    pub(super) state_after: &'a str,
    pub(super) state_conflict: bool,
    pub(super) duration_ms: Option<i64>,
    pub(super) closed_at: Option<i64>,
    pub(super) usage: Option<&'a str>,
    pub(super) notes: Option<&'a str>,
}

impl CompletionEntry<'_> {
    /// Its hash, after the entry before.
    pub(super) fn hash(&self, previous: &Hash) -> Hash {
        let bytes = self.usage.map_or(0, str::len) + self.notes.map_or(0, str::len);
        let mut canonical = Canonical::new(b'C', 128 + bytes)
            .integer(self.record_seq)
            .integer(self.seq)
            .text(self.outcome)
            .optional(self.code, Canonical::text)
            .text(self.state_after)
            .integer(i64::from(self.state_conflict))
            .optional(self.duration_ms, Canonical::integer)
            .optional(self.closed_at, Canonical::integer)
            .optional(self.usage, Canonical::text);
        if let Some(notes) = self.notes {
            canonical = canonical.text(notes);
        }
        canonical.hash(previous)
    }
}

/// Canonical bytes in the making.
struct Canonical(Vec<u8>);

impl Canonical {
    fn new(kind: u8, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.push(kind);
        Self(bytes)
    }

    fn integer(mut self, value: i64) -> Self {
        self.0.push(b'I');
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn id(mut self, value: Uuid) -> Self {
        self.0.push(b'U');
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    /// No text of a row comes near 4 GiB: requests and answers are bounded to a small part of that.
    fn text(mut self, value: &str) -> Self {
        self.0.push(b'T');
        self.0
            .extend_from_slice(&u32::try_from(value.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    fn optional<T>(mut self, value: Option<T>, add: fn(Self, T) -> Self) -> Self {
        match value {
            Some(value) => add(self, value),
            None => {
                self.0.push(b'N');
                self
            }
        }
    }

    fn hash(self, previous: &Hash) -> Hash {
        Sha256::new()
            .chain_update(previous)
            .chain_update(self.0)
            .finalize()
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion<'a>(
        code: Option<&'a str>,
        state_after: &'a str,
        usage: Option<&'a str>,
    ) -> CompletionEntry<'a> {
        CompletionEntry {
            record_seq: seq(1, 1),
            seq: seq(1, 2),
            outcome: "failed",
            code,
            state_after,
            state_conflict: false,
            duration_ms: Some(3),
            closed_at: None,
            usage,
            notes: None,
        }
    }

    #[test]
    fn a_place_goes_into_a_seq_and_out_again() {
        for at in [(1, 0), (1, 1), (7, (1 << 40) - 1), ((1 << 23) - 1, 5)] {
            assert_eq!(place(seq(at.0, at.1)), at);
        }
        assert!(seq(1, (1 << 40) - 1) < seq(2, 0));
    }

    #[test]
    fn the_bytes_are_those_that_are_documented() {
        let mut bytes = vec![1; 32];
        bytes.extend(b"C");
        for integer in [seq(1, 1), seq(1, 2)] {
            bytes.extend(b"I");
            bytes.extend(integer.to_be_bytes());
        }
        bytes.extend(b"T\0\0\0\x06failedN");
        bytes.extend(b"T\0\0\0\x05draftI\0\0\0\0\0\0\0\0I\0\0\0\0\0\0\0\x03NT\0\0\0\x02{}");
        let expected: Hash = Sha256::digest(&bytes).into();
        assert_eq!(completion(None, "draft", Some("{}")).hash(&[1; 32]), expected);
    }

    #[test]
    fn what_moves_from_one_column_to_the_next_changes_the_hash() {
        let before = [0; 32];
        let all = [
            completion(Some("ab"), "c", None),
            completion(Some("a"), "bc", None),
            completion(None, "abc", None),
            completion(None, "abc", Some("")),
            completion(Some(""), "abc", None),
        ];
        let noted = CompletionEntry {
            notes: Some("{}"),
            ..completion(None, "abc", None)
        };
        let mut hashes: Vec<_> = all.iter().map(|entry| entry.hash(&before)).collect();
        hashes.push(all[0].hash(&[1; 32]));
        hashes.push(noted.hash(&before));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
