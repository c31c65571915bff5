//! Climb the lower bound: responsibilities given parameters, parameters given responsibilities.

use posteria_linalg::Matrix;

use super::spec::Mixture;
use crate::density::special::{LOG_SQRT_2PI, digamma, ln_gamma, log_sum_exp};
use crate::density::{NormalWishart, ParameterError};

/// Rounds after which a climb ends even if the bound still rises.
const MOST_ROUNDS: usize = 10_000;
/// A climb ends when a round raises the bound by less than this part of it.
const TOLERANCE: f64 = 1e-11;

/// The prior of all components on the standardised scale.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    pub(super) components: usize,
    pub(super) concentration: f64,
    pub(super) component: NormalWishart,
}

impl Prior {
    pub(super) fn new(model: &Mixture, dim: usize) -> Result<Self, ParameterError> {
        let variance = model.dof * model.scale * model.scale;
        let inverse =
            Matrix::from_fn(dim, dim, |row, column| if row == column { variance } else { 0.0 });
        let dof = dim as f64 - 1.0 + model.dof;
        let component = NormalWishart::new(vec![0.0; dim], model.mean_rows, inverse, dof)?;
        Ok(Prior { components: model.components, concentration: model.concentration, component })
    }
}

/// A climb on some rows.
#[derive(Clone, Debug)]
pub(super) struct Ascent<'a> {
    /// Row by row.
    rows: &'a [f64],
    dim: usize,
    prior: &'a Prior,
    /// q(z_i = k) at i · components + k.
    responsibilities: Vec<f64>,
    /// -Σ q(z) log q(z) of the responsibilities.
    entropy: f64,
    /// Parameters of q(π) and q(μ_k, Λ_k).
    pub(super) concentrations: Vec<f64>,
    pub(super) components: Vec<NormalWishart>,
    /// The bound after every round.
    pub(super) bounds: Vec<f64>,
}

impl<'a> Ascent<'a> {
    /// Starts from every row being in one component; the parameters follow.
    pub(super) fn from_assignment(
        rows: &'a [f64],
        prior: &'a Prior,
        assignment: &[usize],
    ) -> Result<Self, ParameterError> {
        let mut responsibilities = vec![0.0; assignment.len() * prior.components];
        for (row, component) in assignment.iter().enumerate() {
            responsibilities[row * prior.components + component] = 1.0;
        }
        let mut ascent = Ascent {
            rows,
            dim: prior.component.dim(),
            prior,
            responsibilities,
            entropy: 0.0,
            concentrations: Vec::new(),
            components: Vec::new(),
            bounds: Vec::new(),
        };
        ascent.find_parameters()?;
        Ok(ascent)
    }

    /// Starts from parameters that were found on other rows.
    pub(super) fn from_parameters(
        rows: &'a [f64],
        prior: &'a Prior,
        concentrations: Vec<f64>,
        components: Vec<NormalWishart>,
    ) -> Result<Self, ParameterError> {
        let dim = prior.component.dim();
        let responsibilities = vec![0.0; rows.len() / dim * prior.components];
        let (entropy, bounds) = (0.0, Vec::new());
        let mut ascent = Ascent {
            rows,
            dim,
            prior,
            responsibilities,
            entropy,
            concentrations,
            components,
            bounds,
        };
        ascent.find_responsibilities();
        ascent.find_parameters()?;
        Ok(ascent)
    }

    /// Climbs until nothing is gained.
    pub(super) fn climb(mut self) -> Result<Self, ParameterError> {
        for _ in 0..MOST_ROUNDS {
            self.find_responsibilities();
            self.find_parameters()?;
            if let [.., before, after] = self.bounds[..]
                && after - before <= TOLERANCE * (1.0 + after.abs())
            {
                break;
            }
        }
        Ok(self)
    }

