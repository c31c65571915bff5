//! Show that jumps between input sets keep their prior, and find the exact probabilities of sets.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;

use posteria::data::{Dataset, Targets, Task};
use posteria::density::special::{log_sum_exp, normal_cdf, regularized_gamma_upper};
use posteria::draws::Role;
use posteria::fit::run_jobs;
use posteria::model::gp::GaussianProcess;
use posteria::model::linear::Linear;
use posteria::model::mlp::Mlp;
use posteria::model::selection::InclusionPrior;
use posteria::model::spec::Spec;
use posteria::model::{KernelFactory, Posterior};
use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{MetricKind, Nuts, NutsOptions};
use posteria_linalg::Matrix;

type Failure = Box<dyn Error + Send + Sync>;

/// Sweeps of every chain without data, and inputs up to which sets are counted, not sizes.
const SWEEPS: usize = 8;
const COUNTED_SETS: usize = 6;
/// Sweeps of the chain whose visits are compared with exact probabilities.
const VISITS: usize = 200_000;
const BATCHES: usize = 50;
const INPUTS: usize = 10;
/// Sets that are compared one by one.
const PROBABLE: f64 = 0.005;

/// What is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A kind of model without data, and a number of inputs.
    Prior(&'static str, usize),
    /// One of [`MODELS`], with data.
    Enumeration(usize),
}

/// A validation by its name.
#[derive(Clone, Debug)]
pub struct InputSets {
    pub name: String,
    kind: Kind,
}

/// How far from what is exact the visits are.
pub struct Agreement {
    pub quantities: usize,
    /// Smallest p-value times the number of quantities.
    pub p: f64,
    pub worst: String,
}

/// All of them.
pub fn all() -> Vec<InputSets> {
    let mut all = Vec::new();
    for model in ["linear", "mlp", "gp"] {
        for inputs in [1, 2, 5, 30] {
            let name = format!("input-sets/{model}/{inputs}");
            all.push(InputSets { name, kind: Kind::Prior(model, inputs) });
        }
    }
    for (index, (name, _)) in MODELS.iter().enumerate() {
        let name = format!("input-sets/enumeration/{name}");
        all.push(InputSets { name, kind: Kind::Enumeration(index) });
    }
    all
}

impl InputSets {
    /// Validates, by `chains` chains of every prior and scheme, or by one long chain.
    pub fn validate(&self, chains: usize, threads: NonZero<usize>) -> Result<Agreement, Failure> {
        let tests = match self.kind {
            Kind::Prior(model, inputs) => {
                let sections = sections(inputs);
                let of =
                    |index: usize| without_data(model, inputs, (index, &sections[index]), chains);
                let all = run_jobs(sections.len(), threads, of);
                all.into_iter().collect::<Result<Vec<_>, _>>()?.concat()
            }
            Kind::Enumeration(index) => enumeration(MODELS[index].1)?,
        };
        let worst = tests.iter().min_by(|a, b| a.1.total_cmp(&b.1)).ok_or("nothing to test")?;
        Ok(Agreement {
            quantities: tests.len(),
            p: (worst.1 * tests.len() as f64).min(1.0),
            worst: worst.0.clone(),
        })
    }
}

