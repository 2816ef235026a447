//! What is told of files that are right, wrong or odd, and which opening comes when.

use super::*;
use crate::selfplay::Imbalance;
use fairyforge_engine::game::Game;
use std::collections::BTreeSet;
use tempfile::TempDir;

fn variant(name: &str) -> Arc<Variant> {
    Arc::new(Variant::load(name).unwrap())
}

/// A file in a folder of its own. Paths in errors are cut off.
struct Written {
    folder: TempDir,
    file: OpeningFile,
}

impl Written {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = OpeningFile { order: Order::Sequential, ..OpeningFile::new(folder.path().join(name)) };
        std::fs::write(&file.path, content).unwrap();
        Self { folder, file }
    }

    fn open(&self, variant: &Arc<Variant>) -> Result<OpeningBook, OpeningError> {
        OpeningBook::open(variant, &OpeningSource::File(self.file.clone()), 7)
    }

    #[track_caller]
    fn book(&self, variant: &Arc<Variant>) -> OpeningBook {
        self.open(variant).unwrap_or_else(|error| panic!("{error}"))
    }

    #[track_caller]
    fn error(&self, variant: &Arc<Variant>) -> String {
        let error = self.open(variant).err().expect("it should be refused").to_string();
        error.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// So many positions of chess, each another: a king walks, and the move number tells which it is.
fn walks(count: usize) -> String {
    let line = |number: usize| {
        let (black, white) = (number / 8 % 8, number % 8);
        let rank = |file: usize, king: char| {
            let empty = |squares: usize| if squares == 0 { String::new() } else { squares.to_string() };
            format!("{}{king}{}", empty(file), empty(7 - file))
        };
        format!("{}/8/8/8/8/8/P7/{} w - - 0 {}\n", rank(black, 'k'), rank(white, 'K'), number + 1)
    };
    assert!(count <= 64);
    (0..count).map(line).collect()
}

/// Which of [`walks`] the first openings are.
fn numbers(book: &OpeningBook, count: u64) -> Vec<u32> {
    (0..count).map(|number| book.opening(number).position.full_moves()).collect()
}

const KINGS: &str = "4k3/8/8/8/8/8/4P3/4K3";

#[test]
fn positions_are_read_in_every_form() {
    let chess = variant("chess");
    let forms = [
        (format!("{KINGS} w - -"), "0 1", None),
        (format!("{KINGS} b - - 3 17"), "3 17", None),
        (format!("\t {KINGS}\tw  - -\t0\t9 ;"), "0 9", None),
        (format!("{KINGS} w - - id \"the end; of it\";"), "0 1", Some("the end; of it")),
        (format!("{KINGS} w - -;id bare word;"), "0 1", Some("bare word")),
        (format!("{KINGS} w - - 4 5 bm Ke2 Kd2; ce -12; c0 \"\"; id \"first\"; id \"second\""), "4 5", Some("first")),
        (format!("{KINGS} w - - fmvn 30; hmvc 12;"), "12 30", None),
        (format!("{KINGS} w - - 12 30 hmvc 12; fmvn 30; id \"\";"), "12 30", None),
        (format!("{KINGS} w - - id \"\u{fc}ber\"; noop"), "0 1", Some("\u{fc}ber")),
    ];
    for ending in ["\n", "\r\n", "\r"] {
        let lines: Vec<&str> = forms.iter().map(|(line, ..)| line.as_str()).collect();
        let text = format!("\u{feff}# a comment{ending}{ending} \t{ending}{}", lines.join(ending));
        let book = Written::new("book.epd", text).book(&chess);
        assert_eq!(book.size(), Some(forms.len() as u64));
        for (number, (line, counters, name)) in (0..).zip(&forms) {
            let opening = book.opening(number);
            assert!(opening.position.fen().ends_with(&format!(" {counters}")), "{line}: {}", opening.position.fen());
            assert_eq!((opening.name.as_deref(), opening.line), (*name, Some(number + 4)), "{line}");
            assert_eq!((opening.plies, opening.start.fen()), (0, opening.position.fen()));
        }
    }
}

#[test]
fn old_files_are_not_in_utf_8() {
    let book = Written::new("book.epd", [KINGS.as_bytes(), b" w - - id \"\xfcber\";"].concat()).book(&variant("chess"));
    assert_eq!(book.opening(0).name.as_deref(), Some("\u{fc}ber"));
}

/// Line by line what is wrong, with the column counted by hand.
#[test]
fn faults_of_positions_have_their_column() {
    let chess = [
        ("4k3/8/8/8 w - -", "1: board field: expected 8 ranks separated by '/', got 4"),
        ("  4k3/8/8/9/8/8/8/4K3 w - -", "11: board field, rank 5 (\"9\"): expected 8 squares, got 9"),
        ("4k3/8/8/2x5/8/8/8/4K3 w - -", "10: board field, rank 5: expected one of "),
        ("4k3/8/8/1p0p5/8/8/8/4K3 w - -", "11: board field, rank 5: expected a number from 1 "),
        ("4k3/8/8/8/8/8/8/8 w - -", "1: board field: expected one king of White, got 0"),
        ("4k2P/8/8/8/8/8/8/4K3 w - -", "1: board field: a pawn cannot stand on h8"),
        ("4k3/8/8/8/8/8/8/p3K3 w - -", "17: board field: a pawn cannot stand on a1"),
        ("4k3/8/8/8/8/8/8/4K*2 w - -", "17: board field: f1 exists"),
        ("4k3/4R3/8/8/8/8/8/4K3 w - -", "23: side field: White is to move and could take the king on e8"),
        ("4k3/8/8/8/8/8/8/4K3 W - -", "21: side field: expected w or b, got \"W\""),
        ("4k3/8/8/8/8/8/8/4K3 w K -", "23: castling field \"K\": "),
        ("4k3/8/8/8/8/8/8/4K3 w - e6", "25: en passant field \"e6\": "),
        ("4k3/8/8/8/8/8/8/4K3[] w - -", "20: holdings: this game has no units in hand"),
        (
            "4k3/8/8/8/8/8/P7/4K3 w - - 99999 1",
            "28: half-move clock field: expected a number from 0 to 10000, got \"99999\"",
        ),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 0 0", "30: move number field: expected a number from 1 to 60000, got \"0\""),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 0", "29: expected a move number behind the half-move clock, got nothing"),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 0 x", "30: expected a move number behind the half-move clock, got \"x\""),
        (
            "4k3/8/8/8/8/8/P7/4K3 w -",
            "25: expected a position in at least 4 fields (board, side, castling, en passant), got 3",
        ),
        ("e4 e5", "6: expected a position in at least 4 fields (board, side, castling, en passant), got 2"),
        (
            "4k3/8/8/8/8/8/P7/4K3 w - - !",
            "28: expected the end of the line or an operation, as id \"name\";, got \"!\"",
        ),
        ("4k3/8/8/8/8/8/P7/4K3 w - - id \"\u{e4}\u{f6}\" \"b", "36: expected a quote that closes this one, got "),
        ("4k3/8/8/8/8/8/P7/4K3 w - - id \"a", "31: expected a quote that closes this one, got the end of the line"),
        ("4k3/8/8/8/8/8/P7/4K3 w - - hmvc ;", "33: expected one number behind hmvc, got nothing"),
        ("4k3/8/8/8/8/8/P7/4K3 w - - fmvn 1 2;", "35: expected one number behind fmvn, got \"2\""),
        ("4k3/8/8/8/8/8/P7/4K3 w - - fmvn \"x y\";", "34: expected one number behind fmvn, got \"x y\""),
        ("4k3/8/8/8/8/8/P7/4K3 w - - hmvc 20000;", "33: half-move clock field: expected a number "),
        ("4k3/8/8/8/8/8/P7/4K3 w - - 5 9 hmvc 6;", "37: hmvc: expected 5, as it was told before, got 6"),
        (
            "4k3/8/8/8/8/8/P7/4K3 w - - 100 60",
            "28: expected a position from which the game goes on, got one that ends it by move count",
        ),
        (
            "7k/6Q1/6K1/8/8/8/8/8 b - -",
            "1: expected a position from which the game goes on, got one that ends it by checkmate",
        ),
        (
            "  7k/5Q2/6K1/8/8/8/8/8 b - -",
            "3: expected a position from which the game goes on, got one that ends it by stalemate",
        ),
    ];
    told_of_lines("chess", &chess);
    let spartan = [("lgkcckwl/hhhhhhhh/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQ -", "47: castling field \"KQ\": ")];
    told_of_lines("spartan", &spartan);
    let herculean = [(
        "rzclfqkwlcsr/nnnnnbbnnnnn/pppppppppppp/x11/12/12/12/12/12/PPPPPPPPPPPP/NNNNNBBNNNNN/RZCLFQKWLCSR w KQkq - 0 1",
        "40: board field, rank 9: expected one of ",
    )];
    told_of_lines("herculean", &herculean);
}

