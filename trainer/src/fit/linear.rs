//! Small dense linear algebra for the regressions: symmetric matrices, Cholesky factors, independent columns.
//!
//! Sizes are at most about a hundred columns, so everything is row-major `Vec<f64>` and written for clarity. This is
//! not a general matrix library; the large sparse problem of [`super::tapered`] never forms a matrix.

use serde::Serialize;
use thiserror::Error;

/// A pivot below this fraction of its diagonal entry counts as zero: the column is a combination of earlier ones.
/// Differences of unit counts are small integers, whose rounding error lies near 1e-15, so any value from 1e-13 to
/// 1e-6 separates the two cases.
const RELATIVE_PIVOT: f64 = 1e-10;

/// Jacobi sweeps at most; a hundred columns need fewer than ten.
const JACOBI_SWEEPS: u32 = 40;

/// Off-diagonal entries below this fraction of the trace are rounding.
const JACOBI_PRECISION: f64 = 1e-15;

/// Why a linear system could not be solved.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LinearError {
    /// The matrix is singular or indefinite at one column.
    #[error("expected a positive definite matrix, got pivot {pivot:e} (diagonal {diagonal:e}) at column {column}")]
    NotPositiveDefinite {
        /// The first column, counted from 0, that depends on those before it.
        column: usize,
        /// The pivot found there.
        pivot: f64,
        /// The diagonal entry of that column before elimination.
        diagonal: f64,
    },
}

/// A square matrix of `f64`, row-major.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SquareMatrix {
    size: usize,
    entries: Vec<f64>,
}

impl SquareMatrix {
    /// The zero matrix with `size` rows and columns.
    #[must_use]
    pub fn zeros(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    /// The number of rows, equal to the number of columns.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The entry at `row` and `column`, both from 0. Panics outside the matrix.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    /// Replaces the entry at `row` and `column`.
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] = value;
    }

    /// Adds `value` to the entry at `row` and `column`.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
    }

    /// One row as a slice of `size` entries.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.size..(row + 1) * self.size]
    }

    /// Adds `weight · vector · vectorᵀ` to the leading block; `vector` has at most `size` entries.
    pub fn add_outer(&mut self, weight: f64, vector: &[f64]) {
        for (i, &left) in vector.iter().enumerate() {
            let scaled = weight * left;
            if scaled == 0.0 {
                continue;
            }
            for (entry, &right) in self.entries[i * self.size..].iter_mut().zip(vector) {
                *entry += scaled * right;
            }
        }
    }

    /// The product of this matrix and a column vector of `size` entries.
    #[must_use]
    pub fn times_vector(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|row| dot(self.row(row), vector)).collect()
    }

    /// The product `self · inner · self` for symmetric `self`: the sandwich of the robust covariances.
    #[must_use]
    pub fn sandwich(&self, inner: &Self) -> Self {
        self.times(inner).times(self)
    }

    /// The matrix product `self · right`.
    #[must_use]
    pub fn times(&self, right: &Self) -> Self {
        let mut product = Self::zeros(self.size);
        for i in 0..self.size {
            for k in 0..self.size {
                let left = self.at(i, k);
                for j in 0..self.size {
                    product.add(i, j, left * right.at(k, j));
                }
            }
        }
        product
    }

    /// Every entry times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self { size: self.size, entries: self.entries.iter().map(|entry| factor * entry).collect() }
    }

    /// The square roots of the diagonal: standard errors, when the matrix is a covariance. Rounding below zero
    /// counts as zero.
    #[must_use]
    pub fn diagonal_roots(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.at(i, i).max(0.0).sqrt()).collect()
    }
}

/// The inner product of two vectors of the same length.
#[must_use]
pub fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// The lower triangular factor L of a symmetric positive definite matrix A = L·Lᵀ.
#[derive(Debug, Clone)]
pub struct Cholesky {
    lower: SquareMatrix,
}

impl Cholesky {
    /// Factors a symmetric matrix, of which only the lower triangle is read.
    ///
    /// # Errors
    /// [`LinearError::NotPositiveDefinite`] naming the first column that depends on those before it.
    pub fn factor(matrix: &SquareMatrix) -> Result<Self, LinearError> {
        let size = matrix.size();
        let mut lower = SquareMatrix::zeros(size);
        for column in 0..size {
            let diagonal = matrix.at(column, column);
            let head = &lower.row(column)[..column];
            let pivot = diagonal - dot(head, head);
            if !is_pivot(pivot, diagonal) {
                return Err(LinearError::NotPositiveDefinite { column, pivot, diagonal });
            }
            let root = pivot.sqrt();
            lower.set(column, column, root);
            for row in column + 1..size {
                let known = dot(&lower.row(row)[..column], &lower.row(column)[..column]);
                lower.set(row, column, (matrix.at(row, column) - known) / root);
            }
        }
        Ok(Self { lower })
    }

