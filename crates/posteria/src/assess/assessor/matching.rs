//! Moment-match the draws for rows whose importance weights fail, or fit without them.

use std::time::Instant;

use super::{AssessError, Assessor, Division, Found, Note, Refit};
use crate::assess::{
    DrawMatching, Matched, MatchedDraws, MomentMatching, RowUtilities, UtilityEvaluator,
    pareto_shape_limit,
};
use crate::fit::{PosteriorPredictive, PredictedRows};
use crate::model::spec::InferenceChoice;
use crate::predict::PredictiveTable;

/// Rows whose weights fail.
pub struct Failing<'a> {
    /// Their numbers, from 0.
    pub rows: &'a [usize],
    /// The relative efficiency of the draws.
    pub relative_efficiency: f64,
}

/// A row by draws that were moved for it.
pub struct MatchedRow {
    /// The row, from 0.
    pub row: usize,
    /// Its weights and its density.
    pub matched: Matched,
    /// What is known about it now.
    pub evaluated: RowUtilities,
}

impl<R: Refit> Assessor<'_, R> {
    /// Those of the failing rows that moment-matched draws predict with thinner tails. Says beforehand
    /// what that costs, or why it cannot be.
    pub(super) fn matched(
        &self,
        (predictive, evaluator): (&PosteriorPredictive<'_>, &UtilityEvaluator<'_>),
        failing: &Failing<'_>,
    ) -> Result<Vec<MatchedRow>, AssessError> {
        let rows = failing.rows.len();
        let not_matched = |reason: String| {
            self.refit.note(&Note::NotMatched { rows, reason });
            Ok(Vec::new())
        };
        let inference = self.fit.prepared.spec.sampling.inference();
        if inference != InferenceChoice::Mcmc {
            return not_matched(format!(
                "draws of inference = \"{}\" are not those of the posterior",
                inference.name()
            ));
        }
        let begin = Instant::now();
        let matching = match DrawMatching::new(&*self.fit.prepared.posterior, predictive.draws) {
            Ok(matching) => matching,
            Err(reason) => return not_matched(reason.to_string()),
        };
        let limit = pareto_shape_limit(predictive.total());
        // A state per chain has been evaluated to check it.
        let one = begin.elapsed().as_secs_f64() / predictive.draws.chains.max(1) as f64;
        self.refit.note(&Note::Matching {
            rows,
            most_passes: 3 * MomentMatching::new(limit).most_moves,
            draws: predictive.total(),
            coordinates: matching.dim(),
            seconds: one * predictive.total() as f64,
        });
        let found = predictive.workers.run("matched rows", failing.rows.len(), |job| {
            let row = failing.rows[job];
            let relative_efficiency = failing.relative_efficiency;
            let options = MomentMatching { relative_efficiency, ..MomentMatching::new(limit) };
            // A row whose moments cannot be matched is left to a fit of its own.
            let MatchedDraws { matched, draws } = matching.without(row, &options).ok()?;
            if matched.moves.is_empty() {
                return None;
            }
            let predictor = &mut *predictive.predictor();
            let (all, rows) = (0..predictive.total(), (self.fit.rows(), row..row + 1));
            let table = PredictiveTable::leave_one_out(predictor, (&draws, all), rows);
            let logs = Some(&matched.weights.log_weights[..]);
            let evaluated = evaluator.evaluate(row, (&table, 0), logs);
            Some(MatchedRow { row, matched, evaluated })
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Leaves out each of these rows by a fit of its own.
    pub(super) fn refitted(&self, rows: &[usize]) -> Found<Vec<(usize, RowUtilities)>, R> {
        let of_fit = &self.fit.draws;
        let division = Division::of_rows(&self.fit.prepared.data, self.seed.0, of_fit.draws)
            .map_err(AssessError::from)?;
        let (chains, draws) = (of_fit.chains, of_fit.draws);
        self.refit.note(&Note::Refitting { rows: rows.to_vec(), chains, draws });
        let mut found = Vec::with_capacity(rows.len());
        self.refit.refit(&division, rows, &mut |fold, draws| {
            let predictive = self.predictive(&fold.prepared.posterior, draws)?;
            let inputs = fold.everything.inputs_and_offsets().rows_in(fold.index..fold.index + 1);
            let evaluator = self.evaluator(&self.fit.observed, &predictive, fold.index as u64 + 1);
            let mut evaluated = predictive
                .for_rows("utilities", PredictedRows::New(&inputs), |_, table, index| {
                    evaluator.evaluate(fold.index, (table, index), None)
                })
                .map_err(AssessError::from)?;
            found.push((fold.index, evaluated.remove(0)));
            Ok(())
        })?;
        Ok(found)
    }
}
