//! Draw κ of every residual with the functions integrated out.

use posteria_linalg::{Cholesky, Matrix};

use super::Neighbours;
use crate::model::gp::covariance::Evaluator;
use crate::model::gp::posterior::GpPosterior;
use crate::model::residual::{LOG_CASE_LIMIT, Residual};
use crate::random::Stream;
use crate::sample::{Step, Update, slice_sample};
use crate::target::Infeasible;

/// First width of the slices of log κ.
const WIDTH: f64 = 2.0;
/// Most steps out of a slice.
const STEPS_OUT: usize = 20;

/// κ of every residual, one after the other given all others, and the degrees of freedom given κ.
///
/// κ_i is in the densities p(y_j | y_N(j)) of the row itself and of rows j that have i among their neighbours.
/// With P = C⁻¹ of such a set, q the place of i, τ = 1/P_qq - σ²/κ_i the variance of what its target follows but
/// for its own residual, g = P_·q/P_qq and e = (P y)_q/P_qq do not depend on κ_i, and
/// P = P° + p g gᵀ, P y = (P y)° + p e g with p = 1/(τ + σ²/κ_i): any value of κ_i takes a few operations
/// per set, and a change of it an update of rank one. A pass takes a time like that of the density of all
/// rows, rows × m³.
pub(in crate::model::gp) struct CasesUpdate<'p> {
    posterior: &'p GpPosterior,
    residual: Residual,
    inverse_temperature: f64,
    neighbours: &'p Neighbours,
    covariance: Evaluator<'p>,
    /// For every row: the sets that it is in, and its place there.
    places: Vec<Vec<(usize, usize)>>,
    sets: Vec<Inverse>,
    rooms: Vec<(Matrix, Cholesky)>,
    log_parameters: Vec<f64>,
    variances: Vec<f64>,
    views: Vec<View>,
    weights: Vec<f64>,
}

/// C⁻¹ of the targets of a set, and C⁻¹ y.
struct Inverse {
    matrix: Matrix,
    solved: Vec<f64>,
}

/// What the density of a set's last row is as a function of the variance at another place.
struct View {
    /// τ, without the residual's own part.
    variance: f64,
    /// Entries of P° and (P y)° of the last row.
    precision: f64,
    solved: f64,
    /// g of the last row, and e.
    weight: f64,
    error: f64,
}

impl View {
    fn log_density(&self, residual_variance: f64) -> f64 {
        let own = (self.variance + residual_variance).recip();
        let precision = self.precision + self.weight * self.weight * own;
        let solved = self.solved + self.weight * self.error * own;
        0.5 * precision.ln() - 0.5 * solved * solved / precision
    }
}

impl Inverse {
    fn view(&self, place: usize, residual_variance: f64, least: f64) -> View {
        let last = self.solved.len() - 1;
        let column = self.matrix.column(place);
        let own = column[place];
        let (weight, error) = (column[last] / own, self.solved[place] / own);
        View {
            variance: (own.recip() - residual_variance).max(least),
            precision: (self.matrix[(last, last)] - weight * column[last]).max(0.0),
            solved: self.solved[last] - weight * self.solved[place],
            weight,
            error,
        }
    }

    /// Takes another residual variance at a place, of which `view` was made.
    fn change(
        &mut self,
        place: usize,
        view: &View,
        residual_variance: f64,
        weights: &mut Vec<f64>,
    ) {
        let own = self.matrix[(place, place)];
        weights.clear();
        weights.extend(self.matrix.column(place).iter().map(|entry| entry / own));
        let change = (view.variance + residual_variance).recip() - own;
        for (index, by) in weights.iter().enumerate() {
            let factor = change * by;
            let column = self.matrix.column_mut(index);
            column.iter_mut().zip(&*weights).for_each(|(entry, weight)| *entry += factor * weight);
            self.solved[index] += factor * view.error;
        }
    }
}

