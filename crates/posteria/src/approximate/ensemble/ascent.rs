//! Find hidden weights, precisions and levels by turns.

use posteria_linalg::{Cholesky, Matrix, NotPositiveDefinite};

use super::EnsembleOptions;
use super::level::{Level, LevelTerms};
use super::outputs::{Held, OutputsGiven};
use super::points::Points;
use super::structure::{Squares, Structure};
use crate::density::Precision;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};
use crate::model::mlp::{ScaleAbove, WeightPrecision};
use crate::random::Stream;

/// Ratio of successive temperatures, and rounds at each.
const RATIO: f64 = 2.0;
const ROUNDS_EACH: usize = 3;
/// Rounds of the precisions for each of the hidden weights.
const INNER: usize = 3;
/// The climb ends when so many rounds in a row change the bound by less than so many nats; without
/// hidden units, where rounds cost nothing, by less than the second number.
const STILL: usize = 3;
const SETTLED: [f64; 2] = [1e-3, 1e-9];
/// Standard deviation of starting weights, precisions at the start, and a width of the hidden
/// weights that is too small for any network.
const FIRST_WEIGHT: f64 = 0.3;
const FIRST_SCALE: f64 = 0.5;
const FIRST_WIDTH: f64 = 0.05;
/// Halvings of a step of the hidden weights before they stay.
const HALVINGS: usize = 10;
/// Points at which second derivatives are found, which vary little.
const CURVATURES: usize = 32;

/// A climb.
pub(super) struct Ascent<'n> {
    structure: &'n Structure<'n>,
    points: &'n Points,
    outputs: OutputsGiven<'n>,
    /// q of the hidden weights: mean, factor of the precision, variances.
    pub(super) mean: Vec<f64>,
    pub(super) factor: Cholesky,
    variances: Vec<f64>,
    squares: Squares,
    pub(super) precisions: Vec<Precision>,
    pub(super) levels: Vec<Level>,
    /// The bound at the beginning of every round with all of the likelihood.
    pub(super) bounds: Vec<f64>,
    pub(super) settled: bool,
}

/// Means over the points of the derivatives of F.
struct Derivatives {
    gradient: Vec<f64>,
    curvature: Matrix,
}

impl<'n> Ascent<'n> {
    /// Begins at small random hidden weights.
    pub(super) fn new(
        structure: &'n Structure<'n>,
        points: &'n Points,
        stream: &mut Stream,
    ) -> Self {
        let mut mean = vec![0.0; structure.hidden()];
        stream.fill_normal(&mut mean);
        mean.iter_mut().for_each(|weight| *weight *= FIRST_WEIGHT);
        let about = Precision { shape: 1.0, rate: FIRST_SCALE * FIRST_SCALE };
        Ascent::with(structure, points, mean, about)
    }

    fn with(
        structure: &'n Structure<'n>,
        points: &'n Points,
        mean: Vec<f64>,
        about: Precision,
    ) -> Self {
        let (network, count) = (&structure.network, mean.len());
        let mut factor = Matrix::identity(count);
        factor.values_mut().iter_mut().for_each(|entry| *entry /= FIRST_WIDTH);
        Ascent {
            structure,
            points,
            outputs: OutputsGiven::new(&structure.design),
            mean,
            factor: Cholesky::from_factor(factor),
            variances: vec![FIRST_WIDTH * FIRST_WIDTH; count],
            squares: structure.no_squares(),
            precisions: vec![about; network.precisions.len()],
            levels: network.levels.iter().map(|level| Level::at(level.prior.scale())).collect(),
            bounds: Vec::new(),
            settled: false,
        }
    }

