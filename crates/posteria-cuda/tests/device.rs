//! Everything that needs a GPU; says that it was skipped where there is none.

use std::io::{Write, stderr};
use std::sync::Arc;

use posteria::model::gp::covariance::Covariance;
use posteria::model::spec::Sharing;
use posteria::random::{Purpose, Seed};
use posteria_cuda::gp::GpDensity;
use posteria_cuda::mlp::{
    GroupScale, MlpFold, MlpLikelihood, MlpModel, MlpOptions, MlpSampler, Reference, ResidualScale,
    ScaleSpread,
};
use posteria_cuda::{Cache, CudaError, Device, self_test};
use posteria_linalg::Matrix;

/// A device, unless there is none.
fn device() -> Option<Arc<Device>> {
    let folder = std::env::temp_dir().join("posteria-cuda-tests");
    match Device::open(0, Cache::at(folder)) {
        Ok(device) => Some(Arc::new(device)),
        Err(error @ (CudaError::NoDriver | CudaError::NoDevice { .. })) => {
            let _ = writeln!(stderr(), "skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_device_computes_what_the_cpu_computes() {
    let Some(device) = device() else { return };
    let checks = self_test(&device).unwrap();
    for check in &checks {
        let verdict = if check.passed() { "" } else { "  FAILED" };
        let _ = writeln!(stderr(), "{:9.1e} {}{verdict}", check.difference, check.name);
    }
    assert!(checks.iter().all(posteria_cuda::Check::passed));
}

/// A network of every kind of prior and its rows.
fn network(likelihood: MlpLikelihood) -> (MlpModel, MlpFold) {
    let (gamma, normal) = (ScaleSpread::InverseGamma(4.0), ScaleSpread::LogNormal(0.6));
    let model = MlpModel {
        inputs: 2,
        hidden: 4,
        outputs: if likelihood == MlpLikelihood::Softmax { 3 } else { 1 },
        likelihood,
        groups: [
            GroupScale::PerInput { scale: 0.7, spread: normal, top: normal },
            GroupScale::Sampled { scale: 1.0, spread: gamma },
            GroupScale::Sampled { scale: 0.8, spread: normal },
            GroupScale::Fixed(1.0),
        ],
        residual: ResidualScale { scale: 0.5, spread: normal, dofs: vec![3.0, 6.0, 20.0] },
    };
    let mut stream = Seed(2).stream(Purpose::Start, [0, 0]);
    let inputs = Matrix::from_fn(60, 2, |_, _| stream.normal());
    let target = |row: usize| {
        let f = 2.0 * inputs[(row, 0)].sin() + inputs[(row, 1)] + 0.5 * stream.normal();
        match likelihood {
            MlpLikelihood::Logistic => f64::from(f > 0.0),
            MlpLikelihood::Softmax => f64::from(f > -0.7) + f64::from(f > 0.7),
            _ => f,
        }
    };
    let targets = (0..60).map(target).collect();
    (model, MlpFold { label: 0, inputs, targets })
}

/// Mean over chains and its standard error.
fn mean(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n * (n - 1.0))).sqrt())
}

/// 2112 chains without the likelihood, forces in single precision: known means of log scales and of
/// weights in units of their scales, within 5 standard errors.
#[test]
fn the_prior_is_sampled_in_single_precision() {
    const CHAINS: usize = 2112;
    let Some(device) = device() else { return };
    let (model, fold) = network(MlpLikelihood::StudentT);
    let layout = model.layout();
    for threads in [8, 32, 128] {
        let options = MlpOptions {
            steps: 5,
            adapting: 100,
            inverse_temperature: 0.0,
            threads,
            ..MlpOptions::default()
        };
        let folds = [fold.clone()];
        let mut sampler =
            MlpSampler::new(&device, &model, &folds, CHAINS, options, Seed(3)).unwrap();
        sampler.run(1500, 0).unwrap();
        let states = sampler.states().unwrap();
        let states: Vec<&[f64]> = states.chunks_exact(layout.state()).collect();
        let check = |name: &str, expected: f64, value: &dyn Fn(&[f64]) -> f64| {
            let (mean, error) = mean(states.iter().map(|state| value(state)));
            let z = (mean - expected) / error;
            assert!(z.abs() < 5.0, "{name}, {threads} threads: {mean} of {expected}, {z}");
        };
        let (parts, sd2) = (layout.weights, 0.6_f64.powi(2));
        let top = 2.0 * 0.7_f64.ln();
        for part in parts..parts + 2 {
            check("log precision of an input", -top, &|state| state[part]);
            check("its square", 4.0 * 2.0 * sd2, &|state| (state[part] + top).powi(2));
        }
        // ψ(2) - log 2.
        let psi = 1.0 - 0.577_215_664_901_532_9 - 2.0_f64.ln();
        check("hidden bias", psi, &|state| state[parts + 2]);
        check("output weights", -2.0 * 0.8_f64.ln(), &|state| state[parts + 3]);
        check("residual", -2.0 * 0.5_f64.ln(), &|state| state[layout.residual()]);
        check("degrees of freedom", 1.0, &|state| state[layout.dof()]);
        for weight in 0..layout.weights {
            let part = match weight {
                0..4 => 0,
                4..8 => 1,
                8..12 => 2,
                12..16 => 3,
                _ => 4,
            };
            let standard = move |state: &[f64]| state[weight] * (0.5 * state[parts + part]).exp();
            check("weight", 0.0, &standard);
            check("squared weight", 1.0, &|state| standard(state).powi(2));
        }
    }
}

