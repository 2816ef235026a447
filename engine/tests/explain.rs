//! Games explained: the inventors' figures come out, every shipped game is told whole, and drawings agree with the move generator.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::{below, cases, shipped, variant, variant_from};
use fairyforge_engine::explain::{Diagram, Explanation, Facts, Man, Passage};
use fairyforge_engine::geometry::{Square, SquareSet};
use fairyforge_engine::moves::MoveKind;
use fairyforge_engine::position::Position;
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::betza;
use fairyforge_engine::variant::rules::{BareKing, Colour, Unit};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Set to anything, the snapshots are written anew: `FAIRYFORGE_REGENERATE=1 cargo test -p fairyforge-engine --test explain`.
const REGENERATE: &str = "FAIRYFORGE_REGENERATE";

fn lemurian() -> Arc<Variant> {
    variant_from(include_str!("data/variants/lemurian-shatranj.toml"))
}

fn gallery() -> Arc<Variant> {
    variant_from(include_str!("data/explain/gallery.toml"))
}

fn facts(variant: &Arc<Variant>) -> Facts {
    Explanation::of(variant).facts
}

#[test]
fn counts_are_the_published_ones() {
    let published = [
        (variant("opulent-lemurian-shatranj"), (44, 8, 56)),
        (variant("opulent"), (48, 10, 52)),
        (lemurian(), (32, 6, 32)),
        (variant("chess"), (32, 6, 32)),
        (variant("herculean"), (72, 12, 72)),
    ];
    for (variant, expected) in published {
        let facts = facts(&variant);
        assert_eq!((facts.men, facts.types, facts.empty_squares), expected, "{}", variant.rules().title);
    }
}

#[test]
fn attack_density_is_the_published_one() {
    let published = [
        (variant("opulent-lemurian-shatranj"), 4.00),
        (variant("chess"), 4.00),
        (lemurian(), 5.00),
        (variant("shatranj"), 2.50),
        (variant("opulent"), 4.57),
    ];
    for (variant, expected) in published {
        for density in facts(&variant).attack_density {
            let got = density.density.unwrap();
            assert!((got - expected).abs() < 0.005, "{}: {density:?}", variant.rules().title);
        }
    }
}

#[test]
fn pawns_follow_from_the_rules() {
    assert_eq!(facts(&variant("herculean")).pawns, ["Ninja Pawn", "Pawn"]);
    assert_eq!(facts(&variant("sorcerer")).pawns, ["Pawn"]);
    let uncounted =
        variant_from("format = 1\ninherits = \"chess\"\n[variant]\nname = \"x\"\n[end]\nmove_count_reset_by = []\n");
    assert_eq!(facts(&uncounted).pawns, ["Pawn"], "it promotes");
    let knights = variant_from(
        "format = 1\ninherits = \"chess\"\n[variant]\nname = \"x\"\n[end]\nmove_count_reset_by = [\"knight\"]\n",
    );
    assert_eq!(facts(&knights).pawns, ["Knight"], "whose moves count as a pawn's");
}

#[test]
fn reach_in_two_moves_is_the_published_one() {
    let facts = facts(&variant("opulent-lemurian-shatranj"));
    for (unit, from, to) in [("Bent Hero", 1, 7), ("Knight", 2, 6), ("Pawn", 3, 5)] {
        let reach = facts.reach.iter().find(|reach| reach.unit == unit && reach.from_rank == from).unwrap();
        assert_eq!(reach.alone.two_moves, to, "{unit}");
    }
}

