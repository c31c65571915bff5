//! Compare N(0, 1) with N(θ, 1) by cross-validation and by the Bayes factor
//! [Vehtari 2001, figure 3.1].

use posteria::assess::utility::Elpd;
use posteria::assess::{Bootstrap, PointwiseUtilities, Terms, difference};
use posteria::density::special::logistic;
use posteria::fit::run_jobs;
use posteria::random::{Purpose, Seed};

use super::{Demonstration, Estimate, Settings, unpublished};
use crate::{Listing, Result, Shown};
use posteria_report::plain;

/// Mean of the data.
const TRUTH: f64 = 1.0;
/// Data sets over which probabilities are averaged; 1000 in the thesis.
const REALISATIONS: usize = 200;
const QUICK_REALISATIONS: usize = 4;
/// Replicates of the Bayesian bootstrap.
const REPLICATES: usize = 500;
/// Prior standard deviations at all numbers of rows.
const WIDTHS: [f64; 3] = [1.0, 1e3, 1e10];
/// Numbers of rows for them.
const ROWS: [usize; 5] = [5, 10, 20, 50, 100];
/// More prior standard deviations at the largest number of rows.
const MORE_WIDTHS: [f64; 7] = [0.01, 1e6, 1e15, 1e20, 1e22, 1e25, 1e30];

/// A standard error of probabilities that is none.
const ROUNDING: f64 = 1e-9;

const WORDS: &str = "\
Data are N(1, 1). M1 is N(0, 1), which has nothing to learn; M2 is N(θ, 1) with θ from N(0, τ²), τ the
standard deviation. Shown are means over 200 realisations of the data (1000 in the thesis), with their
standard errors (none where all realisations agree): the probability that M2 has the greater expected log predictive density, by exact
leave-one-out and the Bayesian bootstrap, and the posterior probability of M2 by the exact Bayes factor.
What M2 predicts after some rows hardly depends on a wide prior, and cross-validation says the same
whatever τ: M2 is better. The Bayes factor asks how well M2 predicts before it has seen
anything, so that with τ → ∞ it takes M1, which is false, to be certain. The thesis draws the curves
and prints no numbers: cross-validation always favours M2 there too, and is indifferent only where τ
is next to nothing and M2 is M1.
";

/// A number of rows and a width of the prior.
#[derive(Clone, Copy)]
struct Case {
    rows: usize,
    width: f64,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let most = ROWS[ROWS.len() - 1];
    let by_rows =
        WIDTHS.iter().flat_map(|&width| ROWS.iter().map(move |&rows| Case { rows, width }));
    let by_width = MORE_WIDTHS.iter().map(|&width| Case { rows: most, width });
    let mut cases: Vec<Case> = by_rows.chain(by_width).collect();
    cases.sort_by(|a, b| a.rows.cmp(&b.rows).then(a.width.total_cmp(&b.width)));
    let count = if settings.quick { QUICK_REALISATIONS } else { REALISATIONS };
    let found = run_jobs(count, settings.threads, |realisation| {
        let data = data(settings.seed, realisation as u64, most);
        let bootstrap = Seed(settings.seed.0.wrapping_add(realisation as u64));
        let one = |case: &Case| probabilities(&data[..case.rows], case.width, bootstrap);
        cases.iter().map(one).collect::<Result<Vec<[f64; 2]>>>()
    });
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let mut table = Listing::new(&["n", "τ", "cross-validation", "sd", "Bayes factor", "sd"]);
    let mut results = Vec::new();
    for (index, Case { rows, width }) in cases.iter().enumerate() {
        let mut line = vec![rows.to_string(), format!("{width:e}")];
        for (of, how) in ["cross-validation", "Bayes factor"].into_iter().enumerate() {
            let values: Vec<f64> = found.iter().map(|realisation| realisation[index][of]).collect();
            let estimate = Estimate::of_mean(&values);
            // Where every realisation gives 0 or 1, what is left is rounding.
            let sd = (estimate.sd > ROUNDING).then_some(estimate.sd);
            let shown = sd.map_or("-".into(), |sd| plain::fixed(sd, 3));
            line.extend([plain::fixed(estimate.value, 3), shown]);
            let quantity = format!("n = {rows}, τ = {width:e}: probability of M2, {how}");
            results.push(unpublished(quantity, estimate.value, sd));
        }
        table.row(line);
    }
    let title = Shown::Lines("Probability that M2 is better\n".into());
    Ok(Demonstration {
        name: "lindley",
        results,
        shown: vec![title, table.into()],
        words: WORDS.into(),
        ..Demonstration::default()
    })
}

