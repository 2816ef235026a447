//! `fairyforge board`: a position as text or as SVG.

use super::output::{line, outln};
use super::{Failure, OrBadInput, load_variant};
use crate::arena::openings::fen_column;
use crate::run_dir::write_atomically;
use anyhow::{Context, anyhow};
use fairyforge_engine::drawing::{BoardView, DEFAULT_SIZE, SIZES, board, text};
use fairyforge_engine::game::Game;
use fairyforge_engine::geometry::SquareSet;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::Colour;
use std::path::PathBuf;
use std::sync::Arc;

/// Draw a position, as text or as SVG.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge board --variant herculean --svg --out start.svg\n  fairyforge board --variant chess --moves \"e2e4 e7e5 g1f3\"\n  fairyforge board --variant chess --moves \"e2e4 e7e5\" --svg --from black --mark \"d4 f4\" --out game.svg\n\n\
                  In the drawing the form of a man tells how it moves; docs/boards.md explains it."
)]
pub struct BoardArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// Position; the variant's array if absent.
    #[arg(long)]
    fen: Option<String>,
    /// Moves played from there, as `a3a6 j10j7`; in the drawing the last one's squares are tinted.
    #[arg(long)]
    moves: Option<String>,
    /// Draw SVG; without it, the text that UCI's `d` prints.
    #[arg(long)]
    svg: bool,
    /// The file to write; standard output if absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Who sits at the lower edge of the drawing.
    #[arg(long, value_enum, default_value = "white", requires = "svg")]
    from: Side,
    /// Squares to be framed in the drawing, as `a3 j10`.
    #[arg(long, requires = "svg")]
    mark: Option<String>,
    /// Pixels of the drawing's longer side.
    #[arg(long, default_value_t = DEFAULT_SIZE, requires = "svg", value_parser = clap::value_parser!(u16).range(i64::from(*SIZES.start())..=i64::from(*SIZES.end())))]
    size: u16,
}

/// A side of the board.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Side {
    White,
    Black,
}

impl From<Side> for Colour {
    fn from(side: Side) -> Self {
        match side {
            Side::White => Self::White,
            Side::Black => Self::Black,
        }
    }
}

pub(super) fn run(args: &BoardArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let mut game = Game::new(start(&variant, args.fen.as_deref())?);
    play(&mut game, args.moves.as_deref().unwrap_or_default())?;
    let drawing = if args.svg { board(game.position(), &view(args, &game)?) } else { format!("{}\n", text(&game)) };
    let Some(path) = &args.out else { return line(format_args!("{}", drawing.trim_end())) };
    write_atomically(path, drawing.as_bytes()).context("cannot write the board")?;
    outln!("{}, move {}, in {}", variant.rules().title, game.position().full_moves(), path.display())
}

fn start(variant: &Arc<Variant>, fen: Option<&str>) -> Result<Position, Failure> {
    let Some(fen) = fen else { return Ok(Position::start(variant)) };
    Position::from_fen(variant, fen).map_err(|error| {
        let column = fen_column(fen, variant, &error);
        Failure::BadInput(anyhow!(error).context(format!("cannot read the position {fen:?}, column {column}")))
    })
}

fn play(game: &mut Game, moves: &str) -> Result<(), Failure> {
    for (number, text) in (1..).zip(moves.split_whitespace()) {
        let mv = game.position().parse_move(text).or_bad_input(|| format!("cannot play the {number}. move"))?;
        game.play(mv);
    }
    Ok(())
}

fn view(args: &BoardArgs, game: &Game) -> Result<BoardView, Failure> {
    let topology = game.position().variant().topology();
    let names = args.mark.iter().flat_map(|names| names.split_whitespace());
    let marks = names
        .map(|name| topology.parse(name))
        .collect::<Result<SquareSet, _>>()
        .or_bad_input(|| "cannot mark a square".into())?;
    Ok(BoardView { below: args.from.into(), size: args.size, last_move: game.moves().last().copied(), marks })
}
