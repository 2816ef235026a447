//! One hash for the logical content of games, whatever the shards, the compression and the file's bytes.
//!
//! Every field of every game goes into SHA-256 in the order of the structs: numbers little-endian, texts
//! and bytes after their length as a 64-bit number, and the number of positions before the positions.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::checksum::hex;

use super::{GameRecord, PositionRecord, RecordError, shards};

/// Separates these hashes from those of another version of the records.
const DOMAIN: &[u8] = b"fairyforge games 1\n";

/// The hash of all games in `dir` (a folder of shards or a run), in order, as 64 hexadecimal digits.
///
/// Reads one shard at a time. Equal games give equal digests however they are cut into shards.
///
/// # Errors
/// The first fault of the records; [`super::verify()`] lists them all.
pub fn digest(dir: &Path) -> Result<String, RecordError> {
    let mut content = ContentHasher::new();
    for shard in shards(dir, None)? {
        content.add_all(&shard?.games);
    }
    Ok(content.finish())
}

/// The running hash of games in order.
pub(crate) struct ContentHasher(Sha256);

impl ContentHasher {
    pub(crate) fn new() -> Self {
        Self(Sha256::new_with_prefix(DOMAIN))
    }

    pub(crate) fn add_all(&mut self, games: &[GameRecord]) {
        let mut buffer = Vec::new();
        for game in games {
            buffer.clear();
            append_game(&mut buffer, game);
            self.0.update(&buffer);
        }
    }

    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The hash of one shard's games, as its header keeps it.
pub(super) fn content_of(games: &[GameRecord]) -> String {
    let mut content = ContentHasher::new();
    content.add_all(games);
    content.finish()
}

fn append_game(buffer: &mut Vec<u8>, game: &GameRecord) {
    buffer.extend(game.game.to_le_bytes());
    append_bytes(buffer, game.start_fen.as_bytes());
    buffer.extend(game.random_plies.to_le_bytes());
    append_bytes(buffer, game.imbalance.as_bytes());
    buffer.extend(game.result.to_le_bytes());
    append_bytes(buffer, game.termination.as_bytes());
    buffer.extend(game.plies.to_le_bytes());
    buffer.extend((game.positions.len() as u64).to_le_bytes());
    for position in &game.positions {
        append_position(buffer, position);
    }
}

fn append_position(buffer: &mut Vec<u8>, position: &PositionRecord) {
    buffer.extend(position.ply.to_le_bytes());
    append_bytes(buffer, &position.packed);
    append_bytes(buffer, position.mv.as_bytes());
    buffer.extend(position.score.to_le_bytes());
    buffer.extend(position.nodes.to_le_bytes());
    buffer.push(u8::from(position.quiet));
}

fn append_bytes(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.extend((bytes.len() as u64).to_le_bytes());
    buffer.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::sha256;
    use crate::record::{samples, write_shard};

    fn digest_in_shards_of(size: u64) -> String {
        let dir = tempfile::tempdir().unwrap();
        for first in (0..24).step_by(size as usize) {
            write_shard(dir.path(), &samples::origin(), &samples::games(first, size)).unwrap();
        }
        digest(dir.path()).unwrap()
    }

    #[test]
    fn does_not_depend_on_the_size_of_the_shards() {
        let in_one = digest_in_shards_of(24);
        assert_eq!(in_one, digest_in_shards_of(1));
        assert_eq!(in_one, digest_in_shards_of(8));
        assert_eq!(in_one, content_of(&samples::games(0, 24)));
    }

    #[test]
    fn changes_with_every_field() {
        let game = samples::games(3, 1).remove(0);
        let changes: [fn(&mut GameRecord); 14] = [
            |game| game.game += 1,
            |game| game.start_fen.push('x'),
            |game| game.random_plies += 1,
            |game| game.imbalance.push('x'),
            |game| game.result = -game.result - 1,
            |game| game.termination.push('x'),
            |game| game.plies += 1,
            |game| game.positions.truncate(1),
            |game| game.positions[1].ply += 1,
            |game| game.positions[1].packed[3] ^= 1,
            |game| game.positions[1].mv.push('q'),
            |game| game.positions[1].score ^= 1,
            |game| game.positions[1].nodes ^= 1,
            |game| game.positions[1].quiet ^= true,
        ];
        let mut seen = std::collections::BTreeSet::from([content_of(std::slice::from_ref(&game))]);
        for change in changes {
            let mut changed = game.clone();
            change(&mut changed);
            assert!(seen.insert(content_of(&[changed])));
        }
    }

    /// Pins the definition: another program that follows the documentation gets this value.
    #[test]
    fn is_the_documented_hash() {
        let game = GameRecord { game: 1, start_fen: "ab".to_owned(), ..GameRecord::default() };
        let mut bytes = b"fairyforge games 1\n\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0ab".to_vec();
        bytes.extend([0; 2 + 8 + 1 + 8 + 2 + 8]);
        assert_eq!(content_of(&[game]), hex(&sha256(&[&bytes])));
    }
}
