//! The model written out anew: every number with its distribution given those above it.

use posteria_linalg::{Cholesky, Matrix};

use super::super::hierarchy::{Group, MultiplierFamily, Scale};
use super::*;
use crate::density::special::{ln_gamma_multivariate, normal_cdf, regularized_gamma_lower};
use crate::density::{Categorical, Gamma, InverseGamma, Laplace, Normal, StudentT};
use crate::model::prior::{Above, DofSource, Levels, ScaleDensity, Spread};
use crate::model::residual::ResidualDof;

/// What a factor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dof,
    Scale,
    Multiplier,
    Weight,
    Case,
    Target,
}

/// One number of a state, or one target, given what its distribution depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    pub(super) kind: Kind,
    /// Of the entry of the state: of a log scale, the Jacobian is included.
    pub(super) log_density: f64,
    /// Functions of mean zero and unit variance under that distribution, whatever its
    /// parameters: so they have them under the joint distribution too, and scores of different
    /// factors are uncorrelated.
    pub(super) scores: [f64; 2],
}

impl Factor {
    /// From the distribution function: the first two Legendre polynomials of a uniform number.
    pub(super) fn continuous(kind: Kind, log_density: f64, u: f64) -> Self {
        let scores = [12.0_f64.sqrt() * (u - 0.5), 5.0_f64.sqrt() * (6.0 * u * (u - 1.0) + 1.0)];
        Factor { kind, log_density, scores }
    }

    fn normal(kind: Kind, x: f64, scale: f64) -> Self {
        let normal = Normal::new(0.0, scale).unwrap();
        Factor::continuous(kind, normal.log_density(x), normal.cdf(x))
    }

    /// log √v with v ~ Inv-gamma(scale², dof).
    fn log_scale(kind: Kind, log_scale: f64, scale: f64, dof: f64) -> Self {
        let (variance, prior) = ((2.0 * log_scale).exp(), InverseGamma::new(scale, dof).unwrap());
        let log_density = prior.log_density(variance) + (2.0 * variance).ln();
        Factor::continuous(kind, log_density, prior.cdf(variance))
    }

    /// The logarithm of a scale with this prior.
    fn of_prior(log_scale: f64, prior: &ScaleDensity) -> Self {
        let ScaleDensity::LogNormal(normal) = prior else {
            let variance = prior.conjugate();
            return Factor::log_scale(Kind::Scale, log_scale, variance.scale(), variance.dof());
        };
        let log_density = normal.log_density(log_scale.exp()) + log_scale;
        Factor::continuous(Kind::Scale, log_density, normal.cdf(log_scale.exp()))
    }

    /// log √v with v exponential of mean 2.
    fn exponential_log_scale(log_scale: f64) -> Self {
        let variance = (2.0 * log_scale).exp();
        let log_density = -0.5 * variance + variance.ln();
        Factor::continuous(Kind::Multiplier, log_density, -(-0.5 * variance).exp_m1())
    }

    /// One of `values`, all of the same probability.
    fn one_of(values: &[f64], value: f64) -> Self {
        let count = values.len() as f64;
        let index = values.iter().position(|v| v.to_bits() == value.to_bits()).unwrap() as f64;
        let spread = ((count * count - 1.0) / 12.0).sqrt();
        let p = 1.0 / count;
        let first = if index < 0.5 { 1.0 } else { 0.0 };
        let scores = [(index - 0.5 * (count - 1.0)) / spread, (first - p) / (p - p * p).sqrt()];
        Factor { kind: Kind::Dof, log_density: -count.ln(), scores }
    }
}

/// The outputs f at o·n + i.
pub(super) fn outputs(shape: &Shape, inputs: &Matrix, weights: &[f64]) -> Vec<f64> {
    let (rows, hidden) = (inputs.rows(), shape.hidden);
    let (bias, second) = (shape.inputs * hidden, (shape.inputs + 1) * hidden);
    let constant = second + hidden * shape.outputs;
    let direct = constant + shape.outputs;
    let mut outputs = Vec::new();
    for o in 0..shape.outputs {
        for row in 0..rows {
            let x = |k: usize| inputs[(row, k)];
            let mut f = weights[constant + o];
            for h in 0..hidden {
                let sum: f64 = (0..shape.inputs).map(|k| weights[k * hidden + h] * x(k)).sum();
                f += weights[second + h * shape.outputs + o] * (weights[bias + h] + sum).tanh();
            }
            if shape.direct {
                f += (0..shape.inputs)
                    .map(|k| weights[direct + k * shape.outputs + o] * x(k))
                    .sum::<f64>();
            }
            outputs.push(f);
        }
    }
    outputs
}

