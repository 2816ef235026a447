//! Claims files: what is refused and how it is told, how intervals become verdicts, and the exact answers to the inventors' claims.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::Workplace;
use fairyforge::claims::{
    ClaimSet, ClaimVerdict, ClaimsFile, Evidence, Faults, Level, Measured, NoGames, PartVerdict, Prepared, Quantity,
    Range, Stopped, TableWork, Unmeasured, Verdict, Verdicts, level_to_refute,
};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const SHIPPED: [&str; 3] = ["herculean", "sorcerer", "opulent-lemurian-shatranj"];

fn configs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/claims")
}

fn shipped(name: &str) -> ClaimSet {
    ClaimSet::load(&configs().join(format!("{name}.toml"))).unwrap_or_else(|error| panic!("{error}"))
}

/// Claims about a game, each of one `[[claim.part]]` text.
fn file(variant: &str, parts: &[&str]) -> String {
    let head =
        format!("format = 1\nvariant = \"{variant}\"\nexperiment = \"experiment.toml\"\nsource = \"somebody\"\n");
    let claim = "[[claim]]\nid = \"X\"\ntext = \"It is so.\"\nreading = \"As it says.\"\n";
    let parts = parts.iter().map(|part| format!("[[claim.part]]\n{part}\n"));
    format!("{head}{claim}{}", parts.collect::<String>())
}

fn load(text: &str) -> Result<ClaimSet, Faults> {
    ClaimsFile::read(text).and_then(|file| ClaimSet::new(file, Path::new("claims.toml")))
}

fn set(variant: &str, parts: &[&str]) -> ClaimSet {
    load(&file(variant, parts)).unwrap_or_else(|faults| panic!("{faults}"))
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let Faults(faults) = load(text).expect_err("it is wrong");
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for expected in expected {
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{expected}: {faults:#?}");
    }
}

/// Makes tables quietly, in so many mebibytes.
fn prepare(set: &ClaimSet, mebibytes: u64, stop: bool) -> Result<Prepared<'_>, Stopped> {
    let stop = AtomicBool::new(stop);
    Prepared::new(set, &TableWork { threads: 2, stop: &stop, mebibytes, hearer: &|_| Box::new(|_| ()) })
}

fn judged(set: &ClaimSet, evidence: &dyn Evidence) -> Vec<ClaimVerdict> {
    prepare(set, 1 << 10, false).unwrap().verdicts(evidence)
}

fn judged_exactly(variant: &str, parts: &[&str]) -> Vec<PartVerdict> {
    judged(&set(variant, parts), &NoGames).remove(0).parts
}

/// Normal estimates: what was seen of each unit that counts first, and one standard error for all.
struct Normally {
    seen: BTreeMap<String, f64>,
    error: f64,
    games: u64,
}

impl Normally {
    fn of(seen: &[(&str, f64)], error: f64) -> Self {
        Self { seen: seen.iter().map(|&(unit, value)| (unit.to_owned(), value)).collect(), error, games: 1000 }
    }
}

impl Evidence for Normally {
    fn measure(&self, quantity: &Quantity, level: Level) -> Result<Measured, Unmeasured> {
        let name = match quantity {
            Quantity::Value { units } => units.keys().next().unwrap().clone(),
            Quantity::PhaseGain { unit, .. } | Quantity::RankGain { unit } => unit.clone(),
            Quantity::FirstMove => "first move".to_owned(),
            Quantity::GameLength { longer_than } => longer_than.clone(),
        };
        let unclear = || Unmeasured::Unclear { reason: format!("{name} never differed"), games: self.games };
        let value = *self.seen.get(&name).ok_or_else(unclear)?;
        let arm = self.error * level.critical();
        let method = "made up".to_owned();
        Ok(Measured { value, low: value - arm, high: value + arm, games: self.games, method, ..Measured::default() })
    }
}

const KNIGHT: &str = "kind = \"value\"\nunit = \"knight\"\nlow = 2.5\nhigh = 3.5";
const BISHOP: &str = "kind = \"value\"\nunit = \"bishop\"\nlow = 2.5\nhigh = 3.5";
const ROOK: &str = "kind = \"value\"\nunit = \"rook\"\nlow = 4.5\nhigh = 5.5";
const MEN: &str = "kind = \"fact\"\nfact = \"men\"\nequals = 32";

fn verdict(parts: &[&str], evidence: &Normally) -> ClaimVerdict {
    judged(&set("chess", parts), evidence).remove(0)
}

