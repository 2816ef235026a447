//! The pages of the manual and the completions that the program makes of its own command line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::path::Path;
use std::process::{Command, Output};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fairyforge-engine")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = program(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the help lists below "Commands:", but for `help` itself.
fn commands() -> Vec<String> {
    let help = text(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).unwrap().lines().take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// What groff has to say against a page; nothing where it is not installed.
fn typeset(page: &Path) -> Option<String> {
    let output = Command::new("groff").args(["-man", "-ww", "-Kutf8", "-Tutf8", "-z"]).arg(page).output().ok()?;
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_command_has_a_page_that_can_be_typeset() {
    let folder = std::env::temp_dir().join(format!("fairyforge-manual-{}", std::process::id()));
    let told = text(&["man", "--out", folder.to_str().unwrap()]);
    let mut pages = vec!["fairyforge-engine.1".to_owned()];
    pages.extend(commands().iter().map(|command| format!("fairyforge-engine-{command}.1")));
    assert!(pages.len() >= 5, "{pages:?}");
    assert!(told.starts_with(&format!("{} pages in ", pages.len())), "{told}");
    for page in &pages {
        let path = folder.join(page);
        let page = std::fs::read_to_string(&path).unwrap();
        for heading in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.lines().any(|line| line.starts_with(heading)), "{heading}: {page}");
        }
        assert_eq!(typeset(&path).unwrap_or_default(), "", "{}", path.display());
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(&["completions", shell]);
        let lacking: Vec<String> = commands().into_iter().filter(|command| !script.contains(command)).collect();
        assert!(lacking.is_empty(), "{shell}: {lacking:?}");
    }
    let refused = program(&["completions", "abacus"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("possible values: bash"));
}
