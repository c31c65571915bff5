//! Sample the Gaussian processes of the benchmark problems and print effective draws per second.
//!
//! Usage: `gp PROBLEM DATA [--chains N] [--warmup N] [--draws N] [--seed N] [--sampling TOML]`.
//! DATA is the folder of the problem's tables (`P4.tr`, rows of inputs and target without a
//! header). The priors are those of FBM, on the data as they are. Prints lines
//! `problem posteria metric value`: times are process CPU seconds of one thread, ESS is the
//! smallest bulk effective size of the log hyperparameters, and of the first 20 latent values where
//! targets are classes.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cpu_time::ProcessTime;
use posteria::data::{Dataset, Roles, Table, TextFormat};
use posteria::diagnose::{bulk_effective_size, r_hat, tail_effective_size};
use posteria::fit::Chain;
use posteria::model::Posterior;
use posteria::model::gp::GaussianProcess;
use posteria::model::spec::Spec;
use posteria::random::Seed;
use posteria::sample::Plan;

/// Hyperparameters whose logarithms are judged.
const JUDGED: [&str; 3] = ["magnitude", "relevance", "residual_scale"];
/// Latent values that are judged.
const LATENTS: usize = 20;

fn problem(name: &str) -> Result<(&'static str, &'static str)> {
    Ok(match name {
        "P6" => ("P4", "mean = 'constant'\njitter = 0.001\n[prior.mean]\nfixed = 10.0\n[prior.relevance]\nscale = 0.05\ndof = 1.0\ntop_dof = 0.5\n"),
        "P6big" => ("P6big", "mean = 'constant'\njitter = 0.001\n[prior.mean]\nfixed = 10.0\n[prior.relevance]\nscale = 0.05\ndof = 1.0\ntop_dof = 0.5\n"),
        "P7" => ("P2", "task = 'binary'\nmean = 'constant'\njitter = 0.1\n[prior.mean]\nfixed = 1.0\n[prior.relevance]\nsharing = 'common'\n"),
        "cdata" => ("P3", "task = 'multiclass'\njitter = 0.1\n[prior.relevance]\nscale = 0.05\ndof = 0.5\n"),
        _ => bail!("unknown problem {name}; known: P6, P6big, P7, cdata"),
    })
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: gp PROBLEM DATA [options]";
    let name = arguments.next().context(usage)?;
    let folder = arguments.next().context(usage)?;
    let (mut chains, mut warmup, mut draws, mut seed) = (4, 400, 500, 1);
    let mut sampling = String::new();
    while let (Some(option), Some(value)) = (arguments.next(), arguments.next()) {
        match option.as_str() {
            "--chains" => chains = value.parse()?,
            "--warmup" => warmup = value.parse()?,
            "--draws" => draws = value.parse()?,
            "--seed" => seed = value.parse()?,
            "--sampling" => sampling = value,
            _ => bail!("unknown option {option}"),
        }
    }
    let (tables, text) = problem(&name)?;
    let text = format!("[model]\nkind = 'gp'\n{text}[sampling]\n{sampling}\n");
    let spec = Spec::from_toml(&text)?;
    let path = Path::new(&folder).join(format!("{tables}.tr"));
    let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
    let format = TextFormat { header: Some(false), ..TextFormat::default() };
    let table = Table::from_text(&path.display().to_string(), file, &format)?;
    let target = table.names().last().context("a table with columns")?.clone();
    let roles = Roles {
        targets: vec![target],
        task: spec.model.task,
        standardize: false,
        ..Roles::default()
    };
    let (data, _) = Dataset::new(&table, &roles)?;
    let posterior = GaussianProcess::new(&spec)?.condition(&data, None)?;
    let layout = posterior.layout();
    let mut judged: Vec<(usize, bool)> = Vec::new();
    for variable in JUDGED.iter().filter_map(|name| layout.variable(name)) {
        judged.extend(variable.range().map(|at| (at, true)));
    }
    if let Some(latents) = layout.variable("latents") {
        judged.extend(latents.range().take(LATENTS).map(|at| (at, false)));
    }
    let plan = Plan::new(chains, warmup, draws);
    let mut values: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); chains]; judged.len()];
    let (mut warming, mut seconds) = (Duration::ZERO, Duration::ZERO);
    let (mut acceptance, mut diverging) = (0.0, 0.0);
    for index in 0..chains {
        let begin = ProcessTime::now();
        let mut chain = Chain::start(&posterior, &plan, Seed(seed), index)?;
        for _ in 0..warmup {
            chain.advance();
        }
        warming += begin.elapsed();
        let begin = ProcessTime::now();
        while chain.advance() {
            let Some(kept) = chain.report().kept else { continue };
            acceptance += kept.statistics.acceptance_rate;
            diverging += kept.statistics.diverging;
            for (values, (at, log)) in values.iter_mut().zip(&judged) {
                let value = kept.draw[*at];
                values[index].push(if *log { value.ln() } else { value });
            }
        }
        seconds += begin.elapsed();
    }
    let seconds = seconds.as_secs_f64();
    let smallest = |size: &dyn Fn(&[Vec<f64>]) -> f64| {
        values.iter().map(|chains| size(chains)).fold(f64::INFINITY, f64::min)
    };
    let bulk = smallest(&|chains| bulk_effective_size(chains));
    let tail = smallest(&|chains| tail_effective_size(chains));
    let all = (chains * draws) as f64;
    let print = |metric: &str, value: f64| println!("{name} posteria {metric} {value:.6}");
    print("warmup_cpu_s", warming.as_secs_f64());
    print("sampling_cpu_s", seconds);
    print("ms_per_draw", 1e3 * seconds / all);
    print("acceptance", acceptance / all);
    print("divergences", diverging);
    print("min_bulk_ess", bulk);
    print("min_tail_ess", tail);
    print("max_rhat", values.iter().map(|chains| r_hat(chains)).fold(f64::NAN, f64::max));
    print("min_ess_per_s", bulk / seconds);
    for (which, (at, _)) in judged.iter().enumerate() {
        let all: Vec<f64> = values[which].iter().flatten().copied().collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / all.len() as f64;
        print(&format!("mean_{at}"), mean);
        print(&format!("sd_{at}"), square.sqrt());
    }
    Ok(())
}
