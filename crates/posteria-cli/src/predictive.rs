//! Draw what the data might have been, for readers of the store of a run.

use posteria::approximate::Linearised;
use posteria::data::{Dataset, Targets};
use posteria::draws::{Draws, Layout, Variable};
use posteria::fit::{Conditioned, PosteriorPredictive};
use posteria::model::Posterior;
use posteria::model::spec::Spec;
use posteria::predict::{Predictive, Predictor};
use posteria::random::{Purpose, Stream};
use posteria_store::{Added, AddedArray, AddedGroup, Axis, Labels, MOST_PREDICTIVE_BYTES};

use crate::commands::Context;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;

/// Draws that one job takes.
const DRAWS: usize = 16;
/// Of functions that are integrated out, every draw of theirs at all rows takes time in proportion
/// to the cube of the rows: so many of these in all, …
const MOST_CUBES: f64 = 4e10;
/// … and not fewer draws of a chain than these.
const FEWEST: usize = 50;
/// What the name of a target that is left out ends in.
const LEFT_OUT: &str = "_loo";
/// What a draw holds that is no parameter.
const DERIVED: [&str; 4] = ["fitted", Layout::FITTED_MEAN, "training_error", "test_error"];

/// A run whose predictions are drawn.
pub struct Predicted<'a> {
    /// Its specification.
    pub spec: &'a Spec,
    /// Its data.
    pub data: &'a Dataset,
    /// Its model.
    pub posterior: &'a Conditioned,
    /// Who works on it.
    pub context: &'a Context,
    /// When to stop.
    pub interrupt: &'a Interrupt,
}