#[test]
fn all_strangers_are_told_with_line_and_nearest() {
    let text = "format = 1\nvariant = \"chess\"\nsorce = \"s\"\nsource = \"s\"\n[[claim]]\nid = \"A\"\nname = \"a\"\n\
                text = \"t\"\nreading = \"r\"\n[[claim.part]]\nkind = \"valeu\"\n[[claim.part]]\nkind = \"value\"\n\
                unit = \"rook\"\nlwo = 3\nmargin = 1\n[[claim.part]]\nkind = \"fact\"\nfact = \"mne\"\n[[claim.part]]\n\
                low = 3\n";
    let expected = [
        "line 3: unknown key `sorce`, did you mean `source`?",
        "line 7: unknown key `claim.name`, did you mean",
        "line 11: kind: expected one of \"value\", \"difference\", ",
        "line 15: unknown key `claim.part.lwo`, did you mean `claim.part.low`?",
        "line 16: unknown key `claim.part.margin`, did you mean",
        "line 19: fact: expected one of \"men\", \"types\", ",
        "line 20: kind: expected one of",
    ];
    refused(text, &expected);
    let Faults(faults) = load(text).unwrap_err();
    assert!(faults[2].ends_with("got \"valeu\", did you mean \"value\"?"), "{faults:#?}");
    assert!(faults[5].ends_with("got \"mne\", did you mean \"men\"?"), "{faults:#?}");
    assert!(faults[6].ends_with("got none"), "{faults:#?}");
}

#[test]
fn a_key_of_another_kind_is_a_stranger() {
    let part = "kind = \"fact\"\nfact = \"men\"\nequals = 3\nsquares = []";
    refused(&file("chess", &[part]), &["unknown key `claim.part.squares`, did you mean `claim.part."]);
    refused(
        &file("chess", &["kind = \"first_move\"\nmargin = 0.1\nunit = \"rook\""]),
        &["unknown key `claim.part.unit`"],
    );
}

#[test]
fn what_is_missing_or_of_a_wrong_type_is_told_with_its_place() {
    let parts = [
        "kind = \"value\"\nlow = 3",
        "kind = \"value\"\nunit = \"rook\"\nlow = \"three\"",
        "kind = \"fact\"\nfact = \"men\"\nequals = 3.5",
        "kind = \"endgame\"\nmen = \"K v K\"\nforce = \"perhaps\"",
    ];
    let expected = [
        "claim X, part 1: missing field `unit`",
        "claim X, part 2: ",
        "claim X, part 3: ",
        "claim X, part 4: unknown variant `perhaps`",
    ];
    refused(&file("chess", &parts), &expected);
    refused(
        "format = 1\nvariant = \"chess\"\n",
        &["missing field `source`", "claim: expected tables [[claim]], got none"],
    );
    refused(
        "format = 1\nvariant = \"chess\"\nsource = \"s\"\nclaim = 3\n",
        &["claim: expected tables [[claim]], got integer"],
    );
    let no_parts =
        "format = 1\nvariant = \"chess\"\nsource = \"s\"\n[[claim]]\nid = \"A\"\ntext = \"t\"\nreading = \"r\"\n";
    refused(no_parts, &["claim A, part: expected tables [[claim.part]], got none"]);
    assert_eq!(load("format = 1\nvariant").unwrap_err().0.len(), 1);
}

#[test]
fn what_makes_no_sense_for_the_game_is_told_together() {
    let parts = [
        "kind = \"value\"\nunit = \"rok\"\nlow = 3",
        "kind = \"value\"\nunit = \"king\"\nlow = 3",
        "kind = \"value\"\nunit = \"rook\"",
        "kind = \"value\"\nunit = \"rook\"\nlow = 3\nhigh = 3",
        "kind = \"value\"\nunit = \"rook\"\nlow = nan",
        "kind = \"difference\"\nunits = {}\nlow = 3",
        "kind = \"difference\"\nunits = { rook = 0 }\nlow = 3",
        "kind = \"equivalence\"\nunits = { rook = 1 }\nmargin = 0",
        "kind = \"phase_gain\"\nunit = \"pawn\"\nlow = 1",
        "kind = \"rank_gain\"\nlow = -1",
        "kind = \"first_move\"\nmargin = 0.1\nlow = 0.4",
        "kind = \"first_move\"\nlow = 40",
        "kind = \"game_length\"\nlonger_than = \"ches\"",
        "kind = \"fact\"\nfact = \"weak_points\"\nsquares = [\"j9\"]",
        "kind = \"fact\"\nfact = \"reach\"\nunit = \"rook\"\nfrom_rank = 2\nto_rank = 9",
        "kind = \"endgame\"\nmen = \"K+X v K\"\nforce = \"can\"",
        "kind = \"endgame\"\nmen = \"K+P v K+P\"\nforce = \"can\"\nshare = 0.4",
        "kind = \"endgame\"\nmen = \"K+Q v K\"",
    ];
    let expected = [
        "part 1, unit: expected a unit of chess, as \"rook\", got \"rok\"",
        "part 2, unit: expected a unit that the game goes on without, got \"king\"",
        "part 3, low: expected low, high or both, got neither",
        "part 4, low: expected less than high, 3, got 3",
        "part 5, low: expected a number, got NaN",
        "part 6, units: expected units with how often they count",
        "part 7, units: expected how often rook counts, not 0, got 0",
        "part 8, margin: expected more than 0, got 0",
        "part 9, against: expected another unit, got \"pawn\" again",
        "part 10, low: expected a number of at least 0, got -1",
        "part 11, margin: expected margin alone, or low and high alone, got both",
        "part 12, low: expected 0 to 1, got 40",
        "part 13, longer_than: expected a shipped game or a path to a .toml file, got \"ches\"; the nearest shipped game is \"chess\"",
        "part 14, squares: ",
        "part 15, to_rank: expected 1 to 8, got 9",
        "part 15, from_rank: expected a rank where White has rook in the array, got 2",
        "part 16: men: expected one of the capital letters",
        "part 17: K+P v K+P: pawn may be taken en passant",
        "part 17, share: expected more than 0.5, at most 1, got 0.4",
        "part 18, force: expected force, longest_moves or both, got neither",
    ];
    refused(&file("chess", &parts), &expected);
}

