//! What a suite is to be. Everything that decides its bytes, and nothing else. `docs/suites.md` tells what becomes of it.

use crate::plan::{MOST_NODES, MOST_TABLE_MEBIBYTES, PlanError, check_adjudication, parse, require};
use crate::play::Adjudication;
use fairyforge_engine::variant::rules::Colour;
use serde::{Deserialize, Serialize};

/// Version of the plan format.
const FORMAT: u32 = 1;
/// Bounds of what a plan may ask for; they catch slips of the keyboard.
const MOST_OPENINGS: usize = 1_000_000;
const MOST_PLIES: u16 = 500;
const MOST_CENTIPAWNS: i32 = 10_000;
const MOST_LEGAL_MOVES: usize = 1_000;
const MOST_GAMES: u32 = 1_000;

/// A suite to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuitePlan {
    /// Format version.
    pub format: u32,
    /// Name or file of the variant.
    pub variant: String,
    /// What judges positions in the second search and in the games, as commands name it; the best known if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Seed of the lots.
    pub seed: u64,
    /// The book whose exits are looked at: a file of one (`*.book`), or the plan of one that is built first.
    pub book: String,
    /// Which positions are openings.
    #[serde(default)]
    pub openings: OpeningSettings,
    /// Which openings are of one family.
    #[serde(default)]
    pub families: FamilySettings,
    /// The second search.
    #[serde(default)]
    pub verify: SecondSearch,
    /// The games from each position.
    #[serde(default)]
    pub games: GameSettings,
}

/// Which positions are openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OpeningSettings {
    /// How many are wanted.
    pub count: usize,
    /// Least value for White, in centipawns.
    pub from: i32,
    /// Greatest value for White, in centipawns.
    pub to: i32,
    /// Fewest plies from the root.
    pub least_plies: u16,
    /// Most plies from the root.
    pub most_plies: u16,
    /// Fewest legal moves of the side to move, and of the other side if it were its turn.
    pub least_moves: usize,
    /// Whose turn it is.
    pub colour: ToMove,
}

impl Default for OpeningSettings {
    fn default() -> Self {
        Self { count: 500, from: -30, to: 30, least_plies: 4, most_plies: 40, least_moves: 10, colour: ToMove::Both }
    }
}

/// Whose turn it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToMove {
    /// Anybody's.
    #[default]
    Both,
    /// White's only.
    White,
    /// Black's only.
    Black,
}

impl ToMove {
    /// Whether it may be the turn of this side.
    pub const fn allows(self, side: Colour) -> bool {
        matches!((self, side), (Self::Both, _) | (Self::White, Colour::White) | (Self::Black, Colour::Black))
    }
}

/// Which openings are of one family: those whose cheapest ways begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FamilySettings {
    /// The first so many moves name the family.
    pub plies: u16,
}

impl Default for FamilySettings {
    fn default() -> Self {
        Self { plies: 2 }
    }
}

/// The second search of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SecondSearch {
    /// Nodes.
    pub nodes: u64,
    /// Size of the table, empty before each search, in mebibytes.
    pub table_mebibytes: usize,
    /// Centipawns by which its value may lie outside the window.
    pub margin: i32,
}

impl Default for SecondSearch {
    fn default() -> Self {
        Self { nodes: 100_000, table_mebibytes: 16, margin: 10 }
    }
}

/// The games of the engine with itself from a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GameSettings {
    /// How many, an even number; 0 plays none.
    pub count: u32,
    /// Nodes a move.
    pub nodes: u64,
    /// Share by which the nodes of a side are drawn more or fewer, so that the games differ.
    pub jitter: f64,
    /// Size of a player's table, in mebibytes.
    pub table_mebibytes: usize,
    /// Least share of the points for White.
    pub least: f64,
    /// Greatest share of the points for White.
    pub most: f64,
    /// When games are ended early.
    pub adjudication: Adjudication,
}

impl Default for GameSettings {
    fn default() -> Self {
        Self {
            count: 4,
            nodes: 400,
            jitter: 0.25,
            table_mebibytes: 1,
            least: 0.25,
            most: 0.75,
            adjudication: Adjudication::default(),
        }
    }
}

impl SuitePlan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// The text is no plan (unknown keys are named with the nearest known one), or a value is out of range.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let plan: Self = parse(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks a plan, wherever it was read.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn check(&self) -> Result<(), PlanError> {
        require("format", self.format == FORMAT, FORMAT, self.format)?;
        let is_book = [".book", ".toml"].iter().any(|ending| self.book.ends_with(ending));
        let expected = "a book (*.book) or the plan of one (*.toml)";
        require("book", is_book, expected, format!("{:?}", self.book))?;
        self.openings.check()?;
        let plies = self.families.plies;
        require("families.plies", (1..=MOST_PLIES).contains(&plies), format!("1 to {MOST_PLIES}"), plies)?;
        let SecondSearch { nodes, table_mebibytes, margin } = self.verify;
        check_nodes("verify.nodes", nodes)?;
        check_table("verify.table_mebibytes", table_mebibytes)?;
        let fits = (0..=MOST_CENTIPAWNS).contains(&margin);
        require("verify.margin", fits, format!("0 to {MOST_CENTIPAWNS}"), margin)?;
        self.games.check()
    }
}

