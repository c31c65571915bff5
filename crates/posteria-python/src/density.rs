//! Anyone's log density and anyone's log likelihoods.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray3, PyReadonlyArray3};
use posteria::assess::{
    LeaveOneOutOptions, LogLikelihoods, PointwiseLoo, RelativeEfficiency, Smoothing, leave_one_out,
    waic,
};
use posteria::diagnose::{SummaryOptions, summarize};
use posteria::draws::Draws;
use posteria::fit::{
    Chain, InMemory, JobCounter, Recorder, Report, Workers, run as run_chains, run_jobs,
};
use posteria::model::Custom;
use posteria::random::Seed;
use posteria::sample::hmc::{Hmc, HmcOptions, Nuts, NutsOptions};
use posteria::sample::{Kernel, Metropolis, Plan, RandomWalk, Slice};
use posteria::target::{Infeasible, LogDensity};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::chains;
use crate::error::{self, PosteriaError, SamplingError, SpecificationError};
use crate::work::{Asked, run};

/// The draws of a density of one's own.
#[pyclass(frozen, module = "posteria._posteria")]
pub(crate) struct Chains {
    draws: Draws,
}

#[pymethods]
impl Chains {
    /// Mean, spread and convergence of every variable, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let summary = py.detach(|| summarize(&self.draws, &SummaryOptions::default()));
        chains::summary(&summary)
    }

    /// What a draw holds, as JSON.
    fn layout(&self) -> String {
        chains::layout(&self.draws.layout).to_string()
    }

    /// All draws: chain, draw, component.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        chains::values(py, &self.draws)
    }

    /// Their statistics: chain, draw, statistic.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        chains::statistics(py, &self.draws)
    }
}

/// A density that Python computes. Its first error is kept, and ends the chains.
struct Callable {
    density: Arc<Py<PyAny>>,
    gradient: bool,
    dim: usize,
    failed: Arc<Mutex<Option<PyErr>>>,
}

impl Callable {
    /// Calls the density; its value, and its gradient where that is asked for.
    fn call(&self, x: &[f64], gradient: Option<&mut [f64]>) -> Result<f64, Infeasible> {
        let called = Python::attach(|py| -> PyResult<f64> {
            let x = PyArray1::from_slice(py, x);
            let result = self.density.bind(py).call1((x,))?;
            if !self.gradient {
                return result.extract();
            }
            let (value, found): (f64, Bound<'_, PyAny>) = result.extract()?;
            if let Some(slot) = gradient {
                let found: Vec<f64> = found.extract()?;
                if found.len() != slot.len() {
                    return Err(error::of::<SpecificationError>(format!(
                        "the gradient has {} components and the start {}",
                        found.len(),
                        slot.len()
                    )));
                }
                slot.copy_from_slice(&found);
            }
            Ok(value)
        });
        match called {
            Ok(value) if value.is_nan() || value == f64::INFINITY => Err(Infeasible::NotFinite),
            Ok(value) => Ok(value),
            Err(error) => {
                let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
                Err(Infeasible::NotFinite)
            }
        }
    }
}

impl LogDensity for Callable {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        self.call(x, None)
    }

    fn log_density_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
        self.call(x, Some(gradient))
    }
}

/// How a density of one's own is sampled.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Sampling {
    /// Names of the components.
    names: Vec<String>,
    /// Where each chain starts.
    starts: Vec<Vec<f64>>,
    /// Which transitions are made.
    kernel: String,
    /// Initial widths of steps of single components.
    widths: Vec<f64>,
    warmup: usize,
    draws: usize,
    seed: u64,
    threads: Option<NonZero<usize>>,
}

/// Samples a log density that a Python function computes, with its gradient for `nuts` and `hmc`.
#[pyfunction]
pub(crate) fn sample(
    py: Python<'_>,
    density: Py<PyAny>,
    how: Sampling,
    show: Option<Bound<'_, PyAny>>,
) -> PyResult<Chains> {
    let Sampling { names, starts, kernel, widths, warmup, draws, seed, threads } = how;
    let dim = names.len();
    if starts.iter().any(|start| start.len() != dim) || widths.len() != dim {
        let words = "every start, and the widths, need one number per component";
        return Err(error::of::<SpecificationError>(words));
    }
    if starts.is_empty() || draws == 0 {
        return Err(error::of::<SpecificationError>("ask for at least one chain and one draw"));
    }
    if !widths.iter().all(|width| *width > 0.0 && width.is_finite()) {
        return Err(error::of::<SpecificationError>("widths are positive numbers"));
    }
    let gradient = matches!(&*kernel, "nuts" | "hmc");
    if !gradient && !matches!(&*kernel, "slice" | "metropolis") {
        let words = format!("there is no kernel {kernel:?}: use nuts, hmc, slice or metropolis");
        return Err(error::of::<SpecificationError>(words));
    }
    let failed: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let density = Arc::new(density);
    let drawn = run(py, Asked { threads, show, keeps_part: true }, |workers| {
        let counter = workers.watch.begin("sampling", starts.len() * (warmup + draws));
        let one = |chain: usize| -> PyResult<Draws> {
            let make = || -> Box<dyn LogDensity + Send> {
                let (density, failed) = (Arc::clone(&density), Arc::clone(&failed));
                Box::new(Callable { density, gradient, dim, failed })
            };
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let transitions = |dim: usize| kernel_of(&kernel, dim, &widths);
            let posterior = Custom::density(&names, make, transitions);
            let posterior = posterior.map_err(error::of::<SpecificationError>)?;
            let posterior = posterior.with_start(|_| starts[chain].clone());
            let plan = Plan { first_chain: chain, ..Plan::new(1, warmup, draws) };
            let kept = InMemory::new(&posterior, &plan);
            let recorder = Watched { kept: &kept, counter: &*counter, workers, failed: &failed };
            let alone = NonZero::<usize>::MIN;
            run_chains(&posterior, &plan, Seed(seed), &[None], alone, &recorder)
                .map_err(error::of::<SamplingError>)?;
            Ok(kept.into_draws())
        };
        let chains = run_jobs(starts.len(), workers.threads, one);
        join(&chains.into_iter().collect::<PyResult<Vec<_>>>()?)
    });
    // What the function raised explains what came of it.
    let first = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    match first {
        Some(error) => Err(error),
        None => Ok(Chains { draws: drawn? }),
    }
}