#[track_caller]
fn told_of_lines(name: &str, cases: &[(&str, &str)]) {
    let variant = variant(name);
    for (line, expected) in cases {
        let error = Written::new("book.epd", format!("# comment\n{line}\n")).error(&variant);
        let told = format!("book.epd: 1 of 1 opening cannot be used:\nbook.epd:2:{expected}");
        assert!(error.starts_with(&told), "{line}\n{error}\n{told}");
    }
}

/// Two-digit ranks, holes, and hands have columns too.
#[test]
fn columns_are_right_on_every_board() {
    let mut seen = 0;
    for name in Variant::shipped_names() {
        let variant = variant(name);
        let fen = Position::start(&variant).fen();
        let (board, rest) = fen.split_once(' ').unwrap();
        let men = board.split('[').next().unwrap();
        // A letter that no game has, in the middle of each rank.
        let ends: Vec<usize> = men.match_indices('/').map(|(at, _)| at).chain([men.len()]).collect();
        for end in ends {
            let line = format!("{}!{} {rest}", &board[..end], &board[end..]);
            let error = Written::new("book.fen", line).error(&variant);
            let column = end + 1;
            assert!(error.contains(&format!("\nbook.fen:1:{column}: board field, rank ")), "{name}: {error}");
            seen += 1;
        }
    }
    assert!(seen > 400, "{seen}");
}

