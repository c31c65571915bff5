//! Tell what is normal in a network: weights and residuals given their precisions.

use posteria_linalg::Matrix;

use super::evaluator::MlpEvaluator;
use super::hierarchy::Scale;
use super::network::{Network, Rows, Shape};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::predictor::MlpPredictor;
use crate::data::Standardization;
use crate::density::InverseGamma;
use crate::model::prior::{Above, Levels};
use crate::model::residual::Noise;
use crate::model::{Evaluator, ModelError, Posterior, Symmetry};
use crate::predict::Predictor;

/// A network of real targets whose weights and residuals are normal given precisions that are
/// known or gamma distributed, with what an approximation needs of it.
pub(crate) struct GaussianNetwork<'p> {
    pub(crate) posterior: &'p MlpPosterior,
    /// The precision of every weight.
    pub(crate) weights: Vec<WeightPrecision>,
    /// Which precision every residual has, at o·n + i.
    pub(crate) residuals: Vec<usize>,
    pub(crate) precisions: Vec<SampledPrecision>,
    pub(crate) levels: Vec<SampledLevel>,
}

/// The precision of one weight.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WeightPrecision {
    /// Known.
    Known(f64),
    /// One of [`GaussianNetwork::precisions`].
    Sampled(usize),
}

/// A precision α = 1/a² with a² ~ Inv-gamma(above², ν).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledPrecision {
    /// Entry of the state with log a.
    pub(crate) slot: usize,
    pub(crate) dof: f64,
    pub(crate) above: ScaleAbove,
}

/// The scale above a precision.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ScaleAbove {
    /// Known.
    Known(f64),
    /// One of [`GaussianNetwork::levels`].
    Sampled(usize),
}

/// A sampled scale above precisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampledLevel {
    /// Entry of the state with its logarithm.
    pub(crate) slot: usize,
    /// Prior of its square.
    pub(crate) prior: InverseGamma,
}

impl MlpPosterior {
    /// What is normal in this network.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] if weights or residuals are not normal given precisions, or
    /// degrees of freedom are sampled.
    pub(crate) fn gaussian(&self) -> Result<GaussianNetwork<'_>, ModelError> {
        let not_available = |what: &str| Err(ModelError::NotAvailable { what: what.into() });
        let Observed::Real(residual) = &self.observed else {
            return not_available("ensemble learning of classes or counts");
        };
        let Noise::Scales { levels, slot_of, .. } = &residual.noise else {
            return not_available("ensemble learning with a residual covariance");
        };
        if residual.slopes.is_some() {
            return not_available("ensemble learning with slopes in [residual]");
        }
        if !residual.is_normal_with_scales() {
            return not_available("ensemble learning with residuals that are not normal");
        }
        let mut network = GaussianNetwork {
            posterior: self,
            weights: vec![WeightPrecision::Known(1.0); self.shape.len()],
            residuals: Vec::new(),
            precisions: Vec::new(),
            levels: Vec::new(),
        };
        for group in &self.hierarchy.groups {
            if group.multipliers.is_some() {
                return not_available("ensemble learning with weights that are not normal");
            }
            let members = group.members.clone();
            match &group.scale {
                Scale::Fixed(scale) => {
                    network.weights[members].fill(WeightPrecision::Known(1.0 / (scale * scale)));
                }
                Scale::Sampled(levels) => {
                    let first = network.take(levels)?;
                    for (member, weight) in network.weights[members].iter_mut().enumerate() {
                        *weight = WeightPrecision::Sampled(first + group.part_of(member));
                    }
                }
            }
        }
        let first = network.take(levels)?;
        network.residuals = slot_of.iter().map(|slot| first + *slot as usize).collect();
        Ok(network)
    }

    /// How the targets were standardised.
    pub(crate) fn target_scaling(&self) -> &[Standardization] {
        &self.target_scaling
    }

    /// The rows of the fit.
    pub(crate) fn training_rows(&self) -> &Rows {
        &self.rows
    }

    /// Standardised targets o·n + i, or class codes.
    pub(crate) fn answers(&self) -> &[f64] {
        &self.answers
    }

    /// Number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.shape.outputs
    }

    /// What takes these weights to those that stand for all equal networks.
    pub(crate) fn canonical(&self, weights: &[f64]) -> Symmetry {
        self.shape.canonical(weights)
    }

    /// What evaluates states and draws with outputs that are linear in the weights about these.
    pub(crate) fn evaluator_about<'p>(&'p self, weights: &[f64]) -> Box<dyn Evaluator + 'p> {
        Box::new(MlpEvaluator::new(self).linear_about(weights))
    }

    /// What predicts with outputs that are linear in the weights about these.
    pub(crate) fn predictor_about<'p>(&'p self, weights: &[f64]) -> Box<dyn Predictor + 'p> {
        Box::new(MlpPredictor::new(self, self.layout()).linear_about(weights))
    }

    /// Outputs f at the rows, o·n + i, and their derivatives by the weights.
    pub(crate) fn linearize(
        &self,
        weights: &[f64],
        rows: &Rows,
        outputs: &mut [f64],
        jacobian: &mut Matrix,
    ) {
        let shape = &self.shape;
        let (hidden, count) = (shape.hidden, shape.outputs);
        let n = rows.len();
        assert!(outputs.len() == n * count && jacobian.rows() == n * count, "one per residual");
        assert_eq!(jacobian.columns(), shape.len(), "one column per weight");
        let [input, bias, output] =
            [shape.input_weights(), shape.hidden_bias(), shape.output_weights()].map(|r| r.start);
        let [output_bias, direct] = [shape.output_bias(), shape.direct_weights()].map(|r| r.start);
        jacobian.values_mut().fill(0.0);
        let mut units = vec![0.0; hidden];
        for row in 0..n {
            let x = |k: usize| rows.double().value(row, k);
            for (h, unit) in units.iter_mut().enumerate() {
                let sum: f64 =
                    (0..shape.inputs).map(|k| weights[input + k * hidden + h] * x(k)).sum();
                *unit = (weights[bias + h] + sum).tanh();
            }
            for o in 0..count {
                let at = o * n + row;
                let mut value = weights[output_bias + o];
                jacobian[(at, output_bias + o)] = 1.0;
                for (h, unit) in units.iter().enumerate() {
                    let weight = weights[output + h * count + o];
                    value += weight * unit;
                    jacobian[(at, output + h * count + o)] = *unit;
                    let slope = weight * (1.0 - unit * unit);
                    jacobian[(at, bias + h)] = slope;
                    for k in 0..shape.inputs {
                        jacobian[(at, input + k * hidden + h)] = slope * x(k);
                    }
                }
                if shape.direct {
                    for k in 0..shape.inputs {
                        value += weights[direct + k * count + o] * x(k);
                        jacobian[(at, direct + k * count + o)] = x(k);
                    }
                }
                outputs[at] = value;
            }
        }
    }
}

