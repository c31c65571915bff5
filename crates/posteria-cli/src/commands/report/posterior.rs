//! Choose which draws of a run the page shows.

use posteria::diagnose::{
    LOG_DENSITY, Summary, VariableSummary, divergences, effective_draws_needed, energy_fractions,
    r_hat_limit, rank_correlation,
};
use posteria::draws::{Draws, Statistics, Variable};
use posteria::model::spec::{ModelKind, Spec};
use posteria_report::figure::Kind;
use posteria_report::sections::{
    ChainFacts, Convergence, Densities, DensityGroup, Energy, Pair, Sample, Trace, VariableFacts,
};

use super::super::summary::sections::{Sections, Topic, unidentified};

/// Variables with a trace, and how many of them are those that converge worst.
const TRACES: usize = 8;
const WORST: usize = 3;
/// Hyperparameters that are looked at in pairs, and pairs that are shown.
const HYPERPARAMETERS: usize = 8;
const PAIRS: usize = 2;
/// Parameters with a figure of their own.
const PARAMETERS: usize = 9;
/// Draws below which a density means nothing.
const FEWEST: usize = 20;

/// How the chains agree.
pub fn convergence(draws: &Draws, summary: &Summary) -> Convergence {
    let layout = &draws.layout;
    let mut variables = Vec::new();
    for variable in layout.variables().iter().filter(|variable| variable.identified) {
        let own = &summary.variables[variable.range()];
        variables.extend(own.iter().map(|v| facts(v, &variable.name)));
    }
    variables.extend(summary.variables[layout.len()..].iter().map(|v| facts(v, &v.name)));
    let unnamed: Vec<&Variable> = layout.variables().iter().filter(|v| !v.identified).collect();
    let interval = summary.variables.first().map(|v| v.interval).unwrap_or_default().names();
    Convergence {
        variables,
        traces: traces(draws, summary),
        pairs: pairs(draws, summary),
        energy: energy(draws),
        disagreement: None,
        chains: chains(draws),
        r_hat_limit: r_hat_limit(draws.chains),
        needed: effective_draws_needed(draws.chains),
        interval,
        notes: unidentified(&unnamed).into_iter().collect(),
    }
}

fn facts(v: &VariableSummary, block: &str) -> VariableFacts {
    VariableFacts {
        name: v.name.clone(),
        block: block.into(),
        mean: v.mean,
        sd: v.sd,
        interval: [v.low, v.high],
        mcse_mean: v.mcse_mean,
        ess_bulk: v.ess_bulk,
        ess_tail: v.ess_tail,
        r_hat: v.r_hat,
    }
}

fn chains(draws: &Draws) -> Vec<ChainFacts> {
    if draws.statistics.is_empty() {
        return Vec::new();
    }
    let (fractions, divergences) = (energy_fractions(draws), divergences(draws));
    let chunks = draws.statistics.chunks_exact(draws.draws.max(1)).enumerate();
    let facts = chunks.map(|(chain, own)| {
        let mean =
            |value: fn(&Statistics) -> f64| own.iter().map(value).sum::<f64>() / own.len() as f64;
        ChainFacts {
            divergences: divergences[chain],
            energy_fraction: fractions[chain],
            acceptance: mean(|s| s.acceptance_rate),
            step_size: mean(|s| s.step_size),
            steps: mean(|s| s.n_steps),
        }
    });
    facts.collect()
}