#[test]
fn heads_of_files_and_claims_are_checked() {
    let good = file("chess", &[KNIGHT]);
    assert!(load(&good).is_ok());
    refused(&good.replace("format = 1", "format = 2"), &["format: expected 1, got 2"]);
    refused(&good.replace("\"chess\"", "\"ches\""), &["variant: expected a shipped game"]);
    refused(&good.replace("experiment = \"experiment.toml\"\n", ""), &["experiment: expected a file, as claim X is"]);
    refused(&good.replace("somebody", " "), &["source: expected who claims it, got nothing"]);
    refused(&good.replace("As it says.", ""), &["claim X, reading: expected a sentence, got nothing"]);
    let twice = format!("{good}{}", &good[good.find("[[claim]]").unwrap()..]);
    refused(&twice, &["claim.id: expected every name once, got \"X\" again"]);
    // What is known exactly needs no experiment.
    assert!(load(&file("chess", &[MEN]).replace("experiment = \"experiment.toml\"\n", "")).is_ok());
}

#[test]
fn the_shipped_files_hold_all_seventeen_claims() {
    let mut ids = BTreeSet::new();
    for name in SHIPPED {
        let set = shipped(name);
        assert_eq!(set.variant.name(), name);
        ids.extend(set.file.claims.iter().map(|claim| claim.id.clone()));
        assert!(set.experiment().is_none_or(|path| path.is_file() && path.ends_with(format!("{name}.toml"))));
        assert!(set.file.claims.iter().all(|claim| claim.reading.len() > 40 && !claim.reading.starts_with('\n')));
        // What is written reads back.
        let text = toml::to_string(&set.file).unwrap();
        assert_eq!(ClaimsFile::read(&text), Ok(set.file));
    }
    let expected: BTreeSet<String> = [("H", 8), ("S", 2), ("O", 7)]
        .into_iter()
        .flat_map(|(game, claims)| (1..=claims).map(move |number| format!("{game}{number}")))
        .collect();
    assert_eq!(ids, expected);
    let files = std::fs::read_dir(configs()).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned()).collect();
    files.sort();
    assert_eq!(files, ["herculean", "opulent-lemurian-shatranj", "sorcerer"]);
}

#[test]
fn what_is_asked_of_play_follows_from_the_claims() {
    let set = shipped("herculean");
    let asked = |id: &str| -> Vec<(String, Range)> {
        let claim = set.file.claims.iter().find(|claim| claim.id == id).unwrap();
        claim.parts.iter().filter_map(|part| part.measured().map(|(asked, range)| (asked.to_string(), range))).collect()
    };
    let range = |low, high| Range { low: Some(low), high: Some(high) };
    assert_eq!(asked("H1"), [("ninja_pawn, in pawns".to_owned(), range(1.5, 2.0))]);
    assert_eq!(asked("H2"), [("flying_chariot - rook, in pawns".to_owned(), range(0.5, 1.0))]);
    assert_eq!(asked("H4")[1], ("wazir_sorcerer - wazir_knight, in pawns".to_owned(), range(-0.25, 0.25)));
    assert_eq!(asked("H7"), [("White's score from the array".to_owned(), range(0.475, 0.525))]);
    let longer = Range { low: Some(0.0), high: None };
    assert_eq!(asked("H8"), [("plies a game, less those of chess".to_owned(), longer)]);
}

