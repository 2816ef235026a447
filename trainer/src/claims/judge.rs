//! A whole file judged: first what is known exactly, once, then what has been measured, as often as there is more evidence.

use super::endgames::{self, Stopped, TableWork};
use super::evidence::Evidence;
use super::facts::Games;
use super::file::ClaimSet;
use super::language::{Asks, Board, Endgame, Fact, FactPart, Force, Goal, Part, Quantity, Range};
use super::verdict::{ClaimVerdict, PartVerdict, level_to_refute};
use serde::Serialize;
use std::fmt;

/// A set of claims in which everything that is known exactly has been judged; what only play tells waits for evidence.
pub struct Prepared<'a> {
    set: &'a ClaimSet,
    claims: Vec<Vec<PreparedPart>>,
}

/// A part of a claim.
enum PreparedPart {
    /// It has been judged.
    Exact(Box<PartVerdict>),
    /// It is about a number that only play tells.
    Open(Quantity, Range),
}

impl<'a> Prepared<'a> {
    /// Judges what is known exactly; tables of endgames take seconds to minutes.
    ///
    /// # Errors
    /// Somebody asked to stop.
    pub fn new(set: &'a ClaimSet, work: &TableWork) -> Result<Self, Stopped> {
        let mut games = Games::new(set);
        let mut prepare = |part: &Part| {
            let (about, answer) = match part.asks() {
                Asks::Play(quantity, range) => return Ok(PreparedPart::Open(quantity, range)),
                Asks::Fact(fact) => (words(fact), games.answer(fact)),
                Asks::Endgame(endgame) => (men_and_goal(endgame), endgames::answer(set, endgame, work)?),
            };
            Ok(PreparedPart::Exact(Box::new(PartVerdict::exact(part, about, &answer))))
        };
        let claims = set.file.claims.iter().map(|claim| claim.parts.iter().map(&mut prepare).collect());
        Ok(Self { set, claims: claims.collect::<Result<_, Stopped>>()? })
    }

    /// The verdicts on all claims, in their order; may be asked for again when there is more evidence.
    #[must_use]
    pub fn verdicts(&self, evidence: &dyn Evidence) -> Vec<ClaimVerdict> {
        let claims = self.set.file.claims.iter().zip(&self.claims);
        let verdicts = claims.map(|(claim, prepared)| {
            let level = level_to_refute(claim);
            let parts = claim.parts.iter().zip(prepared).map(|(part, prepared)| match prepared {
                PreparedPart::Exact(verdict) => verdict.as_ref().clone(),
                PreparedPart::Open(quantity, range) => {
                    PartVerdict::measured(part, (quantity.clone(), *range), evidence, level)
                }
            });
            ClaimVerdict::of(claim, parts.collect())
        });
        verdicts.collect()
    }
}

/// What a fact is about, in a few words.
fn words(FactPart { variant, fact }: &FactPart) -> String {
    let words = match fact {
        Fact::Men { .. } => "men".to_owned(),
        Fact::Types { .. } => "types".to_owned(),
        Fact::EmptySquares { .. } => "empty squares".to_owned(),
        Fact::AttackDensity { .. } => "attack density".to_owned(),
        Fact::WeakPoints { squares, .. } if squares.is_empty() => "no weak points".to_owned(),
        Fact::WeakPoints { squares, .. } => format!("weak points {}", squares.join(", ")),
        Fact::Reach { unit, from_rank, board: Board::Empty, .. } => format!("{unit}, two moves from rank {from_rank}"),
        Fact::Reach { unit, from_rank, board: Board::Array, .. } => {
            format!("{unit}, two moves from rank {from_rank} in the array")
        }
    };
    variant.as_ref().map_or_else(|| words.clone(), |variant| format!("{words} of {}", stem(variant)))
}

/// What an endgame is about, in a few words.
fn men_and_goal(Endgame { men, goal, force, .. }: &Endgame) -> String {
    let goal = match goal {
        Goal::Win => "a win",
        Goal::Mate => "mate",
    };
    match force {
        Some(Force::Can) => format!("{men} can force {goal}"),
        Some(Force::Cannot) => format!("{men} cannot force {goal}"),
        None => format!("{men}, moves to {goal}"),
    }
}

/// A game's name without folders and extension.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".toml").unwrap_or(file)
}

/// Version of what [`Verdicts`] writes.
pub const VERDICTS_FORMAT: u32 = 1;

/// All verdicts on a file's claims, with what it takes to find them again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdicts {
    /// Format version.
    pub format: u32,
    /// `claims`.
    pub kind: &'static str,
    /// The game's name.
    pub variant: String,
    /// Its rules hash.
    pub rules_hash: String,
    /// Who claims it.
    pub source: String,
    /// Digest of what is claimed and how it is read.
    pub claims_digest: String,
    /// Version of the program.
    pub program: String,
    /// The command that finds them again.
    pub command: String,
    /// The verdicts.
    pub claims: Vec<ClaimVerdict>,
}

impl Verdicts {
    /// Puts verdicts together with what they are about.
    #[must_use]
    pub fn new(set: &ClaimSet, claims: Vec<ClaimVerdict>, [program, command]: [&str; 2]) -> Self {
        Self {
            format: VERDICTS_FORMAT,
            kind: "claims",
            variant: set.variant.name().to_owned(),
            rules_hash: set.variant.rules_hash().to_owned(),
            source: set.file.source.clone(),
            claims_digest: set.digest(),
            program: program.to_owned(),
            command: command.to_owned(),
            claims,
        }
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.source)?;
        self.claims.iter().try_for_each(|claim| write!(f, "\n{claim}\n"))
    }
}
