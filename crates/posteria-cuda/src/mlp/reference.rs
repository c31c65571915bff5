//! Sample a network on the CPU exactly as the device does it, in double precision.
//!
//! This is the definition of what the device computes: the same numbers from the same names, the
//! same order of updates. Only sums over rows are added in another order.

use posteria::random::Seed;

use super::philox::{Name, Purpose};
use super::problem::{LARGEST_LOG, MlpFold, MlpLikelihood, MlpModel, MlpOptions, StateLayout};
use crate::CudaError;

/// Acceptance that step sizes adapt to.
const ACCEPTANCE: f64 = 0.8;
/// Log step sizes stay between these.
const LOG_STEPS: (f64, f64) = (-12.0, 2.0);

/// Samples chains of one fold.
pub struct Reference<'a> {
    model: &'a MlpModel,
    fold: &'a MlpFold,
    options: MlpOptions,
    seed: Seed,
    layout: StateLayout,
    squares: Vec<f64>,
    dof_constants: Vec<f64>,
    hidden: Vec<f64>,
    outputs: Vec<f64>,
}

impl<'a> Reference<'a> {
    /// The chains of a seed.
    ///
    /// # Errors
    /// [`CudaError`] if the rows do not fit the model.
    pub fn new(
        model: &'a MlpModel,
        fold: &'a MlpFold,
        options: MlpOptions,
        seed: Seed,
    ) -> Result<Self, CudaError> {
        model.check()?;
        fold.check(model)?;
        options.check(model)?;
        Ok(Reference {
            model,
            fold,
            options,
            seed,
            layout: model.layout(),
            squares: fold.squares(),
            dof_constants: model.dof_constants(),
            hidden: vec![0.0; model.hidden],
            outputs: vec![0.0; model.outputs],
        })
    }

    /// One iteration of a chain; returns the acceptance probability of its trajectory. `iteration`
    /// counts from 0.
    pub fn iterate(&mut self, state: &mut [f64], chain: u32, iteration: u32) -> f64 {
        let name = Name { seed: self.seed, fold: self.fold.label, chain, iteration };
        self.draw_residual(state, &name);
        self.draw_scales(state, &name);
        let step = state[self.layout.step()].exp() * (0.8 + 0.4 * name.uniform(Purpose::Step));
        let weights = self.layout.weights;
        let sizes: Vec<f64> = (0..weights).map(|i| step * self.step_scale(state, i)).collect();
        let precisions: Vec<f64> = (0..weights).map(|i| self.precision(state, i)).collect();
        let mut momentum: Vec<f64> =
            (0..weights).map(|i| name.normal(Purpose::Momentum, i as u32, 0)).collect();
        let kept = state[..weights].to_vec();
        let quadratic = |position: &[f64], momentum: &[f64]| {
            let each = position.iter().zip(momentum).zip(&precisions);
            each.map(|((q, p), tau)| 0.5 * (p * p + tau * q * q)).sum::<f64>()
        };
        let before = self.energy(state) + quadratic(&kept, &momentum);
        let mut gradient = vec![0.0; weights];
        for leap in 0..=self.options.steps {
            self.gradient(state, &mut gradient);
            let last = leap == self.options.steps;
            let share = if leap == 0 || last { 0.5 } else { 1.0 };
            for i in 0..weights {
                momentum[i] -= share * sizes[i] * (precisions[i] * state[i] + gradient[i]);
                if !last {
                    state[i] += sizes[i] * momentum[i];
                }
            }
        }
        let change = self.energy(state) + quadratic(&state[..weights], &momentum) - before;
        let probability = if change.is_nan() { 0.0 } else { (-change).exp().min(1.0) };
        // What is not a number is rejected.
        let accepts = name.uniform(Purpose::Acceptance).ln() < -change;
        if !accepts {
            state[..weights].copy_from_slice(&kept);
        }
        if (iteration as usize) < self.options.adapting {
            let gain = f64::from(iteration + 1).powf(-0.6);
            let log_step = &mut state[self.layout.step()];
            *log_step += gain * (probability - ACCEPTANCE);
            *log_step = log_step.clamp(LOG_STEPS.0, LOG_STEPS.1);
        }
        probability
    }

    /// Minus the log likelihood of a state to the power β, up to what depends on no weight.
    pub fn energy(&mut self, state: &[f64]) -> f64 {
        let (tau, nu) = self.residual(state);
        let sum = self.over_rows(state, |likelihood, y, f| match likelihood {
            MlpLikelihood::Normal => (f[0] - y) * (f[0] - y),
            MlpLikelihood::StudentT => (tau * (f[0] - y) * (f[0] - y) / nu).ln_1p(),
            MlpLikelihood::Logistic => f[0].max(0.0) + (-f[0].abs()).exp().ln_1p() - y * f[0],
            MlpLikelihood::Softmax => {
                let most = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                f.iter().map(|f| (f - most).exp()).sum::<f64>().ln() + most - f[y as usize]
            }
        });
        let factor = match self.model.likelihood {
            MlpLikelihood::Normal => 0.5 * tau,
            MlpLikelihood::StudentT => 0.5 * (nu + 1.0),
            _ => 1.0,
        };
        self.options.inverse_temperature * factor * sum
    }

