//! Figures of an experiment as SVG: values by method, the trace of self-consistency, values by phase, the first move, lengths of
//! games. The same findings give the same bytes.

use super::ablation::Ablation;
use super::experiment::Findings;
use super::ladder::Rung;
use super::plan::Plan;
use crate::fit::ratio::Interval;
use crate::fit::splits::{Phase, SplitFit, phase_column};
use crate::fit::values::{PieceValues, ValueOutcome};
use plotters::coord::Shift;
use plotters::prelude::*;

const FONT: &str = "sans-serif";
const WIDTH: u32 = 760;
/// Height of a row of marks, and what axes and headings take.
const ROW: u32 = 30;
const FRAME: u32 = 90;
/// Room for the names of rows.
const NAMES: u32 = 130;
const GREY: RGBColor = RGBColor(170, 170, 170);
/// Colours that the colour-blind can tell apart (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
/// Intervals are drawn no further than so many times the greatest value: a unit that is unclear must not squeeze the others.
const FARTHEST: f64 = 1.6;

/// A drawing with what it shows.
pub struct Figure {
    /// What it shows, in a line.
    pub title: &'static str,
    /// How to read it.
    pub caption: &'static str,
    /// The drawing.
    pub svg: String,
}

/// Why there is no drawing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw a figure: {0}")]
pub struct FigureError(String);

/// A value with its interval; whoever has no interval has none drawn.
type Mark = Option<(f64, Option<Interval>)>;

/// Marks of one kind, one for each row.
struct Series {
    name: String,
    marks: Vec<Mark>,
}

/// Rows of marks on one scale.
struct Whiskers<'a> {
    rows: Vec<String>,
    series: Vec<Series>,
    scale: &'a str,
    /// A line to compare with.
    line: Option<f64>,
}

/// All figures that the findings have data for.
///
/// # Errors
/// The drawing library refuses.
pub fn figures(findings: &Findings, plan: &Plan) -> Result<Vec<Figure>, FigureError> {
    let mut figures = vec![Figure {
        title: "Values by method",
        caption: "Points are values in pawns, bars their 95 % intervals; those by lot allow for all looks. Arrows: the interval goes on.",
        svg: by_method(findings).svg()?,
    }];
    if !findings.rounds.is_empty() {
        figures.push(Figure {
            title: "Self-consistency",
            caption: "What the evaluation assumed in each round and what its games measured, with intervals that hold for all units \
                      together; last, the reference.",
            svg: trace(findings).svg()?,
        });
    }
    let (split, caption) = match plan.is_staged() {
        true => (&findings.methods.phase_by_lot, "Values in pawns of the same stage, by lot."),
        false => (
            &findings.methods.phase_played,
            "Values in pawns of the same stage, from quiet positions all over the games: observational.",
        ),
    };
    figures.push(Figure { title: "Values by phase", caption, svg: by_phase(findings, split).svg()? });
    if !findings.ladder.is_empty() {
        figures.push(Figure {
            title: "Values by strength",
            caption: "The same experiment at several numbers of nodes a move.",
            svg: by_strength(findings).svg()?,
        });
    }
    if let Some(first) = findings.methods.first_move {
        let percent = Interval::new(100.0 * first.interval.low, 100.0 * first.interval.high);
        let whiskers = Whiskers {
            rows: vec!["level games".to_owned()],
            series: vec![Series { name: "White".to_owned(), marks: vec![Some((100.0 * first.score, Some(percent)))] }],
            scale: "White's score in per cent",
            line: Some(50.0),
        };
        figures.push(Figure {
            title: "The first move",
            caption: "White's score in games that start level, with its 95 % interval by pairs. The line is one half.",
            svg: whiskers.svg()?,
        });
    }
    if !findings.methods.lengths.is_empty() {
        figures.push(Figure {
            title: "Length of games",
            caption: "Games that start level, by their length in plies.",
            svg: lengths(&findings.methods.lengths)?,
        });
    }
    Ok(figures)
}

fn by_method(findings: &Findings) -> Whiskers<'static> {
    let methods = &findings.methods;
    let series = |name: &str, values: &PieceValues| Series {
        name: name.to_owned(),
        marks: methods.by_lot.rows.iter().map(|row| values.row(&row.unit).and_then(|row| mark(&row.value))).collect(),
    };
    let network = findings.network.as_ref().map(|network| Series {
        name: "network, unit taken off".to_owned(),
        marks: methods.by_lot.rows.iter().map(|row| network_mark(&network.ablation, &row.unit)).collect(),
    });
    Whiskers {
        rows: methods.by_lot.rows.iter().map(|row| row.unit.clone()).collect(),
        series: [
            series("by lot", &methods.by_lot),
            series("earliest quiet position", &methods.earliest),
            series("random quiet position", &methods.observed),
        ]
        .into_iter()
        .chain(network)
        .collect(),
        scale: "pawns",
        line: None,
    }
}

