//! Predict every row by rows that it is not among, one way or another.

use posteria::assess::utility::Utility;
use posteria::assess::{
    KFoldUtilities, LeaveOneOut, PointwiseUtilities, RowSample, RowUtilities, Smoothing,
    UtilityEvaluator, pointwise_utilities,
};
use posteria::caution::Caution;
use posteria::data::{Dataset, FoldScheme, Folds, Targets};
use posteria::draws::Draws;
use posteria::model::spec::ModelKind;
use posteria::random::Purpose;
use posteria_linalg::Matrix;

use super::{Subject, Subsample};
use crate::commands::Context;
use crate::failure::{Classify, Failure, Result};
use crate::folds::Division;
use crate::interrupt::Interrupt;
use posteria::fit::Conditioned;
use posteria::fit::{PosteriorPredictive, PredictedRows};

/// How every row is predicted.
#[derive(Clone, Debug)]
pub enum Method {
    /// By the draws given all rows, weighted so that the row itself does not count.
    LeaveOneOut {
        /// What happens to the largest weights.
        smoothing: Smoothing,
        /// What happens to rows whose weights cannot be trusted.
        repair: Repair,
        /// How many of the rows are left out.
        subsample: Subsample,
    },
    /// By fits without the fold that the row is in.
    KFold {
        /// How rows are divided; each division is one more repetition.
        schemes: Vec<FoldScheme>,
        /// Draws of every chain of a fold; as the run has if absent.
        draws: Option<usize>,
    },
    /// By the draws given all rows, the row itself among them.
    Posterior,
    /// By the prior.
    Prior,
    /// Rows that the run has not seen, by its draws.
    HoldOut,
}

impl Method {
    /// As JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Method::LeaveOneOut { .. } => "loo",
            Method::KFold { .. } => "kfold",
            Method::Posterior => "posterior",
            Method::Prior => "prior",
            Method::HoldOut => "holdout",
        }
    }
}

/// What happens to rows whose importance weights cannot be trusted, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Repair {
    /// Whether draws are moment-matched for the row.
    pub matching: bool,
    /// At most so many rows are left out by new fits.
    pub refits: usize,
}

/// How well a run predicts.
pub struct Assessed {
    /// The utilities of every row.
    pub utilities: Vec<PointwiseUtilities>,
    /// What is known about every row.
    pub evaluated: Vec<RowUtilities>,
    /// What importance sampling says about itself, if that was done.
    pub loo: Option<LeaveOneOut>,
    /// The rows that everything here is about, if they are a sample.
    pub sample: Option<RowSample>,
    /// Rows that were left out by moment-matched draws.
    pub matched: Vec<usize>,
    /// Rows that were left out by a new fit.
    pub refitted: Vec<usize>,
    /// The fold of every row, if rows were divided.
    pub folds: Option<Vec<usize>>,
    /// The log predictive density of every row given all of them, if rows were left out without
    /// importance weights.
    pub training: Option<Vec<f64>>,
    /// Whether a linearised network predicts, and not draws of its weights.
    pub linearised: bool,
    /// Rows whose importance weights still cannot be trusted.
    pub failing: usize,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

impl Assessed {
    /// The number, from 0, of the row at a position among those that everything here is about.
    pub fn row(&self, position: usize) -> usize {
        self.sample.as_ref().map_or(position, |sample| sample.rows()[position])
    }

    /// The positions of those of these rows that are there, which must be in order.
    pub fn positions(&self, rows: &[usize]) -> Vec<usize> {
        match &self.sample {
            None => rows.to_vec(),
            Some(sample) => {
                rows.iter().filter_map(|row| sample.rows().binary_search(row).ok()).collect()
            }
        }
    }
}

/// What a run is assessed with.
pub struct Assessing<'a> {
    /// What predictions are worth; the first is the log predictive density.
    pub utilities: &'a [Box<dyn Utility>],
    /// Whether a signal came.
    pub interrupt: &'a Interrupt,
    /// How the command is run.
    pub context: &'a Context,
}