impl OpeningSettings {
    fn check(&self) -> Result<(), PlanError> {
        let Self { count, from, to, least_plies, most_plies, least_moves, .. } = *self;
        require("openings.count", (1..=MOST_OPENINGS).contains(&count), format!("1 to {MOST_OPENINGS}"), count)?;
        let ordered = -MOST_CENTIPAWNS <= from && from <= to && to <= MOST_CENTIPAWNS;
        let expected = format!("-{MOST_CENTIPAWNS} <= from <= to <= {MOST_CENTIPAWNS}");
        require("openings", ordered, expected, format!("{from} to {to}"))?;
        let ordered = 1 <= least_plies && least_plies <= most_plies && most_plies <= MOST_PLIES;
        let expected = format!("1 <= least_plies <= most_plies <= {MOST_PLIES}");
        require("openings", ordered, expected, format!("{least_plies} to {most_plies}"))?;
        let allowed = (1..=MOST_LEGAL_MOVES).contains(&least_moves);
        require("openings.least_moves", allowed, format!("1 to {MOST_LEGAL_MOVES}"), least_moves)
    }
}

impl GameSettings {
    fn check(&self) -> Result<(), PlanError> {
        let Self { count, nodes, jitter, table_mebibytes, least, most, ref adjudication } = *self;
        let allowed = count <= MOST_GAMES && count.is_multiple_of(2);
        require("games.count", allowed, format!("an even number, 0 to {MOST_GAMES}"), count)?;
        check_nodes("games.nodes", nodes)?;
        require("games.jitter", (0.0..=0.9).contains(&jitter), "0 to 0.9", jitter)?;
        check_table("games.table_mebibytes", table_mebibytes)?;
        let ordered = 0.0 <= least && least <= most && most <= 1.0;
        require("games", ordered, "0 <= least <= most <= 1", format!("{least} to {most}"))?;
        let by_tables = adjudication.endgames.is_some();
        require("games.adjudication.endgames", !by_tables, "none: rules and scores end these games", "a folder")?;
        check_adjudication(adjudication)
    }
}

fn check_nodes(key: &'static str, nodes: u64) -> Result<(), PlanError> {
    require(key, (1..=MOST_NODES).contains(&nodes), format!("1 to {MOST_NODES}"), nodes)
}

fn check_table(key: &'static str, mebibytes: usize) -> Result<(), PlanError> {
    let fits = (1..=MOST_TABLE_MEBIBYTES).contains(&mebibytes);
    require(key, fits, format!("1 to {MOST_TABLE_MEBIBYTES}"), mebibytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "format = 1\nvariant = \"chess\"\nseed = 1\nbook = \"chess.book\"\n";

    #[test]
    fn what_is_left_out_has_defaults_that_read_back() {
        let plan = SuitePlan::read(LEAST).unwrap();
        assert_eq!(SuitePlan::read(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        assert_eq!((plan.openings.from, plan.openings.to, plan.openings.colour), (-30, 30, ToMove::Both));
    }

    /// The reference lists every key with its default.
    #[test]
    fn the_reference_is_complete() {
        let text = include_str!("../../../../configs/suites/reference.toml");
        let reference = SuitePlan::read(text).unwrap();
        let least = SuitePlan::read(&LEAST.replace("chess", "herculean").replace("herculean.book", &reference.book));
        assert_eq!(reference, least.unwrap());
        let keys = |text: &str| text.parse::<toml::Table>().unwrap();
        assert_eq!(keys(&toml::to_string(&reference).unwrap()), keys(text));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_key() {
        let refused = |text: &str| SuitePlan::read(&format!("{LEAST}{text}")).unwrap_err().to_string();
        assert!(refused("[openings]\nleast_ply = 5\n").contains("did you mean `least_plies`?"));
        for (text, told) in [
            ("[openings]\ncount = 0\n", "openings.count: expected 1 to 1000000, got 0"),
            ("[openings]\nfrom = 31\n", "openings: expected -10000 <= from <= to <= 10000, got 31 to 30"),
            (
                "[openings]\nleast_plies = 41\n",
                "openings: expected 1 <= least_plies <= most_plies <= 500, got 41 to 40",
            ),
            ("[openings]\nleast_moves = 0\n", "openings.least_moves: expected 1 to 1000, got 0"),
            ("[families]\nplies = 0\n", "families.plies: expected 1 to 500, got 0"),
            ("[verify]\nnodes = 0\n", "verify.nodes: expected 1 to 1000000000, got 0"),
            ("[verify]\nmargin = -1\n", "verify.margin: expected 0 to 10000, got -1"),
            ("[games]\ncount = 3\n", "games.count: expected an even number, 0 to 1000, got 3"),
            ("[games]\njitter = nan\n", "games.jitter: expected 0 to 0.9, got NaN"),
            ("[games]\nleast = 0.8\n", "games: expected 0 <= least <= most <= 1, got 0.8 to 0.75"),
        ] {
            assert_eq!(refused(text), told);
        }
        assert!(refused("[games.adjudication]\nendgames = \"x\"\n").starts_with("games.adjudication.endgames"));
        assert!(refused("[openings]\ncolour = \"red\"\n").contains("`both`"));
        let other = SuitePlan::read(&LEAST.replace("chess.book", "chess.pgn")).unwrap_err().to_string();
        assert_eq!(other, "book: expected a book (*.book) or the plan of one (*.toml), got \"chess.pgn\"");
    }
}
