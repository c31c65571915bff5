//! Share the work of a prediction among threads, until it is done or a signal comes.

use std::num::NonZero;

use posteria::approximate::Linearised;
use posteria::draws::Draws;
use posteria::fit::run_jobs;
use posteria::model::Posterior;
use posteria::model::spec::{ModelKind, Spec};
use posteria::predict::{Family, Predictive, PredictiveTable, Predictor};
use posteria::random::Seed;
use posteria_linalg::Matrix;

use crate::commands::Context;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::progress::JobProgress;
use posteria::fit::Conditioned;

/// Draws that one job takes through the model.
const DRAWS: usize = 64;
/// Rows that one job summarises.
const ROWS: usize = 8;

/// For which rows there are predictive distributions.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Those of these inputs, standardised like the training data.
    New(&'a Matrix),
    /// The rows of the fit, of which there are so many, as if they were new.
    Training(usize),
    /// Each of these rows of the fit, of which there are so many, given the others and a draw.
    LeaveOneOut(usize, &'a [usize]),
}

/// A posterior, its draws, and who works on them.
pub struct Work<'a> {
    posterior: &'a dyn Posterior,
    /// The draws.
    pub draws: &'a Draws,
    /// What the target follows given a draw.
    pub family: Family,
    /// Whether a draw leaves the function open.
    pub is_open: bool,
    /// Names the streams of what is drawn.
    pub seed: Seed,
    context: &'a Context,
    interrupt: &'a Interrupt,
    /// The network taken as linear about its approximation, where that predicts in place of draws.
    linearised: Option<Linearised<'a>>,
    /// Logarithms of the weights of the draws, where they are not equal.
    log_weights: Option<Vec<f64>>,
}

impl<'a> Work<'a> {
    /// What predicts for a run, whoever asks: its draws, or for a network that was approximated
    /// its linearisation where there is one. `None` if the posterior predicts nothing.
    ///
    /// # Errors
    /// If the approximation cannot be found again.
    pub fn of_run(
        posterior: &'a Conditioned,
        (spec, draws): (&Spec, &'a Draws),
        context: &'a Context,
        interrupt: &'a Interrupt,
    ) -> Result<Option<Self>> {
        let is_open = spec.model.kind == ModelKind::Gp;
        let Some(work) = Work::new(&**posterior, draws, is_open, context, interrupt) else {
            return Ok(None);
        };
        let linearised = posterior.linearised(spec, context.threads)?;
        Ok(Some(Work { linearised, ..work }))
    }

    /// Predicts by draws alone. `None` if the posterior predicts nothing.
    pub fn new(
        posterior: &'a dyn Posterior,
        draws: &'a Draws,
        is_open: bool,
        context: &'a Context,
        interrupt: &'a Interrupt,
    ) -> Option<Self> {
        let family = posterior.predictor()?.family();
        let (seed, linearised, log_weights) = (context.seed(), None, None);
        Some(Work {
            posterior,
            draws,
            family,
            is_open,
            seed,
            context,
            interrupt,
            linearised,
            log_weights,
        })
    }

    /// The same with these logarithms of the weights of all draws, chain after chain.
    #[must_use]
    pub fn weighted(self, log_weights: Option<Vec<f64>>) -> Self {
        Work { log_weights, ..self }
    }

    /// Whether a linearisation predicts in place of draws.
    pub fn is_linearised(&self) -> bool {
        self.linearised.is_some()
    }

    /// Number of draws of all chains together.
    pub fn total(&self) -> usize {
        self.draws.chains * self.draws.draws
    }

    /// A predictor for one job.
    pub fn predictor(&self) -> Box<dyn Predictor + 'a> {
        self.posterior.predictor().expect("seen when the work began")
    }

    /// What `each` makes of the predictive distribution of every row of `inputs`. Blocks depend on
    /// the number of draws alone, and rows not on each other: neither do results on the threads.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn map_rows<T: Send>(
        &self,
        inputs: &Matrix,
        each: impl Fn(usize, &Predictive<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        self.for_rows("quantiles", Source::New(inputs), |row, table, index| {
            match &self.log_weights {
                Some(logs) => each(row, &table.weighted(index, logs)),
                None => each(row, &table.predictive(index)),
            }
        })
    }

