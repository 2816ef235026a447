use super::super::library::{SHIPPED, shipped};
use super::*;
use crate::variant::pattern::{Leg, Turn};
use proptest::prelude::*;

/// A small complete game; faults are made by changing it.
const GAME: &str = r#"format = 1
[variant]
name = "Test"
[board]
setup = """
r . k . r
p p p p p
. . . . .
. . * . .
P P P P P
R . K . R
"""
[zones]
last = "rank 6"
[pieces]
king = { letter = "K", moves = "K" }
rook = { letter = "R", moves = "R" }
pawn = { letter = "P", moves = "fmWfcF" }
[promotion]
who = ["pawn"]
zone = "last"
to = ["rook"]
[castling]
partner = "rook"
king_steps = { to_higher_files = [2], to_lower_files = [1, 2] }
[drops]
hand = { pawn = 2, rook = 1 }
zone = "ranks 1-2 + c5 + files a-b"
[end]
stalemated_side = "loses"
"#;

fn read(text: &str) -> Result<Rules, VariantErrors> {
    parse(text, "test.toml", "test", &|name| shipped(name).map(Into::into))
}

fn faults(text: &str) -> Vec<Fault> {
    read(text).err().unwrap_or_else(|| panic!("accepted:\n{text}")).faults
}

/// The only fault after replacing a part of [`GAME`].
fn fault(from: &str, to: &str) -> Fault {
    assert!(GAME.contains(from), "{from}");
    let mut faults = faults(&GAME.replacen(from, to, 1));
    assert_eq!(faults.len(), 1, "{from} -> {to}: {faults:#?}");
    faults.remove(0)
}

#[test]
fn the_game_is_read() {
    let rules = read(GAME).unwrap();
    assert_eq!(rules.topology.squares().len(), 29);
    assert_eq!(rules.array.len(), 16);
    assert_eq!(rules.units.iter().map(|unit| unit.name.as_str()).collect::<Vec<_>>(), ["king", "pawn", "rook"]);
    let drops = rules.drops.unwrap();
    assert_eq!(drops.hand.len(), 2);
    assert_eq!(drops.hand[0].1, 2);
    assert_eq!(drops.zone.len(), 10 + 1 + 8);
    assert_eq!(rules.castling.unwrap().lower.unwrap().steps, [1, 2]);
}

#[test]
fn the_order_of_keys_does_not_matter() {
    let pieces = "rook = { letter = \"R\", moves = \"R\" }\n";
    let moved = GAME.replace(pieces, "").replace("[pieces]\n", &format!("[pieces]\n{pieces}"));
    assert_ne!(moved, GAME);
    assert_eq!(read(&moved), read(GAME));
}

#[test]
fn defaults_are_those_of_orthodox_chess() {
    let rules = read(&GAME.replace("[end]\nstalemated_side = \"loses\"\n", "")).unwrap();
    let chess = super::super::library::load("chess").unwrap();
    let without_dead_kings = crate::variant::rules::EndRules { bare_kings_draw: false, ..chess.end };
    assert_eq!(rules.end, without_dead_kings);
    assert!(rules.promotion[0].must);
}

#[test]
fn paths_become_legs() {
    let with = |moves: &str| {
        let rules = read(&GAME.replace("moves = \"R\"", moves)).unwrap();
        rules.units.into_iter().find(|unit| unit.name == "rook").unwrap().patterns
    };
    let hero = with("moves = \"WD\", then = [[\"W\", \"D\"], [\"D\", \"W\"]]");
    assert_eq!(hero.len(), 4);
    assert_eq!(hero[2].legs[1].turn, Turn::Any);
    let gryphon = with("outward = [[\"F\", \"R2+\"]]");
    let last = &gryphon[0].legs[1];
    assert_eq!((last.turn.clone(), last.min, last.max), (Turn::Outward, 2, Leg::UNLIMITED));
    assert!(gryphon[0].moves && gryphon[0].captures);
    let lame = with("outward = [[\"W\", \"F\", \"F\"]]");
    assert_eq!(lame[0].legs.len(), 3);
}

