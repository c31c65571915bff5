//! What is asked of a fit in memory: predictions of new rows, and how good they will be.

use super::utility::{ELPD, Elpd};
use super::valuation::with_density;
use super::{
    AssessError, Assessed, AssessmentAsked, AssessmentReport, Assessor, Bootstrap, ExpectedUtility,
    FitChains, FittedFolds, FoldsOfFit, HeldOutRows, InMemoryRefit, Method, PredictOptions,
    Predictions, RowGroups, RowPrediction, TargetFacts, Utility, UtilityFunction, Valuation,
    bayesian_bootstrap,
};
use crate::caution::Caution;
use crate::data::Table;
use crate::fit::{Fit, NamedEffect, Prepared};
use crate::random::Seed;

/// How good predictions of new rows will be.
#[derive(Clone, Debug)]
pub struct FitAssessment {
    /// How rows were predicted.
    pub method: Method,
    /// What the predictions of every row left out are worth: by the log predictive density, and then
    /// by every other utility that was asked for, in order.
    pub assessed: Assessed,
    /// The distribution of every utility that was asked for over new rows, in order.
    pub expected: Vec<ExpectedUtility>,
    /// How rows that will come are drawn from those that it was judged by.
    pub future: Bootstrap,
    /// Rows that it had not seen, if it was judged by them.
    pub held_out: Option<HeldOutRows>,
}

/// What may be asked of an assessment besides its method and its utilities.
#[derive(Clone, Debug, Default)]
pub struct AssessOptions<'a> {
    /// Groups of rows that come together, one for every row of the fit, or of the table of rows held
    /// out: in folds by groups, and among the rows that will come. Those of the fit if absent.
    pub groups: Option<Vec<usize>>,
    /// Names the streams of all that is drawn; that of the fit if absent.
    pub seed: Option<Seed>,
    /// Rows that the fit has not seen, for [`Method::HoldOut`].
    pub test: Option<&'a Table>,
    /// By what weights its chains predict these rows, where they do not count alike
    /// ([`Fit::stack_chains`]).
    pub chains: Option<&'a FitChains>,
    /// Folds that were fitted elsewhere, and which of several fits this is to them.
    pub fitted: Option<(&'a dyn FittedFolds, usize)>,
}

impl Fit {
    /// Predicts every row of `table`, which may have the targets: then figures tell how good that
    /// was.
    ///
    /// # Errors
    /// [`AssessError`] if the table lacks inputs, or the model predicts nothing.
    pub fn predict(&self, table: &Table) -> Result<Predictions, AssessError> {
        self.predict_with(table, &PredictOptions::default())
    }

    /// As [`Fit::predict`], with these quantiles, decisions and weights of chains.
    ///
    /// # Errors
    /// As [`Fit::predict`].
    pub fn predict_with(
        &self,
        table: &Table,
        options: &PredictOptions<'_>,
    ) -> Result<Predictions, AssessError> {
        let Prepared { encoder, data, .. } = &self.prepared;
        let new = encoder.encode(table, options.missing)?;
        let predictive = self.predictive()?.ok_or(AssessError::NoTargets)?;
        let weights = options.chains.map(|it| it.found.log_weights(self.draws.draws));
        let predictive = predictive.weighted(weights);
        let observed = new.targets.as_ref().map(|targets| encoder.observed(targets));
        let rows = predictive.map_rows(&new.inputs_and_offsets(), |row, predictive| {
            let observed = observed.as_ref().map(|observed| &observed[row][..]);
            RowPrediction::new(predictive, observed, options)
        })?;
        let mut cautions = new.cautions;
        cautions.extend(encoder.extrapolation(data, &new.inputs).map(Caution::Extrapolation));
        let numbers = new.rows.iter().map(|row| row + 1).collect();
        Ok(Predictions::new(encoder, options, (numbers, rows), cautions))
    }

