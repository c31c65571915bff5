//! Whether log evidences are within their errors of the exact value.

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;

use posteria::data::{Column, Dataset, Roles, Table};
use posteria::evidence::{
    Bridging, Ladder, LadderOptions, LogEvidence, MultivariateT, Silent, annealed_importance,
    bridge, importance, path_sampling, stepping_stone, warp_bridge,
};
use posteria::fit::run_jobs;
use posteria::model::linear::{Linear, LinearPosterior};
use posteria::model::spec::Spec;
use posteria::model::StateDensity;
use posteria::random::{Purpose, Seed};
use posteria::sample::Kernel;
use posteria::sample::hmc::{Nuts, NutsOptions};

/// Name of the validation.
pub const NAME: &str = "evidence/linear";
/// Data sets.
pub const REPEATS: usize = 100;
/// Share of data sets for which an estimate must be within three of its errors.
pub const LEAST: f64 = 0.95;

const ROWS: usize = 100;
const INPUTS: usize = 10;
const CORRELATION: f64 = 0.9;
const SPEC: &str = "[model]\nkind = 'linear'\n[prior.weights]\nfamily = 'independent'\nshape = 0.5\n\
     rate_scale = 100.0\n[prior.intercept]\nfixed = 5.0\n\
     [residual]\nprecision = { shape = 0.5, scale = 100.0 }";
/// Those of the command line.
const LADDERS: usize = 8;
const DRAWS: usize = 1000;
const PARTICLES: usize = 400;
const PARTS: usize = 8;

const METHODS: [&str; 7] =
    ["path", "stepping-stone", "bridge", "bridge, geometric", "warp", "importance", "annealed"];

/// What one method found over all data sets.
pub struct Method {
    pub name: &'static str,
    /// Share of data sets where the estimate is within three of its errors of the exact value.
    pub within: f64,
    /// Share of data sets where it is called usable.
    pub usable: f64,
    /// Root mean square of error over reported error: 1 if these are right.
    pub rms: f64,
    /// Mean of the reported errors.
    pub error: f64,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Estimates the evidence of linear models with independent gamma priors, ten inputs correlated
/// at 0.9 and 100 rows.
pub fn evidence(threads: NonZero<usize>) -> Result<Vec<Method>, Failure> {
    let results = run_jobs(REPEATS, threads, |index| one(index as u64));
    let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let of = |(method, name): (usize, &'static str)| {
        let mean = |of: &dyn Fn(&LogEvidence, f64) -> f64| {
            let terms = results.iter().map(|(exact, found)| {
                let found = &found[method];
                of(found, (found.value - exact) / found.standard_error)
            });
            terms.sum::<f64>() / REPEATS as f64
        };
        Method {
            name,
            within: mean(&|_, z| f64::from(u8::from(z.abs() < 3.0))),
            usable: mean(&|found, _| f64::from(u8::from(found.usable))),
            rms: mean(&|_, z| z * z).sqrt(),
            error: mean(&|found, _| found.standard_error),
        }
    };
    Ok(METHODS.into_iter().enumerate().map(of).collect())
}

/// The exact value of one data set, and every estimate.
fn one(index: u64) -> Result<(f64, Vec<LogEvidence>), Failure> {
    let posterior = posterior(index)?;
    let exact = posterior.exact_log_evidence().ok_or("an exact value")?;
    let options = LadderOptions {
        ladders: LADDERS,
        warmup: DRAWS / 3,
        draws: DRAWS,
        keep_states: true,
        ..LadderOptions::default()
    };
    let alone = NonZero::<usize>::MIN;
    let ladder = Ladder::run(&posterior, &options, Seed(index), alone, &Silent)?;
    let energies = ladder.energies();
    let slots = posterior.density_slots().ok_or("a density")?;
    let proposal = MultivariateT::fit(ladder.states(), &slots).ok_or("a proposal")?;
    let found = vec![
        path_sampling(energies),
        stepping_stone(energies),
        bridge(energies, Bridging::Optimal),
        bridge(energies, Bridging::Geometric),
        warp_bridge(&ladder)?,
        importance(&posterior, &proposal, 10 * PARTICLES, Seed(index), alone),
        annealed_importance(&ladder, PARTICLES, PARTS, &Silent)?,
    ];
    Ok((exact, found))
}

fn posterior(index: u64) -> Result<LinearPosterior, Failure> {
    let mut stream = Seed(2002).stream(Purpose::Data, [index, 0]);
    let common: Vec<f64> = (0..ROWS).map(|_| stream.normal()).collect();
    let mut columns = Vec::new();
    let mut y = vec![3.0; ROWS];
    for input in 0..INPUTS {
        let own = (1.0 - CORRELATION).sqrt();
        let x: Vec<f64> =
            common.iter().map(|c| CORRELATION.sqrt() * c + own * stream.normal()).collect();
        if input < 3 {
            y.iter_mut().zip(&x).for_each(|(y, x)| *y += x);
        }
        columns.push((format!("x{input}"), Column::numbers(x)));
    }
    y.iter_mut().for_each(|y| *y += 0.5 * stream.normal());
    columns.push(("y".into(), Column::numbers(y)));
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&Table::new("memory", columns)?, &roles)?;
    let kernel = |dim| -> Box<dyn Kernel> { Box::new(Nuts::new(dim, NutsOptions::default())) };
    Ok(Linear::new(&Spec::from_toml(SPEC)?)?.condition(&data, Arc::new(kernel))?)
}