/// A row for each unit and round.
fn trace(findings: &Findings) -> Whiskers<'static> {
    let units = findings.methods.by_lot.rows.iter().filter(|row| row.unit != findings.methods.by_lot.pawn);
    let mut whiskers = Whiskers { rows: Vec::new(), series: Vec::new(), scale: "pawns", line: None };
    let [mut assumed, mut measured]: [Vec<Mark>; 2] = Default::default();
    for unit in units {
        for round in &findings.rounds {
            let Some(row) = round.units.iter().find(|row| row.unit == unit.unit) else { continue };
            whiskers.rows.push(format!("{} {}", unit.unit, round.number));
            assumed.push(Some((row.assumed, None)));
            measured.push(mark(&row.measured));
        }
        whiskers.rows.push(format!("{} at last", unit.unit));
        assumed.push(None);
        measured.push(mark(&unit.value));
    }
    whiskers.series = vec![
        Series { name: "measured".to_owned(), marks: measured },
        Series { name: "assumed".to_owned(), marks: assumed },
    ];
    whiskers
}

fn by_strength(findings: &Findings) -> Whiskers<'static> {
    let rows = || findings.methods.by_lot.rows.iter().map(|row| row.unit.clone());
    let series = |rung: &Rung| Series {
        name: format!("{} nodes", rung.nodes),
        marks: rows().map(|unit| rung.values.row(&unit).and_then(|row| mark(&row.value))).collect(),
    };
    Whiskers {
        rows: rows().collect(),
        series: findings.ladder.iter().map(series).collect(),
        scale: "pawns",
        line: None,
    }
}

fn by_phase(findings: &Findings, split: &SplitFit) -> Whiskers<'static> {
    let units = || findings.methods.by_lot.rows.iter().map(|row| &row.unit);
    let series = |name: &str, phase| Series {
        name: name.to_owned(),
        marks: units().map(|unit| split_mark(split, unit, phase)).collect(),
    };
    Whiskers {
        rows: units().cloned().collect(),
        series: vec![series("full board", Phase::Full), series("few men", Phase::Few)],
        scale: "pawns of the same stage",
        line: None,
    }
}

fn split_mark(split: &SplitFit, unit: &str, phase: Phase) -> Mark {
    mark(&split.value(&phase_column(unit, phase), &phase_column(&split.pawn, phase))?)
}

fn mark(value: &ValueOutcome) -> Mark {
    match value {
        ValueOutcome::Bounded { value, interval, .. } => Some((*value, Some(*interval))),
        _ => None,
    }
}

fn network_mark(ablation: &Ablation, unit: &str) -> Mark {
    ablation.worth(unit).filter(|_| unit != ablation.pawn).map(|worth| (worth.pawns, Some(worth.interval())))
}

