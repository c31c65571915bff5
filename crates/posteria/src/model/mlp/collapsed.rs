//! Hidden weights and scales together, the output weights integrated out.

use posteria_linalg::{Matrix, SymmetricEigen};

use super::hierarchy::Hierarchy;
use super::marginal::{Marginal, MarginalGradient};
use super::mask::Mask;
use super::network::{Rows, Shape};
use super::scale_block::ScaleBlock;
use super::scaled_weights::ScaledWeights;
use crate::model::residual::{Noise, Residual};
use crate::random::Stream;
use crate::sample::Coordinates;
use crate::target::{Infeasible, LogDensity};

/// Most rows whose fits say how far a trajectory went.
const FEATURE_ROWS: usize = 16;

/// The density of (coordinates of scales, residual scales included, and z) with hidden weights
/// w_i = s_i z_i, z_i ~ N(0, 1), given κ. The output weights are normal given everything else:
/// they are integrated out, and drawn when the coordinates are left.
pub(super) struct Collapsed<'p> {
    shape: Shape,
    hierarchy: &'p Hierarchy,
    residual: &'p Residual,
    inverse_temperature: f64,
    marginal: Marginal<'p>,
    scaled: ScaledWeights<'p>,
    targets: Vec<f64>,
    precisions: Vec<f64>,
    /// Principal axes of the residual covariance: in them the targets are independent.
    axes: Option<Matrix>,
    gradient: MarginalGradient,
    /// Derivatives with respect to the log scales of the residuals.
    noise: Vec<f64>,
    tail: Vec<f64>,
    mask: Mask,
    /// Rows whose fits are the features.
    feature_rows: Vec<usize>,
    /// Why there is no density given the residual covariance, if so.
    infeasible: Option<Infeasible>,
}

/// Some of so many rows, evenly spaced: as many for any larger table, so that what kernels learn
/// about them fits other tables too.
fn spread(rows: usize) -> Vec<usize> {
    let count = rows.min(FEATURE_ROWS);
    (0..count).map(|index| index * rows / count).collect()
}

impl<'p> Collapsed<'p> {
    pub(super) fn new(
        (shape, rows): (Shape, &'p Rows),
        hierarchy: &'p Hierarchy,
        residual: &'p Residual,
        inverse_temperature: f64,
    ) -> Self {
        let levels = match &residual.noise {
            Noise::Scales { levels, .. } => Some(levels),
            Noise::Covariance { .. } => None,
        };
        let hidden = shape.output_weights().start;
        let (tail, count) = (shape.tail().len(), residual.targets.len());
        Collapsed {
            shape,
            hierarchy,
            residual,
            inverse_temperature,
            marginal: Marginal::new(shape, rows),
            scaled: ScaledWeights::new(hierarchy, levels, (hidden, shape.len())),
            targets: residual.targets.clone(),
            precisions: vec![0.0; count],
            axes: None,
            gradient: MarginalGradient {
                hidden: vec![0.0; hidden],
                log_scales: vec![0.0; tail],
                squares: vec![0.0; count],
            },
            noise: vec![0.0; levels.map_or(0, |levels| levels.slots.len())],
            tail: vec![0.0; tail],
            mask: Mask::none(shape),
            feature_rows: spread(residual.rows),
            infeasible: None,
        }
    }

    /// The coordinates of the scales.
    pub(super) fn block(&self) -> &ScaleBlock<'p> {
        &self.scaled.block
    }

    /// Sets scales, precisions and hidden weights to those of `position`.
    fn set(&mut self, position: &[f64]) {
        self.scaled.set(position);
        if let Noise::Scales { .. } = self.residual.noise {
            let state = &self.scaled.state;
            self.residual.precisions(state, self.inverse_temperature, &mut self.precisions);
        }
    }

    /// Σ over the residuals of -β log σ, their normaliser.
    fn log_normalizer(&self) -> f64 {
        match &self.residual.noise {
            Noise::Scales { levels, counts, .. } => {
                let scales = &self.scaled.state[levels.slots.clone()];
                let sum: f64 = scales.iter().zip(counts).map(|(scale, n)| scale * n).sum();
                let along_inputs = self.residual.sum_of_offsets(&self.scaled.state);
                -self.inverse_temperature * (sum + along_inputs)
            }
            Noise::Covariance { .. } => 0.0,
        }
    }

    /// Takes the targets along the principal axes of the residual covariance in `state`.
    pub(super) fn rotate(&mut self, state: &[f64]) -> Result<(), Infeasible> {
        let Noise::Covariance { slots, .. } = &self.residual.noise else { return Ok(()) };
        let (dim, rows) = (self.residual.outputs, self.residual.rows);
        let covariance = Matrix::from_fn(dim, dim, |r, c| state[slots.start + c * dim + r]);
        let eigen = SymmetricEigen::new(&covariance).map_err(|_| Infeasible::NotFinite)?;
        for (axis, variance) in eigen.values().iter().enumerate() {
            let range = axis * rows..(axis + 1) * rows;
            self.precisions[range.clone()].fill(self.inverse_temperature / variance);
            let targets = &mut self.targets[range];
            targets.fill(0.0);
            for output in 0..dim {
                let weight = eigen.vectors()[(output, axis)];
                let column = &self.residual.targets[output * rows..(output + 1) * rows];
                posteria_linalg::add_scaled(targets, weight, column);
            }
        }
        self.axes = Some(eigen.vectors().clone());
        Ok(())
    }
}

