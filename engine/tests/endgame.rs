//! Endgame tables: known distances, every position against the ordinary move generator, and files that are whole or refused.

mod common;

use common::{position, variant, variant_from};
use fairyforge_engine::endgame::{
    Checked, EndgameError, Material, Plan, Sample, Stage, Statistics, Table, Tables, Value, Work, file, solve, verify,
};
use fairyforge_engine::geometry::Square;
use fairyforge_engine::position::{Piece, Position};
use fairyforge_engine::variant::Variant;
use fairyforge_engine::variant::rules::{Colour, SideResult};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn work(threads: usize) -> Work<'static> {
    Work { threads, stop: &NEVER, report: &|_: Stage| () }
}

/// The table of some men and all that it leads to.
struct Built {
    tables: Tables,
    material: Material,
}

impl Built {
    fn new(variant: &Arc<Variant>, men: &str) -> Self {
        let material = Material::parse(variant, men).unwrap_or_else(|error| panic!("{error}"));
        let plan = Plan::of(variant, &material).unwrap_or_else(|error| panic!("{error}"));
        let mut tables = Tables::new();
        for planned in &plan.tables {
            tables.insert(solve(variant, planned, &tables, &work(0)).unwrap_or_else(|error| panic!("{error}")));
        }
        Self { tables, material }
    }

    fn table(&self) -> &Table {
        self.tables.get(&self.material).expect("it was made")
    }

    fn statistics(&self, side: Colour) -> Statistics {
        self.table().statistics(side, &work(0)).expect("nobody stops it")
    }

    fn longest_moves(&self) -> u16 {
        self.statistics(Colour::White).longest_win.expect("White wins somewhere").value.moves()
    }