#[test]
fn every_class_of_fault_is_named() {
    use FaultKind::*;
    let cases = [
        ("format = 1", "format = 2", WrongValue, "format"),
        ("format = 1", "", MissingKey, "format"),
        ("name = \"Test\"", "author = \"Me\"", MissingKey, "variant.name"),
        ("name = \"Test\"", "name = 3", WrongType, "variant.name"),
        ("P P P P P", "P P P P", Setup, "board.setup"),
        ("P P P P P", "P P x P P", Setup, "board.setup"),
        ("P P P P P", "P P PP . .", Setup, "board.setup"),
        ("R . K . R", "R . . . R", Setup, "board.setup"),
        ("[board]", "[board]\nfirst_rank = 2", WrongValue, "board.first_rank"),
        ("rank 6", "rank 7", WrongValue, "zones.last"),
        ("rank 6", "ranks 6-1", WrongValue, "zones.last"),
        ("rank 6", "", WrongValue, "zones.last"),
        ("rank 6", "a6 c3", WrongValue, "zones.last"),
        ("rank 6", "a6 +", WrongValue, "zones.last"),
        ("letter = \"R\"", "letter = \"RR\"", WrongValue, "pieces.rook.letter"),
        ("letter = \"P\"", "letter = \"K\"", Duplicate, "pieces.pawn.letter"),
        ("letter = \"R\", moves = \"R\"", "letter = \"R\"", MissingKey, "pieces.rook.moves"),
        ("moves = \"R\"", "moves = []", WrongType, "pieces.rook.moves"),
        ("moves = \"R\"", "then = []", MissingKey, "pieces.rook.moves"),
        ("moves = \"R\"", "moves = \"WuR\"", Betza, "pieces.rook.moves"),
        ("moves = \"R\"", "then = [[\"W\"]]", WrongValue, "pieces.rook.then"),
        ("moves = \"R\"", "then = [[\"R\", \"W\"]]", Betza, "pieces.rook.then"),
        ("moves = \"R\"", "also = [{ moves = \"R\" }]", MissingKey, "pieces.rook.also"),
        ("moves = \"R\"", "also = [{ from = \"last\" }]", MissingKey, "pieces.rook.also.moves"),
        ("moves = \"R\"", "also = [{ moves = \"R\", to = \"lost\" }]", UnknownName, "pieces.rook.also.to"),
        (
            "moves = \"K\" }\nrook = {",
            "moves = \"K\", royal = true }\nrook = { royal = true,",
            Conflict,
            "pieces.rook.royal",
        ),
        ("moves = \"K\"", "moves = \"K\", royal = false", Conflict, "pieces"),
        ("moves = \"R\"", "moves = \"R\", en_passant = \"never\"", WrongValue, "pieces.rook.en_passant"),
        ("rook = {", "Rook = { letter = \"X\", moves = \"W\" }\nrook = {", WrongValue, "pieces.Rook"),
        ("who = [\"pawn\"]", "who = [\"prawn\"]", UnknownName, "promotion.who"),
        ("who = [\"pawn\"]", "who = [\"pawn\", \"pawn\"]", Duplicate, "promotion.who"),
        ("who = [\"pawn\"]", "who = []", WrongValue, "promotion.who"),
        ("who = [\"pawn\"]\n", "", MissingKey, "promotion.who"),
        ("zone = \"last\"\n", "zone = \"rank 2\"\n", Conflict, "promotion.zone"),
        ("to = [\"rook\"]", "to = [\"king\"]", Conflict, "promotion.to"),
        ("to = [\"rook\"]", "", MissingKey, "promotion.to"),
        ("to = [\"rook\"]", "to = [\"rook\", \"pawn\"]", Conflict, "promotion.to"),
        ("to = [\"rook\"]", "to = [\"rook\"]\nat_most = { rook = 0 }", WrongValue, "promotion.at_most.rook"),
        ("to = [\"rook\"]", "to = [\"rook\"]\nat_most = { pawn = 2 }", Conflict, "promotion.at_most.pawn"),
        ("to = [\"rook\"]", "to = [\"rook\"]\nat_most = { rok = 2 }", UnknownName, "promotion.at_most.rok"),
        ("to = [\"rook\"]", "to = [\"rook\"]\nalways = [\"pawn\"]", Conflict, "promotion.always"),
        ("to = [\"rook\"]", "to = [\"rook\"]\nafter_drop = [\"pawn\"]", Conflict, "promotion.after_drop"),
        ("partner = \"rook\"", "partner = \"rok\"", UnknownName, "castling.partner"),
        ("= [2], to_lower", "= [3], to_lower", Conflict, "castling.king_steps.to_higher_files"),
        ("= [2], to_lower", "= [2, 2], to_lower", Duplicate, "castling.king_steps.to_higher_files"),
        ("= [2], to_lower", "= [0], to_lower", WrongValue, "castling.king_steps.to_higher_files"),
        ("r . k . r", "r . k r .", Conflict, "castling.king_steps.to_higher_files"),
        ("R . K . R", "R . K P .", Conflict, "castling.king_steps.to_higher_files"),
        ("[board]", "[board]\nblack_sees = \"left\"", WrongValue, "board.black_sees"),
        ("moves = \"K\"", "moves = \"K\", takeable = 1", WrongType, "pieces.king.takeable"),
        ("pawn = 2", "pawn = 0", WrongValue, "drops.hand.pawn"),
        ("pawn = 2", "king = 2", Conflict, "drops.hand.king"),
        ("pawn = 2", "paw = 2", UnknownName, "drops.hand.paw"),
        ("= \"loses\"", "= \"loose\"", WrongValue, "end.stalemated_side"),
        ("= \"loses\"", "= \"loses\"\nin_check_if = \"both\"", WrongValue, "end.in_check_if"),
        ("= \"loses\"", "= \"loses\"\nrepetition = 1", WrongValue, "end.repetition"),
        ("= \"loses\"", "= \"loses\"\nmove_count_plies = \"nie\"", WrongType, "end.move_count_plies"),
        ("= \"loses\"", "= \"loses\"\nbare_kings_draw = 1", WrongType, "end.bare_kings_draw"),
        ("format = 1", "format = 1\ninherits = \"ches\"", UnknownName, "inherits"),
        ("king = {", "queen = \"none\"\nking = {", UnknownName, "pieces.queen"),
        ("format = 1", "format = 1\nformat = 1", Syntax, ""),
        ("setup = \"\"\"", "setup = \"\"\"\u{1}", Syntax, ""),
    ];
    for (from, to, kind, key) in cases {
        assert!(GAME.contains(from), "{from}");
        let faults = faults(&GAME.replacen(from, to, 1));
        let found = faults.iter().find(|fault| fault.kind == kind && fault.key == key);
        let fault = found.unwrap_or_else(|| panic!("{from} -> {to}: {faults:#?}"));
        assert!(faults.len() <= 2, "{from} -> {to} has too many consequences: {faults:#?}");
        assert!(fault.line >= 1 && fault.column >= 1 && !fault.expected.is_empty() && !fault.got.is_empty());
    }
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let cases = [
        ("[end]", "[ende]", "ende", "\"end\""),
        ("name = \"Test\"", "name = \"Test\"\nautor = \"Me\"", "variant.autor", "\"author\""),
        ("moves = \"R\"", "moves = \"R\", enpassant = \"none\"", "pieces.rook.enpassant", "\"en_passant\""),
        ("who = [\"pawn\"]", "who = [\"pawn\"]\nmsut = true", "promotion.msut", "\"must\""),
        ("[castling]", "[castling]\npartners = 1", "castling.partners", "\"partner\""),
        ("to_lower_files", "to_lower_file", "castling.king_steps.to_lower_file", "\"to_lower_files\""),
        ("[drops]", "[drops]\nzones = 1", "drops.zones", "\"zone\""),
        ("= \"loses\"", "= \"loses\"\nmove_count = 100", "end.move_count", "\"move_count_plies\""),
        ("[board]", "[board]\nfirstrank = 1", "board.firstrank", "\"first_rank\""),
    ];
    for (from, to, key, nearest) in cases {
        let fault = fault(from, to);
        assert_eq!((fault.kind, fault.key.as_str()), (FaultKind::UnknownKey, key), "{fault}");
        assert!(fault.hint.as_deref().unwrap().contains(nearest), "{fault}");
    }
    let piece = fault("who = [\"pawn\"]", "who = [\"prawn\"]");
    assert!(piece.hint.unwrap().contains("\"pawn\""));
    let zone = fault("zone = \"last\"", "zone = \"lasst\"");
    assert!(zone.hint.unwrap().contains("\"last\""));
}