    /// Writes the derivatives of [`Reference::energy`] by the weights.
    pub fn gradient(&mut self, state: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        let (tau, nu) = self.residual(state);
        let MlpModel { inputs, hidden, outputs, likelihood, .. } = *self.model;
        let bias = inputs * hidden;
        let (output, last) = (bias + hidden, bias + hidden + hidden * outputs);
        let mut slopes = vec![0.0; outputs];
        for row in 0..self.fold.targets.len() {
            self.pass(state, row);
            let (f, y) = (&self.outputs, self.fold.targets[row]);
            match likelihood {
                MlpLikelihood::Normal => slopes[0] = tau * (f[0] - y),
                MlpLikelihood::StudentT => {
                    let e = f[0] - y;
                    slopes[0] = (nu + 1.0) * tau * e / (nu + tau * e * e);
                }
                MlpLikelihood::Logistic => slopes[0] = 0.5 * (0.5 * f[0]).tanh() + 0.5 - y,
                MlpLikelihood::Softmax => {
                    let most = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = f.iter().map(|f| (f - most).exp()).sum();
                    for (o, (slope, f)) in slopes.iter_mut().zip(f).enumerate() {
                        *slope = (f - most).exp() / sum - f64::from(o == y as usize);
                    }
                }
            }
            slopes.iter_mut().for_each(|slope| *slope *= self.options.inverse_temperature);
            for (h, v) in self.hidden.iter().enumerate() {
                let mut u = 0.0;
                for (o, slope) in slopes.iter().enumerate() {
                    gradient[output + h * outputs + o] += slope * v;
                    u += slope * state[output + h * outputs + o];
                }
                u *= 1.0 - v * v;
                gradient[bias + h] += u;
                for k in 0..inputs {
                    gradient[k * hidden + h] += u * self.fold.inputs[(row, k)];
                }
            }
            for (o, slope) in slopes.iter().enumerate() {
                gradient[last + o] += slope;
            }
        }
    }

    /// Precision 1/σ² and degrees of freedom of the residuals.
    fn residual(&self, state: &[f64]) -> (f64, f64) {
        let dof = state[self.layout.dof()] as usize;
        (state[self.layout.residual()].exp(), self.model.residual.dofs[dof])
    }

    fn precision(&self, state: &[f64], weight: usize) -> f64 {
        state[self.layout.weights + self.model.part_of(weight)].exp()
    }

    fn over_rows(
        &mut self,
        state: &[f64],
        mut each: impl FnMut(MlpLikelihood, f64, &[f64]) -> f64,
    ) -> f64 {
        let mut sum = 0.0;
        for row in 0..self.fold.targets.len() {
            self.pass(state, row);
            sum += each(self.model.likelihood, self.fold.targets[row], &self.outputs);
        }
        sum
    }

    /// Hidden values and outputs of a row.
    fn pass(&mut self, state: &[f64], row: usize) {
        let MlpModel { inputs, hidden, outputs, .. } = *self.model;
        let bias = inputs * hidden;
        let output = bias + hidden;
        self.outputs.copy_from_slice(&state[output + hidden * outputs..][..outputs]);
        for h in 0..hidden {
            let each = (0..inputs).map(|k| self.fold.inputs[(row, k)] * state[k * hidden + h]);
            self.hidden[h] = (state[bias + h] + each.sum::<f64>()).tanh();
            for o in 0..outputs {
                self.outputs[o] += self.hidden[h] * state[output + h * outputs + o];
            }
        }
    }

    /// Draws the residual model given the outputs; of Student's t by way of one κ per row, which
    /// nothing else depends on.
    fn draw_residual(&mut self, state: &mut [f64], name: &Name) {
        let likelihood = self.model.likelihood;
        if matches!(likelihood, MlpLikelihood::Logistic | MlpLikelihood::Softmax) {
            return;
        }
        let beta = self.options.inverse_temperature;
        let rows = if beta > 0.0 { self.fold.targets.len() as f64 } else { 0.0 };
        let (tau, nu) = self.residual(state);
        let (mut squares, mut logs) = (0.0, 0.0);
        if rows > 0.0 {
            let mut row = 0;
            squares = self.over_rows(state, |likelihood, y, f| {
                let square = (f[0] - y) * (f[0] - y);
                if likelihood == MlpLikelihood::Normal {
                    return square;
                }
                let log_kappa = name.log_gamma(0.5 * (nu + 1.0), Purpose::Kappa, row)
                    - (0.5 * (nu + tau * square)).ln();
                row += 1;
                logs += log_kappa - log_kappa.exp();
                log_kappa.exp() * square
            });
        }
        let mut power = beta;
        if likelihood == MlpLikelihood::StudentT {
            power = 1.0;
            state[self.layout.dof()] = self.draw_dof(rows, logs, name) as f64;
        }
        let prior = &self.model.residual;
        let about = (prior.spread.number(), prior.scale * prior.scale);
        let found = (power * rows, power * squares);
        state[self.layout.residual()] = log_precision(about, found, name, (Purpose::Residual, 0));
    }

