//! A normal function value plus a Student-t residual.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use posteria_linalg::{dot, exp, scaled_erfc};

use super::mixture::LogSum;
use crate::density::StudentT;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};

/// X + E with X ~ N(0, spread²) and E ~ t_ν(0, scale²), independent, for one ν.
///
/// A t is a scale mixture: given λ ~ Gamma(ν/2, rate ν/2) the sum is N(0, spread² + scale²/λ)
/// [Andrews & Mallows 1974], so density and distribution function are integrals over u = log λ of
/// normal ones. The trapezoid rule converges exponentially for them: integrands are analytic in
/// a strip, and no maximum is narrower than √(2/(ν+1)). Terms are positive, so tails keep their
/// digits: relative errors stay below 1e-11.
#[derive(Clone, Copy, Debug)]
pub(super) struct NormalPlusStudentT {
    student_t: StudentT,
    /// Spacing of u.
    step: f64,
    /// Log of spacing and normalisation of the gamma density.
    log_constant: f64,
    /// Largest u that counts.
    highest: f64,
}

/// Spacing of u in units of the narrowest maximum, and at most.
const STEP: f64 = 0.65;
const LARGEST_STEP: f64 = 0.3;

/// Terms are left out where they are smaller than others by exp of this.
const DEPTH: f64 = 30.0;

/// Most of the scale of the residual that the spread may be; where that is more, the
/// residual does not show.
const LARGEST_RATIO: f64 = 1e140;

/// One value of λ.
struct Node {
    log_weight: f64,
    /// √(spread² + scale²/λ) in units of the scale.
    sd: f64,
}

impl NormalPlusStudentT {
    /// `None` unless `dof` is positive and finite.
    pub(super) fn new(dof: f64) -> Option<Self> {
        let student_t = StudentT::new(0.0, 1.0, dof).ok()?;
        let shape = 0.5 * dof;
        let step = (STEP / (shape + 0.5).sqrt()).min(LARGEST_STEP);
        let log_constant = shape * shape.ln() - ln_gamma(shape) + step.ln();
        // shape·(λ - log λ - 1) exceeds 40 beyond.
        let rest = 40.0 / shape;
        let highest = ((2.0 * rest).sqrt() + rest).ln_1p();
        Some(NormalPlusStudentT { student_t, step, log_constant, highest })
    }

    /// Degrees of freedom.
    pub(super) fn dof(&self) -> f64 {
        self.student_t.dof()
    }

    /// Whether the spread shows in no digit at `y`, both in units of the scale.
    fn is_plain(&self, ratio: f64, y: f64) -> bool {
        ratio * (self.dof() + 2.0) <= 3e-9 * y.abs().max(1.0)
    }

    /// The λ that count at `y`, where terms fall off as exp(`decay` u) to the left.
    fn nodes(&self, ratio: f64, y: f64, decay: f64) -> impl Iterator<Item = Node> {
        let dof = self.dof();
        let (variance, y) = (ratio * ratio, y.abs());
        // Far out in the tail the integrand is largest near λ = (ν+1)/y².
        let peak = ((dof + 1.0) / (y * y)).ln().clamp(-690.0, 0.0);
        let first = ((peak - 1.0 - DEPTH / decay).max(-700.0) / self.step).floor();
        // Beyond, normal densities are smaller than at the peak by more than 1e-19.
        let most = 45.0 + 0.5 * (dof + 1.0) * (1.0 - peak);
        let beyond = most / (0.5 * y * y - most * variance);
        let highest = if beyond > 0.0 { beyond.ln().min(self.highest) } else { self.highest };
        let count = ((highest / self.step).ceil() - first).max(1.0) as usize;
        let (growth, shape) = (self.step.exp(), 0.5 * dof);
        let (step, log_constant) = (self.step, self.log_constant);
        let mut lambda = (first * step).exp();
        (0..=count).map(move |index| {
            let u = (first + index as f64) * step;
            let log_weight = shape * (u - lambda) + log_constant;
            let sd = (variance + lambda.recip()).sqrt();
            lambda *= growth;
            Node { log_weight, sd }
        })
    }

    /// Log density at `y`.
    pub(super) fn log_density(&self, spread: f64, scale: f64, y: f64) -> f64 {
        let (ratio, z) = (ratio(spread, scale), y / scale);
        if self.is_plain(ratio, z) {
            return self.student_t.log_density(z) - scale.ln();
        }
        let mut sum = LogSum::EMPTY;
        for Node { log_weight, sd } in self.nodes(ratio, z, 0.5 * (self.dof() + 1.0)) {
            let z = z / sd;
            sum.add(log_weight - 0.5 * z * z - sd.ln());
        }
        sum.value() - LOG_SQRT_2PI - scale.ln()
    }

    /// Distribution function and density at `y`.
    pub(super) fn at(&self, spread: f64, scale: f64, y: f64) -> (f64, f64) {
        let (ratio, z) = (ratio(spread, scale), y / scale);
        if self.is_plain(ratio, z) {
            return (self.student_t.cdf(z), self.student_t.log_density(z).exp() / scale);
        }
        let (mut below, mut density) = (0.0, 0.0);
        let mut nodes = self.nodes(ratio, z, 0.5 * self.dof());
        let mut panel = Panel::default();
        while panel.fill(&mut nodes, FRAC_1_SQRT_2 * z.abs()) {
            let (own, slope) = panel.sums();
            below += own;
            density += slope;
        }
        (if y > 0.0 { 1.0 - below } else { below }, density / scale)
    }
}

/// Nodes whose terms are found together.
const PANEL: usize = 32;

/// Some nodes λ with weights w and deviations s, at ζ = |y|/√2 in units of the scale. Since
/// Φ(-|y|/s) = ½ erfc(ζ/s), both terms of a node have the factor w exp(-ζ²/s²).
struct Panel {
    count: usize,
    factors: [f64; PANEL],
    arguments: [f64; PANEL],
    inverse_sds: [f64; PANEL],
}

impl Default for Panel {
    fn default() -> Self {
        let [factors, arguments, inverse_sds] = [[0.0; PANEL]; 3];
        Panel { count: 0, factors, arguments, inverse_sds }
    }
}

impl Panel {
    /// Takes the next nodes; whether there were any.
    fn fill(&mut self, nodes: &mut impl Iterator<Item = Node>, zeta: f64) -> bool {
        self.count = 0;
        for Node { log_weight, sd } in nodes.take(PANEL) {
            let inverse = sd.recip();
            let argument = zeta * inverse;
            self.factors[self.count] = log_weight - argument * argument;
            self.arguments[self.count] = argument;
            self.inverse_sds[self.count] = inverse;
            self.count += 1;
        }
        self.count > 0
    }

    /// Sums of the distribution functions and of the densities.
    fn sums(&mut self) -> (f64, f64) {
        let factors = &mut self.factors[..self.count];
        let complements = &mut self.arguments[..self.count];
        exp(factors);
        scaled_erfc(complements);
        let densities = dot(factors, &self.inverse_sds[..self.count]);
        (0.5 * dot(factors, complements), 0.5 * FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * densities)
    }
}

/// The spread in units of the scale; not a number if one of them is not.
fn ratio(spread: f64, scale: f64) -> f64 {
    let ratio = spread / scale;
    if ratio > LARGEST_RATIO { LARGEST_RATIO } else { ratio }
}