#[test]
fn all_faults_are_counted_and_the_first_are_told() {
    let chess = variant("chess");
    let fault = |book: &Written| match book.open(&chess).err() {
        Some(OpeningError::Faults(faults)) => faults,
        other => panic!("{other:?}"),
    };
    let text = format!("{}{}", walks(5), "nonsense\n".repeat(25));
    let written = Written::new("book.epd", &text);
    let OpeningFaults { sound, faulty, shown, .. } = fault(&written);
    assert_eq!((sound, faulty, shown.len()), (5, 25, 20));
    assert!((6..).zip(&shown).all(|(line, fault)| (fault.line, fault.column, fault.game) == (line, 9, None)));
    let told = written.error(&chess);
    assert!(
        told.starts_with("book.epd: 25 of 30 openings cannot be used:\nbook.epd:6:9: expected a position"),
        "{told}"
    );
    assert!(told.ends_with("got 1\nand 5 more faults") && told.lines().count() == 22, "{told}");
    let one_more = Written::new("book.epd", "nonsense\n".repeat(21)).error(&chess);
    assert!(one_more.ends_with("\nand 1 more fault"), "{one_more}");
    let long = Written::new("book.epd", format!("{}{}\n", walks(1), "1".repeat(1 << 20))).error(&chess);
    assert!(long.ends_with("\nbook.epd:2:1: expected a line of at most 16384 bytes"), "{long}");
}

