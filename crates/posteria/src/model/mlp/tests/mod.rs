//! Prove the network correct: densities against references, kernels against exact answers.
//!
//! Every statistical test has a fixed seed and a stated probability of failing by chance.

mod calibration;
mod cases;
mod collapsed;
mod evaluator;
mod exact;
mod gradients;
mod input_sets;
mod joint_distribution;
mod predictor;
mod prior;
mod prior_draws;
mod reference;
mod robustness;
mod tempered;

use posteria_linalg::Matrix;

use super::network::Shape;
use super::observed::Observed;
use super::{Mlp, MlpPosterior, start};
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::model::Posterior;
use crate::model::residual::{Noise, Residual};
use crate::model::spec::{ModelKind, ResidualFamily, Spec};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Stage, Sweep};
use cases::{Link, Priors, Target};

/// Means are compared by their batch means.
const BATCHES: usize = 64;
/// |z| of a mean over 64 batches passes this by chance with probability 1e-6 (t with 63
/// degrees of freedom). All tests together look at about twenty thousand means: one of them
/// passes with probability 2 %. Seeds are fixed.
const FAR: f64 = 5.4;

fn stream(index: u64) -> Stream {
    Seed(1996).stream(Purpose::Data, [index, 0])
}

/// A model with the inputs it is used at; the targets vary.
struct World {
    model: Mlp,
    target: Target,
    /// Number of outputs of several targets, or of classes.
    several: usize,
    inputs: Matrix,
}

/// Hidden units, and whether there are direct weights.
type Layers = (usize, bool);

impl World {
    fn new(target: Target, layers: Layers, priors: &Priors, sampling: &str) -> Self {
        World {
            model: model(&target, layers, priors, sampling),
            target,
            several: 2,
            inputs: inputs(5, 2, &mut stream(0)),
        }
    }

    fn shape(&self) -> Shape {
        let outputs = match self.target.link {
            Link::Real | Link::Binary => 1,
            Link::Several => self.several,
            Link::Classes => self.several.max(3),
        };
        let inputs = self.inputs.columns();
        Shape { inputs, hidden: self.model.hidden, outputs, direct: self.model.direct }
    }

    /// Targets o·n + i or class codes, as a dataset in which nothing is standardised.
    fn dataset(&self, values: &[f64]) -> Dataset {
        let (rows, outputs) = (self.inputs.rows(), self.shape().outputs);
        let name = || "y".to_string();
        let labels = |count: usize| (0..count).map(|class| format!("class {class}")).collect();
        let targets = match self.target.link {
            Link::Real | Link::Several => {
                let values = Matrix::from_fn(rows, outputs, |i, o| values[o * rows + i]);
                let names = (0..outputs).map(|o| format!("y{o}")).collect();
                Targets::Real { names, values }
            }
            Link::Binary | Link::Classes => {
                let codes = values.iter().map(|code| *code as usize).collect();
                let binary = self.target.link == Link::Binary;
                let labels = labels(if binary { 2 } else { outputs });
                Targets::Classes { name: name(), labels, codes }
            }
        };
        Dataset::unscaled(self.inputs.clone(), targets)
    }

    fn posterior(&self, values: &[f64]) -> MlpPosterior {
        self.model.condition(&self.dataset(values), None).unwrap()
    }

    /// A posterior of targets that do not matter.
    fn empty(&self) -> MlpPosterior {
        self.posterior(&vec![0.0; self.target_count()])
    }

    fn target_count(&self) -> usize {
        let classes = matches!(self.target.link, Link::Binary | Link::Classes);
        self.inputs.rows() * if classes { 1 } else { self.shape().outputs }
    }

    /// The outputs f at o·n + i.
    fn outputs(&self, weights: &[f64]) -> Vec<f64> {
        reference::outputs(&self.shape(), &self.inputs, weights)
    }

    /// Targets drawn from the model given a state (of any posterior of this world).
    fn draw_targets(
        &self,
        posterior: &MlpPosterior,
        state: &[f64],
        stream: &mut Stream,
    ) -> Vec<f64> {
        let outputs = self.outputs(&state[..self.shape().len()]);
        let rows = self.inputs.rows();
        match &posterior.observed {
            Observed::Outcomes(_) => unreachable!("counts are proved elsewhere"),
            Observed::Binary { .. } => outputs
                .iter()
                .map(|f| f64::from(u8::from(stream.uniform() * (1.0 + (-f).exp()) < 1.0)))
                .collect(),
            Observed::Multiclass { .. } => (0..rows)
                .map(|row| {
                    // The largest of f + Gumbel noise has the softmax probabilities.
                    let noisy = |o: usize| outputs[o * rows + row] - stream.exponential().ln();
                    let values: Vec<f64> = (0..self.shape().outputs).map(noisy).collect();
                    let best =
                        |best: usize, o: usize| if values[o] > values[best] { o } else { best };
                    (0..values.len()).fold(0, best) as f64
                })
                .collect(),
            Observed::Real(residual) => {
                let noise = self.draw_noise(residual, state, stream);
                outputs.iter().zip(noise).map(|(f, noise)| f + noise).collect()
            }
        }
    }

