//! A linear model and the data that it is conditioned on.

use posteria_linalg::{Matrix, NotPositiveDefinite, symmetric_rank_k, transposed_matrix_vector};

use super::closed_form::ClosedForm;
use super::coefficients::Coefficients;
use super::columns::Columns;
use super::spec::{Linear, WeightPrior};
use super::squares::{MANY_ROWS, Squares};
use super::user_scale::UserScale;
use crate::density::InverseGamma;
use crate::draws::Layout;
use crate::model::outcome::Outcomes;
use crate::model::residual::Residual;
use crate::model::{KernelFactory, ModelError};

/// A linear, logistic, ordinal, softmax, count or duration regression conditioned on a dataset.
///
/// A draw holds, on the user's scale, `intercept`, `weights[input]` and, for a real target, the
/// residual model: `residual_scale` (of normal residuals a standard deviation in the target's
/// unit), `residual_dof`, `case_scale`. For two classes intercept and weights are log odds of the
/// second; for more there are `intercept[class]` and `weights[input, class]`, whose differences
/// between classes are log odds. Of several real targets there are `intercept[target]` and
/// `weights[input, target]`. Of ordered classes there are `weights[input]` and `cut_points[cut]` in place
/// of an intercept: the log odds of a class up to a cut are the cut point less f. With a basis the weights are those of its functions,
/// `weights[function]`. Of counts intercept and weights are those of the logarithm of the rate per unit
/// of exposure, and negative binomial ones have an `overdispersion`. Of durations they are those of the
/// logarithm's location, and `residual_scale` is that of the logarithm. Sampled scales of the weights' prior, `weight_scale` or
/// `relevance[input]`, and `intercept_scale` stay on the standardised scale, where those of
/// different inputs can be compared.
///
/// Log likelihoods are densities of the target in the user's unit, latent κ of the residual model
/// integrated out. The log prior is the density of what is sampled: standardised coefficients
/// and logarithms of scales.
pub struct LinearPosterior {
    /// The design matrix, a column of ones first if there is an intercept.
    pub(super) x: Matrix,
    /// Standardised inputs.
    pub(super) inputs: Matrix,
    pub(super) columns: Columns,
    pub(super) model: Linear,
    pub(super) coefficients: Coefficients,
    pub(super) likelihood: Likelihood,
    pub(super) user: UserScale,
    pub(super) layout: Layout,
    pub(super) kernel: KernelFactory<'static>,
}

pub(super) enum Likelihood {
    Real(Box<Regression>),
    /// +1 for rows of the second class, -1 for the first.
    Logistic(Vec<f64>),
    Softmax {
        codes: Vec<u32>,
        classes: usize,
    },
    Outcomes(Box<Outcomes>),
}

/// What the conditionals of a regression need of the data.
pub(super) struct Regression {
    /// Names of the targets.
    pub(super) targets: Vec<String>,
    pub(super) residual: Residual,
    /// XᵀX.
    pub(super) gram: Matrix,
    /// Xᵀy of every target, one in a column.
    pub(super) moments: Matrix,
    /// Of every target, of many rows with one residual scale each.
    pub(super) squares: Option<Vec<Squares>>,
    pub(super) conjugate: Option<Conjugate>,
}

pub(super) struct Conjugate {
    pub(super) rho: f64,
    /// Prior of the residual variance.
    pub(super) variance: InverseGamma,
    /// Of every target.
    pub(super) closed_forms: Vec<ClosedForm>,
}

impl Regression {
    pub(super) fn new(
        model: &Linear,
        x: &Matrix,
        (names, residual): (&[String], Residual),
    ) -> Result<Self, ModelError> {
        let dim = x.columns();
        let mut gram = Matrix::zeros(dim, dim);
        symmetric_rank_k(x, &mut gram);
        let rows = x.rows();
        let columns = || residual.targets.chunks_exact(rows);
        let mut moments = Matrix::zeros(dim, residual.outputs);
        for (output, targets) in columns().enumerate() {
            transposed_matrix_vector(x, targets, moments.column_mut(output));
        }
        let conjugate = match model.weights {
            WeightPrior::Conjugate { rho } => {
                let variance = model.residual.scale.conjugate();
                let closed_forms = closed_forms(x, &residual, (rho, variance), 1.0)
                    .map_err(|error| ModelError::NotPositiveDefinite { pivot: error.pivot })?;
                Some(Conjugate { rho, variance, closed_forms })
            }
            WeightPrior::Normal { .. } | WeightPrior::Flat => None,
        };
        let squares = (residual.is_normal_with_one_scale() && rows > MANY_ROWS)
            .then(|| {
                let of_target =
                    |(output, targets)| Squares::new(x, targets, (&gram, moments.column(output)));
                columns().enumerate().map(of_target).collect()
            })
            .flatten();
        let targets = names.to_vec();
        Ok(Regression { targets, residual, gram, moments, squares, conjugate })
    }

    /// Whether all residuals are normal with one scale.
    pub(super) fn is_homogeneous(&self) -> bool {
        self.residual.is_normal_with_one_scale()
    }
}

/// The conjugate posteriors of all targets at an inverse temperature.
pub(super) fn closed_forms(
    x: &Matrix,
    residual: &Residual,
    (rho, variance): (f64, InverseGamma),
    inverse_temperature: f64,
) -> Result<Vec<ClosedForm>, NotPositiveDefinite> {
    let targets = residual.targets.chunks_exact(x.rows());
    targets.map(|y| ClosedForm::new(x, y, rho, variance, inverse_temperature)).collect()
}
