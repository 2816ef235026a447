//! Retrograde analysis: from the ends of games backwards, ply by ply, until nothing more is decided.
//!
//! Each side's positions are one byte each, a code whose meaning (won or lost, in so many plies) a list of distances tells. First every
//! position gets what ends the game there and what its captures and promotions promise; a win by a capture may be written down long before
//! its ply comes. Then, for each ply, positions decided exactly one ply nearer to the end are taken back: whoever could have moved to a lost
//! one wins, and whoever can only move to won ones loses. No queues and no counters: a ply is one pass over the bytes.

use super::board::Board;
use super::exits::Exit;
use super::layout::Squares;
use super::plan::Planned;
use super::table::{DRAWN, Distances, NO_POSITION, Table, Value};
use super::{EndgameError, Tables, Work};
use crate::variant::Variant;
use crate::variant::rules::{Colour, SideResult};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How far an analysis is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding the legal positions.
    Positions {
        /// Slots done.
        done: u64,
        /// Slots in all.
        total: u64,
    },
    /// Finding ends, captures and promotions.
    Ends {
        /// Slots done.
        done: u64,
        /// Slots in all, for both sides.
        total: u64,
    },
    /// Taking back: all positions this near to the end are decided.
    Plies {
        /// Plies to the end.
        plies: u16,
        /// Positions decided in this way.
        decided: u64,
    },
    /// Counting or checking a finished table.
    Checked {
        /// Positions or slots done.
        done: u64,
        /// In all.
        total: u64,
    },
}

/// Makes the table of a material from those that its plan needs.
///
/// # Errors
/// A table that is needed is not among `tables`, there are more distances than a byte can tell apart, or `work` was stopped.
pub fn solve(variant: &Arc<Variant>, planned: &Planned, tables: &Tables, work: &Work) -> Result<Table, EndgameError> {
    let name = planned.material.text(variant);
    let needed = planned.needs.iter().map(|need| {
        let missing = || EndgameError::Missing { material: name.clone(), missing: need.text(variant) };
        tables.get(need).ok_or_else(missing)
    });
    let below = needed.collect::<Result<Vec<_>, _>>()?;
    let board = Board::new(variant, planned);
    let blank = || (0..board.layout.slots()).map(|_| AtomicU8::new(DRAWN)).collect();
    let codes = [blank(), blank()];
    let mut analysis = Analysis { board, below, codes, distances: Default::default(), name, work };
    analysis.mark_positions()?;
    analysis.mark_ends()?;
    analysis.take_back()?;
    let Analysis { board, codes, distances, .. } = analysis;
    let codes = codes.map(|codes: Vec<AtomicU8>| codes.into_iter().map(AtomicU8::into_inner).collect());
    Ok(Table::new(variant, planned.material.clone(), board.layout, codes, distances))
}

/// One table in the making.
struct Analysis<'a> {
    board: Board,
    /// The tables that exits lead to.
    below: Vec<&'a Table>,
    /// By side to move and slot.
    codes: [Vec<AtomicU8>; 2],
    distances: [Distances; 2],
    name: String,
    work: &'a Work<'a>,
}

/// What the codes of one ply mean, for the side whose positions get new ones.
struct Ply {
    /// The opponent's positions decided one ply nearer to the end.
    opponent_lost: Option<u8>,
    opponent_won: Option<u8>,
    /// By code of the opponent: plies to a win that is settled.
    settled_win: [Option<u16>; 256],
    /// By own code: promised by a capture for later than this ply.
    later: [bool; 256],
    /// The code of a win in this ply; `None` if there can be none.
    won: Option<u8>,
    /// By plies: the code of a loss.
    lost: Vec<Option<u8>>,
}

