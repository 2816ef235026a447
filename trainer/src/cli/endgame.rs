//! `fairyforge endgame build | verify | probe`: tables of few men, made, checked and asked.

mod display;
mod folder;

use super::output::outln;
use super::{Failure, OrBadInput, load_variant, stop_on_interrupt, threads};
use anyhow::anyhow;
pub(super) use display::Display;
use fairyforge_engine::endgame::{
    EndgameError, Longest, MOST_MEN, Material, Plan, Planned, Sample, Statistics, Tables, Value, Work, solve, verify,
};
use fairyforge_engine::position::{Position, Unobserved};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, SideResult};
use folder::Folder;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Memory that tables may take unless told otherwise, in gibibytes.
const MEMORY: u64 = 24;
/// Bytes of a gibibyte, and of a mebibyte.
const GIBIBYTE: u64 = 1 << 30;
const MEBIBYTE: u64 = 1 << 20;

/// Tables of few men.
#[derive(clap::Subcommand)]
pub enum EndgameCommand {
    /// Make the table of these men, and all smaller ones it leads to, by retrograde analysis.
    ///
    /// Positions have no castling or en-passant rights and nobody has men in hand; repetition and the move count are ignored. A table
    /// that is there is kept: an interrupted command goes on where it was.
    #[command(
        after_help = "Examples:\n  fairyforge endgame build --variant sorcerer --men \"K+S v K\" --out data/endgames/sorcerer\n  fairyforge endgame build --variant chess --men \"K+B+N v K\" --out data/endgames/chess --json"
    )]
    Build(BuildArgs),
    /// Check tables against the ordinary move generator: all positions of up to three men, of four men so many drawn by lot.
    #[command(after_help = "Example:\n  fairyforge endgame verify data/endgames/chess")]
    Verify(VerifyArgs),
    /// What a position is worth, and each of its moves.
    #[command(
        after_help = "Example:\n  fairyforge endgame probe data/endgames/chess --fen \"8/8/8/8/8/2k5/8/K6Q w - - 0 1\""
    )]
    Probe(ProbeArgs),
}

/// What `build` is told.
#[derive(clap::Args)]
pub struct BuildArgs {
    /// Name or file of the variant.
    #[arg(long)]
    variant: String,
    /// The men: White's, then Black's, by the letters of the variant, as "K+N v K".
    #[arg(long)]
    men: String,
    /// Folder of the tables of this variant.
    #[arg(long)]
    out: PathBuf,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Memory that tables may take, in gibibytes; what would need more is refused before it starts.
    #[arg(long, default_value_t = MEMORY, value_parser = clap::value_parser!(u64).range(1..=65_536))]
    memory: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What `verify` is told.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Folder of tables.
    dir: PathBuf,
    /// File of the variant, if the one that the tables name is not shipped.
    #[arg(long)]
    variant: Option<String>,
    /// Legal positions to draw of a table of four men.
    #[arg(long, default_value_t = 1_000_000)]
    positions: u64,
    /// Seed of the lot.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Check every position of every table, however long it takes.
    #[arg(long)]
    all: bool,
    /// Threads; 0 is one a core.
    #[arg(long, default_value_t = 0, value_parser = threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What `probe` is told.
#[derive(clap::Args)]
pub struct ProbeArgs {
    /// Folder of tables.
    dir: PathBuf,
    /// The position.
    #[arg(long)]
    fen: String,
    /// File of the variant, if the one that the tables name is not shipped.
    #[arg(long)]
    variant: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &EndgameCommand) -> Result<(), Failure> {
    match command {
        EndgameCommand::Build(args) => build(args),
        EndgameCommand::Verify(args) => verify_folder(args),
        EndgameCommand::Probe(args) => probe(args),
    }
}

fn build(args: &BuildArgs) -> Result<(), Failure> {
    let variant = load_variant(&args.variant)?;
    let what = || format!("cannot make the table of {:?}", args.men);
    let material = Material::parse(&variant, &args.men).or_bad_input(what)?;
    let plan = Plan::of(&variant, &material).or_bad_input(what)?;
    refuse_too_large(&plan, args.memory).map_err(|error| Failure::BadInput(error.context(what())))?;
    let stop = stop_on_interrupt()?;
    let builder = Builder { variant: &variant, folder: Folder::new(&args.out), threads: args.threads, stop: &stop };
    let tables = builder.build(&plan)?;
    let statistics = builder.statistics(&tables, &material)?;
    if args.json {
        outln!("{}", as_json(&variant, &material, &plan, &statistics))
    } else {
        as_text(&variant, &material, &statistics)
    }
}

fn refuse_too_large(plan: &Plan, gibibytes: u64) -> Result<(), anyhow::Error> {
    let peak = plan.peak_bytes();
    let told = |bytes: u64| format!("{:.1} GiB", bytes as f64 / GIBIBYTE as f64);
    if peak > gibibytes * GIBIBYTE {
        return Err(anyhow!("it would take {} of memory, more than the {gibibytes} GiB of --memory", told(peak)));
    }
    let largest = plan.tables.last().map_or(0, |planned| 2 * planned.slots);
    eprintln!(
        "{} tables, the largest {} MiB, {} MiB of memory",
        plan.tables.len(),
        largest.div_ceil(MEBIBYTE),
        peak.div_ceil(MEBIBYTE)
    );
    Ok(())
}

/// Makes tables in a folder.
struct Builder<'a> {
    variant: &'a Arc<Variant>,
    folder: Folder,
    threads: usize,
    stop: &'a AtomicBool,
}

