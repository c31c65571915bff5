//! Evaluate the likelihood of real targets row by row.

use posteria_linalg::{Cholesky, Matrix};

use super::{Noise, Residual};
use crate::density::special::{LOG_SQRT_2PI, ln_gamma_half_step};
use crate::model::spec::ResidualFamily;
use crate::target::Infeasible;

/// Room for the likelihood of the rows, κ integrated out.
pub(in crate::model) struct ResidualLikelihood {
    row: Vec<f64>,
    /// Degrees of freedom of every group of rows, and the logarithm of what normalises their density.
    constants: Vec<(f64, f64)>,
    covariance: Matrix,
    factor: Cholesky,
}

impl ResidualLikelihood {
    pub(in crate::model) fn new(outputs: usize) -> Self {
        ResidualLikelihood {
            row: vec![0.0; outputs],
            constants: Vec::new(),
            covariance: Matrix::identity(outputs),
            factor: Cholesky::identity(outputs),
        }
    }

    /// Log likelihoods of the rows given `outputs`, o·n + i, on the standardised scale, plus
    /// `log_jacobian` each.
    pub(in crate::model) fn evaluate(
        &mut self,
        residual: &Residual,
        state: &[f64],
        outputs: &[f64],
        log_jacobian: f64,
        log_likelihood: &mut [f64],
    ) -> Result<(), Infeasible> {
        let rows = residual.rows;
        log_likelihood.fill(log_jacobian);
        if let Noise::Covariance { slots, .. } = &residual.noise {
            self.covariance.values_mut().copy_from_slice(&state[slots.clone()]);
            self.factor
                .factorize(&self.covariance)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            let constant =
                residual.outputs as f64 * LOG_SQRT_2PI + 0.5 * self.factor.log_determinant();
            for (row, slot) in log_likelihood.iter_mut().enumerate() {
                for (output, value) in self.row.iter_mut().enumerate() {
                    let index = output * rows + row;
                    *value = residual.targets[index] - outputs[index];
                }
                self.factor.solve_lower(&mut self.row);
                let squares: f64 = self.row.iter().map(|z| z * z).sum();
                *slot += -0.5 * squares - constant;
            }
            return Ok(());
        }
        let constant_of = |dof: f64| match residual.family {
            ResidualFamily::Normal => -LOG_SQRT_2PI,
            ResidualFamily::Laplace => -std::f64::consts::LN_2,
            _ => ln_gamma_half_step(0.5 * dof) - 0.5 * (std::f64::consts::PI * dof).ln(),
        };
        // Rows of a group are not next to each other: one constant for each, known beforehand.
        let dofs = (0..residual.dof_groups()).map(|group| residual.dof.of_group(state, group));
        self.constants.clear();
        self.constants.extend(dofs.map(|dof| (dof, constant_of(dof))));
        for (index, (target, output)) in residual.targets.iter().zip(outputs).enumerate() {
            let log_scale = residual.log_scale(state, index);
            let (dof, constant) = self.constants[residual.dof_group(index)];
            let z = (target - output) * (-log_scale).exp();
            let kernel = log_kernel(residual.family, dof, z);
            log_likelihood[index % rows] += constant - log_scale + kernel;
        }
        Ok(())
    }
}

/// Log density of a residual z in units of its scale, κ integrated out, up to a constant.
pub(super) fn log_kernel(family: ResidualFamily, dof: f64, z: f64) -> f64 {
    match family {
        ResidualFamily::Normal => -0.5 * z * z,
        ResidualFamily::Laplace => -z.abs(),
        _ => -0.5 * (dof + 1.0) * (z * z / dof).ln_1p(),
    }
}