#[test]
fn reach_in_the_array_minds_the_others() {
    let facts = facts(&variant("chess"));
    let reach = |unit: &str| facts.reach.iter().find(|reach| reach.unit == unit).unwrap();
    assert_eq!((reach("Rook").in_array.two_moves, reach("Rook").alone.one_move), (1, 8));
    assert_eq!((reach("Knight").in_array.one_move, reach("Knight").in_array.two_moves), (3, 5));
    // From e4 on nothing but one step at a time; the double step is the array's.
    assert_eq!((reach("Pawn").in_array.one_move, reach("Pawn").in_array.two_moves), (4, 5));
    // A capture opens the way on: the rook takes on a7 first. A pawn that must promote goes no farther.
    let open = variant_from(
        "format = 1\ninherits = \"chess\"\ncastling = \"none\"\n[variant]\nname = \"x\"\n[board]\nsetup = \"\"\"\n\
         . . . . k . . .\np . . . . . P .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n. . . . . . . .\n\
         . . . . . . . .\nR . . . K . . .\n\"\"\"\n",
    );
    let facts = self::facts(&open);
    let reach = |unit: &str| facts.reach.iter().find(|reach| reach.unit == unit).unwrap();
    assert_eq!((reach("Rook").in_array.one_move, reach("Rook").in_array.two_moves), (7, 8));
    assert_eq!((reach("Pawn").in_array.one_move, reach("Pawn").in_array.two_moves), (8, 8));
}

#[test]
fn reach_of_unlike_armies_is_told_for_both() {
    let facts = facts(&variant("spartan"));
    let reach = |side: &str, unit: &str| {
        let reach = facts.reach.iter().find(|reach| reach.side == side && reach.unit == unit).unwrap();
        (reach.from_rank, reach.alone.one_move, reach.alone.two_moves, reach.in_array.one_move)
    };
    assert_eq!(reach("White", "Pawn"), (2, 4, 5, 4));
    assert_eq!(reach("Black", "Hoplite"), (7, 5, 4, 5));
    assert_eq!(reach("Black", "General"), (8, 1, 1, 8));
    assert!(facts.reach.iter().all(|reach| reach.side == "Black" || reach.unit != "Hoplite"));
    assert!(self::facts(&variant("chess")).reach.iter().all(|reach| reach.side == "White"));
}

fn squares(men: &[Man]) -> Vec<&str> {
    men.iter().map(|man| man.square.as_str()).collect()
}

#[test]
fn weak_points_are_the_published_ones() {
    for game in ["herculean", "herculean-sorcerer-knights"] {
        assert_eq!(facts(&variant(game)).protection.by_king_only, [], "{game}");
    }
    for game in ["sorcerer", "sorcerer-reinforcements"] {
        let protection = facts(&variant(game)).protection;
        assert!(protection.by_king_only.iter().all(|man| man.unit == "Pawn"), "{game}");
        assert_eq!(squares(&protection.by_king_only), ["g2", "g9"], "{game}");
    }
    // The second setup protects that Pawn by a Conjurer and leaves a Bishop to the King.
    let protection = facts(&variant("sorcerer-setup2")).protection;
    assert!(protection.by_king_only.iter().all(|man| man.unit == "Bishop"));
    assert_eq!(squares(&protection.by_king_only), ["g1", "g10"]);
}

#[test]
fn protection_in_the_orthodox_array() {
    let protection = facts(&variant("chess")).protection;
    let mut by_king: Vec<_> = squares(&protection.by_king_only);
    by_king.sort_unstable();
    assert_eq!(by_king, ["d1", "d8", "f1", "f2", "f7", "f8"]);
    let mut by_nobody: Vec<_> = squares(&protection.by_nobody);
    by_nobody.sort_unstable();
    assert_eq!(by_nobody, ["a1", "a8", "h1", "h8"]);
}

#[derive(Deserialize)]
struct Figure {
    board: String,
    p_empty: f64,
    piece: String,
    crowded_mobility: f64,
}