#[test]
fn all_faults_come_at_once_each_in_its_place() {
    let text = r#"format = 1
inherits = "chess"
[variant]
name = "Faulty"
colour = "blue"
[board]
setup = """
r n b q k b n r
p p p p p p p p
. . . . . . . .
. . . ! . . . .
. . . . . . .
. . . . . . . .
P P P P P P P P
R N B Q K B N R
"""
[pieces]
archer = { letter = "R", moves = "oW" }
page = { letter = "G", moves = "fmWfcFuW" }
kngiht = "none"
[promotion]
who = ["pawn", "paeg"]
zone = "rank 9"
[castling]
king_steps = { to_higher_files = [9] }
[end]
repetition = "twice"
"#;
    let faults = faults(text);
    let places: Vec<(usize, usize, &str)> =
        faults.iter().map(|fault| (fault.line, fault.column, fault.key.as_str())).collect();
    let expected = [
        (5, 1, "variant.colour"),
        (11, 7, "board.setup"),
        (12, 1, "board.setup"),
        (18, 21, "pieces.archer.letter"),
        (18, 35, "pieces.archer.moves"),
        (19, 39, "pieces.page.moves"),
        (20, 1, "pieces.kngiht"),
        (22, 16, "promotion.who"),
        (23, 14, "promotion.zone"),
        (25, 34, "castling.king_steps.to_higher_files"),
        (27, 14, "end.repetition"),
    ];
    for place in expected {
        assert!(places.contains(&place), "{place:?} is not among {places:#?}");
    }
    assert_eq!(places.len(), expected.len(), "{faults:#?}");
    assert!(places.is_sorted_by_key(|place| (place.0, place.1)));
    assert!(faults[1].to_string().starts_with("test.toml:11:7: board.setup: expected "), "{}", faults[1]);
}

