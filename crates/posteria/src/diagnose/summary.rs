//! Put the diagnostics of every variable into one table.

use serde::ser::{SerializeMap, SerializeStruct};
use serde::{Serialize, Serializer};

use super::autocorrelation_time::{Truncation, autocorrelation_time};
use super::chains::{self, FEWEST_DRAWS, Scaled, is_finite, mean, sorted, split, variance};
use super::interval::Interval;
use super::kolmogorov_smirnov::chains_p_value;
use super::potential_scale_reduction::{
    larger, of_folded_ranks, of_ranks, potential_scale_reduction,
    potential_scale_reduction_of_thirds,
};
use super::rank::normal_scores;
use super::{cautions, effective_size, monte_carlo_error};
use crate::caution::Caution;
use crate::draws::{Draws, Role, Statistics};

/// What to report about draws.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SummaryOptions {
    /// The interval of every variable.
    pub interval: Interval,
    /// The greatest tree depth that was allowed, to count the trees that reached it.
    pub greatest_tree_depth: Option<usize>,
}

/// The diagnostics of one component of the draws. What is not defined is NaN, and null in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSummary {
    /// Name of the component, such as `weights[age]`.
    pub name: String,
    /// Whether its value means the same in every chain, see
    /// [`Variable::identified`](crate::draws::Variable::identified). In JSON only if it does not.
    pub identified: bool,
    /// What it is to those who read draws; not in JSON, where its name tells it.
    pub role: Role,
    /// Mean of all draws.
    pub mean: f64,
    /// Standard deviation of all draws (division by S - 1).
    pub sd: f64,
    /// Median of all draws.
    pub median: f64,
    /// Mean and standard deviation of the logarithm, for scales: their own need not exist.
    /// `mean_log` and `sd_log` in JSON.
    pub of_log: Option<[f64; 2]>,
    /// Which interval is reported.
    pub interval: Interval,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// See [`mcse_mean`](super::mcse_mean).
    pub mcse_mean: f64,
    /// See [`mcse_sd`](super::mcse_sd).
    pub mcse_sd: f64,
    /// See [`bulk_effective_size`](super::bulk_effective_size).
    pub ess_bulk: f64,
    /// See [`tail_effective_size`](super::tail_effective_size).
    pub ess_tail: f64,
    /// See [`r_hat`](super::r_hat).
    pub r_hat: f64,
    /// The corrected [`potential_scale_reduction`]; of the thirds of a single chain.
    pub r_hat_classic: f64,
    /// See [`autocorrelation_time`], of all chains by the initial monotone sequence.
    pub autocorrelation_time: f64,
    /// The smallest p value of [`kolmogorov_smirnov`](super::kolmogorov_smirnov()) tests of every pair of
    /// thinned chains, times the number of pairs (Bonferroni), at most 1.
    pub ks_p: f64,
}

/// The diagnostics of all components, with the reasons to doubt them.
///
/// In JSON `{"variables": [{"name", "mean", "sd", "hdi_3%", …}], "warnings": ["…"]}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// One entry per component, in the order of a draw; then [`LOG_DENSITY`], for draws that came
    /// with it.
    pub variables: Vec<VariableSummary>,
    /// What is wrong.
    pub cautions: Vec<Caution>,
}

impl Summary {
    /// The largest R-hat of all identified variables; NaN if none is defined.
    pub fn max_r_hat(&self) -> f64 {
        self.identified().map(|variable| variable.r_hat).fold(f64::NAN, f64::max)
    }

    /// The smallest bulk effective size of all identified variables; NaN if none is defined.
    pub fn min_ess_bulk(&self) -> f64 {
        self.identified().map(|variable| variable.ess_bulk).fold(f64::NAN, f64::min)
    }

    fn identified(&self) -> impl Iterator<Item = &VariableSummary> {
        self.variables.iter().filter(|variable| variable.identified)
    }
}

/// Name of the log density among the variables of a [`Summary`]: whether chains agree about it
/// means something whatever the variables mean.
pub const LOG_DENSITY: &str = "log_density";