impl GaussianNetwork<'_> {
    /// Appends the precisions of one level of a hierarchy; returns the first.
    fn take(&mut self, levels: &Levels) -> Result<usize, ModelError> {
        if levels.spread.sampled_dof().is_some() {
            let what = "ensemble learning with sampled degrees of freedom".into();
            return Err(ModelError::NotAvailable { what });
        }
        // Where scales are log-normal, the inverse gamma distributions that are most like them:
        // with a sampled level above, which is as much larger as its scales are below it.
        let invalid = || ModelError::NotAvailable { what: "priors of such extreme numbers".into() };
        let below = levels.spread.about(1.0, &[]).ok_or_else(invalid)?.conjugate();
        let dof = below.dof();
        let above = match &levels.above {
            Above::Fixed(scale) => ScaleAbove::Known(below.scale() * scale),
            Above::Sampled { slot, prior } => {
                let prior = prior.conjugate();
                let prior = InverseGamma::new(below.scale() * prior.scale(), prior.dof())
                    .map_err(|_| invalid())?;
                self.levels.push(SampledLevel { slot: *slot, prior });
                ScaleAbove::Sampled(self.levels.len() - 1)
            }
        };
        let first = self.precisions.len();
        let each = levels.slots.clone().map(|slot| SampledPrecision { slot, dof, above });
        self.precisions.extend(each);
        Ok(first)
    }

    /// The sizes of the network.
    pub(crate) fn shape(&self) -> &Shape {
        &self.posterior.shape
    }

    /// The inputs of the training rows, and a last column of ones.
    pub(crate) fn inputs_and_ones(&self) -> Matrix {
        let rows = &self.posterior.rows;
        let inputs = rows.inputs();
        Matrix::from_fn(rows.len(), inputs + 1, |row, k| {
            if k < inputs { rows.double().value(row, k) } else { 1.0 }
        })
    }

    /// Standardised targets less the outputs with these weights, o·n + i.
    pub(crate) fn residuals_at(&self, weights: &[f64]) -> Vec<f64> {
        let mut outputs = vec![0.0; self.residuals.len()];
        let posterior = self.posterior;
        Network::new(posterior.shape, &posterior.rows).outputs(weights, &mut outputs);
        self.targets().iter().zip(&outputs).map(|(target, output)| target - output).collect()
    }

    /// What a log density of standardised targets has too much.
    pub(crate) fn log_unit(&self) -> f64 {
        let rows = self.posterior.rows.len() as f64;
        self.posterior.target_scaling.iter().map(|scaling| rows * scaling.scale.ln()).sum()
    }

    /// Standardised targets, o·n + i.
    pub(crate) fn targets(&self) -> &[f64] {
        match &self.posterior.observed {
            Observed::Real(residual) => &residual.targets,
            _ => unreachable!("targets are real"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Dataset, Roles, Table};
    use crate::model::mlp::Mlp;
    use crate::model::spec::Spec;
    use crate::random::{Purpose, Seed};

    fn posterior(text: &str) -> MlpPosterior {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let column = |name: &str, stream: &mut crate::random::Stream| {
            (name.to_string(), Column::numbers((0..9).map(|_| stream.normal()).collect()))
        };
        let columns = ["a", "b", "y", "z"].map(|name| column(name, &mut stream)).to_vec();
        let table = Table::new("memory", columns).unwrap();
        let roles = Roles { targets: vec!["y".into(), "z".into()], ..Roles::default() };
        let (data, _) = Dataset::new(&table, &roles).unwrap();
        let spec = Spec::from_toml(&format!("[model]\nkind = 'mlp'\n{text}")).unwrap();
        Mlp::new(&spec).unwrap().condition(&data, None).unwrap()
    }

    #[test]
    fn derivatives_belong_to_the_outputs() {
        for text in ["hidden = 3\ndirect = true", "hidden = 2", "hidden = 0"] {
            let posterior = posterior(text);
            let count = posterior.shape.len();
            let mut stream = Seed(4).stream(Purpose::Data, [1, 0]);
            let weights: Vec<f64> = (0..count).map(|_| stream.normal()).collect();
            let (mut outputs, mut jacobian) = (vec![0.0; 18], Matrix::zeros(18, count));
            posterior.linearize(&weights, &posterior.rows, &mut outputs, &mut jacobian);
            let mut network = crate::model::mlp::Network::new(posterior.shape, &posterior.rows);
            let (mut up, mut down) = (vec![0.0; 18], vec![0.0; 18]);
            network.outputs(&weights, &mut up);
            for (found, expected) in outputs.iter().zip(&up) {
                assert!((found - expected).abs() < 1e-12);
            }
            for weight in 0..count {
                let moved = |step: f64| {
                    let mut moved = weights.clone();
                    moved[weight] += step;
                    moved
                };
                network.outputs(&moved(1e-5), &mut up);
                network.outputs(&moved(-1e-5), &mut down);
                for at in 0..18 {
                    let slope = (up[at] - down[at]) / 2e-5;
                    assert!((jacobian[(at, weight)] - slope).abs() < 1e-8, "{text}: {weight}");
                }
            }
        }
    }

    #[test]
    fn precisions_are_found_in_the_state() {
        let posterior = posterior("hidden = 3");
        let network = posterior.gaussian().unwrap();
        // Two inputs and their level, hidden bias, output weights; two residual scales.
        assert_eq!((network.precisions.len(), network.levels.len()), (6, 1));
        assert_eq!(network.residuals[0] + 1, network.residuals[9]);
        assert_eq!(network.weights.len(), posterior.shape.len());
        let slots = network.precisions.iter().map(|p| p.slot);
        let mut slots: Vec<usize> = slots.chain(network.levels.iter().map(|l| l.slot)).collect();
        slots.sort_unstable();
        let all: Vec<usize> = (posterior.shape.len()..posterior.state_len).collect();
        assert_eq!(slots, all, "everything but the weights");
        for text in [
            "[residual]\nfamily = 'laplace'",
            "[residual]\nsharing = 'covariance'",
            "[prior.hidden_bias]\nfamily = 'laplace'",
            "[prior.hidden_bias]\ndof = 'unknown'",
        ] {
            let error = self::posterior(text).gaussian().err().unwrap().to_string();
            assert!(error.contains("ensemble learning"), "{text}: {error}");
        }
    }
}
