//! Tables as bytes: `docs/formats/endgame.md`. Reads and writes streams; files and their names are the caller's.

use super::layout::Layout;
use super::table::{Distances, MOST_DISTANCES, NO_POSITION, Table, Value};
use super::{EndgameError, Material};
use crate::variant::Variant;
use crate::variant::rules::Colour;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::sync::Arc;

/// What files of tables are called after their stem.
pub const EXTENSION: &str = "table";
/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"FFTABLE\n";
/// Version of the format.
const FORMAT: u32 = 1;
/// Longest header that is read.
const MOST_HEADER: u32 = 1 << 16;
/// Bytes written at once.
const PIECE: usize = 1 << 20;

/// The end of a file: SHA-256 of all before.
pub(super) type Checksum = [u8; 32];

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format.
    pub format: u32,
    /// Name of the variant, for readers.
    pub variant: String,
    /// The variant's rules.
    pub rules_hash: String,
    /// The men, as `K+N v K`.
    pub men: String,
    /// Symmetries that share slots.
    pub symmetries: usize,
    /// Bytes for each side to move.
    pub slots: usize,
    /// What codes mean with White to move, then with Black to move.
    pub distances: [Vec<Value>; 2],
}

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The stream failed.
    #[error("cannot read the table: {0}")]
    Io(#[from] io::Error),
    /// What was read is no table of this game.
    #[error(transparent)]
    Refused(#[from] EndgameError),
}

fn refused(expected: impl Into<String>, got: impl Into<String>) -> ReadError {
    ReadError::Refused(EndgameError::File { expected: expected.into(), got: got.into() })
}

/// Writes a table.
///
/// # Errors
/// The stream refuses.
pub fn write(table: &Table, stream: &mut impl Write) -> io::Result<()> {
    let variant = table.variant();
    let header = Header {
        format: FORMAT,
        variant: variant.name().into(),
        rules_hash: variant.rules_hash().into(),
        men: table.material().text(variant),
        symmetries: table.symmetries(),
        slots: table.slots(),
        distances: Colour::BOTH.map(|side| table.distances(side).values().to_vec()),
    };
    let header = serde_json::to_vec(&header)?;
    let mut hasher = Sha256::new();
    let length = (header.len() as u32).to_le_bytes();
    let parts: [&[u8]; 5] = [MAGIC, &length, &header, table.codes(Colour::White), table.codes(Colour::Black)];
    for piece in parts.into_iter().flat_map(|part| part.chunks(PIECE)) {
        hasher.update(piece);
        stream.write_all(piece)?;
    }
    stream.write_all(&hasher.finalize())
}

/// Reads what a file says of itself and leaves the stream behind it.
///
/// # Errors
/// The stream fails, or it is no table of this format.
pub fn read_header(stream: &mut impl Read) -> Result<Header, ReadError> {
    header_and_bytes(stream).map(|(header, _)| header)
}

fn header_and_bytes(stream: &mut impl Read) -> Result<(Header, Vec<u8>), ReadError> {
    let start = read_exactly(stream, MAGIC.len() + 4)?;
    let (magic, length) = start.split_at(MAGIC.len());
    if magic != MAGIC {
        return Err(refused("an endgame table", "a file that begins otherwise"));
    }
    let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
    if length > MOST_HEADER {
        return Err(refused(format!("a header of at most {MOST_HEADER} bytes"), format!("{length} bytes")));
    }
    let text = read_exactly(stream, length as usize)?;
    let version: Version = serde_json::from_slice(&text).map_err(|error| refused("a header", error.to_string()))?;
    if version.format != FORMAT {
        return Err(refused(format!("format {FORMAT}"), format!("format {}", version.format)));
    }
    let header = serde_json::from_slice(&text).map_err(|error| refused("a header", error.to_string()))?;
    Ok((header, [start, text].concat()))
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// Reads a table of a game, to the end of the stream.
///
/// # Errors
/// The stream fails, or it is no whole table of this game: other rules, other slots, a wrong checksum, bytes missing or left over.
pub fn read(variant: &Arc<Variant>, stream: &mut impl Read) -> Result<Table, ReadError> {
    read_with_checksum(variant, stream).map(|(table, _)| table)
}

/// As [`read`], with the checksum that was found right.
pub(super) fn read_with_checksum(
    variant: &Arc<Variant>,
    stream: &mut impl Read,
) -> Result<(Table, Checksum), ReadError> {
    let (header, bytes) = header_and_bytes(stream)?;
    if header.rules_hash != variant.rules_hash() {
        let rules = |name: &str, hash: &str| format!("rules of {name} ({})", hash.get(..12).unwrap_or(hash));
        return Err(refused(rules(variant.name(), variant.rules_hash()), rules(&header.variant, &header.rules_hash)));
    }
    let material = Material::parse(variant, &header.men)?;
    let layout = Layout::new(variant, &material);
    let here = (layout.slots(), layout.symmetries());
    if here != (header.slots, header.symmetries) {
        let told = |(slots, symmetries)| format!("{slots} slots and {symmetries} symmetries");
        return Err(refused(told(here), told((header.slots, header.symmetries))));
    }
    let codes = [read_exactly(stream, header.slots)?, read_exactly(stream, header.slots)?];
    let mut hasher = Sha256::new();
    [&bytes, &codes[0], &codes[1]].into_iter().for_each(|part| hasher.update(part));
    let checksum: Checksum = hasher.finalize().into();
    if read_exactly(stream, checksum.len())? != checksum {
        return Err(refused("the checksum of what was read", "another"));
    }
    if stream.read(&mut [0])? != 0 {
        return Err(refused("the end of the file", "more bytes"));
    }
    for (codes, distances) in codes.iter().zip(&header.distances) {
        refuse_unknown_codes(codes, distances.len())?;
    }
    Ok((Table::new(variant, material, layout, codes, header.distances.map(Distances::from_values)), checksum))
}

fn refuse_unknown_codes(codes: &[u8], distances: usize) -> Result<(), ReadError> {
    let unknown = codes.iter().find(|&&code| usize::from(code) > distances && code != NO_POSITION);
    match unknown {
        _ if distances > MOST_DISTANCES => {
            Err(refused(format!("at most {MOST_DISTANCES} distances"), distances.to_string()))
        }
        Some(code) => Err(refused(format!("codes up to {distances}"), code.to_string())),
        None => Ok(()),
    }
}

/// So many bytes. The number has been checked: it is small, or the layout's own.
fn read_exactly(stream: &mut impl Read, count: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::with_capacity(count);
    stream.take(count as u64).read_to_end(&mut bytes)?;
    if bytes.len() == count {
        Ok(bytes)
    } else {
        Err(refused(format!("{count} bytes more"), format!("{}", bytes.len())))
    }
}
