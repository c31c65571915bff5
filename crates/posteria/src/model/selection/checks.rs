//! Check in tests that sweeps keep the prior of input sets.

use std::collections::BTreeMap;

use super::{Candidates, InclusionPrior};
use crate::density::checks::assert_counts_follow;
use crate::draws::Role;
use crate::model::Posterior;
use crate::model::spec::{SelectionSpec, Spec};
use crate::random::{Purpose, Seed, Stream};

/// Every prior with every scheme, for sets of `count` candidates.
pub(in crate::model) fn sections(count: usize) -> Vec<String> {
    let list = |f: &dyn Fn(usize) -> f64, first: usize| {
        let values: Vec<String> = (first..=count).map(|k| format!("{:?}", f(k))).collect();
        values.join(", ")
    };
    let priors = [
        "'uniform-models'".into(),
        "'uniform-sizes'".into(),
        "{ beta_binomial = [5, 10] }".into(),
        "{ binomial = 0.3 }".into(),
        format!("{{ sizes = [{}] }}", list(&|k| 1.0 + k as f64, 0)),
        format!("{{ sizes = [{}] }}", list(&|k| 1.0 / k as f64, 1)),
        format!("{{ probabilities = [{}] }}", list(&|k| 0.1 + 0.8 * k as f64 / count as f64, 1)),
    ];
    let schemes = [
        "scheme = 'flip'",
        "scheme = 'flip'\nswitch = 0.0",
        "scheme = 'birth-death'",
        "scheme = 'birth-death'\nswitch = 0.1\ndeath = 0.75",
    ];
    let mut sections = Vec::new();
    for prior in &priors {
        for scheme in schemes {
            sections.push(format!("[selection]\nprior = {prior}\n{scheme}\njumps = 2\n"));
        }
    }
    if count > 1 {
        let requires = format!("requires = {{ x{} = ['x0'] }}", count - 1);
        for scheme in schemes {
            sections.push(format!("[selection]\n{requires}\n{scheme}\njumps = 2\n"));
        }
    }
    sections
}

/// The prior that a section means for `count` candidates.
pub(in crate::model) fn prior_of(section: &str, count: usize) -> InclusionPrior {
    let spec: SelectionSpec = Spec::from_toml(section).unwrap().selection.unwrap();
    let names: Vec<String> = (0..count).map(|k| format!("x{k}")).collect();
    Candidates::new(&spec, &names).unwrap().prior().clone()
}

/// The set of a state, as a draw shows it.
pub(in crate::model) fn set_of(posterior: &dyn Posterior, state: &[f64]) -> Vec<bool> {
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
    let inclusion = posterior.layout().of_role(Role::Inclusion).unwrap().range();
    draw[inclusion].iter().map(|value| *value > 0.5).collect()
}

/// Asserts that sweeps at inverse temperature 0 keep the prior of sets: chains that start with a
/// set from the prior have one after some sweeps too, and not the one they started with. Chains are
/// independent, so that counts of sets (of many candidates: of sizes) follow a chi-square, and the
/// inclusions of every candidate a binomial distribution.
pub(in crate::model) fn assert_prior_of_sets_kept(
    posterior: &dyn Posterior,
    section: &str,
    count: usize,
    (chains, sweeps): (u64, usize),
) {
    let prior = prior_of(section, count);
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; posterior.rows()];
    let inclusion = posterior.layout().of_role(Role::Inclusion).unwrap().range();
    let mut set_of = |state: &[f64]| -> Vec<bool> {
        evaluator.evaluate(state, &mut draw, &mut rows).unwrap();
        draw[inclusion.clone()].iter().map(|value| *value > 0.5).collect()
    };
    let (mut sets, mut moved) = (BTreeMap::new(), 0.0);
    let mut sweep = posterior.sweep(0.0);
    for chain in 0..chains {
        let mut stream = Seed(17).stream(Purpose::Chain, [chain, count as u64]);
        let mut state = posterior.start(&mut stream);
        let first = set_of(&state);
        for _ in 0..sweeps {
            sweep.pass(&mut state, &mut stream);
        }
        let last = set_of(&state);
        moved += f64::from(first != last) / chains as f64;
        *sets.entry(last).or_insert(0_u64) += 1;
    }
    for (k, p) in prior.inclusion_probabilities().into_iter().enumerate() {
        let seen: u64 = sets.iter().filter(|(set, _)| set[k]).map(|(_, visits)| visits).sum();
        let (mean, sd) = (chains as f64 * p, (chains as f64 * p * (1.0 - p)).sqrt());
        let z = (seen as f64 - mean) / sd.max(1e-9);
        // A false alarm of one in a million each.
        assert!(z.abs() < 4.9, "{section}: input {k} is {z} errors off");
    }
    let size = |set: &[bool]| set.iter().filter(|is_in| **is_in).count();
    let (mut counts, mut probabilities) = if count > 6 {
        let mut counts = vec![0; count + 1];
        sets.iter().for_each(|(set, visits)| counts[size(set)] += visits);
        (counts, prior.sizes())
    } else {
        let all = (0..1_usize << count)
            .map(|bits| (0..count).map(|k| bits >> k & 1 == 1).collect::<Vec<bool>>());
        let visits = |set: &Vec<bool>| sets.get(set).copied().unwrap_or(0);
        all.map(|set| (visits(&set), prior.log_probability(&set).exp())).unzip()
    };
    // What is never to be seen is not; what is seldom to be seen is counted together.
    let (mut few, mut rest) = (0, 0.0);
    for index in (0..counts.len()).rev() {
        if probabilities[index] * (chains as f64) < 6.0 {
            let (seen, p) = (counts.remove(index), probabilities.remove(index));
            assert!(p > 0.0 || seen == 0, "{section}: an impossible set");
            (few, rest) = (few + seen, rest + p);
        }
    }
    if rest * (chains as f64) > 6.0 {
        counts.push(few);
        probabilities.push(rest);
    } else {
        counts[0] += few;
        probabilities[0] += rest;
    }
    let repeat: f64 = probabilities.iter().map(|p| p * p).sum();
    assert!(moved >= 0.3 * (1.0 - repeat), "{section}: moved in {moved} of chains");
    if counts.len() > 1 {
        named(section, || assert_counts_follow(&counts, &probabilities));
    }
}

