//! Where games begin: the array, perhaps with units taken away by lot on both sides, after a few random plies; or a position of the
//! middlegame that was played, with units taken away there ([`super::middlegame`]). What is taken is drawn by the module `lot`.
//!
//! Openings come in pairs: the second is the first with the armies exchanged (mirrored), White to move in both. Each
//! army thus has the first move once, and an imbalance is played from both sides.

use super::lot::{Lot, imbalance_texts};
use super::middlegame::{MiddlegamePlayer, Played};
use super::seeds::Dice;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::game::Game;
use fairyforge_engine::geometry::SquareSet;
use fairyforge_engine::moves::Move;
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, MAX_UNITS};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Tries to find an opening that satisfies everything before the demands are given up.
const MOST_TRIES: usize = 200;
/// Middlegames that are played for it, and tries to take units away from each.
const MOST_MIDDLEGAMES: usize = 20;
const TRIES_A_MIDDLEGAME: usize = 300;
/// Men that each side keeps after play, its king among them: fewer are an endgame that a table knows.
const LEAST_MEN: u32 = 3;

/// How openings are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Openings {
    /// Fewest random plies; rounded up to an even number.
    pub least_random_plies: u16,
    /// Most random plies; rounded down to an even number.
    pub most_random_plies: u16,
    /// Whether only openings are taken in which neither side, if it were to move, could simply win a man: where one hangs, the
    /// game says little about what else is on the board.
    #[serde(skip_serializing_if = "is_unset")]
    pub settled: bool,
    /// Units taken away.
    pub imbalance: Imbalance,
}

/// Units taken away at random, so that their values can be told from results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Imbalance {
    /// Share of pairs that start with units taken away.
    pub share: f64,
    /// Most units taken from one side; at least one is, from each.
    pub most_units: u8,
    /// Greatest difference between what the sides lose, in centipawns of the a-priori values: near equality results say most.
    pub window: i32,
    /// How much more often than others a promoting unit is drawn: the pawn is the measure of all values.
    pub pawn_weight: u8,
    /// Most units taken from both sides alike, none to so many: how values change as the board empties.
    #[serde(skip_serializing_if = "is_unset")]
    pub most_common_units: u8,
    /// Units are taken away from positions that were played, and players take over there; from the array if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Played>,
}

/// What a plan does not say is not written into it either, so that plans of older runs stay what they are.
fn is_unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Openings {
    fn default() -> Self {
        Self { least_random_plies: 4, most_random_plies: 10, settled: false, imbalance: Imbalance::default() }
    }
}

impl Default for Imbalance {
    fn default() -> Self {
        Self { share: 0.0, most_units: 6, window: 250, pawn_weight: 3, most_common_units: 0, played: None }
    }
}

/// Where one game begins.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The arrangement before the random plies; where the players take over, if units were taken away after play.
    pub start: Position,
    /// The position from which the players play.
    pub position: Position,
    /// Random plies between the two.
    pub random_plies: u16,
    /// Units taken away, as `w:NNQ b:B`; empty if none.
    pub imbalance: String,
}

/// Makes the openings of one variant.
pub struct OpeningMaker {
    array: Position,
    settings: Openings,
    middlegames: Option<MiddlegamePlayer>,
    lot: Lot,
    values: [i32; MAX_UNITS],
}

impl OpeningMaker {
    /// A maker of openings. Its choices depend on a-priori values only, so that openings do not change with weights.
    pub fn new(variant: &Arc<Variant>, settings: &Openings) -> Self {
        let values = Weights::a_priori(variant).exchange_values();
        Self {
            array: Position::start(variant),
            settings: settings.clone(),
            middlegames: settings.imbalance.played.map(|played| MiddlegamePlayer::new(variant, played)),
            lot: Lot::new(variant, &settings.imbalance, &values),
            values,
        }
    }