fn data(seed: Seed, realisation: u64, rows: usize) -> Vec<f64> {
    let mut stream = seed.stream(Purpose::Data, [31, realisation]);
    (0..rows).map(|_| TRUTH + stream.normal()).collect()
}

/// That M2 is better, by cross-validation and by the Bayes factor.
fn probabilities(data: &[f64], width: f64, seed: Seed) -> Result<[f64; 2]> {
    let with_parameter = PointwiseUtilities::new(&Elpd, Terms::from(left_out(data, width)));
    let fixed: Vec<f64> = data.iter().map(|y| log_normal(*y, 0.0, 1.0)).collect();
    let fixed = PointwiseUtilities::new(&Elpd, Terms::from(fixed));
    let bootstrap = Bootstrap { replicates: REPLICATES, ..Bootstrap::new(seed) };
    let difference = difference(&with_parameter, &fixed, &bootstrap)?;
    Ok([difference.probability_better(), logistic(log_bayes_factor(data, width))])
}

/// log p(y_i given all others) under M2: normal about the shrunken mean of the others.
fn left_out(data: &[f64], width: f64) -> Vec<f64> {
    let precision = width.powi(-2) + (data.len() - 1) as f64;
    let total: f64 = data.iter().sum();
    let one = |y: &f64| log_normal(*y, (total - y) / precision, 1.0 + 1.0 / precision);
    data.iter().map(one).collect()
}

/// log p(D given M2) / p(D given M1): the mean ȳ is sufficient, with variance 1/n under M1 and
/// 1/n + τ² under M2.
fn log_bayes_factor(data: &[f64], width: f64) -> f64 {
    let rows = data.len() as f64;
    let mean = data.iter().sum::<f64>() / rows;
    let variance = 1.0 / rows;
    log_normal(mean, 0.0, variance + width * width) - log_normal(mean, 0.0, variance)
}

fn log_normal(y: f64, mean: f64, variance: f64) -> f64 {
    -0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: f64 = 1e-10;

    /// Σ_i log p(y_i given y_1 … y_i-1) is log p(D): the chain rule ties both formulas together.
    #[test]
    fn predictions_in_turn_multiply_to_the_evidence() {
        let data = data(Seed(1), 0, 9);
        for width in [0.3, 1.0, 50.0] {
            let ratios = (1..=data.len()).map(|known| {
                let last = left_out(&data[..known], width)[known - 1];
                last - log_normal(data[known - 1], 0.0, 1.0)
            });
            let sum: f64 = ratios.sum();
            assert!((sum - log_bayes_factor(&data, width)).abs() < EXACT, "{width}");
        }
    }

    #[test]
    fn a_vague_prior_turns_only_the_bayes_factor() {
        let data = data(Seed(2), 0, 100);
        let at = |width: f64| probabilities(&data, width, Seed(3)).expect("probabilities");
        let [[cv, bayes], [vague_cv, vague_bayes]] = [at(1.0), at(1e30)];
        assert!(cv > 0.99 && vague_cv > 0.99, "{cv} {vague_cv}");
        assert!(bayes > 0.99 && vague_bayes < 0.01, "{bayes} {vague_bayes}");
    }
}
