//! What is wrong with rules although every line of their file is right, which only tables and paths show: an array that
//! is no position, and different moves that would be written alike.

use super::paths::Path;
use super::rules::{CheckRule, Colour, Unit};
use super::{CompileError, Variant};
use crate::geometry::Square;
use std::collections::HashMap;

/// `[colour][unit][origin]` → paths.
pub(super) type Paths = [Vec<Vec<Vec<Path>>>; 2];

/// Refuses rules that contradict themselves.
pub(super) fn refuse(variant: &Variant, paths: &Paths) -> Result<(), CompileError> {
    refuse_check_of_black(variant)?;
    refuse_en_passant_like_a_move(variant, paths)?;
    refuse_castling_like_a_move(variant, paths)
}

/// Refuses an array in which White, who moves first, could take a king.
fn refuse_check_of_black(variant: &Variant) -> Result<(), CompileError> {
    let men: HashMap<Square, (Unit, Colour)> =
        variant.rules().array.iter().map(|&(square, unit, colour)| (square, (unit, colour))).collect();
    let royal = (variant.royal(), Colour::Black);
    let royals = variant.rules().array.iter().filter(|man| (man.1, man.2) == royal).map(|man| man.0);
    let (attacked, safe): (Vec<Square>, Vec<Square>) = royals.partition(|&square| is_attacked(variant, square, &men));
    let in_check = match variant.check_rule() {
        CheckRule::AnyRoyal => !attacked.is_empty(),
        CheckRule::EveryRoyal => safe.is_empty(),
    };
    match attacked.first() {
        Some(&square) if in_check => Err(CompileError::CheckAtStart { square: variant.topology().name(square) }),
        _ => Ok(()),
    }
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

/// A man that may go to a square with and without taking there could do both on a square that a pawn has passed.
fn refuse_en_passant_like_a_move(variant: &Variant, paths: &Paths) -> Result<(), CompileError> {
    if variant.passing_directions().is_empty() {
        return Ok(());
    }
    let takers = variant.units().filter(|&unit| variant.unit(unit).takes_en_passant);
    for (unit, by_origin) in takers.flat_map(|unit| paths.iter().map(move |by_unit| (unit, &by_unit[unit.index()]))) {
        for (origin, paths) in (0..=u8::MAX).map(Square::from_index).zip(by_origin) {
            let taking = |path: &Path| paths.iter().any(|other| other.captures && may_be_confused(path, other));
            if let Some(path) = paths.iter().find(|path| path.moves && taking(path)) {
                let name = |square| variant.topology().name(square);
                return Err(CompileError::EnPassantLikeMove {
                    unit: variant.unit(unit).name.clone(),
                    from: name(origin),
                    to: name(path.target),
                });
            }
        }
    }
    Ok(())
}

/// Castling by one square has a mark of its own in text; by more it must differ from all that the king does.
fn refuse_castling_like_a_move(variant: &Variant, paths: &Paths) -> Result<(), CompileError> {
    for wing in variant.castling() {
        let own = &paths[wing.colour.index()][variant.royal().index()][wing.king.index()];
        for destination in &wing.destinations {
            let to = destination.king_to;
            let by_one = to.file().abs_diff(wing.king.file()) == 1;
            if !by_one && own.iter().any(|path| path.moves && path.target == to) {
                let name = |square| variant.topology().name(square);
                return Err(CompileError::CastlingLikeMove { from: name(wing.king), to: name(to) });
            }
        }
    }
    Ok(())
}

fn may_be_confused(a: &Path, b: &Path) -> bool {
    a.target == b.target && a.compatible(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::file;

    fn compiled(ranks: &str) -> Result<Variant, CompileError> {
        let pieces = "king = { letter = \"K\", moves = \"K\" }\nrook = { letter = \"R\", moves = \"R\" }\n";
        let board = format!("[board]\nsetup = \"\"\"\n{ranks}\"\"\"\n");
        let text = format!("format = 1\n[variant]\nname = \"x\"\n{board}[pieces]\n{pieces}");
        Variant::compile(file::parse(&text, "x.toml", "x", &|_| None).unwrap())
    }

    #[test]
    fn white_may_not_begin_by_taking_the_king() {
        let attacked = compiled(". k . .\n. . . .\n. . . .\n. R K r\n");
        assert_eq!(attacked.err(), Some(CompileError::CheckAtStart { square: "b4".into() }));
        assert!(compiled(". k . .\n. r . .\n. . . .\n. R K r\n").is_ok());
    }

    fn en_passant_by(moves: &str) -> Result<Variant, CompileError> {
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
            CompileError::EnPassantLikeMove { unit: "pawn".into(), from: "a1".into(), to: "b2".into() },
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
        assert_eq!(error, CompileError::CastlingLikeMove { from: "b1".into(), to: "d1".into() }, "{error}");
    }
}
