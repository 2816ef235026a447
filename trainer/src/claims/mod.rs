//! What inventors claim about their games, as files, and what there is to say about each claim.
//!
//! A claims file ([`ClaimsFile`], `docs/formats/claims.md`) names a game and its claims; a claim has one part or several. A part is
//! about a number that only play tells ([`Quantity`]), about the array (`facts.rs`) or about an endgame (`endgames.rs`). The last two are
//! answered here and now, exactly. Whoever plays implements [`Evidence`]; how intervals become verdicts is `verdict.rs`'s business.
//! Nothing here plays a game, and no game is named here: a game's claims are its file.

mod budget;
mod check;
mod endgames;
mod evidence;
mod facts;
mod file;
mod judge;
mod language;
mod verdict;

pub use budget::{Budget, BudgetError};
pub use endgames::{Hearer, Stopped, TableWork};
pub use evidence::{Evidence, Level, Measured, NoGames, Unmeasured};
pub use file::{ClaimSet, ClaimsError, ClaimsFile, FORMAT, Faults};
pub use judge::{Prepared, VERDICTS_FORMAT, Verdicts};
pub use language::{Asks, Board, Claim, Endgame, Fact, FactPart, Force, Goal, Part, Quantity, Range};
pub use verdict::{Answer, ClaimVerdict, PartVerdict, Verdict, level_to_refute};
