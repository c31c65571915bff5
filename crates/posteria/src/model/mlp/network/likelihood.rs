//! Say how likely targets are, given the outputs of a network.

use posteria_linalg::Terms;

use crate::model::outcome::Outcomes;

/// Log likelihood of outputs f, up to constants that are the caller's. Slices hold one entry
/// per output and row, at o·n + i.
#[derive(Clone, Copy, Debug)]
pub enum Likelihood<'a> {
    /// -½ Σ p (y - f)².
    Squares {
        /// Targets y.
        targets: &'a [f64],
        /// Precisions p.
        precisions: &'a [f64],
    },
    /// -½ (ν + 1) Σ log(1 + ((y - f)/σ)²/ν).
    StudentT {
        /// Targets y.
        targets: &'a [f64],
        /// Inverse scales 1/σ.
        inverse_scales: &'a [f64],
        /// Degrees of freedom ν.
        dof: f64,
    },
    /// -Σ |y - f|/s; the derivative at y = f is taken as 0.
    Absolute {
        /// Targets y.
        targets: &'a [f64],
        /// Inverse scales 1/s.
        inverse_scales: &'a [f64],
    },
    /// -Σ log(1 + exp(-s f)).
    Logistic {
        /// Signs s: 1 for the event, -1 for its absence.
        signs: &'a [f64],
    },
    /// Σ_i f_{c_i} - log Σ_o exp f_o.
    Softmax {
        /// Class c of every row, counted from 0.
        codes: &'a [u32],
    },
    /// Σ_i log p(y_i given f_i) of counts, durations or ordered classes.
    Outcomes {
        /// They.
        outcomes: &'a Outcomes,
        /// Their shape, infinite of Poisson counts; or their cut points.
        given: &'a [f64],
    },
}

impl Likelihood<'_> {
    /// Panics unless there is one entry per output and row, and every class has an output.
    pub(super) fn check(&self, outputs: usize, rows: usize) {
        let (first, second) = match *self {
            Likelihood::Squares { targets, precisions } => (targets, precisions),
            Likelihood::StudentT { targets, inverse_scales, .. }
            | Likelihood::Absolute { targets, inverse_scales } => (targets, inverse_scales),
            Likelihood::Logistic { signs } => (signs, signs),
            Likelihood::Softmax { codes } => {
                assert_eq!(codes.len(), rows, "one class per row");
                return;
            }
            Likelihood::Outcomes { outcomes, .. } => {
                assert_eq!(outcomes.offsets().len(), rows, "one outcome per row");
                assert_eq!(outputs, 1, "one output");
                return;
            }
        };
        let count = outputs * rows;
        assert!(first.len() == count && second.len() == count, "one entry per output and row");
    }

    /// The log likelihood from the sums and products over all rows.
    pub(super) fn value(&self, terms: &Terms) -> f64 {
        match *self {
            Likelihood::Squares { .. } => -0.5 * terms.sum,
            // The sum is 0, or not finite where a factor of the product is not.
            Likelihood::StudentT { dof, .. } => -0.5 * (dof + 1.0) * terms.product.ln() - terms.sum,
            Likelihood::Absolute { .. } | Likelihood::Outcomes { .. } => -terms.sum,
            Likelihood::Logistic { .. } | Likelihood::Softmax { .. } => {
                -(terms.sum + terms.product.ln())
            }
        }
    }
}
