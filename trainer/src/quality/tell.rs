//! The quality of games in words and tables, for the screen and for reports.

use super::calibration::{Bin, Scale, ScaleOutcome};
use super::repeats::EARLY;
use super::share::Share;
use super::{CURVE_FILE, MOST_SCORE, Quality};
use crate::table::{Style, Table};
use std::fmt::Write;

/// The whole text: titles, each with what there is to say.
pub(super) fn told(quality: &Quality, style: Style) -> String {
    let sections = [
        ("Results and lengths", games(quality, style)),
        ("Positions that come again", duplicates(quality, style)),
        ("Openings", openings(quality, style)),
        ("Scores against results", calibration(quality, style)),
    ];
    let (mut text, mark) = match style {
        Style::Markdown => ("## Quality of the data\n\n".to_owned(), "### "),
        Style::Plain => (String::new(), ""),
    };
    for (title, section) in sections {
        let _ = write!(text, "{mark}{title}\n\n{section}\n");
    }
    text
}

fn games(quality: &Quality, style: Style) -> String {
    let Quality { variant, games, positions, results, lengths, .. } = quality;
    let mut table = Table::new(&["result", "games", "%", "95 %"]);
    for (name, share) in [("White won", results.white), ("drawn", results.drawn), ("Black won", results.black)] {
        let Share { count, share, low, high, .. } = share;
        let interval = format!("{} to {}", percent(low), percent(high));
        table.row([name.to_owned(), count.to_string(), percent(share), interval]);
    }
    let mut text =
        format!("{games} games of {variant}, {positions} recorded positions.\n\n{}\n", table.in_style(style));
    let ends = quality.terminations.iter();
    let ends: Vec<String> =
        ends.map(|(end, &count)| format!("{end} {} %", percent(count as f64 / (*games).max(1) as f64))).collect();
    let _ = writeln!(text, "How they ended: {}.\n", ends.join(", "));
    let quantiles = lengths.quantiles.iter();
    let mut headings = vec!["plies, mean".to_owned()];
    headings.extend(quantiles.clone().map(|quantile| format!("{} %", quantile.percent)));
    let mut table = Table::new(&headings);
    table.row([format!("{:.1}", lengths.mean)].into_iter().chain(quantiles.map(|quantile| quantile.plies.to_string())));
    let _ = writeln!(text, "{}\nSo many per cent of the games were no longer than this.", table.in_style(style));
    text
}

fn duplicates(quality: &Quality, style: Style) -> String {
    let duplicates = &quality.duplicates;
    let early = format!("the first {EARLY} plies after the opening");
    let mut table = Table::new(&["positions", "recorded", "different", "recorded before, %"]);
    for (name, repeats) in [("all", duplicates.all), (&*early, duplicates.early)] {
        let counts = [repeats.positions, repeats.different].map(|count| count.to_string());
        table.row([name.to_owned()].into_iter().chain(counts).chain([percent(repeats.share)]));
    }
    format!(
        "{}\n{} of all came again in their own game. Clock and move number make no difference.\n",
        table.in_style(style),
        duplicates.within_games
    )
}

fn openings(quality: &Quality, style: Style) -> String {
    let mut table = Table::new(&["plies after the opening", "games", "different positions", "%"]);
    for depth in &quality.openings {
        let counts = [depth.games, depth.different].map(|count| count.to_string());
        table.row([depth.plies.to_string()].into_iter().chain(counts).chain([percent(depth.share)]));
    }
    format!(
        "{}\nSelf-play plays each opening twice, the second time with the armies exchanged: of two such games the first positions \
         differ, but say much the same. Where nothing was exchanged, at most half of the first positions can be different.\n",
        table.in_style(style)
    )
}

fn calibration(quality: &Quality, style: Style) -> String {
    let calibration = &quality.calibration;
    let mut text = match style {
        Style::Markdown => format!("![mean results by score, with the fitted curve]({CURVE_FILE})\n\n"),
        Style::Plain => String::new(),
    };
    let _ = writeln!(
        text,
        "{} quiet positions of {} games; {} with scores beyond {MOST_SCORE} are left out. {}{}\n",
        calibration.positions,
        calibration.games,
        calibration.beyond,
        scale_sentence(calibration.scale),
        adjudication_sentence(quality),
    );
    let mut table = Table::new(&["scores", "positions", "games", "mean score", "mean result", "error", "curve"]);
    for bin in &calibration.bins {
        let Bin { low, high, positions, games, mean_score, mean_result, standard_error } = bin;
        table.row([
            format!("{low} to {high}"),
            positions.to_string(),
            games.to_string(),
            format!("{mean_score:.0}"),
            format!("{mean_result:.3}"),
            or_dash(*standard_error),
            or_dash(calibration.expected(*mean_score)),
        ]);
    }
    let _ = writeln!(
        text,
        "{}\nThe side to move's view: 1 won, 0.5 drawn, 0 lost. Errors are standard errors, clustered by game.",
        table.in_style(style)
    );
    text
}

fn scale_sentence(scale: ScaleOutcome) -> String {
    let Scale { centipawns, standard_error } = match scale {
        ScaleOutcome::Known(scale) => scale,
        ScaleOutcome::Unknown { reason } => return format!("No scale can be told: {reason}."),
    };
    let error = standard_error.map_or_else(String::new, |error| format!(", standard error {error:.0}"));
    format!(
        "A logit is {centipawns:.0} centipawns{error}: with that score the side to move makes 73 % of the points. This is what a plan of \
         training on these games should have as `target.centipawns`.",
    )
}

/// Where scores decide results, they seem to tell them better than they do.
fn adjudication_sentence(quality: &Quality) -> String {
    let by_score = |end: &str| end.starts_with("adjudicated") && !end.ends_with("by table");
    let adjudicated = quality.terminations.iter().filter(|(end, _)| by_score(end)).map(|(_, count)| count);
    match adjudicated.sum::<u64>() {
        0 => String::new(),
        games => format!(
            " Scores decided the results of {} % of the games, by adjudication: there the curve is steeper than play would make it.",
            percent(games as f64 / quality.games.max(1) as f64)
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