#[test]
fn mobility_is_the_reference() {
    let figures: Vec<Figure> = serde_json::from_str(include_str!("data/crowded_mobility.json")).unwrap();
    let units = [
        ("chess", "8x8", "Queen", "Queen Q"),
        ("chess", "8x8", "Rook", "Rook R"),
        ("chess", "8x8", "Knight", "Knight N"),
        ("shatranj", "8x8", "Alfil", "Alfil A"),
        ("herculean", "12x12", "Bishop", "Bishop B"),
        ("herculean", "12x12", "Ferz Knight", "Ferz-Knight FN"),
        ("opulent-lemurian-shatranj", "10x10", "Rook", "Rook R"),
        ("opulent-lemurian-shatranj", "10x10", "Bent Hero", "Bent Hero (W,D inclusive, any direction)"),
        ("opulent-lemurian-shatranj", "10x10", "Bent Shaman", "Bent Shaman (F,A inclusive, any direction)"),
    ];
    let mut checked = 0;
    for (game, board, unit, piece) in units {
        let facts = facts(&variant(game));
        let got = facts.mobility.iter().find(|mobility| mobility.unit == unit).unwrap();
        for figure in figures.iter().filter(|figure| figure.board == board && figure.piece == piece) {
            let targets = match figure.p_empty {
                1.0 => got.empty_board,
                0.7 => got.betza,
                _ => continue,
            };
            for number in [targets.moves, targets.captures, targets.mean] {
                assert!((number - figure.crowded_mobility).abs() < 1e-6, "{unit} on {board} at {}", figure.p_empty);
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * units.len());
}

#[test]
fn every_shipped_game_is_told_whole() {
    for variant in shipped() {
        let explanation = Explanation::of(&variant);
        let text = explanation.to_string();
        let name = variant.name();
        for line in text.lines() {
            assert!(line.chars().count() <= 130 || line.starts_with("Start position"), "{name}: {line}");
            assert_eq!(line, line.trim_end(), "{name}");
        }
        for placeholder in ["nowhere", "nothing,", "; never\n", "_", "{", "}", "None", "Some("] {
            assert!(!text.contains(placeholder), "{name} has {placeholder:?}");
        }
        assert_eq!(explanation.units.len(), variant.units().len());
        for unit in &explanation.units {
            assert!(!unit.moves.is_empty() && !unit.diagrams.is_empty(), "{name}: {}", unit.name);
            unit.diagrams.iter().for_each(|diagram| check_legend(name, diagram));
        }
        let rules = variant.rules();
        let told = |title: &str| explanation.rules.iter().any(|section| section.title == title);
        assert_eq!(told("Castling"), !variant.castling().is_empty(), "{name}");
        assert_eq!(told("Drops"), rules.drops.is_some(), "{name}");
        assert_eq!(told("Promotion"), !rules.promotion.is_empty(), "{name}");
        let taken = variant.units().any(|unit| variant.unit(unit).taken_en_passant);
        assert_eq!(told("En passant"), taken && variant.en_passant_takers() != 0, "{name}");
    }
}

#[test]
fn long_lines_are_cut_off() {
    let board = ["k . .", ". . .", ". . .", ". R K"].map(|rank| rank.replace(' ', " . . . . ") + " . . . . .");
    let rows = [&board[..1], &vec![board[1].clone(); 14], &board[3..]].concat().join("\n");
    let variant = variant_from(&format!(
        "format = 1\n[variant]\nname = \"x\"\n[board]\nsetup = \"\"\"\n{rows}\n\"\"\"\n[pieces]\n\
         king = {{ letter = \"K\", moves = \"K\" }}\nrook = {{ letter = \"R\", moves = \"R\" }}\n"
    ));
    let explanation = Explanation::of(&variant);
    let [king, rook] = explanation.units.as_slice() else { panic!("{:?}", explanation.units) };
    assert!(!king.diagrams[0].cut_off && rook.diagrams[0].cut_off);
    assert_eq!(rook.diagrams[0].drawing.len(), 14, "six squares to each side, and the files' letters");
    assert_eq!(rook.diagrams[0].marks.len(), 15 + 15);
    check_legend("x", &rook.diagrams[0]);
    assert!(explanation.to_string().contains("goes on beyond the edge"));
}

/// Every symbol drawn is explained once, and every symbol explained is drawn.
fn check_legend(name: &str, diagram: &Diagram) {
    assert!(!diagram.marks.is_empty(), "{name}: {diagram:?}");
    let marked: BTreeSet<&str> = diagram.marks.iter().map(|mark| mark.symbol.as_str()).collect();
    let explained: Vec<&str> = diagram.legend.iter().map(|legend| legend.symbol.as_str()).collect();
    assert_eq!(marked.len(), explained.len(), "{name}: {explained:?}");
    assert_eq!(marked, explained.into_iter().collect(), "{name}");
    let (_, board) = diagram.drawing.split_last().unwrap();
    let drawn: usize =
        board.iter().flat_map(|line| line.split_whitespace().skip(1)).filter(|cell| *cell != ".").count();
    let all = diagram.marks.len() + 1;
    assert!(if diagram.cut_off { drawn < all } else { drawn == all }, "{name}: {diagram:?}");
}

/// The games whose drawings are compared with the move generator: those shipped, and ways to move that none of them has.
fn compared() -> Vec<Arc<Variant>> {
    shipped().into_iter().chain([gallery(), lemurian()]).collect()
}

#[test]
fn drawings_agree_with_the_move_generator() {
    let mut compared_squares = 0;
    for variant in compared() {
        let explanation = Explanation::of(&variant);
        for (unit, told) in variant.units().zip(&explanation.units) {
            for diagram in &told.diagrams {
                compared_squares += Comparison::new(&variant, unit, diagram).run();
            }
        }
    }
    assert!(compared_squares > 2_000, "{compared_squares}");
}

/// Terms from which random pieces are made.
const TERMS: [&str; 24] = [
    "W", "fmF", "scW", "nD", "A", "nN", "ffN", "C", "bhZ", "R", "mB", "cQ", "fR3", "NN", "AA", "pR", "cpB", "gR",
    "mgB", "pafW", "mafsW", "mpafF", "asasW", "imfG",
];

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn drawings_of_random_pieces_agree_too(terms in prop::collection::vec(prop::sample::select(&TERMS[..]), 1..4)) {
        let moves = terms.concat();
        prop_assume!(betza::parse(&moves).is_ok(), "a letter doubled by chance");
        let empty = [". . . . . . . . . ."; 8].join("\n");
        let rows = format!("x . . . k . . . . x\n{empty}\nX . . T K . . . . X");
        let variant = variant_from(&format!(
            "format = 1\n[variant]\nname = \"x\"\n[board]\nsetup = \"\"\"\n{rows}\n\"\"\"\n[pieces]\n\
             king = {{ letter = \"K\", moves = \"K\" }}\ntested = {{ letter = \"T\", moves = \"{moves}\" }}\n\
             wall = {{ letter = \"X\", moves = \"fmW\" }}\n"
        ));
        let unit = variant.unit_named("tested").unwrap();
        let explanation = Explanation::of(&variant);
        for diagram in &explanation.units[unit.index()].diagrams {
            check_legend(&moves, diagram);
            Comparison::new(&variant, unit, diagram).run();
        }
    }
}

/// One drawing against the moves of a unit that stands there: alone, before each single enemy man, and in random crowds.
struct Comparison<'a> {
    variant: &'a Arc<Variant>,
    unit: Unit,
    diagram: &'a Diagram,
    square: Square,
    kings: BTreeMap<Square, (Unit, Colour)>,
    /// The unit that fills crowds: the one that attacks least.
    filler: Unit,
}