#[test]
fn syntax_errors_have_a_place() {
    let fault = faults("format = 1\n[variant\nname = 3\n").remove(0);
    assert_eq!((fault.kind, fault.line), (FaultKind::Syntax, 2));
    assert_eq!(faults("").iter().filter(|fault| fault.kind == FaultKind::MissingKey).count(), 4);
    assert_eq!(faults(&"#".repeat(MAX_FILE_BYTES + 1)).len(), 1);
}

#[test]
fn sizes_are_bounded() {
    let board = |files: usize, ranks: usize| {
        let empty = vec![vec!["."; files].join(" "); ranks - 1].join("\n");
        format!(
            "format = 1\n[variant]\nname = \"Big\"\n[board]\nsetup = '''\nK k{}\n{empty}'''\n[pieces]\nking = {{ letter = \"K\", moves = \"K\" }}\n",
            " .".repeat(files - 2)
        )
    };
    assert!(read(&board(16, 16)).is_ok());
    assert_eq!(faults(&board(17, 16))[0].kind, FaultKind::Setup);
    assert_eq!(faults(&board(16, 17))[0].kind, FaultKind::Setup);
    assert_eq!(faults(&board(150, 150))[0].kind, FaultKind::Setup);
    let many: String = (0..240).map(|index| format!("p{index} = {{ letter = \"A\", moves = \"W\" }}\n")).collect();
    let faults = faults(&(board(8, 8) + &many + "[promotion]\nwho = [\"p239\"]\nzone = \"rank 1\"\nto = [\"p238\"]\n"));
    assert!(faults.iter().any(|fault| fault.key == "pieces" && fault.got == "241"));
    let keys: String = (0..5000).map(|index| format!("k{index} = 1\n")).collect();
    assert_eq!(self::faults(&keys).len(), MAX_FAULTS);
    let deep = format!("format = 1\nx = {}{}", "[".repeat(9000), "]".repeat(9000));
    assert!(read(&deep).is_err());
}

#[test]
fn inheritance_ends() {
    let chain = |name: &str| -> Option<String> {
        let number: usize = name.strip_prefix('g')?.parse().ok()?;
        Some(format!("format = 1\ninherits = \"g{}\"\n", number + 1))
    };
    let errors = parse("format = 1\ninherits = \"g0\"\n", "test.toml", "test", &chain).unwrap_err();
    assert_eq!((errors.faults.len(), errors.faults[0].kind), (1, FaultKind::Inheritance));
    let circle = |name: &str| Some(format!("format = 1\ninherits = \"{}\"\n", if name == "a" { "b" } else { "a" }));
    let errors = parse("format = 1\ninherits = \"a\"\n", "test.toml", "test", &circle).unwrap_err();
    assert_eq!(errors.faults[0].kind, FaultKind::Inheritance);
    assert_eq!(errors.faults[0].got, "a -> b -> a");
}