    /// The two openings of pair number `pair` in the run with this seed. Where nothing settled is found, as in a game whose men hop
    /// over each other from the start, something may hang; where nothing is found at all, both are the array.
    pub fn pair(&self, run_seed: u64, pair: u64) -> [Opening; 2] {
        let mut dice = Dice::new(run_seed, pair);
        let settled = self.settings.settled;
        let demands = if settled { &[true, false][..] } else { &[false] };
        let found = match &self.middlegames {
            Some(middlegames) if dice.chance(self.settings.imbalance.share) => {
                demands.iter().find_map(|&settled| self.of_middlegames(middlegames, settled, &mut dice))
            }
            Some(_) => demands.iter().find_map(|&settled| self.of_array(0.0, settled, &mut dice)),
            None => {
                let share = self.settings.imbalance.share;
                demands.iter().find_map(|&settled| self.of_array(share, settled, &mut dice))
            }
        };
        found.unwrap_or_else(|| [self.plain(), self.plain()])
    }

    fn plain(&self) -> Opening {
        let start = self.array.clone();
        Opening { position: start.clone(), start, random_plies: 0, imbalance: String::new() }
    }

    /// From the array, unbalanced with the probability `share`.
    fn of_array(&self, share: f64, settled: bool, dice: &mut Dice) -> Option<[Opening; 2]> {
        let mut tries = (0..MOST_TRIES).filter_map(|_| self.try_array(share, dice));
        tries.find(|pair| !settled || self.is_settled(pair))
    }

    fn try_array(&self, share: f64, dice: &mut Dice) -> Option<[Opening; 2]> {
        let unbalanced = dice.chance(share);
        let taken = if unbalanced { self.lot.one_sided(&self.array, dice) } else { SquareSet::EMPTY };
        let taken = taken | self.lot.of_both(&self.array, taken, dice);
        let start = self.array.without(taken).ok()?;
        let (position, random_plies) = self.random_plies(&start, dice)?;
        both(&start, &position, random_plies, imbalance_texts(&self.array, taken))
    }

    /// Units taken away from one of several middlegames.
    fn of_middlegames(&self, middlegames: &MiddlegamePlayer, settled: bool, dice: &mut Dice) -> Option<[Opening; 2]> {
        (0..MOST_MIDDLEGAMES).find_map(|_| {
            let (position, _) = self.random_plies(&self.array, dice)?;
            let middlegame = middlegames.play(&position, dice)?;
            (0..TRIES_A_MIDDLEGAME).find_map(|_| self.try_middlegame(&middlegame, settled, dice))
        })
    }

    /// The players take over right where units are taken away. From whom is decided by a coin, after both ways were found to do: if only
    /// one had to do, the lot would spare the side whose men are needed.
    fn try_middlegame(&self, middlegame: &Position, settled: bool, dice: &mut Dice) -> Option<[Opening; 2]> {
        let [one, other] = self.lot.either_side(middlegame, dice)?;
        let one = self.after_taking(middlegame, one, settled, dice)?;
        let other = self.after_taking(middlegame, other, settled, dice)?;
        Some(if dice.chance(0.5) { one } else { other })
    }

    fn after_taking(
        &self,
        middlegame: &Position,
        taken: SquareSet,
        settled: bool,
        dice: &mut Dice,
    ) -> Option<[Opening; 2]> {
        let taken = taken | self.lot.of_both(middlegame, taken, dice);
        let start = middlegame.without(taken).ok().filter(has_men)?;
        let pair = both(&start, &start, 0, imbalance_texts(middlegame, taken))?;
        (!settled || self.is_settled(&pair)).then_some(pair)
    }

    fn is_settled(&self, pair: &[Opening; 2]) -> bool {
        !pair.iter().any(|opening| self.wins_a_man(&opening.position))
    }

    /// Whether the side to move has a move that wins something outright.
    fn wins_a_man(&self, position: &Position) -> bool {
        position.legal_moves().iter().any(|&mv| position.exchange_gains(mv, 1, &self.values))
    }

    /// An even number of random moves, none of which simply gives a man away. `None` if the game ends on the way.
    fn random_plies(&self, start: &Position, dice: &mut Dice) -> Option<(Position, u16)> {
        let least = self.settings.least_random_plies.div_ceil(2);
        let most = (self.settings.most_random_plies / 2).max(least);
        let plies = 2 * (least + dice.below(usize::from(most - least) + 1) as u16);
        let mut position = start.clone();
        for _ in 0..plies {
            let legal = position.legal_moves();
            let sound: Vec<Move> =
                legal.iter().copied().filter(|&mv| position.exchange_gains(mv, 0, &self.values)).collect();
            let mv = *dice.pick(if sound.is_empty() { &legal } else { &sound })?;
            position.make(mv, &mut Unobserved);
        }
        Some((position, plies))
    }
}

