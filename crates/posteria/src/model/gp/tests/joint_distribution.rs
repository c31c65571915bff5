//! Alternate targets given the state and a sweep given the targets: the joint distribution must
//! stay that of the model [Geweke 2004]. And with the likelihood switched off chains must return
//! the prior.

use posteria_linalg::Cholesky;

use super::super::hyperparameters::GroupDensity;
use super::super::marginal::Marginal;
use super::super::neighbours::draw_targets as draw_by_neighbours;
use super::super::observed::Observed;
use super::super::scale_prior::ScalePrior;
use super::super::start;
use super::scores::{Scores, z_of_level};
use super::{data, posterior, with_targets};
use crate::data::Dataset;
use crate::density::{Gamma, InverseGamma};
use crate::model::Posterior;
use crate::model::gp::GpPosterior;
use crate::model::prior::{Above, DofSource, Spread};
use crate::model::residual::{Noise, ResidualDof};
use crate::model::spec::ResidualFamily;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Stage};

const TRANSITIONS: usize = 4096;

/// Priors narrow enough that no covariance is beyond factorisation, and functions of about the
/// size of the noise, so that the simulator moves fast.
pub(super) const PRIORS: &str = "[prior.magnitude]\nscale = 0.8\ndof = 6.0\n\
    [prior.relevance]\nscale = 0.6\ndof = 5.0\ntop_dof = 6.0\n";

const CASES: [(&str, &str, usize); 17] = [
    ("", "[residual]\nscale = 0.4\nscale_dof = 5.0", 1),
    (
        "mean = 'linear'\ncovariance = 'matern-5/2'",
        "[prior.mean]\nfixed = 0.7\n[residual]\nscale = 0.4\nscale_dof = 5.0",
        1,
    ),
    (
        "covariance = ['periodic*rational-quadratic', 'neural-network']",
        "[residual]\nscale = 0.4\nscale_dof = 5.0",
        1,
    ),
    ("", "[residual]\nfamily = 'student-t'\nscale = 0.4\nscale_dof = 5.0", 1),
    ("", "[residual]\nfamily = 'student-t'\ndof = 'continuous'\nscale = 0.4\nscale_dof = 5.0", 1),
    ("", "[residual]\nfamily = 'laplace'\nscale = 0.4\nscale_dof = 5.0", 1),
    ("", "[residual]\nscale = 0.4\nscale_dof = 5.0", 2),
    ("processes = 'shared'", "[residual]\nscale = 0.4\nscale_dof = 5.0", 2),
    (
        "processes = 'shared'",
        "[residual]\nsharing = 'common'\nfamily = 'per-case'\nscale = 0.4\nscale_dof = 5.0",
        2,
    ),
    (
        "",
        "[residual]\nfamily = 'student-t'\ndof = { scale = 3.0, dof = 2.0 }\nscale = 0.4\n\
         scale_dof = 5.0",
        1,
    ),
    ("", "[residual]\nslopes = ['a']\nscale = 0.4\nscale_dof = 5.0", 1),
    ("", "[residual]\nslopes = ['b']\nfamily = 'laplace'\nscale = 0.4\nscale_dof = 5.0", 1),
    (
        "processes = 'shared'",
        "[residual]\nslopes = ['a', 'b']\nslope_sd = 0.3\nscale = 0.4\nscale_dof = 5.0",
        2,
    ),
    ("neighbours = 2", "[residual]\nfamily = 'student-t'\nscale = 0.4\nscale_dof = 5.0", 1),
    (
        "neighbours = 3",
        "[residual]\nfamily = 'per-case'\ndof = { scale = 3.0, dof = 2.0 }\nscale = 0.4\n\
         scale_dof = 5.0",
        1,
    ),
    (
        "neighbours = 2\nprocesses = 'shared'",
        "[residual]\nsharing = 'common'\nfamily = 'laplace'\nslopes = ['b']\nscale = 0.4\n\
         scale_dof = 5.0",
        2,
    ),
    // What is to a power keeps the functions.
    ("", "[residual]\nscale = 0.4\nscale_dof = 5.0\n[sampling]\ninverse_temperature = 0.5", 1),
];

const KERNELS: [&str; 3] =
    ["", "[sampling]\nkernel = 'hmc'\nleapfrog_steps = 2", "[sampling]\nkernel = 'nuts'"];