/// The lower factor of a covariance matrix in a state.
pub(super) fn factor(covariance: &[f64], dim: usize) -> Matrix {
    let matrix = Matrix::from_fn(dim, dim, |row, column| covariance[row * dim + column]);
    Cholesky::new(&matrix).unwrap().factor().clone()
}

/// The factors of weights, their scales and degrees of freedom; with `latent`, also of the
/// multipliers, and of the weights given them.
pub(super) fn weight_factors(posterior: &MlpPosterior, state: &[f64], latent: bool) -> Vec<Factor> {
    let mut factors = Vec::new();
    for group in &posterior.hierarchy.groups {
        if let Scale::Sampled(levels) = &group.scale {
            push_levels(levels, state, &mut factors);
        }
        push_weights(group, posterior.shape.inputs, state, latent, &mut factors);
    }
    factors
}

fn push_levels(levels: &Levels, state: &[f64], factors: &mut Vec<Factor>) {
    let above = match &levels.above {
        Above::Fixed(scale) => *scale,
        Above::Sampled { slot, prior } => {
            factors.push(Factor::of_prior(state[*slot], prior));
            state[*slot].exp()
        }
    };
    if let Spread::InverseGamma(DofSource::Sampled { slot, grid }) = &levels.spread {
        factors.push(Factor::one_of(grid.dofs(), state[*slot]));
    }
    let prior = levels.spread.about(above, state).unwrap();
    for slot in levels.slots.clone() {
        factors.push(Factor::of_prior(state[slot], &prior));
    }
}

/// The scale of the weight at `member` of a group: that of its input where it has one.
pub(super) fn weight_scale(group: &Group, inputs: usize, state: &[f64], member: usize) -> f64 {
    match &group.scale {
        Scale::Fixed(scale) => *scale,
        Scale::Sampled(levels) => {
            let part = if group.per_input { member * inputs / group.members.len() } else { 0 };
            state[levels.slots.start + part].exp()
        }
    }
}

fn push_weights(
    group: &Group,
    inputs: usize,
    state: &[f64],
    latent: bool,
    factors: &mut Vec<Factor>,
) {
    let mut weight_dof = f64::NAN;
    if let Some(multipliers) = &group.multipliers
        && let MultiplierFamily::StudentT(dof) = &multipliers.family
    {
        if let DofSource::Sampled { slot, grid } = dof {
            factors.push(Factor::one_of(grid.dofs(), state[*slot]));
        }
        weight_dof = dof.value(state);
    }
    for (member, weight) in state[group.members.clone()].iter().enumerate() {
        let scale = weight_scale(group, inputs, state, member);
        let Some(multipliers) = &group.multipliers else {
            factors.push(Factor::normal(Kind::Weight, *weight, scale));
            continue;
        };
        let log = state[multipliers.slots.start + member];
        let of_weight = match (&multipliers.family, latent) {
            (_, true) => {
                factors.push(match multipliers.family {
                    MultiplierFamily::Laplace => Factor::exponential_log_scale(log),
                    MultiplierFamily::StudentT(_) => {
                        Factor::log_scale(Kind::Multiplier, log, 1.0, weight_dof)
                    }
                });
                Factor::normal(Kind::Weight, *weight, scale * log.exp())
            }
            (MultiplierFamily::Laplace, false) => {
                let laplace = Laplace::new(0.0, scale).unwrap();
                let log_density = laplace.log_density(*weight);
                Factor::continuous(Kind::Weight, log_density, laplace.cdf(*weight))
            }
            (MultiplierFamily::StudentT(_), false) => {
                let t = StudentT::new(0.0, scale, weight_dof).unwrap();
                Factor::continuous(Kind::Weight, t.log_density(*weight), t.cdf(*weight))
            }
        };
        factors.push(of_weight);
    }
}

