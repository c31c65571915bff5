//! Assess anyone's model from the log likelihood of every row under every draw.

use std::path::PathBuf;

use anyhow::anyhow;
use posteria::assess::{
    EffectiveSizes, LeaveOneOut, LeaveOneOutOptions, LogLikelihoodError, LogLikelihoods,
    RelativeEfficiency, ShapeCounts, Smoothing, Waic, leave_one_out, waic,
};
use posteria::draws::Draws;
use serde::Serialize;

use super::super::{Context, foreign};
use crate::args;
use crate::failure::{Classify, Failure, Result};
use crate::file::write_whole;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed, short};
use crate::warning::Warning;

/// Names of the array that holds log likelihoods where there are other variables too.
const ARRAYS: [&str; 2] = ["log_lik", "log_likelihood"];

/// Runs `posteria assess --log-lik`.
pub fn run(arguments: &args::Assess, context: &Context) -> Result<()> {
    let files = names_of(&arguments.log_lik);
    let matrix = Matrix::from_draws(foreign::read(&arguments.log_lik, context)?, &files)?;
    let log_likelihoods =
        LogLikelihoods::new(&matrix.values, matrix.chains, matrix.draws, matrix.names.len())
            .map_err(|error| matrix.refusal(&files, error))?;
    let efficiency = arguments.relative_efficiency;
    let options = LeaveOneOutOptions {
        smoothing: Smoothing::Pareto,
        // As R's loo and ArviZ have it where nothing but this matrix is known.
        relative_efficiency: RelativeEfficiency::Given(efficiency.unwrap_or(1.0)),
    };
    let loo = leave_one_out(&log_likelihoods, &options, context.threads).bad_input()?;
    let waic = waic(&log_likelihoods);
    if let Some(path) = &arguments.pointwise {
        write_whole(path, |writer| {
            write_pointwise(writer, &matrix.names, &loo, &waic)
                .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))
                .running()
        })?;
    }
    let assessment = Assessment::new(&matrix, &loo, &waic);
    loo.cautions.iter().for_each(|caution| context.warn(caution));
    // Leave-one-out is the answer; a doubtful WAIC beside it is no reason to fail.
    waic.cautions.iter().for_each(|it| context.warn(Warning::from(it).doubt(false)));
    context.result(&assessment, || words(&matrix, &loo, &waic))
}

fn names_of(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Log likelihoods with the names of the rows.
struct Matrix {
    names: Vec<String>,
    values: Vec<f64>,
    chains: usize,
    draws: usize,
}

impl Matrix {
    /// The array of log likelihoods among the variables; all variables if none has its name.
    fn from_draws(draws: Draws, files: &str) -> Result<Self> {
        let layout = &draws.layout;
        let array = layout.variables().iter().find(|v| ARRAYS.contains(&v.name.as_str()));
        let range = array.map_or(0..layout.len(), |variable| variable.range());
        if array.is_none() && !draws.statistics.is_empty() {
            return Err(Failure::bad_input(format!(
                "{files}: there are statistics of a sampler but no log_lik; write the log \
                 likelihood of every observation into an array called log_lik"
            )));
        }
        let names = layout.component_names()[range.clone()].to_vec();
        let values = draws.values.chunks_exact(layout.len());
        let values = values.flat_map(|draw| &draw[range.clone()]).copied().collect();
        Ok(Matrix { names, values, chains: draws.chains, draws: draws.draws })
    }

    /// Says what is wrong in terms of columns.
    fn refusal(&self, files: &str, error: LogLikelihoodError) -> Failure {
        Failure::bad_input(match error {
            LogLikelihoodError::NotUsable { row, chain, draw, value } => format!(
                "{files}: column {:?} is {value} in draw {} of chain {}; a log likelihood is finite, \
                 or -inf where the observation is impossible: correct or leave out that column",
                self.names[row],
                draw + 1,
                chain + 1
            ),
            other => format!("{files}: {other}"),
        })
    }
}

/// What `posteria assess` finds.
#[derive(Serialize)]
struct Assessment {
    method: &'static str,
    chains: usize,
    draws: usize,
    rows: usize,
    elpd_loo: f64,
    se: f64,
    p_loo: f64,
    pareto_k: ShapeCounts,
    m_eff: EffectiveSizes,
    r_eff: f64,
    waic: f64,
    se_waic: f64,
    p_waic: f64,
}

impl Assessment {
    fn new(matrix: &Matrix, loo: &LeaveOneOut, waic: &Waic) -> Self {
        Assessment {
            method: "loo",
            chains: matrix.chains,
            draws: matrix.draws,
            rows: matrix.names.len(),
            elpd_loo: loo.elpd,
            se: loo.se,
            p_loo: loo.p_loo,
            pareto_k: loo.shapes,
            m_eff: loo.effective_sizes,
            r_eff: loo.relative_efficiency,
            waic: waic.elpd,
            se_waic: waic.se,
            p_waic: waic.p_waic,
        }
    }
}

fn words(matrix: &Matrix, loo: &LeaveOneOut, waic: &Waic) -> String {
    let title = format!(
        "{} of {}, {}",
        text::count(matrix.chains, "chain"),
        text::count(matrix.draws, "draw"),
        text::count(matrix.names.len(), "row")
    );
    let mut table = Table::new(&["", "estimate", "se"]);
    let mut row = |name: &str, value: f64, se: f64| {
        let decimals = decimals_for(se, 3);
        table.row([name.to_string(), fixed(value, decimals), fixed(se, decimals)]);
    };
    row("elpd_loo", loo.elpd, loo.se);
    row("p_loo", loo.p_loo, f64::NAN);
    row("elpd_waic", waic.elpd, waic.se);
    row("p_waic", waic.p_waic, f64::NAN);
    let ShapeCounts { limit, good, ok, bad, max } = loo.shapes;
    let mut bands = Table::new(&["Pareto k", "rows", ""]);
    let mut band = |name: String, count: usize, meaning: &str| {
        bands.row([name, count.to_string(), meaning.to_string()]);
    };
    let lower = limit.min(0.5);
    band(format!("up to {lower:.2}"), good, "good");
    band(format!("up to {limit:.2}"), ok, "ok");
    band(format!("above {limit:.2}"), bad, "bad");
    format!(
        "{}{}\n{}largest k {}\n\nm_eff, effective draws per row: smallest {}, 10 % quantile {}\n",
        heading(&title),
        table.render(),
        bands.render(),
        short(max),
        fixed(loo.effective_sizes.min, 0),
        fixed(loo.effective_sizes.q10, 0),
    )
}

fn write_pointwise(
    writer: &mut dyn std::io::Write,
    names: &[String],
    loo: &LeaveOneOut,
    waic: &Waic,
) -> std::result::Result<(), csv::Error> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record([
        "row",
        "elpd_loo",
        "mcse",
        "p_loo",
        "lppd",
        "pareto_k",
        "m_eff",
        "elpd_waic",
        "p_waic",
    ])?;
    for ((name, loo), waic) in names.iter().zip(&loo.pointwise).zip(&waic.pointwise) {
        let numbers = [
            loo.elpd,
            loo.mcse,
            loo.lppd - loo.elpd,
            loo.lppd,
            loo.pareto_shape,
            loo.effective_size,
            waic.elpd,
            waic.p_waic,
        ];
        let cells = numbers.map(|number| number.to_string());
        table
            .write_record(std::iter::once(name.as_str()).chain(cells.iter().map(String::as_str)))?;
    }
    table.flush()?;
    Ok(())
}