/// Numbers that are standard normal, independently, under the joint distribution.
fn scores(posterior: &GpPosterior, state: &[f64], table: &mut Scores) {
    let rows = posterior.row_count();
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, posterior.jitter);
    let mut factor = Cholesky::identity(rows);
    for process in &posterior.processes {
        for group in &process.hyperparameters.groups {
            let level = |log: f64, prior: InverseGamma| z_of_level(prior.cdf((2.0 * log).exp()));
            match &group.prior {
                GroupDensity::Levels(levels) => {
                    let above = match &levels.above {
                        Above::Fixed(scale) => *scale,
                        Above::Sampled { slot, prior } => {
                            table.push(z_of_level(prior.cdf_of_log_scale(state[*slot])));
                            state[*slot].exp()
                        }
                    };
                    let prior = levels.spread.about(above, state).unwrap();
                    for slot in levels.slots.clone() {
                        table.push(z_of_level(prior.cdf_of_log_scale(state[slot])));
                    }
                    if let Spread::InverseGamma(DofSource::Sampled { slot, grid }) = &levels.spread
                    {
                        table.push_grid(state[*slot], grid.dofs());
                    }
                }
                GroupDensity::Each(ScalePrior::InverseGamma(prior)) => {
                    group.slots.clone().for_each(|slot| table.push(level(state[slot], *prior)));
                }
                GroupDensity::Each(ScalePrior::LogNormal(prior)) => {
                    let normal = prior.logarithm();
                    for slot in group.slots.clone() {
                        table.push((state[slot] - normal.mean()) / normal.scale());
                    }
                }
                GroupDensity::Each(_) => unreachable!("not among the cases"),
            }
        }
        let mut logs = vec![0.0; process.hyperparameters.parameters()];
        process.hyperparameters.write_parameters(state, &mut logs);
        marginal.set(&logs);
        marginal.factorize_prior(&mut factor).unwrap();
        for target in process.targets.clone().filter(|_| posterior.keeps_latents()) {
            let first = posterior.latents.start + target * rows;
            let mut whitened = state[first..first + rows].to_vec();
            factor.solve_lower(&mut whitened);
            whitened.iter().for_each(|z| table.push(*z));
        }
    }
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let Noise::Scales { levels, .. } = &residual.noise else { unreachable!() };
    let Above::Fixed(scale) = levels.above else { unreachable!() };
    let prior = levels.spread.about(scale, state).unwrap();
    for slot in levels.slots.clone() {
        table.push(z_of_level(prior.cdf_of_log_scale(state[slot])));
    }
    if let Some(slopes) = &residual.slopes {
        // The usual standard deviation, or that of the case with two inputs.
        let sd = if slopes.slots.len() > 2 { 0.3 } else { 0.5 };
        state[slopes.slots.clone()].iter().for_each(|slope| table.push(slope / sd));
    }
    match &residual.dof {
        ResidualDof::Fixed(_) => {}
        ResidualDof::Grid { slot, grid } => table.push_grid(state[*slot], grid.dofs()),
        ResidualDof::Continuous { slot, prior } => table.push(z_of_level(prior.cdf(state[*slot]))),
    }
    for index in (0..residual.targets.len()).filter(|_| residual.samples_cases) {
        let kappa = state[residual.cases.clone().unwrap().start + index];
        let level = match residual.family {
            ResidualFamily::Laplace => (-0.5 / kappa).exp(),
            _ => {
                let half = 0.5 * residual.dof_of(state, index);
                Gamma::from_shape_rate(half, half).unwrap().cdf(kappa)
            }
        };
        table.push(z_of_level(level));
    }
    table.end_row();
}

/// Draws κ from its prior and targets given κ: what is normal given κ must stay so.
pub(super) fn draw_targets(
    posterior: &GpPosterior,
    state: &mut [f64],
    stream: &mut Stream,
) -> Vec<f64> {
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    let dof = residual.dof.value(state);
    let draw_variance = |index: usize, state: &mut [f64], stream: &mut Stream| {
        let kappa = match residual.family {
            ResidualFamily::Normal => 1.0,
            ResidualFamily::Laplace => 0.5 / stream.exponential(),
            _ => 2.0 * stream.gamma(0.5 * dof) / dof,
        };
        if let Some(cases) = &residual.cases {
            state[cases.start + index] = kappa;
        }
        let scale = residual.log_scale(state, index).exp() / kappa.sqrt();
        scale * scale
    };
    let all = 0..residual.targets.len();
    if posterior.neighbours.is_some() {
        let variances: Vec<f64> = all.map(|index| draw_variance(index, state, stream)).collect();
        let each = variances.chunks_exact(residual.rows).enumerate();
        return each
            .flat_map(|(target, of)| draw_by_neighbours(posterior, target, (state, of), stream))
            .collect();
    }
    let functions = match posterior.keeps_latents() {
        true => state[posterior.latents.clone()].to_vec(),
        false => draw_functions(posterior, state, stream),
    };
    all.map(|index| {
        let variance = draw_variance(index, state, stream);
        functions[index] + variance.sqrt() * stream.normal()
    })
    .collect()
}

