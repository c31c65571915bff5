//! Leave rows out by importance sampling: all of them, or of many rows a random sample.

use std::num::NonZero;

use super::left_out::LeftOut;
use super::matching::{Failing, MatchedRow};
use super::{AssessError, Assessed, Assessor, Found, Refit, Repair, Subsample};
use crate::assess::{
    ImportanceError, LeaveOneOut, PointwiseLoo, RowSample, RowUtilities, Sampled, Smoothing,
};
use crate::caution::Caution;
use crate::fit::PosteriorPredictive;

/// Draws, evenly spaced, that the utilities of rows outside the sample are approximated with.
const APPROXIMATION_DRAWS: NonZero<usize> = NonZero::new(32).expect("not zero");

impl<R: Refit> Assessor<'_, R> {
    pub(super) fn leave_one_out(
        &self,
        predictive: &PosteriorPredictive<'_>,
        (smoothing, repair, subsample): (Smoothing, Repair, Subsample),
    ) -> Found<Assessed, R> {
        let sample = subsample.of(self.fit.rows(), self.seed);
        let efficiency = self.fit.relative_efficiency();
        let of_row = |row: &usize| self.fit.observed[*row].clone();
        let observed: Vec<Vec<f64>> = sample.rows().iter().map(of_row).collect();
        let evaluator = self.evaluator(&observed, predictive, 0);
        let rows = ("utilities", sample.rows());
        let found = self.for_left_out(predictive, rows, |row: &LeftOut<'_>| {
            let (loo, weights) = PointwiseLoo::of_row(row.log_likelihoods, smoothing, efficiency)?;
            let logs = Some(&weights.log_weights[..]);
            Ok((loo, evaluator.evaluate(row.position, row.predictive, logs)))
        })?;
        let found = found
            .into_iter()
            .collect::<Result<Vec<_>, ImportanceError>>()
            .map_err(AssessError::from)?;
        let (pointwise, mut evaluated): (Vec<_>, Vec<RowUtilities>) = found.into_iter().unzip();
        let mut loo = LeaveOneOut::of_rows(pointwise, predictive.total(), efficiency);
        if !sample.is_complete() {
            return self.of_sample(sample, (loo, evaluated, &observed));
        }
        let bad = |loo: &LeaveOneOut| -> Vec<usize> {
            let rows = loo.pointwise.iter().enumerate();
            let bad = rows.filter(|(_, one)| one.pareto_shape > loo.shapes.limit);
            bad.map(|(row, _)| row).collect()
        };
        let mut failing = bad(&loo);
        let mut matched = Vec::new();
        if repair.matching && smoothing == Smoothing::Pareto && !failing.is_empty() {
            let those = Failing { rows: &failing, relative_efficiency: efficiency };
            let found = self.matched((predictive, &evaluator), &those)?;
            let mut replaced = Vec::with_capacity(found.len());
            for MatchedRow { row, matched: own, evaluated: one } in found {
                evaluated[row] = one;
                matched.push(row);
                replaced.push((row, own));
            }
            loo.replace_matched(&replaced);
            failing = bad(&loo);
        }
        let mut refitted = Vec::new();
        if !failing.is_empty() && failing.len() <= repair.refits && self.fit.rows() > 1 {
            let found = self.refitted(&failing)?;
            // The first utility is the log predictive density.
            let exact: Vec<(usize, f64)> =
                found.iter().map(|(row, one)| (*row, one.values[0])).collect();
            loo.replace(&exact);
            for (row, one) in found {
                evaluated[row] = one;
                refitted.push(row);
            }
            matched.retain(|row| !refitted.contains(row));
        }
        let mut cautions = loo.cautions.clone();
        if self.fit.prepared.spec.sampling.inference().is_point() {
            cautions.push(Caution::ModeOfAllRows);
        }
        let failing = bad(&loo).iter().filter(|row| !refitted.contains(row)).count();
        let assessed = self.assessed((evaluated, &observed), cautions);
        Ok(Assessed { loo: Some(loo), matched, refitted, failing, ..assessed })
    }

    /// What a sample of the rows says about all of them. Rows whose weights fail are not matched:
    /// that takes the density of all rows again, for every draw.
    fn of_sample(
        &self,
        sample: RowSample,
        (loo, evaluated, observed): (LeaveOneOut, Vec<RowUtilities>, &[Vec<f64>]),
    ) -> Found<Assessed, R> {
        let cautions = loo.cautions.iter().map(|it| sample.place(it.clone())).collect();
        let limit = loo.shapes.limit;
        let failing = loo.pointwise.iter().filter(|row| row.pareto_shape > limit).count();
        let assessed = self.assessed((evaluated, observed), cautions);
        let approximations = self.approximations()?;
        let utilities = assessed.utilities.into_iter().zip(approximations);
        let utilities = utilities
            .map(|(it, approximations)| {
                it.of_sample(Sampled { sample: sample.clone(), approximations })
            })
            .collect();
        Ok(Assessed { loo: Some(loo), sample: Some(sample), utilities, failing, ..assessed })
    }

    /// For every utility an approximation to its value at every row: that of the predictive
    /// distribution given all rows, by a few of the draws.
    pub(super) fn approximations(&self) -> Result<Vec<Vec<f64>>, AssessError> {
        let draws = self.fit.draws.clone().spread_evenly(Some(APPROXIMATION_DRAWS));
        let predictive = self.predictive(&self.fit.prepared.posterior, &draws)?;
        let rows: Vec<usize> = (0..self.fit.rows()).collect();
        let mut by_utility = vec![Vec::with_capacity(rows.len()); self.utilities.len()];
        // In blocks, so that inputs are not there twice.
        const ROWS: usize = 1 << 18;
        for block in rows.chunks(ROWS) {
            let found =
                self.for_block(&predictive, ("approximations", block), |index, table, at| {
                    let (predictive, observed) =
                        (table.predictive(at), &self.fit.observed[block[index]][..]);
                    let each = self.utilities.iter().map(|it| it.evaluate(&predictive, observed));
                    each.collect::<Vec<f64>>()
                })?;
            for of_row in found {
                by_utility.iter_mut().zip(of_row).for_each(|(all, value)| all.push(value));
            }
        }
        Ok(by_utility)
    }
}