impl Whiskers<'_> {
    fn svg(&self) -> Result<String, FigureError> {
        let size = (WIDTH, FRAME + ROW * self.rows.len().max(1) as u32);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
            root.fill(&WHITE).map_err(refused)?;
            self.draw(&root)?;
            root.present().map_err(refused)?;
        }
        Ok(text)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), FigureError> {
        let [low, high] = self.range();
        let count = self.rows.len() as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_top(34)
            .x_label_area_size(40)
            .y_label_area_size(NAMES)
            .build_cartesian_2d(low..high, count - 0.5..-0.5)
            .map_err(refused)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_axis().disable_y_mesh().x_labels(9).x_desc(self.scale);
        mesh.light_line_style(WHITE).bold_line_style(GREY.mix(0.4)).label_style((FONT, 12));
        mesh.draw().map_err(refused)?;
        if let Some(line) = self.line {
            chart.draw_series(LineSeries::new([(line, count - 0.5), (line, -0.5)], GREY)).map_err(refused)?;
        }
        for (row, name) in self.rows.iter().enumerate() {
            let (_, height) = chart.backend_coord(&(low, row as f64));
            area.draw(&Text::new(name.clone(), (10, height - 6), (FONT, 13))).map_err(refused)?;
        }
        for (index, series) in self.series.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let shift = 0.24 * (index as f64 - (self.series.len() as f64 - 1.0) / 2.0);
            for (row, mark) in series.marks.iter().enumerate() {
                let Some((value, interval)) = mark else { continue };
                let height = row as f64 + shift;
                if let Some(Interval { low: from, high: to }) = interval {
                    let ends = [(from.clamp(low, high), height), (to.clamp(low, high), height)];
                    let bar = PathElement::new(ends, colour.stroke_width(2));
                    chart.draw_series([bar]).map_err(refused)?;
                    let heads = [(low, *from < low, 1), (high, *to > high, -1)];
                    for (end, _, back) in heads.into_iter().filter(|&(_, goes_on, _)| goes_on) {
                        let (x, y) = chart.backend_coord(&(end, height));
                        let head = [(x, y), (x + 7 * back, y - 4), (x + 7 * back, y + 4)];
                        area.draw(&Polygon::new(head, colour.filled())).map_err(refused)?;
                    }
                }
                let point = Circle::new((value.clamp(low, high), height), 4, colour.filled());
                chart.draw_series([point]).map_err(refused)?;
            }
            let at = NAMES as i32 + 200 * index as i32;
            area.draw(&Circle::new((at, 17), 4, colour.filled())).map_err(refused)?;
            area.draw(&Text::new(series.name.clone(), (at + 10, 10), (FONT, 13))).map_err(refused)?;
        }
        Ok(())
    }

    /// All values, and as much of the intervals as leaves the values apart.
    fn range(&self) -> [f64; 2] {
        let marks = || self.series.iter().flat_map(|series| series.marks.iter().flatten());
        let values = || marks().map(|&(value, _)| value).chain(self.line);
        let [least, most] = [values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max)];
        if least > most {
            return [0.0, 1.0];
        }
        let spread = (most - least).max(most.abs() / 10.0).max(1e-3);
        let ends = || marks().filter_map(|&(_, interval)| interval);
        let beyond = if self.rows.len() > 1 { spread * (FARTHEST - 1.0) } else { f64::INFINITY };
        let low = ends().map(|interval| interval.low).fold(least, f64::min).max(least - beyond);
        let high = ends().map(|interval| interval.high).fold(most, f64::max).min(most + beyond);
        let air = (high - low) / 40.0;
        [low - air, high + air]
    }
}

/// Bars over lengths; each bin is (first ply, games).
fn lengths(bins: &[(u32, u64)]) -> Result<String, FigureError> {
    let width = bins.windows(2).map(|pair| pair[1].0 - pair[0].0).min().unwrap_or(1);
    let end = bins.last().map_or(1, |bin| bin.0 + width);
    let most = bins.iter().map(|bin| bin.1).max().unwrap_or(1).max(1);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, 300)).into_drawing_area();
        root.fill(&WHITE).map_err(refused)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0..end, 0..most)
            .map_err(refused)?;
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().x_desc("plies").y_desc("games").label_style((FONT, 12));
        mesh.light_line_style(WHITE).bold_line_style(GREY.mix(0.4));
        mesh.draw().map_err(refused)?;
        let bars = bins
            .iter()
            .map(|&(from, games)| Rectangle::new([(from, 0), (from + width, games)], COLOURS[0].mix(0.8).filled()));
        chart.draw_series(bars).map_err(refused)?;
        root.present().map_err(refused)?;
    }
    Ok(text)
}

fn refused(error: impl std::fmt::Display) -> FigureError {
    FigureError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whiskers() -> Whiskers<'static> {
        let marks =
            vec![Some((3.0, Some(Interval::new(2.5, 3.5)))), Some((9.0, Some(Interval::new(7.0, 900.0)))), None];
        let series = Series { name: "by <lot>".to_owned(), marks };
        let rows = ["knight", "queen", "never"].map(String::from).to_vec();
        Whiskers { rows, series: vec![series], scale: "pawns", line: None }
    }

    #[test]
    fn a_wild_interval_does_not_squeeze_the_others() {
        let [low, high] = whiskers().range();
        assert!(low < 2.5 && low > 0.0 && (9.0..16.0).contains(&high), "{low} to {high}");
        let none = Whiskers { rows: Vec::new(), series: Vec::new(), scale: "", line: None };
        assert_eq!(none.range(), [0.0, 1.0]);
    }

    #[test]
    fn every_row_and_mark_is_there_and_names_are_escaped() {
        let svg = whiskers().svg().unwrap();
        assert_eq!(svg, whiskers().svg().unwrap());
        assert!(["knight", "queen", "never", "by &lt;lot&gt;"].iter().all(|name| svg.contains(name)), "{svg}");
        // Two marks and the one beside the name of the series.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("<polygon").count(), 1, "one interval goes on beyond the drawing");
        let bars = lengths(&[(0, 3), (20, 9), (40, 1)]).unwrap();
        assert!(bars.matches("<rect").count() >= 4, "{bars}");
    }
}
