//! Information criteria: what the draws themselves say about predictions.

use super::left_out::LeftOut;
use super::{AssessError, Assessed, Assessor, Found, Refit, Subsample};
use crate::assess::{Dic, PointwiseWaic, RowSample, SampledTotal, Waic};
use crate::draws::Role;
use crate::fit::Fit;
use crate::model::spec::ModelKind;
use crate::predict::{Family, Predictive, PredictiveTable};

/// Information criteria of a fit.
pub struct Information {
    /// That of Watanabe, of all rows.
    pub waic: SampledTotal,
    /// Its number of parameters.
    pub p_waic: SampledTotal,
    /// What every row that was looked at adds to that number.
    pub waic_parameters: Vec<f64>,
    /// That of deviance.
    pub dic: Dic,
    /// What is averaged for it.
    pub focus: &'static str,
    /// Whether log likelihoods of rows have a function integrated out, so that what is counted by
    /// them are hyperparameters alone.
    pub integrated: bool,
    /// What every row that was looked at adds to the number of parameters of the latter,
    /// 2(L_i(θ̄) - E L_i(θ)); none where it is counted for all rows together.
    pub row_parameters: Option<Vec<f64>>,
}

impl<R: Refit> Assessor<'_, R> {
    /// The criteria of the fit, from its draws: by the rows of the sample if it was assessed by one,
    /// else by as many as are usual.
    ///
    /// # Errors
    /// As [`Assessor::assess`].
    pub fn information(&self, assessed: &Assessed) -> Found<Information, R> {
        let usual = || match assessed.loo {
            Some(_) => Subsample::All.of(self.fit.rows(), self.seed),
            None => Subsample::Usual.of(self.fit.rows(), self.seed),
        };
        let sample = assessed.sample.clone().unwrap_or_else(usual);
        let predictive = self.predictive(&self.fit.prepared.posterior, &self.fit.draws)?;
        // Whether the parameters that predict a row left out are those of its own target, too.
        let own = !predictive.is_open;
        let rows = ("criteria", sample.rows());
        let found = self.for_left_out(&predictive, rows, |row: &LeftOut<'_>| {
            let observed = &self.fit.observed[sample.rows()[row.position]];
            let count = row.log_likelihoods.len() as f64;
            let mean = row.log_likelihoods.iter().sum::<f64>() / count;
            let at_mean = own.then(|| at_mean_of(row.predictive, observed));
            (PointwiseWaic::of_row(row.log_likelihoods), mean, at_mean)
        })?;
        let waic = Waic::of_rows(found.iter().map(|(waic, ..)| *waic).collect());
        let [elpds, parameters]: [Vec<f64>; 2] = [
            waic.pointwise.iter().map(|row| row.elpd).collect(),
            waic.pointwise.iter().map(|row| row.p_waic).collect(),
        ];
        let total = self.total(assessed, (&sample, &elpds))?;
        let (dic, focus, row_parameters) = dic(self.fit, &sample, |position| {
            let (_, mean, at_mean) = &found[position];
            (*mean, *at_mean)
        });
        Ok(Information {
            waic: total,
            p_waic: sample.total(&parameters),
            waic_parameters: parameters,
            dic,
            focus,
            integrated: is_integrated(self.fit),
            row_parameters,
        })
    }

    /// The sum of log predictive densities over all rows.
    fn total(
        &self,
        assessed: &Assessed,
        (sample, elpds): (&RowSample, &[f64]),
    ) -> Result<SampledTotal, AssessError> {
        if sample.is_complete() {
            return Ok(sample.total(elpds));
        }
        // The first utility is the log predictive density.
        Ok(match assessed.utilities[0].sampled() {
            Some(sampled) => sample.difference_total(&sampled.approximations, elpds),
            None => sample.difference_total(&self.approximations()?[0], elpds),
        })
    }
}

/// Whether targets are not independent given a draw, those of a Gaussian process given its
/// hyperparameters: the likelihood is that of all of them together, and no draw holds a point to
/// evaluate it at.
fn is_integrated(fit: &Fit) -> bool {
    fit.prepared.spec.model.kind == ModelKind::Gp
        && fit.draws.layout.of_role(Role::Latents).is_none()
}

/// The criterion by the deviance, what is averaged for it, and what every row of the sample adds to
/// its number of parameters. `of_row` has the mean log likelihood, and that at the mean.
fn dic(
    fit: &Fit,
    sample: &RowSample,
    of_row: impl Fn(usize) -> (f64, Option<f64>),
) -> (Dic, &'static str, Option<Vec<f64>>) {
    let totals: Vec<f64> =
        fit.draws.statistics.iter().map(|statistic| statistic.log_likelihood).collect();
    if is_integrated(fit) {
        let focus = "hyperparameters, by the variance of the deviance";
        return (Dic::by_variance(&totals), focus, None);
    }
    let mut all: Option<Vec<f64>> = None;
    let parameters: Vec<f64> = (0..sample.rows().len())
        .map(|position| {
            let (mean, known) = of_row(position);
            let at_mean = known.unwrap_or_else(|| {
                all.get_or_insert_with(|| at_mean(fit))[sample.rows()[position]]
            });
            2.0 * (at_mean - mean)
        })
        .collect();
    // L(θ̄) = E L(θ) + p/2, so that rows outside the sample need not be looked at.
    let mean = totals.iter().sum::<f64>() / totals.len() as f64;
    let at_point = mean + 0.5 * sample.total(&parameters).total;
    (Dic::new(&totals, at_point), "outputs and residual model", Some(parameters))
}

/// The log likelihood of a row at the posterior mean of the parameters of what its target follows:
/// location or log odds, and scale.
fn at_mean_of((table, index): (&PredictiveTable, usize), observed: &[f64]) -> f64 {
    let family = table.family();
    let mut mean = vec![0.0; family.width()];
    let total = table.draws() as f64;
    for one in table.parameters(index).chunks_exact(family.width()) {
        mean.iter_mut().zip(one).for_each(|(mean, one)| *mean += one / total);
    }
    Predictive::new(family, &mean).log_density(observed)
}

/// The same of every row, where a row left out is predicted by other parameters.
fn at_mean(fit: &Fit) -> Vec<f64> {
    let Some(mut predictor) = fit.prepared.posterior.predictor() else {
        return vec![f64::NAN; fit.rows()];
    };
    let family: Family = predictor.family();
    let (rows, width) = (fit.rows(), family.width());
    let draws = &fit.draws;
    let (mut one, mut mean) = (vec![0.0; rows * width], vec![0.0; rows * width]);
    let total = (draws.chains * draws.draws) as f64;
    for chain in 0..draws.chains {
        for draw in 0..draws.draws {
            predictor.at_training_rows(draws.draw(chain, draw), &mut one);
            mean.iter_mut().zip(&one).for_each(|(mean, one)| *mean += one / total);
        }
    }
    let row = |(parameters, observed): (&[f64], &Vec<f64>)| {
        Predictive::new(family, parameters).log_density(observed)
    };
    mean.chunks_exact(width).zip(&fit.observed).map(row).collect()
}
