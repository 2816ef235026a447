//! Sums of units with weights, as *hero − 2 general*, and the fitted coefficients that give them a value.
//!
//! Anything with named coefficients and a covariance can be asked: a fit, or the forecast of one. The ratio to the pawn is
//! formed by [`super::ratio`], the comparison of two of them by [`super::change`].

use std::fmt;

use serde::{Deserialize, Serialize};

use super::linear::SquareMatrix;
use super::logistic::{CovarianceKind, LogisticFit, Undetermined};
use super::ratio::{CoefficientPair, PawnValue, RatioError};

/// Units with weights, each unit once; its value is the weighted sum of theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(String, f64)>")]
pub struct Combination(Vec<(String, f64)>);

impl Combination {
    /// The sum of these units times their weights; weights of a unit named twice are added.
    #[must_use]
    pub fn new(parts: Vec<(String, f64)>) -> Self {
        let mut combination = Self(Vec::new());
        for (unit, weight) in parts {
            match combination.0.iter_mut().find(|(known, _)| *known == unit) {
                Some((_, sum)) => *sum += weight,
                None => combination.0.push((unit, weight)),
            }
        }
        combination
    }

    /// One unit alone.
    #[must_use]
    pub fn unit(name: &str) -> Self {
        Self(vec![(name.to_owned(), 1.0)])
    }

    /// The units with their weights, in the order given.
    #[must_use]
    pub fn parts(&self) -> &[(String, f64)] {
        &self.0
    }
}

impl From<Vec<(String, f64)>> for Combination {
    fn from(parts: Vec<(String, f64)>) -> Self {
        Self::new(parts)
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (unit, weight)) in self.0.iter().enumerate() {
            let sign = match (index, *weight < 0.0) {
                (0, true) => "−",
                (0, false) => "",
                (_, true) => " − ",
                (_, false) => " + ",
            };
            f.write_str(sign)?;
            if weight.abs() != 1.0 {
                write!(f, "{} ", weight.abs())?;
            }
            f.write_str(unit)?;
        }
        Ok(())
    }
}

/// Named coefficients in logits with one covariance: what a value in pawns is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    pub(super) names: Vec<String>,
    pub(super) coefficients: Vec<f64>,
    pub(super) covariance: SquareMatrix,
    pub(super) undetermined: Vec<Undetermined>,
}

/// A combination over a pawn. The pawn's own weight stands apart, because it adds to the ratio without any error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OverPawn {
    /// Places and weights of the combination's other units.
    pub(super) numerator: Vec<(usize, f64)>,
    /// Place of the pawn.
    pub(super) pawn: usize,
    /// Weight of the pawn in the combination.
    pub(super) pawns: f64,
    /// Undetermined columns whose effect is mixed into any of these terms.
    pub(super) mixed_with: Vec<String>,
}

impl Estimates {
    /// The coefficients of a fit with one of its covariances; claims use the clustered one.
    #[must_use]
    pub fn of_fit(fit: &LogisticFit, kind: CovarianceKind) -> Self {
        Self {
            names: fit.terms.iter().map(|term| term.name.clone()).collect(),
            coefficients: fit.terms.iter().map(|term| term.coefficient).collect(),
            covariance: fit.covariance(kind).clone(),
            undetermined: fit.undetermined.clone(),
        }
    }

    /// The value of a combination in units of `pawn`. Its interval is Fieller's at `critical` standard errors:
    /// [`super::NORMAL_97_5`] for 95 %, or the critical value of a look ([`super::sequential`]).
    ///
    /// # Errors
    /// [`RatioError`] when a name is not among the fitted terms, or a number is none.
    pub fn in_pawns(&self, combination: &Combination, pawn: &str, critical: f64) -> Result<PawnValue, RatioError> {
        if !(critical > 0.0 && critical.is_finite()) {
            return Err(RatioError::Critical { got: critical });
        }
        let over = self.over_pawn(combination, pawn)?;
        if !over.mixed_with.is_empty() {
            return Ok(PawnValue::Entangled { with: over.mixed_with });
        }
        Ok(self.pair(&over).ratio_at(critical).plus(over.pawns))
    }

    /// The standard error of each term, by name.
    #[must_use]
    pub fn errors(&self) -> Vec<(String, f64)> {
        self.names.iter().cloned().zip(self.covariance.diagonal_roots()).collect()
    }

