//! Learn a location at several temperatures [Fabricius 1999, §2.3.2, figure 2.2].

use posteria::random::Purpose;
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind};
use posteria::target::{Infeasible, PriorTimesLikelihood, Tempered, Terms};

use super::super::cost::simulate;
use super::{Demonstration, Quantity, Settings};
use crate::Result;

/// Inverse temperatures.
const BETAS: [f64; 7] = [0.25, 0.5, 0.8, 1.0, 1.25, 2.0, 8.0];
/// Tables of one row each.
const TABLES: usize = 200_000;
/// Trajectories per temperature.
const TRAJECTORIES: usize = 40_000;

const WORDS: &str = "\
One observation of N(μ, 1), a flat prior, and the predictive distribution when the likelihood counts
with the power β. The published figures are eq. 2.28, 2.33 (with the sign of its logarithm that makes it
positive) and 2.34 of the source, for one example; ours come from Hamiltonian Monte Carlo on
prior × likelihood^β and from simulated tables. The error is least at β = 1, the posterior: beyond it
is too certain, below too vague. sd is the standard error over tables.
";

/// One observation at 0 of N(μ, 1), with a flat prior of μ.
struct Location;

impl PriorTimesLikelihood for Location {
    fn dim(&self) -> usize {
        1
    }

    fn terms(&mut self, mu: &[f64]) -> Result<Terms, Infeasible> {
        let constant = 0.5 * std::f64::consts::TAU.ln();
        Ok(Terms { log_prior: 0.0, log_likelihood: -constant - 0.5 * mu[0] * mu[0] })
    }

    fn terms_gradient(
        &mut self,
        mu: &[f64],
        inverse_temperature: f64,
        gradient: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        gradient[0] = -inverse_temperature * mu[0];
        self.terms(mu)
    }
}

/// Error, bias and variance of one temperature.
struct Errors {
    total: f64,
    standard_error: f64,
    bias: f64,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (tables, trajectories) = match settings.quick {
        true => (TABLES / 20, TRAJECTORIES / 20),
        false => (TABLES, TRAJECTORIES),
    };
    let seed = settings.seed;
    let mut results = Vec::new();
    let mut errors = Vec::new();
    for (index, beta) in BETAS.into_iter().enumerate() {
        let mut stream = seed.stream(Purpose::Data, [11, index as u64]);
        let options = HmcOptions {
            step_size: 0.6 / beta.sqrt(),
            leapfrog_steps: 4,
            metric: MetricKind::Unit,
            ..HmcOptions::default()
        };
        let target = Tempered { product: Location, inverse_temperature: beta };
        let run = simulate(&mut Hmc::new(1, options), target, &[0.0], trajectories, &mut stream)
            .expect("a normal density is usable everywhere");
        let squares = run.positions.iter().map(|position| position[0] * position[0]).sum::<f64>();
        // The predictive distribution of a table is normal about its observation.
        let predictive = 1.0 + squares / run.positions.len() as f64;
        errors.push(error(predictive, tables, &mut stream));
        let sigma = 1.0 + 1.0 / beta;
        let (bias, variance) = (0.5 * sigma.ln() + 0.5 / sigma - 0.5, 0.5 / sigma);
        let found = &errors[index];
        let mut push = |part: &str, published: f64, here: f64, sd: Option<f64>| {
            let quantity = format!("β = {beta}: {part}");
            results.push(Quantity { quantity, published: Some(published), here, sd });
        };
        push("expected error", bias + variance, found.total, Some(found.standard_error));
        push("bias", bias, found.bias, None);
        push("variance", variance, found.total - found.bias, None);
    }
    let best = (0..BETAS.len())
        .min_by(|a, b| errors[*a].total.total_cmp(&errors[*b].total))
        .map_or(f64::NAN, |at| BETAS[at]);
    results.push(Quantity {
        quantity: "β of the least error".into(),
        published: Some(1.0),
        here: best,
        sd: None,
    });
    Ok(Demonstration { name: "tempered", results, words: WORDS.into(), ..Demonstration::default() })
}

/// Kullback-Leibler distance of the teacher N(0, 1) from N(x, variance), on average over x.
fn error(variance: f64, tables: usize, stream: &mut posteria::random::Stream) -> Errors {
    let bias = 0.5 * variance.ln() + 0.5 / variance - 0.5;
    let spread: Vec<f64> = (0..tables).map(|_| 0.5 * stream.normal().powi(2) / variance).collect();
    let count = tables as f64;
    let mean = spread.iter().sum::<f64>() / count;
    let squares: f64 = spread.iter().map(|value| (value - mean).powi(2)).sum();
    Errors { total: bias + mean, standard_error: (squares / count / count).sqrt(), bias }
}