/// Keeps sweeps, counts them, and ends chains whose density has failed or whose work shall stop.
struct Watched<'a> {
    kept: &'a InMemory,
    counter: &'a (dyn JobCounter + Send),
    workers: &'a Workers,
    failed: &'a Mutex<Option<PyErr>>,
}

impl Recorder for Watched<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        self.kept.after_sweep(report, chain)?;
        self.counter.job_done();
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        match failed || self.workers.go_on().is_err() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Single chains as one, cut to the shortest.
fn join(chains: &[Draws]) -> PyResult<Draws> {
    let shortest = chains.iter().map(|chain| chain.draws).min().unwrap_or(0);
    if shortest == 0 {
        return Err(error::cancelled());
    }
    let mut all = Draws::empty(chains[0].layout.clone(), chains.len(), 0);
    all.draws = shortest;
    for chain in chains {
        all.values.extend(&chain.values[..shortest * all.layout.len()]);
        all.statistics.extend(&chain.statistics[..shortest]);
    }
    Ok(all)
}

fn kernel_of(name: &str, dim: usize, widths: &[f64]) -> Box<dyn Kernel> {
    match name {
        "hmc" => Box::new(Hmc::new(dim, HmcOptions::default())),
        "slice" => Box::new(Slice::new(widths)),
        "metropolis" => Box::new(Metropolis::new(RandomWalk::new(widths))),
        _ => Box::new(Nuts::new(dim, NutsOptions::default())),
    }
}

/// Leave-one-out by Pareto-smoothed importance sampling of anyone's log likelihoods (chain, draw, row):
/// JSON with the keys of `posteria assess --log-lik --json`, and log densities and shapes of every row.
#[pyfunction]
pub(crate) fn psis_loo<'py>(
    py: Python<'py>,
    log_lik: PyReadonlyArray3<'py, f64>,
    relative_efficiency: Option<f64>,
    threads: Option<NonZero<usize>>,
) -> PyResult<Bound<'py, PyDict>> {
    let [chains, draws, rows] = *log_lik.as_array().shape() else {
        return Err(error::of::<SpecificationError>("log likelihoods are by chain, draw and row"));
    };
    let values: Vec<f64> = log_lik.as_array().iter().copied().collect();
    let (loo, waic) = run(py, Asked { threads, show: None, keeps_part: false }, |workers| {
        let all = LogLikelihoods::new(&values, chains, draws, rows);
        let all = all.map_err(error::of::<PosteriaError>)?;
        let options = LeaveOneOutOptions {
            smoothing: Smoothing::Pareto,
            // As R's loo and ArviZ have it where nothing but this matrix is known.
            relative_efficiency: RelativeEfficiency::Given(relative_efficiency.unwrap_or(1.0)),
        };
        let loo = leave_one_out(&all, &options, workers.threads);
        Ok((loo.map_err(error::of::<PosteriaError>)?, waic(&all)))
    })?;
    let figures = json!({
        "method": "loo",
        "chains": chains,
        "draws": draws,
        "rows": rows,
        "elpd_loo": loo.elpd,
        "se": loo.se,
        "p_loo": loo.p_loo,
        "pareto_k": loo.shapes,
        "m_eff": loo.effective_sizes,
        "r_eff": loo.relative_efficiency,
        "waic": waic.elpd,
        "se_waic": waic.se,
        "p_waic": waic.p_waic,
        "warnings": chains::warnings(&loo.cautions),
    });
    let result = PyDict::new(py);
    result.set_item("json", figures.to_string())?;
    let of = |figure: &dyn Fn(&PointwiseLoo) -> f64| {
        PyArray1::from_vec(py, loo.pointwise.iter().map(figure).collect())
    };
    result.set_item("elpd", of(&|row| row.elpd))?;
    result.set_item("pareto_k", of(&|row| row.pareto_shape))?;
    result.set_item("m_eff", of(&|row| row.effective_size))?;
    Ok(result)
}