    /// Finds the terms of a combination and its pawn.
    pub(super) fn over_pawn(&self, combination: &Combination, pawn: &str) -> Result<OverPawn, RatioError> {
        let pawn = self.index_of(pawn)?;
        let mut over = OverPawn { numerator: Vec::new(), pawn, pawns: 0.0, mixed_with: Vec::new() };
        for (unit, weight) in combination.parts() {
            if !weight.is_finite() {
                return Err(RatioError::Weight { name: unit.clone(), got: *weight });
            }
            match self.index_of(unit)? {
                index if index == pawn => over.pawns = *weight,
                index => over.numerator.push((index, *weight)),
            }
        }
        if combination.parts().is_empty() {
            return Err(RatioError::NoUnits);
        }
        over.mixed_with = self.mixed_into(&over);
        Ok(over)
    }

    /// The coefficients of a combination, without the pawn's part in it, and its pawn.
    pub(super) fn pair(&self, over: &OverPawn) -> CoefficientPair {
        let pawn = [(over.pawn, 1.0)];
        CoefficientPair {
            numerator: self.sum(&over.numerator),
            denominator: self.sum(&pawn),
            numerator_variance: self.covariance_of(&over.numerator, &over.numerator),
            denominator_variance: self.covariance_of(&pawn, &pawn),
            covariance: self.covariance_of(&over.numerator, &pawn),
        }
    }

    fn sum(&self, terms: &[(usize, f64)]) -> f64 {
        terms.iter().map(|&(index, weight)| weight * self.coefficients[index]).sum()
    }

    /// The covariance of two weighted sums of coefficients.
    pub(super) fn covariance_of(&self, left: &[(usize, f64)], right: &[(usize, f64)]) -> f64 {
        let with_right = |&(row, weight): &(usize, f64)| {
            weight * right.iter().map(|&(column, other)| other * self.covariance.at(row, column)).sum::<f64>()
        };
        left.iter().map(with_right).sum()
    }

    fn index_of(&self, name: &str) -> Result<usize, RatioError> {
        if let Some(column) = self.undetermined.iter().find(|undetermined| undetermined.column == name) {
            return Err(RatioError::Undetermined { name: name.to_owned(), mixed_with: column.mixed_with.clone() });
        }
        self.names
            .iter()
            .position(|known| known == name)
            .ok_or_else(|| RatioError::UnknownTerm { name: name.to_owned(), fitted: self.names.join(", ") })
    }