/// The factors of residual scales (or covariance), degrees of freedom and slopes.
pub(super) fn residual_factors(posterior: &MlpPosterior, state: &[f64]) -> Vec<Factor> {
    let mut factors = Vec::new();
    let Observed::Real(residual) = &posterior.observed else { return factors };
    match &residual.dof {
        ResidualDof::Fixed(_) => {}
        ResidualDof::Grid { slot, grid } => {
            factors.push(Factor::one_of(grid.dofs(), state[*slot]));
        }
        ResidualDof::Continuous { slot, prior } => {
            let dof = state[*slot];
            let (log_density, cdf) = if prior.limit() > 0.0 {
                // The specification's scale 6 and 3 degrees of freedom, above 2.
                let whole = InverseGamma::new(6.0_f64.sqrt(), 3.0).unwrap();
                let below = whole.cdf(2.0);
                let inside = if dof >= 2.0 { 0.0 } else { f64::NEG_INFINITY };
                let log_density = whole.log_density(dof) - (-below).ln_1p() + inside;
                (log_density, (whole.cdf(dof) - below) / (1.0 - below))
            } else {
                // Shape 2 and mean 20.
                let gamma = Gamma::new(2.0, 10.0).unwrap();
                (gamma.log_density(dof), gamma.cdf(dof))
            };
            factors.push(Factor::continuous(Kind::Dof, log_density, cdf));
        }
    }
    match &residual.noise {
        Noise::Scales { levels, .. } => push_levels(levels, state, &mut factors),
        Noise::Covariance { slots, .. } => {
            push_covariance(&state[slots.clone()], residual.outputs, &mut factors);
        }
    }
    factors.extend(slope_factors(residual, state));
    factors
}

/// Σ is inverse Wishart with scatter Ψ = 6·0.6² I and 6 + O - 1 degrees of freedom. Of the
/// lower factor T of ψΣ⁻¹, the squares of the diagonal are chi-square with decreasing degrees
/// of freedom and the rest is standard normal [Bartlett 1933].
fn push_covariance(covariance: &[f64], dim: usize, factors: &mut Vec<Factor>) {
    let (psi, dof, size) = (6.0 * 0.36_f64, 6.0 + dim as f64 - 1.0, dim as f64);
    let matrix = Matrix::from_fn(dim, dim, |row, column| covariance[row * dim + column]);
    let cholesky = Cholesky::new(&matrix).unwrap();
    let mut inverse = Matrix::zeros(dim, dim);
    cholesky.inverse(&mut inverse);
    let trace: f64 = (0..dim).map(|i| psi * inverse[(i, i)]).sum();
    let log_density = 0.5 * dof * size * (psi / 2.0).ln()
        - ln_gamma_multivariate(dim, 0.5 * dof)
        - 0.5 * (dof + size + 1.0) * cholesky.log_determinant()
        - 0.5 * trace;
    let scaled = Matrix::from_fn(dim, dim, |row, column| psi * inverse[(row, column)]);
    let lower = Cholesky::new(&scaled).unwrap();
    for row in 0..dim {
        for column in 0..=row {
            let t = lower.factor()[(row, column)];
            let u = if row == column {
                regularized_gamma_lower(0.5 * (dof - row as f64), 0.5 * t * t)
            } else {
                normal_cdf(t)
            };
            let log_density = if row + column == 0 { log_density } else { 0.0 };
            factors.push(Factor::continuous(Kind::Scale, log_density, u));
        }
    }
}

impl World {
    /// The factors of the targets; with `latent`, of the κ and of the targets given them.
    pub(super) fn target_factors(
        &self,
        posterior: &MlpPosterior,
        state: &[f64],
        latent: bool,
    ) -> Vec<Factor> {
        let outputs = self.outputs(&state[..self.shape().len()]);
        let (rows, count) = (self.inputs.rows(), self.shape().outputs);
        match &posterior.observed {
            Observed::Outcomes(_) => unreachable!("counts are proved elsewhere"),
            Observed::Binary { signs } => (0..rows)
                .map(|row| {
                    let second = if signs[row] > 0.0 { 1 } else { 0 };
                    class_factor(&[0.0, outputs[row]], second)
                })
                .collect(),
            Observed::Multiclass { codes } => (0..rows)
                .map(|row| {
                    let f: Vec<f64> = (0..count).map(|o| outputs[o * rows + row]).collect();
                    class_factor(&f, codes[row] as usize)
                })
                .collect(),
            Observed::Real(residual) => {
                let noise: Vec<f64> =
                    residual.targets.iter().zip(&outputs).map(|(y, f)| y - f).collect();
                if let Noise::Covariance { slots, .. } = &residual.noise {
                    let lower = factor(&state[slots.clone()], count);
                    return whitened_factors(&lower, &noise, rows);
                }
                let factors = (0..noise.len()).flat_map(|index| {
                    let scale = self.scale(residual, state, index);
                    let kappa = residual.cases.as_ref().map(|cases| state[cases.start + index]);
                    let dof = residual.dof.value(state);
                    residual_factor(
                        residual.family,
                        noise[index],
                        scale,
                        dof,
                        kappa.filter(|_| latent),
                    )
                });
                factors.collect()
            }
        }
    }
}