impl Builder<'_> {
    /// Makes those tables of a plan that are not there yet. Returns the last of them, with others that were in memory.
    fn build(&self, plan: &Plan) -> Result<Tables, Failure> {
        let mut tables = Tables::new();
        for (number, planned) in plan.tables.iter().enumerate() {
            let is_last = number + 1 == plan.tables.len();
            if self.folder.has(self.variant, &planned.material)? {
                if is_last {
                    tables = Tables::new();
                    tables.insert(self.folder.read(self.variant, &planned.material)?);
                }
                continue;
            }
            self.folder.keep(&mut tables, self.variant, &planned.needs)?;
            let title = format!("{} ({} of {})", planned.material.text(self.variant), number + 1, plan.tables.len());
            let table = self.solve(planned, &tables, &title)?;
            self.folder.write(&table)?;
            tables.insert(table);
        }
        Ok(tables)
    }

    fn solve(
        &self,
        planned: &Planned,
        tables: &Tables,
        title: &str,
    ) -> Result<fairyforge_engine::endgame::Table, Failure> {
        let display = Display::new(title);
        let report = |stage| display.show(stage);
        let work = Work { threads: self.threads, stop: self.stop, report: &report };
        solve(self.variant, planned, tables, &work).map_err(interrupted_or_failed)
    }

    fn statistics(&self, tables: &Tables, material: &Material) -> Result<[Statistics; 2], Failure> {
        let display = Display::new("counting");
        let report = |stage| display.show(stage);
        let work = Work { threads: self.threads, stop: self.stop, report: &report };
        let table = tables.get(material).ok_or_else(|| anyhow!("the table is missing"))?;
        let of = |side| table.statistics(side, &work).ok_or_else(interrupted);
        Ok([of(Colour::White)?, of(Colour::Black)?])
    }
}

fn interrupted() -> Failure {
    Failure::Interrupted("stopped; the same command goes on after the tables that are finished".into())
}

fn interrupted_or_failed(error: EndgameError) -> Failure {
    match error {
        EndgameError::Stopped { .. } => interrupted(),
        error => Failure::Failed(error.into()),
    }
}

/// The side with more men; of equals White.
fn strong_side(material: &Material) -> Colour {
    if material.count(Colour::Black) > material.count(Colour::White) { Colour::Black } else { Colour::White }
}

fn as_json(variant: &Variant, material: &Material, plan: &Plan, statistics: &[Statistics; 2]) -> Json {
    let slots = plan.planned(material).map_or(0, |planned| planned.slots);
    let strong = strong_side(material);
    let mut told = counts_as_json(&statistics[strong.index()]);
    told["variant"] = json!(variant.name());
    told["rules_hash"] = json!(variant.rules_hash());
    told["men"] = json!(material.text(variant));
    told["strong_side"] = json!(if strong == Colour::White { "white" } else { "black" });
    told["weak_side_to_move"] = counts_as_json(&statistics[strong.opponent().index()]);
    told["bytes"] = json!(2 * slots);
    told["tables"] = json!(plan.tables.len());
    told
}

fn counts_as_json(counts: &Statistics) -> Json {
    let moves = |longest: &Option<Longest>| longest.as_ref().map_or(0, |longest| longest.value.moves());
    let fen = |longest: &Option<Longest>| longest.as_ref().map(|longest| longest.fen.clone());
    let (win, loss) = (&counts.longest_win, &counts.longest_loss);
    json!({
        "positions": counts.positions,
        "won": counts.won,
        "drawn": counts.drawn(),
        "lost": counts.lost,
        "longest_moves": moves(win),
        "longest_plies": win.as_ref().map_or(0, |longest| longest.value.plies),
        "longest_fen": fen(win),
        "longest_loss_moves": moves(loss),
        "longest_loss_fen": fen(loss),
    })
}

fn as_text(variant: &Variant, material: &Material, statistics: &[Statistics; 2]) -> Result<(), Failure> {
    outln!("{}, {}", material.text(variant), variant.rules().title)?;
    for (side, counts) in Colour::BOTH.into_iter().zip(statistics) {
        let share = |count: u64| 100.0 * count as f64 / counts.positions.max(1) as f64;
        outln!(
            "{side:?} to move: {} positions, {} won ({:.2} %), {} drawn ({:.2} %), {} lost ({:.2} %)",
            counts.positions,
            counts.won,
            share(counts.won),
            counts.drawn(),
            share(counts.drawn()),
            counts.lost,
            share(counts.lost)
        )?;
        for longest in [&counts.longest_win, &counts.longest_loss].into_iter().flatten() {
            outln!("  longest {}: {}", longest.value, longest.fen)?;
        }
    }
    Ok(())
}