    fn draw_noise(&self, residual: &Residual, state: &[f64], stream: &mut Stream) -> Vec<f64> {
        let (rows, outputs) = (self.inputs.rows(), self.shape().outputs);
        let mut noise = vec![0.0; rows * outputs];
        if let Noise::Covariance { slots, .. } = &residual.noise {
            let factor = reference::factor(&state[slots.clone()], outputs);
            for row in 0..rows {
                let z: Vec<f64> = (0..outputs).map(|_| stream.normal()).collect();
                for o in 0..outputs {
                    noise[o * rows + row] = (0..=o).map(|c| factor[(o, c)] * z[c]).sum();
                }
            }
            return noise;
        }
        let dof = residual.dof.value(state);
        for (index, slot) in noise.iter_mut().enumerate() {
            let unit = match residual.family {
                ResidualFamily::Normal => stream.normal(),
                ResidualFamily::Laplace => {
                    let sign = if stream.uniform() < 0.5 { -1.0 } else { 1.0 };
                    sign * stream.exponential()
                }
                _ => stream.normal() / (2.0 * stream.gamma(0.5 * dof) / dof).sqrt(),
            };
            *slot = unit * self.scale(residual, state, index);
        }
        noise
    }

    /// The residual scale at o·n + i: one for all, per target, per sign of the first input, and
    /// log-linear in the second.
    fn scale(&self, residual: &Residual, state: &[f64], index: usize) -> f64 {
        let Noise::Scales { levels, .. } = &residual.noise else { unreachable!("scales") };
        let (row, output) = (index % self.inputs.rows(), index / self.inputs.rows());
        let by = self.target.residual.contains("by =");
        let group = usize::from(by && self.inputs[(row, 0)] > 0.0);
        let common = self.target.residual.contains("'common'");
        let target = if common { 0 } else { output };
        let log_scale = state[levels.slots.start + target * if by { 2 } else { 1 } + group];
        // Along the second input, if at all.
        let slope = residual.slopes.as_ref().map_or(0.0, |slopes| {
            let each = slopes.slots.len() / residual.outputs;
            assert_eq!(each, 1, "one slope per target");
            state[slopes.slots.start + target]
        });
        (log_scale + slope * self.inputs[(row, 1)]).exp()
    }
}

fn model(target: &Target, layers: Layers, priors: &Priors, sampling: &str) -> Mlp {
    let text = cases::text(target, layers, priors, sampling);
    let mut spec = Spec::from_toml(&text).unwrap();
    spec.model.kind = ModelKind::Mlp;
    Mlp::new(&spec).unwrap()
}

/// The first input is ±1 by turns, so that rows can be grouped by it; the others are normal.
fn inputs(rows: usize, columns: usize, stream: &mut Stream) -> Matrix {
    Matrix::from_fn(rows, columns, |i, k| match (k, i % 2) {
        (0, 0) => -1.0,
        (0, _) => 1.0,
        _ => stream.normal(),
    })
}

fn from_prior(posterior: &MlpPosterior, stream: &mut Stream) -> Vec<f64> {
    start::from_prior(posterior, stream)
}

/// Finds step sizes for a sweep from `state` on, then holds them.
fn tune(sweep: &mut Sweep<'_>, state: &[f64], passes: usize, stream: &mut Stream) {
    let mut state = state.to_vec();
    sweep.enter(&Stage { adapt: Adapt::StepSize, ..Stage::default() });
    for _ in 0..passes {
        sweep.pass(&mut state, stream);
    }
    sweep.enter(&Stage::default());
}

/// The z score of the mean of `values` against `expected`, from batch means. `error` is the
/// standard error of `expected` itself.
fn z_score(values: &[f64], expected: f64, error: f64) -> f64 {
    let size = values.len() / BATCHES;
    let means: Vec<f64> =
        values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean - expected) / (variance / count + error * error).sqrt()
}

/// Columns of numbers that grow row by row.
#[derive(Default)]
struct Table(Vec<Vec<f64>>);

impl Table {
    fn push(&mut self, row: &[f64]) {
        self.0.resize(row.len(), Vec::new());
        for (column, value) in self.0.iter_mut().zip(row) {
            column.push(*value);
        }
    }

    /// The column whose mean is furthest from zero, and by how many errors.
    fn furthest(&self) -> (usize, f64) {
        let mut furthest = (0, 0.0_f64);
        for (index, column) in self.0.iter().enumerate() {
            let z = z_score(column, 0.0, 0.0);
            // NaN must win.
            if z.is_nan() || z.abs() > furthest.1.abs() {
                furthest = (index, z);
            }
            if z.is_nan() {
                break;
            }
        }
        furthest
    }

    fn assert_zero_means(&self, what: &str) {
        let (index, z) = self.furthest();
        assert!(z.abs() < FAR, "{what}: function {index} is {z} errors off");
    }
}

/// The factors of slopes of the log residual scale: normal with the usual standard deviation, or
/// that of the case with groups.
fn slope_factors(residual: &Residual, state: &[f64]) -> Vec<reference::Factor> {
    let sd = if residual.by.is_some() { 0.4 } else { 0.5 };
    let normal = crate::density::Normal::new(0.0, sd).unwrap();
    let slots = residual.slopes.iter().flat_map(|slopes| slopes.slots.clone());
    let factor = |slope: f64| {
        let (log_density, cdf) = (normal.log_density(slope), normal.cdf(slope));
        reference::Factor::continuous(reference::Kind::Weight, log_density, cdf)
    };
    slots.map(|slot| factor(state[slot])).collect()
}
