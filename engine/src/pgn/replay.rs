//! A game as text, played through on its variant's board.

use super::tokens::Misread;
use super::{Comment, FaultKind, PgnGame, PgnMove, PgnResult, Place, Warning};
use crate::geometry::{SquareTextError, Topology};
use crate::moves::{Move, MoveKind, SanError};
use crate::position::{FenError, Position, Unobserved};
use crate::variant::Variant;
use std::sync::Arc;

/// A game before anybody knows what its moves mean.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) place: Place,
    pub(super) tags: Vec<(Place, (String, String))>,
    pub(super) comment: String,
    pub(super) moves: Vec<RawMove>,
    pub(super) marker: Option<(Place, PgnResult)>,
    pub(super) warnings: Vec<(Place, Warning)>,
}

/// A move before anybody knows what it means.
pub(super) struct RawMove {
    pub(super) place: Place,
    pub(super) text: String,
    pub(super) nags: Vec<u8>,
    pub(super) comment: String,
}

/// How a program writes squares and castlings.
struct Dialect {
    /// The board, with the ranks as the program numbers them.
    board: Topology,
    /// XBoard writes `O-O` for several of the castlings among which the king may choose.
    xboard: bool,
}

/// The tag by which XBoard describes the units of games that an engine has defined.
const XBOARD_TAG: &str = "VariantMen";

/// Plays the game through.
pub(super) fn play(
    raw: Raw,
    number: u64,
    variants: &mut impl FnMut(Option<&str>) -> Result<Arc<Variant>, String>,
) -> Result<PgnGame, Misread> {
    let variant = variant(&raw, variants)?;
    let dialect = Dialect::of(&raw, &variant);
    let start = start(&raw, &variant, &dialect)?;
    let mut warnings = raw.warnings.iter().map(|(place, warning)| (*place, warning.clone())).collect::<Vec<_>>();
    let moves = moves(&raw.moves, &start, &dialect, &mut warnings)?;
    let played =
        |(raw, mv): (&RawMove, Move)| PgnMove { mv, nags: raw.nags.clone(), comment: Comment::read(&raw.comment) };
    let mut game = PgnGame {
        number,
        line: raw.place.line,
        start,
        comment: Comment::read(&raw.comment),
        moves: raw.moves.iter().zip(moves).map(played).collect(),
        result: result(&raw, &mut warnings),
        tags: raw.tags.into_iter().map(|(_, tag)| tag).collect(),
        warnings,
    };
    let end = raw.marker.map_or(raw.place, |(place, _)| place);
    game.warnings.extend(against_the_rules(&game).map(|warning| (end, warning)));
    Ok(game)
}

impl Raw {
    fn tag(&self, name: &str) -> Option<(Place, &str)> {
        let tag = self.tags.iter().find(|(_, (known, _))| known == name);
        tag.map(|(place, (_, value))| (*place, value.as_str()))
    }
}

fn variant(
    raw: &Raw,
    variants: &mut impl FnMut(Option<&str>) -> Result<Arc<Variant>, String>,
) -> Result<Arc<Variant>, Misread> {
    let tag = raw.tag("Variant");
    variants(tag.map(|(_, name)| name)).map_err(|reason| {
        let (place, name) = tag.unwrap_or((raw.place, ""));
        (place, FaultKind::Variant { name: name.into(), reason })
    })
}

impl Dialect {
    fn of(raw: &Raw, variant: &Variant) -> Self {
        let board = variant.topology();
        let xboard = raw.tag(XBOARD_TAG).is_some();
        // XBoard calls the lowest of ten ranks 0 and of any other number 1.
        let board = if xboard { board.numbered_from(u8::from(board.height() != 10)) } else { board.clone() };
        Self { board, xboard }
    }
}

fn start(raw: &Raw, variant: &Arc<Variant>, dialect: &Dialect) -> Result<Position, Misread> {
    let set_up = raw.tag("SetUp").is_none_or(|(_, value)| value != "0");
    let Some((place, fen)) = raw.tag("FEN").filter(|_| set_up) else { return Ok(Position::start(variant)) };
    let fields = fen_fields(fen, variant, dialect);
    let read = |fields: &[String]| Position::from_fen(variant, &fields.join(" "));
    let position = read(&fields).or_else(|error| match (&error, fields.get(3)) {
        // What XBoard writes here knows of no pawn that goes more than two squares.
        (FenError::EnPassant { .. }, Some(_)) if dialect.xboard => {
            let mut fields = fields.clone();
            fields[3] = "-".into();
            read(&fields)
        }
        _ => Err(error),
    });
    position.map_err(|error| (place, FaultKind::Start(error)))
}

/// The fields of a FEN in our own spelling: XBoard calls an empty hand `[-]` and numbers ranks otherwise, and several
/// programs leave fields out.
fn fen_fields(fen: &str, variant: &Variant, dialect: &Dialect) -> Vec<String> {
    let mut fields: Vec<String> = fen.split_ascii_whitespace().map(str::to_owned).collect();
    if let Some(board) = fields.first_mut() {
        *board = board.replace("[-]", "[]");
    }
    let is_number = |field: &String| field.bytes().all(|byte| byte.is_ascii_digit());
    if fields.len() == 5 && is_number(&fields[3]) {
        fields.insert(3, "-".into());
    }
    if fields.len() == 4 {
        fields.extend(["0".into(), "1".into()]);
    }
    if let Some(passed) = fields.get_mut(3).filter(|_| dialect.xboard) {
        *passed = renumbered(passed, &dialect.board, variant.topology()).unwrap_or_else(|_| passed.clone());
    }
    fields
}