type Men = BTreeMap<Square, (Unit, Colour)>;

impl<'a> Comparison<'a> {
    fn new(variant: &'a Arc<Variant>, unit: Unit, diagram: &'a Diagram) -> Self {
        let square = variant.topology().parse(&diagram.square).unwrap();
        let attacks = |unit: &Unit| (variant.mean_mobility(*unit, 1.0).captures * 1e6) as u64;
        let filler = variant.units().filter(|&unit| unit != variant.royal()).min_by_key(attacks).unwrap();
        let mut comparison = Self { variant, unit, diagram, square, kings: Men::new(), filler };
        comparison.kings = comparison.place_kings();
        comparison
    }

    /// Kings out of the unit's way and of each other's; where a bare king ends the game, with a companion each.
    fn place_kings(&self) -> Men {
        let ways = self.variant.ways(self.unit, Colour::White, self.square, |_| true);
        let in_the_way = ways.iter().fold(SquareSet::only(self.square), |squares, way| {
            squares | way.empty | way.occupied | SquareSet::only(way.target)
        });
        let royal = self.variant.royal();
        let far = |a: Square, b: Square| a.file().abs_diff(b.file()).max(a.row().abs_diff(b.row()));
        let mut free: Vec<Square> = (self.variant.topology().squares() - in_the_way).iter().collect();
        free.sort_by_key(|&square| std::cmp::Reverse(far(square, self.square)));
        for &black in &free {
            for &white in free.iter().filter(|&&white| far(white, black) > 2) {
                let mut kings = Men::from([(black, (royal, Colour::Black))]);
                if self.unit != royal {
                    kings.insert(white, (royal, Colour::White));
                }
                if let Some(men) = self.with_companions(&kings, &free) {
                    return men;
                }
            }
        }
        panic!("{}: no place for kings around {:?} on {}", self.variant.name(), self.unit, self.diagram.square)
    }

