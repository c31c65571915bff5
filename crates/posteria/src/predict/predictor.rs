//! What a model tells about new rows.

use posteria_linalg::Matrix;

use super::Family;
use crate::random::Stream;

/// Evaluates a posterior at new rows, one draw at a time. Made by a posterior, owns its buffers;
/// every thread has its own.
///
/// `inputs` are rows × inputs, standardised like the training data
/// ([`EncodedRows::inputs`](crate::data::EncodedRows)); everything written is on the user's
/// scale. What is written for a row must not depend on the other rows beyond rounding.
pub trait Predictor: Send {
    /// What the target of a row follows given one draw.
    fn family(&self) -> Family;

    /// Writes the parameters of that distribution for every row: those of a row lie together,
    /// parameter j of row i at index i · [`Family::width`] + j.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]);

    /// Writes the model's functions f at every row, without noise: real outputs in the target's
    /// unit, log odds of the second of two classes, the outputs of a softmax for more. Function j
    /// of row i at index i · [`Family::functions`] + j. Where a draw does not settle the function,
    /// as for a Gaussian process, this is its mean given the draw.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]);

    /// As [`Predictor::functions`], drawn from what the draw leaves open: jointly over all rows,
    /// so that a line through them is one function. For Gaussian processes the effort grows as the
    /// cube of the number of rows; the same as `functions` where a draw settles the function.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn draw_functions(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        stream: &mut Stream,
        outputs: &mut [f64],
    ) {
        let _ = stream;
        self.functions(draw, inputs, outputs);
    }

    /// As [`Predictor::draw_functions`], from the prior: the function that the hyperparameters of
    /// the draw stand for before any target is seen. The same as `functions` where a draw, of
    /// `Posterior::draw_prior` then, settles the function.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn draw_prior_functions(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        stream: &mut Stream,
        outputs: &mut [f64],
    ) {
        let _ = stream;
        self.functions(draw, inputs, outputs);
    }

    /// What [`Predictor::at`] writes for the rows of the fit, of which there are
    /// `Posterior::rows`.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]);

    /// For every row of the fit the parameters of what its target follows given the draw's
    /// hyperparameters and all *other* rows, p(y_i given x_i, D without i, draw): the predictive
    /// density that leave-one-out weighs and averages over draws [Vehtari 2001, §3.2.2].
    /// Targets of linear models and networks are independent given a draw, so this is
    /// [`Predictor::at_training_rows`]; those of Gaussian processes are not. Where draws hold the
    /// values f of a process at all rows, as of classes, those of the *other* rows stand for D
    /// without i: p(y_i given f without f_i) = ∫ p(y_i given f_i) p(f_i given the other f) df_i.
    /// Weighted by the inverse of that density at the observed y_i, draws of the posterior given
    /// all rows are draws of the posterior without row i.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn leave_one_out(&mut self, draw: &[f64], parameters: &mut [f64]) {
        self.at_training_rows(draw, parameters);
    }
}
