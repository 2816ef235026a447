//! The seal: a checksum of a whole file inside that file's own header.
//!
//! Parquet readers trust lengths and offsets they find; on damaged bytes they may panic, allocate without
//! bound or return wrong rows. So the bytes are checked before any Parquet code sees them. The header
//! carries [`BLANK`], which [`close`] replaces by the SHA-256 of the file as it is with the blank in it.
//! A seal guards against damage, not against forgery.

use super::Fault;
use crate::checksum::{hex, sha256};

/// What stands in the header before the file is sealed: the mark and as many zeros as a digest has digits.
pub(super) const BLANK: &str = "seal-sha256:0000000000000000000000000000000000000000000000000000000000000000";
const MARK: &[u8] = b"seal-sha256:";
const DIGITS: usize = 64;
const MAGIC: &[u8] = b"PAR1";

/// Puts the digest of `file` into its blank seal.
pub(super) fn close(file: &mut [u8]) -> Result<(), Fault> {
    let digits = digits_of_seal(file)?;
    let digest = hex(&sha256(&[file]));
    file[digits..digits + DIGITS].copy_from_slice(digest.as_bytes());
    Ok(())
}

/// Every byte of `file` is as it was when it was sealed.
pub(super) fn check(file: &[u8]) -> Result<(), Fault> {
    if !(file.len() >= 2 * MAGIC.len() && file.starts_with(MAGIC) && file.ends_with(MAGIC)) {
        return Err(Fault::Truncated { bytes: file.len() });
    }
    let digits = digits_of_seal(file)?;
    let blank = [b'0'; DIGITS];
    let expected = String::from_utf8_lossy(&file[digits..digits + DIGITS]).into_owned();
    let got = hex(&sha256(&[&file[..digits], &blank, &file[digits + DIGITS..]]));
    if expected == got { Ok(()) } else { Err(Fault::SealBroken { expected, got }) }
}

/// Where the seal's digits begin. The header is at the file's end, so the last mark is the seal's.
fn digits_of_seal(file: &[u8]) -> Result<usize, Fault> {
    let start = file.windows(MARK.len()).rposition(|window| window == MARK).ok_or(Fault::NoSeal)? + MARK.len();
    if file.len() < start + DIGITS {
        return Err(Fault::NoSeal);
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        let mut file = [b"PAR1 data ", BLANK.as_bytes(), b" end PAR1"].concat();
        close(&mut file).unwrap();
        file
    }

    #[test]
    fn any_changed_byte_and_any_other_length_is_noticed() {
        let file = sealed();
        check(&file).unwrap();
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut damaged = file.clone();
                damaged[at] ^= 1 << bit;
                assert!(check(&damaged).is_err(), "byte {at}, bit {bit}");
            }
            assert!(check(&file[..at]).is_err(), "cut to {at} bytes");
        }
        assert!(check(&[&file[..], b"PAR1"].concat()).is_err());
    }

    #[test]
    fn files_of_others_have_no_seal() {
        assert_eq!(check(b"PAR1 some other Parquet PAR1"), Err(Fault::NoSeal));
        assert_eq!(check(b"PAR1 seal-sha256:12 PAR1"), Err(Fault::NoSeal));
        assert_eq!(check(b"PAR"), Err(Fault::Truncated { bytes: 3 }));
    }
}