    /// Begins at these weights, with precisions that fit their size and that of the residuals.
    pub(super) fn at(
        structure: &'n Structure<'n>,
        points: &'n Points,
        (weights, residuals): (&[f64], &[f64]),
    ) -> Self {
        let mean = weights[..structure.hidden()].to_vec();
        let about = Precision { shape: 1.0, rate: FIRST_SCALE * FIRST_SCALE };
        let mut ascent = Ascent::with(structure, points, mean, about);
        let of_squares = |values: &[f64]| values.iter().map(|value| value * value).collect();
        let squares = Squares { weights: of_squares(weights), residuals: of_squares(residuals) };
        let found = structure.given_squares(&squares, 1.0, |index| ascent.prior_rate(index).0);
        ascent.precisions = found;
        ascent
    }

    pub(super) fn bound(&self) -> f64 {
        self.bounds.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Climbs with a likelihood that grows to its full power from the first temperature.
    pub(super) fn warm(&mut self, options: &EnsembleOptions) -> Result<(), NotPositiveDefinite> {
        let mut power = options.first_temperature;
        while power < 1.0 {
            for _ in 0..ROUNDS_EACH {
                self.round(power)?;
            }
            power *= RATIO;
        }
        Ok(())
    }

    /// Climbs until nothing changes, or so many rounds in all are over.
    pub(super) fn climb(&mut self, rounds: usize) -> Result<(), NotPositiveDefinite> {
        let mut still = 0;
        let tolerance = SETTLED[usize::from(self.mean.is_empty())];
        while self.bounds.len() < rounds.max(1) && !self.settled {
            let bound = self.round(1.0)?;
            if !bound.is_finite() {
                return Err(NotPositiveDefinite { pivot: 0 });
            }
            still = if (bound - self.bound()).abs() < tolerance { still + 1 } else { 0 };
            self.bounds.push(bound);
            self.settled = still == STILL;
        }
        Ok(())
    }

    /// Hidden weights, then precisions and levels; the bound before.
    fn round(&mut self, power: f64) -> Result<f64, NotPositiveDefinite> {
        let count = self.mean.len();
        let spelled = self.structure.spell(|index| self.precisions[index].mean(), power);
        let zeros = Matrix::zeros(count, count);
        let mut found = Derivatives { gradient: vec![0.0; count], curvature: zeros };
        let derivatives = (count > 0).then_some(&mut found);
        let value = self.average(spelled.held(), derivatives)?;
        let bound = self.new_bound(value, spelled.held());
        if count > 0 {
            self.find_hidden(value, spelled.held(), &found);
        }
        for _ in 0..INNER {
            let spelled = self.structure.spell(|index| self.precisions[index].mean(), power);
            self.average(spelled.held(), None)?;
            self.find_precisions(power);
            self.find_levels();
        }
        Ok(bound)
    }

    /// The mean of F over the points; E v² and E (y - f)², and derivatives if they are wanted.
    fn average(
        &mut self,
        held: Held<'_>,
        mut derivatives: Option<&mut Derivatives>,
    ) -> Result<f64, NotPositiveDefinite> {
        let count = self.points.len();
        let share = 1.0 / count as f64;
        let curvatures = count.min(CURVATURES);
        self.squares = self.structure.no_squares();
        let mut hidden = vec![0.0; self.mean.len()];
        let mut value = 0.0;
        for point in 0..count {
            place(self.points.point(point), (&self.mean, &self.factor), &mut hidden);
            value += share * self.outputs.condition(&hidden, held)?;
            self.outputs.spread();
            let Squares { weights, residuals } = &mut self.squares;
            self.outputs.add_squares(share, weights, residuals);
            if let Some(found) = &mut derivatives {
                let pulls = self.outputs.add_gradient(held, share, &mut found.gradient);
                if point < curvatures {
                    let share = 1.0 / curvatures as f64;
                    self.outputs.add_curvature(held, share, &pulls, &mut found.curvature);
                }
            }
        }
        for (weight, slot) in self.squares.weights[..self.mean.len()].iter_mut().enumerate() {
            *slot = self.mean[weight] * self.mean[weight] + self.variances[weight];
        }
        Ok(value)
    }

    /// The part of the bound that hidden weights have, but for constants.
    fn height(&self, value: f64, alphas: &[f64]) -> f64 {
        let pairs = self.mean.iter().zip(&self.variances).zip(alphas);
        let prior: f64 = pairs.map(|((mean, var), alpha)| alpha * (mean * mean + var)).sum();
        value - 0.5 * (prior + self.factor.log_determinant())
    }

    /// A natural step of q(u) = N(ū, P⁻¹): P moves towards the mean of minus the second
    /// derivatives of the log density, which it equals at the best of all normal distributions
    /// [Opper & Archambeau 2009, eq. 11], and ū along P⁻¹ times the mean of the first ones [Khan &
    /// Rue 2023, eq. 28]; halved until the bound does not fall.
    fn find_hidden(&mut self, value: f64, held: Held<'_>, found: &Derivatives) {
        let count = self.mean.len();
        let alphas = &held.weights[..count];
        let before = self.height(value, alphas);
        let (mean, factor) = (self.mean.clone(), self.factor.clone());
        let variances = self.variances.clone();
        let lower = factor.factor();
        let rows = Matrix::from_fn(count, count, |k, i| if k <= i { lower[(i, k)] } else { 0.0 });
        let mut old = Matrix::zeros(count, count);
        posteria_linalg::symmetric_rank_k(&rows, &mut old);
        let pull = |weight: usize| found.gradient[weight] - alphas[weight] * mean[weight];
        let mut part = 1.0;
        for _ in 0..HALVINGS {
            let precision = Matrix::from_fn(count, count, |i, j| {
                let own = if i == j { alphas[i] } else { 0.0 };
                (1.0 - part) * old[(i, j)] + part * (found.curvature[(i, j)] + own)
            });
            if self.factor.factorize(&precision).is_ok() {
                let mut step: Vec<f64> = (0..count).map(pull).collect();
                self.factor.solve(&mut step);
                let moved = mean.iter().zip(&step).map(|(mean, step)| mean + part * step);
                self.mean = moved.collect();
                self.find_variances();
                let after = self.value(held).map(|value| self.height(value, alphas));
                if after.is_ok_and(|after| after >= before) {
                    return;
                }
            }
            part *= 0.5;
        }
        (self.mean, self.factor, self.variances) = (mean, factor, variances);
    }

    fn find_variances(&mut self) {
        let count = self.mean.len();
        let mut inverse = Matrix::zeros(count, count);
        self.factor.inverse_diagonal(&mut inverse, &mut self.variances);
    }

    /// The mean of F over the points.
    fn value(&mut self, held: Held<'_>) -> Result<f64, NotPositiveDefinite> {
        let mut hidden = vec![0.0; self.mean.len()];
        let mut sum = 0.0;
        for point in 0..self.points.len() {
            place(self.points.point(point), (&self.mean, &self.factor), &mut hidden);
            sum += self.outputs.condition(&hidden, held)?;
        }
        Ok(sum / self.points.len() as f64)
    }

    /// Mean and mean logarithm of the rate ν a²/2 of the prior of a precision.
    fn prior_rate(&self, index: usize) -> (f64, f64) {
        let at = &self.structure.network.precisions[index];
        let half = 0.5 * at.dof;
        match at.above {
            ScaleAbove::Known(scale) => {
                let rate = half * scale * scale;
                (rate, rate.ln())
            }
            ScaleAbove::Sampled(level) => {
                let level = self.levels[level];
                (half * level.square(), half.ln() + level.log_square())
            }
        }
    }

    fn find_precisions(&mut self, power: f64) {
        let rate = |index| self.prior_rate(index).0;
        let found = self.structure.given_squares(&self.squares, power, rate);
        self.precisions = found;
    }

    fn level_terms(&self, level: usize) -> LevelTerms {
        let network = &self.structure.network;
        let prior = &network.levels[level].prior;
        let (dof, scale) = (prior.dof(), prior.scale());
        let mut terms = LevelTerms { power: -0.5 * dof, up: 0.0, down: 0.5 * dof * scale * scale };
        for (at, own) in network.precisions.iter().zip(&self.precisions) {
            if matches!(at.above, ScaleAbove::Sampled(index) if index == level) {
                terms.power += 0.5 * at.dof;
                terms.up += 0.5 * at.dof * own.mean();
            }
        }
        terms
    }

    fn find_levels(&mut self) {
        for level in 0..self.levels.len() {
            self.levels[level] = self.levels[level].improved(self.level_terms(level));
        }
    }

    /// E log p - E log q with all of the likelihood, where the mean of F is `value` with these
    /// precisions.
    fn new_bound(&self, value: f64, held: Held<'_>) -> f64 {
        let network = &self.structure.network;
        let mut bound = self.height(value, &held.weights[..self.mean.len()]);
        bound += 0.5 * self.mean.len() as f64;
        for ((at, precision), target) in
            network.residuals.iter().zip(held.residuals).zip(network.targets())
        {
            bound += 0.5 * (self.precisions[*at].log_mean() - precision * target * target);
            bound -= LOG_SQRT_2PI;
        }
        for which in &network.weights {
            bound += 0.5
                * match which {
                    WeightPrecision::Known(precision) => precision.ln(),
                    WeightPrecision::Sampled(index) => self.precisions[*index].log_mean(),
                };
        }
        for (index, own) in self.precisions.iter().enumerate() {
            let shape = 0.5 * network.precisions[index].dof;
            bound += own.gain(shape, self.prior_rate(index));
        }
        for (level, at) in self.levels.iter().zip(&network.levels) {
            let (half, scale) = (0.5 * at.prior.dof(), at.prior.scale());
            let rate = half * scale * scale;
            let terms = LevelTerms { power: -half, up: 0.0, down: rate };
            bound += half * rate.ln() - ln_gamma(half) + level.value(terms);
        }
        bound
    }

    /// Mean and factor of the precision of the hidden weights of the one of equal ensembles that stands
    /// for all, as rounding decides which is found.
    pub(super) fn canonical(&mut self) -> (Vec<f64>, Cholesky) {
        let own = (self.mean.clone(), self.factor.clone());
        let spelled = self.structure.spell(|index| self.precisions[index].mean(), 1.0);
        if own.0.is_empty() || self.outputs.condition(&self.mean, spelled.held()).is_err() {
            return own;
        }
        let mut weights = vec![0.0; spelled.weights().len()];
        weights[..own.0.len()].copy_from_slice(&own.0);
        self.outputs.place(&mut weights);
        let posterior = self.structure.network.posterior;
        let symmetry = posterior.canonical(&weights).of_first(own.0.len());
        match symmetry.precision(&own.1) {
            Some(factor) => (symmetry.weights(&own.0), factor),
            None => own,
        }
    }

    /// Σ (1 - E α Var w), variances of output weights being those given the mean hidden weights.
    pub(super) fn effective_parameters(&mut self) -> f64 {
        let spelled = self.structure.spell(|index| self.precisions[index].mean(), 1.0);
        let mut squares = self.structure.no_squares();
        if self.outputs.condition(&self.mean, spelled.held()).is_err() {
            return f64::NAN;
        }
        self.outputs.spread();
        self.outputs.write_variances(&mut squares.weights);
        squares.weights[..self.mean.len()].copy_from_slice(&self.variances);
        let pairs = squares.weights.iter().zip(spelled.weights());
        pairs.map(|(variance, alpha)| 1.0 - alpha * variance).sum()
    }
}

/// u = ū + L⁻ᵀε.
pub(super) fn place(point: &[f64], (mean, factor): (&[f64], &Cholesky), hidden: &mut [f64]) {
    if hidden.is_empty() {
        return;
    }
    hidden.copy_from_slice(point);
    factor.solve_lower_transposed(hidden);
    hidden.iter_mut().zip(mean).for_each(|(slot, mean)| *slot += mean);
}