/// Functions at all rows given hyperparameters, where states hold none.
fn draw_functions(posterior: &GpPosterior, state: &[f64], stream: &mut Stream) -> Vec<f64> {
    let rows = posterior.row_count();
    let mut marginal = Marginal::new(&posterior.covariance, &posterior.inputs, posterior.jitter);
    let mut factor = Cholesky::identity(rows);
    let mut functions = Vec::new();
    for process in &posterior.processes {
        let mut logs = vec![0.0; process.hyperparameters.parameters()];
        process.hyperparameters.write_parameters(state, &mut logs);
        marginal.set(&logs);
        marginal.factorize_prior(&mut factor).unwrap();
        for _ in process.targets.clone() {
            let mut function = vec![0.0; rows];
            stream.fill_normal(&mut function);
            factor.multiply_lower(&mut function);
            functions.extend(function);
        }
    }
    functions
}

/// The memory of a sweep that has adapted to many tables, one after the other.
fn tuned(
    state: &[f64],
    beta: f64,
    stream: &mut Stream,
    mut next: impl FnMut(&mut [f64], &mut Stream) -> GpPosterior,
) -> Vec<Vec<f64>> {
    let mut state = state.to_vec();
    let mut memory: Option<Vec<Vec<f64>>> = None;
    let mut last = Stage::default();
    for adapt in [Adapt::StepSize, Adapt::Metric, Adapt::Metric, Adapt::StepSize, Adapt::Nothing] {
        let stage = Stage { adapt, ..Stage::default() };
        for pass in 0..80 {
            let posterior = next(&mut state, stream);
            let mut sweep = posterior.sweep(beta);
            sweep.enter(if pass == 0 { &last } else { &stage });
            if let Some(memory) = &memory {
                sweep.recall(memory).unwrap();
            }
            if pass == 0 {
                sweep.enter(&stage);
            }
            sweep.pass(&mut state, stream);
            memory = Some(sweep.memory());
        }
        last = stage;
    }
    memory.unwrap()
}

fn check(case: usize, kernel: usize) {
    let (model, residual, targets) = CASES[case];
    let text = format!("{model}\n{PRIORS}{residual}\n{}", KERNELS[kernel]);
    let zero = |_: f64, _: f64| 0.0;
    let functions: Vec<&dyn Fn(f64, f64) -> f64> = vec![&zero; targets];
    let data: Dataset = data(5, &functions);
    let empty = posterior(&text, &with_targets(&data, &vec![0.0; 5 * targets]));
    let mut stream = Seed(1999).stream(Purpose::Data, [case as u64, kernel as u64]);
    let mut state = start::from_prior(&empty, &mut stream).unwrap();
    let mut memory = tuned(&state, 1.0, &mut stream, |state, stream| {
        let targets = draw_targets(&empty, state, stream);
        posterior(&text, &with_targets(&data, &targets))
    });
    let mut table = Scores::default();
    for _ in 0..TRANSITIONS {
        let targets = draw_targets(&empty, &mut state, &mut stream);
        let posterior = posterior(&text, &with_targets(&data, &targets));
        let mut sweep = posterior.sweep(1.0);
        sweep.enter(&Stage::default());
        sweep.recall(&memory).unwrap();
        sweep.pass(&mut state, &mut stream);
        memory = sweep.memory();
        scores(&posterior, &state, &mut table);
    }
    table.assert_standard_normal(&format!("{model} {residual} {}", KERNELS[kernel]));
}

#[test]
fn sweeps_keep_the_joint_distribution() {
    for case in 0..CASES.len() {
        check(case, 0);
    }
}

#[test]
fn other_kernels_keep_the_joint_distribution() {
    for (case, kernel) in [(0, 1), (3, 1), (7, 1), (10, 1), (1, 2), (5, 2), (6, 2), (12, 2)] {
        check(case, kernel);
    }
}

#[test]
fn without_likelihood_chains_return_the_prior() {
    for (case, (model, residual, targets)) in CASES.into_iter().enumerate() {
        let text = format!("{model}\n{PRIORS}{residual}");
        let far = |a: f64, b: f64| 1e3 * a - b;
        let functions: Vec<&dyn Fn(f64, f64) -> f64> = vec![&far; targets];
        let data = data(5, &functions);
        let posterior = posterior(&text, &data);
        let mut stream = Seed(1999).stream(Purpose::Data, [case as u64, 10]);
        let mut state = start::from_prior(&posterior, &mut stream).unwrap();
        let again = |_: &mut [f64], _: &mut Stream| super::posterior(&text, &data);
        let memory = tuned(&state, 0.0, &mut stream, again);
        let mut sweep = posterior.sweep(0.0);
        sweep.enter(&Stage::default());
        sweep.recall(&memory).unwrap();
        let mut table = Scores::default();
        for _ in 0..TRANSITIONS {
            sweep.pass(&mut state, &mut stream);
            scores(&posterior, &state, &mut table);
        }
        table.assert_standard_normal(&format!("{model} {residual}"));
    }
}
