//! Chains in modes of a known mixture, equal chains, and what cannot be weighed.

use super::*;
use crate::predict::{Family, Predictive};
use crate::random::{Purpose, Seed, Stream};

const ONE: NonZero<usize> = NonZero::<usize>::MIN;

fn log_density(y: f64, mean: f64, sd: f64) -> f64 {
    let z = (y - mean) / sd;
    -0.5 * z * z - sd.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
}

/// Log likelihoods of rows under draws N(mean, sd) of targets, draw by draw, chain after chain.
fn likelihoods(targets: &[f64], draws: &[(f64, f64)]) -> Vec<f64> {
    let rows = |&(mean, sd)| targets.iter().map(move |y| log_density(*y, mean, sd));
    draws.iter().flat_map(rows).collect()
}

fn stacked(targets: &[f64], chains: &[Vec<(f64, f64)>]) -> ChainStacking {
    let values = likelihoods(targets, &chains.concat());
    let rows = LogLikelihoods::new(&values, chains.len(), chains[0].len(), targets.len());
    ChainStacking::new(&rows.expect("usable"), ONE).expect("weights")
}

/// A chain of draws about a mode whose width is negligible beside the spread of targets.
fn stuck(stream: &mut Stream, mean: f64, draws: usize) -> Vec<(f64, f64)> {
    (0..draws).map(|_| (mean + 0.001 * stream.normal(), 1.0)).collect()
}

#[test]
fn chains_stuck_in_two_modes_have_the_weights_of_the_mixture() {
    // Targets are a share of N(-2, 1) and the rest N(2, 1): quantiles of the mixture itself, so that
    // there is no sampling error of rows. Each chain knows one component only, and the best mixture of
    // both is the truth, by Gibbs' inequality; three of four chains are in the smaller mode.
    for share in [0.2, 0.5, 0.8] {
        let truth = |y: f64| {
            let phi = |mean: f64| log_density(y, mean, 1.0).exp();
            share * phi(-2.0) + (1.0 - share) * phi(2.0)
        };
        // Inverts the cumulative distribution of the mixture on a fine grid.
        let (step, count) = (1e-3, 400);
        let (mut targets, mut mass) = (Vec::new(), 0.0);
        for index in 0..16_000 {
            let y = -8.0 + step * (f64::from(index) + 0.5);
            mass += step * truth(y);
            while targets.len() < count && mass > (targets.len() as f64 + 0.5) / count as f64 {
                targets.push(y);
            }
        }
        let mut stream = Seed(11).stream(Purpose::Data, [0, 0]);
        let chains: Vec<_> =
            [-2.0, 2.0, -2.0, -2.0].map(|mean| stuck(&mut stream, mean, 40)).into();
        let found = stacked(&targets, &chains);
        let low = found.weights[0] + found.weights[2] + found.weights[3];
        // 400 quantiles stand for the mixture to about 1/400 of its mass.
        assert!((low - share).abs() < 0.005, "{share}: {:?}", found.weights);
        let exact: f64 = targets.iter().map(|y| truth(*y).ln()).sum();
        assert!((found.stacked.elpd - exact).abs() < 0.1, "{} {exact}", found.stacked.elpd);
        // Weights that were chosen by other rows lose a little of it.
        let lost = found.stacked.elpd - found.stacked_by_others;
        assert!((0.0..3.0).contains(&lost), "{lost}");
        let equal: f64 = targets
            .iter()
            .map(|y| {
                0.75 * log_density(*y, -2.0, 1.0).exp() + 0.25 * log_density(*y, 2.0, 1.0).exp()
            })
            .map(f64::ln)
            .sum();
        assert!((found.equal.elpd - equal).abs() < 0.1, "{} {equal}", found.equal.elpd);
        let gain = found.stacked.elpd - found.equal.elpd;
        assert!((found.difference.elpd - gain).abs() < 1e-9 && found.difference.se > 0.0);
        // The predictive distribution is that of the mixture.
        let draws = chains.concat();
        let parameters: Vec<f64> = draws.iter().flat_map(|(mean, sd)| [*mean, *sd]).collect();
        let logs = found.log_weights(40);
        let mixture = Predictive::weighted(Family::Normal { outputs: 1 }, &parameters, &logs);
        let mean = mixture.mean(0).expect("a mean");
        assert!((mean - (2.0 - 4.0 * share)).abs() < 0.02, "{mean}");
    }
}

