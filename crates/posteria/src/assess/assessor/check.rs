//! Draw data like those of a fit: given all rows, and each row given the others.

use super::left_out::LeftOut;
use super::{AssessError, Assessor, Found, Refit};
use crate::assess::formula::Statistic;
use crate::assess::predictive_check::{PredictiveCheck, ReplicatedStatistic, StatisticCheck};
use crate::assess::watched::Watched;
use crate::assess::{ImportanceError, LeaveOneOut, PointwiseLoo, Smoothing, TargetFacts};
use crate::fit::{PosteriorPredictive, PredictedRows, Replicates};
use crate::predict::{Predictive, PredictiveTable};
use crate::random::{Purpose, Stream};

/// Data that are drawn row by row.
const REPLICATES: usize = 1000;
/// Bytes that replicated data may take.
const MOST_BYTES: usize = 1 << 29;

impl<R: Refit> Assessor<'_, R> {
    /// Whether replicated data have these statistics of the data.
    ///
    /// # Errors
    /// [`AssessError`] if the model has no targets, there are too many rows, or rows cannot be left
    /// out.
    pub fn check(&self, statistics: &[Statistic]) -> Found<PredictiveCheck, R> {
        let fit = self.fit;
        let predictive = self.predictive(&fit.prepared.posterior, &fit.draws)?;
        let made = fit.prepared.replicates(&fit.draws, MOST_BYTES, self.workers);
        let mut made = made.map_err(AssessError::from)?.ok_or(AssessError::ManyRows)?;
        let (mut left_out, loo) = match predictive.is_linearised() {
            true => (self.replicates_linearised(&predictive)?, None),
            false => {
                let (drawn, loo) = self.replicates_left_out(&predictive)?;
                (drawn, Some(loo))
            }
        };
        let observed: Vec<f64> = fit.observed.iter().flatten().copied().collect();
        if let TargetFacts::Censored { .. } = TargetFacts::of(&fit.prepared.data) {
            let ends = Watched::new(&observed);
            for (row, left_out) in left_out.iter_mut().enumerate() {
                let [together, alone] =
                    [1, 2].map(|what| self.seed.stream(Purpose::LeftOut, [row as u64, what]));
                ends.censor(
                    row,
                    made.values.iter_mut().skip(row).step_by(observed.len()),
                    together,
                );
                ends.censor(row, left_out.iter_mut(), alone);
                if let Some(all) = &mut made.left_out {
                    let again = self.seed.stream(Purpose::LeftOut, [row as u64, 3]);
                    ends.censor(row, all.iter_mut().skip(row).step_by(observed.len()), again);
                }
            }
        }
        let statistics = self.workers.run("statistics", statistics.len(), |index| {
            let statistic = &statistics[index];
            let value = statistic.of(&observed);
            let alone =
                [(0..REPLICATES).map(|it| statistic.of(&row_by_row(&left_out, it))).collect()];
            StatisticCheck {
                statistic: statistic.text().to_string(),
                observed: value,
                posterior: ReplicatedStatistic::new(&by_chain(&made, statistic), value),
                loo: ReplicatedStatistic::new(&alone, value),
            }
        });
        let limit = loo.as_ref().map_or(f64::INFINITY, |loo| loo.shapes.limit);
        let rows = loo.iter().flat_map(|loo| &loo.pointwise);
        Ok(PredictiveCheck {
            rows: fit.rows(),
            statistics: statistics.map_err(AssessError::from)?,
            failing: rows.filter(|row| row.pareto_shape > limit).count(),
            cautions: loo.map_or_else(Vec::new, |loo| loo.cautions),
        })
    }

    /// Targets of every row drawn from its leave-one-out predictive distribution, by importance
    /// weights of the draws.
    fn replicates_left_out(
        &self,
        predictive: &PosteriorPredictive<'_>,
    ) -> Found<(Vec<Vec<f64>>, LeaveOneOut), R> {
        let efficiency = self.fit.relative_efficiency();
        let all: Vec<usize> = (0..self.fit.rows()).collect();
        let found = self.for_left_out(predictive, ("replicates", &all), |row: &LeftOut<'_>| {
            let (loo, weights) =
                PointwiseLoo::of_row(row.log_likelihoods, Smoothing::Pareto, efficiency)?;
            let stream = &mut self.stream(row.position);
            Ok((loo, draw(row.predictive, Some(&weights.log_weights), stream)))
        })?;
        let found: Result<Vec<_>, ImportanceError> = found.into_iter().collect();
        let (pointwise, drawn): (Vec<_>, Vec<_>) =
            found.map_err(AssessError::from)?.into_iter().unzip();
        Ok((drawn, LeaveOneOut::of_rows(pointwise, predictive.total(), efficiency)))
    }

    /// The same by the linearised network without each row, which needs no weights.
    fn replicates_linearised(
        &self,
        predictive: &PosteriorPredictive<'_>,
    ) -> Result<Vec<Vec<f64>>, AssessError> {
        let all: Vec<usize> = (0..self.fit.rows()).collect();
        let rows = PredictedRows::LeaveOneOut(self.fit.rows(), &all);
        Ok(predictive.for_rows("replicates", rows, |row, table, index| {
            draw((table, index), None, &mut self.stream(row))
        })?)
    }

    fn stream(&self, row: usize) -> Stream {
        self.seed.stream(Purpose::LeftOut, [row as u64, 0])
    }
}

/// Targets of a row, replicate after replicate: a draw is chosen by its weight, and a target follows
/// from it. Draws are chosen as evenly as the weights allow, in random order.
fn draw(
    (table, index): (&PredictiveTable, usize),
    log_weights: Option<&[f64]>,
    stream: &mut Stream,
) -> Vec<f64> {
    let family = table.family();
    let draws: Vec<&[f64]> = table.parameters(index).chunks_exact(family.width()).collect();
    let largest = log_weights.iter().copied().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |draw: usize| log_weights.map_or(1.0, |logs| (logs[draw] - largest).exp());
    let total: f64 = (0..draws.len()).map(weight).sum();
    let start = stream.uniform();
    let mut chosen = Vec::with_capacity(REPLICATES);
    let (mut draw, mut below) = (0, weight(0));
    for replicate in 0..REPLICATES {
        let place = (replicate as f64 + start) / REPLICATES as f64 * total;
        while below < place && draw + 1 < draws.len() {
            draw += 1;
            below += weight(draw);
        }
        chosen.push(draw);
    }
    stream.shuffle(&mut chosen);
    let mut targets = vec![0.0; REPLICATES * family.targets()];
    for (targets, draw) in targets.chunks_exact_mut(family.targets()).zip(chosen) {
        Predictive::new(family, draws[draw]).draw(stream, targets);
    }
    targets
}

/// All targets of one replicate of rows that were drawn by themselves.
fn row_by_row(rows: &[Vec<f64>], replicate: usize) -> Vec<f64> {
    let targets = rows.first().map_or(0, |row| row.len() / REPLICATES);
    let of_row = |row: &Vec<f64>| row[replicate * targets..(replicate + 1) * targets].to_vec();
    rows.iter().flat_map(of_row).collect()
}

/// A statistic of all replicates, chain by chain.
fn by_chain(made: &Replicates, statistic: &Statistic) -> Vec<Vec<f64>> {
    let width = made.values.len() / (made.chains * made.draws.len());
    let chains = made.values.chunks_exact(width * made.draws.len());
    chains.map(|chain| chain.chunks_exact(width).map(|data| statistic.of(data)).collect()).collect()
}
