//! Information criteria: what the draws themselves say about predictions.

use posteria::assess::{Dic, LogLikelihoods, Waic, waic};
use posteria::model::spec::ModelKind;
use posteria::predict::{Family, Predictive};

use super::Subject;
use crate::failure::{Classify, Result};

/// Information criteria of a run.
pub struct Information {
    /// That of Watanabe.
    pub waic: Waic,
    /// That of deviance.
    pub dic: Dic,
    /// What is averaged for it.
    pub focus: &'static str,
}

/// The criteria of a run, from its draws.
pub fn information(subject: &Subject) -> Result<Information> {
    let likelihoods = LogLikelihoods::of(&subject.draws).bad_input()?;
    let waic = waic(&likelihoods);
    // Targets of a Gaussian process are not independent given its hyperparameters: the likelihood
    // is that of all targets together, and no draw holds a point to evaluate it at.
    let integrated = subject.spec.model.kind == ModelKind::Gp
        && subject.draws.layout.variable("latents").is_none();
    let (dic, focus) = if integrated {
        let totals: Vec<f64> =
            subject.draws.statistics.iter().map(|statistic| statistic.log_likelihood).collect();
        (Dic::by_variance(&totals), "hyperparameters, by the variance of the deviance")
    } else {
        (Dic::new(&likelihoods.totals(), at_mean(subject)), "outputs and residual model")
    };
    Ok(Information { waic, dic, focus })
}

/// The log likelihood at the posterior mean of the parameters of what the target of every row
/// follows: its location or log odds, its scale.
fn at_mean(subject: &Subject) -> f64 {
    let Some(mut predictor) = subject.fitted.posterior.predictor() else { return f64::NAN };
    let family: Family = predictor.family();
    let (rows, width) = (subject.rows(), family.width());
    let draws = &subject.draws;
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
    mean.chunks_exact(width).zip(&subject.observed).map(row).sum()
}