#[test]
fn what_is_no_file_of_openings_is_refused() {
    let chess = variant("chess");
    for (name, content, expected) in [
        ("book.epd", "", "book.epd: expected at least one opening, got an empty file"),
        ("book.pgn", "", "book.pgn: expected at least one opening, got an empty file"),
        ("book", "\u{feff}", "book: expected at least one opening, got 3 bytes without any"),
        ("book.epd", "# nothing\n\n", "book.epd: expected at least one opening, got 11 bytes without any"),
        ("book.pgn", "; nothing\n", "book.pgn: expected at least one opening, got 10 bytes without any"),
        ("book.bin", "\0\u{1}\u{2}", "book.bin: 1 of 1 opening cannot be used:\nbook.bin:1:4: expected a position"),
    ] {
        let error = Written::new(name, content).error(&chess);
        assert!(error.starts_with(expected), "{error}");
    }
    let mut written = Written::new("book.epd", walks(2));
    written.file.path = written.folder.path().join("other.epd");
    let error = written.open(&chess).err();
    assert!(matches!(&error, Some(OpeningError::Read { .. })), "{error:?}");
    assert!(written.error(&chess).starts_with("cannot read the openings other.epd: "), "{error:?}");
    written.file.path = written.folder.path().to_owned();
    assert!(matches!(written.open(&chess).err(), Some(OpeningError::Folder(path)) if path == written.folder.path()));
}

/// Four games, the last without moves.
const GAMES: &str = "[Event \"?\"]\n[ECO \"C50\"]\n[Opening \"Italian\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 *\n\n\
                     [Event \"?\"]\n[Opening \"?\"]\n[Variant \"Chess\"]\n\n1. d4 *\n\n\
                     [Event \"?\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 20\"]\n[SetUp \"1\"]\n\n20... Kd7 21. e4 *\n\n\
                     [Event \"?\"]\n\n*\n";

#[test]
fn games_are_played_so_far() {
    let chess = variant("chess");
    let mut written = Written::new("games.pgn", GAMES);
    let plies = |written: &Written| -> Vec<u16> {
        let book = written.book(&chess);
        (0..book.size().unwrap()).map(|number| book.opening(number).plies).collect()
    };
    assert_eq!(plies(&written), [5, 1, 2, 0]);
    let book = written.book(&chess);
    let [italian, queens, kings, array] = std::array::from_fn(|number| book.opening(number as u64));
    assert_eq!(italian.position.fen(), "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3");
    assert_eq!((italian.name.as_deref(), italian.line), (Some("C50 Italian"), Some(1)));
    assert_eq!((queens.name, queens.line), (None, Some(7)));
    assert_eq!(kings.start.fen(), "4k3/8/8/8/8/8/4P3/4K3 b - - 3 20");
    assert_eq!(kings.position.fen(), "8/3k4/8/8/4P3/8/8/4K3 b - e3 0 21");
    assert!(array.position == Position::start(&chess) && array.start == array.position);
    assert!(book.remarks().is_empty(), "{:?}", book.remarks());
    for (most, expected) in [(0, [0, 0, 0, 0]), (2, [2, 1, 2, 0]), (3, [3, 1, 2, 0]), (u16::MAX, [5, 1, 2, 0])] {
        written.file.plies = Some(most);
        assert_eq!(plies(&written), expected, "{most} plies");
    }
    let remarks = written.book(&chess).remarks().join("\n");
    assert!(remarks.starts_with("4 of 4 openings are of games shorter than the plies asked for "), "{remarks}");
    assert!(remarks.ends_with(": that of line 1 ends after 5 plies"), "{remarks}");
    written.file.plies = Some(0);
    assert_eq!(written.book(&chess).remarks(), ["2 of 4 openings stood there before: line 7 is line 1 again"]);
}

