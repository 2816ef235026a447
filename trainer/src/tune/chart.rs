//! A drawing of a run, `chart.svg`: every parameter over the iterations, each in a panel of its own from bound to bound.

use super::journal::Iteration;
use super::tuner::Tuner;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Panels side by side.
const COLUMNS: usize = 3;
/// Size of a panel.
const PANEL: (u32, u32) = (360, 220);
/// Most points of a line: more are not seen.
const MOST_POINTS: usize = 400;
/// Above and below the bounds, in parts of the way between them.
const AIR: f64 = 0.06;
const FONT: &str = "sans-serif";
const TRACK: RGBColor = RGBColor(31, 98, 165);
const BOUND: RGBColor = RGBColor(170, 170, 170);
const START: RGBColor = RGBColor(200, 110, 30);

/// Why there is no drawing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the chart: {0}")]
pub struct ChartError(String);

/// One parameter on its way, in parts of the way from its least to its greatest value.
struct Panel<'a> {
    name: &'a str,
    bounds: [f64; 2],
    track: Vec<(f64, f64)>,
    end: f64,
}

/// Draws a run as SVG. The same journal gives the same bytes.
///
/// # Errors
/// The drawing library refuses.
pub fn svg(names: &[String], tuner: &Tuner, iterations: &[Iteration]) -> Result<String, ChartError> {
    let rows = names.len().div_ceil(COLUMNS).max(1);
    let columns = names.len().clamp(1, COLUMNS);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE).map_err(refused)?;
        for (index, (name, area)) in names.iter().zip(root.split_evenly((rows, columns))).enumerate() {
            draw(&area, &panel(name, index, tuner, iterations), tuner.iterations())?;
        }
        root.present().map_err(refused)?;
    }
    Ok(text)
}

fn panel<'a>(name: &'a str, index: usize, tuner: &Tuner, iterations: &[Iteration]) -> Panel<'a> {
    let setting = tuner.settings()[index];
    let part = |value: f64| (value - setting.min) / (setting.max - setting.min);
    let stride = iterations.len().div_ceil(MOST_POINTS).max(1);
    let last = iterations.len();
    let shown = iterations.iter().filter(|one| one.iteration % stride as u64 == 0 || one.iteration == last as u64);
    let points = shown.map(|one| (one.iteration as f64, part(one.theta[index])));
    let track = std::iter::once((0.0, part(setting.start))).chain(points).collect();
    let end = iterations.last().map_or(setting.start, |last| last.theta[index]);
    Panel { name, bounds: [setting.min, setting.max], track, end }
}

fn draw(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel<'_>, iterations: u64) -> Result<(), ChartError> {
    let [min, max] = panel.bounds;
    let value = |part: f64| min + part * (max - min);
    let (all, start) = (iterations as f64, panel.track[0].1);
    let title = format!("{}: {} to {}", panel.name, brief(value(start)), brief(panel.end));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 13))
        .margin(6)
        .margin_right(18)
        .x_label_area_size(22)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..all, -AIR..1.0 + AIR)
        .map_err(refused)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&|iteration| format!("{iteration:.0}"))
        .y_label_formatter(&|part| brief(value(*part)))
        .label_style((FONT, 11))
        .draw()
        .map_err(refused)?;
    for (height, colour) in [(0.0, BOUND), (1.0, BOUND), (start, START)] {
        chart.draw_series(LineSeries::new([(0.0, height), (all, height)], colour)).map_err(refused)?;
    }
    chart.draw_series(LineSeries::new(panel.track.iter().copied(), TRACK.stroke_width(2))).map_err(refused)?;
    Ok(())
}

/// A number with as many places as its size leaves room for.
pub(super) fn brief(value: f64) -> String {
    if value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn refused(error: impl std::fmt::Display) -> ChartError {
    ChartError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::objective::PairResult;
    use super::super::spsa::{Kind, Setting};
    use super::super::tuner::Course;
    use super::*;

    #[test]
    fn every_parameter_has_a_panel_with_bounds_start_and_track() {
        let setting = Setting { start: 30.0, min: 10.0, max: 90.0, c_end: 4.0, r_end: 0.1, kind: Kind::Whole };
        let tuner = Tuner::new(vec![setting; 4], &Course::usual(2_000, 1, 1));
        let mut theta = tuner.start();
        let mut iterations = Vec::new();
        for number in 1..=2_000 {
            let trial = tuner.trial(number, &theta);
            let iteration = Iteration::new(number, trial, vec![PairResult([1, 0])], &tuner, &theta);
            theta.clone_from(&iteration.theta);
            iterations.push(iteration);
        }
        let names: Vec<String> = ["one", "two", "three", "a <b>"].map(String::from).to_vec();
        let text = svg(&names, &tuner, &iterations).unwrap();
        assert_eq!(svg(&names, &tuner, &iterations).unwrap(), text);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{}", &text[..60]);
        assert!(text.contains("one: 30.0 to ") && text.contains("a &lt;b&gt;"), "names are escaped");
        // Two bounds, the start and the track of each; axes are lines of their own.
        let tracks = text.matches(&format!("#{:02X}{:02X}{:02X}", TRACK.0, TRACK.1, TRACK.2)).count();
        let starts = text.matches(&format!("#{:02X}{:02X}{:02X}", START.0, START.1, START.2)).count();
        assert_eq!((tracks, starts), (4, 4));
        assert!(text.len() < 4 * 12 * 2_000, "long runs are thinned: {} bytes", text.len());
        assert!(svg(&names[..1], &tuner, &[]).unwrap().contains("one: 30.0 to 30.0"));
    }
}
