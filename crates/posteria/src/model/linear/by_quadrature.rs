//! Know everything about a regression with independent scales, by quadrature.

use posteria_linalg::{EigenError, Matrix, Singular, dot, matrix_vector, transposed_matrix_vector};

use super::log_integral::log_integral;
use super::scale::ScalePrior;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp};
use crate::model::prior::ScaleDensity;

/// log σ and log a/σ are looked for within these bounds.
const LOG_NOISE: (f64, f64) = (-300.0, 300.0);
const LOG_RATIO: (f64, f64) = (-100.0, 100.0);
/// First looks: two modes of the ratio may be a unit wide, one of the noise given it is all.
const FIRST_NOISE: usize = 64;
const FIRST_RATIO: usize = 800;
/// Nodes whose share is below exp(-LEAST) of the largest are left out of expectations.
const LEAST: f64 = 40.0;

/// The exact posterior of y = b + Xw + e with e ~ N(0, σ²), w ~ N(0, a²), b ~ N(0, c²), where σ²
/// and perhaps a² are inverse gamma (their inverses gamma, as in [Fabricius 1999, §6.2.3]) and c
/// is known.
///
/// Given both scales everything is normal, and what is left is an integral over log σ and
/// log a/σ. With one singular value decomposition X = USVᵀ a value of a/σ costs O(min(n, p)), and
/// any number of values of σ then O(1) each:
///
/// - M = I + (a/σ)²XXᵀ has eigenvalues 1 + (a/σ)²s_i² and 1;
/// - y - b given b is N(0, σ²M), so b̂ = 1ᵀM⁻¹y / 1ᵀM⁻¹1 has variance σ²/1ᵀM⁻¹1 + c² about 0.
#[derive(Clone, Debug)]
pub struct ByQuadrature {
    rotated: Rotated,
    nodes: Vec<Node>,
    log_evidence: f64,
}

/// Both scales, and the posterior mass there.
#[derive(Clone, Copy, Debug)]
struct Node {
    log_noise: f64,
    log_ratio: f64,
    mass: f64,
}

/// A mixture of normal distributions with these weights, means and standard deviations.
#[derive(Clone, Debug, PartialEq)]
pub struct NormalMixture {
    components: Vec<[f64; 3]>,
}

impl NormalMixture {
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.components.iter().map(|[mass, mean, _]| mass * mean).sum()
    }

    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        let centre = self.mean();
        let square = |[mass, mean, sd]: &[f64; 3]| mass * ((mean - centre).powi(2) + sd * sd);
        self.components.iter().map(square).sum::<f64>().sqrt()
    }

    /// Log density at `y`.
    pub fn log_density(&self, y: f64) -> f64 {
        let term = |[mass, mean, sd]: &[f64; 3]| {
            let z = (y - mean) / sd;
            mass.ln() - sd.ln() - 0.5 * z * z - LOG_SQRT_2PI
        };
        log_sum_exp(&self.components.iter().map(term).collect::<Vec<_>>())
    }
}

impl ByQuadrature {
    /// The posterior for the rows of `x` (without a column for the intercept) and `targets`;
    /// `intercept` is the standard deviation c of an intercept, if there is one.
    ///
    /// # Errors
    /// [`EigenError`] if the columns have no singular values.
    ///
    /// # Panics
    /// If there is not one target per row.
    pub(super) fn new(
        x: &Matrix,
        targets: &[f64],
        intercept: Option<f64>,
        weights: ScalePrior,
        residual: ScaleDensity,
    ) -> Result<Self, EigenError> {
        let rotated = Rotated::new(x, targets, intercept)?;
        let mut nodes = Vec::new();
        let log_evidence = match weights {
            ScalePrior::Sampled(prior) if x.columns() > 0 => {
                let given_ratio = |log_ratio: f64| {
                    let moments = rotated.moments(log_ratio);
                    log_integral(
                        |log_noise| {
                            rotated.log_density(&moments, log_noise)
                                + residual.log_density_of_log_scale(log_noise)
                                + prior.log_density_of_log_scale(log_noise + log_ratio)
                        },
                        LOG_NOISE,
                        FIRST_NOISE,
                    )
                };
                let outer = log_integral(
                    |log_ratio| given_ratio(log_ratio).log_integral,
                    LOG_RATIO,
                    FIRST_RATIO,
                );
                for (log_ratio, share) in outer.points.iter().zip(&outer.log_shares) {
                    if *share > outer.log_integral - LEAST {
                        let inner = given_ratio(*log_ratio);
                        let add = share - inner.log_integral - outer.log_integral;
                        for (log_noise, share) in inner.points.iter().zip(&inner.log_shares) {
                            let (log_noise, log_ratio) = (*log_noise, *log_ratio);
                            nodes.push(Node { log_noise, log_ratio, mass: (share + add).exp() });
                        }
                    }
                }
                outer.log_integral
            }
            fixed => {
                let log_scale = match fixed {
                    ScalePrior::Fixed(scale) => scale.ln(),
                    ScalePrior::Sampled(_) => 0.0,
                };
                let grid = log_integral(
                    |log_noise| {
                        let moments = rotated.moments(log_scale - log_noise);
                        rotated.log_density(&moments, log_noise)
                            + residual.log_density_of_log_scale(log_noise)
                    },
                    LOG_NOISE,
                    FIRST_RATIO,
                );
                for (log_noise, share) in grid.points.iter().zip(&grid.log_shares) {
                    let (log_noise, log_ratio) = (*log_noise, log_scale - log_noise);
                    let mass = (share - grid.log_integral).exp();
                    nodes.push(Node { log_noise, log_ratio, mass });
                }
                grid.log_integral
            }
        };
        nodes.retain(|node| node.mass > (-LEAST).exp());
        let total: f64 = nodes.iter().map(|node| node.mass).sum();
        nodes.iter_mut().for_each(|node| node.mass /= total);
        Ok(ByQuadrature { rotated, nodes, log_evidence })
    }