    /// What `job` says of every row: it is given the number of the row, and the table that holds
    /// the row's predictive distribution at an index. If it takes long, stderr tells how far `what`
    /// is. Blocks depend on the number of draws alone, so results do not depend on the threads.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn for_rows<T: Send>(
        &self,
        what: &str,
        source: Source<'_>,
        job: impl Fn(usize, &PredictiveTable, usize) -> T + Sync,
    ) -> Result<Vec<T>> {
        let count = match source {
            Source::New(inputs) => inputs.rows(),
            Source::Training(rows) => rows,
            Source::LeaveOneOut(_, rows) => rows.len(),
        };
        if let Some(linearised) = &self.linearised {
            let parameters = match source {
                Source::New(inputs) => linearised.parameters(inputs),
                Source::Training(_) => linearised.at_training_rows(),
                Source::LeaveOneOut(_, rows) => {
                    let all = linearised.leave_one_out().map_err(undetermined)?;
                    let width = self.family.width();
                    rows.iter().flat_map(|row| &all[row * width..][..width]).copied().collect()
                }
            };
            let table = PredictiveTable::known(self.family, parameters);
            return self.each_row(what, (0, count), &table, &job);
        }
        let total = self.total();
        let at_once = PredictiveTable::rows_at_once(self.family, total);
        let mut results = Vec::with_capacity(count);
        for first in (0..count).step_by(at_once) {
            let block = first..count.min(first + at_once);
            let inputs = match source {
                Source::New(inputs) => Some(inputs.rows_in(block.clone())),
                _ => None,
            };
            let parts = self.run("predictions", total.div_ceil(DRAWS), |part| {
                let draws = part * DRAWS..total.min((part + 1) * DRAWS);
                let predictor = &mut *self.predictor();
                match (source, &inputs) {
                    (Source::LeaveOneOut(all, rows), _) => {
                        let rows = (all, &rows[block.clone()]);
                        PredictiveTable::leave_one_out_of(predictor, (self.draws, draws), rows)
                    }
                    (Source::Training(all), _) => {
                        let rows = (all, block.clone());
                        PredictiveTable::at_training_rows(predictor, (self.draws, draws), rows)
                    }
                    (Source::New(_), inputs) => {
                        let inputs = inputs.as_ref().expect("the rows of this block");
                        PredictiveTable::new(predictor, self.draws, draws, inputs)
                    }
                }
            })?;
            let table = PredictiveTable::join(&parts);
            drop(parts);
            results.extend(self.each_row(what, (first, block.len()), &table, &job)?);
        }
        Ok(results)
    }

    /// What `job` says of each of the `count` rows of a table, the first of which has the number
    /// `first`.
    fn each_row<T: Send>(
        &self,
        what: &str,
        (first, count): (usize, usize),
        table: &PredictiveTable,
        job: &(impl Fn(usize, &PredictiveTable, usize) -> T + Sync),
    ) -> Result<Vec<T>> {
        let done = self.run(what, count.div_ceil(ROWS), |part| {
            let rows = part * ROWS..count.min((part + 1) * ROWS);
            rows.map(|index| job(first + index, table, index)).collect::<Vec<T>>()
        })?;
        Ok(done.into_iter().flatten().collect())
    }

    /// Runs jobs 0, …, `count` - 1; results in their order. If it takes long, stderr tells how
    /// far `what` is.
    ///
    /// # Errors
    /// [`Failure::Interrupted`] if a signal came.
    pub fn run<T: Send>(
        &self,
        what: &str,
        count: usize,
        job: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>> {
        let stopped = || self.interrupt.signal();
        let progress = JobProgress::new(self.context.output, what, count);
        let results = run_jobs(count, self.context.threads, |index| match stopped() {
            None => {
                let result = job(index);
                progress.finish_one();
                Some(result)
            }
            Some(_) => None,
        });
        progress.finish();
        match (stopped(), results.into_iter().collect()) {
            (None, Some(results)) => Ok(results),
            (signal, _) => Err(Failure::Interrupted {
                signal: signal.unwrap_or_default(),
                advice: "nothing was written; repeat the command".into(),
            }),
        }
    }
}

/// A row without which the linearised outputs are not determined.
fn undetermined(row: usize) -> Failure {
    Failure::bad_input(format!(
        "row {} cannot be left out of the linearised network, which nothing else determines there; \
         use --method kfold, or fit with --inference mcmc",
        row + 1
    ))
}

/// About `asked` of the draws, evenly spaced up to the last draw of every chain.
pub fn spread_evenly(draws: Draws, asked: Option<NonZero<usize>>) -> Draws {
    let Draws { chains, draws: count, .. } = draws;
    let Some(asked) = asked.map(NonZero::get) else { return draws };
    let per_chain = asked.div_ceil(chains.max(1));
    if per_chain >= count {
        return draws;
    }
    let mut values = Vec::with_capacity(chains * per_chain * draws.layout.len());
    for chain in 0..chains {
        for index in 0..per_chain {
            values.extend_from_slice(draws.draw(chain, (index + 1) * count / per_chain - 1));
        }
    }
    Draws { draws: per_chain, values, ..Draws::empty(draws.layout.clone(), chains, 0) }
}
