//! Say what an exact Gaussian process of many rows will cost, before it begins.

use std::num::NonZero;

use std::fs;

use posteria::data::{Dataset, Targets, Task};
use posteria::fit::Prepared;
use posteria::model::spec::{ModelKind, Spec};
use posteria::sample::Plan;

use crate::failure::{Failure, Result};
use crate::text;
use crate::warning::Warning;

/// Rows beyond which the cost is told.
const MANY: usize = 4000;
/// Seconds of all chains beyond which faster answers are named, also of fewer rows.
const LONG: f64 = 60.0;
/// Rows beyond which nobody would wait.
const TOO_MANY: usize = 20_000;
/// Matrices of all rows by all rows that a running chain holds.
const MATRICES: f64 = 6.0;
/// Seconds of one core per sweep and cubed row: several values with gradient of the marginal
/// likelihood, 2n³ multiplications each.
const SECONDS: f64 = 1.5e-10;

/// What an exact process needs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    rows: usize,
    /// Bytes of one running chain.
    bytes: f64,
    /// Seconds of one chain.
    seconds: f64,
}

impl Cost {
    /// What sampling as `plan` says costs; `None` for models whose cost is not the cube of the
    /// number of rows.
    fn new(spec: &Spec, data: &Dataset, plan: &Plan) -> Option<Self> {
        if spec.model.kind != ModelKind::Gp || spec.model.neighbours.is_some() {
            return None;
        }
        // Functions of several classes depend on each other given the data; those of several
        // targets do not, and take turns.
        let (together, in_turn) = match (&data.targets, data.task) {
            (Targets::Classes { labels, .. }, Task::Multiclass) => (labels.len().max(2) - 1, 1),
            (Targets::Real { names, .. }, _) => (1, names.len()),
            _ => (1, 1),
        };
        let side = (data.rows() * together) as f64;
        Some(Cost {
            rows: data.rows(),
            bytes: MATRICES * 8.0 * side * side,
            seconds: SECONDS * side.powi(3) * (plan.iterations() * in_turn) as f64,
        })
    }
}

/// A warning of a fit that will take long on so many threads; refuses one that cannot succeed.
pub fn check(prepared: &Prepared, plan: &Plan, threads: NonZero<usize>) -> Result<Option<Warning>> {
    let Some(cost) = Cost::new(&prepared.spec, &prepared.data, plan) else { return Ok(None) };
    let at_once = plan.chains.min(threads.get());
    let cure = match prepared.data.task {
        Task::Regression => "--neighbours 30 is an approximation that needs far less of both",
        _ => "take a part of the rows, or --model mlp",
    };
    let found = judge(&cost, at_once, memory(), cure).map_err(Failure::bad_input)?;
    let turns = plan.chains.div_ceil(at_once.max(1));
    let found =
        found.or_else(|| if has_approximation(prepared) { faster(&cost, turns) } else { None });
    Ok(found.map(|words| Warning::new("large-process", &words).doubt(false)))
}

/// Whether chains are asked for where `--inference laplace` integrates the functions out exactly.
fn has_approximation(prepared: &Prepared) -> bool {
    let is_exact = prepared.data.task == Task::Regression && prepared.integrates_functions();
    prepared.is_sampled() && is_exact
}

/// Names what answers faster where so many chains after each other take longer than people like to wait.
fn faster(cost: &Cost, turns: usize) -> Option<String> {
    let seconds = cost.seconds * turns as f64;
    (seconds > LONG).then(|| {
        format!(
            "chains of an exact Gaussian process of {} rows take roughly {}; --inference laplace is \
             quicker, mostly with nearly the same answer, and --neighbours 30 is another \
             approximation",
            cost.rows,
            text::duration(seconds)
        )
    })
}

/// A warning, or the reason for a refusal; `memory` is that of the machine in bytes.
fn judge(
    cost: &Cost,
    at_once: usize,
    memory: Option<f64>,
    cure: &str,
) -> Result<Option<String>, String> {
    let rows = cost.rows;
    let needed = cost.bytes * at_once as f64;
    if rows > TOO_MANY {
        return Err(format!(
            "{rows} rows are too many for an exact Gaussian process, which takes at most \
             {TOO_MANY}; {cure}"
        ));
    }
    if let Some(memory) = memory.filter(|memory| needed > *memory) {
        let fewer = if at_once > 1 { ", or --threads 1 for one chain at a time" } else { "" };
        return Err(format!(
            "an exact Gaussian process of {rows} rows needs about {} for {}, and this machine has \
             {}; {cure}{fewer}",
            size(needed),
            text::count(at_once, "running chain"),
            size(memory)
        ));
    }
    Ok((rows > MANY).then(|| {
        format!(
            "an exact Gaussian process of {rows} rows needs about {} of memory for {} and roughly \
             {} per chain; {cure}",
            size(needed),
            text::count(at_once, "running chain"),
            text::duration(cost.seconds)
        )
    }))
}

/// Bytes in words.
fn size(bytes: f64) -> String {
    let giga = bytes / 1e9;
    format!("{giga:.*} GB", usize::from(giga < 10.0))
}

/// The memory that this process may use, where the system tells it.
fn memory() -> Option<f64> {
    let info = fs::read_to_string("/proc/meminfo").ok();
    let machine = info.as_deref().and_then(total);
    // Containers have a limit of their own.
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse::<f64>().ok());
    match (machine, limit) {
        (Some(machine), Some(limit)) => Some(machine.min(limit)),
        (machine, limit) => machine.or(limit),
    }
}

/// Bytes in the line `MemTotal: N kB`.
fn total(info: &str) -> Option<f64> {
    let line = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(rows: usize) -> Cost {
        let side = rows as f64;
        Cost { rows, bytes: 48.0 * side * side, seconds: 7200.0 }
    }

    #[test]
    fn many_rows_are_warned_of_and_too_many_refused() {
        let judged = |rows, memory| judge(&cost(rows), 2, memory, "the cure");
        assert_eq!(judged(4000, Some(1e12)), Ok(None));
        let warning = judged(5000, None).expect("no refusal").expect("a warning");
        assert_eq!(
            warning,
            "an exact Gaussian process of 5000 rows needs about 2.4 GB of memory for 2 running \
             chains and roughly 2 h 0 min per chain; the cure"
        );
        assert!(judged(20_000, Some(1e12)).expect("no refusal").is_some());
        let many = judged(20_001, None).expect_err("refused");
        assert!(many.contains("20001 rows are too many") && many.ends_with("the cure"), "{many}");
        let small = judged(6000, Some(2e9)).expect_err("refused");
        assert!(small.contains("needs about 3.5 GB") && small.contains("has 2.0 GB"), "{small}");
        assert!(small.ends_with("--threads 1 for one chain at a time"), "{small}");
        // Also few rows, where there is next to no memory.
        assert!(judged(1000, Some(1e7)).is_err());
    }

    #[test]
    fn faster_answers_are_named_where_chains_take_long() {
        let told = |seconds: f64, turns| faster(&Cost { seconds, ..cost(900) }, turns);
        assert_eq!(told(29.0, 2), None);
        let words = told(90.0, 2).expect("words");
        assert!(
            words.contains("of 900 rows take roughly 3 min 0 s; --inference laplace"),
            "{words}"
        );
    }

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let info = "MemTotal:       16 kB\nMemFree:  3 kB\n";
        assert!(total(info).is_some_and(|bytes| (bytes - 16_384.0).abs() < 1.0));
        assert_eq!(total("MemFree: 3 kB"), None);
    }
}
