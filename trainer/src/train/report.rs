//! What a finished run says of itself: `report.md` with `chart.svg`, the same for the screen and for programs.

use super::device::Device;
use super::export::Agreement;
use super::losses::Look;
use super::plan::{DataSettings, TrainPlan};
use super::run::{Trained, TrainedBy};
use super::schedule::{RateSettings, Schedule};
use fairyforge_engine::evaluate::network::{Architecture, Mirroring, Rounding};
use plotters::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;

/// Size of the drawing.
const SIZE: (u32, u32) = (720, 400);
/// Most points of a line: more are not seen.
const MOST_POINTS: usize = 800;
/// Rows of the table of losses.
const MOST_ROWS: usize = 20;
/// Above and below the losses, in parts of the way between them.
const AIR: f64 = 0.08;
const FONT: &str = "sans-serif";
const TRAINING: RGBColor = RGBColor(200, 110, 30);
const VALIDATION: RGBColor = RGBColor(31, 98, 165);

/// A run with all that its report needs.
#[derive(Clone, Copy, Debug)]
pub struct TrainReport<'a> {
    /// What came of it.
    pub by: TrainedBy<'a>,
    /// What was lost when the network was made of whole numbers.
    pub rounding: Rounding,
    /// What is lost on positions that were played.
    pub agreement: Option<Agreement>,
    /// The game's title.
    pub title: &'a str,
    /// Its rules hash.
    pub rules_hash: &'a str,
    /// Where it was calculated.
    pub device: &'a Device,
    /// The command that makes the same run again.
    pub command: &'a str,
}

/// Why there is no drawing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the losses: {0}")]
pub struct DrawError(String);

impl TrainReport<'_> {
    /// For `report.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}: a network trained\n\n", self.title);
        self.write_run(&mut text);
        self.write_data(&mut text);
        self.write_losses(&mut text);
        self.write_provenance(&mut text);
        text
    }

    /// For the screen.
    #[must_use]
    pub fn text(&self) -> String {
        let looks = &self.by.trained.looks;
        let Some(last) = looks.last() else { return format!("{}: nothing was trained\n", self.title) };
        let validation = last.validation.map_or_else(String::new, |error| format!(", on validation games {error:.6}"));
        format!("{}: {} positions, loss {:.6}{validation}\n", self.title, last.positions, last.training)
    }

    /// For `--json`.
    #[must_use]
    pub fn json(&self) -> Value {
        let Trained { looks, content, .. } = self.by.trained;
        json!({
            "variant": self.by.plan.variant,
            "rules_hash": self.rules_hash,
            "data": content.digest,
            "folders": content.folders,
            "training": content.training,
            "validation": content.validation,
            "looks": looks,
            "rounding_centipawns": self.rounding.typical_centipawns,
            "agreement": self.agreement,
        })
    }

    /// The losses as SVG. The same looks give the same bytes.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn chart(&self) -> Result<String, DrawError> {
        chart(&self.by.trained.looks)
    }

    fn write_run(&self, text: &mut String) {
        let TrainPlan { network, training, rate, target, .. } = self.by.plan;
        let looks = &self.by.trained.looks;
        let positions = looks.last().map_or(0, |last| last.positions);
        let epochs = looks.last().map_or(0, |last| last.epoch + 1);
        let _ = writeln!(
            text,
            "{} neurons a perspective, {} output layers{}; {}. {} batches of {}: {positions} positions, in {epochs} epochs begun. \
             Learning rate {}, after a warm-up of {} batches. Targets: results count {} at first and {} at the end, \
             the rest are scores{}; an output of 1.0 is {} centipawns.\n",
            network.width,
            network.output_buckets,
            king_text(network),
            if self.by.base.is_some() { "above weights" } else { "alone" },
            looks.last().map_or(0, |last| last.batches),
            training.batch,
            rate_text(rate),
            rate.warm_up,
            target.first_result_share,
            target.last_result_share,
            lambda_text(target.lambda),
            target.centipawns,
        );
    }

    fn write_data(&self, text: &mut String) {
        let content = &self.by.trained.content;
        text.push_str("## Data\n\n");
        for DataSettings { folder, weight } in &self.by.plan.data {
            let _ = writeln!(text, "- `{}`, weight {weight}", folder.display());
        }
        let _ = writeln!(text, "\nTo learn from: {}.\nFor validation: {}.\n", content.training, content.validation);
    }

    fn write_losses(&self, text: &mut String) {
        text.push_str("## Losses\n\n![losses over the batches](chart.svg)\n\n");
        text.push_str(
            "| batches | epoch | rate | training | validation | results |\n|---:|---:|---:|---:|---:|---:|\n",
        );
        for look in thinned(&self.by.trained.looks, MOST_ROWS) {
            let Look { batches, epoch, rate, training, validation, results, .. } = look;
            let [validation, results] = [validation, results]
                .map(|error| error.map_or_else(|| "none".to_owned(), |error| format!("{error:.6}")));
            let _ =
                writeln!(text, "| {batches} | {} | {rate:.2e} | {training:.6} | {validation} | {results} |", epoch + 1);
        }
        text.push_str(
            "\nA loss is the weighted mean of (sigmoid(base + output) − target)²: over the batches since the last row, before each was \
             learnt from; over the games kept for validation, against the targets of the end; and there against results alone, which \
             compares networks that were trained for different targets.\n\n",
        );
    }

    fn write_provenance(&self, text: &mut String) {
        let Rounding { typical_centipawns, worst_centipawns, .. } = self.rounding;
        let _ = writeln!(
            text,
            "## In whole numbers\n\n`network.net` values positions otherwise than the numbers trained by {typical_centipawns:.2} centipawns \
             typically, and by {worst_centipawns:.0} at the very most, if its roundings are what they seem. {}\n",
            self.agreement.map_or_else(String::new, |agreement| agreement.to_string()),
        );
        let _ = writeln!(
            text,
            "## Where this comes from\n\nMade by `{}`, version {}; rules {}, data {}, seed {}. {}",
            self.command,
            self.by.program,
            self.rules_hash,
            self.by.trained.content.digest,
            self.by.plan.seed,
            self.promise()
        );
    }

    /// What may be expected of the same command.
    fn promise(&self) -> String {
        if self.device.is_cpu() {
            return "The same command makes the same network, on any number of threads.".to_owned();
        }
        let device = self.device.name();
        format!("The network was calculated on the device {device}; the same command need not make the same bits.")
    }
}

