//! What a model tells about new rows.

use posteria_linalg::Matrix;

use super::Family;

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
    /// of row i at index i · [`Family::functions`] + j.
    ///
    /// # Panics
    /// If the lengths do not fit.
    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]);
}