    fn with_companions(&self, kings: &Men, free: &[Square]) -> Option<Men> {
        self.position(kings)?;
        if self.variant.rules().end.bare_king == BareKing::PlaysOn {
            return Some(kings.clone());
        }
        let add = |men: Men, colour: Colour| {
            let candidates = free.iter().filter(|square| !kings.contains_key(square));
            candidates.map(|&square| Men::from([(square, (self.filler, colour))])).find_map(|mut companion| {
                companion.extend(men.clone());
                (companion.len() == men.len() + 1 && self.position(&companion).is_some()).then_some(companion)
            })
        };
        add(add(kings.clone(), Colour::Black)?, Colour::White)
    }

    /// The unit and these men, White to move and not in check; `None` if that is no legal position.
    fn position(&self, men: &Men) -> Option<Position> {
        let topology = self.variant.topology();
        let mut ranks = Vec::new();
        for row in (0..topology.height()).rev() {
            let squares = (0..topology.width()).map(|file| Square::at(file, row).unwrap());
            let cells = squares.map(|square| match men.get(&square) {
                _ if !topology.has(square) => "*".into(),
                _ if square == self.square => self.variant.unit(self.unit).letter.to_string(),
                None => "1".into(),
                Some(&(unit, Colour::White)) => self.variant.unit(unit).letter.to_string(),
                Some(&(unit, Colour::Black)) => self.variant.unit(unit).letter.to_lowercase().to_string(),
            });
            ranks.push(join_empty(&cells.collect::<Vec<String>>()));
        }
        let hand = if self.variant.rules().drops.is_some() { "[]" } else { "" };
        let fen = format!("{}{hand} w - - 0 1", ranks.join("/"));
        Position::from_fen(self.variant, &fen).ok().filter(|position| !position.in_check())
    }

    /// Where the unit goes, quietly and by capture.
    fn targets(&self, position: &Position) -> (SquareSet, SquareSet) {
        let moves = position.legal_moves().into_iter();
        let own = moves
            .filter(|mv| mv.from() == self.square && matches!(mv.kind(), MoveKind::Normal | MoveKind::Promotion(_)));
        let (captures, quiet): (Vec<Square>, Vec<Square>) =
            own.map(|mv| mv.to()).partition(|&to| !position.piece_at(to).is_none());
        (quiet.into_iter().collect(), captures.into_iter().collect())
    }

    /// Squares marked for moves and for captures; without hops only those that an empty board allows.
    fn marked(&self, with_hops: bool) -> (SquareSet, SquareSet) {
        let (mut moves, mut captures) = (SquareSet::EMPTY, SquareSet::EMPTY);
        for mark in &self.diagram.marks {
            let square = self.variant.topology().parse(&mark.square).unwrap();
            let counts = |way: Passage| with_hops || way != Passage::OverMen;
            if mark.moves.is_some_and(|access| counts(access.way)) {
                moves.insert(square);
            }
            if mark.captures.is_some_and(|access| counts(access.way)) {
                captures.insert(square);
            }
        }
        (moves, captures)
    }

