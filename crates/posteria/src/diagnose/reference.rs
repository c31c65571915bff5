//! Compare every diagnostic with ArviZ, NumPy and SciPy on stored chains.
//!
//! `tests/reference/diagnostics.py` made the numbers and says which library each came from.

use serde_json::Value;

use super::*;

/// Relative, and absolute for values near 0: the same formula in another order of rounding.
const EXACT: f64 = 1e-8;

/// A stored number; those that JSON does not have are spelled out, and NaN is null.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::String(text) => text.parse().expect("a number spelled out"),
        other => other.as_f64().expect("a number"),
    }
}

/// A stored list of numbers.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn close(here: f64, there: f64) -> bool {
    here.to_bits() == there.to_bits()
        || (here.is_nan() && there.is_nan())
        || (here - there).abs() <= EXACT * there.abs().max(1e-3)
}

struct Case {
    name: String,
    chains: Vec<Vec<f64>>,
    expected: Value,
    compared: usize,
}

impl Case {
    fn check(&mut self, library: &str, name: &str, here: f64) {
        let there = number(&self.expected[library][name]);
        assert!(close(here, there), "{}: {name} is {here}, {library} has {there}", self.name);
        self.compared += 1;
    }

    fn check_all(&mut self, library: &str, name: &str, here: &[f64]) {
        let there = numbers(&self.expected[library][name]);
        assert_eq!(here.len(), there.len(), "{}: {name}", self.name);
        for (&here, &there) in here.iter().zip(&there) {
            assert!(close(here, there), "{}: {name} is {here}, {library} has {there}", self.name);
        }
        self.compared += 1;
    }
}

fn stored() -> Value {
    serde_json::from_str(include_str!("../../tests/reference/diagnostics.json"))
        .expect("valid JSON")
}

fn cases() -> Vec<Case> {
    let all = stored();
    let cases = all["cases"].as_array().expect("cases").iter().map(|case| Case {
        name: case["name"].as_str().expect("a name").to_string(),
        chains: case["chains"].as_array().expect("chains").iter().map(numbers).collect(),
        expected: case.clone(),
        compared: 0,
    });
    cases.collect()
}

#[test]
fn agrees_with_arviz() {
    let mut compared = 0;
    for mut case in cases() {
        let x = case.chains.clone();
        case.check("arviz", "r_hat", r_hat(&x));
        case.check("arviz", "r_hat_split", split_r_hat(&x));
        case.check("arviz", "ess_bulk", bulk_effective_size(&x));
        case.check("arviz", "ess_tail", tail_effective_size(&x));
        case.check("arviz", "ess_mean", mean_effective_size(&x));
        case.check("arviz", "ess_sd", sd_effective_size(&x));
        case.check("arviz", "ess_quantile_25", quantile_effective_size(&x, 0.25));
        case.check("arviz", "ess_median", median_effective_size(&x));
        case.check("arviz", "ess_local_10_40", local_effective_size(&x, 0.1, 0.4));
        case.check("arviz", "mcse_mean", mcse_mean(&x));
        case.check("arviz", "mcse_sd", mcse_sd(&x));
        case.check("arviz", "mcse_quantile_90", mcse_quantile(&x, 0.9));
        case.check("arviz", "mcse_quantile_50", mcse_quantile(&x, 0.5));
        let bfmi: Vec<f64> = x.iter().map(|chain| energy_fraction(chain)).collect();
        case.check_all("arviz", "bfmi", &bfmi);
        case.check_all("arviz", "autocorrelation", &autocorrelation(&x[0], 7));
        // ArviZ sorts NaN to the end and reports half an interval; here there is none.
        if case.name != "missing" {
            case.check_all("arviz", "hdi_94", &highest_density_interval(&x.concat(), 0.94));
            case.check_all("arviz", "hdi_50", &highest_density_interval(&x.concat(), 0.5));
        }
        compared += case.compared;
    }
    assert!(compared > 300, "{compared} comparisons");
}

#[test]
fn agrees_with_numpy() {
    for mut case in cases() {
        let pooled = case.chains.concat();
        let probabilities = numbers(&case.expected["numpy"]["probabilities"]);
        let quantiles: Vec<f64> = probabilities.iter().map(|&p| quantile(&pooled, p)).collect();
        case.check_all("numpy", "quantiles", &quantiles);
        let chains = case.chains.clone();
        let summary = summarize_chains(case.name.clone(), &chains, Interval::default());
        case.check("numpy", "mean", summary.mean);
        case.check("numpy", "sd", summary.sd);
        let [low, high] = equal_tailed_interval(&pooled, 0.89);
        assert!(close(low, quantiles[2]) && close(high, quantiles[6]), "{}", case.name);
    }
}

#[test]
fn agrees_with_scipy() {
    for mut case in cases() {
        if case.expected["scipy"].is_null() {
            continue;
        }
        let chains = case.chains.clone();
        let third = chains[0].len() / 3;
        let (first, last) = match &chains[..] {
            [only] => (&only[..third], &only[only.len() - third..]),
            [first, .., last] => (&first[..], &last[..]),
            [] => unreachable!("every case has chains"),
        };
        let test = kolmogorov_smirnov(first, last);
        case.check("scipy", "ks_statistic", test.statistic);
        let asymptotic = asymptotic_p_value(test.statistic, first.len(), last.len());
        case.check("scipy", "ks_p_asymptotic", asymptotic);
        let exact = first.len() * last.len() <= 10_000;
        let name = if exact { "ks_p_exact" } else { "ks_p_asymptotic" };
        case.check("scipy", name, test.p_value);
    }
}

#[test]
fn agrees_with_the_formulas() {
    for mut case in cases() {
        if case.expected["formula"].is_null() {
            continue;
        }
        let x = case.chains.clone();
        let classic = potential_scale_reduction(&x);
        case.check("formula", "psrf", classic.plain);
        case.check("formula", "psrf_corrected", classic.corrected);
        let thirds = potential_scale_reduction_of_thirds(&x[0]);
        case.check("formula", "psrf_thirds", thirds.corrected);
        if x[0].len() >= FEWEST_DRAWS {
            let time = |chains: &[Vec<f64>], how| autocorrelation_time(chains, how);
            case.check("formula", "time_monotone", time(&x, Truncation::InitialMonotone));
            case.check("formula", "time_positive", time(&x, Truncation::InitialPositive));
            case.check("formula", "time_first_chain", time(&x[..1], Truncation::InitialMonotone));
        }
    }
    let several = &stored()["multivariate"];
    let variables: Vec<Vec<Vec<f64>>> = several["variables"]
        .as_array()
        .expect("variables")
        .iter()
        .map(|variable| variable.as_array().expect("chains").iter().map(numbers).collect())
        .collect();
    let here = multivariate_scale_reduction(&variables).expect("usable variables");
    assert!(close(here, number(&several["value"])), "{here}");
}