    /// Solves A·x = `right` for a right-hand side of `size` entries.
    #[must_use]
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.lower.size();
        let mut x = right.to_vec();
        for i in 0..size {
            let known = dot(&self.lower.row(i)[..i], &x[..i]);
            x[i] = (x[i] - known) / self.lower.at(i, i);
        }
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| self.lower.at(k, i) * x[k]).sum();
            x[i] = (x[i] - known) / self.lower.at(i, i);
        }
        x
    }

    /// The inverse of A, exactly symmetric.
    #[must_use]
    pub fn inverse(&self) -> SquareMatrix {
        let size = self.lower.size();
        let mut inverse = SquareMatrix::zeros(size);
        let mut unit = vec![0.0; size];
        for column in 0..size {
            unit[column] = 1.0;
            let solved = self.solve(&unit);
            unit[column] = 0.0;
            // The solution's lower part fills both triangles, so the two cannot differ by rounding.
            for (row, &value) in solved.iter().enumerate().skip(column) {
                inverse.set(row, column, value);
                inverse.set(column, row, value);
            }
        }
        inverse
    }
}

/// A column of a Gram matrix that is a combination of kept columns.
#[derive(Debug, Clone, PartialEq)]
pub struct DependentColumn {
    /// Its index in the matrix.
    pub column: usize,
    /// The kept columns it is made of; empty when the column is zero.
    pub made_of: Vec<usize>,
}

/// The columns of a Gram matrix XᵀX split into a maximal independent set and the rest; earlier columns win.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSplit {
    /// Independent columns, ascending.
    pub kept: Vec<usize>,
    /// Columns that are zero or combinations of kept ones, ascending.
    pub dependent: Vec<DependentColumn>,
}

/// Splits the columns of a Gram matrix into independent and dependent ones, in order.
#[must_use]
pub fn split_columns(gram: &SquareMatrix) -> ColumnSplit {
    let mut kept: Vec<usize> = Vec::new();
    let mut dependent = Vec::new();
    for column in 0..gram.size() {
        let mut trial = kept.clone();
        trial.push(column);
        if Cholesky::factor(&principal(gram, &trial)).is_ok() {
            kept = trial;
        } else {
            dependent.push(DependentColumn { column, made_of: combination(gram, &kept, column) });
        }
    }
    ColumnSplit { kept, dependent }
}

/// The rows and columns of `matrix` at the given indices.
#[must_use]
pub fn principal(matrix: &SquareMatrix, indices: &[usize]) -> SquareMatrix {
    let mut block = SquareMatrix::zeros(indices.len());
    for (i, &row) in indices.iter().enumerate() {
        for (j, &column) in indices.iter().enumerate() {
            block.set(i, j, matrix.at(row, column));
        }
    }
    block
}

/// The eigenvalues of a symmetric matrix, ascending, by cyclic Jacobi rotations (Golub and Van Loan, section 8.5).
#[must_use]
pub fn symmetric_eigenvalues(matrix: &SquareMatrix) -> Vec<f64> {
    let mut rotated = matrix.clone();
    let size = rotated.size();
    let negligible = JACOBI_PRECISION * (0..size).map(|i| rotated.at(i, i).abs()).sum::<f64>();
    for _ in 0..JACOBI_SWEEPS {
        let mut is_diagonal = true;
        for p in 0..size {
            for q in p + 1..size {
                if rotated.at(p, q).abs() > negligible {
                    is_diagonal = false;
                    rotate(&mut rotated, p, q);
                }
            }
        }
        if is_diagonal {
            break;
        }
    }
    let mut eigenvalues: Vec<f64> = (0..size).map(|i| rotated.at(i, i)).collect();
    eigenvalues.sort_by(f64::total_cmp);
    eigenvalues
}

/// The ratio of the largest to the smallest eigenvalue of a positive definite matrix scaled to a unit diagonal, so
/// that the units of the columns do not matter: 1 when columns are uncorrelated, huge when some can hardly be told
/// apart.
#[must_use]
pub fn condition_number(matrix: &SquareMatrix) -> f64 {
    let roots = matrix.diagonal_roots();
    let mut scaled = matrix.clone();
    for (i, left) in roots.iter().enumerate() {
        for (j, right) in roots.iter().enumerate() {
            scaled.set(i, j, matrix.at(i, j) / (left * right));
        }
    }
    let eigenvalues = symmetric_eigenvalues(&scaled);
    match (eigenvalues.first(), eigenvalues.last()) {
        // A smallest eigenvalue lost to rounding is at least the precision of the arithmetic.
        (Some(&smallest), Some(&largest)) => largest / smallest.max(f64::EPSILON),
        _ => 1.0,
    }
}

