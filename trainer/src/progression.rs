//! How strong the generations of a loop are, against what the first one began with: ratings from all its gate matches.

use crate::arena::ratings::read::{ReadError, add_file};
use crate::arena::ratings::{Fitted, GameTable, RatingError, RatingModel, RatingSettings, fit};
use crate::run_dir::{FileError, RunPaths};
use plotters::prelude::*;
use std::fmt::Write;

/// What generation 1 began with, as gates call it.
const FIRST: &str = "000";
const SIZE: (u32, u32) = (640, 360);
const FONT: &str = "sans-serif";
/// Colours that the colour-blind can tell apart (Okabe and Ito, 2008).
const ACCEPTED: RGBColor = RGBColor(0, 114, 178);
const REJECTED: RGBColor = RGBColor(213, 94, 0);

/// Why strengths cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ProgressionError {
    /// A gate cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The gates cannot be listed.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no drawing.
    #[error("cannot draw the generations' strengths: {0}")]
    Draw(String),
}

/// The generations of a loop and their strengths.
#[derive(Clone, Debug, Default)]
pub struct Progression {
    rows: Vec<Row>,
    /// Why nobody is rated.
    fault: Option<RatingError>,
}

#[derive(Clone, Debug)]
struct Row {
    generation: u32,
    parent: u32,
    accepted: bool,
    /// Elo against generation 0; none for a generation that won or lost everything.
    elo: Option<Fitted>,
}

impl Progression {
    /// Rates all players of the gates of a run; `accepted` tells which generations went on.
    ///
    /// # Errors
    /// A gate cannot be read.
    pub fn of(run: &RunPaths, accepted: impl Fn(u32) -> bool) -> Result<Self, ProgressionError> {
        let gates = run.gates()?;
        let mut table = GameTable::default();
        for &(candidate, parent) in &gates {
            add_file(&mut table, &run.gate(candidate, parent).journal)?;
        }
        let anchor = Some((FIRST.to_owned(), 0.0));
        let settings = RatingSettings { model: RatingModel::Elo, white_advantage: true, prior_draws: 0.0, anchor };
        let ratings = fit(&table, &settings);
        let rated = |generation: u32| {
            let name = format!("{generation:03}");
            ratings.as_ref().ok()?.players.iter().find(|player| player.name == name).map(|player| player.rating)
        };
        let row =
            |(generation, parent)| Row { generation, parent, accepted: accepted(generation), elo: rated(generation) };
        Ok(Self { rows: gates.into_iter().map(row).collect(), fault: ratings.err() })
    }

    /// For a report; the drawing lies beside it under this name.
    pub fn markdown(&self, drawing: &str) -> String {
        let mut text = format!("## Elo against what generation 1 began with\n\n![Elo by generation]({drawing})\n\n");
        text.push_str("| generation | played | went on | Elo ± 95 % |\n|---:|---:|---|---:|\n");
        for Row { generation, parent, accepted, elo } in &self.rows {
            let elo = elo.map_or_else(|| "–".to_owned(), |elo| format!("{:+.0} ± {:.0}", elo.value, elo.error));
            let went_on = if *accepted { "yes" } else { "no" };
            let _ = writeln!(text, "| {generation} | {parent} | {went_on} | {elo} |");
        }
        text.push_str(
            "\nMaximum-likelihood ratings of all gates together, with the advantage of having White; errors from pairs, and of the distance \
             to generation 0, so they add up along the way. `fairyforge rate` makes them anew from `gate/*.jsonl`.\n",
        );
        if let Some(fault) = &self.fault {
            let _ = writeln!(text, "\nNobody is rated: {fault}.");
        }
        text.push('\n');
        text
    }

    /// The same drawn as SVG: those that went on joined by a line, 95 % intervals as bars.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn drawing(&self) -> Result<String, ProgressionError> {
        let mut text = String::new();
        draw(&mut text, &self.points()).map_err(|error| ProgressionError::Draw(error.to_string()))?;
        Ok(text)
    }

    /// Generation, Elo, half width, whether it went on; generation 0 first.
    fn points(&self) -> Vec<(f64, f64, f64, bool)> {
        let rated = self.rows.iter().filter_map(|row| {
            let elo = row.elo?;
            Some((f64::from(row.generation), elo.value, elo.error, row.accepted))
        });
        std::iter::once((0.0, 0.0, 0.0, true)).chain(rated).collect()
    }
}

fn draw(text: &mut String, points: &[(f64, f64, f64, bool)]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let bounds = points.iter().flat_map(|&(_, elo, error, _)| [elo - error, elo + error]);
    let (low, high) = bounds.fold((-20.0_f64, 20.0_f64), |(low, high), bound| (low.min(bound), high.max(bound)));
    let last = points.last().map_or(0.0, |point| point.0);
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    let told = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    root.fill(&WHITE).map_err(told)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Elo by generation (orange: did not go on)", (FONT, 15))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d(-0.25..last + 0.25, low..high)
        .map_err(told)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_desc("generation")
        .x_labels(last as usize + 1)
        .x_label_formatter(&|generation| format!("{generation:.0}"))
        .y_label_formatter(&|elo| format!("{elo:.0}"))
        .label_style((FONT, 11))
        .draw()
        .map_err(told)?;
    let best = points.iter().filter(|point| point.3).map(|&(generation, elo, ..)| (generation, elo));
    chart.draw_series(LineSeries::new(best, ACCEPTED.stroke_width(2))).map_err(told)?;
    for &(generation, elo, error, accepted) in points {
        let colour = if accepted { ACCEPTED } else { REJECTED };
        let bar = PathElement::new([(generation, elo - error), (generation, elo + error)], colour.stroke_width(2));
        chart.draw_series([bar]).map_err(told)?;
        chart.draw_series([Circle::new((generation, elo), 4, colour.filled())]).map_err(told)?;
    }
    root.present().map_err(told)?;
    Ok(())
}
