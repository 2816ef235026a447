//! The numbers of the search: each of them decides something, none breaks the search, and the files in `configs/search` are what they
//! say.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use fairyforge_engine::evaluate::{Tapered, Weights};
use fairyforge_engine::game::Game;
use fairyforge_engine::position::Position;
use fairyforge_engine::protocol::xboard;
use fairyforge_engine::search::params::Param;
use fairyforge_engine::search::{Clock, Deadline, Limits, Memory, Params, Report, Request, search};
use fairyforge_engine::tools::params::toml;
use fairyforge_engine::variant::Variant;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Set to anything, the file of the defaults is written anew: `FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge-engine --test params`.
const REGENERATE: &str = "FAIRYFORGE_REGENERATE";

/// One game that the engine plays with itself from a position.
struct Probe {
    start: Position,
    plies: usize,
    nodes: u64,
}

impl Probe {
    fn new(variant: &Arc<Variant>, fen: Option<&str>, plies: usize, nodes: u64) -> Self {
        let start = fen.map_or_else(|| Position::start(variant), |fen| common::read(variant, fen));
        Self { start, plies, nodes }
    }

    /// What the search finds, move after move, with one memory whose table is small enough to overflow.
    fn reports<'a>(&self, evaluator: &'a Tapered, params: Params) -> impl Iterator<Item = Report> + use<'a> {
        let mut game = Game::new(self.start.clone());
        let mut memory = Memory::new(1, params);
        let limits = Limits::nodes(self.nodes);
        (0..self.plies).map_while(move |_| {
            let stop = AtomicBool::new(false);
            let (position, earlier) = (game.position(), game.earlier());
            let request = Request { position, earlier, limits: &limits, evaluator, endgames: None, stop: &stop };
            let report = search(&request, &mut memory, |_, _| ());
            game.play(report.best.filter(|_| game.outcome().is_none())?);
            Some(report)
        })
    }
}

fn evaluator(variant: &Arc<Variant>) -> Tapered {
    Tapered::new(variant, &Weights::best_known(variant))
}

fn with(row: &Param, value: i32) -> Params {
    let mut params = Params::default();
    params.set(row.name, value).unwrap();
    params
}

fn is_about_time(row: &Param) -> bool {
    row.name.starts_with("time_")
}

#[test]
fn every_number_changes_what_is_searched() {
    let variant = common::variant("chess");
    let evaluator = evaluator(&variant);
    let probes = [
        // A mate in two that comes as a surprise, a middlegame with captures everywhere, a pawn ending, one drawn by repetition, and
        // last, as it takes longest, a quiet middlegame searched deep.
        Probe::new(&variant, Some("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"), 1, 3_000),
        Probe::new(&variant, Some("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"), 3, 20_000),
        Probe::new(&variant, Some("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"), 3, 20_000),
        Probe::new(&variant, Some("6k1/5ppp/8/8/8/7q/5P2/Q5K1 w - - 0 1"), 3, 20_000),
        Probe::new(&variant, Some("r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 0 8"), 3, 400_000),
    ];
    let usual: Vec<Vec<Report>> =
        probes.iter().map(|probe| probe.reports(&evaluator, Params::default()).collect()).collect();
    let changes = |params: &Params| {
        let mut pairs = probes.iter().zip(&usual);
        pairs.any(|(probe, usual)| !probe.reports(&evaluator, params.clone()).eq(usual.iter().cloned()))
    };
    assert!(!changes(&Params::default()), "the same search finds the same");
    let idle: Vec<_> = Params::TABLE.iter().filter(|row| !is_about_time(row)).collect();
    let idle = idle.into_iter().filter(|row| ![row.min, row.max].iter().any(|&value| changes(&with(row, value))));
    let idle: Vec<_> = idle.map(|row| row.name).collect();
    assert!(idle.is_empty(), "these change nothing: {idle:?}");
}

#[test]
fn every_number_of_time_changes_a_deadline() {
    let ms = Duration::from_millis;
    let clocks = [(60_000, 0, None), (60_000, 5_000, Some(40)), (1_000, 5_000, Some(5)), (1_000, 0, Some(2))]
        .map(|(left, increment, moves_to_go)| Clock { left: ms(left), increment: ms(increment), moves_to_go });
    let deadlines = |params: &Params| {
        let from_clocks = clocks.map(|clock| Deadline::from_clock(&clock, params));
        (from_clocks, Deadline::fixed(ms(5_000), params))
    };
    for row in Params::TABLE.iter().filter(|row| is_about_time(row)) {
        for value in [row.min, row.max].into_iter().filter(|&value| value != row.default) {
            assert_ne!(deadlines(&with(row, value)), deadlines(&Params::default()), "{} = {value}", row.name);
        }
    }
}

