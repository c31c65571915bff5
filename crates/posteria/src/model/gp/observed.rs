//! Hold the targets of a process, and their likelihood given latent values.

use crate::density::special::log_sum_exp;
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::spec::{Link, ResidualFamily};

/// What was observed.
#[derive(Clone, Debug)]
pub(super) enum Observed {
    /// Real targets with their residual model.
    Real(Box<Residual>),
    /// +1 for rows of the second class, -1 for the first.
    Binary { signs: Vec<f64>, link: Link },
    /// Index of the class of every row.
    Multiclass { codes: Vec<u32>, contrasts: Contrasts },
    /// Counts, durations or ordered classes about the function.
    Outcomes(Box<Outcomes>),
}

impl Observed {
    /// Whether the functions at the rows are sampled: with normal residuals they need not be.
    pub(super) fn needs_latents(&self) -> bool {
        match self {
            Observed::Real(residual) => residual.family != ResidualFamily::Normal,
            _ => true,
        }
    }

    /// Number of latent functions.
    pub(super) fn functions(&self) -> usize {
        match self {
            Observed::Real(residual) => residual.outputs,
            Observed::Binary { .. } | Observed::Outcomes(_) => 1,
            Observed::Multiclass { contrasts, .. } => contrasts.classes - 1,
        }
    }
}

/// Orthonormal contrasts of C classes.
///
/// A softmax does not see what is added to all classes, so with one covariance function for all
/// classes that common part keeps its prior and is integrated out by leaving it away: the
/// function of class c is Σ_j Q_cj g_j with C - 1 independent functions g_j, QᵀQ = I, Qᵀ1 = 0.
#[derive(Clone, Debug)]
pub(super) struct Contrasts {
    pub(super) classes: usize,
}

impl Contrasts {
    /// Q_cj (Helmert): the mean of classes 0..=j against class j + 1.
    pub(super) fn weight(&self, class: usize, contrast: usize) -> f64 {
        let size = (contrast + 1) as f64;
        let unit = (size * (size + 1.0)).sqrt().recip();
        match class {
            class if class <= contrast => unit,
            class if class == contrast + 1 => -size * unit,
            _ => 0.0,
        }
    }

    /// Functions of all classes from those of the contrasts.
    pub(super) fn expand(&self, contrasts: &[f64], classes: &mut [f64]) {
        for (class, slot) in classes.iter_mut().enumerate() {
            let terms = contrasts.iter().enumerate();
            *slot = terms.map(|(j, value)| self.weight(class, j) * value).sum();
        }
    }
}

/// Log probability of class `code` given the functions of all classes.
pub(super) fn log_softmax(classes: &[f64], code: usize) -> f64 {
    classes[code] - log_sum_exp(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrasts_are_orthonormal_and_add_to_zero() {
        let contrasts = Contrasts { classes: 5 };
        for a in 0..4 {
            let sum: f64 = (0..5).map(|class| contrasts.weight(class, a)).sum();
            assert!(sum.abs() < 1e-15);
            for b in 0..4 {
                let product: f64 =
                    (0..5).map(|c| contrasts.weight(c, a) * contrasts.weight(c, b)).sum();
                let expected = if a == b { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-15, "{a} {b}: {product}");
            }
        }
    }
}
