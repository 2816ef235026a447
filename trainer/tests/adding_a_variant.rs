//! `docs/adding-a-variant.md`, step by step, as a newcomer would do it: what it says to add is added, what it says to run is
//! run, and what it shows must come out.
//!
//! In the document a `toml` block is added to the game's file, and a `console` block holds commands behind `$ `, each with its
//! output: a line `…` stands for any lines, and `…` within a line for anything in it. Blocks of other kinds are for the reader.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The file that grows.
const GAME: &str = "hawk-chess.toml";
/// Stands for whatever may differ from run to run.
const ANYTHING: char = '…';

/// A fenced block of the document.
struct Block {
    /// Line of its first line in the document, from 1.
    line: usize,
    kind: String,
    text: Vec<String>,
}

/// A command and what it should print, on either stream.
#[derive(Debug, PartialEq)]
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn document() -> String {
    std::fs::read_to_string(root().join("docs/adding-a-variant.md")).unwrap()
}

#[test]
fn the_document_does_what_it_says() {
    let place = TempDir::new().unwrap();
    let programs = programs();
    let mut commands = 0;
    for block in blocks(&document()) {
        match block.kind.as_str() {
            "toml" => add(place.path(), &block),
            "console" => {
                for shown in commands_of(&block) {
                    run(place.path(), &programs, &shown);
                    commands += 1;
                }
            }
            _ => {}
        }
    }
    assert!(commands >= 10, "only {commands} commands were run");
}

#[test]
fn the_document_has_ten_steps() {
    let headings: Vec<String> =
        document().lines().filter_map(|line| line.strip_prefix("## ").map(Into::into)).collect();
    let numbered = headings.iter().enumerate().all(|(index, title)| title.starts_with(&format!("{}. ", index + 1)));
    assert!(headings.len() == 10 && numbered, "{headings:?}");
}

/// The folder of both programs, brought up to date: the tests of this crate alone would not build the engine's.
fn programs() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_fairyforge")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--package", "fairyforge-engine", "--target-dir"]);
    cargo.arg(folder.parent().unwrap()).current_dir(root());
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success(), "fairyforge-engine cannot be built");
    folder.into()
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(document.lines()) {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(kind), None) => open = Some(Block { line: number + 1, kind: kind.trim().into(), text: Vec::new() }),
            (Some(_), Some(block)) => blocks.push(block),
            (None, Some(mut block)) => {
                block.text.push(line.into());
                open = Some(block);
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn add(place: &Path, block: &Block) {
    let path = place.join(GAME);
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    if !text.is_empty() {
        text.push('\n');
    }
    text.extend(block.text.iter().map(|line| format!("{line}\n")));
    std::fs::write(path, text).unwrap();
}

fn commands_of(block: &Block) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for (line, text) in (block.line..).zip(&block.text) {
        if let Some(command) = text.strip_prefix("$ ") {
            commands.push(Shown { line, command: command.into(), output: Vec::new() });
        } else {
            let shown = commands.last_mut();
            shown.unwrap_or_else(|| panic!("line {line}: output before a command")).output.push(text.clone());
        }
    }
    commands
}

fn run(place: &Path, programs: &Path, shown: &Shown) {
    let path = std::env::join_paths([programs.into(), PathBuf::from("/usr/bin"), PathBuf::from("/bin")]).unwrap();
    let done = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{}", shown.command)])
        .env("PATH", path)
        .current_dir(place)
        .output()
        .unwrap();
    let output = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<&str> = output.trim_end().lines().map(str::trim_end).collect();
    let expected: Vec<&str> = shown.output.iter().map(|line| line.trim_end()).collect();
    assert!(
        fits(&expected, &lines),
        "docs/adding-a-variant.md, line {}: $ {}\nshould print\n{}\n\nand prints\n{}",
        shown.line,
        shown.command,
        expected.join("\n"),
        lines.join("\n")
    );
}

/// Whether lines are as shown, where a line `…` may be any number of lines.
fn fits(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == ANYTHING.to_string() => {
            (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..]))
        }
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, behind)| line_fits(first, line) && fits(rest, behind))
        }
    }
}

/// Whether a line is as shown, where `…` may be anything.
fn line_fits(expected: &str, line: &str) -> bool {
    match expected.split_once(ANYTHING) {
        None => expected == line,
        Some((before, behind)) => line.strip_prefix(before).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(index, _)| index).chain([rest.len()]);
            ends.into_iter().any(|skipped| line_fits(behind, &rest[skipped..]))
        }),
    }
}

#[test]
fn what_is_shown_is_compared() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]) && fits(&["…"], &[]) && fits(&["x … z"], &["x y z"]));
    assert!(!fits(&["a"], &["a", "b"]) && !fits(&["a", "…", "d"], &["a", "b"]) && !fits(&["x … z"], &["x y"]));
    let block = Block { line: 7, kind: "console".into(), text: vec!["$ one".into(), "1".into(), "$ two".into()] };
    let shown = |line, command: &str, output: &[&str]| Shown {
        line,
        command: command.into(),
        output: output.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(commands_of(&block), [shown(7, "one", &["1"]), shown(9, "two", &[])]);
}
