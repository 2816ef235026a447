//! `fairyforge completions` and `fairyforge man`.

use super::output::outln;
use super::{Cli, Failure};
use anyhow::Context;
use clap::CommandFactory;
use fairyforge_engine::tools::manual::{Shell, complete, write_pages};
use std::path::PathBuf;

/// Print completions of commands and options for a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge completions bash > ~/.local/share/bash-completion/completions/fairyforge\n  fairyforge completions zsh > ~/.zfunc/_fairyforge\n  fairyforge completions fish > ~/.config/fish/completions/fairyforge.fish"
)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Write the pages of the manual: one for the program and one for every command.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  fairyforge man --out ~/.local/share/man/man1\n  man fairyforge-selfplay")]
pub struct ManArgs {
    /// Their folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    complete(Cli::command(), args.shell, &mut script).context("cannot make the completions")?;
    outln!("{}", String::from_utf8_lossy(&script).trim_end())
}

pub(super) fn man(args: &ManArgs) -> Result<(), Failure> {
    let pages = write_pages(Cli::command(), &args.out).context("cannot write the manual")?;
    outln!("{pages} pages in {}", args.out.display())
}
