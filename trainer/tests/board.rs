//! `fairyforge board` and the drawings of `variant explain`: what is printed, written and refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod common;

use common::Workplace;
use fairyforge_engine::protocol::uci;
use fairyforge_engine::variant::Variant;
use std::path::Path;

/// What UCI's `d` prints.
fn told_by_uci(variant: &str, position: &str) -> String {
    let mut told = Vec::new();
    let script = format!("setoption name UCI_Variant value {variant}\nposition {position}\nd\n");
    uci::run(script.as_bytes(), &mut told).unwrap();
    let told = String::from_utf8(told).unwrap();
    // Choosing a variant is answered by a line of its own.
    told.lines().filter(|line| !line.starts_with("info ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn text_is_what_uci_prints() {
    let place = Workplace::new();
    for variant in Variant::shipped_names() {
        let told = place.run(&format!("board --variant {variant}")).succeeded();
        assert_eq!(told, told_by_uci(variant, "startpos"));
    }
    let told = place.run_args(&["board", "--variant", "herculean", "--moves", "a3a6 j10j7"]).succeeded();
    assert_eq!(told, told_by_uci("herculean", "startpos moves a3a6 j10j7"));
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let told = place.run_args(&["board", "--variant", "chess", "--fen", fen, "--moves", "e2e4"]).succeeded();
    assert_eq!(told, told_by_uci("chess", &format!("fen {fen} moves e2e4")));
    let written = place.run("board --variant chess --out boards/start.txt").succeeded();
    assert_eq!(written, "Chess, move 1, in boards/start.txt\n");
    assert_eq!(place.read("boards/start.txt"), place.run("board --variant chess").succeeded());
}

#[test]
fn drawings_go_to_standard_output_or_a_file() {
    let place = Workplace::new();
    let printed = place.run("board --variant sorcerer-reinforcements --svg").succeeded();
    assert!(
        printed.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && printed.ends_with("</svg>\n"),
        "{printed}"
    );
    let told = place.run("board --variant sorcerer-reinforcements --svg --out start.svg").succeeded();
    assert_eq!(told, "Sorcerer Chess with Reinforcements, move 1, in start.svg\n");
    assert_eq!(place.read("start.svg"), printed);
    assert!(!place.path("start.svg.tmp").exists());
    let view = [
        "board",
        "--variant",
        "chess",
        "--svg",
        "--moves",
        "e2e4",
        "--from",
        "black",
        "--mark",
        "e4 d5",
        "--size",
        "320",
    ];
    let drawn = place.run_args(&view).succeeded();
    assert!(drawn.contains("height=\"320\"") || drawn.contains("width=\"320\""), "{drawn}");
    for words in ["<title>Chess, move 1, Black to move</title>", "Last move: e2 to e4.\nMarked: e4 d5.\n"] {
        assert!(drawn.contains(words), "{words:?} in {drawn}");
    }
    // A file of one's own is drawn too.
    place.write("mine.toml", "format = 1\ninherits = \"chess\"\n[variant]\nname = \"Mine & <yours>\"\n");
    assert!(
        place.run("board --variant mine.toml --svg").succeeded().contains("<title>Mine &amp; &lt;yours&gt;, move 1")
    );
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let place = Workplace::new();
    let chess = ["board", "--variant", "chess"];
    let refused = |args: &[&str], words: &[&str]| place.run_args(&[&chess, args].concat()).refused(2, words);
    place.run("board --variant herculaen").refused(2, &["\"herculaen\"", "\"herculean\""]);
    refused(&["--fen", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPxPP/RNBQKBNR w KQkq - 0 1"], &["column 32", "rank 2", "'x'"]);
    refused(
        &["--fen", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e9 0 1"],
        &["column 52", "en passant field"],
    );
    refused(&["--fen", "8 w"], &["column 1", "6 fields", "got 2"]);
    refused(&["--moves", "e2e4 e7e6 e4e6"], &["the 3. move", "\"e4e6\"", "not legal"]);
    refused(&["--moves", "e2e4 e7"], &["the 2. move", "\"e7\""]);
    refused(&["--svg", "--mark", "e4 i9"], &["mark", "i9"]);
    place.write("blocked", "");
    let blocked = place.run("board --variant chess --svg --out blocked/board.svg").failed(1);
    assert!(blocked.contains("cannot write the board"), "{blocked}");
    for args in [["--mark", "e4"], ["--from", "black"], ["--size", "400"]] {
        let error = place.run_args(&[&chess[..], &args[..]].concat()).failed(2);
        assert!(error.contains("--svg"), "{error}");
    }
    for size in ["63", "8193", "x"] {
        place.run_args(&[&chess[..], &["--svg", "--size", size]].concat()).failed(2);
    }
}

#[test]
fn every_units_moves_are_drawn_into_a_folder() {
    let place = Workplace::new();
    let told = place.run("variant explain herculean --svg drawings").succeeded();
    let files: Vec<&str> = told.lines().collect();
    assert_eq!(files.len(), 15, "{told}");
    for file in ["drawings/flying_chariot.svg", "drawings/ninja_pawn.svg", "drawings/ninja_pawn-2.svg"] {
        assert!(files.contains(&file), "{file} in {told}");
    }
    for file in files {
        let svg = place.read(file);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{file}: {svg}");
    }
    place.run("variant explain herculean --svg drawings --json").failed(2);
}

/// The commands of the document make its pictures, byte for byte.
#[test]
fn the_pictures_of_the_document_are_made_by_its_commands() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
    let document = std::fs::read_to_string(root.join("boards.md")).unwrap();
    let place = Workplace::new();
    for command in document.lines().filter_map(|line| line.strip_prefix("fairyforge ")) {
        let args = shlex::split(command).unwrap();
        place.run_args(&args.iter().map(String::as_str).collect::<Vec<_>>()).succeeded();
    }
    let shown: Vec<&str> = document.split("](images/").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(shown.len() >= 3, "{shown:?}");
    for name in shown {
        let made = ["docs/images", "drawings"].map(|folder| place.path(folder).join(name));
        let made = made.iter().find(|path| path.exists()).unwrap_or_else(|| panic!("no command makes {name}"));
        let kept = std::fs::read_to_string(root.join("images").join(name)).unwrap();
        let again = "run the commands of docs/boards.md, look at what has changed, and put it into docs/images";
        assert!(std::fs::read_to_string(made).unwrap() == kept, "{name}: {again}");
    }
}
