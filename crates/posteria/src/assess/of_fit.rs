//! What is asked of a fit in memory: predictions of new rows, and how good they will be.

use super::utility::{ELPD, Elpd};
use super::{
    AssessError, Assessed, AssessmentAsked, AssessmentReport, Assessor, Bootstrap, ExpectedUtility,
    InMemoryRefit, Method, PredictOptions, Predictions, RowGroups, RowPrediction, TargetFacts,
    Utility, UtilityFunction, bayesian_bootstrap,
};
use crate::caution::Caution;
use crate::data::Table;
use crate::fit::{Fit, Prepared};

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
    /// Groups of rows that come together.
    pub groups: Option<Vec<usize>>,
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

    /// As [`Fit::predict`], with these quantiles and decisions.
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
        let observed = new.targets.as_ref().map(|targets| encoder.observed(targets));
        let rows = predictive.map_rows(&new.inputs, |row, predictive| {
            let observed = observed.as_ref().map(|observed| &observed[row][..]);
            RowPrediction::new(predictive, observed, options)
        })?;
        let mut cautions = new.cautions;
        cautions.extend(encoder.extrapolation(data, &new.inputs).map(Caution::Extrapolation));
        let numbers = new.rows.iter().map(|row| row + 1).collect();
        Ok(Predictions::new(encoder, options, (numbers, rows), cautions))
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
        self.assess_groups(method, utilities, self.prepared.data.groups.clone())
    }

    /// The same of rows of which those of a group come together: in folds by groups, and among the
    /// rows that will come.
    ///
    /// # Errors
    /// As [`Fit::loo`].
    pub fn assess_groups(
        &self,
        method: &Method,
        utilities: &[Utility],
        groups: Option<Vec<usize>>,
    ) -> Result<FitAssessment, AssessError> {
        let bootstrap = self.future_rows(groups.as_deref());
        let assessed = self.assessed(method, utilities, &bootstrap)?;
        let bootstrap = bootstrap.of_sample(assessed.sample.as_ref());
        let all = with_density(utilities);
        let place = |asked: &Utility| all.iter().position(|utility| *utility == asked);
        let asked = utilities.iter().filter_map(place);
        let expected =
            asked.map(|place| bayesian_bootstrap(&assessed.utilities[place], &bootstrap));
        let expected = expected.collect::<Result<Vec<_>, _>>()?;
        Ok(FitAssessment { method: method.clone(), assessed, expected, groups })
    }

    /// What the predictions of rows are worth by the log predictive density, which rows are judged
    /// by, and then by every other of these utilities, where `future` rows come in groups.
    pub(super) fn assessed(
        &self,
        method: &Method,
        utilities: &[Utility],
        future: &Bootstrap,
    ) -> Result<Assessed, AssessError> {
        if self.prepared.spec.model.kind.is_unsupervised() {
            return Err(AssessError::NoTargets);
        }
        let (seed, groups) = (future.seed, future.groups.as_deref());
        if let Some(found) = groups.map(<[usize]>::len).filter(|found| *found != self.rows()) {
            return Err(AssessError::Groups { found, expected: self.rows() });
        }
        let targets = TargetFacts::of(&self.prepared.data);
        let functions = with_density(utilities).into_iter().map(|it| it.function(&targets));
        let functions: Vec<Box<dyn UtilityFunction>> = functions.collect::<Result<_, _>>()?;
        let workers = &self.workers;
        let refit = &InMemoryRefit { fit: self, workers, groups };
        let assessor =
            Assessor { fit: self, utilities: &functions, held_out: None, seed, workers, refit };
        assessor.assess(method)
    }

    /// How rows that will come are drawn from its own.
    pub(super) fn future_rows(&self, groups: Option<&[usize]>) -> Bootstrap {
        let groups = groups.map(<[usize]>::to_vec);
        Bootstrap { groups, ..Bootstrap::new(self.prepared.spec.sampling.seed()) }
    }
}

/// The log predictive density, and every other utility.
fn with_density(utilities: &[Utility]) -> Vec<&Utility> {
    let others = utilities.iter().filter(|utility| **utility != Utility::Elpd);
    std::iter::once(&Utility::Elpd).chain(others).collect()
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
        let bootstrap = &fit.future_rows(self.groups.as_deref());
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
        let refit = &InMemoryRefit { fit, workers, groups: self.groups.as_deref() };
        let utilities: &[Box<dyn UtilityFunction>] = &[Box::new(Elpd)];
        let assessor = Assessor { fit, utilities, held_out: None, seed, workers, refit };
        assessor.report(&asked, (&self.assessed, &expected))
    }
}