fn verify_folder(args: &VerifyArgs) -> Result<(), Failure> {
    let folder = Folder::new(&args.dir);
    let variant = load_variant(&folder.variant_name(args.variant.as_deref())?)?;
    let stop = stop_on_interrupt()?;
    let mut tables = Tables::new();
    let mut checked = Vec::new();
    for material in folder.materials(&variant)? {
        let what = || format!("cannot check the table of {}", material.text(&variant));
        let plan = Plan::of(&variant, &material).or_bad_input(what)?;
        let mut wanted = plan.planned(&material).map(|planned| planned.needs.clone()).unwrap_or_default();
        wanted.push(material.clone());
        folder.keep(&mut tables, &variant, &wanted)?;
        let table = tables.get(&material).ok_or_else(|| anyhow!("the table is missing"))?;
        let all = args.all || material.men().len() < MOST_MEN;
        let sample = if all { Sample::All } else { Sample::Random { positions: args.positions, seed: args.seed } };
        let display = Display::new(&material.text(&variant));
        let report = |stage| display.show(stage);
        let work = Work { threads: args.threads, stop: &stop, report: &report };
        let found = verify(&tables, table, sample, &work).map_err(|error| match error {
            EndgameError::Stopped { .. } => Failure::Interrupted("stopped".into()),
            error => Failure::BadInput(anyhow::Error::from(error).context(what())),
        })?;
        drop(display);
        if !args.json {
            let how = if all { "all of" } else { "drawn from" };
            outln!("{}: {} positions right, {how} the table", material.text(&variant), found.legal)?;
        }
        checked.push(json!({"men": material.text(&variant), "positions": found.legal, "all": all}));
    }
    if args.json { outln!("{}", json!({"variant": variant.name(), "tables": checked})) } else { Ok(()) }
}

fn probe(args: &ProbeArgs) -> Result<(), Failure> {
    let folder = Folder::new(&args.dir);
    let variant = load_variant(&folder.variant_name(args.variant.as_deref())?)?;
    let what = || format!("cannot look up {:?}", args.fen);
    let position = Position::from_fen(&variant, &args.fen).or_bad_input(what)?;
    let mut asked = Asked { folder: &folder, variant: &variant, tables: Tables::new() };
    let value = asked.value(&position)?.ok_or_else(|| anyhow!("no table has positions with these men and rights"));
    let value = value.or_bad_input(what)?;
    let moves = if value.plies == 0 && position.outcome(1).is_some() { Vec::new() } else { asked.moves(&position)? };
    if args.json {
        let moves: Vec<Json> = moves.iter().map(|(text, value)| json!({"move": text, "value": told(*value)})).collect();
        return outln!("{}", json!({"fen": position.fen(), "value": told(Some(value)), "moves": moves}));
    }
    outln!("{:?} to move: {value}", position.side_to_move())?;
    for (text, value) in moves {
        outln!("  {text:<8} {}", value.map_or_else(|| "not in these tables".into(), |value| value.to_string()))?;
    }
    Ok(())
}

fn told(value: Option<Value>) -> Json {
    let Some(value) = value else { return Json::Null };
    let result = match value.result {
        SideResult::Win => "win",
        SideResult::Draw => "draw",
        SideResult::Loss => "loss",
    };
    json!({"result": result, "moves": value.moves(), "plies": value.plies})
}

/// Tables read as they are asked for.
struct Asked<'a> {
    folder: &'a Folder,
    variant: &'a Arc<Variant>,
    tables: Tables,
}

impl Asked<'_> {
    fn value(&mut self, position: &Position) -> Result<Option<Value>, Failure> {
        let Some(material) = Material::on_board(position) else { return Ok(None) };
        // With like armies the table of the exchanged colours will do.
        for material in [material.exchanged(self.variant), material] {
            if self.tables.get(&material).is_none() && self.folder.has(self.variant, &material)? {
                self.tables.insert(self.folder.read(self.variant, &material)?);
            }
        }
        Ok(self.tables.probe(position))
    }

    /// All moves with their value for whoever makes them, the best first.
    fn moves(&mut self, position: &Position) -> Result<Vec<(String, Option<Value>)>, Failure> {
        let mut moves = Vec::new();
        for mv in position.legal_moves() {
            let mut after = position.clone();
            after.make(mv, &mut Unobserved);
            moves.push((position.move_text(mv), self.value(&after)?.map(Value::before)));
        }
        moves.sort_by_key(|(_, value)| std::cmp::Reverse(value.map_or(i32::MIN, Value::rank)));
        Ok(moves)
    }
}