    fn verified(&self, sample: Sample) -> Checked {
        verify(&self.tables, self.table(), sample, &work(0)).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn random(positions: u64) -> Sample {
    Sample::Random { positions, seed: 7 }
}

#[test]
fn longest_mates_of_three_men_in_orthodox_chess() {
    let chess = variant("chess");
    for (men, moves) in [("K+Q v K", 10), ("K+R v K", 16)] {
        let built = Built::new(&chess, men);
        assert_eq!(built.longest_moves(), moves, "{men}");
        let (white, black) = (built.statistics(Colour::White), built.statistics(Colour::Black));
        assert_eq!((white.won, white.lost), (white.positions, 0), "with the move a queen or rook always wins");
        assert!(black.lost > 0 && black.drawn() > 0 && black.won == 0);
        let checked = built.verified(Sample::All);
        assert_eq!(checked.legal, white.positions + black.positions, "{men}");
        let longest = white.longest_win.unwrap();
        let found = built.tables.probe(&position("chess", &longest.fen));
        assert_eq!(found, Some(longest.value), "{}", longest.fen);
    }
    for men in ["K+B v K", "K+N v K"] {
        let counts = Built::new(&chess, men).statistics(Colour::White);
        assert_eq!((counts.won, counts.lost), (0, 0), "{men}");
    }
}

/// Counted without any of the tables' own code.
#[test]
fn positions_are_counted_without_reduction_by_symmetry() {
    let chess = variant("chess");
    let squares = || chess.topology().squares().iter();
    let man = |letter: char| chess.man_with_letter(letter).map(|(unit, colour)| Piece::new(unit, colour)).unwrap();
    let (king, rook, other) = (man('K'), man('R'), man('k'));
    let mut legal = 0;
    for (a, b, c) in squares().flat_map(|a| squares().flat_map(move |b| squares().map(move |c| (a, b, c)))) {
        let men = [(a, king), (b, rook), (c, other)];
        legal += u64::from(Position::of_men(&chess, men, Colour::White).is_ok());
    }
    assert_eq!(Built::new(&chess, "K+R v K").statistics(Colour::White).positions, legal);
}

#[test]
fn pawns_lead_into_the_tables_of_what_they_become() {
    let chess = variant("chess");
    let built = Built::new(&chess, "K+P v K");
    built.verified(Sample::All);
    let found = |fen: &str| built.tables.probe(&position("chess", fen)).unwrap();
    // Known: one of the longest mates with a pawn on its second rank.
    assert_eq!(found("8/8/8/1k6/8/8/K5P1/8 w - - 0 1").moves(), 28);
    let value = |fen: &str| found(fen).result;
    // The opposition: whoever has to move loses it.
    assert_eq!(value("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"), SideResult::Win);
    assert_eq!(value("8/8/4k3/8/4K3/4P3/8/8 w - - 0 1"), SideResult::Draw);
    assert_eq!(value("8/8/4k3/8/4K3/4P3/8/8 b - - 0 1"), SideResult::Loss);
}

#[test]
fn either_side_may_be_the_strong_one() {
    let chess = variant("chess");
    let (white, black) = (Built::new(&chess, "K+R v K"), Built::new(&chess, "K v K+R"));
    let counts = |built: &Built, side| {
        let counts = built.statistics(side);
        let longest = |found: Option<fairyforge_engine::endgame::Longest>| found.map(|longest| longest.value);
        (counts.positions, counts.won, counts.lost, longest(counts.longest_win), longest(counts.longest_loss))
    };
    for side in Colour::BOTH {
        assert_eq!(counts(&white, side), counts(&black, side.opponent()), "{side:?}");
    }
}

/// A small board shows every rule on every position of four men.
fn small(setup: &str, pieces: &str, rest: &str) -> Arc<Variant> {
    let last = setup.lines().count();
    variant_from(&format!(
        "format = 1\n[variant]\nname = \"small\"\n[board]\nsetup = \"\"\"\n{setup}\"\"\"\n[zones]\nlast = \"rank {last}\"\n\
         [pieces]\nking = {{ letter = \"K\", moves = \"K\" }}\n{pieces}\n{rest}"
    ))
}

const ROOKS: &str = "r . k . r\n. . . . .\n. . . . .\n. . . . .\nR . K . R\n";

fn assert_right(variant: &Arc<Variant>, men: &str) -> Built {
    let built = Built::new(variant, men);
    let checked = built.verified(Sample::All);
    let counts = Colour::BOTH.map(|side| built.statistics(side));
    let twins = if built.material.men().windows(2).any(|pair| pair[0] == pair[1]) { 2 } else { 1 };
    assert_eq!(checked.legal, twins * (counts[0].positions + counts[1].positions), "{men}");
    built
}

#[test]
fn four_men_fighting_each_other() {
    let pieces = "rook = { letter = \"R\", moves = \"R\" }\nknight = { letter = \"N\", moves = \"N\" }";
    let game = small(ROOKS, pieces, "");
    let built = assert_right(&game, "K+R v K+N");
    let counts = built.statistics(Colour::White);
    assert!(counts.won > 0 && counts.drawn() > 0 && counts.lost > 0, "{counts:?}");
    let like = assert_right(&game, "K+R+R v K").statistics(Colour::White);
    assert_eq!(like.won, like.positions);
}

/// Riders over holes, hoppers, bent and lame ways, ways of one side only: all taken back as they are made.
#[test]
fn ways_of_all_kinds_are_taken_back() {
    let setup = "c h k b m\n. . * . .\n. . . . *\n. . * . .\nC H K B M\n";
    let pieces = "cannon = { letter = \"C\", moves = \"mRcpR\" }\nhopper = { letter = \"H\", moves = \"gQ\" }\n\
                  bent = { letter = \"B\", moves = \"F\", then = [[\"F\", \"W\"], [\"W\", \"F\"]] }\n\
                  mao = { letter = \"M\", moves = \"nNfrF\" }";
    let game = small(setup, pieces, "");
    for men in ["K+C+B v K", "K+H v K+M", "K+B v K+C", "K+M+M v K"] {
        assert_right(&game, men);
    }
}

#[test]
fn pawns_promote_as_the_rules_allow() {
    let setup = "r f k f\np . p .\n. . . .\n. . P P\nR F K F\n";
    let pieces = "rook = { letter = \"R\", moves = \"R\" }\nferz = { letter = \"F\", moves = \"F\" }\n\
                  pawn = { letter = \"P\", moves = \"fmWfcF\" }";
    let must =
        "[promotion]\nwho = [\"pawn\"]\nzone = \"last\"\nmust = true\nalways = [\"ferz\"]\nto_captured = [\"rook\"]\n";
    let may = "[promotion]\nwho = [\"pawn\"]\nzone = \"last\"\nmust = false\nto_captured = [\"ferz\"]\none_per_colour = [\"ferz\"]\n";
    for rest in [must, may] {
        let game = small(setup, pieces, rest);
        for men in ["K+P v K+P", "K+F+P v K", "K+P+P v K", "K+R v K+P"] {
            assert_right(&game, men);
        }
    }
}

#[test]
fn stalemate_and_bare_kings_end_games_as_the_rules_say() {
    let pieces = "rook = { letter = \"R\", moves = \"R\" }\nferz = { letter = \"F\", moves = \"F\" }";
    let stalemate =
        ["stalemated_side = \"loses\"\nstalemated_by_bare_king = \"draws\"", "stalemated_side = \"wins\"", ""];
    let bare = ["bare_king = \"loses\"", "bare_king = \"loses unless it bares back\"\nbare_kings_draw = true", ""];
    for (stalemate, bare) in stalemate.iter().flat_map(|stalemate| bare.iter().map(move |bare| (stalemate, bare))) {
        let game = small("r k . .\n. . . .\n. . . .\nR K . .\n", pieces, &format!("[end]\n{stalemate}\n{bare}\n"));
        for men in ["K+F v K", "K+F v K+R", "K+F+F v K"] {
            assert_right(&game, men);
        }
    }
}

/// Shatranj: a king left alone loses at once, unless it can leave the other alone with its next move.
#[test]
fn baring_wins() {
    let shatranj = variant("shatranj");
    let built = Built::new(&shatranj, "K+R v K+B");
    built.verified(random(20_000));
    let value = |fen: &str| built.tables.probe(&position("shatranj", fen)).unwrap();
    // White takes, nothing can be taken in turn, and the game is over when White would move again.
    assert_eq!(value("k7/8/8/8/8/8/8/K2R3b w - - 0 1"), Value { result: SideResult::Win, plies: 2 });
    assert_eq!(value("8/8/8/8/8/6k1/7R/6K1 b - - 0 1"), Value { result: SideResult::Loss, plies: 1 });
    assert_eq!(value("8/8/8/8/8/6k1/7R/6K1 w - - 0 1"), Value { result: SideResult::Win, plies: 0 });
    // The rook is not protected: the lone king bares the other.
    assert_eq!(value("8/8/8/8/8/8/6k1/K6R b - - 0 1"), Value::DRAW);
}

#[test]
fn the_inventors_games_are_right_where_they_are_hard() {
    let opulent = variant("opulent-lemurian-shatranj");
    let knight = Built::new(&opulent, "K+N v K");
    assert!(knight.verified(random(30_000)).legal >= 30_000);
    let stealth = Built::new(&variant("sorcerer-reinforcements"), "K+G v K");
    assert!(stealth.verified(random(30_000)).legal >= 30_000);
}

/// What `docs/endgames.md` says of the claims S2 and O6.
#[test]
fn the_inventors_claims_have_answers() {
    let told = |name: &str, men: &str| {
        let counts = Built::new(&variant(name), men).statistics(Colour::White);
        (counts.won, counts.positions, counts.longest_win.map_or(0, |longest| longest.value.moves()))
    };
    assert_eq!(told("sorcerer", "K+S v K"), (0, 938_844, 0));
    assert_eq!(told("sorcerer", "K+C v K"), (0, 936_668, 0));
    let opulent = |men| told("opulent-lemurian-shatranj", men);
    assert_eq!(opulent("K+N v K"), (2_900, 850_928, 14));
    assert_eq!(opulent("K+S v K"), (18_152, 786_760, 10));
    for (men, moves) in [("K+W v K", 29), ("K+G v K", 28), ("K+R v K", 20), ("K+H v K", 17)] {
        let (won, positions, longest) = opulent(men);
        assert_eq!((won, longest), (positions, moves), "{men}");
    }
}

#[test]
fn positions_with_rights_are_in_no_table() {
    let built = Built::new(&variant("chess"), "K+R v K");
    let probe = |fen: &str| built.tables.probe(&position("chess", fen));
    assert!(probe("4k3/8/8/8/8/8/8/4K2R w - - 0 1").is_some());
    assert_eq!(probe("4k3/8/8/8/8/8/8/4K2R w K - 0 1"), None);
    assert_eq!(probe("4k3/8/8/8/8/8/8/3QK3 w - - 0 1"), None);
}

#[test]
fn positions_are_made_of_men() {
    let chess = variant("chess");
    let man = |letter: char| chess.man_with_letter(letter).map(|(unit, colour)| Piece::new(unit, colour)).unwrap();
    let of = |men: &[(&str, char)], side| {
        let place = |&(name, letter): &(&str, char)| (chess.topology().parse(name).unwrap(), man(letter));
        Position::of_men(&chess, men.iter().map(place), side).map(|position| position.fen())
    };
    let fen = of(&[("e1", 'K'), ("h1", 'R'), ("e8", 'k')], Colour::Black);
    assert_eq!(fen.unwrap(), "4k3/8/8/8/8/8/8/4K2R b - - 0 1");
    let reason = |men: &[(&str, char)]| of(men, Colour::White).unwrap_err().to_string();
    assert!(reason(&[("e1", 'K'), ("e1", 'R'), ("e8", 'k')]).contains("e1 holds two men"));
    assert!(reason(&[("e1", 'K'), ("e3", 'R'), ("e8", 'k')]).contains("could take the king"));
    assert!(reason(&[("e1", 'K'), ("a8", 'P'), ("e8", 'k')]).contains("must promote"));
    assert!(reason(&[("e1", 'K')]).contains("expected one king of Black"));
    let hole = Position::of_men(&chess, [(Square::at(9, 9).unwrap(), man('K'))], Colour::White);
    assert!(hole.unwrap_err().to_string().contains("does not exist"));
}

fn bytes(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    file::write(table, &mut bytes).expect("memory takes everything");
    bytes
}

#[test]
fn threads_change_no_byte() {
    let chess = variant("chess");
    let material = Material::parse(&chess, "K+R v K").unwrap();
    let plan = Plan::of(&chess, &material).unwrap();
    let made = [1, 4].map(|threads| {
        let mut tables = Tables::new();
        for planned in &plan.tables {
            tables.insert(solve(&chess, planned, &tables, &work(threads)).unwrap());
        }
        bytes(tables.get(&material).unwrap())
    });
    assert!(made[0] == made[1]);
}

#[test]
fn files_are_read_whole_or_refused() {
    let chess = variant("chess");
    let built = Built::new(&chess, "K+N v K");
    let whole = bytes(built.table());
    let read = |bytes: &[u8], game: &Arc<Variant>| file::read(game, &mut &bytes[..]).map(|table| self::bytes(&table));
    assert!(read(&whole, &chess).unwrap() == whole);
    let reason = |bytes: &[u8], game: &Arc<Variant>| read(bytes, game).unwrap_err().to_string();
    let mut spoilt = whole.clone();
    let middle = spoilt.len() / 2;
    spoilt[middle] ^= 1;
    assert!(reason(&spoilt, &chess).contains("checksum"));
    assert!(reason(&whole[..whole.len() - 1], &chess).contains("bytes more"));
    assert!(reason(&[&whole[..], &[0]].concat(), &chess).contains("the end of the file"));
    assert!(reason(&whole, &variant("shatranj")).contains("rules of shatranj"));
    assert!(reason(b"PK", &chess).contains("bytes more"));
    assert!(reason(&[0; 64], &chess).contains("an endgame table"));
}

/// One wrong byte under a right checksum: the check finds it, be it the value of a position or a position too many.
#[test]
fn the_check_finds_one_wrong_byte() {
    let chess = variant("chess");
    let built = Built::new(&chess, "K+N v K");
    let whole = bytes(built.table());
    let first = whole.len() - 32 - 2 * built.table().slots();
    let drawn = first + whole[first..].iter().position(|&code| code == 0).unwrap();
    for (at, code, told) in
        [(drawn, 1, "the table says win in 0 moves"), (drawn, 255, "the table says no legal position")]
    {
        let mut spoilt = whole[..whole.len() - 32].to_vec();
        spoilt[at] = code;
        let checksum = Sha256::digest(&spoilt);
        spoilt.extend_from_slice(&checksum);
        let mut tables = Built::new(&chess, "K v K").tables;
        tables.insert(file::read(&chess, &mut &spoilt[..]).unwrap());
        let found = verify(&tables, tables.get(&built.material).unwrap(), Sample::All, &work(0));
        let reason = found.expect_err("it is wrong").to_string();
        assert!(reason.contains(told) && reason.contains("the moves from there say draw"), "{reason}");
    }
}

#[test]
fn what_is_missing_or_stopped_is_said() {
    let chess = variant("chess");
    let material = Material::parse(&chess, "K+R v K").unwrap();
    let plan = Plan::of(&chess, &material).unwrap();
    let planned = plan.planned(&material).unwrap();
    let missing = solve(&chess, planned, &Tables::new(), &work(1)).err();
    assert_eq!(missing, Some(EndgameError::Missing { material: "K+R v K".into(), missing: "K v K".into() }));
    let stop = AtomicBool::new(true);
    let stopped = Work { threads: 2, stop: &stop, report: &|_: Stage| () };
    let tables = Built::new(&chess, "K v K").tables;
    assert_eq!(
        solve(&chess, planned, &tables, &stopped).err(),
        Some(EndgameError::Stopped { material: "K+R v K".into() })
    );
}

#[test]
#[ignore = "four men on the whole board: half a minute"]
fn longest_mates_of_four_men_in_orthodox_chess() {
    let chess = variant("chess");
    for (men, moves) in [("K+B+N v K", 33), ("K+B+B v K", 19)] {
        let built = Built::new(&chess, men);
        assert_eq!(built.longest_moves(), moves, "{men}");
        assert!(built.verified(random(1_000_000)).legal >= 1_000_000);
    }
}

/// Each unit with its king against a king, in every shipped game: units, boards, promotions and ends of all kinds.
#[test]
#[ignore = "some hundred tables: minutes"]
fn every_unit_of_every_shipped_game() {
    let mut tables = 0;
    for game in common::shipped() {
        let letter = |unit| game.unit(unit).letter;
        for unit in game.units().filter(|&unit| unit != game.royal()) {
            let men = format!("{0}+{1} v {0}", letter(game.royal()), letter(unit));
            let material = Material::parse(&game, &men).unwrap();
            if let Err(refused) = Plan::of(&game, &material) {
                assert!(matches!(refused, EndgameError::PromotesToRoyal { .. }), "{} {refused}", game.name());
                continue;
            }
            let built = Built::new(&game, &men);
            let checked = verify(&built.tables, built.table(), random(2_000), &work(0));
            assert!(checked.is_ok_and(|checked| checked.legal >= 2_000), "{} {men}", game.name());
            tables += 1;
        }
    }
    assert!(tables > 300, "{tables}");
}

#[test]
#[ignore = "every position of three men on boards of 100 and more squares: minutes"]
fn every_position_of_three_men_on_large_boards() {
    for (name, men) in [("sorcerer", "K+S v K"), ("sorcerer", "K+C v K"), ("opulent-lemurian-shatranj", "K+H v K")] {
        Built::new(&variant(name), men).verified(Sample::All);
    }
}