/// Diagnoses every component of `draws`, their log density, and the draws as a whole.
///
/// Variables that are not identified are shown and not judged.
pub fn summarize(draws: &Draws, options: &SummaryOptions) -> Summary {
    let mut variables = Vec::with_capacity(draws.layout.len() + 1);
    for variable in draws.layout.variables() {
        for component in 0..variable.len() {
            let chains = draws.component(variable.offset + component);
            let name = variable.component_name(component);
            let mut summary = summarize_chains(name, &chains, options.interval);
            summary.identified = variable.identified;
            summary.role = variable.role;
            if variable.role.is_scale() {
                summary.of_log = of_log(&chains);
            }
            variables.push(summary);
        }
    }
    if let Some(chains) = log_densities(draws) {
        let summary = summarize_chains(LOG_DENSITY.into(), &chains, options.interval);
        variables.push(VariableSummary { role: Role::LogDensity, ..summary });
    }
    let cautions = cautions::of(draws, &variables, options);
    Summary { variables, cautions }
}

/// The log density of every draw, chain by chain; `None` if the draws of some chain came without,
/// or if a variable has its name.
fn log_densities(draws: &Draws) -> Option<Vec<Vec<f64>>> {
    if draws.statistics.is_empty() || draws.layout.of_role(Role::LogDensity).is_some() {
        return None;
    }
    let chain = |statistics: &[Statistics]| statistics.iter().map(|s| s.log_density).collect();
    let chains: Vec<Vec<f64>> = draws.statistics.chunks(draws.draws).map(chain).collect();
    let known = |chain: &Vec<f64>| chain.iter().any(|value| !value.is_nan());
    chains.iter().all(known).then_some(chains)
}

/// Mean and standard deviation of the logarithms; `None` unless all draws are positive.
fn of_log(chains: &[Vec<f64>]) -> Option<[f64; 2]> {
    let logs: Vec<f64> = chains.iter().flatten().map(|value| value.ln()).collect();
    (!logs.is_empty() && is_finite(&logs)).then(|| [mean(&logs), variance(&logs).sqrt()])
}

/// Diagnoses the draws of one variable, chain by chain.
pub fn summarize_chains<C: AsRef<[f64]>>(
    name: String,
    chains: &[C],
    interval: Interval,
) -> VariableSummary {
    let mut summary = VariableSummary {
        name,
        identified: true,
        role: Role::Parameter,
        mean: f64::NAN,
        sd: f64::NAN,
        median: f64::NAN,
        of_log: None,
        interval,
        low: f64::NAN,
        high: f64::NAN,
        mcse_mean: f64::NAN,
        mcse_sd: f64::NAN,
        ess_bulk: f64::NAN,
        ess_tail: f64::NAN,
        r_hat: f64::NAN,
        r_hat_classic: f64::NAN,
        autocorrelation_time: f64::NAN,
        ks_p: f64::NAN,
    };
    let views: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let draws = views.first().map_or(0, |chain| chain.len());
    if draws == 0 || views.iter().any(|chain| chain.len() != draws || !is_finite(chain)) {
        return summary;
    }
    let scaled = Scaled::new(&views);
    let pooled = chains::pool(&scaled.views());
    summary.mean = scaled.centre + scaled.scale * mean(&pooled);
    summary.sd = scaled.scale * variance(&pooled).sqrt();
    let sorted = sorted(&views);
    let middle = [sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]];
    // Halved first: the sum of the greatest numbers is none.
    summary.median = 0.5 * middle[0] + 0.5 * middle[1];
    if sorted.len() > 1 {
        // One draw, such as a mode, says nothing of how far others are.
        [summary.low, summary.high] = interval.of_sorted(&sorted);
    }
    if draws < FEWEST_DRAWS {
        return summary;
    }
    // The same computations as in the single functions, with what they share done once.
    let halves = split(&views);
    let scores = normal_scores(&halves);
    summary.ess_bulk = effective_size::effective_size(&chains::borrow(&scores));
    summary.ess_tail = effective_size::tail(&views, &sorted);
    summary.mcse_mean = monte_carlo_error::mean_error(&scaled);
    summary.mcse_sd = monte_carlo_error::sd_error(&scaled);
    if views.len() > 1 {
        summary.r_hat = larger(of_ranks(&scores), of_folded_ranks(&halves));
        summary.r_hat_classic = potential_scale_reduction(&views).corrected;
    } else {
        summary.r_hat_classic = potential_scale_reduction_of_thirds(views[0]).corrected;
    }
    summary.autocorrelation_time = autocorrelation_time(&views, Truncation::InitialMonotone);
    summary.ks_p = chains_p_value(&views);
    summary
}