    pub(super) fn bound(&self) -> f64 {
        self.bounds.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    #[cfg(test)]
    pub(super) fn responsibilities(&self) -> &[f64] {
        &self.responsibilities
    }

    /// q(z) ∝ exp E log p(x, z) [Bishop 2006, eq. 10.46].
    pub(super) fn find_responsibilities(&mut self) {
        let constants = constants(&self.concentrations, &self.components);
        let mut workspace = vec![0.0; self.dim];
        self.entropy = 0.0;
        let each = self.responsibilities.chunks_exact_mut(self.prior.components);
        for (x, own) in self.rows.chunks_exact(self.dim).zip(each) {
            for ((slot, component), constant) in
                own.iter_mut().zip(&self.components).zip(&constants)
            {
                *slot = constant - 0.5 * component.expected_distance(x, &mut workspace);
            }
            let total = log_sum_exp(own);
            for slot in own {
                let log = *slot - total;
                *slot = log.exp();
                if *slot > 0.0 {
                    self.entropy -= *slot * log;
                }
            }
        }
    }

    /// The best q(π) q(μ, Λ) given the responsibilities [Bishop 2006, eq. 10.57-10.63], and the
    /// bound.
    pub(super) fn find_parameters(&mut self) -> Result<(), ParameterError> {
        let (count, dim) = (self.prior.components, self.dim);
        let mut totals = vec![0.0; count];
        let mut means = vec![0.0; count * dim];
        let shares = || self.responsibilities.chunks_exact(count);
        for (x, own) in self.rows.chunks_exact(dim).zip(shares()) {
            for (k, share) in own.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                totals[k] += share;
                for (mean, x) in means[k * dim..][..dim].iter_mut().zip(x) {
                    *mean += share * x;
                }
            }
        }
        for (mean, total) in means.chunks_exact_mut(dim).zip(&totals) {
            // An empty component has no mean; where it is does not count then.
            let total = if *total > 0.0 { *total } else { 1.0 };
            mean.iter_mut().for_each(|slot| *slot /= total);
        }
        let mut scatters = vec![Matrix::zeros(dim, dim); count];
        let mut off = vec![0.0; dim];
        for (x, own) in self.rows.chunks_exact(dim).zip(shares()) {
            for (k, share) in own.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                for ((slot, x), mean) in off.iter_mut().zip(x).zip(&means[k * dim..]) {
                    *slot = x - mean;
                }
                for column in 0..dim {
                    let factor = share * off[column];
                    let below = &mut scatters[k].column_mut(column)[column..];
                    below.iter_mut().zip(&off[column..]).for_each(|(s, o)| *s += factor * o);
                }
            }
        }
        let prior = &self.prior.component;
        self.components.clear();
        for (k, total) in totals.iter().enumerate() {
            scatters[k].mirror_lower();
            let component = prior.given(*total, &means[k * dim..][..dim], &scatters[k])?;
            self.components.push(component);
        }
        self.concentrations = totals.iter().map(|total| self.prior.concentration + total).collect();
        let bound = self.new_bound();
        self.bounds.push(bound);
        Ok(())
    }

    /// With the parameters at their best for the responsibilities the bound is
    /// H(q(z)) + log ∫ exp(E log p(X, z given θ)) p(θ) dθ, a ratio of normalising constants: all
    /// the terms of [Bishop 2006, eq. 10.70] at once.
    fn new_bound(&self) -> f64 {
        let prior = &self.prior;
        let before = vec![prior.concentration; prior.components];
        let rows = (self.rows.len() / self.dim) as f64;
        let empty = prior.component.log_normalizer();
        let components: f64 = self.components.iter().map(|c| c.log_normalizer() - empty).sum();
        self.entropy + log_beta(&self.concentrations) - log_beta(&before) + components
            - rows * self.dim as f64 * LOG_SQRT_2PI
    }
}

/// E log π_k + ½ E log |Λ_k| - (d/2) log 2π of every component.
pub(super) fn constants(concentrations: &[f64], components: &[NormalWishart]) -> Vec<f64> {
    let total = digamma(concentrations.iter().sum());
    let of = |(concentration, component): (&f64, &NormalWishart)| {
        digamma(*concentration) - total + 0.5 * component.expected_log_determinant()
            - component.dim() as f64 * LOG_SQRT_2PI
    };
    concentrations.iter().zip(components).map(of).collect()
}

/// log Π Γ(α_k) / Γ(Σα).
fn log_beta(concentrations: &[f64]) -> f64 {
    let each: f64 = concentrations.iter().map(|concentration| ln_gamma(*concentration)).sum();
    each - ln_gamma(concentrations.iter().sum())
}
