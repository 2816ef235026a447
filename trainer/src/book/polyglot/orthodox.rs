//! Whether a game is the one that Polyglot's books are for: decided by its compiled rules. Names, letters and the array do not count.
//!
//! A unit is what it moves as: the tables of the game at hand are compared with those of `orthodox.toml`.

use fairyforge_engine::variant::rules::{Colour, PromotionChoice, Unit};
use fairyforge_engine::variant::tables::MoveStep;
use fairyforge_engine::variant::{CastlingWing, Variant, file};
use std::collections::BTreeSet;

/// The rules compared with.
const RULES: &str = include_str!("orthodox.toml");

/// A unit of orthodox chess, in the order in which the format counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Man {
    Pawn,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

/// All of them, with their names in the rules compared with.
const MEN: [(Man, &str); 6] = [
    (Man::Pawn, "pawn"),
    (Man::Knight, "knight"),
    (Man::Bishop, "bishop"),
    (Man::Rook, "rook"),
    (Man::Queen, "queen"),
    (Man::King, "king"),
];

/// What each unit of a game is in orthodox chess.
#[derive(Clone, Debug)]
pub(super) struct Men(Vec<Man>);

impl Men {
    /// The units of a game that has the rules of orthodox chess.
    ///
    /// # Errors
    /// All that does not fit, in words.
    pub fn of(variant: &Variant) -> Result<Self, Vec<String>> {
        let reference = Reference::new();
        if variant.topology() != reference.variant.topology() {
            let (width, height) = (variant.topology().width(), variant.topology().height());
            return Err(vec![format!("its board ({width}×{height}) is not the common one of 8×8 squares")]);
        }
        let men = reference.men_of(variant)?;
        match reference.other_misfits(variant, &men) {
            misfits if misfits.is_empty() => Ok(men),
            misfits => Err(misfits),
        }
    }

    /// What a unit is.
    pub fn man(&self, unit: Unit) -> Man {
        self.0[unit.index()]
    }
}

/// Orthodox chess, compiled, and what its units are.
struct Reference {
    variant: Variant,
    men: Men,
}

impl Reference {
    fn new() -> Self {
        let rules = file::parse(RULES, "orthodox.toml", "orthodox", &|_| None).expect("the tests read this file");
        let variant = Variant::compile(rules).expect("the tests compile these rules");
        let man = |unit| MEN.iter().find(|(_, name)| *name == variant.unit(unit).name).map(|(man, _)| *man);
        let men = variant.units().map(|unit| man(unit).expect("the tests know these units")).collect();
        Self { men: Men(men), variant }
    }

    /// What each unit of another game is.
    fn men_of(&self, variant: &Variant) -> Result<Men, Vec<String>> {
        let name = |unit| &variant.unit(unit).name;
        let (mut men, mut misfits) = (Vec::new(), Vec::new());
        for unit in variant.units() {
            match self.variant.units().find(|&theirs| self.is_alike(variant, unit, theirs)) {
                Some(theirs) if men.contains(&self.men.man(theirs)) => {
                    misfits.push(format!("its unit {} is a second {}", name(unit), self.variant.unit(theirs).name));
                }
                Some(theirs) => men.push(self.men.man(theirs)),
                None => misfits.push(format!("its unit {} is none of orthodox chess", name(unit))),
            }
        }
        if misfits.is_empty() { Ok(Men(men)) } else { Err(misfits) }
    }

    /// Whether a unit of another game moves as one of ours from every square, and counts as it does.
    fn is_alike(&self, variant: &Variant, ours: Unit, theirs: Unit) -> bool {
        let (a, b) = (variant.unit(ours), self.variant.unit(theirs));
        let counts_alike = (a.royal, a.untakeable, a.resets_move_count) == (b.royal, b.untakeable, b.resets_move_count);
        let passes_alike = (a.takes_en_passant, a.taken_en_passant) == (b.takes_en_passant, b.taken_en_passant);
        let moves_alike = |colour| {
            variant.topology().squares().iter().all(|square| {
                let other = self.variant.move_steps(theirs, colour, square);
                ways(variant.move_steps(ours, colour, square)) == ways(other)
            })
        };
        counts_alike && passes_alike && Colour::BOTH.into_iter().all(moves_alike)
    }

    /// What does not fit besides board and units.
    fn other_misfits(&self, variant: &Variant, men: &Men) -> Vec<String> {
        let checks = [
            (variant.rules().drops.is_none(), "it has units in hand"),
            (self.castles_alike(variant, men), "its castling is another"),
            (self.promotes_alike(variant, men), "its promotion is another"),
            (variant.rules().end == self.variant.rules().end, "its games end otherwise"),
        ];
        checks.into_iter().filter(|(fits, _)| !fits).map(|(_, misfit)| misfit.to_owned()).collect()
    }

    fn castles_alike(&self, variant: &Variant, men: &Men) -> bool {
        let told = |wing: &CastlingWing, men: &Men| {
            let ends: Vec<_> = wing.destinations.iter().map(|end| (end.king_to, end.partner_to)).collect();
            (wing.right, wing.king, wing.partner, men.man(wing.partner_unit), ends)
        };
        let theirs = self.variant.castling().iter().map(|wing| told(wing, &self.men));
        variant.castling().iter().map(|wing| told(wing, men)).eq(theirs)
    }