impl Serialize for VariableSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [low, high] = self.interval.names();
        let numbers = [
            ("mean", self.mean),
            ("sd", self.sd),
            ("median", self.median),
            (low.as_str(), self.low),
            (high.as_str(), self.high),
            ("mcse_mean", self.mcse_mean),
            ("mcse_sd", self.mcse_sd),
            ("ess_bulk", self.ess_bulk),
            ("ess_tail", self.ess_tail),
            ("r_hat", self.r_hat),
            ("r_hat_classic", self.r_hat_classic),
            ("autocorrelation_time", self.autocorrelation_time),
            ("ks_p", self.ks_p),
        ];
        let of_log = self.of_log.map(|[mean, sd]| [("mean_log", mean), ("sd_log", sd)]);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        if !self.identified {
            map.serialize_entry("identified", &false)?;
        }
        for (name, value) in numbers.into_iter().chain(of_log.into_iter().flatten()) {
            // JSON has neither NaN nor infinity.
            map.serialize_entry(name, &value.is_finite().then_some(value))?;
        }
        map.end()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let warnings: Vec<String> = self.cautions.iter().map(Caution::to_string).collect();
        let mut summary = serializer.serialize_struct("Summary", 2)?;
        summary.serialize_field("variables", &self.variables)?;
        summary.serialize_field("warnings", &warnings)?;
        summary.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{
        bulk_effective_size, highest_density_interval, mcse_mean, mcse_sd, r_hat,
        tail_effective_size,
    };
    use crate::draws::Layout;
    use crate::random::{Purpose, Seed};

    fn draws(chains: usize, draws: usize, dim: usize) -> Draws {
        let mut layout = Layout::new();
        layout.push_vector("w", "i", (0..dim).map(|i| i.to_string()).collect());
        let mut all = Draws::empty(layout, chains, 0);
        all.draws = draws;
        all.values = vec![0.0; chains * draws * dim];
        Seed(3).stream(Purpose::Chain, [0, 0]).fill_normal(&mut all.values);
        all
    }

    #[test]
    fn equals_the_single_functions() {
        for (chains, count) in [(4, 101), (1, 50)] {
            let mut draws = draws(chains, count, 2);
            // A first chain of greater spread, so that R-hat is that of the folded draws.
            draws.values[..2 * count].iter_mut().for_each(|value| *value *= 3.0);
            let summary = summarize(&draws, &SummaryOptions::default());
            let chains = draws.component(1);
            let row = &summary.variables[1];
            let [low, high] = highest_density_interval(&chains.concat(), 0.94);
            for (value, single) in [
                (row.r_hat, r_hat(&chains)),
                (row.ess_bulk, bulk_effective_size(&chains)),
                (row.ess_tail, tail_effective_size(&chains)),
                (row.mcse_mean, mcse_mean(&chains)),
                (row.mcse_sd, mcse_sd(&chains)),
                (row.low, low),
                (row.high, high),
            ] {
                assert_eq!(value.to_bits(), single.to_bits());
            }
            assert_eq!(row.name, "w[1]");
        }
    }

    #[test]
    fn json_has_the_promised_names() {
        let summary = summarize(&draws(2, 3, 1), &SummaryOptions::default());
        let json = serde_json::to_value(&summary).unwrap();
        let row = json["variables"][0].as_object().unwrap();
        for name in [
            "name",
            "mean",
            "sd",
            "median",
            "hdi_3%",
            "hdi_97%",
            "mcse_mean",
            "mcse_sd",
            "ess_bulk",
            "ess_tail",
            "r_hat",
            "r_hat_classic",
            "autocorrelation_time",
            "ks_p",
        ] {
            assert!(row.contains_key(name), "{name}");
        }
        assert!(row["mean"].is_f64() && row["r_hat"].is_null());
        assert!(json["warnings"][0].as_str().unwrap().contains("too few"));
    }

    #[test]
    fn what_is_not_identified_is_shown_and_not_judged() {
        let mut draws = draws(4, 200, 2);
        draws.layout.push_vector("relevance", "i", vec!["0".into(), "1".into()]);
        draws.layout.set_unidentified("w");
        let one = draws.values.clone();
        draws.values = one.chunks(2).flat_map(|w| [w[0], w[1], w[0].exp(), w[1].exp()]).collect();
        // The first chain of the weights lies elsewhere.
        draws.values[..800].iter_mut().step_by(4).for_each(|w| *w += 9.0);
        let summary = summarize(&draws, &SummaryOptions::default());
        assert!(summary.variables[0].r_hat > 1.5 && !summary.variables[0].identified);
        assert!(summary.max_r_hat() < 1.1 && summary.min_ess_bulk() > 400.0);
        assert_eq!(summary.cautions, []);
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(json["variables"][0]["identified"], false);
        assert!(json["variables"][2].get("identified").is_none());
        // Standard normal logarithms of 800 independent draws, median 1: five standard errors.
        let relevance = &summary.variables[3];
        let [mean, sd] = relevance.of_log.unwrap();
        assert!(mean.abs() < 0.18 && (sd - 1.0).abs() < 0.125, "{mean} {sd}");
        assert!((relevance.median - 1.0).abs() < 0.22 && relevance.mean > 1.3);
        assert!(json["variables"][3]["mean_log"].is_f64());
        assert!(json["variables"][0].get("mean_log").is_none());
        // A draw that is not finite is a fault wherever it is.
        draws.values[1] = f64::NAN;
        let summary = summarize(&draws, &SummaryOptions::default());
        let fault = Caution::NonFinite { variable: "w[1]".into(), count: 1 };
        assert_eq!(summary.cautions, [fault]);
    }

    #[test]
    fn the_log_density_is_judged_like_a_variable() {
        let mut draws = draws(4, 200, 1);
        let mut stream = Seed(4).stream(Purpose::Chain, [0, 0]);
        for index in 0..800 {
            let mut values = [0.0; Statistics::LEN];
            // The chains disagree about nothing else.
            values[0] = stream.normal() + if index < 200 { 5.0 } else { 0.0 };
            draws.statistics.push(Statistics::from_array(values));
        }
        let summary = summarize(&draws, &SummaryOptions::default());
        assert_eq!(summary.variables[1].name, LOG_DENSITY);
        assert!(summary.max_r_hat() > 1.5);
        let named = |c: &Caution| matches!(c, Caution::NotConverged { variable, .. } if variable == LOG_DENSITY);
        assert!(summary.cautions.iter().any(named), "{:?}", summary.cautions);
        // Joined with a run that kept none: not known, so not shown.
        draws.statistics[600..].iter_mut().for_each(|s| s.log_density = f64::NAN);
        assert_eq!(summarize(&draws, &SummaryOptions::default()).variables.len(), 1);
    }

    #[test]
    fn no_draws_and_no_chains_are_answered() {
        for (chains, count) in [(0, 0), (2, 0), (2, 1), (2, 2)] {
            let summary = summarize(&draws(chains, count, 1), &SummaryOptions::default());
            assert!(summary.variables[0].r_hat.is_nan());
            assert!(summary.cautions.contains(&Caution::TooFewDraws { draws: count }));
            assert!(summary.max_r_hat().is_nan());
        }
    }
}