/// Every prior with every scheme, for sets of `count` candidates.
fn sections(count: usize) -> Vec<String> {
    let list = |of: &dyn Fn(usize) -> f64, first: usize| {
        let values: Vec<String> = (first..=count).map(|k| format!("{:?}", of(k))).collect();
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
    let with = |prior: &String, scheme: &str| {
        format!("[selection]\nprior = {prior}\n{scheme}\njumps = {}\n", count.clamp(2, 8))
    };
    priors.iter().flat_map(|prior| schemes.map(|scheme| with(prior, scheme))).collect()
}

fn prior_of(section: &str, count: usize) -> Result<InclusionPrior, Failure> {
    let spec = Spec::from_toml(section)?.selection.ok_or("a selection")?;
    InclusionPrior::new(&spec.prior.unwrap_or_default(), count)
        .map_err(|wrong| format!("{} numbers", wrong.found).into())
}

const WEIGHTS: &str = "scale = 0.8\ndof = 6.0\n";

/// A model of this kind, one of several specifications by turns, given rows that do not count.
fn model(
    kind: &str,
    index: usize,
    section: &str,
    inputs: usize,
) -> Result<Box<dyn Posterior>, Failure> {
    let task = [Task::Regression, Task::Binary][index % 2];
    let sharing = ["sharing = 'per-input'\n", "sharing = 'common'\n"][index / 2 % 2];
    let residual = match task {
        Task::Regression => "[residual]\nscale = 0.5\nscale_dof = 6.0\n",
        _ => "",
    };
    let tries = format!("tries = {}\n", 1 + index % 3);
    let mut stream = Seed(60).stream(Purpose::Data, [0, 0]);
    let x = Matrix::from_fn(3, inputs, |_, _| stream.normal());
    Ok(match kind {
        "linear" => {
            let text = format!("[prior.weights]\n{sharing}{WEIGHTS}{residual}{section}{tries}");
            let spec = Spec::from_toml(&format!("[model]\nkind = 'linear'\n{text}"))?;
            Box::new(Linear::new(&spec)?.condition(&rows(x, &[0.0; 3], task), kernel())?)
        }
        "mlp" => {
            let text = format!(
                "[model]\nkind = 'mlp'\nhidden = 1\n[prior.input_weights]\n{sharing}{WEIGHTS}\
                 top_dof = 8.0\n[prior.hidden_bias]\n{WEIGHTS}[prior.output_weights]\n{WEIGHTS}\
                 [prior.output_bias]\nfixed = 1.0\n{residual}{section}{tries}\
                 [sampling]\nkernel = 'hmc'\nleapfrog_steps = 1\nstart = 'prior'\n"
            );
            Box::new(
                Mlp::new(&Spec::from_toml(&text)?)?.condition(&rows(x, &[0.0; 3], task), None)?,
            )
        }
        _ => {
            let text = format!(
                "[model]\nkind = 'gp'\n[prior.magnitude]\n{WEIGHTS}[prior.relevance]\n{sharing}\
                 {WEIGHTS}top_dof = 6.0\n{residual}{section}{tries}[sampling]\nstart = 'prior'\n"
            );
            let model = GaussianProcess::new(&Spec::from_toml(&text)?)?;
            Box::new(model.condition(&rows(x, &[0.0; 3], task), None)?)
        }
    })
}

fn rows(x: Matrix, y: &[f64], task: Task) -> Dataset {
    let targets = match task {
        Task::Regression => {
            let values = Matrix::from_fn(y.len(), 1, |row, _| y[row]);
            Targets::Real { names: vec!["y".into()], values }
        }
        _ => Targets::Classes {
            name: "y".into(),
            labels: vec!["no".into(), "yes".into()],
            codes: y.iter().map(|y| usize::from(*y > 0.5)).collect(),
        },
    };
    Dataset::unscaled(x, targets)
}

fn kernel() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let metric = MetricKind::Unit;
        Box::new(Nuts::new(dim, NutsOptions { step_size: 0.4, metric, ..NutsOptions::default() }))
    })
}

/// p-values that chains which begin with a set from the prior still have one after some sweeps.
fn without_data(
    kind: &str,
    inputs: usize,
    (index, section): (usize, &str),
    chains: usize,
) -> Result<Vec<(String, f64)>, Failure> {
    let prior = prior_of(section, inputs)?;
    let posterior = model(kind, index, section, inputs)?;
    let inclusion = posterior.layout().of_role(Role::Inclusion).ok_or("no inclusion")?.range();
    let (mut draw, mut of_rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 3]);
    let mut evaluator = posterior.evaluator();
    let mut sweep = posterior.sweep(0.0);
    let mut sets: BTreeMap<Vec<bool>, f64> = BTreeMap::new();
    for chain in 0..chains {
        let mut stream = Seed(17).stream(Purpose::Chain, [chain as u64, index as u64]);
        let mut state = posterior.start(&mut stream);
        (0..SWEEPS).for_each(|_| {
            sweep.pass(&mut state, &mut stream);
        });
        evaluator.evaluate(&state, &mut draw, &mut of_rows).map_err(|it| it.to_string())?;
        let set = draw[inclusion.clone()].iter().map(|value| *value > 0.5).collect();
        *sets.entry(set).or_insert(0.0) += 1.0;
    }
    let total = chains as f64;
    let name = |what: &str| format!("{what}, {}", section.replace('\n', " "));
    let mut tests = Vec::new();
    for (k, p) in prior.inclusion_probabilities().into_iter().enumerate().filter(|it| it.1 < 1.0) {
        let seen: f64 = sets.iter().filter(|(set, _)| set[k]).map(|(_, visits)| visits).sum();
        let z = (seen - total * p) / (total * p * (1.0 - p)).sqrt();
        tests.push((name(&format!("input {k}")), 2.0 * normal_cdf(-z.abs())));
    }
    let size = |set: &[bool]| set.iter().filter(|is_in| **is_in).count();
    let cells: Vec<(f64, f64)> = if inputs > COUNTED_SETS {
        let mut counts = vec![0.0; inputs + 1];
        sets.iter().for_each(|(set, visits)| counts[size(set)] += visits);
        counts.into_iter().zip(prior.sizes()).collect()
    } else {
        let all = (0..1_usize << inputs).map(|bits| set_of(bits, inputs));
        let cell = |set: Vec<bool>| {
            (sets.get(&set).copied().unwrap_or(0.0), prior.log_probability(&set).exp())
        };
        all.map(cell).collect()
    };
    tests.extend(chi_square(&cells, total).map(|p| (name("sets"), p)));
    Ok(tests)
}