    fn run(&self) -> usize {
        let context = format!("{}: {}", self.variant.name(), self.diagram.drawing.join("\n"));
        let (moves, captures) = self.marked(false);
        let alone = self.position(&self.kings).unwrap();
        assert_eq!(self.targets(&alone), (moves, SquareSet::EMPTY), "{context}");
        let before_one = self.captures_of_single_men();
        assert_eq!(before_one, captures, "{context}");

        let hops = self.marked(true) != (moves, captures);
        let (mut seen_moves, mut seen_captures) = (moves, captures);
        let (all_moves, all_captures) = self.marked(true);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for round in 0..if hops { 4_000 } else { 30 } {
            let Some(position) = self.position(&self.crowd(round, &mut random)) else { continue };
            let (moves, captures) = self.targets(&position);
            assert!((moves - all_moves).is_empty() && (captures - all_captures).is_empty(), "{context}\n{position}");
            (seen_moves, seen_captures) = (seen_moves | moves, seen_captures | captures);
        }
        assert_eq!((seen_moves, seen_captures), (all_moves, all_captures), "{context}");
        self.diagram.marks.len()
    }

    /// The squares on which the unit takes a single enemy man, whoever that is.
    fn captures_of_single_men(&self) -> SquareSet {
        let mut taken = SquareSet::EMPTY;
        for square in self.variant.topology().squares() {
            if square == self.square || self.kings.contains_key(&square) {
                continue;
            }
            let with = |unit: Unit| {
                let mut men = self.kings.clone();
                men.insert(square, (unit, Colour::Black));
                self.position(&men)
            };
            let enemies = self.variant.units().filter(|&unit| unit != self.variant.royal());
            if let Some(position) = enemies.filter_map(with).next() {
                taken |= self.targets(&position).1;
            }
        }
        taken
    }

    /// Men of both sides scattered over the board, thinly and densely by turns.
    fn crowd(&self, round: usize, random: &mut ChaCha8Rng) -> Men {
        let mut men = self.kings.clone();
        let one_in = 2 + round % 12;
        for square in self.variant.topology().squares() {
            let promotes = |colour| self.variant.promotion_zone(self.filler, colour).contains(square);
            let taken = square == self.square || men.contains_key(&square);
            if taken || Colour::BOTH.into_iter().any(promotes) || below(random, one_in) > 0 {
                continue;
            }
            men.insert(square, (self.filler, Colour::BOTH[below(random, 2)]));
        }
        men
    }
}

/// Cells of one rank as in a FEN: runs of empty squares as a number.
fn join_empty(cells: &[String]) -> String {
    let runs = cells.chunk_by(|a, b| a == "1" && b == "1");
    runs.map(|run| if run[0] == "1" { run.len().to_string() } else { run.concat() }).collect()
}

#[test]
fn explanations_are_the_reviewed_ones() {
    for variant in [variant("chess"), variant("herculean"), variant("opulent-lemurian-shatranj")] {
        compare_with_snapshot(variant.name(), &Explanation::of(&variant).to_string());
    }
    compare_with_snapshot("gallery", &Explanation::of(&gallery()).to_string());
}

fn compare_with_snapshot(name: &str, got: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/explain/{name}.txt"));
    let got = format!("{got}\n");
    if std::env::var_os(REGENERATE).is_some() {
        std::fs::write(&path, &got).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(got.lines()).position(|(expected, got)| expected != got);
    assert!(
        expected == got,
        "{name}.txt differs from line {} on; look at it, then write it anew with {REGENERATE}=1",
        differs.unwrap_or_else(|| expected.lines().count().min(got.lines().count())) + 1
    );
}