#[test]
fn a_chain_in_a_useless_mode_is_named_and_has_no_weight() {
    let mut stream = Seed(12).stream(Purpose::Data, [0, 0]);
    // Evenly in [-1.5, 1.5]: the mean of exp(1.5 y - 1.5²/2), what a little weight of the second chain
    // would gain, is 0.68, less than the 1 of the others.
    let targets: Vec<f64> = (0..60).map(|i| f64::from(2 * i + 1) / 40.0 - 1.5).collect();
    let chains: Vec<_> = [0.0, 1.5, 0.0].map(|mean| stuck(&mut stream, mean, 50)).into();
    let found = stacked(&targets, &chains);
    assert!(found.weights[1] < 1e-6, "{:?}", found.weights);
    let worse = found.worse();
    assert_eq!(worse.iter().map(|it| it.chain).collect::<Vec<_>>(), [1]);
    // Σ log N(y, 0) - log N(y, 1.5) = Σ (1.5² / 2 - 1.5 y), up to the width of the modes.
    let exact: f64 = targets.iter().map(|y| 1.125 - 1.5 * y).sum();
    assert!((worse[0].lower - exact).abs() < 0.5, "{worse:?} {exact}");
    assert!(found.effective_chains() <= 2.0 + 1e-9);
}

#[test]
fn equal_chains_predict_as_all_draws_do() {
    // Chains of independent draws of the posterior of a mean, N(ȳ, 1/n): weights may be anything that
    // predicts alike. The means of chains of 200 draws have the standard error 0.2/√200 = 0.014; the
    // largest of four is within 0.06 of ȳ with probability 0.9999.
    let mut stream = Seed(13).stream(Purpose::Data, [0, 0]);
    let targets: Vec<f64> = (0..25).map(|_| stream.normal()).collect();
    let centre = targets.iter().sum::<f64>() / 25.0;
    let chain = |stream: &mut Stream| -> Vec<(f64, f64)> {
        (0..200).map(|_| (centre + 0.2 * stream.normal(), 1.0)).collect()
    };
    let chains: Vec<_> = (0..4).map(|_| chain(&mut stream)).collect();
    let found = stacked(&targets, &chains);
    let parameters: Vec<f64> = chains.concat().iter().flat_map(|(m, sd)| [*m, *sd]).collect();
    let family = Family::Normal { outputs: 1 };
    let logs = found.log_weights(200);
    let weighted = Predictive::weighted(family, &parameters, &logs);
    let pooled = Predictive::new(family, &parameters);
    let [a, b] = [weighted, pooled].map(|it| it.mean(0).expect("a mean"));
    assert!((a - b).abs() < 0.06, "{a} {b}");
    for y in [-2.0, 0.0, 1.0] {
        let [a, b] = [weighted, pooled].map(|it| it.log_density(&[y]));
        assert!((a - b).abs() < 0.15, "{a} {b}");
    }
    assert!(found.worse().is_empty() && found.difference.elpd < 1.0, "{:?}", found.difference);
    // A chain alone is left out as all draws are, and its tail is looked at.
    assert!(found.chains.iter().all(|loo| loo.shapes.bad == 0), "{:?}", found.most_failing());
    assert!((found.chains[0].elpd - found.equal.elpd).abs() < 1.0);
}

#[test]
fn what_cannot_be_weighed_is_refused_and_impossible_rows_are_not_numbers_of_nothing() {
    let row = |values: &[f64]| PointwiseLoo::of_each_chain(values, 1).expect("left out");
    let one = ChainStacking::of_rows(&[row(&[-1.0; 30])], 30);
    assert!(one.expect_err("refused").to_string().contains("--chains 4"));
    assert!(ChainStacking::of_rows(&[], 30).is_err());
    // The first chain holds row 0 for impossible.
    let none = f64::NEG_INFINITY;
    let values: Vec<f64> = [vec![[none, -1.0]; 30], vec![[-1.0, -1.5]; 30]].concat().concat();
    let rows = LogLikelihoods::new(&values, 2, 30, 2).expect("usable");
    let found = ChainStacking::new(&rows, ONE).expect("weights");
    assert!(found.weights[1] > 0.4 && found.stacked.elpd.is_finite(), "{found:?}");
    assert_eq!(found.best(), 1);
    let worse = found.worse();
    assert_eq!((worse.len(), worse[0].lower), (1, f64::INFINITY));
}