    fn promotes_alike(&self, variant: &Variant, men: &Men) -> bool {
        let ours = promotions(variant, men);
        ours.is_some() && ours == promotions(&self.variant, &self.men)
    }
}

/// Who promotes on which square, whether it must, and to what.
type Promotion = (Man, u8, bool, BTreeSet<Man>);

/// All promotions; nothing if a choice is not always free.
fn promotions(variant: &Variant, men: &Men) -> Option<BTreeSet<Promotion>> {
    let mut all = BTreeSet::new();
    for unit in variant.units() {
        for square in variant.topology().squares() {
            let Some((choices, must)) = variant.promotion(unit, Colour::White, square) else { continue };
            if choices.iter().any(|choice| *choice != PromotionChoice::free(choice.unit)) {
                return None;
            }
            let to = choices.iter().map(|choice| men.man(choice.unit)).collect();
            all.insert((men.man(unit), square.index() as u8, must, to));
        }
    }
    Some(all)
}

/// A way to a square: the squares on it, whether it may end there by a move and by a capture, and whether it goes on over it when it is
/// empty and when it is not.
type Way = (Vec<u8>, [bool; 4]);

/// All ways of a program, so that programs whose paths are written in another order are alike.
fn ways(program: &[MoveStep]) -> BTreeSet<Way> {
    let mut ways = BTreeSet::new();
    collect_ways(program, &[], &mut ways);
    ways
}

fn collect_ways(program: &[MoveStep], before: &[u8], ways: &mut BTreeSet<Way>) {
    let mut rest = program;
    while let Some((step, behind)) = rest.split_first() {
        let (here, next) = behind.split_at(usize::from(step.skip) - 1);
        let goes_on = |empty| !here.is_empty() && step.advance(empty) == 1;
        let mut way = before.to_vec();
        way.push(step.square.index() as u8);
        collect_ways(here, &way, ways);
        ways.insert((way, [step.moves(), step.captures(), goes_on(true), goes_on(false)]));
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every shipped game: only the one with these rules passes, and each other is told why not.
    #[test]
    fn one_shipped_game_fits() {
        let mut fitting = Vec::new();
        for name in Variant::shipped_names() {
            match Men::of(&Variant::load(name).unwrap()) {
                Ok(men) => fitting.push((name, men)),
                Err(misfits) => {
                    assert!(!misfits.is_empty() && misfits.iter().all(|it| it.starts_with("its ")), "{name}")
                }
            }
        }
        assert_eq!(fitting.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["chess"]);
        let (chess, men) = (Variant::load("chess").unwrap(), &fitting[0].1);
        assert!(MEN.iter().all(|(man, name)| men.man(chess.unit_named(name).unwrap()) == *man));
    }

    fn misfits(change: impl Fn(&str) -> String) -> Vec<String> {
        let rules = file::parse(&change(RULES), "test.toml", "test", &|_| None).unwrap();
        Men::of(&Variant::compile(rules).unwrap()).err().unwrap_or_default()
    }

    /// Names, letters and spelling make no difference; any rule does.
    #[test]
    fn rules_decide_and_nothing_else() {
        assert_eq!(misfits(|text| text.replace("\"Q\", moves = \"Q\"", "\"Q\", moves = \"BR\"")), [""; 0]);
        assert_eq!(misfits(|text| text.replace("\"K\", moves = \"K\"", "\"K\", moves = \"FW\"")), [""; 0]);
        assert_eq!(
            misfits(|text| text
                .replace("knight", "horse")
                .replace("\"N\", m", "\"H\", m")
                .replace("r n b q k b n r", "r h b q k b h r")
                .replace("R N B Q K B N R", "R H B Q K B H R")),
            [""; 0]
        );
        let misfit = |from: &str, to: &str| {
            assert!(RULES.contains(from), "{from}");
            misfits(|text| text.replace(from, to))
        };
        assert_eq!(misfit("fmWfcFifmnD", "fmW2fcF"), ["its unit pawn is none of orthodox chess"]);
        assert_eq!(misfit("takes and taken", "none"), ["its unit pawn is none of orthodox chess"]);
        assert_eq!(misfit("\"B\", moves = \"B\"", "\"B\", moves = \"R\""), ["its unit rook is a second rook"]);
        assert_eq!(misfit("to_higher_files = [2]", "to_higher_files = [2, 3]"), ["its castling is another"]);
        assert_eq!(misfit("\"bishop\", \"knight\"]", "\"bishop\"]"), ["its promotion is another"]);
        assert_eq!(misfit("must = true", "must = false"), ["its promotion is another"]);
        assert_eq!(misfit("\"draws\"", "\"wins\""), ["its games end otherwise"]);
        assert_eq!(
            misfit("\n[end]", "[drops]\nhand = { queen = 1 }\nzone = \"e4\"\n\n[end]"),
            ["it has units in hand"]
        );
    }
}
