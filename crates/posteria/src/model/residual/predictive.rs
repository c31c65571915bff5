//! Predict the residuals of new rows by one draw.

use std::ops::Range;

use posteria_linalg::{Cholesky, Matrix};

use super::{Noise, Residual};
use crate::draws::{Layout, Role};
use crate::model::spec::ResidualFamily;
use crate::predict::Family;

/// Where scales, covariance, common scales and degrees of freedom of residuals are in a draw.
#[derive(Clone, Debug)]
pub(in crate::model) struct ResidualPlaces {
    scales: Range<usize>,
    above: Range<usize>,
    covariance: Range<usize>,
    slopes: Range<usize>,
    dof: Range<usize>,
}

impl ResidualPlaces {
    pub(in crate::model) fn new(layout: &Layout) -> Self {
        ResidualPlaces {
            scales: layout.range_of(Role::ResidualScale),
            above: layout.range_of(Role::ResidualScaleAbove),
            covariance: layout.range_of(Role::ResidualCovariance),
            slopes: layout.range_of(Role::ResidualLogSlope),
            dof: layout.range_of(Role::ResidualDof),
        }
    }

    /// Writes what the targets of every row follow: about `location` of a row and target, which is
    /// on the user's scale, with the scales of the row's group by its standardised `input`.
    pub(in crate::model) fn write(
        &self,
        residual: &Residual,
        draw: &[f64],
        location: impl Fn(usize, usize) -> f64,
        input: impl Fn(usize, usize) -> f64,
        parameters: &mut [f64],
    ) {
        let outputs = residual.outputs;
        let width = residual.predictive_family().width();
        if let Noise::Covariance { .. } = residual.noise {
            let values = &draw[self.covariance.clone()];
            let matrix = Matrix::from_fn(outputs, outputs, |r, c| values[r * outputs + c]);
            let factor = Cholesky::new(&matrix);
            for (row, parameters) in parameters.chunks_mut(width).enumerate() {
                for (output, slot) in parameters[..outputs].iter_mut().enumerate() {
                    *slot = location(row, output);
                }
                let mut next = outputs;
                for r in 0..outputs {
                    for c in 0..=r {
                        // A draw that was kept had a covariance that could be factorised.
                        parameters[next] =
                            factor.as_ref().map_or(f64::NAN, |factor| factor.factor()[(r, c)]);
                        next += 1;
                    }
                }
            }
            return;
        }
        let dofs = &draw[self.dof.clone()];
        let each = width / outputs;
        let groups = residual.by.as_ref().map_or(1, |by| by.labels.len());
        for (row, parameters) in parameters.chunks_mut(width).enumerate() {
            let group = residual.by.as_ref().map(|by| by.group(|k| input(row, k)));
            for (output, slot) in parameters.chunks_mut(each).enumerate() {
                slot[0] = location(row, output);
                let (scale, group_dof) = match group {
                    None => (draw[self.scales.start + output], f64::INFINITY),
                    Some(Some(group)) => {
                        (draw[self.scales.start + output * groups + group], f64::INFINITY)
                    }
                    // Values that no training row had: the scale is not known, its prior is.
                    Some(None) => (draw[self.above.start + output], residual.group_dof()),
                };
                let slopes = &draw[self.slopes.clone()];
                slot[1] = scale * residual.factor(slopes, output, |k| input(row, k));
                if each == 3 {
                    slot[2] = match residual.family {
                        ResidualFamily::Normal => group_dof,
                        _ => residual.dof_at(dofs, |k| input(row, k)),
                    };
                }
            }
        }
    }
}

impl Residual {
    /// What targets follow given a draw.
    ///
    /// Normal residuals with separate scales count as Student's t: the scale of a group that no
    /// training row belongs to has its prior, and normal values of unknown inverse gamma
    /// variance are Student's t. (Of t and Laplace residuals such a row has the common scale.)
    pub(in crate::model) fn predictive_family(&self) -> Family {
        let outputs = self.outputs;
        match (&self.noise, self.family) {
            (Noise::Covariance { .. }, _) => Family::MultivariateNormal { outputs },
            (_, ResidualFamily::Normal) if self.by.is_none() => Family::Normal { outputs },
            (_, ResidualFamily::Laplace) => Family::Laplace { outputs },
            _ => Family::StudentT { outputs },
        }
    }
}
