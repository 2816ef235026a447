//! SHA-256, the one checksum of all files and records.

use sha2::{Digest, Sha256};

/// The digest of the parts, one after the other.
pub(crate) fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// The first eight bytes of the digest of the parts as a number: a seed, or a key for a table.
pub(crate) fn number(parts: &[&[u8]]) -> u64 {
    sha256(parts).iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Bytes in hexadecimal, lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a text, in hexadecimal.
pub(crate) fn text_digest(text: &str) -> String {
    hex(&sha256(&[text.as_bytes()]))
}
