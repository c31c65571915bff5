//! What is asked of a fit in memory: predictions of new rows, and how good they will be.

use super::{
    AssessError, Assessed, Assessor, Bootstrap, ExpectedUtility, InMemoryRefit, Method,
    PredictOptions, PredictionFigures, RowPrediction, TargetFacts, Utility, UtilityFunction,
    bayesian_bootstrap, share_right,
};
use crate::caution::Caution;
use crate::data::{Missing, Table};
use crate::fit::{Fit, Prepared};

/// Predictions of the rows of a table.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// Names of the targets.
    pub targets: Vec<String>,
    /// Labels of the classes; none for real targets.
    pub labels: Vec<String>,
    /// One per row.
    pub rows: Vec<RowPrediction>,
    /// How good they are, where the table has real targets.
    pub figures: Option<PredictionFigures>,
    /// The share of rows whose most probable class is theirs, where the table has classes.
    pub accuracy: Option<f64>,
    /// What to be careful about: rows unlike those of the fit.
    pub cautions: Vec<Caution>,
}

/// How good predictions of new rows will be.
#[derive(Clone, Debug)]
pub struct FitAssessment {
    /// What the predictions of every row left out are worth.
    pub assessed: Assessed,
    /// The distribution of every utility that was asked for over new rows, in order.
    pub expected: Vec<ExpectedUtility>,
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
        let new = encoder.encode(table, Missing::Error)?;
        let predictive = self.predictive()?.ok_or(AssessError::NoTargets)?;
        let observed = new.targets.as_ref().map(|targets| encoder.observed(targets));
        let rows = predictive.map_rows(&new.inputs, |row, predictive| {
            let observed = observed.as_ref().map(|observed| &observed[row][..]);
            RowPrediction::new(predictive, observed, options)
        })?;
        let mut cautions = new.cautions;
        cautions.extend(encoder.extrapolation(data, &new.inputs).map(Caution::Extrapolation));
        let (targets, labels) = (encoder.target_names(), encoder.labels().to_vec());
        let is_real = labels.is_empty();
        let figures = PredictionFigures::joint(&rows).filter(|_| is_real);
        let accuracy = share_right(&rows).filter(|_| !is_real);
        Ok(Predictions { targets, labels, rows, figures, accuracy, cautions })
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
        let targets = TargetFacts::of(&self.prepared.data);
        // The log predictive density is always first: rows are judged by it.
        let others = utilities.iter().filter(|utility| **utility != Utility::Elpd);
        let all: Vec<&Utility> = std::iter::once(&Utility::Elpd).chain(others).collect();
        let functions = all.iter().map(|utility| utility.function(&targets));
        let functions: Vec<Box<dyn UtilityFunction>> = functions.collect::<Result<_, _>>()?;
        let (workers, seed) = (&self.workers, self.prepared.spec.sampling.seed());
        let refit = &InMemoryRefit { fit: self, workers };
        let assessor =
            Assessor { fit: self, utilities: &functions, held_out: None, seed, workers, refit };
        let mut assessed = assessor.assess(method)?;
        let place = |asked: &Utility| all.iter().position(|utility| *utility == asked);
        let asked = utilities.iter().filter_map(place);
        assessed.utilities = asked.map(|place| assessed.utilities[place].clone()).collect();
        let groups = self.prepared.data.groups.clone();
        let bootstrap = Bootstrap { groups, ..Bootstrap::new(seed) };
        let bootstrap = match &assessed.sample {
            Some(sample) => bootstrap.select(sample.rows()),
            None => bootstrap,
        };
        let expected = assessed.utilities.iter().map(|it| bayesian_bootstrap(it, &bootstrap));
        let expected = expected.collect::<Result<Vec<_>, _>>()?;
        Ok(FitAssessment { assessed, expected })
    }
}
