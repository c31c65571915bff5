//! Say what is sampled: a network, its priors, and the rows of every fold.

use posteria::density::special::ln_gamma;
use posteria::random::Seed;
use posteria_linalg::Matrix;

use super::philox::{Name, Purpose};
use crate::CudaError;
use crate::error::expect_length;

/// Most weights of a network: a thread holds all of them.
const MOST_WEIGHTS: usize = 160;

/// Log precisions and log squares of scales are kept within ± this, so that they are numbers in
/// single precision too.
pub(super) const LARGEST_LOG: f64 = 80.0;

/// What targets follow given the outputs of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlpLikelihood {
    /// Normal residuals.
    Normal,
    /// Residuals of Student's t.
    StudentT,
    /// Two classes, 0 and 1.
    Logistic,
    /// Several classes, one output for each.
    Softmax,
}

/// How far a scale a may be from the one it is about, a_0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScaleSpread {
    /// a² ~ Inv-gamma(a_0², ν) with ν degrees of freedom.
    InverseGamma(f64),
    /// log a ~ N(log a_0, s²) with standard deviation s.
    LogNormal(f64),
}

impl ScaleSpread {
    /// As kernels read it: degrees of freedom, or minus a standard deviation.
    pub(super) fn number(self) -> f64 {
        match self {
            ScaleSpread::InverseGamma(dof) => dof,
            ScaleSpread::LogNormal(log_sd) => -log_sd,
        }
    }
}

/// The prior of the standard deviation of a group of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupScale {
    /// A known one.
    Fixed(f64),
    /// One for the group, about `scale`.
    Sampled {
        /// What it is about.
        scale: f64,
        /// How far from it.
        spread: ScaleSpread,
    },
    /// One per input, about a common one that is about `scale`.
    PerInput {
        /// What the common one is about.
        scale: f64,
        /// How far those of inputs are from the common one.
        spread: ScaleSpread,
        /// How far the common one is from `scale`.
        top: ScaleSpread,
    },
}

/// The prior of the residuals of real targets.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualScale {
    /// What the scale σ is about.
    pub scale: f64,
    /// How far from it.
    pub spread: ScaleSpread,
    /// Degrees of freedom of Student's t, each as probable as any other beforehand.
    pub dofs: Vec<f64>,
}

/// A network with H hidden units, f_o(x) = b_o + Σ_h v_ho tanh(a_h + Σ_k u_kh x_k), and its priors.
///
/// Weights are normal given the scale of their group. A state holds the weights u_kh, a_h, v_ho,
/// b_o in this order, the log precision log(1/a²) of every scale, log a² of a level above, the log
/// precision of the residuals, the index of their degrees of freedom, and the log step size.
#[derive(Clone, Debug, PartialEq)]
pub struct MlpModel {
    /// Number of inputs K.
    pub inputs: usize,
    /// Number of hidden units H.
    pub hidden: usize,
    /// Number of outputs O.
    pub outputs: usize,
    /// What targets follow.
    pub likelihood: MlpLikelihood,
    /// Input weights, hidden biases, output weights, output biases; only input weights may have a
    /// scale per input.
    pub groups: [GroupScale; 4],
    /// The residuals; of classes nothing but the shape of a state depends on it.
    pub residual: ResidualScale,
}

/// The rows that chains of one fold see.
#[derive(Clone, Debug)]
pub struct MlpFold {
    /// Names its random numbers: a fold has the same chains alone and among others.
    pub label: u32,
    /// The inputs, one row each.
    pub inputs: Matrix,
    /// Targets, or classes counted from 0.
    pub targets: Vec<f64>,
}

/// Where things are in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLayout {
    /// Weights and biases.
    pub weights: usize,
    /// Log precisions of scales.
    pub parts: usize,
    /// Log squares of the scales above.
    pub aboves: usize,
}

impl StateLayout {
    /// Entry of the log precision of the residuals.
    pub fn residual(&self) -> usize {
        self.weights + self.parts + self.aboves
    }

    /// Entry of the index of the degrees of freedom.
    pub fn dof(&self) -> usize {
        self.residual() + 1
    }

    /// Entry of the log step size.
    pub fn step(&self) -> usize {
        self.residual() + 2
    }

    /// Length of a state.
    pub fn state(&self) -> usize {
        self.residual() + 3
    }
}

/// One scale: its spread as kernels read it (0 if it is known), the square it is about, which scale above
/// takes the place of that square, and how many weights it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) spread: f64,
    pub(super) square: f64,
    pub(super) above: Option<usize>,
    pub(super) weights: usize,
}