    /// Log evidence: log of the integral of prior × likelihood.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// Posterior expectation of a function of log σ and log a.
    pub fn expectation(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        let term = |node: &Node| node.mass * f(node.log_noise, node.log_noise + node.log_ratio);
        self.nodes.iter().map(term).sum()
    }

    /// Posterior of the output b + Σ x_k w_k at a row of columns `x`, without noise.
    ///
    /// # Panics
    /// If there is not one entry per column.
    pub fn output(&self, x: &[f64]) -> NormalMixture {
        self.combination(true, x, |_| 0.0)
    }

    /// Posterior of Σ c_k w_k, without the intercept.
    ///
    /// # Panics
    /// If there is not one entry per column.
    pub fn weights(&self, c: &[f64]) -> NormalMixture {
        self.combination(false, c, |_| 0.0)
    }

    /// Posterior predictive distribution of the target of a new row with columns `x`.
    ///
    /// # Panics
    /// If there is not one entry per column.
    pub fn predictive(&self, x: &[f64]) -> NormalMixture {
        self.combination(true, x, |log_noise| (2.0 * log_noise).exp())
    }

    fn combination(&self, level: bool, x: &[f64], noise: impl Fn(f64) -> f64) -> NormalMixture {
        let row = self.rotated.row(x);
        let components = self.nodes.iter().map(|node| {
            let (mean, variance) = self.rotated.given(node, &row, level);
            [node.mass, mean, (variance + noise(node.log_noise)).sqrt()]
        });
        NormalMixture { components: components.collect() }
    }
}

/// Targets and the column of ones in the coordinates of the singular vectors. With an intercept
/// the targets are less their mean, which goes to b: large means cancel no digits.
#[derive(Clone, Debug)]
struct Rotated {
    rows: f64,
    intercept: Option<f64>,
    mean: f64,
    squares: Vec<f64>,
    y: Vec<f64>,
    ones: Vec<f64>,
    /// Inner products of what the singular vectors leave over: yᵀy, yᵀ1, 1ᵀ1.
    over: [f64; 3],
    right: Matrix,
    values: Vec<f64>,
}

/// What a value of a/σ gives.
struct Moments {
    log_determinant: f64,
    /// 1ᵀM⁻¹1
    ones: f64,
    /// b̂, less the mean of the targets.
    level: f64,
    /// (y - b̂)ᵀM⁻¹(y - b̂)
    misfit: f64,
}

/// A row of columns: its coordinates, and the square of what they leave over.
struct Row {
    along: Vec<f64>,
    over: f64,
}

