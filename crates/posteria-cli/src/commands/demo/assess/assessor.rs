//! Predict the rows of a simulated table by rows that they are not among, and value that.

use posteria::assess::utility::Utility;
use posteria::assess::{
    BiasTerms, Evaluation, LeaveOneOut, LeaveOneOutOptions, LogLikelihoods, PointwiseUtilities,
    Terms, leave_one_out,
};
use posteria::data::{Column, Folds, Table};
use posteria::fit::run_jobs;
use posteria::predict::PredictiveTable;
use posteria::random::Seed;
use posteria::sample::Plan;

use super::{Fitted, Settings, Study, numbers};
use crate::assessment::{Answers, Questions};
use crate::failure::{Classify, Result};

/// Values the predictions of a model of one table.
pub struct Assessor<'a> {
    pub study: &'a Study,
    pub table: &'a Table,
    pub utilities: &'a [Box<dyn Utility>],
    pub settings: &'a Settings,
}

impl Assessor<'_> {
    /// The utilities of every row given all rows, the row itself among them.
    pub fn training(&self, fitted: &Fitted) -> Result<Vec<PointwiseUtilities>> {
        let answers = self.answers(fitted, &fitted.at_training_rows(), 0, None)?;
        Ok(self.pointwise(&answers, |_| None))
    }

    /// The utilities of every row by importance sampling, and what that says about itself.
    pub fn leave_one_out(&self, fitted: &Fitted) -> Result<(Vec<PointwiseUtilities>, LeaveOneOut)> {
        let likelihoods = LogLikelihoods::of(fitted.draws()).running()?;
        let options = LeaveOneOutOptions::default();
        let threads = self.settings.context.threads;
        let loo = leave_one_out(&likelihoods, &options, threads).running()?;
        let efficiencies = likelihoods.efficiencies(options.relative_efficiency, threads);
        let weights = |row: usize| {
            likelihoods.weights_without(row, options.smoothing, efficiencies[row]).running()
        };
        let weights = (0..self.table.rows()).map(weights).collect::<Result<Vec<_>>>()?;
        let logs: Vec<&[f64]> = weights.iter().map(|weights| &weights.log_weights[..]).collect();
        let answers = self.answers(fitted, &fitted.leaving_one_out(), 0, Some(&logs))?;
        Ok((self.pointwise(&answers, |_| None), loo))
    }

    /// The utilities of every row by fits without its fold, corrected for their size; and the
    /// largest R-hat of a fold.
    pub fn folds(
        &self,
        whole: &Fitted,
        folds: &Folds,
        plan: &Plan,
    ) -> Result<(Vec<PointwiseUtilities>, f64)> {
        let training = self.answers(whole, &whole.at_training_rows(), 0, None)?;
        let context = &self.settings.context;
        let each = run_jobs(folds.count(), context.threads, |fold| {
            let seed = Seed(context.seed().0.wrapping_add(1 + fold as u64));
            let part = rows_of(self.table, &folds.training(fold));
            let fitted = self.study.fit_alone(&part, plan, seed)?;
            let predictions = fitted.predict(self.table)?;
            let answers = self.answers(&fitted, &predictions, 1 + fold as u64, None)?;
            Ok((answers, fitted.r_hat()))
        });
        let (by_fold, r_hats): (Vec<_>, Vec<f64>) =
            each.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let mut of_row = vec![0; self.table.rows()];
        for fold in 0..folds.count() {
            folds.held_out(fold).iter().for_each(|row| of_row[*row] = fold);
        }
        let held_out = of_row.iter().enumerate().map(|(row, fold)| by_fold[*fold][row].clone());
        let held_out: Vec<Answers> = held_out.collect();
        let pointwise = self.pointwise(&held_out, |(index, of)| {
            let values = |rows: &[Answers]| rows.iter().map(of).collect();
            let sizes = by_fold.iter().enumerate();
            let sizes = sizes.map(|(fold, rows)| (folds.held_out(fold).len(), values(rows)));
            let summary = self.utilities[index].summary();
            Some(BiasTerms::new(summary, values(&training), sizes.collect()))
        });
        Ok((pointwise, r_hats.into_iter().fold(f64::NAN, f64::max)))
    }

    fn answers(
        &self,
        fitted: &Fitted,
        predictions: &PredictiveTable,
        number: u64,
        log_weights: Option<&[&[f64]]>,
    ) -> Result<Vec<Answers>> {
        let columns: Vec<&[f64]> =
            self.study.targets.iter().map(|name| numbers(self.table, name)).collect();
        let of = |row: usize| columns.iter().map(|column| column[row]).collect();
        let observed: Vec<Vec<f64>> = (0..self.table.rows()).map(of).collect();
        let stream = (self.settings.context.seed(), number);
        let questions = Questions::new(self.utilities, &observed, fitted.draws(), stream);
        let ask =
            |row: usize| questions.ask(row, (predictions, row), log_weights.map(|logs| logs[row]));
        Ok((0..self.table.rows()).map(ask).collect())
    }

    /// Each utility of these answers, with a correction for bias by the value that is looked at.
    fn pointwise(
        &self,
        answers: &[Answers],
        bias: impl Fn((usize, &dyn Fn(&Answers) -> f64)) -> Option<BiasTerms>,
    ) -> Vec<PointwiseUtilities> {
        let of_utility = |index: usize| {
            let utility = &*self.utilities[index];
            let replicates = answers.first().map_or(0, |row| row.replicates[index].len());
            let terms = |of: &dyn Fn(&Answers) -> f64| Terms {
                values: answers.iter().map(of).collect(),
                bias: bias((index, of)),
            };
            let draw_replicates =
                (0..replicates).map(|number| terms(&|row| row.replicates[index][number])).collect();
            let terms = terms(&|row| row.values[index]);
            PointwiseUtilities::new(utility, Evaluation { terms, draw_replicates })
        };
        (0..self.utilities.len()).map(of_utility).collect()
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
