//! Linear models through the whole of a fit: ranks of the truth, and the closed form.

use posteria::density::special::regularized_gamma_upper;
use posteria::density::{InverseGamma, Normal};
use posteria::diagnose::{SummaryOptions, mcse_mean, summarize};
use posteria::fit::{fit, run_jobs};
use posteria::random::{Purpose, Seed};
use posteria::sample::Plan;
use posteria::sample::hmc::{Nuts, NutsOptions};

use crate::kernels::Factory;
use crate::tables::{classes, draw_classes, inputs, linear, real};

const NUTS: Factory = |dim| Box::new(Nuts::new(dim, NutsOptions::default()));

const REPLICATIONS: usize = 512;
const DRAWS: usize = 63;
/// The ranks 0, …, 63 go into eight bins of equal probability.
const BINS: usize = 8;

/// Ranks of the true parameters of one replication among their draws [Talts et al. 2018]:
/// intercept, two weights, their scale, and the log odds of the first row.
fn ranks(replication: usize) -> [usize; 5] {
    let mut stream = Seed(51).stream(Purpose::Data, [replication as u64, 0]);
    let spec = "[prior.weights]\nscale = 1.0\ndof = 4\n[prior.intercept]\nfixed = 1.0";
    let scale = InverseGamma::new(1.0, 4.0).expect("valid parameters");
    let scale = scale.draw_log_scale(&mut stream).exp();
    let normal = |scale: f64| Normal::new(0.0, scale).expect("valid parameters");
    let truth = [
        normal(1.0).draw(&mut stream),
        normal(scale).draw(&mut stream),
        normal(scale).draw(&mut stream),
        scale,
    ];
    let x = inputs(20, 2, &mut stream);
    let codes = draw_classes(&truth[..3], &x, &mut stream);
    let log_odds = |values: &[f64]| values[0] + values[1] * x[(0, 0)] + values[2] * x[(0, 1)];
    let posterior = linear(spec, &classes(x.clone(), codes), NUTS);
    let plan = Plan { thin: 6, ..Plan::new(1, 200, DRAWS) };
    let one = 1.try_into().expect("not zero");
    let draws = fit(&posterior, &plan, Seed(1000 + replication as u64), one).expect("a fit");
    assert_eq!(
        draws.layout.component_names(),
        ["intercept", "weights[x0]", "weights[x1]", "weight_scale"]
    );
    let rank = |statistic: &dyn Fn(&[f64]) -> f64| {
        (0..DRAWS).filter(|i| statistic(draws.draw(0, *i)) < statistic(&truth)).count()
    };
    [rank(&|v| v[0]), rank(&|v| v[1]), rank(&|v| v[2]), rank(&|v| v[3]), rank(&log_odds)]
}

#[test]
fn the_truth_has_every_rank_among_the_draws_of_a_logistic_regression() {
    let two = 2.try_into().expect("not zero");
    let ranks = run_jobs(REPLICATIONS, two, ranks);
    for parameter in 0..5 {
        let mut counts = [0.0; BINS];
        for ranks in &ranks {
            counts[ranks[parameter] * BINS / (DRAWS + 1)] += 1.0;
        }
        let expected = REPLICATIONS as f64 / BINS as f64;
        let chi_square: f64 = counts.iter().map(|n: &f64| (n - expected).powi(2) / expected).sum();
        // False-alarm rate 1e-4 for each parameter (seeds fixed).
        let p = regularized_gamma_upper(0.5 * (BINS - 1) as f64, 0.5 * chi_square);
        assert!(p > 1e-4, "parameter {parameter}: p = {p}, counts {counts:?}");
    }
}

#[test]
fn a_fit_of_the_conjugate_model_agrees_with_the_closed_form() {
    // σ² inverse gamma with scale 0.5 and 3 degrees of freedom, coefficients N(0, σ²/ρ).
    let (rho, scale, dof) = (0.7, 0.5_f64, 3.0);
    let spec = format!(
        "[prior.weights]\nfamily = 'conjugate'\nrho = {rho}\n\
         [residual]\nscale = {scale}\nscale_dof = {dof}"
    );
    let mut stream = Seed(52).stream(Purpose::Data, [0, 0]);
    let x = inputs(12, 1, &mut stream);
    let y: Vec<f64> = (0..12).map(|i| 1.0 - 0.8 * x[(i, 0)] + 0.6 * stream.normal()).collect();
    let posterior = linear(&spec, &real(x.clone(), &y), NUTS);
    let two = 2.try_into().expect("not zero");
    let draws = fit(&posterior, &Plan::new(4, 100, 5000), Seed(53), two).expect("a fit");
    let summary = summarize(&draws, &SummaryOptions::default());
    assert!(summary.max_r_hat() < 1.01, "R-hat {}", summary.max_r_hat());
    assert!(summary.cautions.is_empty(), "{:?}", summary.cautions);

    // Normal equations of intercept and weight: (XᵀX + ρI) m = Xᵀy, two by two.
    let sum = |f: &dyn Fn(usize) -> f64| (0..12).map(f).sum::<f64>();
    let a = 12.0 + rho;
    let b = sum(&|i| x[(i, 0)]);
    let d = sum(&|i| x[(i, 0)].powi(2)) + rho;
    let (u, v) = (sum(&|i| y[i]), sum(&|i| y[i] * x[(i, 0)]));
    let determinant = a * d - b * b;
    let mean = [(d * u - b * v) / determinant, (a * v - b * u) / determinant];
    let misfit = sum(&|i| (y[i] - mean[0] - mean[1] * x[(i, 0)]).powi(2));
    let posterior_dof = dof + 12.0;
    let squares = dof * scale * scale + misfit + rho * (mean[0].powi(2) + mean[1].powi(2));
    // σ² is inverse gamma: mean squares / (dof - 2), and the coefficients' covariance is the
    // inverse matrix times that.
    let noise = squares / (posterior_dof - 2.0);
    let deviations = [noise * d / determinant, noise * a / determinant];
    let check = |what: &str, values: Vec<Vec<f64>>, truth: f64| {
        let count: usize = values.iter().map(Vec::len).sum();
        let mean = values.iter().flatten().sum::<f64>() / count as f64;
        let z = (mean - truth) / mcse_mean(&values);
        assert!(z.abs() < 4.0, "{what}: {mean} is {z} errors from {truth}");
    };
    let component = |index: usize, f: &dyn Fn(f64) -> f64| -> Vec<Vec<f64>> {
        let chains = draws.component(index);
        chains.iter().map(|chain| chain.iter().map(|value| f(*value)).collect()).collect()
    };
    for k in 0..2 {
        check("coefficient", component(k, &|w| w), mean[k]);
        check("its variance", component(k, &|w| (w - mean[k]).powi(2)), deviations[k]);
    }
    check("residual variance", component(2, &|s| s * s), noise);
    check("residual precision", component(2, &|s| s.powi(-2)), posterior_dof / squares);
    let exact = posterior.closed_form().expect("the conjugate prior has a closed form");
    for (found, mean) in exact.mean().iter().zip(mean) {
        assert!((found - mean).abs() < 1e-12, "{found} is not {mean}");
    }
}