#[test]
fn children_override_keys_and_take_things_out() {
    let child = "format = 1\ninherits = \"chess\"\ncastling = \"none\"\n[variant]\nname = \"Child\"\n[pieces.pawn]\nletter = \"P\"\nmoves = \"fmWfcF\"\n[end]\nrepetition = \"never\"\n";
    let rules = read(child).unwrap();
    assert_eq!((rules.title.as_str(), rules.castling, rules.end.repetition), ("Child", None, None));
    assert_eq!(rules.end.move_count, Some(100));
    let pawn = rules.units.iter().find(|unit| unit.name == "pawn").unwrap();
    assert!(pawn.patterns.len() == 2 && !pawn.takes_en_passant, "a piece is replaced as a whole");
}

/// The reference lists every key, and its example is a game.
#[test]
fn the_reference_knows_every_key() {
    let reference = include_str!("../../../../docs/formats/variant.md");
    for (table, keys) in super::super::check::KEYS {
        for key in *keys {
            assert!(reference.contains(&format!("`{key}`")), "{table}.{key} is not in docs/formats/variant.md");
        }
    }
    let mut examples = 0;
    for block in reference.split("```toml\n").skip(1) {
        let example = block.split("```").next().unwrap();
        if example.starts_with("format") {
            examples += 1;
            read(example).unwrap_or_else(|errors| panic!("{errors}"));
        }
    }
    assert!(examples >= 1);
}

/// A shipped file with some of its bytes cut, doubled or changed.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), 0..12usize, "[ -~\n]{0,6}");
    (0..SHIPPED.len(), prop::collection::vec(change, 1..6)).prop_map(|(game, changes)| {
        let mut characters: Vec<char> = SHIPPED[game].1.chars().collect();
        for (at, cut, put) in changes {
            let at = at.index(characters.len() + 1);
            let end = (at + cut).min(characters.len());
            characters.splice(at..end, put.chars());
        }
        characters.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn never_panics_on_any_text(text in any::<String>()) {
        prop_assert!(read(&text).is_err());
    }

    #[test]
    fn never_panics_on_damaged_games(text in mutated()) {
        if let Err(errors) = read(&text) {
            prop_assert!(!errors.faults.is_empty());
            prop_assert!(errors.faults.iter().all(|fault| fault.line >= 1 && !fault.expected.is_empty()));
        }
    }

    #[test]
    fn never_panics_on_odd_values(key in "[a-z_]{1,8}", value in "(-?[0-9]{1,22}|\"[ -!#-~]{0,9}\"|\\[\\]|\\{\\}|true|1979-05-27|[0-9]\\.5|\\[\\[\"W\"\\]\\])") {
        for (_, keys) in super::super::check::KEYS {
            for known in *keys {
                let _ = read(&GAME.replacen(&format!("{known} ="), &format!("{known} = {value}\n{key} ="), 1));
            }
        }
    }
}

#[test]
fn what_only_compiling_shows_has_a_place_too() {
    let text = r#"format = 1
[variant]
name = "x"
[board]
setup = """
r . k . r
p . R p p
. . . . .
. . . . .
P P . P P
R . K . R
"""
[pieces]
king = { letter = "K", moves = "KD" }
rook = { letter = "R", moves = "R" }
pawn = { letter = "P", moves = "fmnDfF", en_passant = "takes and taken" }
[castling]
partner = "rook"
king_steps = { to_higher_files = [2] }
"#;
    let reading = super::read(text, "x.toml", "x", &|_| None).unwrap();
    let told = reading.compile().unwrap_err();
    let places: Vec<_> = told.faults.iter().map(|fault| (fault.key.as_str(), fault.line)).collect();
    let castling = ("castling.king_steps", 19);
    assert_eq!(places, [("board.setup", 5), ("pieces.pawn.en_passant", 16), castling, castling], "{told}");
    assert!(told.faults.iter().all(|fault| fault.hint.is_some() && fault.column > 1), "{told}");
}