impl Predicted<'_> {
    /// New targets at the rows of the fit, from the distribution that predictions are of: one for
    /// every draw, or for evenly chosen ones if that is more than a store is to hold or takes too
    /// long. `None` for a
    /// model without targets, and for more rows than that.
    ///
    /// Every draw has a stream of its own: threads, resumptions and extensions change nothing.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if a signal came.
    pub fn posterior_predictive(&self, draws: &Draws) -> Result<Option<AddedGroup>> {
        let posterior: &dyn Posterior = &**self.posterior;
        let (seed, workers) = (self.spec.sampling.seed(), self.context.workers(self.interrupt));
        let Some(work) = PosteriorPredictive::new(posterior, draws, false, seed, &workers) else {
            return Ok(None);
        };
        let targets = work.family.targets();
        let rows = self.data.rows() * targets;
        // Where the function is integrated out, leave-one-out needs targets of its own.
        let alone = posterior.layout().variable(Layout::FITTED_MEAN).is_some();
        let width = if alone { 2 * rows } else { rows };
        let most = MOST_PREDICTIVE_BYTES / (8 * width * draws.chains).max(1);
        let cubes = (self.data.rows() as f64).powi(3) * draws.chains as f64;
        let affordable = ((MOST_CUBES / cubes) as usize).max(FEWEST);
        let kept = draws.draws.min(if alone { most.min(affordable) } else { most });
        if width == 0 || kept == 0 {
            return Ok(None);
        }
        let numbers: Vec<usize> =
            (0..kept).map(|index| (index + 1) * draws.draws / kept - 1).collect();
        let linearised = self.posterior.linearised(self.spec, self.context.threads)?;
        let linearised = linearised.as_ref().map(|it| (it, it.parameters(&self.data.inputs)));
        let total = draws.chains * kept;
        let first = self.spec.sampling.only_chain.map_or(0, |chain| chain - 1);
        let values = work.workers.run("posterior predictive", total.div_ceil(DRAWS), |job| {
            let mut predictor = work.predictor();
            let here = job * DRAWS..total.min((job + 1) * DRAWS);
            let mut values = vec![0.0; here.len() * width];
            for (place, values) in here.zip(values.chunks_exact_mut(width)) {
                let (chain, number) = (place / kept, numbers[place % kept]);
                let indices = [(first + chain) as u64, number as u64];
                let stream = &mut seed.stream(Purpose::Replicates, indices);
                match &linearised {
                    Some((of, parameters)) => linear_targets(of, parameters, stream, values),
                    None => {
                        let (values, left_out) = values.split_at_mut(rows);
                        let draw = draws.draw(chain, number);
                        predictor.replicate(draw, stream, values);
                        if alone {
                            leave_one_out(&mut *predictor, draw, stream, left_out);
                        }
                    }
                }
            }
            values
        })?;
        let (group, chains) = (Added::PosteriorPredictive, draws.chains);
        let values = values.concat();
        let part = |first: usize| -> Vec<f64> {
            let draws = values.chunks_exact(width);
            draws.flat_map(|draw| &draw[first..first + rows]).copied().collect()
        };
        let mut arrays = self.arrays(targets, &part(0));
        if alone {
            let left_out = self.arrays(targets, &part(rows));
            arrays.extend(
                left_out
                    .into_iter()
                    .map(|array| AddedArray { name: format!("{}{LEFT_OUT}", array.name), ..array }),
            );
        }
        Ok(Some(AddedGroup { group, chains, draws: numbers, arrays }))
    }

    /// `count` draws of the parameters from their prior, and new targets that follow from each.
    ///
    /// # Errors
    /// If the model cannot draw from its prior, or a signal came.
    pub fn prior(&self, count: usize) -> Result<[AddedGroup; 2]> {
        let posterior: &dyn Posterior = &**self.posterior;
        let layout = posterior.layout();
        let none = Draws::empty(layout.clone(), 1, 0);
        let (seed, workers) = (self.spec.sampling.seed(), self.context.workers(self.interrupt));
        let work = PosteriorPredictive::new(posterior, &none, false, seed, &workers)
            .filter(|work| work.family.targets() > 0);
        let cannot = || {
            let kind = self.spec.model.kind.name();
            Failure::bad_input(format!(
                "this {kind} model cannot draw from its prior; omit --prior"
            ))
        };
        let work = work.ok_or_else(cannot)?;
        let targets = work.family.targets();
        let width = self.data.rows() * targets;
        if width.saturating_mul(count).saturating_mul(8) > MOST_PREDICTIVE_BYTES {
            return Err(Failure::bad_input(format!(
                "--prior {count}: {count} draws of {width} targets are too many; ask for at most {}",
                MOST_PREDICTIVE_BYTES / (8 * width)
            )));
        }
        let drawn = work.workers.run("prior predictive", count.div_ceil(DRAWS), |job| {
            let mut predictor = work.predictor();
            let here = job * DRAWS..count.min((job + 1) * DRAWS);
            let one = |number: usize| {
                let stream = |what| seed.stream(Purpose::Prior, [number as u64, what]);
                let draw = posterior.draw_prior(&mut stream(0))?;
                let mut values = vec![0.0; width];
                predictor.replicate_prior(&draw, &mut stream(1), &mut values);
                Some((draw, values))
            };
            here.map(one).collect::<Vec<_>>()
        })?;
        // A covariance of extreme hyperparameters may be none for a computer: it is left out.
        let drawn: Vec<(Vec<f64>, Vec<f64>)> = drawn.into_iter().flatten().flatten().collect();
        if drawn.is_empty() {
            return Err(cannot());
        }
        let numbers: Vec<usize> = (0..drawn.len()).collect();
        let parameters = layout.variables().iter().filter(|it| !DERIVED.contains(&&*it.name));
        let variable = |variable: &Variable| AddedArray {
            name: variable.name.clone(),
            axes: variable.dimensions.iter().map(axis).collect(),
            whole: false,
            values: drawn.iter().flat_map(|(draw, _)| &draw[variable.range()]).copied().collect(),
        };
        let targets_of_all: Vec<f64> =
            drawn.iter().flat_map(|(_, values)| values).copied().collect();
        let group = |group, arrays| AddedGroup { group, chains: 1, draws: numbers.clone(), arrays };
        Ok([
            group(Added::Prior, parameters.map(variable).collect()),
            group(Added::PriorPredictive, self.arrays(targets, &targets_of_all)),
        ])
    }

    /// One array per target of values that lie together row by row.
    fn arrays(&self, targets: usize, values: &[f64]) -> Vec<AddedArray> {
        let (names, whole) = match &self.data.targets {
            Targets::Real { names, .. } => (names.clone(), false),
            Targets::Classes { name, .. } => (vec![name.clone()], true),
        };
        let array = |(target, name): (usize, String)| AddedArray {
            name,
            axes: vec![Axis::rows(self.data.rows())],
            whole,
            values: values.iter().skip(target).step_by(targets).copied().collect(),
        };
        names.into_iter().enumerate().map(array).collect()
    }
}

/// Targets that every row would have given all other rows and a draw of the hyperparameters, each by
/// itself: what weights of leave-one-out are about where the log likelihood of a row is its density
/// given the other rows.
fn leave_one_out(
    predictor: &mut dyn Predictor,
    draw: &[f64],
    stream: &mut Stream,
    targets: &mut [f64],
) {
    let family = predictor.family();
    let mut parameters = vec![0.0; targets.len() / family.targets() * family.width()];
    predictor.leave_one_out(draw, &mut parameters);
    let each = parameters.chunks_exact(family.width());
    for (parameters, targets) in each.zip(targets.chunks_exact_mut(family.targets())) {
        Predictive::new(family, parameters).draw(stream, targets);
    }
}

/// Targets of a network that is taken as linear, each row by itself.
fn linear_targets(
    linearised: &Linearised<'_>,
    parameters: &[f64],
    stream: &mut Stream,
    targets: &mut [f64],
) {
    let family = linearised.family();
    let each = parameters.chunks_exact(family.width());
    for (parameters, targets) in each.zip(targets.chunks_exact_mut(family.targets())) {
        Predictive::new(family, parameters).draw(stream, targets);
    }
}

fn axis(dimension: &posteria::draws::Dimension) -> Axis {
    let labels = Labels::Named(dimension.labels.clone());
    Axis { name: dimension.name.clone(), labels }
}