    /// The index of degrees of freedom given Σ (log κ - κ).
    fn draw_dof(&self, rows: f64, logs: f64, name: &Name) -> usize {
        let dofs = self.model.residual.dofs.iter().zip(&self.dof_constants);
        let log_weights: Vec<f64> = dofs.map(|(nu, c)| rows * c + 0.5 * nu * logs).collect();
        let most = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = log_weights.iter().map(|w| (w - most).exp()).collect();
        let mut left = weights.iter().sum::<f64>() * name.uniform(Purpose::Dof);
        for (index, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return index;
            }
        }
        weights.len() - 1
    }

    /// Draws every scale given its weights, then every scale above given those below.
    fn draw_scales(&self, state: &mut [f64], name: &Name) {
        let (first, parts) = (self.layout.weights, self.model.parts());
        let mut squares = vec![0.0; parts.len()];
        for weight in 0..self.layout.weights {
            squares[self.model.part_of(weight)] += state[weight] * state[weight];
        }
        for (index, (part, squares)) in parts.iter().zip(squares).enumerate() {
            // A known scale has no spread.
            if part.spread.abs() > 0.0 {
                let above = part.above.map(|above| state[first + parts.len() + above].exp());
                let about = (part.spread, above.unwrap_or(part.square));
                let found = (part.weights as f64, squares);
                let purpose = (Purpose::Part, index as u32);
                state[first + index] = log_precision(about, found, name, purpose);
            }
        }
        for (index, above) in self.model.aboves().iter().enumerate() {
            let spread = parts[above.first].spread;
            let below = &state[first + above.first..][..above.parts];
            let count = above.parts as f64;
            // What lies below: gamma precisions, or normal logarithms; what lies above likewise.
            let (mut abc, mut weight, mut mean) = ([0.0; 3], 0.0, 0.0);
            if spread > 0.0 {
                let precisions: f64 = below.iter().map(|log| log.exp()).sum();
                abc = [0.5 * count * spread, 0.0, 0.5 * spread * precisions];
            } else {
                weight = 0.25 * count / (spread * spread);
                mean = -below.iter().sum::<f64>() / count * weight;
            }
            if above.spread > 0.0 {
                abc[0] -= 0.5 * above.spread;
                abc[1] = 0.5 * above.spread * above.square;
            } else {
                let own = 0.25 / (above.spread * above.spread);
                weight += own;
                mean += own * above.square.ln();
            }
            let middle = if weight > 0.0 { mean / weight } else { 0.0 };
            let drawn = name.log_concave(abc, (middle, weight), Purpose::Above, index as u32);
            state[first + parts.len() + index] = limited(drawn);
        }
    }

    /// (second derivative of minus the log posterior)^(-½), from scales and inputs alone: it may not
    /// depend on the weights [Neal 1996, A.4].
    fn step_scale(&self, state: &[f64], weight: usize) -> f64 {
        let MlpModel { inputs, hidden, outputs, likelihood, .. } = *self.model;
        let (tau, nu) = self.residual(state);
        let rows = self.fold.targets.len() as f64;
        let of_output = self.options.inverse_temperature
            * match likelihood {
                MlpLikelihood::Normal => tau,
                MlpLikelihood::StudentT => tau * (nu + 1.0) / (nu + 3.0),
                _ => 0.25,
            };
        let bias = inputs * hidden;
        let output_scale = 1.0 / self.precision(state, bias + hidden);
        let of_hidden = outputs as f64 * of_output * output_scale;
        let of_data = match weight {
            w if w < bias => self.squares[w / hidden] * of_hidden,
            w if w < bias + hidden => rows * of_hidden,
            _ => rows * of_output,
        };
        (self.precision(state, weight) + of_data).sqrt().recip()
    }
}

fn limited(log_value: f64) -> f64 {
    log_value.clamp(-LARGEST_LOG, LARGEST_LOG)
}

/// Draws minus the log variance of some normal numbers, told how many they are and the sum of
/// their squares, given the spread of its prior and the square that is about.
fn log_precision(
    (spread, square): (f64, f64),
    (count, squares): (f64, f64),
    name: &Name,
    (purpose, index): (Purpose, u32),
) -> f64 {
    if spread > 0.0 {
        let log_gamma = name.log_gamma(0.5 * (spread + count), purpose, index);
        return limited(log_gamma - (0.5 * (spread * square + squares)).ln());
    }
    let normal = (-square.ln(), 0.25 / (spread * spread));
    limited(name.log_concave([0.5 * count, 0.0, 0.5 * squares], normal, purpose, index))
}
