//! Predict the rows of a simulated table by rows that they are not among, and value that.

use posteria::assess::utility::UtilityFunction;
use posteria::assess::{
    KFoldUtilities, LeaveOneOut, LeaveOneOutOptions, LogLikelihoods, PointwiseUtilities,
    RowUtilities, UtilityEvaluator, leave_one_out, pointwise_utilities,
};
use posteria::data::{Column, Folds, Table};
use posteria::fit::run_jobs;
use posteria::predict::PredictiveTable;
use posteria::random::Seed;
use posteria::sample::Plan;

use super::{Fitted, Settings, Study, numbers};
use crate::Result;

/// Values the predictions of a model of one table.
pub struct Assessor<'a> {
    pub study: &'a Study,
    pub table: &'a Table,
    pub utilities: &'a [Box<dyn UtilityFunction>],
    pub settings: &'a Settings,
}

impl Assessor<'_> {
    /// The utilities of every row given all rows, the row itself among them.
    pub fn training(&self, fitted: &Fitted) -> Result<Vec<PointwiseUtilities>> {
        let evaluated = self.evaluated(fitted, &fitted.at_training_rows(), 0, None)?;
        Ok(pointwise_utilities(self.utilities, (&evaluated, &self.observed(), &[]), |_, _| None))
    }

    /// The utilities of every row by importance sampling, and what that says about itself.
    pub fn leave_one_out(&self, fitted: &Fitted) -> Result<(Vec<PointwiseUtilities>, LeaveOneOut)> {
        let likelihoods = LogLikelihoods::of(fitted.draws())?;
        let options = LeaveOneOutOptions::default();
        let threads = self.settings.threads;
        let loo = leave_one_out(&likelihoods, &options, threads)?;
        let efficiencies = likelihoods.efficiencies(options.relative_efficiency, threads);
        let weights =
            |row: usize| likelihoods.weights_without(row, options.smoothing, efficiencies[row]);
        let weights = (0..self.table.rows()).map(weights).collect::<Result<Vec<_>, _>>()?;
        let logs: Vec<&[f64]> = weights.iter().map(|weights| &weights.log_weights[..]).collect();
        let evaluated = self.evaluated(fitted, &fitted.leaving_one_out(), 0, Some(&logs))?;
        Ok((
            pointwise_utilities(self.utilities, (&evaluated, &self.observed(), &[]), |_, _| None),
            loo,
        ))
    }

    /// The utilities of every row by fits without its fold, corrected for their size; and the
    /// largest R-hat of a fold.
    pub fn folds(
        &self,
        whole: &Fitted,
        folds: &Folds,
        plan: &Plan,
    ) -> Result<(Vec<PointwiseUtilities>, f64)> {
        let training = self.evaluated(whole, &whole.at_training_rows(), 0, None)?;
        let each = run_jobs(folds.count(), self.settings.threads, |fold| {
            let seed = Seed(self.settings.seed.0.wrapping_add(1 + fold as u64));
            let kept = folds.training(fold);
            let part = rows_of(self.table, &kept);
            let fitted = self.study.fit_part((&part, &kept), whole, plan, seed)?;
            let predictions = fitted.predict(self.table)?;
            let evaluated = self.evaluated(&fitted, &predictions, 1 + fold as u64, None)?;
            Ok((evaluated, fitted.r_hat()))
        });
        let (by_fold, r_hats): (Vec<_>, Vec<f64>) =
            each.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let divided =
            KFoldUtilities::new(self.utilities, (&training, &self.observed()), (folds, &by_fold));
        Ok((divided.utilities, r_hats.into_iter().fold(f64::NAN, f64::max)))
    }

    /// The targets of every row.
    fn observed(&self) -> Vec<Vec<f64>> {
        let columns: Vec<&[f64]> =
            self.study.targets.iter().map(|name| numbers(self.table, name)).collect();
        let of = |row: usize| columns.iter().map(|column| column[row]).collect();
        (0..self.table.rows()).map(of).collect()
    }

    fn evaluated(
        &self,
        fitted: &Fitted,
        predictions: &PredictiveTable,
        number: u64,
        log_weights: Option<&[&[f64]]>,
    ) -> Result<Vec<RowUtilities>> {
        let observed = self.observed();
        let stream = (self.settings.seed, number);
        let evaluator = UtilityEvaluator::new(self.utilities, &observed, fitted.draws(), stream);
        let ask = |row: usize| {
            evaluator.evaluate(row, (predictions, row), log_weights.map(|logs| logs[row]))
        };
        Ok((0..self.table.rows()).map(ask).collect())
    }
}

/// These rows of a table of numbers.
fn rows_of(table: &Table, rows: &[usize]) -> Table {
    let column = |name: &String| {
        let values = numbers(table, name);
        (name.clone(), Column::numbers(rows.iter().map(|row| values[*row]).collect()))
    };
    let columns = table.names().iter().map(column).collect();
    Table::new(table.file(), columns).expect("the columns of a table")
}
