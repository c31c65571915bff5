//! Find out how well a fit predicts rows that it has not seen, one way or another.

mod check;
mod error;
mod held_out;
mod in_memory;
mod information;
mod leave_one_out;
mod left_out;
mod matching;
mod method;
mod refit;
mod subsample;

pub use error::AssessError;
pub use held_out::HeldOutRows;
pub use in_memory::{FittedFolds, FoldsOfFit, InMemoryRefit};
pub use information::Information;
pub(super) use left_out::{check_usable, for_left_out_rows, log_densities};
pub use method::{Assessed, Method, Repair};
pub use refit::{Division, EachFold, FoldModel, FoldStart, Note, Refit};
pub use subsample::Subsample;

use posteria_linalg::Matrix;

use super::utility::UtilityFunction;
use super::{KFoldUtilities, RowUtilities, UtilityEvaluator, pointwise_utilities};
use crate::caution::Caution;
use crate::data::FoldScheme;
use crate::draws::Draws;
use crate::fit::{Conditioned, Fit, PosteriorPredictive, PredictedRows, Prepared, Workers};
use crate::model::spec::ModelKind;
use crate::random::{Purpose, Seed};

/// Rows that a fit has not seen.
#[derive(Clone, Copy)]
pub struct HeldOut<'a> {
    /// Inputs, standardised like those of the fit, and log exposures behind them if there are any
    /// ([`EncodedRows::inputs_and_offsets`](crate::data::EncodedRows::inputs_and_offsets)).
    pub inputs: &'a Matrix,
    /// The targets on the user's scale; classes as their indices.
    pub observed: &'a [Vec<f64>],
    /// Logarithms of the weights of the draws at these rows, where they are not equal.
    pub log_weights: Option<&'a [f64]>,
}

/// Predicts every row of a fit by rows that it is not among, and values the predictions.
pub struct Assessor<'a, R> {
    /// What is assessed.
    pub fit: &'a Fit,
    /// What predictions are worth; the first is the log predictive density.
    pub utilities: &'a [Box<dyn UtilityFunction>],
    /// Rows that the fit has not seen, if it is judged by them.
    pub held_out: Option<HeldOut<'a>>,
    /// Names the streams of what is drawn.
    pub seed: Seed,
    /// Who works.
    pub workers: &'a Workers,
    /// Where fits without some rows come from.
    pub refit: &'a R,
}

/// A result, as the one who fits again has errors.
type Found<T, R> = Result<T, <R as Refit>::Error>;

