//! Say what approximations need of a network: coordinates, states about weights, derivatives.

use posteria_linalg::Matrix;

use super::collapsed::Collapsed;
use super::evaluator::MlpEvaluator;
use super::hierarchy::Scale;
use super::network::{Network, Rows};
use super::observed::Observed;
use super::partly_centred::{CentredWeight, PartlyCentred};
use super::posterior::MlpPosterior;
use super::predictor::MlpPredictor;
use super::residual_scales::ResidualScales;
use super::whitened::Whitened;
use crate::data::Standardization;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::prior::{Above, Levels};
use crate::model::residual::Noise;
use crate::model::{Evaluator, ModelError, Posterior};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::Coordinates;

/// Mean square, of weights or residuals that are about 0, with which a search begins.
const LEAST_SQUARE: f64 = 1e-4;

impl MlpPosterior {
    /// The density, with this power of the likelihood, in coordinates in which an ensemble is normal:
    /// of all scales, then of the first weights as far in units of their scales as `centring` says,
    /// which is empty or has a number of each. Output weights of real targets with normal residuals are
    /// integrated out; of others the degrees of freedom of residuals come first, if they are sampled.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] if targets are neither classes nor real, or something else is
    /// sampled.
    pub(crate) fn ensemble_coordinates(
        &self,
        inverse_temperature: f64,
        centring: &[f64],
    ) -> Result<Box<dyn Coordinates + '_>, ModelError> {
        let not_available = |what: &str| Err(ModelError::NotAvailable { what: what.into() });
        if self.hierarchy.selection.is_some() {
            return not_available("ensemble learning of input sets");
        }
        let mut levels = Vec::new();
        for group in &self.hierarchy.groups {
            if group.multipliers.is_some() {
                return not_available("ensemble learning with weights that are not normal");
            }
            if let Scale::Sampled(own) = &group.scale {
                levels.push(own);
            }
        }
        let network = (self.shape, &self.rows);
        let whitened =
            || Whitened::new(network, &self.hierarchy, &self.observed, inverse_temperature);
        let coordinates: Box<dyn Coordinates + '_> = match &self.observed {
            Observed::Real(residual) if residual.cases.is_some() => {
                let Some(scales) = ResidualScales::new(residual) else {
                    return not_available(
                        "ensemble learning with per-case variances, with slopes or dof_by, or with degrees \
                         of freedom of residuals on a grid (dof of [residual] may be a number or \
                         \"continuous\")",
                    );
                };
                levels.push(scales.levels());
                Box::new(whitened().beside(scales))
            }
            Observed::Real(residual) => {
                let Noise::Scales { levels: own, .. } = &residual.noise else {
                    return not_available("ensemble learning with a residual covariance");
                };
                if residual.slopes.is_some() {
                    return not_available("ensemble learning with slopes in [residual]");
                }
                levels.push(own);
                let density =
                    Collapsed::new(network, &self.hierarchy, residual, inverse_temperature);
                Box::new(density)
            }
            Observed::Binary { .. } | Observed::Multiclass { .. } => Box::new(whitened()),
            Observed::Outcomes(outcomes) if outcomes.signs().is_some() => Box::new(whitened()),
            Observed::Outcomes(_) => {
                return not_available("ensemble learning of counts, durations or ordered classes");
            }
        };
        if levels.iter().any(|levels| levels.spread.sampled_dof().is_some()) {
            return not_available("ensemble learning with sampled degrees of freedom");
        }
        if centring.is_empty() {
            return Ok(coordinates);
        }
        let first = coordinates.dim() - centring.len();
        Ok(Box::new(PartlyCentred::new(coordinates, self.centred_weights(first, centring))))
    }

    /// The weights of the coordinates that have sampled scales, the first weight at `first`.
    fn centred_weights(&self, first: usize, centring: &[f64]) -> Vec<CentredWeight> {
        let mut weights = Vec::new();
        // Scales in the order of the coordinates, one above others, then these; before them degrees
        // of freedom.
        let mut next = self.residual_scales().map_or(0, |scales| scales.len());
        for group in &self.hierarchy.groups {
            let Scale::Sampled(levels) = &group.scale else { continue };
            let above = matches!(levels.above, Above::Sampled { .. }).then_some(next);
            let own = next + usize::from(above.is_some());
            next += levels.coordinates();
            for part in 0..levels.slots.len() {
                for weight in group.part_range(part).filter(|weight| *weight < centring.len()) {
                    weights.push(CentredWeight {
                        place: first + weight,
                        log_scale: above.into_iter().chain([own + part]).collect(),
                        centring: centring[weight],
                    });
                }
            }
        }
        weights
    }

    /// Residuals that are not normal, if their scales can be coordinates.
    fn residual_scales(&self) -> Option<ResidualScales<'_>> {
        match &self.observed {
            Observed::Real(residual) => ResidualScales::new(residual),
            _ => None,
        }
    }

    /// How many of the first weights have coordinates of their own: those of hidden units, all where
    /// output weights are not integrated out.
    pub(crate) fn ensemble_weights(&self) -> usize {
        match &self.observed {
            Observed::Real(residual) if residual.cases.is_none() => self.shape.tail().start,
            _ => self.shape.len(),
        }
    }

    /// What the log density of [`MlpPosterior::ensemble_coordinates`] lacks of that of the targets in
    /// the user's unit.
    pub(crate) fn ensemble_constant(&self) -> f64 {
        let Observed::Real(residual) = &self.observed else { return 0.0 };
        let rows = self.rows.len() as f64;
        let unit: f64 = self.target_scaling.iter().map(|it| rows * it.scale.ln()).sum();
        match residual.cases {
            None => -(residual.targets.len() as f64) * LOG_SQRT_2PI - unit,
            Some(_) => -unit,
        }
    }

    /// A state with these weights, whose scales are the sizes of the weights and of the residuals.
    pub(crate) fn state_about(&self, weights: &[f64], stream: &mut Stream) -> Vec<f64> {
        let mut state = self.start(stream);
        state[..weights.len()].copy_from_slice(weights);
        let log_size =
            |squares: f64, count: f64| 0.5 * (squares / count.max(1.0)).max(LEAST_SQUARE).ln();
        for group in &self.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                for (part, slot) in levels.slots.clone().enumerate() {
                    let own = &weights[group.part_range(part)];
                    let squares: f64 = own.iter().map(|weight| weight * weight).sum();
                    state[slot] = log_size(squares, own.len() as f64);
                }
                put_above(levels, &mut state);
            }
        }
        if let Observed::Real(residual) = &self.observed
            && let Noise::Scales { levels, slot_of, counts } = &residual.noise
        {
            let mut outputs = vec![0.0; residual.targets.len()];
            Network::new(self.shape, &self.rows).outputs(weights, &mut outputs);
            let mut squares = vec![0.0; levels.slots.len()];
            let pairs = residual.targets.iter().zip(&outputs);
            for ((target, output), slot) in pairs.zip(slot_of) {
                squares[*slot as usize] += (target - output).powi(2);
            }
            let sizes = squares.iter().zip(counts);
            for (slot, (squares, count)) in levels.slots.clone().zip(sizes) {
                state[slot] = log_size(*squares, *count);
            }
            put_above(levels, &mut state);
        }
        state
    }

    /// The prior scale of every weight in a state.
    pub(crate) fn prior_scales(&self, state: &[f64]) -> Vec<f64> {
        let mut scales = vec![1.0; self.shape.len()];
        self.hierarchy.scales(state, &mut scales);
        scales
    }

    /// Number of weights.
    pub(crate) fn weight_count(&self) -> usize {
        self.shape.len()
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
    pub(crate) fn targets(&self) -> &[f64] {
        &self.targets
    }

    /// Number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.shape.outputs
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

/// Puts a sampled level in the middle of the scales below it.
fn put_above(levels: &Levels, state: &mut [f64]) {
    if let Above::Sampled { slot, .. } = levels.above {
        let below = &state[levels.slots.clone()];
        state[slot] = below.iter().sum::<f64>() / below.len().max(1) as f64;
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
    fn coordinates_are_those_of_scales_and_hidden_weights() {
        for (text, integrated) in [
            ("hidden = 3", true),
            ("hidden = 2\n[residual]\nfamily = 'laplace'", false),
            ("hidden = 2\n[residual]\nfamily = 'student-t'\ndof = 'continuous'", false),
        ] {
            let posterior = posterior(text);
            let plain = posterior.ensemble_coordinates(1.0, &[]).unwrap();
            let weights = posterior.ensemble_weights();
            let tail = posterior.shape.tail().start;
            assert_eq!(weights, if integrated { tail } else { posterior.shape.len() });
            let mut stream = Seed(4).stream(Purpose::Data, [2, 0]);
            let centring: Vec<f64> = (0..weights).map(|_| stream.uniform()).collect();
            let mut centred = posterior.ensemble_coordinates(1.0, &centring).unwrap();
            assert_eq!(centred.dim(), plain.dim());
            let state = posterior.start(&mut stream);
            let mut position = vec![0.0; centred.dim()];
            centred.enter(&state, &mut position);
            let mut back = state.clone();
            centred.leave(&position, &mut back, &mut stream);
            for (one, other) in state[..weights].iter().zip(&back[..weights]) {
                assert!((one - other).abs() < 1e-12, "{text}");
            }
            let mut gradient = vec![0.0; position.len()];
            let mut ignored = gradient.clone();
            centred.log_density_gradient(&position, &mut gradient).unwrap();
            for place in 0..position.len() {
                let mut at = |step: f64| {
                    let mut moved = position.clone();
                    moved[place] += step;
                    centred.log_density_gradient(&moved, &mut ignored).unwrap()
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                let error = (gradient[place] - slope).abs();
                assert!(error < 1e-6 * (1.0 + slope.abs()), "{text}: {place}");
            }
        }
    }

    #[test]
    fn coordinates_of_what_else_is_sampled_are_refused() {
        for text in [
            "[residual]\nfamily = 'per-case'",
            "[residual]\nfamily = 'student-t'\ndof = 'unknown'",
            "[residual]\nsharing = 'covariance'",
            "[prior.hidden_bias]\nfamily = 'laplace'",
            "[prior.hidden_bias]\ndof = 'unknown'",
        ] {
            let posterior = posterior(text);
            let error = posterior.ensemble_coordinates(1.0, &[]).err().unwrap().to_string();
            assert!(error.contains("ensemble learning"), "{text}: {error}");
        }
    }
}