/// The variables that converge worst, then noise, log density, relevance and scales.
fn traces(draws: &Draws, summary: &Summary) -> Vec<Trace> {
    let badness = |v: &VariableSummary| if v.r_hat.is_nan() { f64::NEG_INFINITY } else { v.r_hat };
    let mut worst: Vec<&VariableSummary> =
        summary.variables.iter().filter(|v| v.identified).collect();
    worst.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
    worst.truncate(WORST);
    let sections = Sections::new(summary, &draws.layout, false);
    let order =
        [Topic::Residual, Topic::Quality, Topic::Relevance, Topic::Scales, Topic::Parameters];
    let topical = order.iter().flat_map(|topic| {
        let own = sections.sections.iter().filter(move |(of, _)| of == topic);
        own.flat_map(|(_, rows)| rows.iter().copied())
    });
    let mut chosen: Vec<&VariableSummary> = Vec::new();
    for variable in worst.into_iter().chain(topical) {
        // What stands still, such as a fixed scale, has nothing to show.
        let moves = variable.sd > 0.0;
        if moves && !chosen.iter().any(|other| other.name == variable.name) {
            chosen.push(variable);
        }
    }
    chosen.truncate(TRACES);
    let diverging: Vec<[usize; 2]> = draws
        .statistics
        .iter()
        .enumerate()
        .filter(|(_, statistics)| statistics.diverging > 0.0)
        .map(|(index, _)| [index / draws.draws.max(1), index % draws.draws.max(1)])
        .collect();
    let trace = |v: &VariableSummary| {
        let (chains, kind) = values(draws, summary, &v.name)?;
        let (name, diverging) = (v.name.clone(), diverging.clone());
        Some(Trace { name, kind, chains, diverging, r_hat: v.r_hat })
    };
    chosen.into_iter().filter_map(trace).collect()
}

/// The pairs of hyperparameters that go together most.
fn pairs(draws: &Draws, summary: &Summary) -> Vec<Pair> {
    let sections = Sections::new(summary, &draws.layout, false);
    let scales = sections.sections.iter().filter(|(topic, _)| topic.is_of_scales());
    let names = scales.flat_map(|(_, rows)| rows.iter().filter(|v| v.sd > 0.0).map(|v| &v.name));
    let all: Vec<(&String, Vec<f64>, Kind)> = names
        .take(HYPERPARAMETERS)
        .filter_map(|name| {
            let (chains, kind) = values(draws, summary, name)?;
            Some((name, chains.concat(), kind))
        })
        .collect();
    let diverging: Vec<bool> =
        draws.statistics.iter().map(|statistics| statistics.diverging > 0.0).collect();
    let mut pairs = Vec::new();
    for (index, (name, first, kind)) in all.iter().enumerate() {
        for (other, second, other_kind) in &all[index + 1..] {
            pairs.push(Pair {
                names: [name.to_string(), other.to_string()],
                kinds: [*kind, *other_kind],
                correlation: rank_correlation(first, second),
                draws: [first.clone(), second.clone()],
                diverging: diverging.clone(),
            });
        }
    }
    let strength =
        |pair: &Pair| if pair.correlation.is_nan() { 0.0 } else { pair.correlation.abs() };
    pairs.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    pairs.truncate(PAIRS);
    pairs
}

/// How energies change, if the sampler has any.
fn energy(draws: &Draws) -> Option<Energy> {
    let fraction = energy_fractions(draws).into_iter().fold(f64::NAN, f64::min);
    if !fraction.is_finite() {
        return None;
    }
    let (mut marginal, mut transition) = (Vec::new(), Vec::new());
    for chain in draws.statistics.chunks_exact(draws.draws.max(1)) {
        let mean = chain.iter().map(|it| it.energy).sum::<f64>() / chain.len() as f64;
        marginal.extend(chain.iter().map(|it| it.energy - mean));
        transition.extend(chain.windows(2).map(|pair| pair[1].energy - pair[0].energy));
    }
    Some(Energy { marginal, transition, fraction })
}

/// The draws of a variable by its name, chain by chain, and how its axis runs.
fn values(draws: &Draws, summary: &Summary, name: &str) -> Option<(Vec<Vec<f64>>, Kind)> {
    if name == LOG_DENSITY {
        let chunks = draws.statistics.chunks_exact(draws.draws.max(1));
        let chain = |own: &[Statistics]| own.iter().map(|s| s.log_density).collect();
        return Some((chunks.map(chain).collect(), Kind::Linear));
    }
    let component = summary.variables.iter().position(|v| v.name == name)?;
    let variable = draws.layout.variables().iter().find(|v| v.range().contains(&component))?;
    let kind = if variable.role.is_scale() { Kind::Log } else { Kind::Linear };
    Some((draws.component(component), kind))
}

