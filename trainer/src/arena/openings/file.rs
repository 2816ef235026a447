//! A file of openings from its name to entries that have all been tried.

use super::entries::Entries;
use super::error::{OpeningError, OpeningFault, OpeningFaultKind, OpeningFaults};
use super::{MatchOpening, OpeningFile, counted, epd, games};
use crate::checksum::hex;
use fairyforge_engine::variant::Variant;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

/// What a file holds.
pub(super) struct Content {
    pub(super) entries: Entries,
    /// What is odd about it, a sentence each.
    pub(super) remarks: Vec<String>,
    /// SHA-256 of the whole file, in hexadecimal.
    pub(super) digest: String,
}

/// Reads the file to its end.
pub(super) fn read(variant: &Arc<Variant>, file: &OpeningFile) -> Result<Content, OpeningError> {
    let path = &file.path;
    let unreadable = |reason| OpeningError::Read { path: path.clone(), reason };
    let opened = File::open(path).map_err(unreadable)?;
    if opened.metadata().map_err(unreadable)?.is_dir() {
        return Err(OpeningError::Folder(path.clone()));
    }
    let mut reader = BufReader::with_capacity(BUFFER, Digesting::new(opened));
    let mut gathered = Gathered::new(path);
    match kind(path, &mut reader).map_err(unreadable)? {
        Kind::Games => games::read(&mut reader, variant, file.plies, &mut gathered).map_err(unreadable)?,
        Kind::Positions => {
            if let Some(got) = file.plies {
                return Err(OpeningError::Plies { path: path.clone(), got });
            }
            epd::read(&mut reader, variant, &mut gathered).map_err(unreadable)?;
        }
    }
    io::copy(&mut reader, &mut io::sink()).map_err(unreadable)?;
    let (bytes, digest) = reader.into_inner().finish();
    gathered.content(file, bytes, digest)
}

/// What openings are told in.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// EPD or FEN, a line each.
    Positions,
    /// PGN.
    Games,
}

/// The name's ending says it, otherwise the first sign.
fn kind(path: &Path, reader: &mut impl BufRead) -> io::Result<Kind> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    Ok(match ending.as_deref() {
        Some("epd" | "fen") => Kind::Positions,
        Some("pgn") => Kind::Games,
        _ => {
            let text = reader.fill_buf()?;
            let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
            if text.first() == Some(&b'[') { Kind::Games } else { Kind::Positions }
        }
    })
}

/// Openings as they are read.
pub(super) struct Gathered {
    entries: Entries,
    faults: OpeningFaults,
    /// The line of the first opening with each key. Counters do not count.
    seen: HashMap<u64, u64>,
    again: Noted,
    short: Noted,
    doubtful: Noted,
}

/// Something that occurs now and then: how often, and the words for the first time.
#[derive(Default)]
struct Noted {
    count: u64,
    first: String,
}

impl Noted {
    fn note(&mut self, first: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = first();
        }
        self.count += 1;
    }
}

impl Gathered {
    fn new(path: &Path) -> Self {
        Self {
            entries: Entries::default(),
            faults: OpeningFaults::none(path.to_owned()),
            seen: HashMap::new(),
            again: Noted::default(),
            short: Noted::default(),
            doubtful: Noted::default(),
        }
    }

    /// An opening that can be used.
    pub(super) fn add(&mut self, opening: &MatchOpening) -> Result<(), OpeningFaultKind> {
        self.entries.add(opening)?;
        self.faults.sound += 1;
        let line = opening.line.unwrap_or_default();
        match self.seen.entry(opening.position.key()) {
            Entry::Vacant(vacant) => {
                vacant.insert(line);
            }
            Entry::Occupied(first) => self.again.note(|| format!("line {line} is line {} again", first.get())),
        }
        Ok(())
    }

    /// An opening that cannot be used.
    pub(super) fn refuse(&mut self, fault: OpeningFault) {
        self.faults.add(fault);
    }

    /// A game ended before the plies that were asked for.
    pub(super) fn note_short(&mut self, line: u64, plies: u16) {
        self.short.note(|| format!("that of line {line} ends after {}", counted(plies.into(), "ply", "plies")));
    }

    /// A move of an opening may be read in more than one way.
    pub(super) fn note_doubtful(&mut self, warning: String) {
        self.doubtful.note(|| warning);
    }

    fn content(self, file: &OpeningFile, bytes: u64, digest: String) -> Result<Content, OpeningError> {
        let path = file.path.clone();
        if let Some(expected) = file.digest.clone().filter(|expected| !expected.eq_ignore_ascii_case(&digest)) {
            return Err(OpeningError::Changed { path, expected, got: digest });
        }
        if self.faults.faulty > 0 {
            return Err(self.faults.into());
        }
        let len = self.entries.len();
        if len == 0 {
            return Err(OpeningError::Empty { path, bytes });
        }
        let remarks = [
            (&self.again, "stood there before"),
            (&self.short, "are of games shorter than the plies asked for and begin where these end"),
            (&self.doubtful, "are of games with a move that could be read otherwise"),
        ];
        let remarks = remarks.into_iter().filter(|(noted, _)| noted.count > 0);
        let told = remarks.map(|(noted, what)| format!("{} of {len} openings {what}: {}", noted.count, noted.first));
        Ok(Content { remarks: told.collect(), entries: self.entries, digest })
    }
}

/// A reader that makes the digest of what it reads.
struct Digesting<R> {
    reader: R,
    hasher: Sha256,
    bytes: u64,
}

impl<R> Digesting<R> {
    fn new(reader: R) -> Self {
        Self { reader, hasher: Sha256::new(), bytes: 0 }
    }

    /// How many bytes were read, and their digest in hexadecimal.
    fn finish(self) -> (u64, String) {
        (self.bytes, hex(&self.hasher.finalize()))
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                // Those above look at the buffer and do not try again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.hasher.update(&buffer[..read]);
                    self.bytes += read as u64;
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_what_it_is_and_else_the_first_sign() {
        let kind = |name: &str, text: &str| kind(Path::new(name), &mut text.as_bytes()).unwrap();
        for name in ["a.epd", "a.EPD", "x.pgn.fen"] {
            assert_eq!(kind(name, "[Event \"x\"]"), Kind::Positions, "{name}");
        }
        for name in ["a.pgn", "a.PGN"] {
            assert_eq!(kind(name, "8/8"), Kind::Games, "{name}");
        }
        for (text, expected) in [
            ("[Event", Kind::Games),
            ("\u{feff}\r\n\t [Event", Kind::Games),
            ("8/8", Kind::Positions),
            ("# [", Kind::Positions),
            ("", Kind::Positions),
        ] {
            for name in ["book", "book.txt", ".pgn"] {
                assert_eq!(kind(name, text), expected, "{name} {text:?}");
            }
        }
    }

    #[test]
    fn the_digest_is_that_of_the_content() {
        let mut reader = BufReader::with_capacity(7, Digesting::new(&b"one text, read in parts"[..]));
        io::copy(&mut reader, &mut io::sink()).unwrap();
        let (bytes, digest) = reader.into_inner().finish();
        assert_eq!((bytes, digest), (23, crate::checksum::text_digest("one text, read in parts")));
    }
}