/// A class with the softmax probabilities of `f`.
fn class_factor(f: &[f64], class: usize) -> Factor {
    let weights: Vec<f64> = f.iter().map(|f| f.exp()).collect();
    let probabilities = Categorical::new(&weights).unwrap();
    let last = f.len() - 1;
    let surprise = if class == last { 1.0 } else { 0.0 } - probabilities.log_density(last).exp();
    Factor {
        kind: Kind::Target,
        log_density: probabilities.log_density(class),
        // Mean zero given f; their variances do not matter.
        scores: [2.0 * surprise, 2.0 * surprise * f[last].tanh()],
    }
}

/// Residuals of several targets with the factor of their covariance.
fn whitened_factors(lower: &Matrix, noise: &[f64], rows: usize) -> Vec<Factor> {
    let mut factors = Vec::new();
    for row in 0..rows {
        let mut z: Vec<f64> = Vec::new();
        for o in 0..lower.rows() {
            let known: f64 = (0..o).map(|c| lower[(o, c)] * z[c]).sum();
            z.push((noise[o * rows + row] - known) / lower[(o, o)]);
            let mut factor = Factor::normal(Kind::Target, z[o], 1.0);
            factor.log_density -= lower[(o, o)].ln();
            factors.push(factor);
        }
    }
    factors
}

fn residual_factor(
    family: ResidualFamily,
    noise: f64,
    scale: f64,
    dof: f64,
    kappa: Option<f64>,
) -> Vec<Factor> {
    match (family, kappa) {
        (ResidualFamily::Normal, _) => vec![Factor::normal(Kind::Target, noise, scale)],
        (ResidualFamily::Laplace, None) => {
            let laplace = Laplace::new(0.0, scale).unwrap();
            let log_density = laplace.log_density(noise);
            vec![Factor::continuous(Kind::Target, log_density, laplace.cdf(noise))]
        }
        (ResidualFamily::Laplace, Some(kappa)) => {
            // 1/κ is exponential with mean 2.
            let log_density = -std::f64::consts::LN_2 - 0.5 / kappa - 2.0 * kappa.ln();
            let u = -(-0.5 / kappa).exp_m1();
            let latent = Factor::continuous(Kind::Case, log_density, u);
            vec![latent, Factor::normal(Kind::Target, noise, scale / kappa.sqrt())]
        }
        (_, None) => {
            let t = StudentT::new(0.0, scale, dof).unwrap();
            vec![Factor::continuous(Kind::Target, t.log_density(noise), t.cdf(noise))]
        }
        (_, Some(kappa)) => {
            let gamma = Gamma::from_shape_rate(0.5 * dof, 0.5 * dof).unwrap();
            let log_density = gamma.log_density(kappa);
            let latent = Factor::continuous(Kind::Case, log_density, gamma.cdf(kappa));
            vec![latent, Factor::normal(Kind::Target, noise, scale / kappa.sqrt())]
        }
    }
}

pub(super) fn log_density(factors: &[Factor]) -> f64 {
    factors.iter().map(|factor| factor.log_density).sum()
}

/// The log density of the factors of one kind.
pub(super) fn log_density_of(kind: Kind, factors: &[Factor]) -> f64 {
    factors.iter().filter(|factor| factor.kind == kind).map(|factor| factor.log_density).sum()
}

/// Functions of mean zero: the scores, and products of those of different factors.
pub(super) fn functions(factors: &[Factor]) -> Vec<f64> {
    let mut functions: Vec<f64> = factors.iter().flat_map(|factor| factor.scores).collect();
    for distance in [1, 3, 8] {
        for (one, other) in factors.iter().zip(factors.iter().skip(distance)) {
            functions.push(one.scores[0] * other.scores[0]);
        }
    }
    functions
}