/// A scale above: the square it is about, its spread, the parts below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AboveParts {
    pub(super) square: f64,
    pub(super) spread: f64,
    pub(super) first: usize,
    pub(super) parts: usize,
}

impl MlpModel {
    /// Number of weights and biases.
    pub fn weights(&self) -> usize {
        (self.inputs + 1) * self.hidden + (self.hidden + 1) * self.outputs
    }

    /// Where things are in a state.
    pub fn layout(&self) -> StateLayout {
        let (parts, aboves) = (self.parts().len(), self.aboves().len());
        StateLayout { weights: self.weights(), parts, aboves }
    }

    /// Whether every input has a scale of its own.
    pub(super) fn is_per_input(&self) -> bool {
        matches!(self.groups[0], GroupScale::PerInput { .. })
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let sizes =
            [self.inputs * self.hidden, self.hidden, self.hidden * self.outputs, self.outputs];
        let mut parts = Vec::new();
        for (group, weights) in self.groups.iter().zip(sizes) {
            match *group {
                GroupScale::Fixed(scale) => {
                    parts.push(Part { spread: 0.0, square: scale * scale, above: None, weights });
                }
                GroupScale::Sampled { scale, spread } => {
                    let (spread, square) = (spread.number(), scale * scale);
                    parts.push(Part { spread, square, above: None, weights });
                }
                GroupScale::PerInput { scale, spread, .. } => {
                    let (spread, square) = (spread.number(), scale * scale);
                    let part = Part { spread, square, above: Some(0), weights: self.hidden };
                    parts.extend(vec![part; self.inputs]);
                }
            }
        }
        parts
    }

    pub(super) fn aboves(&self) -> Vec<AboveParts> {
        match self.groups[0] {
            GroupScale::PerInput { scale, top, .. } => {
                let (spread, square) = (top.number(), scale * scale);
                vec![AboveParts { square, spread, first: 0, parts: self.inputs }]
            }
            _ => Vec::new(),
        }
    }

    /// The part that a weight belongs to.
    pub(super) fn part_of(&self, weight: usize) -> usize {
        let (hidden, of_inputs) = (self.hidden, self.inputs * self.hidden);
        let inputs = if self.is_per_input() { self.inputs } else { 1 };
        match weight {
            w if w < of_inputs => {
                if self.is_per_input() {
                    w / hidden
                } else {
                    0
                }
            }
            w if w < of_inputs + hidden => inputs,
            w if w < of_inputs + hidden * (1 + self.outputs) => inputs + 1,
            _ => inputs + 2,
        }
    }

    /// log of ν/2 to the power ν/2 over Γ(ν/2), for every value of ν.
    pub(super) fn dof_constants(&self) -> Vec<f64> {
        let constant = |dof: &f64| 0.5 * dof * (0.5 * dof).ln() - ln_gamma(0.5 * dof);
        self.residual.dofs.iter().map(constant).collect()
    }

    /// Where a chain starts: small random weights, scales of half a unit, residuals of one.
    pub fn start(&self, seed: Seed, fold: u32, chain: u32) -> Vec<f64> {
        let (layout, parts) = (self.layout(), self.parts());
        let name = Name { seed, fold, chain, iteration: 0 };
        let mut state = vec![0.0; layout.state()];
        for (index, slot) in state[..layout.weights].iter_mut().enumerate() {
            *slot = 0.3 * name.normal(Purpose::Start, index as u32, 0);
        }
        for (slot, part) in state[layout.weights..].iter_mut().zip(&parts) {
            *slot = if part.spread.abs() > 0.0 { 4.0_f64.ln() } else { -part.square.ln() };
        }
        for slot in &mut state[layout.weights + layout.parts..layout.residual()] {
            *slot = -4.0_f64.ln();
        }
        state[layout.dof()] = (self.residual.dofs.len() / 2) as f64;
        state[layout.step()] = -1.0;
        state
    }