    /// What every input does to the predictions, over the rows of the fit
    /// ([`input_effects`](crate::predict::input_effects)).
    ///
    /// # Errors
    /// [`AssessError`] if the model predicts nothing, or the work was stopped.
    pub fn effects(&self) -> Result<Vec<NamedEffect>, AssessError> {
        let Prepared { spec, data, encoder, .. } = &self.prepared;
        if spec.model.kind.is_unsupervised() {
            return Err(AssessError::NoTargets);
        }
        let predictive = self.predictive()?.ok_or(AssessError::NoTargets)?;
        Ok(predictive.effects(data, encoder)?)
    }

    /// What predictions of new rows will be worth, by leaving out every row in turn: Pareto-smoothed
    /// importance sampling, with moment matching and new fits where the weights fail.
    ///
    /// # Errors
    /// [`AssessError`] if a utility is not for the targets, or rows cannot be left out.
    pub fn loo(&self, utilities: &[Utility]) -> Result<FitAssessment, AssessError> {
        self.assess(&Method::leave_one_out(), utilities)
    }

    /// The same by fits without each of so many folds, corrected for having fewer rows.
    ///
    /// # Errors
    /// As [`Fit::loo`].
    pub fn k_fold(
        &self,
        folds: usize,
        utilities: &[Utility],
    ) -> Result<FitAssessment, AssessError> {
        self.assess(&Method::k_fold(folds, self.prepared.spec.sampling.seed), utilities)
    }

    /// The same as `method` says.
    ///
    /// # Errors
    /// As [`Fit::loo`].
    pub fn assess(
        &self,
        method: &Method,
        utilities: &[Utility],
    ) -> Result<FitAssessment, AssessError> {
        self.assess_with(method, utilities, &AssessOptions::default())
    }

    /// The same with groups of rows, a seed, and rows that the fit has not seen.
    ///
    /// # Errors
    /// As [`Fit::loo`], and if rows that are held out cannot be used.
    pub fn assess_with(
        &self,
        method: &Method,
        utilities: &[Utility],
        options: &AssessOptions<'_>,
    ) -> Result<FitAssessment, AssessError> {
        let held_out = self.held_out(method, options)?;
        let future = self.future_rows(options, held_out.as_ref())?;
        let targets = TargetFacts::of(&self.prepared.data);
        let assessed = self.assessed(
            (method, options.fitted),
            (utilities, &targets),
            (&future, held_out.as_ref()),
        )?;
        let bootstrap = future.of_sample(assessed.sample.as_ref());
        let all = with_density(utilities);
        let place = |asked: &Utility| all.iter().position(|utility| *utility == asked);
        let asked = utilities.iter().filter_map(place);
        let expected =
            asked.map(|place| bayesian_bootstrap(&assessed.utilities[place], &bootstrap));
        let expected = expected.collect::<Result<Vec<_>, _>>()?;
        let method = method.clone();
        Ok(FitAssessment { method, assessed, expected, future, held_out })
    }

    /// The rows that it is judged by where these are held out.
    pub(super) fn held_out(
        &self,
        method: &Method,
        options: &AssessOptions<'_>,
    ) -> Result<Option<HeldOutRows>, AssessError> {
        match (method, options.test) {
            (Method::HoldOut, Some(table)) => {
                if self.prepared.spec.model.kind.is_unsupervised() {
                    return Err(AssessError::NoTargets);
                }
                let rows = HeldOutRows::new(&self.prepared, table)?;
                let weights = options.chains.map(|it| it.found.log_weights(self.draws.draws));
                Ok(Some(rows.weighted(weights)))
            }
            (Method::HoldOut, None) => Err(AssessError::NothingHeldOut),
            _ => Ok(None),
        }
    }

