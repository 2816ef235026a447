//! `fairyforge rate`: ratings of players from PGN files and journals of matches.

use super::output::outln;
use super::{Failure, OrBadInput};
use crate::arena::ratings::read::{Taken, add_file};
use crate::arena::ratings::{
    Fitted, GameTable, LeftOut, RatedPlayer, RatingModel, RatingSettings, Ratings, USUAL_PRIOR, UnratedPlayer, fit,
};
use crate::run_dir::RunPaths;
use anyhow::Context;
use serde_json::{Value, json};
use std::path::PathBuf;

/// An error below this, in points of rating, is rounding: no results have varied yet.
const NO_VARIANCE: f64 = 1e-6;

/// Fit ratings to the games of PGN files and match journals.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  fairyforge rate tournament.pgn\n  fairyforge rate a.pgn b.pgn --white-advantage --anchor first=2000\n  fairyforge rate data/runs/loop/gate/*.jsonl --model bayeselo --json\n\nFiles that end in .jsonl are journals of matches. Of PGN the tags are read; games are a pair if the same players began from the same FEN with colours\nexchanged; without FEN tags, if they follow one another in the same round."
)]
pub struct RateArgs {
    /// PGN files and journals of matches.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// What relates ratings to results.
    #[arg(long, value_enum, default_value_t)]
    model: RatingModel,
    /// Fit the advantage of having the white men; otherwise there is none.
    #[arg(long)]
    white_advantage: bool,
    /// A player whose rating is known; otherwise the mean is 0.
    #[arg(long, value_name = "NAME=RATING", value_parser = anchor)]
    anchor: Option<(String, f64)>,
    /// Virtual draws a player against his opponents; 0 unless the model is bayeselo, which has 2.
    #[arg(long, value_name = "DRAWS")]
    prior: Option<f64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RateArgs) -> Result<(), Failure> {
    let mut table = GameTable::default();
    let mut taken = Taken::default();
    for file in &args.files {
        // Of a match's folder the journal.
        let file = if file.is_dir() { RunPaths::new(file).journal() } else { file.clone() };
        let more = add_file(&mut table, &file).or_bad_input(|| "cannot take the games".into())?;
        taken.games += more.games;
        taken.unfinished += more.unfinished;
        taken.nameless += more.nameless;
        taken.faulty += more.faulty;
    }
    let usual_prior = if args.model == RatingModel::Bayeselo { USUAL_PRIOR } else { 0.0 };
    let settings = RatingSettings {
        model: args.model,
        white_advantage: args.white_advantage,
        prior_draws: args.prior.unwrap_or(usual_prior),
        anchor: args.anchor.clone(),
    };
    let ratings = fit(&table, &settings).or_bad_input(|| "cannot rate the players".into())?;
    if args.json {
        return outln!("{}", as_json(&ratings, &settings, taken)?);
    }
    for line in in_words(&ratings, &settings, taken) {
        outln!("{line}")?;
    }
    Ok(())
}

fn as_json(ratings: &Ratings, settings: &RatingSettings, taken: Taken) -> Result<Value, Failure> {
    let mut json = serde_json::to_value(ratings).context("cannot write the ratings as JSON")?;
    // A rating is called so, not a value.
    for player in json["players"].as_array_mut().into_iter().flatten() {
        if let Some(value) = player.as_object_mut().and_then(|player| player.remove("value")) {
            player["rating"] = value;
        }
        let anchored = settings.anchor.as_ref().is_some_and(|(name, _)| player["name"] == name.as_str());
        if !anchored && player["error"].as_f64().is_some_and(|error| error < NO_VARIANCE) {
            (player["error"], player["standard_error"]) = (Value::Null, Value::Null);
        }
    }
    json["prior_draws"] = json!(settings.prior_draws);
    json["taken"] = json!({
        "games": taken.games,
        "unfinished": taken.unfinished,
        "nameless": taken.nameless,
        "faulty": taken.faulty,
    });
    Ok(json)
}

/// The ratings as a table.
pub(super) fn table(ratings: &Ratings) -> Vec<String> {
    table_with_anchor(ratings, None)
}

fn table_with_anchor(ratings: &Ratings, anchor: Option<&str>) -> Vec<String> {
    let names =
        ratings.players.iter().map(|player| &player.name).chain(ratings.unrated.iter().map(|player| &player.name));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0).max("player".len());
    let mut lines = vec![format!(
        "{:>4}  {:<width$} {:>9} {:>9} {:>8} {:>10} {:>7}",
        "rank", "player", "rating", "± 95 %", "games", "points", "%"
    )];
    lines.extend((1..).zip(&ratings.players).map(|(rank, player)| rated_line(rank, player, anchor, width)));
    lines.extend(ratings.unrated.iter().map(|player| unrated_line(player, width)));
    let singly = |fitted: Fitted| format!("{:+.1} ± {:.1}", fitted.value, fitted.error);
    if let Some(advantage) = ratings.white_advantage {
        lines.push(format!("White's advantage {}", singly(advantage)));
    }
    if let Some(draw_elo) = ratings.draw_elo {
        lines.push(format!("draw Elo {draw_elo:.1}, ratings scaled by {:.4}", ratings.scale));
    }
    lines.push(format!("{} games rated in {} pairs and single games", ratings.games, ratings.clusters));
    lines
}

fn in_words(ratings: &Ratings, settings: &RatingSettings, taken: Taken) -> Vec<String> {
    let mut lines = table_with_anchor(ratings, settings.anchor.as_ref().map(|(name, _)| name.as_str()));
    let told = [
        (taken.games - ratings.games, "of players without a rating"),
        (taken.unfinished, "without a result"),
        (taken.nameless, "without two players"),
        (taken.faulty, "of pairs in which a player failed"),
    ];
    lines.extend(
        told.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} games {what}, not counted")),
    );
    lines
}

fn rated_line(rank: usize, player: &RatedPlayer, anchor: Option<&str>, width: usize) -> String {
    let RatedPlayer { name, rating, games, points } = player;
    let percent = 100.0 * points / (*games).max(1) as f64;
    let error = if anchor == Some(name) {
        "anchor".to_owned()
    } else if rating.error < NO_VARIANCE {
        "n/a".to_owned()
    } else {
        format!("{:.1}", rating.error)
    };
    format!("{rank:>4}  {name:<width$} {:>9.1} {error:>9} {games:>8} {points:>10.1} {percent:>7.1}", rating.value)
}

fn unrated_line(player: &UnratedPlayer, width: usize) -> String {
    let UnratedPlayer { name, reason, group, games, points } = player;
    let why = match reason {
        LeftOut::WonAll => "won all games".to_owned(),
        LeftOut::LostAll => "lost all games".to_owned(),
        LeftOut::Disconnected => format!("group {group}, not linked both ways with those rated"),
    };
    let percent = 100.0 * points / (*games).max(1) as f64;
    format!("{:>4}  {name:<width$} {:>9} {:>9} {games:>8} {points:>10.1} {percent:>7.1}  {why}", "-", "-", "-")
}

/// Reads a name and a number.
fn anchor(text: &str) -> Result<(String, f64), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, rating)| Some((name.to_owned(), rating.trim().parse().ok()?)));
    parsed.filter(|(name, _)| !name.is_empty()).ok_or_else(|| format!("expected NAME=RATING, got {text:?}"))
}
