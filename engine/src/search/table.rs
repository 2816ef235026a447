//! The transposition table: what is known of positions already searched.

use super::Params;
use crate::moves::Move;

/// What a stored score says about the true one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// At least.
    Lower,
    /// At most.
    Upper,
    /// Exactly.
    Exact,
}

/// What the table knows of a position.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    key: u32,
    mv: u32,
    /// Score at `depth`, mates counted from this position.
    pub score: i16,
    /// Static value.
    pub value: i16,
    /// Depth searched.
    pub depth: i8,
    age: u8,
    /// Meaning of `score`.
    pub bound: Bound,
    filled: bool,
}

impl Entry {
    const VACANT: Self =
        Self { key: 0, mv: 0, score: 0, value: 0, depth: 0, age: 0, bound: Bound::Exact, filled: false };

    /// The best move found, if one was.
    pub fn best(&self) -> Option<Move> {
        (self.mv != NO_MOVE).then(|| Move::from_bits(self.mv))
    }
}

const NO_MOVE: u32 = u32::MAX;
/// Entries that share a place.
const CLUSTER: usize = 4;

/// A table of fixed size.
pub struct Table {
    entries: Vec<Entry>,
    age: u8,
    /// Plies of depth that a search since an entry was written is worth when one is to be replaced.
    age_weight: i32,
    /// Plies by which an entry must be deeper to stay.
    keep: i32,
}

impl Table {
    /// A table of at most `mebibytes` (at least one cluster).
    pub fn new(mebibytes: usize, params: &Params) -> Self {
        let clusters = (mebibytes << 20) / (CLUSTER * size_of::<Entry>());
        let entries = vec![Entry::VACANT; clusters.max(1) * CLUSTER];
        Self { entries, age: 0, age_weight: params.table_age, keep: params.table_keep }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(Entry::VACANT);
        self.age = 0;
    }

    /// Begins a new search: what is there grows older.
    pub fn next_search(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    /// What is known of the position with this key.
    #[inline]
    pub fn probe(&self, key: u64) -> Option<Entry> {
        let start = self.cluster(key);
        let check = key as u32;
        self.entries[start..start + CLUSTER].iter().find(|entry| entry.filled && entry.key == check).copied()
    }

    /// Notes a result. `best` may be absent; a move known before is kept then.
    pub fn store(&mut self, key: u64, best: Option<Move>, score: i32, value: i32, depth: i32, bound: Bound) {
        let start = self.cluster(key);
        let (check, age, age_weight) = (key as u32, self.age, self.age_weight);
        let cluster = &mut self.entries[start..start + CLUSTER];
        let worth = |entry: &Entry| match entry.filled {
            false => i32::MIN,
            true if entry.key == check => i32::MIN + 1,
            true => i32::from(entry.depth) - age_weight * i32::from(age.wrapping_sub(entry.age)),
        };
        let same = cluster.iter().position(|entry| entry.filled && entry.key == check);
        let index = same.unwrap_or_else(|| (0..CLUSTER).min_by_key(|&i| worth(&cluster[i])).unwrap_or(0));
        let old = cluster[index];
        let is_same = same.is_some();
        let much_shallower =
            is_same && bound != Bound::Exact && depth + self.keep <= i32::from(old.depth) && old.age == age;
        if much_shallower {
            return;
        }
        let mv = best.map(Move::to_bits).unwrap_or(if is_same { old.mv } else { NO_MOVE });
        let (score, value, depth) = (score as i16, value as i16, depth.clamp(-1, 127) as i8);
        cluster[index] = Entry { key: check, mv, score, value, depth, age, bound, filled: true };
    }

    /// Share of the first thousand entries used by this search, in thousandths.
    pub fn fullness(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        sample.iter().filter(|entry| entry.filled && entry.age == self.age).count() * 1000 / sample.len()
    }

    #[inline]
    fn cluster(&self, key: u64) -> usize {
        let clusters = (self.entries.len() / CLUSTER) as u64;
        ((u128::from(key) * u128::from(clusters)) >> 64) as usize * CLUSTER
    }
}