impl<'p> CasesUpdate<'p> {
    pub(in crate::model::gp) fn new(
        posterior: &'p GpPosterior,
        residual: &'p Residual,
        neighbours: &'p Neighbours,
        inverse_temperature: f64,
    ) -> Self {
        let GpPosterior { covariance, inputs, .. } = posterior;
        let mut places = vec![Vec::new(); residual.rows];
        for (which, set) in neighbours.sets.iter().enumerate() {
            set.iter().enumerate().for_each(|(place, row)| places[*row].push((which, place)));
        }
        let inverse = |set: &Vec<usize>| Inverse {
            matrix: Matrix::zeros(set.len(), set.len()),
            solved: vec![0.0; set.len()],
        };
        let room = |size: usize| (Matrix::zeros(size, size), Cholesky::identity(size));
        CasesUpdate {
            posterior,
            residual: residual.clone(),
            inverse_temperature,
            neighbours,
            covariance: covariance.evaluator(inputs),
            places,
            sets: neighbours.sets.iter().map(inverse).collect(),
            rooms: (0..=neighbours.most + 1).map(room).collect(),
            log_parameters: vec![0.0; covariance.parameters().len()],
            variances: vec![0.0; residual.rows],
            views: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Inverts the covariances of all sets of one target.
    fn invert(&mut self, target: usize, state: &[f64]) -> Result<(), Infeasible> {
        let rows = self.residual.rows;
        let first = target * rows;
        let Some(cases) = self.residual.cases.clone() else { return Ok(()) };
        for (row, variance) in self.variances.iter_mut().enumerate() {
            let scale = self.residual.log_scale(state, first + row).exp();
            *variance = scale * scale / state[cases.start + first + row];
        }
        let jitter_variance = self.posterior.jitter * self.posterior.jitter;
        for (set, Inverse { matrix, solved }) in self.neighbours.sets.iter().zip(&mut self.sets) {
            let (covariances, factor) = &mut self.rooms[set.len()];
            self.covariance.fill_rows(set, covariances);
            for (place, row) in set.iter().enumerate() {
                covariances[(place, place)] += jitter_variance + self.variances[*row];
                solved[place] = self.residual.targets[first + row];
            }
            factor
                .factorize(covariances)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            factor.solve(solved);
            factor.inverse(matrix);
        }
        Ok(())
    }

    /// Draws κ of one row given all others, from the inverses at hand, which follow it.
    fn draw_case(&mut self, target: usize, row: usize, state: &mut [f64], stream: &mut Stream) {
        let index = target * self.residual.rows + row;
        let Some(cases) = self.residual.cases.clone() else { return };
        let slot = cases.start + index;
        let square = (2.0 * self.residual.log_scale(state, index)).exp();
        let least = self.posterior.jitter * self.posterior.jitter;
        let present = self.variances[row];
        self.views.clear();
        let sets = &self.sets;
        let view = |(set, place): &(usize, usize)| sets[*set].view(*place, present, least);
        self.views.extend(self.places[row].iter().map(view));
        let (residual, views, beta) = (&self.residual, &self.views, self.inverse_temperature);
        let dof = residual.dof_of(state, index);
        let log_density = |x: f64| {
            if x.abs() > LOG_CASE_LIMIT {
                return f64::NEG_INFINITY;
            }
            let variance = square * (-x).exp();
            let of_sets: f64 = views.iter().map(|view| view.log_density(variance)).sum();
            beta * of_sets + residual.log_case_kernel(dof, x)
        };
        let drawn = slice_sample(state[slot].ln(), log_density, WIDTH, STEPS_OUT, stream);
        state[slot] = drawn.value.exp();
        self.variances[row] = square / state[slot];
        for (&(set, place), view) in self.places[row].iter().zip(&self.views) {
            self.sets[set].change(place, view, self.variances[row], &mut self.weights);
        }
    }

    fn draw(&mut self, state: &mut [f64], stream: &mut Stream) -> Result<(), Infeasible> {
        if self.inverse_temperature <= 0.0 {
            self.residual.draw_prior_of_dof(state, stream);
            self.residual.draw_case_variances(state, stream);
            return Ok(());
        }
        for process in &self.posterior.processes {
            process.hyperparameters.write_parameters(state, &mut self.log_parameters);
            self.covariance.set(&self.log_parameters);
            for target in process.targets.clone() {
                self.invert(target, state)?;
                for row in 0..self.residual.rows {
                    self.draw_case(target, row, state, stream);
                }
            }
        }
        match self.residual.draw_dof_given_cases(state, stream) {
            true => Ok(()),
            false => Err(Infeasible::NotFinite),
        }
    }
}

impl Update for CasesUpdate<'_> {
    fn name(&self) -> &str {
        "residual"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match self.draw(state, stream) {
            Ok(()) => Step::default(),
            Err(infeasible) => Step::stayed(infeasible),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
