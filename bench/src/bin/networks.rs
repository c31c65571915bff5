//! Sample the networks of the benchmark problems and print effective draws per second.
//!
//! Usage: `networks PROBLEM DATA [--chains N] [--warmup N] [--draws N] [--seed N]
//! [--sampling TOML]`. DATA is the folder of the problem's tables (`P1.tr`, `P1.ts`, `P1.x20`,
//! rows of inputs and target without a header). The priors are those of FBM, on the data as
//! they are. Prints lines `problem posteria metric value`: times are process CPU seconds of one
//! thread, ESS is the bulk effective size of the outputs at the 20 inputs (class probabilities
//! for three classes).

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cpu_time::ProcessTime;
use posteria::data::{Dataset, Roles, Table, TextFormat};
use posteria::diagnose::{bulk_effective_size, mcse_mean, r_hat};
use posteria::fit::Chain;
use posteria::model::Posterior;
use posteria::model::mlp::Mlp;
use posteria::model::spec::Spec;
use posteria::predict::Family;
use posteria::sample::Plan;
use posteria_linalg::Matrix;

struct Problem {
    tables: &'static str,
    spec: &'static str,
    inputs: usize,
}

fn problem(name: &str) -> Result<Problem> {
    let (tables, inputs, spec) = match name {
        "P1t" => ("P1", 1, "hidden = 8\n[prior.input_weights]\nsharing = 'common'\nscale = 0.05\ndof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nfixed = 100.0\n[residual]\nfamily = 'student-t'\ndof = 4.0\n"),
        "P1g" => ("P1", 1, "hidden = 8\n[prior.input_weights]\nsharing = 'common'\nscale = 0.05\ndof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nfixed = 100.0\n"),
        "P2" => ("P2", 2, "task = 'binary'\nhidden = 10\n[prior.input_weights]\nsharing = 'common'\nscale = 0.05\ndof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nfixed = 1.0\n"),
        "P3" => ("P3", 4, "task = 'multiclass'\nhidden = 8\n[prior.input_weights]\nsharing = 'per-input'\nscale = 0.05\ndof = 1.0\ntop_dof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nscale = 0.05\ndof = 0.5\nwidth_scaled = false\n"),
        "P4" => ("P4", 2, "hidden = 10\n[prior.input_weights]\nsharing = 'common'\nscale = 0.05\ndof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nfixed = 1.0\n"),
        "P5" => ("P5", 84, "task = 'binary'\nhidden = 20\n[prior.input_weights]\nsharing = 'per-input'\nscale = 0.002380952380952381\ndof = 1.0\ntop_dof = 0.5\nwidth_scaled = false\n[prior.hidden_bias]\nscale = 0.05\ndof = 0.5\n[prior.output_bias]\nfixed = 1.0\n"),
        _ => bail!("unknown problem {name}; known: P1t, P1g, P2, P3, P4, P5"),
    };
    Ok(Problem { tables, spec, inputs })
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().context("usage: networks PROBLEM DATA [options]")?;
    let folder = arguments.next().context("usage: networks PROBLEM DATA [options]")?;
    let (mut chains, mut warmup, mut draws, mut seed) = (4, 1000, 1000, 1);
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
    let Problem { tables, spec, inputs } = problem(&name)?;
    let mut text = format!("[model]\nkind = 'mlp'\n{spec}");
    text.push_str(&format!("[sampling]\n{sampling}\n"));
    let spec = Spec::from_toml(&text)?;
    let read = |ending: &str| {
        let path = Path::new(&folder).join(format!("{tables}.{ending}"));
        let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
        let format = TextFormat { header: Some(false), ..TextFormat::default() };
        anyhow::Ok(Table::from_text(&path.display().to_string(), file, &format)?)
    };
    let table = read("tr")?;
    let names = table.names().to_vec();
    let roles = Roles {
        targets: vec![names[inputs].clone()],
        task: spec.model.task,
        standardize: false,
        ..Roles::default()
    };
    let (data, _) = Dataset::new(&table, &roles)?;
    let rows: Vec<Vec<f64>> = std::fs::read_to_string(Path::new(&folder).join(format!("{tables}.x20")))?
        .lines()
        .map(|line| line.split_whitespace().map(str::parse).collect())
        .collect::<Result<_, _>>()?;
    let at = Matrix::from_fn(rows.len(), inputs, |row, column| rows[row][column]);
    let posterior = Mlp::new(&spec)?.condition(&data, None)?;
    let plan = Plan::new(chains, warmup, draws);
    let mut predictor = posterior.predictor().context("a predictor")?;
    let several = matches!(predictor.family(), Family::Categorical { .. });
    let count = at.rows() * predictor.family().functions();
    let mut outputs = vec![0.0; count];
    let mut functions: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); chains]; count];
    let (mut warming, mut sampling) = (Duration::ZERO, Duration::ZERO);
    let (mut evaluations, mut diverging, mut acceptance) = (0.0, 0.0, 0.0);
    for index in 0..chains {
        let begin = ProcessTime::now();
        let mut chain = Chain::start(&posterior, &plan, posteria::random::Seed(seed), index)?;
        for _ in 0..warmup {
            chain.advance();
        }
        warming += begin.elapsed();
        let begin = ProcessTime::now();
        while chain.advance() {
            let Some(kept) = chain.report().kept else { continue };
            evaluations += kept.statistics.n_steps;
            diverging += kept.statistics.diverging;
            acceptance += kept.statistics.acceptance_rate;
            predictor.functions(kept.draw, &at, &mut outputs);
            if several {
                for row in outputs.chunks_mut(count / at.rows()) {
                    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.iter_mut().for_each(|f| *f = (*f - largest).exp());
                    let sum: f64 = row.iter().sum();
                    row.iter_mut().for_each(|f| *f /= sum);
                }
            }
            for (function, value) in functions.iter_mut().zip(&outputs) {
                function[index].push(*value);
            }
        }
        sampling += begin.elapsed();
    }
    let mut sizes: Vec<f64> = functions.iter().map(|chains| bulk_effective_size(chains)).collect();
    let worst = functions.iter().map(|chains| r_hat(chains)).fold(f64::NAN, f64::max);
    sizes.sort_by(f64::total_cmp);
    let (least, middle) = (sizes[0], sizes[count / 2]);
    let seconds = sampling.as_secs_f64();
    let all = (chains * draws) as f64;
    let print = |metric: &str, value: f64| println!("{name} posteria {metric} {value:.6}");
    print("warmup_cpu_s", warming.as_secs_f64());
    print("sampling_cpu_s", seconds);
    print("evaluations_per_draw", evaluations / all);
    print("us_per_evaluation", 1e6 * seconds / evaluations);
    print("acceptance", acceptance / all);
    print("divergences", diverging);
    print("min_bulk_ess", least);
    print("median_bulk_ess", middle);
    print("max_rhat", worst);
    print("min_ess_per_s", least / seconds);
    print("median_ess_per_s", middle / seconds);
    print("first_mean", functions[0].iter().flatten().sum::<f64>() / all);
    print("first_mcse", mcse_mean(&functions[0]));
    Ok(())
}