/// An opening and the one with the armies exchanged, if both can be played.
fn both(start: &Position, position: &Position, random_plies: u16, imbalance: [String; 2]) -> Option<[Opening; 2]> {
    let positions = [position.clone(), position.armies_exchanged().ok()?];
    let starts = [start.clone(), start.armies_exchanged().ok()?];
    if !positions.iter().all(|position| position.has_legal_move() && !position.in_check()) {
        return None;
    }
    let [one, other] = [0, 1].map(|game: usize| Opening {
        start: starts[game].clone(),
        position: positions[game].clone(),
        random_plies,
        imbalance: imbalance[game].clone(),
    });
    Some([one, other])
}

/// Whether there is a game to play: it is not over, and both sides have some men left.
fn has_men(position: &Position) -> bool {
    let men = |colour: &Colour| position.men(*colour).len() >= LEAST_MEN;
    Colour::BOTH.iter().all(men) && Game::new(position.clone()).outcome().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::dataset::by_lot;
    use fairyforge_engine::variant::rules::Unit;

    fn maker(variant: &str) -> OpeningMaker {
        let variant = Arc::new(Variant::load(variant).unwrap());
        let imbalance = Imbalance { share: 0.7, ..Imbalance::default() };
        OpeningMaker::new(&variant, &Openings { imbalance, ..Openings::default() })
    }

    #[test]
    fn pairs_exchange_the_armies() {
        for variant in Variant::shipped_names() {
            let maker = maker(variant);
            for pair in 0..40 {
                let [one, other] = maker.pair(3, pair);
                for opening in [&one, &other] {
                    assert_eq!(opening.position.side_to_move(), Colour::White);
                    assert!(!opening.position.in_check() && opening.position.has_legal_move());
                }
                for unit in one.position.variant().units() {
                    let counts = |p: &Position| Colour::BOTH.map(|colour| p.count(unit, colour));
                    let [white, black] = counts(&one.position);
                    assert_eq!(counts(&other.position), [black, white], "{variant} pair {pair}");
                }
            }
        }
    }

    #[test]
    fn settled_openings_have_nothing_to_win_at_once() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let unsettled = |settled| {
            let maker = OpeningMaker::new(&variant, &Openings { settled, ..Openings::default() });
            (0..100).flat_map(|pair| maker.pair(1, pair)).filter(|opening| maker.wins_a_man(&opening.position)).count()
        };
        assert_eq!(unsettled(true), 0);
        assert!(unsettled(false) > 10, "{}", unsettled(false));
    }

    #[test]
    fn units_taken_of_both_thin_the_board_out_and_leave_the_balance() {
        let variant = Arc::new(Variant::load("herculean").unwrap());
        let imbalance = Imbalance { most_common_units: 12, ..Imbalance::default() };
        let maker = OpeningMaker::new(&variant, &Openings { imbalance, ..Openings::default() });
        let starts: Vec<Position> = (0..60).map(|pair| maker.pair(2, pair)[0].start.clone()).collect();
        for start in &starts {
            let even = |unit| start.count(unit, Colour::White) == start.count(unit, Colour::Black);
            assert!(variant.units().all(even), "{}", start.fen());
        }
        let men = |start: &Position| start.occupied().len();
        let (least, most) = (starts.iter().map(men).min().unwrap(), starts.iter().map(men).max().unwrap());
        assert!(most == men(&Position::start(&variant)) && most - least >= 16, "{least} to {most} men");
    }

    #[test]
    fn units_are_taken_from_level_middlegames() {
        for variant in Variant::shipped_names() {
            let variant = Arc::new(Variant::load(variant).unwrap());
            let played = Some(Played { least_plies: 6, most_plies: 24, nodes: 30 });
            let imbalance = Imbalance { share: 1.0, played, ..Imbalance::default() };
            let settings = Openings { settled: true, imbalance, ..Openings::default() };
            let maker = OpeningMaker::new(&variant, &settings);
            for pair in 0..6 {
                let [one, other] = maker.pair(4, pair);
                let told = format!("{} pair {pair}: {} {}", variant.name(), one.imbalance, one.position.fen());
                assert_eq!(one.position.fen(), one.start.fen(), "{told}");
                assert_eq!(one.position.armies_exchanged().unwrap().fen(), other.position.fen(), "{told}");
                // Hoppers attack over their own men from the start.
                assert!(variant.name() == "hop10" || maker.is_settled(&[one.clone(), other.clone()]), "{told}");
                let [more, less] = [&one, &other].map(|opening| by_lot(&opening.imbalance, &variant).unwrap());
                assert!(more.iter().zip(&less).all(|(more, less)| *more == -less), "{told}");
            }
        }
    }

    #[test]
    fn what_the_lot_takes_has_nothing_to_do_with_what_was_there() {
        let variant = Arc::new(Variant::load("chess").unwrap());
        let played = Some(Played { least_plies: 2, most_plies: 3, nodes: 1 });
        let imbalance = Imbalance { window: 400, played, ..Imbalance::default() };
        let maker = OpeningMaker::new(&variant, &Openings { settled: true, imbalance, ..Openings::default() });
        // White has two rooks for a queen; whoever is drawn from what is left could only lose what he has.
        let fen = "2r3k1/1q3ppp/p1n1pn2/1p6/3P4/P1N1PN2/1P3PPP/2RR2K1 w - - 0 20";
        let middlegame = Position::from_fen(&variant, fen).unwrap();
        let mut dice = Dice::new(7, 0);
        let mut sums = vec![[0.0; 2]; variant.units().len()];
        let mut found = 0;
        while found < 600 {
            let Some([one, _]) = maker.try_middlegame(&middlegame, true, &mut dice) else { continue };
            found += 1;
            for (unit, more) in by_lot(&one.imbalance, &variant).unwrap().into_iter().enumerate() {
                let more = f64::from(more);
                sums[unit] = [sums[unit][0] + more, sums[unit][1] + more * more];
            }
        }
        for (unit, &[sum, squares]) in sums.iter().enumerate() {
            // A sum of tosses: four standard deviations.
            assert!(sum.abs() <= 4.0 * squares.sqrt(), "unit {unit}: {sum} ± {}", squares.sqrt());
        }
        let taken = sums.iter().filter(|[_, squares]| *squares > 30.0).count();
        assert_eq!(taken, 3, "pawns, knights and rooks, which both sides have: {sums:?}");
    }

    #[test]
    fn the_number_decides_alone() {
        let maker = maker("herculean");
        let fens = |seed, pair| maker.pair(seed, pair).map(|opening| opening.position.fen());
        assert_eq!(fens(1, 5), fens(1, 5));
        assert_ne!(fens(1, 5), fens(1, 6));
        assert_ne!(fens(1, 5), fens(2, 5));
    }

    #[test]
    fn what_the_lot_took_is_told_and_read_again() {
        for variant in Variant::shipped_names() {
            let maker = maker(variant);
            let variant = maker.array.variant();
            let ahead = |position: &Position, unit: Unit| {
                let [white, black] = Colour::BOTH.map(|colour| i32::from(position.count(unit, colour)));
                white - black
            };
            for opening in (0..20).map(|pair| maker.pair(5, pair)[0].clone()) {
                let more = by_lot(&opening.imbalance, variant).unwrap();
                let told = |unit: Unit| ahead(&opening.start, unit) - ahead(&maker.array, unit) == more[unit.index()];
                assert!(variant.units().all(told), "{}: {} {}", variant.name(), opening.imbalance, opening.start.fen());
            }
        }
    }

    #[test]
    fn a_share_of_the_pairs_is_unbalanced() {
        let maker = maker("herculean");
        let unbalanced = (0..400).filter(|&pair| !maker.pair(1, pair)[0].imbalance.is_empty()).count();
        // Five standard deviations of a binomial around 280.
        assert!((234..=326).contains(&unbalanced), "{unbalanced} of 400");
    }
}
