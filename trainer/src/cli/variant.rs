//! `fairyforge variant list | check | show | explain`.

use super::output::outln;
use super::{Failure, load_variant};
use crate::run_dir::write_atomically;
use anyhow::{Context, anyhow};
use fairyforge_engine::drawing::unit_moves;
use fairyforge_engine::evaluate::Weights;
use fairyforge_engine::explain::Explanation;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, Rules};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The variants.
#[derive(clap::Subcommand)]
pub enum VariantCommand {
    /// List the variants that are built in.
    #[command(after_help = "Example:\n  fairyforge variant list")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check variant files: all faults of all files are told, each with its place.
    #[command(after_help = "Example:\n  fairyforge variant check my-game.toml configs/variants/*.toml")]
    Check {
        /// Variant files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Show a variant: its board, its units and what they are worth before anything is measured.
    #[command(after_help = "Example:\n  fairyforge variant show herculean")]
    Show {
        /// Name or file of the variant.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain a variant: its rules in English, every unit's moves drawn, and the facts a designer wants.
    #[command(
        after_help = "Examples:\n  fairyforge variant explain herculean\n  fairyforge variant explain my-game.toml --json\n  fairyforge variant explain herculean --svg drawings"
    )]
    Explain {
        /// Name or file of the variant.
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Instead, draw the moves of every unit into SVG files in this folder.
        #[arg(long, value_name = "FOLDER", conflicts_with = "json")]
        svg: Option<PathBuf>,
    },
}

pub(super) fn run(command: &VariantCommand) -> Result<(), Failure> {
    match command {
        VariantCommand::List { json } => list(*json),
        VariantCommand::Check { files } => check(files),
        VariantCommand::Show { name, json } => show(name, *json),
        VariantCommand::Explain { name, svg: Some(folder), .. } => draw(name, folder),
        VariantCommand::Explain { name, json, svg: None } => explain(name, *json),
    }
}

fn list(as_json: bool) -> Result<(), Failure> {
    let variants = Variant::shipped_names().map(load_variant).collect::<Result<Vec<_>, _>>()?;
    let facts = |variant: &Variant| {
        let (rules, topology) = (variant.rules(), variant.topology());
        (
            format!("{}x{}", topology.width(), topology.height()),
            topology.squares().len(),
            rules.array.len(),
            rules.units.len(),
        )
    };
    if as_json {
        let rows: Vec<_> = variants
            .iter()
            .map(|variant| {
                let (board, squares, men, units) = facts(variant);
                let title = &variant.rules().title;
                json!({"name": variant.name(), "title": title, "board": board, "squares": squares, "men": men, "units": units, "rules_hash": variant.rules_hash()})
            })
            .collect();
        outln!("{}", json!(rows))?;
        return Ok(());
    }
    outln!("{:<36} {:<7} {:>7} {:>4} {:>5}  title", "name", "board", "squares", "men", "units")?;
    for variant in &variants {
        let (board, squares, men, units) = facts(variant);
        outln!("{:<36} {board:<7} {squares:>7} {men:>4} {units:>5}  {}", variant.name(), variant.rules().title)?;
    }
    Ok(())
}

fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut faulty = 0;
    for file in files {
        match Variant::load(&file.to_string_lossy()) {
            Ok(variant) => outln!("{}: {} ({} units)", file.display(), variant.rules().title, variant.units().len())?,
            Err(error) => {
                faulty += 1;
                crate::errln!("{error}");
            }
        }
    }
    if faulty == 0 { Ok(()) } else { Err(Failure::BadInput(anyhow!("{faulty} of {} files have faults", files.len()))) }
}

fn show(name: &str, as_json: bool) -> Result<(), Failure> {
    let variant = load_variant(name)?;
    let start = Position::start(&variant);
    let weights = Weights::a_priori(&variant);
    let rules = variant.rules();
    let units = variant.units().zip(&weights.units).map(|(unit, weights)| {
        let rules = variant.unit(unit);
        (
            rules.letter,
            rules.name.as_str(),
            start.count(unit, Colour::White),
            variant.mean_mobility(unit, 1.0).mean(),
            weights,
        )
    });
    if as_json {
        let units: Vec<_> = units
            .map(|(letter, name, count, mobility, weights)| json!({"letter": letter, "name": name, "count": count, "mobility": mobility, "middlegame": weights.middlegame, "endgame": weights.endgame}))
            .collect();
        outln!(
            "{}",
            json!({"name": variant.name(), "title": rules.title, "author": rules.author, "fen": start.fen(), "rules_hash": variant.rules_hash(), "units": units})
        )?;
        return Ok(());
    }
    outln!("{}\n\n{start}\n\n{}\n", title_and_author(rules), start.fen())?;
    outln!("letter  {:<22} men  mobility  middlegame  endgame", "unit")?;
    for (letter, name, count, mobility, weights) in units {
        outln!(
            "{letter:<6}  {name:<22} {count:>3}  {mobility:>8.2}  {:>10}  {:>7}",
            weights.middlegame,
            weights.endgame
        )?;
    }
    outln!("\nmobility: mean squares reached on the empty board; values in centipawns, before anything is measured")?;
    outln!("rules hash {}", variant.rules_hash())?;
    Ok(())
}

fn explain(name: &str, as_json: bool) -> Result<(), Failure> {
    let explanation = Explanation::of(&load_variant(name)?);
    if as_json { outln!("{}", json!(explanation)) } else { outln!("{explanation}") }
}

/// A file a drawing: most units have one, those whose moves depend on where they stand several.
fn draw(name: &str, folder: &Path) -> Result<(), Failure> {
    let variant = load_variant(name)?;
    let explanation = Explanation::of(&variant);
    for (unit, explained) in variant.units().zip(&explanation.units) {
        for (number, diagram) in (1..).zip(&explained.diagrams) {
            let place = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{}{place}.svg", variant.unit(unit).name));
            write_atomically(&path, unit_moves(&variant, unit, diagram).as_bytes())
                .context("cannot write a drawing")?;
            outln!("{}", path.display())?;
        }
    }
    Ok(())
}

fn title_and_author(rules: &Rules) -> String {
    if rules.author.is_empty() { rules.title.clone() } else { format!("{} by {}", rules.title, rules.author) }
}