/// Makes the entries at (p, q) and (q, p) zero by rotating the two axes.
fn rotate(matrix: &mut SquareMatrix, p: usize, q: usize) {
    let slant = (matrix.at(q, q) - matrix.at(p, p)) / (2.0 * matrix.at(p, q));
    let tangent = slant.signum() / (slant.abs() + slant.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for k in 0..matrix.size() {
        let (left, right) = (matrix.at(k, p), matrix.at(k, q));
        matrix.set(k, p, cosine * left - sine * right);
        matrix.set(k, q, sine * left + cosine * right);
    }
    for k in 0..matrix.size() {
        let (upper, lower) = (matrix.at(p, k), matrix.at(q, k));
        matrix.set(p, k, cosine * upper - sine * lower);
        matrix.set(q, k, sine * upper + cosine * lower);
    }
}

/// Whether a pivot is large enough, against its diagonal entry, to divide by. False for NaN.
fn is_pivot(pivot: f64, diagonal: f64) -> bool {
    pivot > RELATIVE_PIVOT * diagonal.abs() && pivot.is_normal()
}

/// The kept columns that enter the least-squares expression of `column` with a coefficient that is not rounding.
fn combination(gram: &SquareMatrix, kept: &[usize], column: usize) -> Vec<usize> {
    let Ok(factor) = Cholesky::factor(&principal(gram, kept)) else {
        return kept.to_vec();
    };
    let right: Vec<f64> = kept.iter().map(|&k| gram.at(k, column)).collect();
    let shares = factor.solve(&right);
    // A coefficient matters through the length it adds to the column, hence the comparison of lengths.
    let length = gram.at(column, column).max(0.0).sqrt();
    kept.iter()
        .zip(shares)
        .filter(|&(&k, share)| share.abs() * gram.at(k, k).sqrt() > RELATIVE_PIVOT.sqrt() * length)
        .map(|(&k, _)| k)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[f64]]) -> SquareMatrix {
        let mut built = SquareMatrix::zeros(rows.len());
        for (i, row) in rows.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                built.set(i, j, value);
            }
        }
        built
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity() {
        let a = matrix(&[&[4.0, 1.0, -2.0], &[1.0, 5.0, 0.5], &[-2.0, 0.5, 9.0]]);
        let product = Cholesky::factor(&a).unwrap().inverse().times(&a);
        for i in 0..3 {
            for j in 0..3 {
                let expected = f64::from(u8::from(i == j));
                assert!((product.at(i, j) - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn solving_returns_the_known_solution() {
        let a = matrix(&[&[4.0, 1.0], &[1.0, 3.0]]);
        let x = Cholesky::factor(&a).unwrap().solve(&a.times_vector(&[2.0, -7.0]));
        assert!((x[0] - 2.0).abs() < 1e-14 && (x[1] + 7.0).abs() < 1e-14);
    }

    #[test]
    fn a_singular_matrix_names_its_column() {
        let a = matrix(&[&[1.0, 0.0, 2.0], &[0.0, 1.0, 3.0], &[2.0, 3.0, 13.0]]);
        let error = Cholesky::factor(&a).unwrap_err();
        assert!(matches!(error, LinearError::NotPositiveDefinite { column: 2, .. }));
    }

    #[test]
    fn eigenvalues_and_condition_of_known_matrices() {
        // The second-difference matrix of size n has eigenvalues 2 − 2·cos(kπ/(n+1)).
        let mut a = SquareMatrix::zeros(12);
        for i in 0..12 {
            a.set(i, i, 2.0);
            if i > 0 {
                a.set(i, i - 1, -1.0);
                a.set(i - 1, i, -1.0);
            }
        }
        for (k, eigenvalue) in (1..).zip(symmetric_eigenvalues(&a)) {
            let expected = 2.0 - 2.0 * (f64::from(k) * std::f64::consts::PI / 13.0).cos();
            assert!((eigenvalue - expected).abs() < 1e-12, "{eigenvalue} and {expected}");
        }
        // Correlation 0.6 in any units: (1 + 0.6)/(1 − 0.6).
        let correlated = matrix(&[&[100.0, 60.0], &[60.0, 100.0]]);
        let in_other_units = matrix(&[&[1e6, 0.6], &[0.6, 1e-6]]);
        assert!((condition_number(&correlated) - 4.0).abs() < 1e-12);
        assert!((condition_number(&in_other_units) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_matrix_with_nan_is_an_error_not_a_result() {
        assert!(Cholesky::factor(&matrix(&[&[f64::NAN]])).is_err());
    }

    #[test]
    fn zero_and_collinear_columns_are_split_off_with_their_parts() {
        // Columns: a, zero, b, a − 2b, c.
        let data: [[f64; 3]; 5] =
            [[1.0, 2.0, 1.0], [-1.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 2.0, 5.0], [1.0, 1.0, 1.0]];
        let mut gram = SquareMatrix::zeros(5);
        for [a, b, c] in data {
            gram.add_outer(1.0, &[a, 0.0, b, a - 2.0 * b, c]);
        }
        let split = split_columns(&gram);
        assert_eq!(split.kept, [0, 2, 4]);
        let zero = DependentColumn { column: 1, made_of: vec![] };
        let mixed = DependentColumn { column: 3, made_of: vec![0, 2] };
        assert_eq!(split.dependent, [zero, mixed]);
    }
}