#[test]
fn games_that_are_no_openings_are_told_with_their_place() {
    let chess = variant("chess");
    let mate = "[Event \"?\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n";
    let bare = "[Event \"?\"]\n[FEN \"7k/4p3/3K4/8/8/8/8/8 w - - 0 1\"]\n\n1. Kxe7 *\n\n";
    let shuffled = format!("[Event \"?\"]\n\n{} e4 e5 *\n\n", "Nf3 Nf6 Ng1 Ng8 ".repeat(2));
    let broken = "[Event \"?\"]\n\n1. e4 e5\n2. Ke7 *\n\n";
    let other = "[Event \"?\"]\n[Variant \"Capablanca\"]\n\n1. e4 *\n\n";
    let stranger = "[Event \"?\"]\n[Variant \"Unheard-of\"]\n\n1. e4 *\n\n";
    let mut written = Written::new("games.pgn", format!("{mate}{bare}{shuffled}{broken}{other}{stranger}{GAMES}"));
    let told = written.error(&chess);
    let over = |line: u32, game: u32, reason: &str| {
        format!(
            "games.pgn:{line}:1: game {game}: expected a position from which the game goes on, got one that ends it by {reason}"
        )
    };
    let expected = [
        "games.pgn: 6 of 10 openings cannot be used:".to_owned(),
        over(1, 1, "checkmate after 4 plies"),
        over(5, 2, "bare king after 1 ply"),
        over(10, 3, "repetition after 8 plies"),
        "games.pgn:17:4: game 4: move \"Ke7\" is not legal".into(),
        "games.pgn:20:1: game 5: variant \"Capablanca\": expected games of chess, got one of capablanca".into(),
        "games.pgn:25:1: game 6: variant \"Unheard-of\": expected ".into(),
    ];
    assert_eq!(told.lines().count(), expected.len(), "{told}");
    for (line, expected) in told.lines().zip(&expected) {
        assert!(line.starts_with(expected.as_str()), "{told}\nexpected {expected}");
    }
    written.file.plies = Some(3);
    let told = written.error(&chess);
    assert!(told.starts_with("games.pgn: 4 of 10 openings"), "{told}");
}

/// XBoard writes several castlings alike; the moves behind tell which, or nothing does.
#[test]
fn castlings_that_could_be_read_otherwise_are_counted() {
    let game = |moves: &str| {
        format!(
            "[Event \"?\"]\n[VariantMen \"P:fmWfcF;K:K\"]\n[FEN \"r5k4r/pppppppppppp/12/12/12/12/12/12/12/12/PPPPPPPPPPPP/R5K4R w KQkq - 0 1\"]\n\n{moves} *\n\n"
        )
    };
    let text = format!("{}{}{}", game("1. a3 a9"), game("1. O-O a9"), game("1. O-O"));
    let written = Written::new("games.pgn", text);
    let expected = "2 of 3 openings are of games with a move that could be read otherwise: 11:4: O-O may be any of \
                    O-Ok1, O-Oh1; read as the first that lets the later moves be played, O-Ok1";
    assert_eq!(written.book(&variant("herculean")).remarks(), [expected]);
}

#[test]
fn files_without_an_ending_are_what_they_begin_with() {
    let chess = variant("chess");
    assert_eq!(Written::new("games", format!("\u{feff}\r\n{GAMES}")).book(&chess).size(), Some(4));
    assert_eq!(Written::new("games", walks(3)).book(&chess).size(), Some(3));
}

#[test]
fn positions_have_no_plies() {
    let mut written = Written::new("book.epd", walks(2));
    written.file.plies = Some(8);
    let expected = "book.epd: expected no number of plies, since the file holds positions and no games, got 8";
    assert_eq!(written.error(&variant("chess")), expected);
}