    /// What the predictions of rows are worth by the log predictive density, which rows are judged
    /// by, and then by every other of these utilities, where `future` rows come in groups.
    pub(super) fn assessed(
        &self,
        (method, fitted): (&Method, Option<(&dyn FittedFolds, usize)>),
        (utilities, targets): (&[Utility], &TargetFacts),
        (future, held_out): (&Bootstrap, Option<&HeldOutRows>),
    ) -> Result<Assessed, AssessError> {
        if self.prepared.spec.model.kind.is_unsupervised() {
            return Err(AssessError::NoTargets);
        }
        let (seed, groups) = (future.seed, future.groups.as_deref());
        let functions = with_density(utilities).into_iter().map(|it| it.function(targets));
        let functions: Vec<Box<dyn UtilityFunction>> = functions.collect::<Result<_, _>>()?;
        let fitted = fitted.map(|(folds, number)| FoldsOfFit {
            folds,
            number,
            valuation: Valuation::new(utilities, targets, seed),
        });
        let workers = &self.workers;
        let refit = &InMemoryRefit { fit: self, workers, groups, fitted };
        let held_out = held_out.map(HeldOutRows::as_held_out);
        let assessor =
            Assessor { fit: self, utilities: &functions, held_out, seed, workers, refit };
        assessor.assess(method)
    }

    /// How rows that will come are drawn from those that it is judged by.
    pub(super) fn future_rows(
        &self,
        options: &AssessOptions<'_>,
        held_out: Option<&HeldOutRows>,
    ) -> Result<Bootstrap, AssessError> {
        let all = options.test.filter(|_| held_out.is_some()).map_or(self.rows(), Table::rows);
        let given = options.groups.as_ref();
        if let Some(found) = given.map(Vec::len).filter(|found| *found != all) {
            return Err(AssessError::Groups { found, expected: all });
        }
        let groups = match (given, held_out, options.test) {
            (Some(given), Some(rows), _) => {
                Some(rows.rows().iter().map(|row| given[*row]).collect())
            }
            (Some(given), None, _) => Some(given.clone()),
            (None, Some(rows), Some(table)) => {
                let column = self.prepared.spec.data.group.as_ref();
                column.map(|column| table.labels(column, rows.rows())).transpose()?
            }
            (None, ..) => self.prepared.data.groups.clone(),
        };
        let seed = options.seed.unwrap_or(self.prepared.spec.sampling.seed());
        Ok(Bootstrap { groups, ..Bootstrap::new(seed) })
    }
}

impl FitAssessment {
    /// All that is to be told about it, as `posteria assess --json` does; of the fit that was
    /// assessed.
    ///
    /// # Errors
    /// [`AssessError`] if information criteria cannot be found.
    pub fn report(&self, fit: &Fit) -> Result<AssessmentReport, AssessError> {
        self.report_by(fit, None)
    }

    /// The same, with what predictions are worth in groups of the rows of the fit.
    ///
    /// # Errors
    /// As [`FitAssessment::report`].
    pub fn report_by(
        &self,
        fit: &Fit,
        groups: Option<&RowGroups>,
    ) -> Result<AssessmentReport, AssessError> {
        let bootstrap = &self.future;
        let (densities, others): (Vec<_>, Vec<_>) =
            self.expected.iter().partition(|it| it.name == ELPD);
        let density = densities.first().copied().cloned();
        let asked =
            AssessmentAsked { method: &self.method, bootstrap, density: density.is_some(), groups };
        let density = match density {
            Some(known) => known,
            None => {
                let of_rows = bootstrap.of_sample(self.assessed.sample.as_ref());
                bayesian_bootstrap(&self.assessed.utilities[0], &of_rows)?
            }
        };
        let expected: Vec<_> =
            std::iter::once(density).chain(others.into_iter().cloned()).collect();
        let (workers, seed) = (&fit.workers, bootstrap.seed);
        let refit =
            &InMemoryRefit { fit, workers, groups: bootstrap.groups.as_deref(), fitted: None };
        let utilities: &[Box<dyn UtilityFunction>] = &[Box::new(Elpd)];
        let held_out = self.held_out.as_ref().map(HeldOutRows::as_held_out);
        let assessor = Assessor { fit, utilities, held_out, seed, workers, refit };
        assessor.report(&asked, (&self.assessed, &expected))
    }
}