/// Squares run together, called as on another board.
fn renumbered(squares: &str, from: &Topology, to: &Topology) -> Result<String, SquareTextError> {
    let mut text = String::new();
    let mut rest = squares;
    while !rest.is_empty() {
        let (square, after) = from.parse_prefix(rest)?;
        text.push_str(&to.name(square));
        rest = after;
    }
    Ok(text)
}

/// A castling that was read as one of several.
struct Branch {
    ply: usize,
    before: Position,
    /// What else it may be.
    others: Vec<Move>,
    /// All of it, in words.
    words: Vec<String>,
}

/// Reads the moves one after the other. Where XBoard's castling may be one of several, takes the first that lets the
/// rest be played: each side castles once, so there are few ways.
fn moves(
    raw: &[RawMove],
    start: &Position,
    dialect: &Dialect,
    warnings: &mut Vec<(Place, Warning)>,
) -> Result<Vec<Move>, Misread> {
    let mut position = start.clone();
    let mut moves: Vec<Move> = Vec::with_capacity(raw.len());
    let mut branches: Vec<Branch> = Vec::new();
    let mut furthest: Option<(usize, SanError)> = None;
    while let Some(next) = raw.get(moves.len()) {
        let mv = match read_move(&next.text, &position, dialect) {
            Ok((mv, others)) => {
                if !others.is_empty() {
                    let words = std::iter::once(mv).chain(others.iter().copied()).map(|mv| position.san(mv)).collect();
                    branches.push(Branch { ply: moves.len(), before: position.clone(), others, words });
                }
                mv
            }
            Err(error) => {
                if furthest.as_ref().is_none_or(|(ply, _)| moves.len() > *ply) {
                    furthest = Some((moves.len(), error));
                }
                match other_way(&mut branches) {
                    Some((ply, before, mv)) => {
                        moves.truncate(ply);
                        position = before;
                        mv
                    }
                    None => break,
                }
            }
        };
        position.make(mv, &mut Unobserved);
        moves.push(mv);
    }
    if let Some((ply, error)) = furthest.filter(|_| moves.len() < raw.len()) {
        return Err((raw[ply].place, FaultKind::Move(error)));
    }
    for Branch { ply, before, words, .. } in branches {
        let (text, read) = (raw[ply].text.clone(), before.san(moves[ply]));
        warnings.push((raw[ply].place, Warning::Castling { text, moves: words, read }));
    }
    Ok(moves)
}

/// The next way to read the last castling that has one left.
fn other_way(branches: &mut Vec<Branch>) -> Option<(usize, Position, Move)> {
    while let Some(branch) = branches.last_mut() {
        if branch.others.is_empty() {
            branches.pop();
        } else {
            let mv = branch.others.remove(0);
            return Some((branch.ply, branch.before.clone(), mv));
        }
    }
    None
}

/// What a text means, and what else it may mean.
fn read_move(text: &str, position: &Position, dialect: &Dialect) -> Result<(Move, Vec<Move>), SanError> {
    let mut fitting = position.moves_written(text, &dialect.board)?;
    let castles = fitting.iter().all(|mv| mv.kind() == MoveKind::Castling);
    if fitting.len() > 1 && dialect.xboard && castles {
        fitting.retain(|&mv| xboard_calls_it_o_o(position, mv));
        fitting.sort_by_key(|mv| std::cmp::Reverse(mv.from().file().abs_diff(mv.to().file())));
    }
    match fitting.split_first() {
        Some((&mv, others)) if others.is_empty() || dialect.xboard && castles => Ok((mv, others.to_vec())),
        _ => Err(position
            .parse_san(text)
            .err()
            .unwrap_or_else(|| SanError::NoneFits { text: text.into(), fen: position.fen() })),
    }
}

/// XBoard writes `O-O` and `O-O-O` for the king that takes its own rook, which is how a castling of one step is entered,
/// and for one from the middle of the board that ends as far from the edge as in orthodox chess or its mirror image. Other
/// castlings are king moves.
fn xboard_calls_it_o_o(position: &Position, castling: Move) -> bool {
    let width = position.variant().topology().width();
    let (from, to) = (castling.from().file(), castling.to().file());
    let orthodox = from == width / 2 && (to == 2 || to + 2 == width);
    let mirrored = from == (width - 1) / 2 && (to == 1 || to + 3 == width);
    from.abs_diff(to) == 1 || orthodox || mirrored
}

fn result(raw: &Raw, warnings: &mut Vec<(Place, Warning)>) -> PgnResult {
    let tag = raw.tag("Result");
    let tagged = tag.and_then(|(_, text)| PgnResult::read(text));
    match raw.marker {
        None => {
            let result = tagged.unwrap_or(PgnResult::Unfinished);
            warnings.push((raw.place, Warning::NoResult(result)));
            result
        }
        Some((place, marker)) => {
            if let Some((_, tag)) = tag.filter(|_| tagged != Some(marker)) {
                warnings.push((place, Warning::Results { tag: tag.into(), marker }));
            }
            marker
        }
    }
}

/// What the rules say against the result: nothing if the game is not over by them, or the result is not known.
fn against_the_rules(game: &PgnGame) -> Option<Warning> {
    if game.result == PgnResult::Unfinished {
        return None;
    }
    let outcome = game.game().outcome()?;
    let decided = PgnResult::from(outcome);
    let differs = decided != game.result;
    differs.then_some(Warning::Outcome { result: game.result, outcome: decided, reason: outcome.reason })
}