#[test]
fn the_order_of_the_file_begins_where_it_is_told_to_and_then_anew() {
    let chess = variant("chess");
    let mut written = Written::new("book.epd", walks(5));
    for (start, expected) in [(1, [1, 2, 3, 4, 5, 1, 2]), (4, [4, 5, 1, 2, 3, 4, 5]), (5, [5, 1, 2, 3, 4, 5, 1])] {
        written.file.start = start;
        let book = written.book(&chess);
        assert_eq!(numbers(&book, 7), expected);
        let wraps = [0, 1, 5, 6, 10, 11, u64::MAX].map(|openings| book.wraps(openings));
        assert_eq!(wraps, [0, 0, 0, 1, 1, 2, u64::MAX / 5 - 1]);
        // A multiple of five and three more.
        let late = book.opening(u64::MAX - 2).position.full_moves();
        assert_eq!(late, expected[3]);
    }
    for start in [0, 6, u64::MAX] {
        written.file.start = start;
        let expected = format!("book.epd: expected a first opening from 1 to 5, got number {start}");
        assert_eq!(written.error(&chess), expected);
    }
}

#[test]
fn the_random_order_has_each_opening_once_a_lap() {
    let chess = variant("chess");
    let mut written = Written::new("book.epd", walks(60));
    written.file.order = Order::Random;
    let sequence = |seed: u64, start: u64| {
        let file = OpeningFile { start, ..written.file.clone() };
        numbers(&OpeningBook::open(&chess, &OpeningSource::File(file), seed).unwrap(), 150)
    };
    let whole = sequence(7, 1);
    for lap in whole.chunks_exact(60) {
        assert_eq!(lap.iter().copied().collect::<BTreeSet<u32>>(), (1..=60).collect(), "{lap:?}");
    }
    assert_eq!(whole[..60], whole[60..120], "every lap has the same order");
    assert!(!whole.is_sorted() && whole[..60] != sequence(8, 1)[..60]);
    assert_eq!(sequence(7, 1), whole);
    assert_eq!(sequence(7, 21)[..130], whole[20..], "the start is counted in the order, not in the file");
}

#[test]
fn openings_that_stand_there_twice_are_counted() {
    let text = format!("{}# but for the counters the first again\n{}", walks(4), walks(1).replace("0 1", "7 30"));
    let book = Written::new("book.epd", text).book(&variant("chess"));
    assert_eq!((book.size(), numbers(&book, 5)), (Some(5), vec![1, 2, 3, 4, 30]));
    assert_eq!(book.remarks(), ["1 of 5 openings stood there before: line 6 is line 1 again"]);
}

#[test]
fn the_digest_tells_whether_the_file_has_changed() {
    let chess = variant("chess");
    let mut written = Written::new("book.epd", walks(3));
    let book = written.book(&chess);
    let OpeningSource::File(complete) = book.source().clone() else { panic!("{:?}", book.source()) };
    assert_eq!(complete.digest, Some(crate::checksum::text_digest(&walks(3))));
    written.file = complete.clone();
    assert_eq!(written.book(&chess).source(), book.source());
    std::fs::write(&written.file.path, format!("{}nonsense\n", walks(3))).unwrap();
    let told = written.error(&chess);
    let expected = format!(
        "book.epd: expected the content with SHA-256 {}, with which the match was planned, got ",
        complete.digest.unwrap()
    );
    assert!(told.starts_with(&expected) && told.ends_with(": the file has changed"), "{told}");
}

