//! Bring coefficients to the user's scale.

use posteria_linalg::Matrix;

use super::columns::Columns;
use crate::data::Standardization;
use crate::draws::{Dimension, Layout};

/// The way from the standardised scale to the user's: with y = c + s y' and x_k = c_k + s_k x'_k,
/// w_k = w'_k s / s_k and intercept = c + s b' - Σ w_k c_k; for every class or target where there
/// are several.
#[derive(Clone, Debug)]
pub(super) struct UserScale {
    /// Of every output.
    pub(super) targets: Vec<Standardization>,
    columns: Vec<Standardization>,
    /// Whether there is an intercept on the standardised scale.
    intercept: bool,
    /// Whether there is one on the user's.
    shown: bool,
}

impl UserScale {
    pub(super) fn new(targets: Vec<Standardization>, columns: &Columns, intercept: bool) -> Self {
        let columns = columns.scaling.clone();
        let shifted = columns.iter().chain(&targets).any(|map| map.centre.abs() > 0.0);
        UserScale { targets, columns, intercept, shown: intercept || shifted }
    }

    /// The same where something else in a draw takes the place of the intercept.
    pub(super) fn without_intercept(self) -> Self {
        UserScale { shown: false, ..self }
    }

    /// How high the line of a draw without an intercept is where all columns are at their centre.
    pub(super) fn height(&self, draw: &[f64]) -> f64 {
        draw.iter().zip(&self.columns).map(|(weight, column)| weight * column.centre).sum()
    }

    /// Names the intercept and the weights of a draw; `outputs` has the classes or targets where
    /// there is an output for each. Without an intercept on the standardised scale there may be one on the
    /// user's: the output is then the mean target where all inputs are at their mean.
    pub(super) fn push_names(
        &self,
        layout: &mut Layout,
        columns: &Columns,
        outputs: Option<&Dimension>,
    ) {
        let outputs: Vec<Dimension> = outputs.into_iter().cloned().collect();
        if self.shown {
            layout.push("intercept", outputs.clone());
        }
        if columns.len() > 0 {
            // Relevances are of inputs, weights of what became of them.
            let name = if columns.expanded { "function" } else { "input" }.into();
            let mut dimensions = vec![Dimension { name, labels: columns.names.clone() }];
            dimensions.extend(outputs);
            layout.push("weights", dimensions);
        }
    }

    /// Writes intercept and weights on the user's scale to the front of a draw; returns how
    /// many numbers that were.
    pub(super) fn write(&self, coefficients: &[f64], draw: &mut [f64]) -> usize {
        let outputs = self.targets.len();
        let (own, weights) = coefficients.split_at(usize::from(self.intercept) * outputs);
        let shown = usize::from(self.shown) * outputs;
        for (output, target) in self.targets.iter().enumerate() {
            let own = own.get(output).copied().unwrap_or(0.0);
            let mut intercept = target.centre + target.scale * own;
            for (k, column) in self.columns.iter().enumerate() {
                let weight = weights[k * outputs + output] * target.scale / column.scale;
                draw[shown + k * outputs + output] = weight;
                intercept -= weight * column.centre;
            }
            if self.shown {
                draw[output] = intercept;
            }
        }
        shown + weights.len()
    }

    /// Reads what [`UserScale::write`] wrote back into the coefficients on the standardised scale;
    /// returns how many numbers that were.
    pub(super) fn read(&self, draw: &[f64], coefficients: &mut [f64]) -> usize {
        let outputs = self.targets.len();
        let mut slopes = Matrix::zeros(outputs, self.columns.len());
        let mut heights = vec![0.0; outputs];
        self.lines(draw, &mut slopes, &mut heights);
        let (own, weights) = coefficients.split_at_mut(usize::from(self.intercept) * outputs);
        for (own, (height, target)) in own.iter_mut().zip(heights.iter().zip(&self.targets)) {
            *own = target.apply(*height);
        }
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight = slopes[(at % outputs, at / outputs)] / self.targets[at % outputs].scale;
        }
        usize::from(self.shown) * outputs + weights.len()
    }

    /// From intercepts and weights of a draw, which are on the user's scale, to the lines over
    /// standardised columns: writes their slopes, outputs × columns, and their heights where all
    /// columns are at their centre. Outputs stay on the user's scale.
    pub(super) fn lines(&self, draw: &[f64], slopes: &mut Matrix, heights: &mut [f64]) {
        let outputs = self.targets.len();
        let shown = usize::from(self.shown) * outputs;
        for (output, height) in heights.iter_mut().enumerate() {
            *height = if self.shown { draw[output] } else { 0.0 };
            for (k, column) in self.columns.iter().enumerate() {
                let weight = draw[shown + k * outputs + output];
                slopes[(output, k)] = weight * column.scale;
                *height += weight * column.centre;
            }
        }
    }

    /// The logarithm of the product of the targets' units.
    pub(super) fn log_units(&self) -> f64 {
        self.targets.iter().map(|target| target.scale.ln()).sum()
    }

    /// Number of columns without the intercept's.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.targets.len()
    }

    /// The row of the design matrix with these standardised columns.
    pub(super) fn design_row(&self, columns: &[f64]) -> Vec<f64> {
        let ones = std::iter::repeat_n(1.0, usize::from(self.intercept));
        ones.chain(columns.iter().copied()).collect()
    }
}