/// Posteriors as densities, by topic.
pub fn densities(draws: &Draws, summary: &Summary, spec: &Spec) -> Densities {
    if draws.chains * draws.draws < FEWEST {
        return Densities::default();
    }
    let kind = spec.model.kind;
    let sections = Sections::new(summary, &draws.layout, false);
    let mut groups = Vec::new();
    // Coefficients are what a linear model is about; other parameters mean little by themselves.
    let mut topics: Vec<_> = sections.sections.iter().collect();
    if kind != ModelKind::Linear {
        topics.sort_by_key(|(topic, _)| match topic {
            Topic::Residual => 0,
            Topic::Relevance => 1,
            Topic::Scales => 2,
            Topic::Parameters | Topic::Quality => 3,
        });
    }
    for (topic, rows) in topics {
        let moving = rows.iter().filter(|v| v.sd > 0.0);
        let (dofs, others): (Vec<_>, Vec<_>) = moving.partition(|v| v.name.contains("_dof"));
        let samples = |rows: &[&&VariableSummary]| -> Vec<Sample> {
            let sample = |v: &&&VariableSummary| {
                let (chains, _) = values(draws, summary, &v.name)?;
                Some(Sample { name: v.name.clone(), draws: chains.concat() })
            };
            rows.iter().filter_map(sample).collect()
        };
        let note = topic.note(kind).unwrap_or_default().replace('\n', " ");
        match topic {
            Topic::Quality => {}
            Topic::Parameters => {
                // Each has a unit of its own; counts and indicators of inputs have no density.
                let is_continuous =
                    |sample: &Sample| sample.draws.iter().any(|it| it.fract().abs() > 0.0);
                let shown = samples(&others).into_iter().filter(is_continuous);
                for sample in shown.take(PARAMETERS) {
                    groups.push(DensityGroup {
                        name: format!("posterior-{}", sample.name),
                        title: format!("{}: posterior density", sample.name),
                        label: sample.name.clone(),
                        samples: vec![sample],
                        ..DensityGroup::default()
                    });
                }
            }
            _ => {
                let (title, label) = words(*topic, kind);
                groups.push(DensityGroup {
                    name: format!("posterior-{}", stem(*topic)),
                    title: title.into(),
                    note,
                    label: label.into(),
                    kind: Kind::Log,
                    samples: samples(&others),
                });
            }
        }
        groups.push(DensityGroup {
            name: format!("posterior-dof-{}", stem(*topic)),
            title: match topic {
                Topic::Residual => "Degrees of freedom of the residuals: small is heavy-tailed",
                _ => "Degrees of freedom of the priors",
            }
            .into(),
            label: "degrees of freedom".into(),
            kind: Kind::Log,
            samples: samples(&dofs),
            ..DensityGroup::default()
        });
    }
    Densities { groups }
}

/// What the files of a topic are called.
fn stem(topic: Topic) -> &'static str {
    match topic {
        Topic::Parameters => "parameters",
        Topic::Relevance => "relevance",
        Topic::Scales => "scales",
        Topic::Residual => "residual",
        Topic::Quality => "quality",
    }
}

fn words(topic: Topic, kind: ModelKind) -> (&'static str, &'static str) {
    match topic {
        Topic::Residual => {
            ("Noise: scale of the residuals", "residual scale, in the unit of the target")
        }
        Topic::Relevance if kind == ModelKind::Gp => (
            "Relevance of inputs: the larger, the faster the function changes",
            "inverse length scale (standardised inputs)",
        ),
        Topic::Relevance => (
            "Relevance of inputs: the larger, the more nonlinear the function",
            "prior scale of the weights (standardised inputs)",
        ),
        _ if kind == ModelKind::Gp => ("Hyperparameters of the Gaussian process", "scale"),
        _ => ("Scales of the priors", "scale"),
    }
}