impl Analysis<'_> {
    /// Tells positions from slots that belong to none, for both sides.
    fn mark_positions(&self) -> Result<(), EndgameError> {
        let total = self.board.layout.slots() as u64;
        let stage = |done| Stage::Positions { done, total };
        let marked = self.work.over(total, stage, |slots| slots.for_each(|slot| self.mark_position(slot as usize)));
        marked.map(drop).ok_or_else(|| self.stopped())
    }

    fn mark_position(&self, slot: usize) {
        let board = &self.board;
        let squares = board.layout.position(slot).filter(|squares| !board.has_unpromoted(squares));
        for side in Colour::BOTH {
            if squares.as_ref().is_none_or(|squares| board.is_in_check(side.opponent(), squares)) {
                self.set(side, slot, NO_POSITION);
            }
        }
    }

    /// Gives each position the end of the game there, or what its captures and promotions promise.
    fn mark_ends(&mut self) -> Result<(), EndgameError> {
        for side in Colour::BOTH {
            self.distances[side.index()] = self.promised_distances(side)?;
        }
        let slots = self.board.layout.slots() as u64;
        for side in Colour::BOTH {
            let before = side.index() as u64 * slots;
            let stage = |done| Stage::Ends { done: before + done, total: 2 * slots };
            let marked = self.work.over(slots, stage, |range| {
                for slot in range.map(|slot| slot as usize).filter(|&slot| self.code(side, slot) != NO_POSITION) {
                    let value = self.value_by_ends(side, &self.board.layout.squares_of(slot));
                    if let Some(code) = value.and_then(|value| self.distances[side.index()].code(value)) {
                        self.set(side, slot, code);
                    }
                }
            });
            marked.ok_or_else(|| self.stopped())?;
        }
        Ok(())
    }

    /// All distances that ends and exits can give.
    fn promised_distances(&self, side: Colour) -> Result<Distances, EndgameError> {
        let mut distances = Distances::default();
        let ends = [SideResult::Win, SideResult::Loss].map(|result| Value { result, plies: 0 });
        let exits = self.below.iter().flat_map(|table| table.distances(side.opponent()).values().iter());
        let mut values: Vec<Value> = ends.into_iter().chain(exits.map(|value| value.before())).collect();
        values.sort_by_key(|value| (value.plies, value.result == SideResult::Loss));
        values.dedup();
        values.into_iter().try_for_each(|value| distances.add(value).map(drop)).map_err(|most| self.too_long(most))?;
        Ok(distances)
    }

    /// What is known of a position without looking at others of this table: `None` if nothing, or if it is a draw.
    fn value_by_ends(&self, side: Colour, squares: &Squares) -> Option<Value> {
        let board = &self.board;
        if let Some(result) = board.ends.at_once[side.index()] {
            return Some(Value { result, plies: 0 });
        }
        let outside = self.value_outside(side, squares);
        let stays = board.quiet_moves(side, squares, |after| match self.code_of(side.opponent(), after) {
            NO_POSITION => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        });
        match outside {
            Some(value) if value.result == SideResult::Win || stays.is_continue() => Some(value),
            None if stays.is_continue() => Some(self.value_without_moves(side, squares)),
            _ => None,
        }
    }

    fn value_without_moves(&self, side: Colour, squares: &Squares) -> Value {
        let in_check = self.board.is_in_check(side, squares);
        let result = if in_check { SideResult::Loss } else { self.board.ends.stalemate[side.index()] };
        Value { result, plies: 0 }
    }

    /// The best that captures and promotions give; `None` if there is none that is legal.
    fn value_outside(&self, side: Colour, squares: &Squares) -> Option<Value> {
        let mut best: Option<Value> = None;
        let _ = self.board.leaving_moves(side, squares, |exit, after| {
            if let Some(value) = self.value_after(side, exit, after) {
                best = Some(best.map_or(value, |best| best.better(value)));
            }
            ControlFlow::Continue(())
        });
        best
    }

    /// What a move out of the table gives the mover; `None` if it is not legal.
    fn value_after(&self, side: Colour, exit: Exit, after: &Squares) -> Option<Value> {
        self.below[exit.table].value(side.opponent(), &exit.squares(after)).map(Value::before)
    }

    /// Ply after ply, as long as something is decided or promised.
    fn take_back(&mut self) -> Result<(), EndgameError> {
        let mut plies = 0;
        while self.distances.iter().any(|distances| distances.longest() >= Some(plies)) {
            plies += 1;
            let mut decided = 0;
            for side in Colour::BOTH {
                decided += self.take_back_ply(side, plies)?;
            }
            (self.work.report)(Stage::Plies { plies, decided });
        }
        Ok(())
    }

    /// Decides the positions of `side` that end in `plies`, but for those whose captures have promised it. Returns how many.
    fn take_back_ply(&mut self, side: Colour, plies: u16) -> Result<u64, EndgameError> {
        let nearer = |result| self.distances[side.opponent().index()].code(Value { result, plies: plies - 1 });
        let (opponent_lost, opponent_won) = (nearer(SideResult::Loss), nearer(SideResult::Win));
        if opponent_lost.is_none() && opponent_won.is_none() {
            return Ok(0);
        }
        let known = self.distances[side.index()].values().len();
        // A code is spent only on what can be: in nearly all games wins take an odd number of plies and losses an even one.
        let possible = [(SideResult::Win, opponent_lost), (SideResult::Loss, opponent_won)];
        for (result, _) in possible.into_iter().filter(|(_, nearer)| nearer.is_some()) {
            self.distances[side.index()].add(Value { result, plies }).map_err(|most| self.too_long(most))?;
        }
        let ply = self.ply(side, plies, [opponent_lost, opponent_won]);
        let slots = self.board.layout.slots() as u64;
        let quietly = |_| Stage::Plies { plies, decided: 0 };
        let chunks = self.work.over(slots, quietly, |range| {
            range.map(|slot| self.take_back_slot(side, slot as usize, &ply)).sum::<u64>()
        });
        let decided = chunks.ok_or_else(|| self.stopped())?.into_iter().sum();
        if decided == 0 {
            self.distances[side.index()].forget_beyond(known);
        }
        Ok(decided)
    }

    fn ply(&self, side: Colour, plies: u16, [opponent_lost, opponent_won]: [Option<u8>; 2]) -> Ply {
        let (own, theirs) = (&self.distances[side.index()], &self.distances[side.opponent().index()]);
        let settled = |value: Value| (value.result == SideResult::Win && value.plies < plies).then_some(value.plies);
        let loss = |plies| own.code(Value { result: SideResult::Loss, plies });
        Ply {
            opponent_lost,
            opponent_won,
            settled_win: std::array::from_fn(|code| theirs.value(code as u8).and_then(settled)),
            later: std::array::from_fn(|code| own.value(code as u8).is_some_and(|value| value.plies > plies)),
            won: own.code(Value { result: SideResult::Win, plies }),
            lost: (0..=own.longest().unwrap_or(0)).map(loss).collect(),
        }
    }

    /// Takes back one position of the opponent, if it is one of this ply's.
    #[inline]
    fn take_back_slot(&self, side: Colour, slot: usize, ply: &Ply) -> u64 {
        let code = Some(self.code(side.opponent(), slot));
        if code != ply.opponent_lost && code != ply.opponent_won {
            return 0;
        }
        if self.board.ends.at_once[side.index()].is_some() {
            return 0;
        }
        let mut decided = 0;
        let squares = self.board.layout.squares_of(slot);
        self.board.quiet_origins(side, &squares, |before| {
            let origin = self.board.layout.slot(before);
            let known = self.code(side, origin);
            let new = match code == ply.opponent_lost {
                true => ply.won.filter(|_| known == DRAWN || ply.later[usize::from(known)]),
                false if known == DRAWN => self.code_if_lost(side, before, ply),
                false => None,
            };
            decided += u64::from(new.is_some_and(|new| self.set(side, origin, new) != new));
        });
        decided
    }

    /// The code of a loss, if every move leads to a settled win of the opponent.
    fn code_if_lost(&self, side: Colour, squares: &Squares, ply: &Ply) -> Option<u8> {
        let mut longest = 0;
        let stays = self.board.quiet_moves(side, squares, |after| {
            let code = self.code_of(side.opponent(), after);
            match ply.settled_win[usize::from(code)] {
                Some(plies) => longest = longest.max(plies + 1),
                None if code == NO_POSITION => {}
                None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        if stays.is_break() {
            return None;
        }
        let outside = self.value_outside(side, squares);
        if outside.is_some_and(|value| value.result != SideResult::Loss) {
            return None;
        }
        let plies = outside.map_or(longest, |value| longest.max(value.plies));
        ply.lost.get(usize::from(plies)).copied().flatten()
    }

    #[inline]
    fn code(&self, side: Colour, slot: usize) -> u8 {
        self.codes[side.index()][slot].load(Ordering::Relaxed)
    }

    #[inline]
    fn code_of(&self, side: Colour, squares: &Squares) -> u8 {
        self.code(side, self.board.layout.slot(squares))
    }

    /// Returns the code that was there before. Within a ply, all that is ever written to one slot is the same.
    #[inline]
    fn set(&self, side: Colour, slot: usize, code: u8) -> u8 {
        self.codes[side.index()][slot].swap(code, Ordering::Relaxed)
    }

    fn stopped(&self) -> EndgameError {
        EndgameError::Stopped { material: self.name.clone() }
    }

    fn too_long(&self, most: usize) -> EndgameError {
        EndgameError::TooLong { material: self.name.clone(), most }
    }
}