impl<R: Refit> Assessor<'_, R> {
    /// Predicts rows as `method` says, and values the predictions.
    ///
    /// # Errors
    /// [`AssessError`] if that cannot be done, and what fits without some rows fail with.
    pub fn assess(&self, method: &Method) -> Found<Assessed, R> {
        if let Method::Prior = method {
            return Ok(self.assessed((self.prior()?, &self.fit.observed), Vec::new()));
        }
        let predictive = self.predictive(&self.fit.prepared.posterior, &self.fit.draws)?;
        let assessed = match method {
            Method::LeaveOneOut { .. }
                if self.utilities.iter().any(|it| it.summary().takes_targets()) =>
            {
                return Err(AssessError::PairsLeftOut.into());
            }
            Method::LeaveOneOut { .. } if predictive.is_linearised() => {
                self.leave_one_out_linearised(&predictive)?
            }
            Method::LeaveOneOut { smoothing, repair, subsample } => {
                self.leave_one_out(&predictive, (*smoothing, *repair, *subsample))?
            }
            Method::KFold { schemes, draws } => {
                let training = self.training(&predictive)?;
                self.k_fold(&training, (schemes, *draws))?
            }
            Method::HoldOut => {
                let rows = self.held_out.ok_or(AssessError::NothingHeldOut)?;
                let Prepared { encoder, data, .. } = &self.fit.prepared;
                let beyond = encoder.extrapolation(data, rows.inputs).map(Caution::Extrapolation);
                let evaluated = self.new_rows(&predictive, rows, 0)?;
                self.assessed((evaluated, rows.observed), beyond.into_iter().collect())
            }
            Method::Posterior | Method::Prior => {
                self.assessed((self.training(&predictive)?, &self.fit.observed), Vec::new())
            }
        };
        Ok(Assessed { linearised: predictive.is_linearised(), ..assessed })
    }

    /// Values the predictions of rows that the fit, which is that of a fold with this number, has not
    /// seen.
    ///
    /// # Errors
    /// [`AssessError`] if they cannot be predicted.
    pub fn of_rows(&self, rows: HeldOut<'_>, fold: u64) -> Result<Vec<RowUtilities>, AssessError> {
        let predictive = self.predictive(&self.fit.prepared.posterior, &self.fit.draws)?;
        self.new_rows(&predictive, rows, fold)
    }

    /// Values the predictions of all rows by the fit of a fold, which has these draws.
    ///
    /// # Errors
    /// [`AssessError`] if they cannot be predicted.
    pub fn of_fold(
        &self,
        fold: &FoldModel,
        draws: &Draws,
    ) -> Result<Vec<RowUtilities>, AssessError> {
        let predictive = self.predictive(&fold.prepared.posterior, draws)?;
        let inputs = fold.everything.inputs_and_offsets();
        let rows = (PredictedRows::New(&inputs), &self.fit.observed[..], None);
        self.values(&predictive, rows, fold.index as u64 + 1)
    }

    /// Values predictions of rows with these targets, by the fit with this number.
    fn evaluator<'q>(
        &'q self,
        observed: &'q [Vec<f64>],
        predictive: &PosteriorPredictive<'_>,
        fit: u64,
    ) -> UtilityEvaluator<'q> {
        if predictive.is_linearised() {
            return UtilityEvaluator::without_draws(self.utilities, observed);
        }
        let stream = (self.seed, fit);
        UtilityEvaluator::new(self.utilities, observed, predictive.draws, stream)
    }

    /// What predicts for a fit with the specification of this one.
    fn predictive<'w>(
        &'w self,
        posterior: &'w Conditioned,
        draws: &'w Draws,
    ) -> Result<PosteriorPredictive<'w>, AssessError> {
        let of = (&self.fit.prepared.spec, draws);
        PosteriorPredictive::of_run(posterior, of, self.seed, self.workers)?
            .ok_or(AssessError::NoTargets)
    }

    /// Every row as if it were new.
    fn training(
        &self,
        predictive: &PosteriorPredictive<'_>,
    ) -> Result<Vec<RowUtilities>, AssessError> {
        let rows = PredictedRows::Training(self.fit.rows());
        self.values(predictive, (rows, &self.fit.observed, None), 0)
    }

    fn new_rows(
        &self,
        predictive: &PosteriorPredictive<'_>,
        HeldOut { inputs, observed, log_weights }: HeldOut<'_>,
        fit: u64,
    ) -> Result<Vec<RowUtilities>, AssessError> {
        self.values(predictive, (PredictedRows::New(inputs), observed, log_weights), fit)
    }

    /// What the predictions of these rows with these targets are worth, by the fit with this number.
    fn values(
        &self,
        predictive: &PosteriorPredictive<'_>,
        (rows, observed, log_weights): (PredictedRows<'_>, &[Vec<f64>], Option<&[f64]>),
        fit: u64,
    ) -> Result<Vec<RowUtilities>, AssessError> {
        let evaluator = self.evaluator(observed, predictive, fit);
        Ok(predictive.for_rows("utilities", rows, |row, table, index| {
            evaluator.evaluate(row, (table, index), log_weights)
        })?)
    }

    /// Every row by draws of the prior.
    fn prior(&self) -> Result<Vec<RowUtilities>, AssessError> {
        if self.fit.prepared.spec.model.kind == ModelKind::Gp {
            return Err(AssessError::ProcessPrior);
        }
        let posterior = &*self.fit.prepared.posterior;
        let of_fit = &self.fit.draws;
        let count = of_fit.chains * of_fit.draws;
        let mut values = Vec::with_capacity(count * of_fit.layout.len());
        for draw in 0..count {
            let mut stream = self.seed.stream(Purpose::Functions, [draw as u64, 1]);
            values.extend(posterior.draw_prior(&mut stream).ok_or(AssessError::NoPrior)?);
        }
        let draws = Draws { draws: count, values, ..Draws::empty(of_fit.layout.clone(), 1, 0) };
        let predictive =
            PosteriorPredictive::new(posterior, &draws, false, self.seed, self.workers)
                .ok_or(AssessError::NoTargets)?;
        self.training(&predictive)
    }

    /// Every row by the linearised network without it, which needs no importance weights.
    fn leave_one_out_linearised(
        &self,
        predictive: &PosteriorPredictive<'_>,
    ) -> Result<Assessed, AssessError> {
        let training = self.training(predictive)?.iter().map(|row| row.values[0]).collect();
        let all: Vec<usize> = (0..self.fit.rows()).collect();
        let left_out = PredictedRows::LeaveOneOut(self.fit.rows(), &all);
        let values = self.values(predictive, (left_out, &self.fit.observed, None), 0)?;
        Ok(Assessed {
            training: Some(training),
            ..self.assessed((values, &self.fit.observed), Vec::new())
        })
    }

    fn k_fold(
        &self,
        training: &[RowUtilities],
        (schemes, draws): (&[FoldScheme], Option<usize>),
    ) -> Found<Assessed, R> {
        let labels = |column: &str| self.refit.labels(column);
        let divisions = Division::all(self.fit, (schemes, draws), labels)?;
        let mut all: Option<Assessed> = None;
        for division in &divisions {
            let one = self.one_division(division, training)?;
            match &mut all {
                None => all = Some(one),
                Some(all) => {
                    for (sum, part) in all.utilities.iter_mut().zip(&one.utilities) {
                        part.repetitions().iter().for_each(|part| sum.repeat(part.clone()));
                    }
                }
            }
        }
        Ok(all.ok_or(AssessError::NoDivision)?)
    }

    fn one_division(&self, division: &Division, training: &[RowUtilities]) -> Found<Assessed, R> {
        // What does not look like the values of all rows is not what was asked for.
        let fits = |rows: &Vec<RowUtilities>| {
            rows.len() == training.len() && rows.iter().zip(training).all(|(a, b)| a.is_like(b))
        };
        let each = (0..division.folds.count()).map(|fold| self.refit.valued(division, fold));
        let mut by_fold: Vec<Option<Vec<RowUtilities>>> =
            each.map(|found| Ok(found?.filter(fits))).collect::<Found<_, R>>()?;
        let left = |fold: &usize| by_fold[*fold].is_none();
        let left: Vec<usize> = (0..by_fold.len()).filter(left).collect();
        if !left.is_empty() {
            self.refit.refit(division, &left, &mut |fold, draws| {
                by_fold[fold.index] = Some(self.of_fold(fold, draws)?);
                Ok(())
            })?;
        }
        let by_fold: Vec<Vec<RowUtilities>> = by_fold.into_iter().flatten().collect();
        let divided = KFoldUtilities::new(
            self.utilities,
            (training, &self.fit.observed),
            (&division.folds, &by_fold),
        );
        if divided.utilities.iter().any(|it| it.lacks_pairs()) {
            return Err(AssessError::NoPairs.into());
        }
        Ok(Assessed {
            utilities: divided.utilities,
            evaluated: divided.rows,
            folds: Some(divided.fold_of),
            training: Some(training.iter().map(|row| row.values[0]).collect()),
            ..Assessed::default()
        })
    }

    /// The utilities of evaluated rows, beside their targets, that need no correction.
    fn assessed(
        &self,
        (evaluated, observed): (Vec<RowUtilities>, &[Vec<f64>]),
        cautions: Vec<Caution>,
    ) -> Assessed {
        let utilities =
            pointwise_utilities(self.utilities, (&evaluated, observed, &[]), |_, _| None);
        Assessed { utilities, evaluated, cautions, ..Assessed::default() }
    }
}
