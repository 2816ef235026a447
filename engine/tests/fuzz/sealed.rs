//! Files that end with a checksum. Spoilt at random, nearly all would be refused for that alone; so they are taken apart first, and what
//! was spoilt gets a length and a checksum that fit.

use sha2::{Digest, Sha256};

/// Stands between header and rest in an input.
const BETWEEN: &[u8] = b"\n%%\n";

/// A file as an input: its header, and what follows but for the checksum.
pub fn opened(magic: usize, file: &[u8]) -> Vec<u8> {
    let length = u32::from_le_bytes(file[magic..magic + 4].try_into().unwrap()) as usize;
    let (header, rest) = file[magic + 4..file.len() - 32].split_at(length);
    [header, BETWEEN, rest].concat()
}

/// The file of an input.
pub fn sealed(magic: &[u8], input: &[u8]) -> Vec<u8> {
    let at = input.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let (header, rest) = at.map_or((input, &[][..]), |at| (&input[..at], &input[at + BETWEEN.len()..]));
    let mut file = [magic, &(header.len() as u32).to_le_bytes(), header, rest].concat();
    let checksum = Sha256::digest(&file);
    file.extend(checksum);
    file
}