/// Parameters that a tuner may come by: each at random, a third of them at the ends.
fn random_params(random: &mut ChaCha8Rng) -> Params {
    let mut params = Params::default();
    for row in Params::TABLE {
        let span = (row.max - row.min) as usize;
        let value = match common::below(random, 6) {
            0 => row.min,
            1 => row.max,
            _ => row.min + common::below(random, span + 1) as i32,
        };
        params.set(row.name, value).unwrap();
    }
    params
}

fn plays_legally(variant: &Arc<Variant>, params: &Params) {
    let evaluator = evaluator(variant);
    let reports = Probe::new(variant, None, 6, 1_500).reports(&evaluator, params.clone());
    let count = reports.inspect(|report| assert!(report.nodes <= 1_500, "{report:?}")).count();
    assert!(count > 0, "{}: {}", variant.name(), params.to_toml("no move was found"));
}

/// `Game::play` panics at moves that are not legal, and sums that overflow panic too.
#[test]
fn no_numbers_break_the_search() {
    let variants = ["chess", "herculean", "sorcerer-reinforcements", "makruk"].map(common::variant);
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let all = |value: fn(&Param) -> i32| {
        let mut params = Params::default();
        Params::TABLE.iter().for_each(|row| params.set(row.name, value(row)).unwrap());
        params
    };
    let extremes = [all(|row| row.min), all(|row| row.max)];
    for params in extremes.into_iter().chain((0..12).map(|_| random_params(&mut random))) {
        variants.iter().for_each(|variant| plays_legally(variant, &params));
    }
}

#[test]
fn a_search_takes_the_numbers_of_its_memory() {
    let mut params = Params::default();
    params.set("late_move_base", 3).unwrap();
    assert_eq!(Memory::new(1, params.clone()).params(), &params);
}

/// In XBoard's protocol: nodes of a search of so many plies after some options, and all that was said.
fn searched_in_xboard(options: &str) -> (String, String) {
    let script = format!("xboard\nprotover 2\nnew\npost\n{options}sd 7\nst 1000\ngo\n");
    let mut output = Vec::new();
    xboard::run(script.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    let is_last = |line: &&str| line.starts_with("7 ");
    let nodes = output.lines().rfind(is_last).and_then(|line| line.split_ascii_whitespace().nth(3)).map(String::from);
    (nodes.unwrap_or_else(|| panic!("no search of seven plies: {output}")), output)
}

#[test]
fn xboard_sets_numbers_too() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("xboard search.toml");
    std::fs::write(&path, with(Params::row("late_move_base").unwrap(), 1).to_toml("")).unwrap();
    let file = format!("option SearchFile={}\n", path.display());
    let (usual, offered) = searched_in_xboard("");
    assert!(offered.contains("\nfeature option=\"SearchFile -file \"\n"), "{offered}");
    let (changed, _) = searched_in_xboard("option late_move_base=1\n");
    assert_ne!(changed, usual);
    assert_eq!(searched_in_xboard(&file).0, changed);
    assert_eq!(searched_in_xboard(&format!("{file}option SearchFile=\n")).0, usual);
    let (refused, output) = searched_in_xboard("option late_move_base=0\noption late_move_bsae=1\n");
    assert_eq!(refused, usual);
    assert!(output.contains("tellusererror setoption late_move_base: expected 1 to 90, got 0\n"), "{output}");
    assert!(output.contains("Error (unknown option): option late_move_bsae\n"), "{output}");
}

/// The files in `configs/search`, by name, with what they say.
fn files() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs/search");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tomls = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    tomls
        .map(|path| (path.file_stem().unwrap().display().to_string(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

#[test]
fn the_file_of_the_defaults_is_up_to_date() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../configs/search/default.toml");
    if std::env::var_os(REGENERATE).is_some() {
        std::fs::write(&path, toml()).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == toml(),
        "configs/search/default.toml is not what the table says; set {REGENERATE}=1 to write it anew"
    );
    assert_eq!(Params::read(&text), Ok(Params::default()));
}

#[test]
fn the_files_that_are_shipped_are_read() {
    for (name, text) in files() {
        let params = Params::read(&text).unwrap_or_else(|error| panic!("{name}.toml:\n{error}"));
        assert_eq!(params.changed().count() == 0, name == "default", "{name}");
    }
}