#[test]
fn a_part_is_judged_by_its_interval() {
    let knight = |value, error| verdict(&[KNIGHT], &Normally::of(&[("knight", value)], error));
    assert_eq!(knight(3.0, 0.2).verdict, Verdict::Supported);
    assert_eq!(knight(3.0, 0.3).verdict, Verdict::Undecided);
    assert_eq!(knight(4.0, 0.2).verdict, Verdict::Refuted);
    let undecided = knight(4.0, 0.3);
    assert_eq!((undecided.verdict, undecided.level_to_refute), (Verdict::Undecided, 0.05));
    // The arm of 0.588 must shrink to 0.5: 1000 · (0.588/0.5)² games.
    assert_eq!((undecided.games_to_decide, undecided.parts[0].games_to_decide), (Some(1383), Some(1383)));
    assert_eq!(undecided.parts[0].interval, undecided.parts[0].interval_to_refute);
    let said = undecided.to_string();
    let expected = "4.00 (95 % 3.41 to 4.59), claimed 2.5 to 3.5, 1,000 games; about 1,383 games would decide it";
    assert!(said.starts_with("X   undecided  It is so.\n    undecided  knight, in pawns  4.00"), "{said}");
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn a_claim_is_refuted_at_a_level_that_its_parts_share() {
    // Outside at 95 %, not at 97.5 %: 1.96 and 2.24 standard errors.
    let evidence = Normally::of(&[("knight", 3.0), ("bishop", 3.71)], 0.1);
    assert_eq!(verdict(&[BISHOP], &evidence).verdict, Verdict::Refuted);
    let both = verdict(&[KNIGHT, BISHOP], &evidence);
    assert_eq!((both.verdict, both.level_to_refute), (Verdict::Undecided, 0.025));
    assert_eq!(both.games_to_decide, Some(1140), "1000 · (2.2414/2.1)²");
    let [knight, bishop] = &both.parts[..] else { panic!("two parts") };
    assert_eq!((knight.verdict, bishop.verdict), (Verdict::Supported, Verdict::Undecided));
    assert!(bishop.finding.contains("(95 % 3.51 to 3.91; 97.5 % 3.49 to 3.93)"), "{bishop}");
    assert!(both.to_string().contains("It is so. (1 supported, 1 undecided of 2 parts)"), "{both}");
    // What is known exactly takes no share.
    assert_eq!(verdict(&[BISHOP, MEN], &evidence).verdict, Verdict::Refuted);
    let farther = Normally::of(&[("knight", 3.0), ("bishop", 3.73)], 0.1);
    assert_eq!(verdict(&[KNIGHT, BISHOP], &farther).verdict, Verdict::Refuted);
}

#[test]
fn a_claim_is_supported_if_all_its_parts_are() {
    let evidence = Normally::of(&[("knight", 3.0), ("bishop", 3.0), ("rook", 5.0)], 0.2);
    assert_eq!(verdict(&[KNIGHT, BISHOP, ROOK], &evidence).verdict, Verdict::Supported);
    assert_eq!(verdict(&[KNIGHT, MEN], &evidence).verdict, Verdict::Supported);
    let one_open = Normally::of(&[("knight", 3.0), ("bishop", 3.2), ("rook", 5.0)], 0.2);
    let open = verdict(&[KNIGHT, BISHOP, ROOK], &one_open);
    assert_eq!((open.verdict, open.games_to_decide), (Verdict::Undecided, Some(1708)), "1000 · (0.392/0.3)²");
}

#[test]
fn what_was_not_measured_keeps_a_claim_open_but_not_from_being_refuted() {
    let partly = Normally::of(&[("knight", 3.0)], 0.1);
    let open = verdict(&[KNIGHT, ROOK], &partly);
    assert_eq!((open.verdict, open.games_to_decide), (Verdict::Undecided, None));
    assert_eq!(open.parts[1].reason.as_deref(), Some("rook never differed"));
    assert_eq!((open.parts[1].games, open.parts[1].value), (1000, None));
    assert!(open.parts[1].to_string().ends_with("rook, in pawns: not measured: rook never differed"), "{open}");
    assert_eq!(verdict(&[KNIGHT, ROOK], &Normally::of(&[("knight", 9.0)], 0.1)).verdict, Verdict::Refuted);
    assert_eq!(verdict(&[ROOK, &MEN.replace("32", "31")], &partly).verdict, Verdict::Refuted);
    let unplayed = judged(&set("chess", &[KNIGHT]), &NoGames).remove(0);
    assert_eq!(unplayed.parts[0].finding, "not measured: no games");
}

/// Whatever comes, as it is.
struct Raw(Measured);

impl Evidence for Raw {
    fn measure(&self, _: &Quantity, _: Level) -> Result<Measured, Unmeasured> {
        Ok(self.0.clone())
    }
}

#[test]
fn what_cannot_be_a_measurement_decides_nothing() {
    let sound = Measured { value: 3.0, low: 2.9, high: 3.1, games: 9, ..Measured::default() };
    assert_eq!(judged(&set("chess", &[KNIGHT]), &Raw(sound.clone()))[0].verdict, Verdict::Supported);
    let unsound = [
        Measured { value: f64::NAN, ..sound.clone() },
        Measured { value: 3.2, ..sound.clone() },
        Measured { high: f64::INFINITY, ..sound.clone() },
        Measured { low: 3.1, high: 2.9, ..sound },
    ];
    for measured in unsound {
        let said = judged(&set("chess", &[KNIGHT]), &Raw(measured.clone())).remove(0);
        assert_eq!(said.verdict, Verdict::Undecided, "{measured:?}");
        assert!(said.parts[0].finding.contains("expected a value inside its interval, got"), "{said}");
    }
}

/// As [`verdict`] for parts that only play tells, without loading the game for each of many cases.
fn quick(parts: &[&str], evidence: &Normally) -> ClaimVerdict {
    let claim = ClaimsFile::read(&file("chess", parts)).unwrap().claims.remove(0);
    let level = level_to_refute(&claim);
    let judged = claim.parts.iter().map(|part| PartVerdict::measured(part, part.measured().unwrap(), evidence, level));
    ClaimVerdict::of(&claim, judged.collect())
}

/// Intervals that are not nested as they should be: the one that is to miss more seldom is the shorter one.
struct NotNested;

impl Evidence for NotNested {
    fn measure(&self, _: &Quantity, level: Level) -> Result<Measured, Unmeasured> {
        let arm = if level == Level::USUAL { 1.0 } else { 0.1 };
        Ok(Measured { value: 4.0, low: 4.0 - arm, high: 4.0 + arm, games: 9, ..Measured::default() })
    }
}

#[test]
fn nothing_is_refuted_that_the_95_percent_interval_does_not_exclude() {
    let verdict = judged(&set("chess", &[KNIGHT, BISHOP]), &NotNested).remove(0);
    assert_eq!(verdict.verdict, Verdict::Undecided);
    let wider = verdict.parts[0].interval_to_refute.unwrap();
    assert_eq!((wider.low, wider.high), (3.0, 5.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// More precision at the same place decides more and reverses nothing.
    #[test]
    fn a_shorter_interval_never_takes_a_verdict_back(
        knight in 1.0..5.0, bishop in 1.0..5.0, error in 0.001..1.0, shrink in 0.01..1.0,
    ) {
        let at = |error| quick(&[KNIGHT, BISHOP], &Normally::of(&[("knight", knight), ("bishop", bishop)], error));
        let (before, after) = (at(error), at(error * shrink));
        prop_assert!(before.verdict == Verdict::Undecided || after.verdict == before.verdict);
        for (before, after) in before.parts.iter().zip(&after.parts) {
            prop_assert!(before.verdict == Verdict::Undecided || after.verdict == before.verdict);
        }
    }

    /// A wider claim is supported whenever a narrower one is, and refuted only if that is.
    #[test]
    fn a_wider_claim_is_easier_to_support(value in 1.0..5.0, error in 0.001..0.5, more in 0.01..1.0) {
        let wide = format!("kind = \"value\"\nunit = \"knight\"\nlow = {}\nhigh = {}", 2.5 - more, 3.5 + more);
        let evidence = Normally::of(&[("knight", value)], error);
        let (narrow, wide) = (quick(&[KNIGHT], &evidence).verdict, quick(&[&wide], &evidence).verdict);
        prop_assert!(narrow != Verdict::Supported || wide == Verdict::Supported);
        prop_assert!(wide != Verdict::Refuted || narrow == Verdict::Refuted);
    }

    /// Saying more never makes a claim easier to support, and another part never makes one part easier to refute.
    #[test]
    fn a_longer_claim_is_harder_to_support(knight in 2.0..4.0, bishop in 2.0..4.0, error in 0.01..0.4) {
        let evidence = Normally::of(&[("knight", knight), ("bishop", bishop)], error);
        let (one, both) = (quick(&[KNIGHT], &evidence), quick(&[KNIGHT, BISHOP], &evidence));
        prop_assert!(both.verdict != Verdict::Supported || one.verdict == Verdict::Supported);
        prop_assert!(both.parts[0].verdict != Verdict::Refuted || one.verdict == Verdict::Refuted);
        let is_refuted = both.parts.iter().any(|part| part.verdict == Verdict::Refuted);
        prop_assert_eq!(both.verdict == Verdict::Refuted, is_refuted);
    }

    /// As many games as were said to decide a claim do, if every figure stays where it is.
    #[test]
    fn so_many_games_decide(knight in 2.0..4.0, bishop in 2.0..4.0, error in 0.05..0.6) {
        let evidence = Normally::of(&[("knight", knight), ("bishop", bishop)], error);
        let open = quick(&[KNIGHT, BISHOP], &evidence);
        if let Some(games) = open.games_to_decide {
            prop_assert!(open.verdict == Verdict::Undecided && games > evidence.games);
            let at = |games: f64| {
                let error = error * (evidence.games as f64 / games).sqrt();
                quick(&[KNIGHT, BISHOP], &Normally { error, seen: evidence.seen.clone(), games: games as u64 }).verdict
            };
            prop_assert!(at(games as f64 + 1.0) != Verdict::Undecided);
            prop_assert!(at(games as f64 * 0.98) == Verdict::Undecided);
        }
    }
}

/// A claim whose parts are all just true is refuted wrongly at most one time in twenty, which without sharing the level it is not.
#[test]
fn a_true_claim_of_many_parts_is_seldom_refuted() {
    const CLAIMS: usize = 2000;
    const UNITS: [&str; 5] = ["bishop", "knight", "pawn", "queen", "rook"];
    let parts = UNITS.map(|unit| format!("kind = \"value\"\nunit = \"{unit}\"\nlow = 1\nhigh = 2"));
    let set = set("chess", &parts.each_ref().map(String::as_str));
    let prepared = prepare(&set, 1, false).unwrap();
    let mut lots = ChaCha8Rng::seed_from_u64(20);
    let mut normal = || {
        let uniform = ((lots.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        Normal::standard().inverse_cdf(uniform)
    };
    let (mut refuted, mut would_be) = (0, 0);
    for _ in 0..CLAIMS {
        let seen = UNITS.map(|unit| (unit, 2.0 + 0.1 * normal()));
        let verdict = prepared.verdicts(&Normally::of(&seen, 0.1)).remove(0);
        refuted += usize::from(verdict.verdict == Verdict::Refuted);
        would_be += usize::from(verdict.parts.iter().any(|part| part.interval.unwrap().low > 2.0));
    }
    let [refuted, would_be] = [refuted, would_be].map(|count| count as f64 / CLAIMS as f64);
    assert!((0.015..0.035).contains(&refuted), "{refuted}: expected 1 - 0.995^5 = 2.5 %");
    assert!((0.10..0.14).contains(&would_be), "{would_be}: expected 1 - 0.975^5 = 11.9 %");
}

fn figures(parts: &[PartVerdict]) -> Vec<(Verdict, f64)> {
    parts.iter().map(|part| (part.verdict, part.value.unwrap())).collect()
}

fn claim(verdicts: &[ClaimVerdict], id: &str) -> ClaimVerdict {
    verdicts.iter().find(|verdict| verdict.id == id).unwrap().clone()
}

/// The figures of docs/endgames.md.
#[test]
fn sorcerer_chess_is_judged_exactly() {
    let verdicts = judged(&shipped("sorcerer"), &NoGames);
    let [weak, endgames] = &verdicts[..] else { panic!("two claims") };
    assert_eq!(weak.verdict, Verdict::Supported);
    assert_eq!(weak.parts[0].finding, "the King alone protects Pawn g2, Pawn g9");
    assert_eq!((endgames.verdict, figures(&endgames.parts)), (Verdict::Supported, vec![(Verdict::Supported, 0.0); 2]));
    for (part, positions) in endgames.parts.iter().zip(["938,844", "936,668"]) {
        let expected = format!("0 of {positions} positions with White to move are won by mate alone (0.0 %)");
        assert!(part.finding.starts_with(&expected), "{part}");
        assert!(part.finding.ends_with("0 of 1,020,000 with Black to move lost"), "{part}");
    }
}

#[test]
fn herculean_chess_has_no_weak_points_but_unprotected_men() {
    let longer = claim(&judged(&shipped("herculean"), &NoGames), "H8");
    assert_eq!((longer.verdict, longer.parts[0].verdict), (Verdict::Undecided, Verdict::Supported));
    let expected =
        "the King alone protects nothing; nobody at all protects Flying Chariot j1, Ninja Pawn i2, Ninja Pawn k2";
    assert!(longer.parts[0].finding.starts_with(expected), "{}", longer.parts[0]);
    assert_eq!(longer.parts[1].finding, "not measured: no games");
}

/// Facts, and all endgames but that of two Knights, which takes longer. The figures of docs/endgames.md.
#[test]
fn opulent_lemurian_shatranj_is_judged_exactly() {
    let mut set = shipped("opulent-lemurian-shatranj");
    let two_knights = |text: &str| text.contains("K+N+N");
    for claim in &mut set.file.claims {
        claim.parts.retain(|part| !two_knights(&toml::to_string(part).unwrap()));
    }
    let verdicts = judged(&set, &NoGames);
    let density = claim(&verdicts, "O4");
    assert_eq!(density.verdict, Verdict::Supported);
    let found: Vec<f64> = density.parts.iter().map(|part| part.value.unwrap()).collect();
    assert_eq!(found, [4.0, 4.0, 5.0, 2.5, 64.0 / 14.0]);
    assert_eq!(density.parts[4].finding, "4.57 (64 squares attacked by 14 men) on each side, claimed 4.57");
    let counts = claim(&verdicts, "O5");
    let found: Vec<f64> = counts.parts.iter().map(|part| part.value.unwrap()).collect();
    assert_eq!((counts.verdict, found), (Verdict::Supported, vec![44.0, 8.0, 56.0, 48.0, 10.0, 52.0, 32.0, 6.0, 32.0]));
    let reach = claim(&verdicts, "O7");
    assert_eq!(reach.verdict, Verdict::Supported);
    assert_eq!(
        reach.parts[0].finding,
        "alone on the board rank 7, in the array with nobody else moving rank 1; claimed 7"
    );

    let endgames = claim(&verdicts, "O6");
    assert_eq!(endgames.verdict, Verdict::Refuted);
    let known = [
        (
            Verdict::Refuted,
            "2,900 of 850,928 ",
            "14 moves, from 10/10/10/10/10/10/10/1N8/10/1k1K6 w - - 0 1; claimed 4",
        ),
        (Verdict::Supported, "821,140 of 821,140 ", "29 moves, from "),
        (Verdict::Refuted, "18,152 of 786,760 ", "10 moves, from "),
        (Verdict::Supported, "840,384 of 840,384 ", "29 moves, from "),
        (Verdict::Supported, "742,080 of 742,080 ", "21 moves, from "),
        (Verdict::Supported, "763,256 of 763,256 ", "18 moves, from "),
    ];
    assert_eq!(endgames.parts.len(), known.len());
    for (part, (verdict, won, longest)) in endgames.parts.iter().zip(known) {
        assert_eq!(part.verdict, verdict, "{part}");
        assert!(part.finding.starts_with(won) && part.finding.contains(longest), "{part}");
    }
}

#[test]
#[ignore = "two tables of four men: half a minute where little is optimised"]
fn two_knights_can_force_stalemate_and_not_mate() {
    let men = "kind = \"endgame\"\nmen = \"K+N+N v K\"";
    let can = format!("{men}\nforce = \"can\"\nlongest_moves = 38");
    let cannot = format!("{men}\ngoal = \"mate\"\nforce = \"cannot\"\nlongest_moves = 1");
    let parts = judged_exactly("opulent-lemurian-shatranj", &[&can, &cannot]);
    assert!(parts.iter().all(|part| part.verdict == Verdict::Supported), "{parts:#?}");
    assert!(parts[0].finding.starts_with("38,761,084 of 38,876,088 "), "{}", parts[0]);
    assert!(parts[1].finding.starts_with("824 of "), "{}", parts[1]);
}

#[test]
fn what_is_claimed_of_endgames_is_compared_with_their_tables() {
    let endgame = |rest: &str| format!("kind = \"endgame\"\n{rest}");
    let parts = [
        // The longest mates of orthodox chess, for White and for Black.
        endgame("men = \"K+Q v K\"\nforce = \"can\"\nshare = 1\nlongest_moves = 10"),
        endgame("men = \"K v K+R\"\nforce = \"can\"\nshare = 1\nlongest_moves = 16"),
        endgame("men = \"K+R v K\"\nforce = \"can\"\nlongest_moves = 15"),
        endgame("men = \"K+B v K\"\nforce = \"cannot\"\nshare = 1"),
        endgame("men = \"K+B v K\"\nforce = \"can\""),
        endgame("men = \"K+Q v K\"\nforce = \"cannot\""),
        endgame("men = \"K+N v K\"\nlongest_moves = 0"),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let verdicts: Vec<Verdict> = judged_exactly("chess", &parts).iter().map(|part| part.verdict).collect();
    use Verdict::{Refuted, Supported};
    assert_eq!(verdicts, [Supported, Supported, Refuted, Supported, Refuted, Refuted, Supported]);
    let black = &judged_exactly("chess", &parts[1..2])[0];
    assert!(black.finding.contains("positions with Black to move are won (100.0 %)"), "{black}");
}

/// Where stalemate or a bare king wins, mate alone is another question.
#[test]
fn mate_alone_is_asked_of_the_game_without_its_other_wins() {
    let asked = |men: &str| {
        let win = format!("kind = \"endgame\"\nmen = \"{men}\"\nforce = \"can\"");
        [win.clone(), win.replace("force = \"can\"", "force = \"cannot\"\nshare = 1\ngoal = \"mate\"")]
    };
    for (game, men) in [("opulent-lemurian-shatranj", "K+W v K"), ("shatranj", "K+N v K")] {
        let [win, mate] = asked(men);
        let parts = judged_exactly(game, &[&win, &mate]);
        assert_eq!(figures(&parts), [(Verdict::Supported, 1.0), (Verdict::Supported, 0.0)], "{parts:#?}");
    }
}

#[test]
fn weak_points_are_compared_square_by_square() {
    let weak =
        |squares: &str, rest: &str| format!("kind = \"fact\"\nfact = \"weak_points\"\nsquares = [{squares}]\n{rest}");
    let parts = [
        weak("\"g9\", \"g2\"", ""),
        weak("\"g2\"", ""),
        weak("\"g2\", \"g9\", \"f2\"", ""),
        weak("\"g2\", \"g9\"", "unit = \"knight\""),
        weak("", ""),
        // The second setup leaves Bishops to the King.
        weak("\"g1\", \"g10\"", "unit = \"bishop\"\nvariant = \"sorcerer-setup2\""),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let verdicts: Vec<Verdict> = judged_exactly("sorcerer", &parts).iter().map(|part| part.verdict).collect();
    use Verdict::{Refuted, Supported};
    assert_eq!(verdicts, [Supported, Refuted, Refuted, Refuted, Refuted, Supported]);
}

#[test]
fn facts_are_compared_with_what_is_claimed() {
    let fact = |rest: &str| format!("kind = \"fact\"\n{rest}");
    let parts = [
        fact("fact = \"men\"\nequals = 31"),
        fact("fact = \"types\"\nequals = 6"),
        fact("fact = \"empty_squares\"\nequals = 33"),
        fact("fact = \"attack_density\"\nequals = 4.01"),
        fact("fact = \"attack_density\"\nequals = 4.01\nwithin = 0.02"),
        fact("fact = \"reach\"\nunit = \"rook\"\nfrom_rank = 1\nto_rank = 8"),
        fact("fact = \"reach\"\nunit = \"rook\"\nfrom_rank = 1\nto_rank = 8\nboard = \"array\""),
        // Both sides count: the Spartan army is another.
        fact("fact = \"attack_density\"\nequals = 4\nvariant = \"spartan\""),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let judged = judged_exactly("chess", &parts);
    let verdicts: Vec<Verdict> = judged.iter().map(|part| part.verdict).collect();
    use Verdict::{Refuted, Supported};
    assert_eq!(verdicts, [Refuted, Supported, Refuted, Refuted, Supported, Supported, Refuted, Refuted]);
    assert!(judged[7].finding.starts_with("White 4.00 (32 squares attacked by 8 men), Black "), "{}", judged[7]);
}

#[test]
fn a_game_whose_rules_are_elsewhere_leaves_a_fact_open() {
    let elsewhere = format!("{MEN}\nvariant = \"elsewhere/some-game.toml\"");
    let open = judged(&set("chess", &[MEN, &elsewhere]), &NoGames).remove(0);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(open.parts[1].finding, "not measured: no rules file elsewhere/some-game.toml");
    assert_eq!(open.parts[1].about, "men of some-game");
}

#[test]
fn tables_that_are_too_large_are_refused_and_a_stop_is_heard() {
    let set = set("herculean", &["kind = \"endgame\"\nmen = \"K+S+Z v K\"\nforce = \"can\""]);
    let open = prepare(&set, 10, false).unwrap().verdicts(&NoGames).remove(0);
    assert_eq!(open.verdict, Verdict::Undecided);
    let finding = &open.parts[0].finding;
    assert!(finding.starts_with("not measured: its table would take "), "{finding}");
    assert!(finding.ends_with(" MiB of memory, more than the 10 MiB allowed"), "{finding}");
    assert!(matches!(prepare(&set, 1 << 10, true), Err(Stopped)));
}

#[test]
fn the_document_has_an_example_that_loads_and_names_what_is_printed() {
    let document = include_str!("../../docs/formats/claims.md");
    let example = document.split("```").find_map(|block| block.strip_prefix("toml\n")).unwrap();
    let set = load(example).unwrap_or_else(|faults| panic!("{faults}"));
    let verdicts = Verdicts::new(&set, judged(&set, &NoGames), ["program", "command"]);
    let told = serde_json::to_value(&verdicts).unwrap();
    for table in [&told, &told["claims"][0], &told["claims"][0]["parts"][0]] {
        for key in table.as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{key}`")), "{key}");
        }
    }
}

fn json(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "one line of JSON: {text}");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_command_prints_verdicts_and_leaves_them_in_a_folder() {
    let place = Workplace::new();
    place.write("claims.toml", &std::fs::read_to_string(configs().join("sorcerer.toml")).unwrap());
    let text = place.run("claims run claims.toml --threads 2").succeeded();
    assert!(
        text.starts_with("Charles Daniel, in his description of Sorcerer Chess\n\nS1  supported  The start"),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("    supported  ")).count(), 3, "{text}");
    let printed = place.run("claims run claims.toml --threads 1 --json --out here/there").succeeded();
    assert_eq!(place.read("here/there/claims.json"), printed);
    let told = json(&printed);
    assert_eq!((&told["format"], &told["kind"], &told["variant"]), (&1.into(), &"claims".into(), &"sorcerer".into()));
    assert_eq!(told["rules_hash"].as_str().unwrap().len(), 64);
    assert_eq!(told["command"], "fairyforge claims run claims.toml");
    let part = &told["claims"][1]["parts"][0];
    assert_eq!((&part["verdict"], &part["value"]), (&"supported".into(), &0.0.into()));
    assert_eq!((&part["part"]["men"], &part["interval"], &part["games"]), (&"K+S v K".into(), &Value::Null, &0.into()));
}

#[test]
fn the_command_leaves_open_what_it_does_not_play() {
    let place = Workplace::new();
    place.write("claims.toml", &file("chess", &[KNIGHT, BISHOP, MEN]));
    let told = json(&place.run("claims run claims.toml --exact --json").succeeded());
    assert_eq!(told["command"], "fairyforge claims run claims.toml --exact");
    let parts = &told["claims"][0]["parts"];
    assert_eq!((&parts[0]["verdict"], &parts[0]["reason"]), (&"undecided".into(), &"no games".into()));
    assert_eq!((&parts[0]["claimed"]["low"], &parts[0]["claimed"]["high"]), (&2.5.into(), &3.5.into()));
    assert_eq!((&parts[2]["verdict"], &parts[2]["value"]), (&"supported".into(), &32.0.into()));
    // Without --exact there must be an experiment.
    place.run("claims run claims.toml").refused(2, &["experiment.toml"]);
    place.run("claims run claims.toml --budget soon").failed(2);
    place.run("claims run claims.toml --exact --budget 100").failed(2);
}

#[test]
fn the_command_checks_files() {
    let place = Workplace::new();
    place.write("good.toml", &file("chess", &[KNIGHT, MEN]));
    place.write("bad.toml", &file("chess", &[&KNIGHT.replace("knight", "knihgt")]));
    let told = place.run("claims check good.toml").succeeded();
    assert_eq!(told, "good.toml: Chess, 1 claim of 2 parts, 1 measured by play\n");
    let both = place.run("claims check bad.toml good.toml nowhere.toml");
    assert_eq!(both.stdout, told);
    let error = both.failed(2);
    assert!(error.contains("bad.toml:\nclaim X, part 1, unit: expected a unit of chess, as \"knight\""), "{error}");
    assert!(
        error.contains("cannot read nowhere.toml: ") && error.ends_with("error: 2 of 3 files have faults\n"),
        "{error}"
    );
    place.run("claims run bad.toml").refused(2, &["cannot use the claims", "\"knihgt\""]);
}