impl Assessing<'_> {
    /// Predicts every row of `subject` and values the predictions.
    pub fn assess(&self, subject: &Subject, method: &Method) -> Result<Assessed> {
        if let Method::Prior = method {
            return Ok(self.assessed(self.prior(subject)?, Vec::new()));
        }
        let work = self.own_work(subject)?;
        let assessed = match method {
            Method::LeaveOneOut { .. } if work.is_linearised() => {
                self.leave_one_out_linearised(subject, &work)?
            }
            Method::LeaveOneOut { smoothing, repair, subsample } => {
                self.leave_one_out(subject, &work, (*smoothing, *repair, *subsample))?
            }
            Method::KFold { schemes, draws } => {
                let training = self.training(subject, &work)?;
                self.k_fold(subject, &training, (schemes, *draws))?
            }
            Method::HoldOut => self.assessed(self.held_out(subject, &work)?, Vec::new()),
            _ => self.assessed(self.training(subject, &work)?, Vec::new()),
        };
        Ok(Assessed { linearised: work.is_linearised(), ..assessed })
    }

    /// Values predictions by `work`, the fit with this number, of rows with these targets.
    pub(super) fn evaluator<'q>(
        &'q self,
        observed: &'q [Vec<f64>],
        work: &PosteriorPredictive<'_>,
        fit: u64,
    ) -> UtilityEvaluator<'q> {
        if work.is_linearised() {
            return UtilityEvaluator::without_draws(self.utilities, observed);
        }
        let stream = (self.context.seed(), fit);
        UtilityEvaluator::new(self.utilities, observed, work.draws, stream)
    }

    /// What predicts for a fit with the specification of `subject`.
    pub(super) fn work<'w>(
        &'w self,
        subject: &Subject,
        posterior: &'w Conditioned,
        draws: &'w Draws,
    ) -> Result<PosteriorPredictive<'w>> {
        PosteriorPredictive::of_run(
            posterior,
            (&subject.spec, draws),
            self.context.seed(),
            &self.context.workers(self.interrupt),
        )?
        .ok_or_else(no_targets)
    }

    /// What predicts for the run itself.
    fn own_work<'w>(&'w self, subject: &'w Subject) -> Result<PosteriorPredictive<'w>> {
        self.work(subject, &subject.fitted.posterior, &subject.draws)
    }

    /// Every row as if it were new.
    fn training(
        &self,
        subject: &Subject,
        work: &PosteriorPredictive<'_>,
    ) -> Result<Vec<RowUtilities>> {
        let evaluator = self.evaluator(&subject.observed, work, 0);
        Ok(work.for_rows(
            "utilities",
            PredictedRows::Training(subject.rows()),
            |row, table, index| evaluator.evaluate(row, (table, index), None),
        )?)
    }

    /// Every row of the test table.
    fn held_out(
        &self,
        subject: &Subject,
        work: &PosteriorPredictive<'_>,
    ) -> Result<Vec<RowUtilities>> {
        let inputs = subject.test_inputs().ok_or_else(|| {
            Failure::bad_input("--method holdout needs rows that the run has not seen: --test FILE")
        })?;
        let weights = subject.log_weights.as_deref();
        self.predicted((subject.judged(), inputs), (work, weights), 0)
    }

    /// Rows with these targets and inputs, by the draws of `subject`, the fit with this number.
    pub fn new_rows(
        &self,
        subject: &Subject,
        (observed, inputs): (&[Vec<f64>], &Matrix),
        fit: u64,
    ) -> Result<Vec<RowUtilities>> {
        self.predicted((observed, inputs), (&self.own_work(subject)?, None), fit)
    }

    fn predicted(
        &self,
        (observed, inputs): (&[Vec<f64>], &Matrix),
        (work, log_weights): (&PosteriorPredictive<'_>, Option<&[f64]>),
        fit: u64,
    ) -> Result<Vec<RowUtilities>> {
        let evaluator = self.evaluator(observed, work, fit);
        Ok(work.for_rows("utilities", PredictedRows::New(inputs), |row, table, index| {
            evaluator.evaluate(row, (table, index), log_weights)
        })?)
    }

    /// Every row by draws of the prior.
    fn prior(&self, subject: &Subject) -> Result<Vec<RowUtilities>> {
        if subject.spec.model.kind == ModelKind::Gp {
            return Err(Failure::bad_input(
                "--method prior is for linear models and networks: a Gaussian process keeps no \
                 function in its draws that a prior could be seen in; use --method loo or kfold",
            ));
        }
        let posterior = &subject.fitted.posterior;
        let count = subject.draws.chains * subject.draws.draws;
        let mut values = Vec::with_capacity(count * subject.draws.layout.len());
        for draw in 0..count {
            let mut stream = self.context.seed().stream(Purpose::Functions, [draw as u64, 1]);
            let drawn = posterior.draw_prior(&mut stream).ok_or_else(|| {
                Failure::bad_input(
                    "this model cannot be drawn from its prior; use another --method",
                )
            })?;
            values.extend(drawn);
        }
        let layout = subject.draws.layout.clone();
        let draws = Draws { draws: count, values, ..Draws::empty(layout, 1, 0) };
        let workers = self.context.workers(self.interrupt);
        let work =
            PosteriorPredictive::new(&**posterior, &draws, false, self.context.seed(), &workers)
                .ok_or_else(no_targets)?;
        let evaluator = self.evaluator(&subject.observed, &work, 0);
        Ok(work.for_rows(
            "utilities",
            PredictedRows::Training(subject.rows()),
            |row, table, index| evaluator.evaluate(row, (table, index), None),
        )?)
    }

    /// Every row by the linearised network without it, which needs no importance weights.
    fn leave_one_out_linearised(
        &self,
        subject: &Subject,
        work: &PosteriorPredictive<'_>,
    ) -> Result<Assessed> {
        let evaluator = self.evaluator(&subject.observed, work, 0);
        let rows = subject.rows();
        let of = |source: PredictedRows<'_>| {
            work.for_rows("utilities", source, |row, table, index| {
                evaluator.evaluate(row, (table, index), None)
            })
        };
        let training = of(PredictedRows::Training(rows))?.iter().map(|row| row.values[0]).collect();
        let all: Vec<usize> = (0..rows).collect();
        let assessed = self.assessed(of(PredictedRows::LeaveOneOut(rows, &all))?, Vec::new());
        Ok(Assessed { training: Some(training), ..assessed })
    }

    fn k_fold(
        &self,
        subject: &Subject,
        training: &[RowUtilities],
        (schemes, draws): (&[FoldScheme], Option<usize>),
    ) -> Result<Assessed> {
        let sampling = &subject.spec.sampling;
        // As many as the run itself has, where it was not said how many.
        let usual = if sampling.ess.is_some() { subject.draws.draws } else { sampling.draws };
        let draws = draws.unwrap_or(usual);
        let divisions = schemes.iter().map(|scheme| {
            let scheme = scheme.resolved(&subject.fitted.dataset);
            let labels = match &scheme.column {
                None => None,
                Some(column) => {
                    let (table, rows) = subject.table()?;
                    Some(table.labels(column, rows).bad_input()?)
                }
            };
            let folds = scheme.divide(&subject.fitted.dataset, labels.as_deref()).bad_input()?;
            every_class_is_known(&subject.fitted.dataset, &folds)?;
            Ok(Division { scheme, folds, draws })
        });
        let divisions = divisions.collect::<Result<Vec<_>>>()?;
        let mut all: Option<Assessed> = None;
        for division in &divisions {
            let one = self.one_division(subject, division, training)?;
            match &mut all {
                None => all = Some(one),
                Some(all) => {
                    for (sum, part) in all.utilities.iter_mut().zip(&one.utilities) {
                        part.repetitions().iter().for_each(|part| sum.repeat(part.clone()));
                    }
                }
            }
        }
        all.ok_or_else(|| Failure::bad_input("give at least one division into folds"))
    }

    fn one_division(
        &self,
        subject: &Subject,
        division: &Division,
        training: &[RowUtilities],
    ) -> Result<Assessed> {
        let count = division.folds.count();
        let indices: Vec<usize> = (0..count).collect();
        let fits = division.fit(&subject.whole(), &indices, self.interrupt, self.context)?;
        let mut by_fold = Vec::with_capacity(count);
        for fit in &fits {
            let draws = fit.open()?.draws_of_variables().running()?;
            let work = self.work(subject, &fit.prepared.posterior, &draws)?;
            let evaluator = self.evaluator(&subject.observed, &work, fit.index as u64 + 1);
            let inputs = PredictedRows::New(&fit.everything.inputs);
            by_fold.push(work.for_rows("utilities", inputs, |row, table, index| {
                evaluator.evaluate(row, (table, index), None)
            })?);
        }
        let divided = KFoldUtilities::new(self.utilities, training, (&division.folds, &by_fold));
        Ok(Assessed {
            utilities: divided.utilities,
            evaluated: divided.rows,
            loo: None,
            sample: None,
            matched: Vec::new(),
            refitted: Vec::new(),
            folds: Some(divided.fold_of),
            training: Some(training.iter().map(|row| row.values[0]).collect()),
            linearised: false,
            failing: 0,
            cautions: Vec::new(),
        })
    }

    /// The utilities of evaluated that need no correction.
    pub(super) fn assessed(
        &self,
        evaluated: Vec<RowUtilities>,
        cautions: Vec<Caution>,
    ) -> Assessed {
        let utilities = pointwise_utilities(self.utilities, &evaluated, |_, _| None);
        Assessed {
            utilities,
            evaluated,
            loo: None,
            sample: None,
            matched: Vec::new(),
            refitted: Vec::new(),
            folds: None,
            training: None,
            linearised: false,
            failing: 0,
            cautions,
        }
    }
}

fn no_targets() -> Failure {
    Failure::bad_input("this model has no targets to predict")
}

/// Refuses folds that hold all rows of a class: fits without them could not know it.
fn every_class_is_known(data: &Dataset, folds: &Folds) -> Result<()> {
    let Targets::Classes { labels, codes, .. } = &data.targets else { return Ok(()) };
    for fold in 0..folds.count() {
        let mut known = vec![false; labels.len()];
        folds.training(fold).iter().for_each(|row| known[codes[*row]] = true);
        if let Some(class) = known.iter().position(|known| !known) {
            let (label, fold) = (&labels[class], fold + 1);
            return Err(Failure::bad_input(format!(
                "all rows of the class {label} are left out together, in fold {fold}: a fit without \
                 them cannot know it; use more folds, other groups, or leave the class out of the table"
            )));
        }
    }
    Ok(())
}