#[test]
fn settings_are_written_and_read() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Plan {
        openings: OpeningSource,
    }
    let file = OpeningFile { digest: Some("ab".into()), start: 3, plies: Some(8), ..OpeningFile::new("a/b.epd") };
    for openings in [OpeningSource::default(), OpeningSource::File(file), OpeningSource::File(OpeningFile::new("x"))] {
        let plan = Plan { openings };
        let text = toml::to_string(&plan).unwrap();
        assert_eq!(toml::from_str::<Plan>(&text).unwrap(), plan, "{text}");
    }
    let short = "[openings.file]\npath = \"x\"\n";
    let plan = Plan { openings: OpeningSource::File(OpeningFile::new("x")) };
    assert_eq!(toml::from_str::<Plan>(short).unwrap(), plan);
    for (text, expected) in [
        ("[openings.file]\npath = \"x\"\nordr = \"random\"\n", "unknown field `ordr`"),
        ("[openings.file]\npath = \"x\"\norder = \"shuffled\"\n", "unknown variant `shuffled`"),
        ("[openings.random]\nplies = 3\n", "unknown field `plies`"),
        ("[openings.book]\npath = \"x\"\n", "unknown variant `book`"),
    ] {
        let error = toml::from_str::<Plan>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn random_openings_are_those_of_self_play() {
    let variant = variant("herculean");
    let settings = Openings::default();
    let maker = OpeningMaker::new(&variant, &settings);
    let book = OpeningBook::open(&variant, &OpeningSource::Random(settings), 5).unwrap();
    for number in [0, 1, 17, u64::MAX - 1] {
        let [expected, _] = maker.pair(5, number);
        let MatchOpening { start, position, plies, name, line } = book.opening(number);
        assert!(position == expected.position && start == expected.start && plies == expected.random_plies);
        assert_eq!((name, line), (None, None));
    }
    assert_eq!((book.size(), book.wraps(u64::MAX), book.remarks().len()), (None, 0, 0));
    let imbalance = Imbalance { share: 1.0, ..Imbalance::default() };
    let source = OpeningSource::Random(Openings { imbalance, ..Openings::default() });
    let book = OpeningBook::open(&variant, &source, 5).unwrap();
    assert!(book.opening(0).name.is_some_and(|name| name.starts_with("w:") && name.contains(" b:")));
    assert!(book.described().ends_with("(seed 5), some with units taken away"));
}

#[test]
fn a_book_is_told_in_a_sentence() {
    let chess = variant("chess");
    let mut written = Written::new("book.epd", walks(12));
    written.file.start = 3;
    let path = written.file.path.display().to_string();
    let told = |written: &Written| written.book(&chess).described().replace(&path, "book.epd");
    assert_eq!(told(&written), "12 openings of book.epd in the order of the file, from number 3");
    written.file.order = Order::Random;
    assert_eq!(told(&written), "12 openings of book.epd in random order (seed 7), from number 3");
    let random = |settings| OpeningBook::open(&chess, &OpeningSource::Random(settings), 9).unwrap().described();
    assert_eq!(random(Openings::default()), "random openings of 4 to 10 plies (seed 9)");
    let odd = Openings { least_random_plies: 3, most_random_plies: 9, ..Openings::default() };
    assert_eq!(random(odd), "random openings of 4 to 8 plies (seed 9)");
    let even = Openings { least_random_plies: 6, most_random_plies: 6, ..Openings::default() };
    assert_eq!(random(even), "random openings of 6 plies (seed 9)");
}

/// Whatever the bytes, opening a file ends with a book or an error, and a book's openings can all be played.
#[test]
fn spoilt_files_are_refused_or_read() {
    use crate::selfplay::seeds::Dice;
    let chess = variant("chess");
    let texts = [format!("{}{KINGS} w - - 3 9 id \"a\"; hmvc 3;\n", walks(3)), GAMES.to_owned()];
    let signs = b"/8kK[]{};\"'#*wb-0123456789 \t\r\n\xff\0";
    let mut read = 0;
    for (name, text) in [("a.epd", &texts[0]), ("a.pgn", &texts[1]), ("a.pgn", &texts[0]), ("a.epd", &texts[1])] {
        for number in 0..150 {
            let mut dice = Dice::new(11, number);
            let mut bytes = text.clone().into_bytes();
            for _ in 0..=dice.below(2) {
                let at = dice.below(bytes.len());
                match dice.below(3) {
                    0 => bytes[at] = signs[dice.below(signs.len())],
                    1 => bytes.insert(at, signs[dice.below(signs.len())]),
                    _ => bytes.truncate(at + 1),
                }
            }
            let Ok(book) = Written::new(name, &bytes).open(&chess) else { continue };
            read += 1;
            for number in 0..book.size().unwrap() {
                let opening = book.opening(number);
                assert!(Game::new(opening.position).outcome().is_none());
            }
        }
    }
    assert!(read > 50, "{read}");
}