/// Mean energies of 2112 chains with forces in single and in double precision, and of 30 chains of
/// the reference on the CPU. After as many iterations from starts of the same distribution they have
/// the same distribution, whether it is the posterior yet or not; so the spread of the many chains
/// says how far the few may be off. Within 5 standard errors.
#[test]
fn forces_in_single_precision_leave_the_posterior_as_it_is() {
    const CHAINS: usize = 2112;
    const FEW: u32 = 30;
    // Iterations before the first energy, and between 20 of them.
    const BEFORE: usize = 200;
    const BETWEEN: usize = 10;
    let Some(device) = device() else { return };
    for likelihood in [MlpLikelihood::StudentT, MlpLikelihood::Logistic, MlpLikelihood::Softmax] {
        let (model, fold) = network(likelihood);
        let folds = [fold];
        let options = MlpOptions { steps: 25, adapting: BEFORE, ..MlpOptions::default() };
        let energies = |double: bool, threads: usize, seed: u64| {
            let options = MlpOptions { double, threads, ..options };
            let mut sampler =
                MlpSampler::new(&device, &model, &folds, CHAINS, options, Seed(seed)).unwrap();
            sampler.run(BEFORE, 0).unwrap();
            let mut sums = vec![0.0; CHAINS];
            for _ in 0..20 {
                let run = sampler.run(BETWEEN, 0).unwrap();
                sums.iter_mut().zip(&run.energies).for_each(|(sum, energy)| *sum += energy / 20.0);
            }
            mean(sums.into_iter())
        };
        let (many, error) = energies(true, 32, 1);
        let of_few = error * (CHAINS as f64 / f64::from(FEW)).sqrt();
        let on_cpu = (0..FEW).map(|chain| {
            let mut reference = Reference::new(&model, &folds[0], options, Seed(9)).unwrap();
            let mut state = model.start(Seed(9), 0, chain);
            let mut sum = 0.0;
            for iteration in 0..BEFORE + 20 * BETWEEN {
                reference.iterate(&mut state, chain, iteration as u32);
                if iteration >= BEFORE && (iteration + 1) % BETWEEN == 0 {
                    sum += reference.energy(&state) / 20.0;
                }
            }
            sum
        });
        let others = [
            ("single, 32 threads", energies(false, 32, 2)),
            ("single, 8 threads", energies(false, 8, 3)),
            ("single, 128 threads", energies(false, 128, 4)),
            ("reference", (mean(on_cpu).0, of_few)),
        ];
        let _ = writeln!(stderr(), "{likelihood:?}, double: {many:.4} ± {error:.4}");
        for (name, other) in others {
            let z = (many - other.0) / (error.powi(2) + other.1.powi(2)).sqrt();
            let _ = writeln!(stderr(), "{likelihood:?}, {name}: {:.4} ± {:.4}", other.0, other.1);
            assert!(z.abs() < 5.0, "{likelihood:?}, {name}: {z} standard errors");
        }
    }
}

#[test]
fn what_cannot_be_factorised_or_is_too_large_is_an_error() {
    let Some(device) = device() else { return };
    let names = ["x".to_string()];
    let terms = Covariance::parse("se", &names, Sharing::PerInput).unwrap();
    let covariance = Covariance::new(terms, 1);
    let inputs = Matrix::from_fn(50, 1, |row, _| row as f64);
    let mut density = GpDensity::new(&device, &covariance, &inputs, 0.1, 1).unwrap();
    let targets = vec![1.0; 50];
    let broken = density.evaluate(&[f64::NAN, 0.0], &[1.0; 50], &targets);
    assert!(
        matches!(broken, Err(CudaError::NotPositiveDefinite { .. }))
            || broken.is_ok_and(|terms| terms.value().is_nan())
    );
    let fine = density.evaluate(&[0.0, 0.0], &[1.0; 50], &targets).unwrap().value();
    assert!(fine.is_finite(), "what went wrong before leaves no trace");
    let large = Matrix::from_fn(200_000, 1, |row, _| row as f64);
    let error = GpDensity::new(&device, &covariance, &large, 0.1, 1).err().unwrap();
    assert!(matches!(error, CudaError::Memory { .. }), "{error}");
    let count = posteria_cuda::devices().unwrap().len();
    let error = Device::open(count, Cache::none()).err().unwrap();
    assert_eq!(error, CudaError::NoSuchDevice { ordinal: count, count });
}
