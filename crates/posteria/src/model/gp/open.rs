//! Draw what hyperparameters leave open at training rows.

use posteria_linalg::{Cholesky, Matrix};

use super::marginal::Marginal;
use super::on_device::DevicePoint;
use crate::random::Stream;
use crate::target::Infeasible;

/// Parts of the largest variance that are added in turn to a covariance matrix of functions that
/// rounding left without a factor.
pub(super) const RELATIVE_JITTERS: [f64; 5] = [0.0, 1e-14, 1e-12, 1e-10, 1e-8];

/// Room for joint draws of a function at some training rows.
///
/// Given hyperparameters and targets the function is normal there, and with B of [`Marginal`]
/// its covariance is W^-½ (I - B⁻¹) W^-½: a difference of numbers of the size of the residual
/// variance, however large the variances of the prior are (those of a mean function, say).
pub(super) struct Open {
    /// L⁻¹ of the unit vectors of the rows, L the factor of B; without columns for all rows.
    columns: Matrix,
    /// (B⁻¹)_SS, then the covariance.
    covariance: Matrix,
    factor: Cholesky,
    values: Vec<f64>,
}

impl Open {
    /// Room for `count` of `rows` training rows, or for all of them in their order.
    pub(super) fn new(rows: usize, count: usize) -> Self {
        Open {
            columns: Matrix::zeros(rows, if count == rows { 0 } else { count }),
            covariance: Matrix::zeros(count, count),
            factor: Cholesky::identity(count),
            values: vec![0.0; count],
        }
    }

    /// Adds a joint draw about 0, jitter included, to `means`, one for each of `rows`. `marginal` has factorised B.
    ///
    /// # Errors
    /// [`Infeasible`] if the covariance has no factor; the means are as they were then.
    pub(super) fn add(
        &mut self,
        marginal: &mut Marginal<'_>,
        rows: &[usize],
        stream: &mut Stream,
        means: &mut [f64],
    ) -> Result<(), Infeasible> {
        if let (Some((device, log_parameters)), true) =
            (marginal.device(), rows.len() == self.columns.rows())
        {
            return add_at_all(marginal, (device, log_parameters), stream, means);
        }
        marginal.inverse_among(rows, &mut self.columns, &mut self.covariance)?;
        for column in 0..rows.len() {
            for value in &mut self.covariance.column_mut(column)[column..] {
                *value = -*value;
            }
            self.covariance[(column, column)] += 1.0;
        }
        let mut failure = Infeasible::NotFinite;
        for relative in RELATIVE_JITTERS {
            (0..rows.len()).for_each(|row| self.covariance[(row, row)] += relative);
            match self.factor.factorize(&self.covariance) {
                Ok(()) => {
                    stream.fill_normal(&mut self.values);
                    self.factor.multiply_lower(&mut self.values);
                    for ((mean, value), row) in means.iter_mut().zip(&self.values).zip(rows) {
                        *mean += value / marginal.root(*row);
                    }
                    return Ok(());
                }
                Err(error) => failure = Infeasible::NotPositiveDefinite { pivot: error.pivot },
            }
        }
        Err(failure)
    }
}

/// The same at all rows, by a device.
fn add_at_all(
    marginal: &Marginal<'_>,
    (device, log_parameters): (&DevicePoint<'_>, &[f64]),
    stream: &mut Stream,
    means: &mut [f64],
) -> Result<(), Infeasible> {
    let mut normal = vec![0.0; means.len()];
    stream.fill_normal(&mut normal);
    let (mut failure, mut epsilon) = (Infeasible::NotFinite, 0.0);
    for relative in RELATIVE_JITTERS {
        epsilon += relative;
        let mut values = normal.clone();
        match device.draw_open(log_parameters, epsilon, &mut values) {
            Ok(()) => {
                for (row, (mean, value)) in means.iter_mut().zip(&values).enumerate() {
                    *mean += value / marginal.root(row);
                }
                return Ok(());
            }
            Err(infeasible) => failure = infeasible,
        }
    }
    Err(failure)
}