impl LogDensity for Collapsed<'_> {
    fn dim(&self) -> usize {
        self.scaled.dim()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        if let Some(infeasible) = self.infeasible {
            return Err(infeasible);
        }
        self.set(position);
        let prior = self.scaled.log_prior(position)?;
        let ScaledWeights { weights: hidden, scales, .. } = &self.scaled;
        let (seen, tail) = self.mask.see_parts(hidden, &scales[self.shape.tail()]);
        let marginal = self.marginal.log_density(seen, tail, &self.targets, &self.precisions)?;
        Ok(prior + self.log_normalizer() + marginal)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        if let Some(infeasible) = self.infeasible {
            return Err(infeasible);
        }
        self.set(position);
        let tail = self.shape.tail();
        let ScaledWeights { weights: hidden, scales, .. } = &self.scaled;
        let (seen, of_tail) = self.mask.see_parts(hidden, &scales[tail.clone()]);
        let marginal = self.marginal.log_density_gradient(
            seen,
            of_tail,
            &self.targets,
            &self.precisions,
            &mut self.gradient,
        )?;
        self.mask.clear(&mut self.gradient.hidden);
        let MarginalGradient { hidden: slopes, log_scales, squares: of_noise } = &self.gradient;
        if let Noise::Scales { slot_of, counts, .. } = &self.residual.noise {
            let noise = &mut self.noise;
            if noise.len() == 1 {
                noise[0] = of_noise.iter().sum();
            } else {
                noise.fill(0.0);
                for (square, slot) in of_noise.iter().zip(slot_of) {
                    noise[*slot as usize] += square;
                }
            }
            for (slot, count) in noise.iter_mut().zip(counts) {
                *slot -= self.inverse_temperature * count;
            }
        }
        let (groups, noise) = (&self.hierarchy.groups, &self.noise);
        let scales = self.scaled.gradient(position, slopes, gradient, |group, part| {
            let Some(group) = group else { return noise[part] };
            let range = groups[group].part_range(part);
            if range.start < hidden.len() {
                let pairs = slopes[range.clone()].iter().zip(&hidden[range]);
                pairs.map(|(slope, w)| slope * w).sum()
            } else {
                log_scales[range.start - tail.start..range.end - tail.start].iter().sum()
            }
        })?;
        let prior = scales + self.scaled.log_prior_of_weights(position);
        Ok(prior + self.log_normalizer() + marginal)
    }

    fn feature_count(&self) -> usize {
        match self.feature_rows.len() {
            0 => self.dim(),
            rows => rows * self.shape.outputs,
        }
    }

    /// Mean fits of some rows given the hidden layer: what trajectories are meant to move. The
    /// hidden units themselves exchange their roles, and scales move by other kernels too.
    fn features(&mut self, position: &[f64], features: &mut [f64]) -> Result<(), Infeasible> {
        if self.feature_rows.is_empty() {
            features.copy_from_slice(position);
            return Ok(());
        }
        self.log_density(position)?;
        self.marginal.mean_outputs(&self.feature_rows, features);
        Ok(())
    }
}

impl Coordinates for Collapsed<'_> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.infeasible = self.rotate(state).err();
        self.mask.condition(self.hierarchy.selection.as_ref(), state);
        self.scaled.enter(state, position);
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], stream: &mut Stream) {
        // The latest evaluation may have been of a rejected position.
        if self.log_density(position).is_err() {
            return;
        }
        self.scaled.leave(position, state);
        self.draw_tail(state, stream);
    }
}

impl Collapsed<'_> {
    /// Log density of the targets in `state`, with output weights integrated out, up to a factor
    /// of κ and, where residuals have one, of their covariance; that of the latest
    /// [`Collapsed::rotate`].
    pub(super) fn log_likelihood(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.scaled.take(state);
        if let Noise::Scales { .. } = self.residual.noise {
            self.residual.precisions(state, self.inverse_temperature, &mut self.precisions);
        }
        self.mask.condition(self.hierarchy.selection.as_ref(), state);
        let ScaledWeights { weights: hidden, scales, .. } = &self.scaled;
        let (seen, tail) = self.mask.see_parts(hidden, &scales[self.shape.tail()]);
        let marginal = self.marginal.log_density(seen, tail, &self.targets, &self.precisions)?;
        Ok(self.log_normalizer() + marginal)
    }

    /// Draws the output weights given everything else, after their density was found. Those of
    /// inputs that are out have their prior.
    pub(super) fn draw_tail(&mut self, state: &mut [f64], stream: &mut Stream) {
        self.marginal.draw_output_weights(stream, &mut self.tail);
        let outputs = self.shape.outputs;
        let tail = &mut state[self.shape.tail()];
        match &self.axes {
            None => tail.copy_from_slice(&self.tail),
            // Back from the principal axes: w_o = Σ_axis u_o,axis w_axis.
            Some(axes) => {
                for (row, drawn) in tail.chunks_mut(outputs).zip(self.tail.chunks(outputs)) {
                    for (output, slot) in row.iter_mut().enumerate() {
                        *slot = (0..outputs).map(|axis| axes[(output, axis)] * drawn[axis]).sum();
                    }
                }
            }
        }
        for weight in self.shape.direct_weights() {
            if self.mask.factor(weight) < 0.5 {
                state[weight] = self.scaled.scales[weight] * stream.normal();
            }
        }
    }
}