    fn mixed_into(&self, over: &OverPawn) -> Vec<String> {
        let is_used = |name: &String| {
            let index = self.names.iter().position(|known| known == name);
            index.is_some_and(|index| index == over.pawn || over.numerator.iter().any(|&(used, _)| used == index))
        };
        let mixed = self.undetermined.iter().filter(|column| column.mixed_with.iter().any(is_used));
        mixed.map(|column| column.column.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::NORMAL_97_5;
    use crate::fit::ratio::Interval;

    /// Pawn 0.2, hero 1.5, general 0.6, with correlated errors; "page" cannot be told from the general.
    fn estimates() -> Estimates {
        let mut covariance = SquareMatrix::zeros(4);
        for vector in [[0.01, 0.004, 0.003, 0.0], [0.0, 0.09, 0.02, 0.01], [0.002, 0.0, 0.05, -0.01]] {
            covariance.add_outer(1.0, &vector);
        }
        Estimates {
            names: ["pawn", "hero", "general", "squire"].map(str::to_owned).to_vec(),
            coefficients: vec![0.2, 1.5, 0.6, 0.1],
            covariance,
            undetermined: vec![Undetermined { column: "page".to_owned(), mixed_with: vec!["squire".to_owned()] }],
        }
    }

    fn combination(parts: &[(&str, f64)]) -> Combination {
        Combination::new(parts.iter().map(|&(unit, weight)| (unit.to_owned(), weight)).collect())
    }

    fn bounded(parts: &[(&str, f64)]) -> (f64, Interval, f64) {
        match estimates().in_pawns(&combination(parts), "pawn", NORMAL_97_5).unwrap() {
            PawnValue::Bounded { value, interval, delta_error } => (value, interval, delta_error),
            other => panic!("expected a bounded value, got {other:?}"),
        }
    }

    #[test]
    fn a_combination_is_judged_as_the_column_it_would_be() {
        // Fitting hero − 2 general in place of the hero transforms coefficients and covariance; Fieller must not notice.
        let parts = [("hero", 1.0), ("general", -2.0)];
        let original = estimates();
        let at = |i: usize, j: usize| original.covariance.at(i, j);
        let pair = CoefficientPair {
            numerator: 1.5 - 1.2,
            denominator: 0.2,
            numerator_variance: at(1, 1) - 4.0 * at(1, 2) + 4.0 * at(2, 2),
            denominator_variance: at(0, 0),
            covariance: at(0, 1) - 2.0 * at(0, 2),
        };
        let PawnValue::Bounded { value, interval, delta_error } = pair.ratio() else { panic!("expected bounded") };
        let got = bounded(&parts);
        assert!((got.0 - value).abs() < 1e-12 && (got.0 - 1.5).abs() < 1e-12);
        assert!((got.1.low - interval.low).abs() < 1e-9 && (got.1.high - interval.high).abs() < 1e-9);
        assert!((got.2 - delta_error).abs() < 1e-9);
    }

    #[test]
    fn pawns_in_a_combination_move_the_value_and_widen_nothing() {
        let (value, interval, delta_error) = bounded(&[("hero", 1.0)]);
        let (moved, moved_interval, moved_error) = bounded(&[("hero", 1.0), ("pawn", -5.0)]);
        assert!((moved - (value - 5.0)).abs() < 1e-12);
        assert!((moved_interval.low - (interval.low - 5.0)).abs() < 1e-12);
        assert!((moved_interval.high - (interval.high - 5.0)).abs() < 1e-12);
        assert_eq!(moved_error, delta_error);
        assert_eq!(bounded(&[("pawn", 1.0)]), (1.0, Interval::new(1.0, 1.0), 0.0));
    }

    #[test]
    fn the_pawn_left_in_the_numerator_gives_the_same_interval() {
        // The other way to the same: hero − 5 pawn as one coefficient, with all its covariances.
        let original = estimates();
        let at = |i: usize, j: usize| original.covariance.at(i, j);
        let pair = CoefficientPair {
            numerator: 1.5 - 5.0 * 0.2,
            denominator: 0.2,
            numerator_variance: at(1, 1) - 10.0 * at(0, 1) + 25.0 * at(0, 0),
            denominator_variance: at(0, 0),
            covariance: at(0, 1) - 5.0 * at(0, 0),
        };
        let PawnValue::Bounded { interval, .. } = pair.ratio() else { panic!("expected bounded") };
        let got = bounded(&[("hero", 1.0), ("pawn", -5.0)]).1;
        assert!((got.low - interval.low).abs() < 1e-9 && (got.high - interval.high).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_valued_is_named() {
        let of = |parts: &[(&str, f64)]| estimates().in_pawns(&combination(parts), "pawn", NORMAL_97_5);
        let with_squire = of(&[("hero", 1.0), ("squire", 1.0)]).unwrap();
        assert_eq!(with_squire, PawnValue::Entangled { with: vec!["page".to_owned()] });
        assert!(of(&[("page", 1.0)]).unwrap_err().to_string().contains("mixed with squire"));
        assert!(of(&[("ogre", 1.0)]).unwrap_err().to_string().contains("\"ogre\""));
        assert_eq!(of(&[]).unwrap_err(), RatioError::NoUnits);
        assert!(matches!(of(&[("hero", f64::NAN)]), Err(RatioError::Weight { .. })));
        for critical in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = estimates().in_pawns(&Combination::unit("hero"), "pawn", critical).unwrap_err();
            assert!(matches!(error, RatioError::Critical { .. }), "{critical}: {error}");
        }
    }

    #[test]
    fn a_larger_critical_value_widens_until_the_pawn_is_unclear() {
        let hero = Combination::unit("hero");
        let width = |critical| match estimates().in_pawns(&hero, "pawn", critical).unwrap() {
            PawnValue::Bounded { interval, .. } => interval.high - interval.low,
            _ => f64::INFINITY,
        };
        assert!(width(1.0) < width(1.96) && width(1.96) < width(4.877) && width(4.877).is_finite());
        assert!(width(25.0).is_infinite());
    }

    #[test]
    fn combinations_are_written_as_people_do() {
        let text = |parts: &[(&str, f64)]| combination(parts).to_string();
        assert_eq!(text(&[("hero", 1.0), ("general", -2.0)]), "hero − 2 general");
        assert_eq!(text(&[("pawn", -1.0), ("rook", 0.5), ("pawn", -1.0)]), "−2 pawn + 0.5 rook");
        let read: Combination = serde_json::from_str(r#"[["hero", 1.0], ["general", -2.0]]"#).unwrap();
        assert_eq!(read, combination(&[("hero", 1.0), ("general", -2.0)]));
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"[["hero",1.0],["general",-2.0]]"#);
    }
}
