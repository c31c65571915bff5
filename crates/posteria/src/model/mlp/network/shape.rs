//! Say how large a network is and where its weights lie.

use std::ops::Range;

/// Sizes of a network f_o(x) = b_o + Σ_h v_ho tanh(a_h + Σ_k u_kh x_k) + Σ_k d_ko x_k, and
/// where its blocks lie in the flat vector of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of inputs K.
    pub inputs: usize,
    /// Number of hidden units H; 0 makes a generalised linear model.
    pub hidden: usize,
    /// Number of outputs O.
    pub outputs: usize,
    /// Whether there are direct weights from inputs to outputs.
    pub direct: bool,
}

impl Shape {
    /// Number of weights and biases.
    pub fn len(&self) -> usize {
        self.tail().end
    }

    /// Whether there is no weight at all (no output).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Input weights u_kh at k·H + h.
    pub fn input_weights(&self) -> Range<usize> {
        0..self.inputs * self.hidden
    }

    /// Hidden biases a_h at h.
    pub fn hidden_bias(&self) -> Range<usize> {
        let start = self.input_weights().end;
        start..start + self.hidden
    }

    /// Output weights v_ho at h·O + o.
    pub fn output_weights(&self) -> Range<usize> {
        let start = self.hidden_bias().end;
        start..start + self.hidden * self.outputs
    }

    /// Output biases b_o at o.
    pub fn output_bias(&self) -> Range<usize> {
        let start = self.output_weights().end;
        start..start + self.outputs
    }

    /// Direct weights d_ko at k·O + o; empty unless there are direct weights.
    pub fn direct_weights(&self) -> Range<usize> {
        let start = self.output_bias().end;
        start..start + if self.direct { self.inputs * self.outputs } else { 0 }
    }

    /// Everything that the outputs are linear in: output weights, output biases and direct
    /// weights, at j·O + o for design column j (hidden units, the constant, inputs).
    pub fn tail(&self) -> Range<usize> {
        self.output_weights().start..self.direct_weights().end
    }

    /// Number of design columns J = H + 1, and K more with direct weights.
    pub fn columns(&self) -> usize {
        self.hidden + 1 + if self.direct { self.inputs } else { 0 }
    }
}
