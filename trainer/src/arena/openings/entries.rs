//! The openings of a file in memory: packed, about a hundred bytes each, and unpacked one at a time when a game begins.

use super::MatchOpening;
use fairyforge_engine::position::{Position, UnpackError};
use fairyforge_engine::variant::Variant;
use std::sync::Arc;

/// Openings one after the other. Every one was unpacked before it was taken in.
#[derive(Default)]
pub(super) struct Entries {
    entries: Vec<Entry>,
    /// Of each entry its position, its start if it has one of its own, and its name.
    bytes: Vec<u8>,
}

struct Entry {
    at: usize,
    position: u16,
    start: Begin,
    name: Option<u32>,
    plies: u16,
    line: u64,
}

/// Where a game began whose opening is kept.
#[derive(Clone, Copy)]
enum Begin {
    /// With the position that is kept.
    Here,
    /// With the game's own array.
    Array,
    /// Somewhere else, packed in so many bytes.
    Elsewhere(u16),
}

impl Entries {
    pub(super) const fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Takes in an opening.
    ///
    /// # Errors
    /// Packing loses something: counters that are out of the range of a start position.
    pub(super) fn add(&mut self, opening: &MatchOpening) -> Result<(), UnpackError> {
        let position = packed(&opening.position)?;
        let (begin, start) = if opening.plies == 0 {
            (Begin::Here, Vec::new())
        } else if opening.start == Position::start(opening.start.variant()) {
            (Begin::Array, Vec::new())
        } else {
            let start = packed(&opening.start)?;
            (Begin::Elsewhere(start.len() as u16), start)
        };
        let name = opening.name.as_deref();
        self.entries.push(Entry {
            at: self.bytes.len(),
            position: position.len() as u16,
            start: begin,
            name: name.map(|name| name.len() as u32),
            plies: opening.plies,
            line: opening.line.unwrap_or_default(),
        });
        self.bytes.extend_from_slice(&position);
        self.bytes.extend_from_slice(&start);
        self.bytes.extend_from_slice(name.unwrap_or_default().as_bytes());
        Ok(())
    }

    /// The opening with this index.
    pub(super) fn opening(&self, variant: &Arc<Variant>, index: u64) -> MatchOpening {
        let entry = &self.entries[index as usize];
        let (position, rest) = self.bytes[entry.at..].split_at(usize::from(entry.position));
        let unpacked = |bytes| Position::unpack(variant, bytes).expect("it was unpacked when it was taken in");
        let position = unpacked(position);
        let (start, rest) = match entry.start {
            Begin::Here => (position.clone(), rest),
            Begin::Array => (Position::start(variant), rest),
            Begin::Elsewhere(bytes) => {
                let (start, rest) = rest.split_at(usize::from(bytes));
                (unpacked(start), rest)
            }
        };
        let name = entry.name.map(|bytes| String::from_utf8_lossy(&rest[..bytes as usize]).into_owned());
        MatchOpening { start, position, plies: entry.plies, name, line: Some(entry.line) }
    }
}

/// A position in at most some hundred bytes, from which it can be had again.
fn packed(position: &Position) -> Result<Vec<u8>, UnpackError> {
    let bytes = position.pack();
    Position::unpack(position.variant(), &bytes)?;
    Ok(bytes)
}
