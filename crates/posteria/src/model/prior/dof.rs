//! The full conditional of degrees of freedom on a grid.

use crate::density::special::{ln_gamma, ln_gamma_half_step};
use crate::density::{Categorical, ParameterError, draw_by_log_weights};
use crate::random::Stream;

/// Degrees of freedom with a categorical prior on a grid of values, and room for their full
/// conditional. Call [`DofGrid::begin`], add every group that shares the degrees of freedom,
/// then [`DofGrid::draw`]:
///
/// - Student t values, one or several groups, each with its own scale (`cond_t_cat`,
///   `cond_gt_cat`);
/// - variances with an inverse gamma level above them (`cond_invgam_cat`, `cond_ginvgam_cat`).
#[derive(Clone, Debug)]
pub struct DofGrid {
    dofs: Vec<f64>,
    log_prior: Vec<f64>,
    /// log Γ((ν+1)/2) - log Γ(ν/2) - ½ log νπ.
    student_t_constants: Vec<f64>,
    /// (ν/2) log(ν/2) - log Γ(ν/2).
    inverse_gamma_constants: Vec<f64>,
    log_weights: Vec<f64>,
}

impl DofGrid {
    /// A grid of degrees of freedom and the prior of its indices.
    ///
    /// # Errors
    /// [`ParameterError`] unless all values are positive and finite and as many as the prior's.
    pub fn new(dofs: &[f64], prior: &Categorical) -> Result<Self, ParameterError> {
        let distribution = "a prior of degrees of freedom";
        if dofs.len() != prior.log_probabilities().len() {
            return Err(ParameterError::WrongLength {
                distribution,
                parameter: "weights",
                expected: dofs.len(),
                given: prior.log_probabilities().len(),
            });
        }
        if let Some(&value) = dofs.iter().find(|dof| !(**dof > 0.0 && dof.is_finite())) {
            let parameter = "degrees of freedom";
            return Err(ParameterError::NotPositive { distribution, parameter, value });
        }
        let student_t =
            |dof: &f64| ln_gamma_half_step(0.5 * dof) - 0.5 * (std::f64::consts::PI * dof).ln();
        let inverse_gamma = |dof: &f64| 0.5 * dof * (0.5 * dof).ln() - ln_gamma(0.5 * dof);
        Ok(DofGrid {
            dofs: dofs.to_vec(),
            log_prior: prior.log_probabilities().to_vec(),
            student_t_constants: dofs.iter().map(student_t).collect(),
            inverse_gamma_constants: dofs.iter().map(inverse_gamma).collect(),
            log_weights: prior.log_probabilities().to_vec(),
        })
    }

    /// The grid.
    pub fn dofs(&self) -> &[f64] {
        &self.dofs
    }

    /// Log prior probability of a value of the grid; -∞ for any other.
    pub fn log_prior_of(&self, dof: f64) -> f64 {
        let index = self.dofs.iter().position(|value| value.to_bits() == dof.to_bits());
        index.map_or(f64::NEG_INFINITY, |index| self.log_prior[index])
    }

    /// Starts a conditional at the prior.
    pub fn begin(&mut self) {
        self.log_weights.copy_from_slice(&self.log_prior);
    }

    /// Adds the log density, times β, of `values` ~ t_ν(0, scale²).
    pub fn add_student_t(&mut self, values: &[f64], scale: f64, inverse_temperature: f64) {
        let count = values.len() as f64;
        let log_scale = scale.ln();
        for ((weight, dof), constant) in
            self.log_weights.iter_mut().zip(&self.dofs).zip(&self.student_t_constants)
        {
            let unit = (scale * dof.sqrt()).recip();
            let logs: f64 = values.iter().map(|value| (value * unit).powi(2).ln_1p()).sum();
            let log_density = count * (constant - log_scale) - 0.5 * (dof + 1.0) * logs;
            *weight += inverse_temperature * log_density;
        }
    }

    /// Adds the log density, times β, of variances v_k ~ Inv-gamma(scale², ν), given as
    /// log √v_k. Terms without ν are left out.
    pub fn add_log_scales(
        &mut self,
        log_scales: impl IntoIterator<Item = f64>,
        scale: f64,
        inverse_temperature: f64,
    ) {
        let log_scale_above = scale.ln();
        let (mut count, mut sum) = (0.0, 0.0);
        for log_scale in log_scales {
            // log q - q with q = scale²/v_k.
            let log_ratio = 2.0 * (log_scale_above - log_scale);
            count += 1.0;
            sum += log_ratio - log_ratio.exp();
        }
        for ((weight, dof), constant) in
            self.log_weights.iter_mut().zip(&self.dofs).zip(&self.inverse_gamma_constants)
        {
            *weight += inverse_temperature * (count * constant + 0.5 * dof * sum);
        }
    }

    /// The conditional log probabilities of what was added since [`DofGrid::begin`].
    #[cfg(test)]
    pub fn log_probabilities(&mut self) -> &[f64] {
        crate::density::normalize_log_weights(&mut self.log_weights);
        &self.log_weights
    }

    /// Draws the index of a value of the grid; the conditional must begin anew after it. `None`
    /// if what was added is not finite.
    pub fn draw(&mut self, stream: &mut Stream) -> Option<usize> {
        draw_by_log_weights(&mut self.log_weights, stream)
    }
}

