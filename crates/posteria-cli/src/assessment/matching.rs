//! Mend rows whose importance weights fail: by moment-matched draws, or by
//! fits without it.

use std::time::Instant;

use posteria::assess::{
    DrawMatching, Matched, MatchedDraws, MomentMatching, RowUtilities, UtilityEvaluator,
    pareto_shape_limit,
};
use posteria::data::{FoldBy, FoldScheme};
use posteria::model::spec::InferenceChoice;
use posteria::predict::PredictiveTable;

use super::{Assessing, Subject};
use crate::failure::{Classify, Result};
use crate::folds::Division;
use crate::text;
use posteria::fit::{PosteriorPredictive, PredictedRows};

/// Rows whose weights fail.
pub struct Failing<'a> {
    /// Their numbers, from 0.
    pub rows: &'a [usize],
    /// The relative efficiency of the draws.
    pub relative_efficiency: f64,
}

/// A row by draws that were moved for it.
pub struct Mended {
    /// The row, from 0.
    pub row: usize,
    /// Its weights and its density.
    pub matched: Matched,
    /// What is known about it now.
    pub evaluated: RowUtilities,
}

impl Assessing<'_> {
    /// Those of the failing rows that moment-matched draws predict with thinner tails. Says beforehand
    /// what that costs, or why it cannot be.
    pub fn matched(
        &self,
        subject: &Subject,
        (work, evaluator): (&PosteriorPredictive<'_>, &UtilityEvaluator<'_>),
        failing: &Failing<'_>,
    ) -> Result<Vec<Mended>> {
        let output = &self.context.output;
        let count = text::count(failing.rows.len(), "row");
        let inference = subject.spec.sampling.inference();
        if inference != InferenceChoice::Mcmc {
            output.message(&format!(
                "moments are not matched for {count}: draws of inference = \"{}\" are not those of \
                 the posterior",
                inference.name()
            ));
            return Ok(Vec::new());
        }
        let begin = Instant::now();
        let matching = match DrawMatching::new(&*subject.fitted.posterior, work.draws) {
            Ok(matching) => matching,
            Err(reason) => {
                output.message(&format!("moments are not matched for {count}: {reason}"));
                return Ok(Vec::new());
            }
        };
        let limit = pareto_shape_limit(work.total());
        // A state per chain has been evaluated to check it.
        let one = begin.elapsed().as_secs_f64() / work.draws.chains.max(1) as f64;
        output.message(&format!(
            "the importance weights of {count} cannot be trusted: the draws are moment-matched for \
             each, in 2 to {} passes over {} of {}, about {} each",
            3 * MomentMatching::new(limit).most_moves,
            text::count(work.total(), "draw"),
            text::count(matching.dim(), "coordinate"),
            text::duration(one * work.total() as f64),
        ));
        let found = work.workers.run("matched rows", failing.rows.len(), |job| {
            let row = failing.rows[job];
            let relative_efficiency = failing.relative_efficiency;
            let options = MomentMatching { relative_efficiency, ..MomentMatching::new(limit) };
            // A row whose moments cannot be matched is left to a fit of its own.
            let MatchedDraws { matched, draws } = matching.without(row, &options).ok()?;
            if matched.moves.is_empty() {
                return None;
            }
            let predictor = &mut *work.predictor();
            let (all, rows) = (0..work.total(), (subject.rows(), row..row + 1));
            let table = PredictiveTable::leave_one_out(predictor, (&draws, all), rows);
            let logs = Some(&matched.weights.log_weights[..]);
            let evaluated = evaluator.evaluate(row, (&table, 0), logs);
            Some(Mended { row, matched, evaluated })
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Leaves out each of these rows by a fit of its own.
    pub fn refitted(
        &self,
        subject: &Subject,
        rows: &[usize],
    ) -> Result<Vec<(usize, RowUtilities)>> {
        let all = subject.rows();
        let by = Some(FoldBy::Row);
        let scheme = FoldScheme { by, ..FoldScheme::new(all, self.context.seed().0) };
        let folds = scheme.divide(&subject.fitted.dataset, None).bad_input()?;
        let division = Division { scheme, folds, draws: subject.draws.draws };
        let numbers: Vec<String> = rows.iter().map(|row| (row + 1).to_string()).collect();
        self.context.output.message(&format!(
            "the importance weights of {} cannot be trusted ({}): each is left out by a fit of its \
             own, {} of {}, begun where those of the run ended",
            text::count(rows.len(), "row"),
            numbers.join(", "),
            text::count(subject.draws.chains, "chain"),
            text::count(subject.draws.draws, "draw"),
        ));
        let fits = division.fit(&subject.whole(), rows, self.interrupt, self.context)?;
        let mut found = Vec::with_capacity(rows.len());
        for fit in &fits {
            let draws = fit.open()?.draws_of_variables().running()?;
            let work = self.work(subject, &fit.prepared.posterior, &draws)?;
            let inputs = fit.everything.inputs.rows_in(fit.index..fit.index + 1);
            let evaluator = self.evaluator(&subject.observed, &work, fit.index as u64 + 1);
            let mut evaluated =
                work.for_rows("utilities", PredictedRows::New(&inputs), |_, table, index| {
                    evaluator.evaluate(fit.index, (table, index), None)
                })?;
            found.push((fit.index, evaluated.remove(0)));
        }
        Ok(found)
    }
}
