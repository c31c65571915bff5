//! Lay out what is known about variables, within 80 columns unless more are asked for.

use posteria::diagnose::VariableSummary;

use super::shape::Shapes;
use crate::output::Table;
use crate::text::{self, decimals_for, fixed};

/// A column of a table about variables: its name, and whether it is shown only where width is no
/// matter.
struct Column<'n> {
    name: &'n str,
    is_extra: bool,
}

/// A table with these columns, those that are extra only if it may be `wide`.
fn table_of<'s>(
    columns: &[Column<'_>],
    rows: impl Iterator<Item = (&'s VariableSummary, Vec<String>)>,
    wide: bool,
) -> Table {
    let shown = |column: &&Column<'_>| wide || !column.is_extra;
    let names = columns.iter().filter(shown).map(|column| column.name);
    let mut table = Table::new(&[""].into_iter().chain(names).collect::<Vec<_>>());
    for (variable, cells) in rows {
        let cells = columns.iter().zip(cells).filter(|(column, _)| shown(column));
        table.row([variable.name.clone()].into_iter().chain(cells.map(|(_, cell)| cell)));
    }
    table
}

/// Names of columns; those that begin with + are extra.
fn columns<'n>(names: &[&'n str]) -> Vec<Column<'n>> {
    let column = |name: &&'n str| match name.strip_prefix('+') {
        Some(name) => Column { name, is_extra: true },
        None => Column { name, is_extra: false },
    };
    names.iter().map(column).collect()
}

/// The values of variables at one point, which has no spread to say how many digits they deserve.
pub fn point_table<'s>(variables: impl Iterator<Item = &'s VariableSummary>) -> Table {
    let mut table = Table::new(&["", "value"]);
    for v in variables {
        // The sum has no sign where it is nothing.
        table.row([v.name.clone(), text::significant(v.mean + 0.0, 4)]);
    }
    table
}

/// Mean, spread and precision of variables.
pub fn posterior_table<'s>(
    variables: impl Iterator<Item = &'s VariableSummary>,
    [low, high]: &[String; 2],
    shapes: &Shapes<'_>,
    wide: bool,
) -> Table {
    let names = columns(&[
        "mean",
        "sd",
        "+median",
        low,
        high,
        "density",
        "+mcse_mean",
        "+mcse_sd",
        "ess_bulk",
        "+ess_tail",
        "r_hat",
    ]);
    let row = |v: &'s VariableSummary| {
        // All numbers of a row as precisely as its spread deserves.
        let decimals = decimals_for(v.sd, 3);
        let errors = decimals_for(v.mcse_mean, 2);
        let cells = vec![
            fixed(v.mean, decimals),
            fixed(v.sd, decimals),
            fixed(v.median, decimals),
            fixed(v.low, decimals),
            fixed(v.high, decimals),
            shapes.of(v),
            fixed(v.mcse_mean, errors),
            fixed(v.mcse_sd, errors),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.r_hat, 3),
        ];
        (v, cells)
    };
    table_of(&names, variables.map(row), wide)
}

/// Median and spread of scales: where the prior is heavy-tailed, a mean of logarithms exists and
/// a mean need not.
pub fn scale_table<'s>(
    variables: impl Iterator<Item = &'s VariableSummary>,
    [low, high]: &[String; 2],
    shapes: &Shapes<'_>,
    wide: bool,
) -> Table {
    let names = columns(&[
        "median",
        low,
        high,
        "density",
        "+mean_log",
        "+sd_log",
        "ess_bulk",
        "+ess_tail",
        "r_hat",
    ]);
    let row = |v: &'s VariableSummary| {
        let [mean_log, sd_log] = v.of_log.unwrap_or([f64::NAN; 2]);
        // As precisely as the spread deserves, where it is one.
        let number = |value: f64| match v.sd < 0.5 * v.median.abs() {
            true => fixed(value, decimals_for(v.sd, 3)),
            false => text::short(value),
        };
        let cells = vec![
            number(v.median),
            number(v.low),
            number(v.high),
            shapes.of(v),
            fixed(mean_log, 2),
            fixed(sd_log, 2),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.r_hat, 3),
        ];
        (v, cells)
    };
    table_of(&names, variables.map(row), wide)
}

/// The convergence diagnostics of every variable.
pub fn convergence_table<'s>(variables: impl Iterator<Item = &'s VariableSummary>) -> Table {
    let mut table = Table::new(&[
        "",
        "mean",
        "r_hat",
        "r_hat_classic",
        "ess_bulk",
        "ess_tail",
        "mcse_mean",
        "autocorrelation_time",
        "ks_p",
    ]);
    for v in variables {
        table.row([
            v.name.clone(),
            fixed(v.mean, decimals_for(v.sd, 3)),
            fixed(v.r_hat, 3),
            fixed(v.r_hat_classic, 3),
            fixed(v.ess_bulk, 0),
            fixed(v.ess_tail, 0),
            fixed(v.mcse_mean, decimals_for(v.mcse_mean, 2)),
            fixed(v.autocorrelation_time, 1),
            fixed(v.ks_p, 3),
        ]);
    }
    table
}
