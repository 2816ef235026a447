//! Pages of the manual and completions for shells, made of a program's command line: what packagers ask for. Knows no program; whoever has
//! a command line gives it.

use clap::Command;
pub use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A page of the manual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of its file: `fairyforge-data-verify.1`.
    pub file: String,
    /// What is in it, for `man` to set.
    pub text: Vec<u8>,
}

/// Completions of the program's commands, options and words, for a shell to read.
///
/// # Errors
/// The output cannot be written.
pub fn complete(mut command: Command, shell: Shell, output: &mut dyn Write) -> io::Result<()> {
    let name = command.get_name().to_owned();
    // It expects its writer not to fail.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    output.write_all(&script)?;
    output.flush()
}

/// A page for the program and one for every command below it, in the order of the commands.
///
/// # Errors
/// None is expected: pages are made in memory.
pub fn pages(command: Command) -> io::Result<Vec<Page>> {
    let version = command.get_version().unwrap_or_default();
    let source = format!("{} {version}", command.get_name());
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &source, &mut pages)?;
    Ok(pages)
}

/// Writes [`pages`] into a folder, which is made if need be.
///
/// # Errors
/// The folder or a file cannot be written; the message names it.
pub fn write_pages(command: Command, folder: &Path) -> io::Result<usize> {
    let at = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let pages = pages(command)?;
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    for page in &pages {
        let path = folder.join(&page.file);
        fs::write(&path, &page.text).map_err(|error| at(&path, error))?;
    }
    Ok(pages.len())
}

fn add_pages(command: &Command, source: &str, pages: &mut Vec<Page>) -> io::Result<()> {
    let page = Man::new(command.clone()).source(source).manual("Fairyforge");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        page.render_options_section(&mut text)?;
    }
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    if let Some(examples) = command.get_after_help() {
        render_examples(&examples.to_string(), &mut text)?;
    }
    pages.push(Page { file: page.get_filename(), text });
    command.get_subcommands().filter(|below| !below.is_hide_set()).try_for_each(|below| add_pages(below, source, pages))
}

/// What stands below the options, line by line as it is: the renderer's own section would run examples together.
fn render_examples(text: &str, output: &mut Vec<u8>) -> io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    let is_heading = |line: &&str| ["Example:", "Examples:"].contains(line);
    for line in text.lines().filter(|line| !is_heading(line)) {
        roff.text([roman(line.trim_start())]);
    }
    roff.control("fi", []);
    roff.to_writer(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Subcommand};

    #[derive(Subcommand)]
    enum Below {
        /// Looks at files.
        Check {
            /// The file.
            #[arg(long)]
            file: String,
        },
        /// Nobody's business.
        #[command(hide = true)]
        Secret,
    }

    fn program() -> Command {
        let program = Command::new("forge").version("1.2").arg(Arg::new("loud").long("loud"));
        Below::augment_subcommands(program.after_help("Examples:\n  forge check --file a\n  .forge -- 'b'"))
    }

    fn page<'a>(pages: &'a [Page], file: &str) -> &'a str {
        let page = pages.iter().find(|page| page.file == file);
        std::str::from_utf8(&page.unwrap_or_else(|| panic!("no {file}")).text).unwrap()
    }

    #[test]
    fn every_command_has_a_page_but_for_hidden_ones() {
        let pages = pages(program()).unwrap();
        assert_eq!(pages.iter().map(|page| page.file.as_str()).collect::<Vec<_>>(), ["forge.1", "forge-check.1"]);
        assert!(page(&pages, "forge.1").contains(r#"1.2" Fairyforge"#), "{}", page(&pages, "forge.1"));
        let below = page(&pages, "forge-check.1");
        assert!(below.contains("Looks at files") && below.contains(r"\-\-file"), "{below}");
    }

    /// A line that begins with a full stop is text, not a request to the typesetter.
    #[test]
    fn examples_keep_their_lines() {
        let pages = pages(program()).unwrap();
        let text = page(&pages, "forge.1");
        let (_, examples) = text.split_once(".SH EXAMPLES\n.nf\n").unwrap();
        let lines: Vec<&str> = examples.lines().collect();
        assert_eq!(lines.len(), 3, "{examples}");
        assert!(lines[0].starts_with("forge check") && !lines[1].starts_with('.') && lines[2] == ".fi", "{examples}");
    }

    #[test]
    fn completions_know_commands_and_options() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell, Shell::Elvish] {
            let mut script = Vec::new();
            complete(program(), shell, &mut script).unwrap();
            let script = String::from_utf8(script).unwrap();
            assert!(
                script.contains("check") && script.contains("file") && script.contains("loud"),
                "{shell}: {script}"
            );
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let file = std::env::current_exe().unwrap();
        let error = write_pages(program(), &file.join("man")).unwrap_err().to_string();
        assert!(error.contains("man"), "{error}");
    }
}