/// p-value of counts against probabilities, cells of fewer than six expected taken together; none of
/// fewer than two cells, 0 where something impossible was seen.
fn chi_square(cells: &[(f64, f64)], total: f64) -> Option<f64> {
    if cells.iter().any(|(seen, p)| *p <= 0.0 && *seen > 0.0) {
        return Some(0.0);
    }
    let (often, seldom): (Vec<_>, Vec<_>) = cells.iter().partition(|(_, p)| p * total >= 6.0);
    let mut pooled: Vec<(f64, f64)> = often;
    let rest = seldom.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    match pooled.last_mut() {
        Some(last) if rest.1 * total < 6.0 => *last = (last.0 + rest.0, last.1 + rest.1),
        _ => pooled.push(rest),
    }
    let statistic: f64 =
        pooled.iter().map(|(seen, p)| (seen - total * p).powi(2) / (total * p)).sum();
    let dof = pooled.len() as f64 - 1.0;
    (dof > 0.0).then(|| regularized_gamma_upper(0.5 * dof, 0.5 * statistic))
}

fn set_of(bits: usize, count: usize) -> Vec<bool> {
    (0..count).map(|k| bits >> k & 1 == 1).collect()
}

/// Linear models whose evidence is known for every set.
const MODELS: [(&str, &str); 3] = [
    ("conjugate", "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0\n"),
    ("known-scale", "[prior.weights]\nfixed = 0.7\n[residual]\nscale = 0.5\nscale_dof = 3.0\n"),
    (
        "sampled-scale",
        "[prior.weights]\nscale = 0.5\ndof = 4.0\n[residual]\nscale = 0.5\nscale_dof = 3.0\n",
    ),
];

/// p-values that visits of a chain have the probabilities of all 2^10 sets, joint and of every input.
fn enumeration(text: &str) -> Result<Vec<(String, f64)>, Failure> {
    let section = "[selection]\nprior = 'uniform-sizes'\n";
    let mut stream = Seed(82).stream(Purpose::Data, [0, 0]);
    let mut x = Matrix::from_fn(25, INPUTS, |_, _| stream.normal());
    // Three inputs matter, one of them weakly, and two are nearly the same.
    for row in 0..25 {
        x[(row, 1)] = 0.9 * x[(row, 0)] + 0.3 * x[(row, 1)];
    }
    let y: Vec<f64> = (0..25)
        .map(|row| 0.5 * x[(row, 0)] + 0.4 * x[(row, 2)] + 0.25 * x[(row, 3)] + stream.normal())
        .collect();
    let condition = |text: &str, x: Matrix| -> Result<_, Failure> {
        let spec = Spec::from_toml(&format!("[model]\nkind = 'linear'\n{text}"))?;
        Ok(Linear::new(&spec)?.condition(&rows(x, &y, Task::Regression), kernel())?)
    };
    let prior = prior_of(section, INPUTS)?;
    let mut logs = Vec::with_capacity(1 << INPUTS);
    for bits in 0..1_usize << INPUTS {
        let set = set_of(bits, INPUTS);
        let kept: Vec<usize> = (0..INPUTS).filter(|k| set[*k]).collect();
        let own = Matrix::from_fn(25, kept.len(), |row, k| x[(row, kept[k])]);
        let evidence = condition(text, own)?.log_evidence().ok_or("no evidence")?;
        logs.push(prior.log_probability(&set) + evidence);
    }
    let total = log_sum_exp(&logs);
    let exact: Vec<f64> = logs.iter().map(|log| (log - total).exp()).collect();
    let posterior = condition(&format!("{text}{section}"), x.clone())?;
    let mut stream = Seed(83).stream(Purpose::Chain, [0, 0]);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(1.0);
    let inclusion = state.len() - INPUTS..state.len();
    let mut visits = Vec::with_capacity(VISITS);
    for index in 0..VISITS + 500 {
        sweep.pass(&mut state, &mut stream);
        if index >= 500 {
            let bits = state[inclusion.clone()].iter().rev();
            visits.push(bits.fold(0, |bits, value| 2 * bits + usize::from(*value > 0.5)));
        }
    }
    let test = |name: String, p: f64, inside: &dyn Fn(usize) -> bool| {
        let share = |batch: &[usize]| {
            batch.iter().filter(|bits| inside(**bits)).count() as f64 / batch.len() as f64
        };
        let means: Vec<f64> = visits.chunks_exact(VISITS / BATCHES).map(share).collect();
        let count = means.len() as f64;
        let mean = means.iter().sum::<f64>() / count;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let z = (mean - p) / (variance / count).sqrt();
        (format!("{name}: {mean:.4}, exactly {p:.4}"), 2.0 * normal_cdf(-z.abs()))
    };
    let mut tests = Vec::new();
    for k in 0..INPUTS {
        let inside = |bits: usize| bits >> k & 1 == 1;
        let p = exact.iter().enumerate().filter(|(bits, _)| inside(*bits)).map(|it| it.1).sum();
        tests.push(test(format!("input {k}"), p, &inside));
    }
    for (bits, p) in exact.iter().enumerate().filter(|(_, p)| **p > PROBABLE) {
        tests.push(test(format!("set {bits:010b}"), *p, &|other| other == bits));
    }
    let share = |bits: usize| visits.iter().filter(|v| **v == bits).count() as f64 / VISITS as f64;
    let each = exact.iter().enumerate();
    let distance: f64 = each.map(|(bits, p)| 0.5 * (share(bits) - p).abs()).sum();
    println!("total variation from the exact probabilities of all sets: {distance:.4}");
    Ok(tests)
}
