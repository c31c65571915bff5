//! Draw what the data might have been: from the posterior, and from the prior.

use super::{FitError, PosteriorPredictive, Prepared, Workers, device_lives};
use crate::draws::{Draws, Role};
use crate::model::Posterior;
use crate::predict::{Family, Predictive};
use crate::random::{Purpose, Stream};

/// Draws that one job takes.
const DRAWS: usize = 16;
/// Of functions that are integrated out, every draw of theirs at all rows takes time in proportion
/// to the cube of the rows: so many of these in all, …
const MOST_CUBES: f64 = 1e10;
/// … and not fewer draws of a chain than these.
const FEWEST: usize = 50;

/// New targets at the rows of a fit.
pub struct Replicates {
    /// Number of chains.
    pub chains: usize,
    /// Numbers of the draws of a chain that they follow from.
    pub draws: Vec<usize>,
    /// Targets of a row.
    pub targets: usize,
    /// Draw after draw, of each row after row the targets: for every draw as if all rows were new.
    pub values: Vec<f64>,
    /// The same of every row given all other rows and a draw, each by itself, where functions are
    /// integrated out: what weights of leave-one-out are about.
    pub left_out: Option<Vec<f64>>,
}

/// Draws from the prior.
pub struct PriorDraws {
    /// What a draw holds, as the layout names it.
    pub draws: Vec<Vec<f64>>,
    /// Targets of a row.
    pub targets: usize,
    /// New targets of all rows that follow from each.
    pub values: Vec<f64>,
}

impl Prepared {
    /// New targets at the rows of the fit, from the distribution that predictions are of: one for
    /// every draw, or for evenly chosen ones if they would take more than `most_bytes` or too long.
    /// `None` for a model without targets, and for more rows than that.
    ///
    /// Every draw has a stream of its own: threads, resumptions and extensions change nothing.
    ///
    /// # Errors
    /// [`FitError`] if an approximation cannot be found again, or the work was cancelled.
    pub fn replicates(
        &self,
        draws: &Draws,
        most_bytes: usize,
        workers: &Workers,
    ) -> Result<Option<Replicates>, FitError> {
        let posterior: &dyn Posterior = &*self.posterior;
        let seed = self.spec.sampling.seed();
        let predictive = PosteriorPredictive::new(posterior, draws, false, seed, workers);
        let Some(predictive) = predictive else { return Ok(None) };
        let targets = predictive.family.targets();
        let rows = self.data.rows() * targets;
        // Where the function is integrated out, leave-one-out needs targets of its own.
        let alone = posterior.layout().of_role(Role::FittedMean).is_some();
        let width = if alone { 2 * rows } else { rows };
        let most = most_bytes / (8 * width * draws.chains).max(1);
        let cubes = (self.data.rows() as f64).powi(3) * draws.chains as f64;
        let affordable = ((MOST_CUBES / cubes) as usize).max(FEWEST);
        let kept = draws.draws.min(if alone { most.min(affordable) } else { most });
        if width == 0 || kept == 0 {
            return Ok(None);
        }
        let numbers: Vec<usize> =
            (0..kept).map(|index| (index + 1) * draws.draws / kept - 1).collect();
        let linearised = self.posterior.linearised(&self.spec, workers.threads)?;
        let linearised = linearised.map(|it| (it.family(), it.parameters(&self.data.inputs)));
        let total = draws.chains * kept;
        let first = self.spec.sampling.only_chain.map_or(0, |chain| chain - 1);
        let drawn = workers.run("posterior predictive", total.div_ceil(DRAWS), |job| {
            let mut predictor = predictive.predictor();
            let here = job * DRAWS..total.min((job + 1) * DRAWS);
            let mut values = vec![0.0; here.len() * width];
            // Of every row given all other rows and the hyperparameters of a draw.
            let of_rows = self.data.rows() * predictive.family.width();
            let mut parameters = vec![0.0; if alone { of_rows } else { 0 }];
            for (place, values) in here.zip(values.chunks_exact_mut(width)) {
                let (chain, number) = (place / kept, numbers[place % kept]);
                let indices = [(first + chain) as u64, number as u64];
                let stream = &mut seed.stream(Purpose::Replicates, indices);
                match &linearised {
                    Some((family, parameters)) => draw_rows(*family, parameters, stream, values),
                    None => {
                        let (values, left_out) = values.split_at_mut(rows);
                        let draw = draws.draw(chain, number);
                        predictor.replicate(draw, stream, values);
                        if alone {
                            predictor.leave_one_out(draw, &mut parameters);
                            draw_rows(predictive.family, &parameters, stream, left_out);
                        }
                    }
                }
            }
            values
        })?;
        device_lives(posterior)?;
        let drawn = drawn.concat();
        let part = |first: usize| -> Vec<f64> {
            let draws = drawn.chunks_exact(width);
            draws.flat_map(|draw| &draw[first..first + rows]).copied().collect()
        };
        let left_out = alone.then(|| part(rows));
        let (chains, values) = (draws.chains, part(0));
        Ok(Some(Replicates { chains, draws: numbers, targets, values, left_out }))
    }

    /// The most draws from the prior of which [`Prepared::prior_draws`] gives targets that take no more
    /// than so many bytes.
    pub fn most_prior_draws(&self, most_bytes: usize) -> usize {
        let family = self.posterior.predictor().map(|it| it.family());
        let width = self.data.rows() * family.map_or(0, |family| family.targets());
        most_bytes.checked_div(8 * width).unwrap_or(usize::MAX)
    }

    /// `count` draws of the parameters from their prior, and new targets that follow from each; fewer
    /// where a covariance of extreme hyperparameters is none for a computer. `None` if the model
    /// cannot draw from its prior or has no targets.
    ///
    /// # Errors
    /// [`FitError`] if the work was cancelled.
    pub fn prior_draws(
        &self,
        count: usize,
        workers: &Workers,
    ) -> Result<Option<PriorDraws>, FitError> {
        let posterior: &dyn Posterior = &*self.posterior;
        let Some(family) = posterior.predictor().map(|it| it.family()) else { return Ok(None) };
        let (seed, targets) = (self.spec.sampling.seed(), family.targets());
        let width = self.data.rows() * targets;
        if targets == 0 {
            return Ok(None);
        }
        let drawn = workers.run("prior predictive", count.div_ceil(DRAWS), |job| {
            let mut predictor = posterior.predictor().expect("it was there before");
            let one = |number: usize| {
                let stream = |what| seed.stream(Purpose::Prior, [number as u64, what]);
                let draw = posterior.draw_prior(&mut stream(0))?;
                let mut values = vec![0.0; width];
                predictor.replicate_prior(&draw, &mut stream(1), &mut values);
                Some((draw, values))
            };
            (job * DRAWS..count.min((job + 1) * DRAWS)).map(one).collect::<Vec<_>>()
        })?;
        let (draws, values): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            drawn.into_iter().flatten().flatten().unzip();
        if draws.is_empty() {
            return Ok(None);
        }
        Ok(Some(PriorDraws { draws, targets, values: values.concat() }))
    }
}

/// Targets of rows whose distributions have these parameters, each row by itself.
pub(super) fn draw_rows(
    family: Family,
    parameters: &[f64],
    stream: &mut Stream,
    targets: &mut [f64],
) {
    let each = parameters.chunks_exact(family.width());
    for (parameters, targets) in each.zip(targets.chunks_exact_mut(family.targets())) {
        Predictive::new(family, parameters).draw(stream, targets);
    }
}
