//! `fairyforge book explore`: what a book knows of a position.

use super::super::output::outln;
use super::super::{Failure, OrBadInput};
use super::{BookArgs, load};
use crate::table::{Style, Table};
use anyhow::anyhow;
use fairyforge_engine::book::{Book, BookMove};
use fairyforge_engine::position::Position;
use serde_json::{Value as Json, json};

/// What `explore` is told.
#[derive(clap::Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    book: BookArgs,
    /// The position; the book's first root if absent.
    #[arg(long)]
    fen: Option<String>,
    /// Moves played from there, in coordinates or as people write them: `e2e4 e7e5` or `e4 e5`.
    #[arg(long)]
    moves: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn explore(args: &ExploreArgs) -> Result<(), Failure> {
    let (variant, book) = load(&args.book)?;
    let mut position = match &args.fen {
        Some(fen) => Position::from_fen(&variant, fen).or_bad_input(|| format!("cannot read the position {fen:?}"))?,
        None => book.roots().first().cloned().ok_or_else(|| anyhow!("the book has no root"))?,
    };
    for text in args.moves.iter().flat_map(|moves| moves.split_whitespace()) {
        let mv = position.parse_move(text).or_else(|_| position.parse_san(text));
        let mv = mv.or_bad_input(|| "cannot play the moves".into())?;
        position.make(mv, &mut fairyforge_engine::position::Unobserved);
    }
    let legal = position.legal_moves();
    let moves: Vec<BookMove> = book.moves(&position).into_iter().filter(|entry| legal.contains(&entry.mv)).collect();
    if args.json { moves_as_json(&book, &position, &moves) } else { moves_as_table(&book, &position, &moves) }
}

/// Whether the book goes on behind a move.
fn goes_on(book: &Book, position: &Position, entry: &BookMove) -> bool {
    book.has(crate::book::graph::Child::behind(position, entry.mv).key)
}

fn moves_as_json(book: &Book, position: &Position, moves: &[BookMove]) -> Result<(), Failure> {
    let told = |entry: &BookMove| {
        let [wins, draws, losses] = entry.results;
        json!({
            "move": position.move_text(entry.mv), "san": position.san(entry.mv), "weight": entry.weight,
            "value": entry.value, "searched": entry.searched, "wins": wins, "draws": draws, "losses": losses,
            "nodes": entry.nodes, "goes_on": goes_on(book, position, entry),
        })
    };
    let moves: Vec<Json> = moves.iter().map(told).collect();
    outln!("{}", json!({"fen": position.fen(), "moves": moves}))
}

fn moves_as_table(book: &Book, position: &Position, moves: &[BookMove]) -> Result<(), Failure> {
    outln!("{}", position.fen())?;
    if moves.is_empty() {
        return outln!("the book does not have this position");
    }
    let sum: u32 = moves.iter().map(|entry| u32::from(entry.weight)).sum();
    let mut table = Table::new(&["move", "plays %", "value", "searched", "won", "drawn", "lost", "nodes", "book"]);
    for entry in moves {
        let value = |value: Option<i16>| value.map_or_else(|| "–".into(), |value| value.to_string());
        let share = 100.0 * f64::from(entry.weight) / f64::from(sum.max(1));
        let on = if goes_on(book, position, entry) { "goes on" } else { "" };
        let mut row = vec![position.san(entry.mv), format!("{share:.1}"), value(entry.value), value(entry.searched)];
        row.extend(entry.results.iter().map(ToString::to_string));
        row.extend([entry.nodes.to_string(), on.into()]);
        table.row(row);
    }
    outln!("{}", table.in_style(Style::Plain).trim_end())
}
