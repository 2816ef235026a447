//! `fairyforge perft`.

use super::output::outln;
use super::{Failure, OrBadInput, load_variant};
use fairyforge_engine::moves::perft::{divide, perft};
use fairyforge_engine::position::Position;
use serde_json::json;

/// Deeper trees cannot be counted in a lifetime.
const MOST_DEPTH: u32 = 20;

/// Count the leaves of the tree of legal moves.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge perft --variant herculean --depth 4\n  fairyforge perft --variant chess --depth 3 --divide"
)]
pub struct PerftArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// Depth in plies.
    #[arg(long, value_parser = clap::value_parser!(u32).range(..=i64::from(MOST_DEPTH)))]
    depth: u32,
    /// Position; the variant's array if absent.
    #[arg(long)]
    fen: Option<String>,
    /// Also print the leaves below each move.
    #[arg(long)]
    divide: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &PerftArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let mut position = match &args.fen {
        Some(fen) => Position::from_fen(&variant, fen).or_bad_input(|| format!("cannot read the position {fen:?}"))?,
        None => Position::start(&variant),
    };
    let below = if args.divide && args.depth > 0 { divide(&mut position, args.depth) } else { Vec::new() };
    let nodes = if below.is_empty() { perft(&mut position, args.depth) } else { below.iter().map(|(_, n)| n).sum() };
    let below: Vec<(String, u64)> = below.into_iter().map(|(mv, n)| (position.move_text(mv), n)).collect();
    if args.json {
        let moves: serde_json::Map<_, _> = below.into_iter().map(|(mv, n)| (mv, json!(n))).collect();
        let variant = variant.name();
        outln!(
            "{}",
            json!({"variant": variant, "fen": position.fen(), "depth": args.depth, "nodes": nodes, "moves": moves})
        )?;
        return Ok(());
    }
    for (mv, leaves) in below {
        outln!("{mv}: {leaves}")?;
    }
    outln!("nodes {nodes}")?;
    Ok(())
}