/// Runs a check, and says for what it failed if it does.
fn named(what: &str, check: impl FnOnce()) {
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).err();
    if let Some(error) = failed {
        let message = error.downcast_ref::<String>().cloned().unwrap_or_default();
        panic!("{what}: {message}");
    }
}

/// Functions of a draw that have moments under heavy-tailed priors: of everything but what depends
/// on the targets.
fn functions(posterior: &dyn Posterior, state: &[f64]) -> Vec<f64> {
    let layout = posterior.layout();
    let mut draw = vec![0.0; layout.len()];
    let mut rows = vec![0.0; posterior.rows()];
    posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
    let mut values = Vec::new();
    let of_targets = ["fitted", "training_error"];
    for variable in layout.variables().iter().filter(|v| !of_targets.contains(&&v.name[..])) {
        for value in &draw[variable.range()] {
            values.push(value.tanh());
            values.push(if *value == 0.0 { 0.0 } else { (value * value + 1e-3).ln() });
        }
    }
    let inclusion = &draw[layout.of_role(Role::Inclusion).unwrap().range()];
    values.push(inclusion.iter().product());
    values
}

/// Asserts that the joint distribution of state and targets is kept [Geweke 2004]: independent
/// draws of states from the prior, against a chain of `transition`s, each a sweep given targets
/// that it draws given the state. |z| with errors from 50 batch means passes 4.9 with probability
/// 1e-5 (t with 49 degrees of freedom); seeds are fixed.
pub(in crate::model) fn assert_joint_distribution_kept(
    posterior: &dyn Posterior,
    transitions: usize,
    mut transition: impl FnMut(&mut Vec<f64>, &mut Stream),
    what: &str,
) {
    let mut stream = Seed(41).stream(Purpose::Chain, [0, 0]);
    let mean = |rows: &[Vec<f64>], index: usize| {
        rows.iter().map(|row| row[index]).sum::<f64>() / rows.len() as f64
    };
    let independent: Vec<Vec<f64>> =
        (0..transitions).map(|_| functions(posterior, &posterior.start(&mut stream))).collect();
    let mut state = posterior.start(&mut stream);
    let chain: Vec<Vec<f64>> = (0..transitions)
        .map(|_| {
            transition(&mut state, &mut stream);
            functions(posterior, &state)
        })
        .collect();
    for index in 0..chain[0].len() {
        let error = |rows: &[Vec<f64>], size: usize| {
            let centre = mean(rows, index);
            let batches: Vec<f64> = rows.chunks_exact(size).map(|b| mean(b, index)).collect();
            let count = batches.len() as f64;
            batches.iter().map(|b| (b - centre).powi(2)).sum::<f64>() / (count * (count - 1.0))
        };
        let variance = error(&independent, 1) + error(&chain, transitions / 50);
        let z = (mean(&chain, index) - mean(&independent, index)) / variance.sqrt().max(1e-12);
        assert!(z.abs() < 4.9, "{what}: function {index} is {z} errors off");
    }
}
