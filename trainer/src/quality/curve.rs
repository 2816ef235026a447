//! The drawing of a calibration: mean results by score with their intervals, and the fitted curve.

use super::calibration::{Bin, Calibration, ScaleOutcome};
use crate::fit::NORMAL_97_5;
use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (720, 420);
/// The scores shown go at least so far either way, and so many times as far as the points.
const LEAST_RANGE: f64 = 100.0;
const AIR: f64 = 1.06;
/// Pieces of the curve.
const PIECES: u32 = 200;
const FONT: &str = "sans-serif";
const GREY: RGBColor = RGBColor(170, 170, 170);
/// Colours that the colour-blind can tell apart (Okabe and Ito, 2008).
const POINTS: RGBColor = RGBColor(0, 114, 178);
const CURVE: RGBColor = RGBColor(213, 94, 0);

/// Why there is no drawing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot draw the calibration: {0}")]
pub struct CurveError(String);

/// Draws a calibration as SVG. Equal calibrations give the same bytes.
pub(super) fn svg(calibration: &Calibration) -> Result<String, CurveError> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(refused)?;
        draw(&root, calibration)?;
        root.present().map_err(refused)?;
    }
    Ok(text)
}

fn draw(area: &DrawingArea<SVGBackend<'_>, Shift>, calibration: &Calibration) -> Result<(), CurveError> {
    let end = AIR * calibration.bins.iter().map(|bin| bin.mean_score.abs()).fold(LEAST_RANGE, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title(calibration), (FONT, 15))
        .margin(10)
        .margin_right(24)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d(-end..end, 0.0..1.0)
        .map_err(refused)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("score in centipawns, side to move's view")
        .y_desc("mean result")
        .x_label_formatter(&|score| format!("{score:.0}"))
        .y_label_formatter(&|result| format!("{result:.1}"))
        .label_style((FONT, 12))
        .draw()
        .map_err(refused)?;
    for line in [[(-end, 0.5), (end, 0.5)], [(0.0, 0.0), (0.0, 1.0)]] {
        chart.draw_series(LineSeries::new(line, GREY)).map_err(refused)?;
    }
    let fitted = fitted(calibration, end);
    if !fitted.is_empty() {
        chart.draw_series(LineSeries::new(fitted, CURVE.stroke_width(2))).map_err(refused)?;
    }
    for bin in &calibration.bins {
        if let Some([low, high]) = interval(bin) {
            let bar = PathElement::new([(bin.mean_score, low), (bin.mean_score, high)], POINTS.stroke_width(2));
            chart.draw_series([bar]).map_err(refused)?;
        }
        let point = Circle::new((bin.mean_score, bin.mean_result), 4, POINTS.filled());
        chart.draw_series([point]).map_err(refused)?;
    }
    Ok(())
}

/// The curve from `-end` to `end`; nothing if there is none.
fn fitted(calibration: &Calibration, end: f64) -> Vec<(f64, f64)> {
    let scores = (0..=PIECES).map(|piece| end * (2.0 * f64::from(piece) / f64::from(PIECES) - 1.0));
    scores.filter_map(|score| Some((score, calibration.expected(score)?))).collect()
}

fn title(calibration: &Calibration) -> String {
    match calibration.scale {
        ScaleOutcome::Known(scale) => {
            format!("Results by score; the curve: a logit is {:.0} centipawns", scale.centipawns)
        }
        ScaleOutcome::Unknown { reason } => format!("Results by score; no curve: {reason}"),
    }
}

/// 95 per cent, as far as results go.
fn interval(bin: &Bin) -> Option<[f64; 2]> {
    let half = NORMAL_97_5 * bin.standard_error?;
    Some([bin.mean_result - half, bin.mean_result + half].map(|end| end.clamp(0.0, 1.0)))
}

fn refused(error: impl std::fmt::Display) -> CurveError {
    CurveError(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::calibration::Scale;
    use super::super::scale::NoScale;
    use super::*;

    fn bin(mean_score: f64, mean_result: f64, standard_error: Option<f64>) -> Bin {
        Bin { low: 0, high: 0, positions: 100, games: 9, mean_score, mean_result, standard_error }
    }

    fn calibration(scale: ScaleOutcome) -> Calibration {
        let bins = vec![bin(-300.0, 0.2, Some(0.2)), bin(10.0, 0.5, None), bin(2_000.0, 0.99, Some(0.02))];
        Calibration { positions: 300, games: 9, beyond: 0, scale, bins }
    }

    fn in_colour(svg: &str, element: &str, RGBColor(red, green, blue): RGBColor) -> usize {
        let colour = format!("#{red:02X}{green:02X}{blue:02X}");
        svg.lines().filter(|line| line.starts_with(element) && line.contains(&colour)).count()
    }

    #[test]
    fn points_have_bars_and_the_curve_is_drawn_if_there_is_one() {
        let scale = Scale { centipawns: 250.0, standard_error: None };
        let known = calibration(ScaleOutcome::Known(scale));
        let text = svg(&known).unwrap();
        assert_eq!(svg(&known).unwrap(), text);
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>") && text.contains("a logit is 250"));
        assert_eq!((in_colour(&text, "<circle", POINTS), in_colour(&text, "<polyline", POINTS)), (3, 2));
        assert_eq!(in_colour(&text, "<polyline", CURVE), 1);
        let unknown = svg(&calibration(ScaleOutcome::Unknown { reason: NoScale::NoRelation })).unwrap();
        assert_eq!(in_colour(&unknown, "<polyline", CURVE), 0);
        assert!(unknown.contains("do not go with better results"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_drawing() {
        let scale = ScaleOutcome::Unknown { reason: NoScale::NoPositions };
        let nothing = Calibration { positions: 0, games: 0, bins: Vec::new(), ..calibration(scale) };
        assert!(svg(&nothing).unwrap().starts_with("<svg"));
    }
}