/// Where degrees of freedom come from.
#[derive(Clone, Debug)]
pub enum DofSource {
    /// Known.
    Fixed(f64),
    /// One of a grid of values, at this entry of the state.
    Sampled {
        /// Entry of the state.
        slot: usize,
        /// The values with their prior, and room for their conditional.
        grid: DofGrid,
    },
}

impl DofSource {
    /// The present value.
    pub fn value(&self, state: &[f64]) -> f64 {
        match self {
            DofSource::Fixed(dof) => *dof,
            DofSource::Sampled { slot, .. } => state[*slot],
        }
    }

    /// Log prior probability of the present value; 0 where it is known.
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        match self {
            DofSource::Fixed(_) => 0.0,
            DofSource::Sampled { slot, grid } => grid.log_prior_of(state[*slot]),
        }
    }

    /// Draws a value from the prior into the state.
    pub fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let DofSource::Sampled { slot, grid } = self {
            let mut grid = grid.clone();
            grid.begin();
            if let Some(index) = grid.draw(stream) {
                state[*slot] = grid.dofs()[index];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_counts_follow;
    use crate::density::special::log_sum_exp;
    use crate::density::{InverseGamma, StudentT};
    use crate::random::{Purpose, Seed};

    const DOFS: [f64; 5] = [1.0, 2.0, 4.0, 10.0, 1e5];
    const WEIGHTS: [f64; 5] = [1.0, 2.0, 3.0, 2.0, 2.0];
    const GROUPS: [(&[f64], f64); 2] = [(&[0.3, -1.2, 2.5], 0.8), (&[0.1, 5.0], 2.0)];

    fn grid() -> DofGrid {
        DofGrid::new(&DOFS, &Categorical::new(&WEIGHTS).unwrap()).unwrap()
    }

    /// Exact conditional from prior weights and a log likelihood of ν.
    fn exact(likelihood: impl Fn(f64) -> f64) -> Vec<f64> {
        let logs: Vec<f64> =
            DOFS.iter().zip(WEIGHTS).map(|(dof, w)| w.ln() + likelihood(*dof)).collect();
        let total = log_sum_exp(&logs);
        logs.iter().map(|log| (log - total).exp()).collect()
    }

    fn assert_grid(grid: &mut DofGrid, expected: &[f64]) {
        let mut stream = Seed(3).stream(Purpose::Data, [11, 0]);
        let fresh = grid.clone();
        for (log, probability) in grid.log_probabilities().iter().zip(expected) {
            assert!((log.exp() - probability).abs() < 1e-10, "{} {probability}", log.exp());
        }
        let mut counts = [0; 5];
        for _ in 0..20_000 {
            let mut once = fresh.clone();
            counts[once.draw(&mut stream).unwrap()] += 1;
        }
        assert_counts_follow(&counts, expected);
    }

    #[test]
    fn conditional_given_student_t_groups_is_exact() {
        for beta in [1.0, 0.3, 0.0] {
            let mut grid = grid();
            grid.begin();
            for (values, scale) in GROUPS {
                grid.add_student_t(values, scale, beta);
            }
            let expected = exact(|dof| {
                let log_density = |values: &[f64], scale: f64| -> f64 {
                    let t = StudentT::new(0.0, scale, dof).unwrap();
                    values.iter().map(|x| t.log_density(*x)).sum()
                };
                GROUPS.iter().map(|(values, scale)| beta * log_density(values, *scale)).sum()
            });
            assert_grid(&mut grid, &expected);
        }
    }

    #[test]
    fn conditional_given_variances_is_exact() {
        // Log scales near their level: several degrees of freedom remain probable.
        let groups: [(&[f64], f64); 2] = [(&[-0.4, 0.3, 0.1, -0.2], 1.1), (&[0.5, 0.9], 2.0)];
        for beta in [1.0, 0.3, 0.0] {
            let mut grid = grid();
            grid.begin();
            for (log_scales, scale) in groups {
                grid.add_log_scales(log_scales.iter().copied(), scale, beta);
            }
            let expected = exact(|dof| {
                let log_density = |log_scales: &[f64], scale: f64| -> f64 {
                    let level = InverseGamma::new(scale, dof).unwrap();
                    log_scales.iter().map(|l| level.log_density((2.0 * l).exp())).sum()
                };
                groups.iter().map(|(logs, scale)| beta * log_density(logs, *scale)).sum()
            });
            assert!(expected.iter().filter(|p| **p > 0.05).count() >= 3, "{expected:?}");
            for (log, probability) in grid.log_probabilities().iter().zip(&expected) {
                assert!((log.exp() - probability).abs() < 1e-10, "{} {probability}", log.exp());
            }
        }
    }

    #[test]
    fn the_grid_is_checked() {
        let prior = Categorical::uniform(2).unwrap();
        assert!(DofGrid::new(&[1.0], &prior).is_err());
        assert!(DofGrid::new(&[1.0, 0.0], &prior).is_err());
        let mut grid = grid();
        grid.begin();
        grid.add_student_t(&[f64::NAN], 1.0, 1.0);
        let mut stream = Seed(3).stream(Purpose::Data, [12, 0]);
        assert_eq!(grid.draw(&mut stream), None);
    }
}
