//! The independent check of a table: what it says of a position must follow from what the tables say of the positions after each legal
//! move of the ordinary move generator, and from the ordinary rules of the game's end.
//!
//! Uses nothing of the analysis: no symmetry, no ways, no moves taken back. Distances make the induction sound: a table that passes for
//! every position is right.

use super::layout::Squares;
use super::table::place;
use super::{EndgameError, MOST_MEN, Material, Stage, Table, Tables, Value, Work};
use crate::geometry::Square;
use crate::outcome::Outcome;
use crate::position::{Position, Unobserved};
use crate::variant::rules::{Colour, SideResult};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Arrangements tried for each legal position that is wanted, before a check by lot gives up.
const MOST_TRIES: u64 = 256;

/// Which positions to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All, also those that symmetries make one.
    All,
    /// Legal positions drawn by lot.
    Random {
        /// How many.
        positions: u64,
        /// Where the lot begins.
        seed: u64,
    },
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Legal positions whose value was compared.
    pub legal: u64,
    /// Arrangements that are no legal position, which the table must not know.
    pub illegal: u64,
}

/// Checks a table, which is one of `tables`, against the moves from its positions.
///
/// # Errors
/// The first position that is wrong, a table that is missing, or `work` was stopped.
pub fn verify(tables: &Tables, table: &Table, sample: Sample, work: &Work) -> Result<Checked, EndgameError> {
    let check = Check { table, tables };
    let total = match sample {
        Sample::All => check.arrangements(),
        Sample::Random { positions, .. } => positions,
    };
    let chunks = work.over(
        total,
        |done| Stage::Checked { done, total },
        |range| match sample {
            Sample::All => check.arranged(range),
            Sample::Random { seed, .. } => check.drawn(range.start, range.end - range.start, seed),
        },
    );
    let stopped = || EndgameError::Stopped { material: table.material().text(table.variant()) };
    chunks.ok_or_else(stopped)?.into_iter().try_fold(Checked::default(), |sum, chunk| {
        chunk.map(|chunk| Checked { legal: sum.legal + chunk.legal, illegal: sum.illegal + chunk.illegal })
    })
}

struct Check<'a> {
    table: &'a Table,
    tables: &'a Tables,
}

impl Check<'_> {
    fn men(&self) -> usize {
        self.table.material().men().len()
    }

    /// All ways to put the men on squares, the same square twice too.
    fn arrangements(&self) -> u64 {
        u64::from(self.table.variant().topology().squares().len()).pow(self.men() as u32)
    }

    fn arranged(&self, range: std::ops::Range<u64>) -> Result<Checked, EndgameError> {
        let board: Vec<Square> = self.table.variant().topology().squares().iter().collect();
        let mut checked = Checked::default();
        for number in range {
            let mut rest = number;
            let squares = std::array::from_fn(|_| {
                let square = board[(rest % board.len() as u64) as usize];
                rest /= board.len() as u64;
                square
            });
            for side in Colour::BOTH {
                self.check(side, &squares, &mut checked)?;
            }
        }
        Ok(checked)
    }

    /// Each chunk has a stream of its own, so that threads change nothing.
    fn drawn(&self, stream: u64, positions: u64, seed: u64) -> Result<Checked, EndgameError> {
        let board: Vec<Square> = self.table.variant().topology().squares().iter().collect();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let mut checked = Checked::default();
        for _ in 0..positions.saturating_mul(MOST_TRIES) {
            if checked.legal >= positions {
                break;
            }
            let squares = std::array::from_fn(|_| board[(random.next_u64() % board.len() as u64) as usize]);
            let side = if random.next_u64() & 1 == 0 { Colour::White } else { Colour::Black };
            self.check(side, &squares, &mut checked)?;
        }
        Ok(checked)
    }

    fn check(&self, side: Colour, squares: &Squares, checked: &mut Checked) -> Result<(), EndgameError> {
        let men = &squares[..self.men()];
        if (1..men.len()).any(|man| men[..man].contains(&men[man])) {
            return Ok(());
        }
        let stored = self.table.value(side, squares);
        let position = place(self.table.variant(), self.table.material(), side, squares);
        let expected = position.as_ref().map(|position| self.expected(position)).transpose()?;
        if stored != expected {
            let told =
                |value: Option<Value>| value.map_or_else(|| "no legal position".into(), |value| value.to_string());
            let fen = position.map_or_else(|| self.described(side, men), |position| position.fen());
            return Err(EndgameError::Wrong { fen, stored: told(stored), expected: told(expected) });
        }
        checked.legal += u64::from(expected.is_some());
        checked.illegal += u64::from(expected.is_none());
        Ok(())
    }

    /// What the moves from a position say it is worth.
    fn expected(&self, position: &Position) -> Result<Value, EndgameError> {
        let side = position.side_to_move();
        if let Some(outcome) = position.outcome(1) {
            return Ok(Value { result: result_for(side, &outcome), plies: 0 });
        }
        let mut after = position.clone();
        let mut best: Option<Value> = None;
        for mv in position.legal_moves() {
            let undo = after.make(mv, &mut Unobserved);
            let value = self.tables.probe(&after).map(Value::before).ok_or_else(|| self.unknown(&after))?;
            after.unmake(mv, &undo);
            best = Some(best.map_or(value, |best| best.better(value)));
        }
        Ok(best.unwrap_or(Value::DRAW))
    }

    fn unknown(&self, position: &Position) -> EndgameError {
        let variant = self.table.variant();
        let missing = Material::on_board(position).map_or_else(|| position.fen(), |men| men.text(variant));
        EndgameError::Missing { material: self.table.material().text(variant), missing }
    }

    /// An arrangement that is no position.
    fn described(&self, side: Colour, squares: &[Square]) -> String {
        let variant = self.table.variant();
        let men = self.table.material().men().iter().zip(squares).take(MOST_MEN);
        let men = men.map(|(man, &square)| {
            format!("{:?} {} {}", man.colour, variant.unit(man.unit).name, variant.topology().name(square))
        });
        format!("{}, {side:?} to move", men.collect::<Vec<_>>().join(", "))
    }
}

fn result_for(side: Colour, outcome: &Outcome) -> SideResult {
    match outcome.winner {
        None => SideResult::Draw,
        Some(winner) if winner == side => SideResult::Win,
        Some(_) => SideResult::Loss,
    }
}
