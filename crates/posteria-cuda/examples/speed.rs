//! Tells how fast the device is: trajectories of networks, gradients of Gaussian processes.

use std::error::Error;
use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Instant;

use posteria::model::gp::covariance::Covariance;
use posteria::model::spec::Sharing;
use posteria::random::{Purpose, Seed};
use posteria_cuda::gp::GpDensity;
use posteria_cuda::mlp::{
    GroupScale, MlpFold, MlpLikelihood, MlpModel, MlpOptions, MlpSampler, ResidualScale,
    ScaleSpread,
};
use posteria_cuda::{Cache, Device};
use posteria_linalg::Matrix;

fn main() -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let device = Arc::new(Device::open(0, Cache::of_user())?);
    let mut out = stdout();
    writeln!(out, "{}, opened in {:.2} s", device.info().name, begun.elapsed().as_secs_f64())?;
    for rows in [225, 1000, 2000, 5000, 10_000, 20_000] {
        gaussian_process(&device, rows, &mut out)?;
    }
    let binary = MlpLikelihood::Logistic;
    let normal = MlpLikelihood::Normal;
    for (sizes, likelihood, chains, threads, double) in [
        ([2, 10, 1, 250], binary, 8448, 8, false),
        ([2, 10, 1, 250], binary, 8000, 32, false),
        ([2, 10, 1, 250], binary, 2112, 32, false),
        ([2, 10, 1, 250], binary, 500, 32, false),
        ([2, 10, 1, 250], binary, 500, 128, false),
        ([2, 10, 1, 250], binary, 8448, 8, true),
        ([2, 10, 1, 250], binary, 2112, 32, true),
        ([1, 8, 1, 100], normal, 8448, 8, false),
        ([4, 8, 3, 400], MlpLikelihood::Softmax, 2112, 32, false),
        ([8, 10, 1, 1030], normal, 2112, 32, false),
        ([8, 10, 1, 1030], normal, 4224, 8, false),
        ([8, 10, 1, 1030], normal, 500, 32, false),
        ([8, 10, 1, 1030], normal, 500, 128, false),
        ([8, 10, 1, 1030], MlpLikelihood::StudentT, 2112, 32, false),
    ] {
        networks(&device, (sizes, likelihood), (chains, threads, double), &mut out)?;
    }
    Ok(())
}

/// The median of five times.
fn timed(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        work()?;
        times.push(begun.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[2])
}

fn gaussian_process(
    device: &Arc<Device>,
    rows: usize,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = (0..8).map(|k| format!("x{k}")).collect();
    let terms = Covariance::parse("constant+linear+se", &names, Sharing::PerInput)?;
    let covariance = Covariance::new(terms, 8);
    let mut stream = Seed(1).stream(Purpose::Start, [0, 0]);
    let inputs = Matrix::from_fn(rows, 8, |_, _| stream.normal());
    let targets: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
    let logs = vec![-1.0; covariance.parameters().len()];
    let precisions = vec![20.0; rows];
    let mut density = GpDensity::new(device, &covariance, &inputs, 0.01, 1)?;
    let time = timed(|| {
        density.evaluate(&logs, &precisions, &targets)?;
        Ok(())
    })?;
    writeln!(out, "Gaussian process of {rows} rows: {:.2} ms per gradient", 1e3 * time)?;
    Ok(())
}

fn networks(
    device: &Arc<Device>,
    ([inputs, hidden, outputs, rows], likelihood): ([usize; 4], MlpLikelihood),
    (chains, threads, double): (usize, usize, bool),
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let mut stream = Seed(1).stream(Purpose::Start, [0, 0]);
    let points = Matrix::from_fn(rows, inputs, |_, _| stream.normal());
    let target = |row: usize| {
        let f = points[(row, 0)].sin() + 0.3 * stream.normal();
        match likelihood {
            MlpLikelihood::Logistic => f64::from(f > 0.0),
            MlpLikelihood::Softmax => f64::from(f > -0.5) + f64::from(f > 0.5),
            _ => f,
        }
    };
    let targets = (0..rows).map(target).collect();
    let normal = ScaleSpread::LogNormal(1.0);
    let sampled = |scale| GroupScale::Sampled { scale, spread: normal };
    let model = MlpModel {
        inputs,
        hidden,
        outputs,
        likelihood,
        groups: [
            GroupScale::PerInput { scale: 0.5, spread: normal, top: normal },
            sampled(1.0),
            sampled(0.3),
            GroupScale::Fixed(10.0),
        ],
        residual: ResidualScale { scale: 0.3, spread: normal, dofs: vec![2.0, 4.0, 8.0, 16.0] },
    };
    let folds = [MlpFold { label: 0, inputs: points, targets }];
    let (steps, iterations) = (100, 20);
    let options = MlpOptions { steps, adapting: 100, double, threads, ..MlpOptions::default() };
    let begun = Instant::now();
    let mut sampler = MlpSampler::new(device, &model, &folds, chains, options, Seed(1))?;
    let ready = begun.elapsed().as_secs_f64();
    sampler.run(100, 0)?;
    let mut acceptance = 0.0;
    let time = timed(|| {
        let run = sampler.run(iterations, 10)?;
        acceptance = run.acceptance.iter().sum::<f64>() / run.acceptance.len() as f64;
        Ok(())
    })?;
    let rate = (chains * steps * iterations) as f64 / time;
    let forces = if double { "f64" } else { "f32" };
    writeln!(
        out,
        "{inputs}-{hidden}-{outputs} of {rows} rows, {likelihood:?}, {chains} chains of {threads} \
         threads, {forces}: {rate:.2e} leapfrog steps per second (accepts {acceptance:.2}, ready \
         after {ready:.2} s)"
    )?;
    Ok(())
}
