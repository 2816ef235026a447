//! What is wrong with rules although every line of their file is right, which only tables and paths show: an array that
//! is no position, and different moves that would be written alike.

use super::paths::Path;
use super::rules::{CheckRule, Colour, Unit};
use super::{CompileError, Variant};
use crate::geometry::Square;
use std::collections::HashMap;

/// `[colour][unit][origin]` → paths.
pub(super) type Paths = [Vec<Vec<Vec<Path>>>; 2];

/// Everything in which rules contradict themselves.
pub(super) fn of(variant: &Variant, paths: &Paths) -> Vec<CompileError> {
    let mut found: Vec<CompileError> = check_of_black(variant).into_iter().collect();
    found.extend(en_passant_like_moves(variant, paths));
    found.extend(castlings_like_moves(variant, paths));
    found
}

/// An array in which White, who moves first, could take a king.
fn check_of_black(variant: &Variant) -> Option<CompileError> {
    let men: HashMap<Square, (Unit, Colour)> =
        variant.rules().array.iter().map(|&(square, unit, colour)| (square, (unit, colour))).collect();
    let royal = (variant.royal(), Colour::Black);
    let royals = variant.rules().array.iter().filter(|man| (man.1, man.2) == royal).map(|man| man.0);
    let (attacked, safe): (Vec<Square>, Vec<Square>) = royals.partition(|&square| is_attacked(variant, square, &men));
    let in_check = match variant.check_rule() {
        CheckRule::AnyRoyal => !attacked.is_empty(),
        CheckRule::EveryRoyal => safe.is_empty(),
    };
    let square = attacked.first().filter(|_| in_check)?;
    Some(CompileError::CheckAtStart { square: variant.topology().name(*square) })
}

fn is_attacked(variant: &Variant, square: Square, men: &HashMap<Square, (Unit, Colour)>) -> bool {
    let steps = variant.attack_steps(square, Colour::White);
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let man = men.get(&step.square);
        if man.is_some_and(|&(unit, colour)| colour == Colour::White && step.attackers >> unit.0 & 1 != 0) {
            return true;
        }
        at += if step.goes_on(man.is_none()) { 1 } else { usize::from(step.skip) };
    }
    false
}

/// Men that may go to a square with and without taking there could do both on a square that a pawn has passed. One
/// move of each is told.
fn en_passant_like_moves(variant: &Variant, paths: &Paths) -> Vec<CompileError> {
    if variant.passing_directions().is_empty() {
        return Vec::new();
    }
    let name = |square| variant.topology().name(square);
    let takers = variant.units().filter(|&unit| variant.unit(unit).takes_en_passant);
    let told = |unit: Unit| {
        let by_origin = paths.iter().flat_map(|by_unit| (0..=u8::MAX).zip(&by_unit[unit.index()]));
        let mut confused = by_origin.filter_map(|(origin, paths)| Some((origin, confused_target(paths)?)));
        let (origin, target) = confused.next()?;
        let (from, to) = (name(Square::from_index(origin)), name(target));
        Some(CompileError::EnPassantLikeMove { unit: variant.unit(unit).name.clone(), from, to })
    };
    takers.filter_map(told).collect()
}

/// A square to which one path leads without taking, and the same or another by taking.
fn confused_target(paths: &[Path]) -> Option<Square> {
    let taking = |path: &Path| paths.iter().any(|other| other.captures && may_be_confused(path, other));
    paths.iter().find(|path| path.moves && taking(path)).map(|path| path.target)
}

/// Castling by one square has a mark of its own in text; by more it must differ from all that the king does.
fn castlings_like_moves(variant: &Variant, paths: &Paths) -> Vec<CompileError> {
    let name = |square| variant.topology().name(square);
    let mut found = Vec::new();
    for wing in variant.castling() {
        let own = &paths[wing.colour.index()][variant.royal().index()][wing.king.index()];
        for to in wing.destinations.iter().map(|destination| destination.king_to) {
            let by_one = to.file().abs_diff(wing.king.file()) == 1;
            if !by_one && own.iter().any(|path| path.moves && path.target == to) {
                found.push(CompileError::CastlingLikeMove { from: name(wing.king), to: name(to) });
            }
        }
    }
    found
}

fn may_be_confused(a: &Path, b: &Path) -> bool {
    a.target == b.target && a.compatible(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::{CompileErrors, file};

    fn compiled(ranks: &str) -> Result<Variant, CompileErrors> {
        let pieces = "king = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n";
        let board = format!("[board]\nsetup = \"\"\"\n{ranks}\"\"\"\n");
        let text = format!("format = 1\n[variant]\nname = \"x\"\n{board}[pieces]\n{pieces}");
        Variant::compile(file::parse(&text, "x.toml", "x", &|_| None).unwrap())
    }

    #[test]
    fn white_may_not_begin_by_taking_the_king() {
        let attacked = compiled(". k . .\n. . . .\n. . . .\n. R K r\n");
        assert_eq!(attacked.err(), Some(CompileError::CheckAtStart { square: "b4".into() }.into()));
        assert!(compiled(". k . .\n. r . .\n. . . .\n. R K r\n").is_ok());
    }

    fn en_passant_by(moves: &str) -> Result<Variant, CompileErrors> {
        let king = "king = { letter = \"K\", moves = \"K\" }\n";
        let pawn = format!("pawn = {{ letter = \"P\", moves = \"{moves}\", en_passant = \"takes and taken\" }}\n");
        let board = "[board]\nsetup = \"\"\"\n. k .\np p p\n. . .\n. . .\n. . .\nP P P\n. K .\n\"\"\"\n";
        let text = format!("format = 1\n[variant]\nname = \"x\"\n{board}[pieces]\n{king}{pawn}");
        Variant::compile(file::parse(&text, "x.toml", "x", &|_| None).unwrap())
    }

    #[test]
    fn en_passant_must_not_read_like_a_quiet_move() {
        assert!(en_passant_by("fmWfmnDfcF").is_ok());
        let error = en_passant_by("fmWfmnDfF").unwrap_err();
        assert_eq!(
            error,
            CompileError::EnPassantLikeMove { unit: "pawn".into(), from: "a1".into(), to: "b2".into() }.into(),
            "{error}"
        );
        // Nothing is ever passed, so nothing can be confused.
        assert!(en_passant_by("fmWfF").is_ok());
    }

    #[test]
    fn castling_must_not_read_like_a_move_of_the_king() {
        let game = |king: &str, steps: u8| {
            let men = format!(
                "king = {{ letter = \"K\", moves = \"{king}\" }}\nrook = {{ letter = \"R\", moves = \"R\" }}\n"
            );
            let castling = format!("[castling]\npartner = \"rook\"\nking_steps = {{ to_higher_files = [{steps}] }}\n");
            let board = "[board]\nsetup = \"\"\"\n. k . . r\n. . . . .\n. . . . .\n. K . . R\n\"\"\"\n";
            let text = format!("format = 1\n[variant]\nname = \"x\"\n{board}[pieces]\n{men}{castling}");
            Variant::compile(file::parse(&text, "x.toml", "x", &|_| None).unwrap())
        };
        assert!(game("K", 2).is_ok() && game("K", 1).is_ok() && game("KD", 1).is_ok());
        let error = game("KD", 2).unwrap_err();
        let like = |from: &str, to: &str| CompileError::CastlingLikeMove { from: from.into(), to: to.into() };
        assert_eq!(error.errors, [like("b1", "d1"), like("b4", "d4")], "{error}");
    }
}