/// What inputs depend on beside men and squares.
fn king_text(network: &Architecture) -> String {
    let mirrored = if network.mirroring == Mirroring::Off { "" } else { ", mirrored" };
    match network.regions() {
        1 => mirrored.to_owned(),
        regions => format!(", {regions} regions of the own king{mirrored}"),
    }
}

/// What later scores count.
fn lambda_text(lambda: f64) -> String {
    if lambda == 0.0 { String::new() } else { format!(" (λ-returns, λ = {lambda})") }
}

fn rate_text(rate: &RateSettings) -> String {
    let RateSettings { schedule, first, last, step_every, step_factor, .. } = rate;
    match schedule {
        Schedule::Constant => format!("{first}"),
        Schedule::Step => format!("{first}, times {step_factor} every {step_every} batches"),
        Schedule::Linear => format!("from {first} to {last} in a straight line"),
        Schedule::Cosine => format!("from {first} to {last} along half a wave"),
    }
}

/// Some of the looks, evenly, the last among them.
fn thinned(looks: &[Look], most: usize) -> Vec<Look> {
    let stride = looks.len().div_ceil(most).max(1);
    looks.iter().rev().step_by(stride).rev().copied().collect()
}

fn chart(looks: &[Look]) -> Result<String, DrawError> {
    let looks = thinned(looks, MOST_POINTS);
    let training = |look: &Look| Some((look.batches as f64, look.training));
    let validation = |look: &Look| Some((look.batches as f64, look.validation?));
    let lines: [(_, _, Vec<_>); 2] = [
        ("training", TRAINING, looks.iter().filter_map(training).collect()),
        ("validation", VALIDATION, looks.iter().filter_map(validation).collect()),
    ];
    let losses = || lines.iter().flat_map(|(_, _, points)| points).map(|&(_, loss)| loss);
    let (least, most) = (losses().fold(f64::INFINITY, f64::min), losses().fold(0.0, f64::max));
    let least = if least.is_finite() { least } else { 0.0 };
    let air = AIR * (most - least).max(1e-6);
    let last = looks.last().map_or(1, |look| look.batches) as f64;
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(refused)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("loss over the batches: training, validation", (FONT, 15))
            .margin(8)
            .margin_right(24)
            .x_label_area_size(28)
            .y_label_area_size(64)
            .build_cartesian_2d(0.0..last, least - air..most + air)
            .map_err(refused)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_label_formatter(&|batches| format!("{batches:.0}"))
            .y_label_formatter(&|loss| format!("{loss:.5}"))
            .label_style((FONT, 11))
            .draw()
            .map_err(refused)?;
        for (name, colour, points) in lines {
            let end = points.last().copied();
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2))).map_err(refused)?;
            let style = (FONT, 12).into_font().color(&colour);
            let label = end.map(|(batches, loss)| Text::new(name, (batches - 0.12 * last, loss + 0.6 * air), style));
            chart.draw_series(label).map_err(refused)?;
        }
        root.present().map_err(refused)?;
    }
    Ok(text)
}

fn refused(error: impl std::fmt::Display) -> DrawError {
    DrawError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(count: u64) -> Vec<Look> {
        let look = |batches: u64| Look {
            batches,
            positions: batches,
            epoch: 0,
            rate: 0.1,
            training: 1.0 / batches as f64,
            validation: (batches > 1).then(|| 1.1 / batches as f64),
            results: (batches > 1).then(|| 1.2 / batches as f64),
        };
        (1..=count).map(look).collect()
    }

    #[test]
    fn a_chart_has_both_lines_and_long_runs_are_thinned() {
        let text = chart(&looks(5_000)).unwrap();
        assert_eq!(chart(&looks(5_000)).unwrap(), text);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        for RGBColor(red, green, blue) in [TRAINING, VALIDATION] {
            let colour = format!("stroke=\"#{red:02X}{green:02X}{blue:02X}\"");
            let lines = text.lines().filter(|line| line.starts_with("<polyline") && line.contains(&colour));
            assert!(lines.count() > 0, "no line in {colour}");
        }
        assert!(text.len() < 80_000, "{}", text.len());
        assert!(chart(&looks(1)).is_ok() && chart(&[]).is_ok());
    }

    #[test]
    fn thinning_keeps_the_last() {
        let thin = thinned(&looks(45), 20);
        assert_eq!((thin.len(), thin.last().map(|look| look.batches)), (15, Some(45)));
        assert_eq!(thinned(&looks(7), 20), looks(7));
    }
}
