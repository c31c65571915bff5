//! What a model tells about new rows.

use std::borrow::Cow;

use posteria_linalg::Matrix;

use super::{Family, Predictive};
use crate::random::Stream;

/// Half the width of central differences, in standard deviations of the input: the error of the
/// formula, h²/6 times the third derivative, and of rounding, 1e-16/h, are both far below the
/// posterior's own spread.
const STEP: f64 = 1e-4;

/// Divides rows as predictors take them into the `count` inputs and the column behind them, if there
/// is one.
pub(crate) fn split_offsets(inputs: &Matrix, count: usize) -> (Cow<'_, Matrix>, Option<&[f64]>) {
    if inputs.columns() <= count {
        return (Cow::Borrowed(inputs), None);
    }
    let own = Matrix::from_fn(inputs.rows(), count, |row, column| inputs[(row, column)]);
    (Cow::Owned(own), Some(inputs.column(count)))
}

/// Evaluates a posterior at new rows, one draw at a time. Made by a posterior, owns its buffers;
/// every thread has its own.
///
/// `inputs` are rows × inputs, standardised like the training data
/// ([`EncodedRows::inputs`](crate::data::EncodedRows)), of counts perhaps followed by a column of log
/// exposures ([`EncodedRows::inputs_and_offsets`](crate::data::EncodedRows::inputs_and_offsets)), which
/// are 0 without it; everything written is on the user's scale. What is written for a row must not depend on the other rows beyond rounding.
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
    /// unit, log odds of the second of two classes, the outputs of a softmax for more, the logarithm of
    /// the mean count per unit of exposure, the location of the logarithm of a duration. Function j
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

    /// Whether a draw leaves the functions open, as that of the hyperparameters of a Gaussian
    /// process does.
    fn leaves_open(&self) -> bool {
        false
    }

    /// The mean and the variance given the draw of Σ_i w_i f_j(x_i), for every function j of
    /// [`Predictor::functions`]. `None` where that is not what is normal given a draw: the log odds
    /// of a probit link.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn weighted_sums(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        weights: &[f64],
    ) -> Option<Vec<(f64, f64)>> {
        assert_eq!(inputs.rows(), weights.len(), "one weight per row");
        let functions = self.family().functions();
        let mut outputs = vec![0.0; inputs.rows() * functions];
        self.functions(draw, inputs, &mut outputs);
        let mut sums = vec![(0.0, 0.0); functions];
        for (outputs, weight) in outputs.chunks_exact(functions).zip(weights) {
            sums.iter_mut().zip(outputs).for_each(|(sum, f)| sum.0 += weight * f);
        }
        Some(sums)
    }

    /// Writes ∂f/∂x of every function of [`Predictor::functions`] at every row, by the standardised
    /// input number `input`: drawn from what the draw leaves open, jointly over all rows, where it
    /// leaves something open; else by central differences. `false` if the functions have no
    /// derivative.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn draw_slopes(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        input: usize,
        stream: &mut Stream,
        slopes: &mut [f64],
    ) -> bool {
        let _ = stream;
        let mut moved = inputs.clone();
        let mut low = vec![0.0; slopes.len()];
        moved.column_mut(input).iter_mut().for_each(|value| *value -= STEP);
        self.functions(draw, &moved, &mut low);
        let values = moved.column_mut(input).iter_mut().zip(inputs.column(input));
        values.for_each(|(value, x)| *value = x + STEP);
        self.functions(draw, &moved, slopes);
        let pairs = slopes.iter_mut().zip(&low);
        pairs.for_each(|(high, low)| *high = (*high - low) / (2.0 * STEP));
        true
    }

    /// What [`Predictor::at`] writes for the rows of the fit, of which there are
    /// `Posterior::rows`.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]);

    /// Draws new targets at the rows of the fit, jointly over rows: what the data might have been
    /// if they were taken again at the same inputs. The [`Family::targets`] of a row lie together.
    /// A draw leaves every row independent, unless it leaves a function open, as of a Gaussian
    /// process: rows then share one function.
    ///
    /// # Panics
    /// If the lengths do not fit, or rows have no targets.
    fn replicate(&mut self, draw: &[f64], stream: &mut Stream, targets: &mut [f64]) {
        let family = self.family();
        let rows = targets.len() / family.targets().max(1);
        let mut parameters = vec![0.0; rows * family.width()];
        self.at_training_rows(draw, &mut parameters);
        let each = parameters.chunks_exact(family.width());
        for (parameters, targets) in each.zip(targets.chunks_exact_mut(family.targets())) {
            Predictive::new(family, parameters).draw(stream, targets);
        }
    }

    /// As [`Predictor::replicate`], for a draw of `Posterior::draw_prior`, before any target is
    /// seen.
    ///
    /// # Panics
    /// As [`Predictor::replicate`].
    fn replicate_prior(&mut self, draw: &[f64], stream: &mut Stream, targets: &mut [f64]) {
        self.replicate(draw, stream, targets);
    }

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