impl Rotated {
    fn new(x: &Matrix, targets: &[f64], intercept: Option<f64>) -> Result<Self, EigenError> {
        assert_eq!(x.rows(), targets.len(), "one target per row");
        let rows = targets.len() as f64;
        let singular = Singular::new(x)?;
        let mean = intercept.map_or(0.0, |_| targets.iter().sum::<f64>() / rows);
        let split = |values: &mut Vec<f64>| {
            let mut along = vec![0.0; singular.values().len()];
            transposed_matrix_vector(singular.left(), values, &mut along);
            let mut within = vec![0.0; values.len()];
            matrix_vector(singular.left(), &along, &mut within);
            values.iter_mut().zip(&within).for_each(|(value, within)| *value -= within);
            along
        };
        let mut y: Vec<f64> = targets.iter().map(|target| target - mean).collect();
        let mut ones = vec![1.0; targets.len()];
        let (along_y, along_ones) = (split(&mut y), split(&mut ones));
        Ok(Rotated {
            rows,
            intercept,
            mean,
            squares: singular.values().iter().map(|s| s * s).collect(),
            y: along_y,
            ones: along_ones,
            over: [dot(&y, &y), dot(&y, &ones), dot(&ones, &ones)],
            right: singular.right().clone(),
            values: singular.values().to_vec(),
        })
    }

    fn moments(&self, log_ratio: f64) -> Moments {
        let ratio = (2.0 * log_ratio).exp();
        let [mut yy, mut yo, mut oo] = self.over;
        let mut log_determinant = 0.0;
        for ((square, y), o) in self.squares.iter().zip(&self.y).zip(&self.ones) {
            let eigenvalue = 1.0 + ratio * square;
            log_determinant += eigenvalue.ln();
            yy += y * y / eigenvalue;
            yo += y * o / eigenvalue;
            oo += o * o / eigenvalue;
        }
        if self.intercept.is_none() {
            return Moments { log_determinant, ones: 0.0, level: 0.0, misfit: yy };
        }
        let level = yo / oo;
        let [over_yy, over_yo, over_oo] = self.over;
        let mut misfit = (over_yy - 2.0 * level * over_yo + level * level * over_oo).max(0.0);
        for ((square, y), o) in self.squares.iter().zip(&self.y).zip(&self.ones) {
            misfit += (y - level * o).powi(2) / (1.0 + ratio * square);
        }
        Moments { log_determinant, ones: oo, level, misfit }
    }

    /// log N(y; 0, σ²M + c²11ᵀ).
    fn log_density(&self, moments: &Moments, log_noise: f64) -> f64 {
        let precision = (-2.0 * log_noise).exp();
        let mut value = -self.rows * (LOG_SQRT_2PI + log_noise)
            - 0.5 * (moments.log_determinant + precision * moments.misfit);
        if let Some(sd) = self.intercept {
            let share = precision * moments.ones * sd * sd;
            let level = moments.level + self.mean;
            // b̂²/(σ²/1ᵀM⁻¹1 + c²).
            let square = precision * moments.ones * level * level / (1.0 + share);
            value -= 0.5 * (share.ln_1p() + square);
        }
        value
    }

    fn row(&self, x: &[f64]) -> Row {
        assert_eq!(x.len(), self.right.rows(), "one entry per column");
        let mut along = vec![0.0; self.values.len()];
        transposed_matrix_vector(&self.right, x, &mut along);
        let mut rest = vec![0.0; x.len()];
        matrix_vector(&self.right, &along, &mut rest);
        let over = x.iter().zip(&rest).map(|(x, within)| (x - within).powi(2)).sum();
        Row { along, over }
    }

    /// Mean and variance of Σ x_k w_k, plus b if so told, given both scales.
    fn given(&self, node: &Node, row: &Row, level: bool) -> (f64, f64) {
        let ratio = (2.0 * node.log_ratio).exp();
        let scale = (2.0 * (node.log_noise + node.log_ratio)).exp();
        // Along v_i, w given b has mean (a/σ)²s_i uᵢᵀ(y - b)/m_i and variance a²/m_i.
        let (mut of_y, mut of_ones, mut variance) = (0.0, 0.0, scale * row.over);
        for (i, x) in row.along.iter().enumerate() {
            let eigenvalue = 1.0 + ratio * self.squares[i];
            let gain = x * ratio * self.values[i] / eigenvalue;
            of_y += gain * self.y[i];
            of_ones += gain * self.ones[i];
            variance += x * x * scale / eigenvalue;
        }
        let Some(sd) = self.intercept else { return (of_y, variance) };
        let moments = self.moments(node.log_ratio);
        let told = (-2.0 * node.log_noise).exp() * moments.ones;
        let precision = sd.powi(-2) + told;
        // b less the mean of the targets, which its prior pulls to -mean.
        let b = (told * moments.level - self.mean / (sd * sd)) / precision;
        let slope = if level { 1.0 - of_ones } else { -of_ones };
        let shift = if level { self.mean } else { 0.0 };
        (of_y + shift + slope * b, variance + slope * slope / precision)
    }
}
