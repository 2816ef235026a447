//! The files of a suite that was made: `openings.epd`, `openings.pgn`, `suite.json`.

use super::text::{FORMAT, Header, REMARK, line};
use super::work::{Opening, Suite, SuiteWork};
use crate::checksum::{hex, sha256};
use crate::run_dir::{FileError, stream_atomically, write_atomically};
use fairyforge_engine::pgn::{Comment, PgnGame, PgnMove};
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

/// What is to be written.
pub(super) struct Content<'a> {
    pub work: &'a SuiteWork<'a>,
    pub suite: &'a Suite,
}

/// Writes all files.
pub(super) fn all(content: &Content<'_>) -> Result<(), FileError> {
    let run = content.work.run;
    let (epd, pgn) = (run.suite_epd(), run.suite_pgn());
    stream_atomically(&epd, |out| content.epd(out).map_err(FileError::at("write", &epd)))?;
    stream_atomically(&pgn, |out| content.pgn(out).map_err(FileError::at("write", &pgn)))?;
    // The manifest comes last: where it is, everything is.
    write_atomically(&run.suite_manifest(), content.manifest().as_bytes())
}

/// How the values of openings are spread.
#[derive(Serialize)]
struct Spread {
    least: i16,
    mean: f64,
    greatest: i16,
    standard_deviation: f64,
}

impl Content<'_> {
    fn header(&self) -> Header {
        let SuiteWork { plan, variant, book, judge, made_by, .. } = self.work;
        Header {
            format: FORMAT,
            variant: variant.name().into(),
            rules_hash: variant.rules_hash().into(),
            judge: judge.digest.clone(),
            book: hex(&sha256(&[book.as_bytes()])),
            program: made_by.program.into(),
            command: made_by.command.into(),
            plan: (*plan).clone(),
        }
    }

    fn epd(&self, out: &mut impl Write) -> io::Result<()> {
        let header = self.header();
        writeln!(out, "{REMARK}{}", serde_json::to_string(&header)?)?;
        let (settings, verify, openings) = (&header.plan.openings, &header.plan.verify, &self.suite.openings);
        writeln!(
            out,
            "# {} openings of {} worth {} to {} centipawns for White (ce, by {} nodes, to within {}). Rules {}, judge {}, program {}, {}.",
            openings.len(),
            header.variant,
            settings.from,
            settings.to,
            verify.nodes,
            verify.margin,
            header.rules_hash,
            header.judge,
            header.program,
            header.command,
        )?;
        openings.iter().try_for_each(|opening| writeln!(out, "{}", line(opening)))
    }

    fn pgn(&self, out: &mut impl Write) -> io::Result<()> {
        (1..).zip(&self.suite.openings).try_for_each(|(round, opening)| self.game(round, opening).write(out))
    }

    fn game(&self, round: usize, opening: &Opening) -> PgnGame {
        let mut game = PgnGame::new(self.work.book.roots()[opening.root].clone().as_first());
        let moves = opening.way.iter();
        game.moves = moves.map(|&mv| PgnMove { mv, nags: Vec::new(), comment: Comment::default() }).collect();
        let tags = [
            ("Event", format!("suite of openings, seed {}", self.work.plan.seed)),
            ("Round", round.to_string()),
            ("Opening", opening.family.clone()),
            ("Variation", opening.number.to_string()),
            ("PlyCount", opening.way.len().to_string()),
        ];
        game.tags.extend(tags.map(|(name, value)| (name.to_owned(), value)));
        game
    }

    fn manifest(&self) -> String {
        let plan = toml::to_string(self.work.plan).expect("a plan is a table of numbers and texts");
        let Header { format, variant, rules_hash, judge, book, program, command, .. } = self.header();
        let manifest = json!({
            "format": format, "kind": "suite", "variant": variant, "rules_hash": rules_hash, "judge": judge,
            "book": book, "program": program, "command": command, "seed": self.work.plan.seed, "plan": plan,
            "counts": self.suite.counts, "values": spread(&self.suite.openings),
        });
        format!("{manifest:#}\n")
    }
}

/// `None` without openings.
fn spread(openings: &[Opening]) -> Option<Spread> {
    let scores = || openings.iter().map(|opening| opening.examined.score);
    let (least, greatest) = (scores().min()?, scores().max()?);
    let mean_of =
        |value: &dyn Fn(f64) -> f64| scores().map(|score| value(f64::from(score))).sum::<f64>() / openings.len() as f64;
    let mean = mean_of(&|score| score);
    let variance = mean_of(&|score| (score - mean) * (score - mean));
    let rounded = |number: f64| (number * 100.0).round() / 100.0;
    Some(Spread { least, mean: rounded(mean), greatest, standard_deviation: rounded(variance.sqrt()) })
}