    /// The numbers of the prior as kernels read them.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let mut numbers = Vec::new();
        for part in self.parts() {
            let above = part.above.map_or(-1.0, |above| above as f64);
            numbers.extend([part.spread, part.square, above, part.weights as f64]);
        }
        for above in self.aboves() {
            numbers.extend([above.square, above.spread, above.first as f64, above.parts as f64]);
        }
        let ResidualScale { scale, spread, dofs } = &self.residual;
        numbers.extend([spread.number(), scale * scale, dofs.len() as f64]);
        for (dof, constant) in dofs.iter().zip(self.dof_constants()) {
            numbers.extend([*dof, constant]);
        }
        numbers
    }

    /// Checks the sizes, and that numbers of the prior are positive.
    pub(super) fn check(&self) -> Result<(), CudaError> {
        let refuse = |what: &str| Err(CudaError::NotAvailable { what: what.into() });
        if self.inputs == 0 || self.hidden == 0 || self.outputs == 0 {
            return refuse("a network without inputs, hidden units or outputs");
        }
        if self.weights() > MOST_WEIGHTS {
            return refuse(&format!("a network of more than {MOST_WEIGHTS} weights"));
        }
        if self.likelihood != MlpLikelihood::Softmax && self.outputs != 1 {
            return refuse("a network with several real targets");
        }
        if self.groups[1..].iter().any(|group| matches!(group, GroupScale::PerInput { .. })) {
            return refuse("a scale per input of weights that come from no input");
        }
        let size = |spread: ScaleSpread| spread.number().abs();
        let mut numbers = vec![self.residual.scale, size(self.residual.spread)];
        numbers.extend(&self.residual.dofs);
        for group in &self.groups {
            match *group {
                GroupScale::Fixed(scale) => numbers.push(scale),
                GroupScale::Sampled { scale, spread } => numbers.extend([scale, size(spread)]),
                GroupScale::PerInput { scale, spread, top } => {
                    numbers.extend([scale, size(spread), size(top)]);
                }
            }
        }
        if self.residual.dofs.is_empty() || numbers.iter().any(|x| !(x.is_finite() && *x > 0.0)) {
            return refuse("a prior whose numbers are not positive");
        }
        Ok(())
    }
}

impl MlpFold {
    pub(super) fn check(&self, model: &MlpModel) -> Result<(), CudaError> {
        expect_length("inputs of a row", model.inputs, self.inputs.columns())?;
        expect_length("targets", self.inputs.rows(), self.targets.len())?;
        if self.label >= 1 << 12 {
            return Err(CudaError::NotAvailable { what: "a fold beyond the 4096th".into() });
        }
        let values = self.inputs.values().iter().chain(&self.targets);
        if values.into_iter().any(|value| !value.is_finite()) {
            return Err(CudaError::NotAvailable { what: "a row with missing numbers".into() });
        }
        Ok(())
    }

    /// Σ x_k² of every input.
    pub(super) fn squares(&self) -> Vec<f64> {
        let square = |k: usize| self.inputs.column(k).iter().map(|x| x * x).sum();
        (0..self.inputs.columns()).map(square).collect()
    }
}

/// Threads that move together.
pub(super) const WARP: usize = 32;

/// How long chains are and how they move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MlpOptions {
    /// Leapfrog steps of a trajectory.
    pub steps: usize,
    /// Iterations in which step sizes adapt to accept four of five trajectories.
    pub adapting: usize,
    /// Power β of the likelihood, 0 for the prior; of Student's t only 0 and 1.
    pub inverse_temperature: f64,
    /// Whether forces are in double precision, as energies always are.
    pub double: bool,
    /// Threads of a chain: 8, 32 or 128. Many are for few chains, few for many. Sums over rows depend on it in the last digits, so it is part of
    /// what results are reproducible by.
    pub threads: usize,
}

impl Default for MlpOptions {
    fn default() -> Self {
        MlpOptions {
            steps: 100,
            adapting: 200,
            inverse_temperature: 1.0,
            double: false,
            threads: 32,
        }
    }
}

impl MlpOptions {
    pub(super) fn check(&self, model: &MlpModel) -> Result<(), CudaError> {
        let refuse = |what: &str| Err(CudaError::NotAvailable { what: what.into() });
        let beta = self.inverse_temperature;
        if !(0.0..=1.0).contains(&beta) {
            return refuse("an inverse temperature outside 0 to 1");
        }
        if model.likelihood == MlpLikelihood::StudentT && beta > 0.0 && beta < 1.0 {
            return refuse("residuals of Student's t at other temperatures");
        }
        if ![8, WARP, 4 * WARP].contains(&self.threads) || self.steps == 0 {
            return refuse("a chain of no steps, or not of 8, 32 or 128 threads");
        }
        Ok(())
    }

    /// Threads of a warp that a chain has, and how many warps.
    pub(super) fn warps(&self) -> (usize, usize) {
        (self.threads.min(WARP), self.threads.div_ceil(WARP))
    }
}
