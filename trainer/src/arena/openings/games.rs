//! Openings from games: the position after so many plies of each.

use super::MatchOpening;
use super::error::{OpeningFault, OpeningFaultKind};
use super::file::Gathered;
use fairyforge_engine::game::Game;
use fairyforge_engine::pgn::{FaultKind, NamedVariants, PgnFault, PgnGame, PgnReader, Warning};
use fairyforge_engine::variant::Variant;
use std::io::{self, BufRead};
use std::sync::Arc;

/// Reads all games; each is an opening of at most so many plies. Whoever cannot read on is the error.
pub(super) fn read(
    text: impl BufRead,
    variant: &Arc<Variant>,
    plies: Option<u16>,
    gathered: &mut Gathered,
) -> io::Result<()> {
    let mut known = NamedVariants::new(Arc::clone(variant));
    for game in PgnReader::new(text, |tag| only(variant, known.find(tag)?)) {
        match game {
            Ok(game) => take(&game, plies, gathered),
            Err(PgnFault { kind: FaultKind::Read(error), .. }) => return Err(error),
            Err(PgnFault { game, place, kind }) => gathered.refuse(OpeningFault {
                line: place.line,
                column: place.column,
                game: Some(game),
                kind: OpeningFaultKind::Game(kind),
            }),
        }
    }
    Ok(())
}

/// The game of the match, whatever name the file has for it; no other.
fn only(wanted: &Arc<Variant>, named: Arc<Variant>) -> Result<Arc<Variant>, String> {
    if named.rules_hash() == wanted.rules_hash() {
        return Ok(Arc::clone(wanted));
    }
    Err(format!("expected games of {}, got one of {}", wanted.name(), named.name()))
}

fn take(game: &PgnGame, plies: Option<u16>, gathered: &mut Gathered) {
    let taken = opening(game, plies).and_then(|opening| gathered.add(&opening).map(|()| opening.plies));
    match taken {
        Ok(taken) => {
            if plies.is_some_and(|plies| taken < plies) {
                gathered.note_short(game.line, taken);
            }
            let doubtful = game.warnings.iter().find(|(_, warning)| matches!(warning, Warning::Choice { .. }));
            if let Some((place, warning)) = doubtful {
                gathered.note_doubtful(format!("{place}: {warning}"));
            }
        }
        Err(kind) => gathered.refuse(OpeningFault { line: game.line, column: 1, game: Some(game.number), kind }),
    }
}

/// The game's beginning. No rule may end it on the way: what comes behind is no game any more.
fn opening(pgn: &PgnGame, plies: Option<u16>) -> Result<MatchOpening, OpeningFaultKind> {
    let most = plies.map_or(pgn.moves.len(), usize::from);
    let mut game = Game::new(pgn.start.clone());
    refuse_if_over(&game)?;
    for played in pgn.moves.iter().take(most) {
        game.play(played.mv);
        refuse_if_over(&game)?;
    }
    Ok(MatchOpening {
        start: game.start().clone(),
        position: game.position().clone(),
        plies: played(&game),
        name: name(pgn),
        line: Some(pgn.line),
    })
}

fn refuse_if_over(game: &Game) -> Result<(), OpeningFaultKind> {
    game.outcome().map_or(Ok(()), |outcome| Err(OpeningFaultKind::Over { reason: outcome.reason, plies: played(game) }))
}

fn played(game: &Game) -> u16 {
    u16::try_from(game.moves().len()).expect("the reader takes 20,000 plies at most")
}

/// `B33 Sicilian Defence, Sveshnikov Variation`, as far as it is told.
fn name(game: &PgnGame) -> Option<String> {
    let told = |name| game.tag(name).map(str::trim).filter(|value| !matches!(*value, "" | "?" | "-"));
    let opening = [told("Opening"), told("Variation")].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let parts = [told("ECO"), Some(opening.as_str()).filter(|opening| !opening.is_empty())];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}
