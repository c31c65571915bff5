//! Durations alone: their posterior is that of quadrature, of published estimates, and of a regression of
//! their logarithms.

use super::{FAMILIES, FAR, ROWS, chain, durations, mean, posterior, stream};
use crate::data::{Column, Dataset, Encoder, Roles, Standardization, Table, Task};
use crate::density::{Duration, DurationFamily};
use crate::model::Posterior;
use crate::model::spec::ModelKind;
use posteria_linalg::Matrix;

/// An intercept and the scale beside it, by sums over a fine grid; two of four rows are censored.
#[test]
fn posterior_means_are_those_of_quadrature() {
    let values = [3.0, -0.7, 9.0, -2.5];
    for (text, family) in
        FAMILIES[2..].iter().zip([DurationFamily::Weibull, DurationFamily::LogNormal])
    {
        let text = format!("[prior.intercept]\nfixed = 0.7\n{text}");
        let data = Dataset {
            inputs: Matrix::zeros(ROWS, 0),
            input_names: Vec::new(),
            input_scaling: Vec::new(),
            ..durations(&values)
        };
        let posterior = posterior(ModelKind::Linear, &text, &data);
        let rows: Vec<Vec<f64>> = chain(&*posterior, 8192, &mut stream(70 + family as u64))
            .into_iter()
            .map(|state| vec![state[0], state[0] * state[0], state[state.len() - 1]])
            .collect();
        let (mut total, mut sums) = (0.0, [0.0; 3]);
        for k in 0..161 {
            let t = 10.0 * (f64::from(k) / 160.0 - 0.5);
            let log_sigma = 0.6_f64.ln() + 0.5 * t;
            for j in 0..401 {
                let b = 8.0 * (f64::from(j) / 400.0 - 0.5);
                let it = Duration::new(family, 2_f64.ln() + 0.7 * b, 0.7 * log_sigma.exp());
                let of = |y: &f64| match *y < 0.0 {
                    true => it.log_survival(-y),
                    false => it.log_density(*y),
                };
                let likelihood: f64 = values.iter().map(of).sum();
                let weight = (likelihood - 0.5 * (b / 0.7).powi(2) - 0.5 * t * t).exp();
                total += weight;
                let terms = [b, b * b, log_sigma];
                sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
            }
        }
        for (index, sum) in sums.iter().enumerate() {
            let (found, variance) = mean(&rows, index);
            let z = (found - sum / total) / variance.sqrt();
            assert!(z.abs() < FAR, "{family:?}: {index} is {found}, not {}: {z}", sum / total);
        }
    }
}

/// Weeks of remission of 42 children with leukaemia, 21 pairs of placebo and 6-mercaptopurine
/// [Freireich et al. 1963; Gehan 1965]; those that are negative are censored.
const PLACEBO: [f64; 21] = [
    1.0, 22.0, 3.0, 12.0, 8.0, 17.0, 2.0, 11.0, 8.0, 12.0, 2.0, 5.0, 4.0, 15.0, 8.0, 23.0, 5.0,
    11.0, 4.0, 1.0, 8.0,
];
const TREATED: [f64; 21] = [
    10.0, 7.0, -32.0, 23.0, 22.0, 6.0, 16.0, -34.0, -32.0, -25.0, -11.0, -20.0, -19.0, 6.0, -17.0,
    -35.0, 6.0, 13.0, -9.0, -6.0, -10.0,
];

/// Means and standard deviations of the posterior by sums over a grid of 97³ places, in NumPy. Maximum
/// likelihood is 3.516 (0.252), -1.267 (0.311), log σ -0.312 (0.147) of a Weibull regression, as R's
/// `survreg` has it [Venables & Ripley 2002, §13.2]; log-normal 3.172 (0.244), -1.347 (0.316), -0.079
/// (0.132).
#[test]
fn remissions_have_the_posterior_of_quadrature_about_the_published_estimates() {
    let values = [PLACEBO, TREATED].concat();
    let expected = [
        [(3.5944, 0.2848), (-1.3437, 0.3473), (-0.2505, 0.1537)],
        [(3.2117, 0.2653), (-1.3859, 0.3427), (-0.0244, 0.1394)],
    ];
    for (index, (family, expected)) in ["weibull", "log-normal"].iter().zip(expected).enumerate() {
        let text = format!(
            "[prior.weights]\nfixed = 10.0\n[prior.intercept]\nfixed = 10.0\n\
             [residual]\nfamily = '{family}'\nscale = 1.0\nlog_sd = 3.0\n"
        );
        let data = Dataset {
            inputs: Matrix::from_fn(42, 1, |row, _| f64::from(u8::from(row < 21))),
            input_names: vec!["placebo".into()],
            input_scaling: vec![Standardization::IDENTITY],
            target_scaling: vec![Standardization { centre: 2.0, scale: 1.0 }],
            ..durations(&values)
        };
        let posterior = posterior(ModelKind::Linear, &text, &data);
        let states = chain(&*posterior, 8000, &mut stream(80 + index as u64));
        let count = states.len() as f64;
        for (slot, (estimate, error)) in expected.into_iter().enumerate() {
            let centre = if slot == 0 { 2.0 } else { 0.0 };
            let mean = states.iter().map(|state| state[slot] + centre).sum::<f64>() / count;
            let square = states.iter().map(|state| (state[slot] + centre - mean).powi(2));
            let sd = (square.sum::<f64>() / count).sqrt();
            assert!((mean - estimate).abs() < 0.15 * error, "{family} {slot}: {mean}");
            assert!((sd / error - 1.0).abs() < 0.1, "{family} {slot}: {sd}, not {error}");
        }
    }
}

/// Without censoring a log-normal duration is a regression of its logarithm: state by state the same
/// densities of rows but for 1/y, the same prior, and the same draw.
#[test]
fn a_log_normal_duration_is_a_regression_of_its_logarithm() {
    let y: Vec<f64> = (0..9).map(|row| (0.6 * (1.7 * f64::from(row)).sin() + 1.2).exp()).collect();
    let x: Vec<f64> = (0..9).map(|row| (0.9 * f64::from(row)).cos()).collect();
    let encoded = |target: Vec<f64>, task: Task| {
        let columns = [("x", &x), ("y", &target)];
        let column =
            |(name, values): (&str, &Vec<f64>)| (name.to_string(), Column::numbers(values.clone()));
        let table = Table::new("memory", columns.map(column).to_vec()).unwrap();
        let roles = Roles { targets: vec!["y".into()], task: Some(task), ..Roles::default() };
        Encoder::fit(&table, &roles).unwrap().dataset
    };
    let logs: Vec<f64> = y.iter().map(|y| y.ln()).collect();
    let of_logs = encoded(logs.clone(), Task::Regression);
    let of_durations = encoded(y, Task::Duration);
    let plain = posterior(ModelKind::Linear, "", &of_logs);
    let own = posterior(ModelKind::Linear, "[residual]\nfamily = 'log-normal'\n", &of_durations);
    let mut stream = stream(90);
    for _ in 0..20 {
        let state = plain.prior_state(&mut stream).unwrap();
        let evaluate = |posterior: &dyn Posterior| {
            let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 9]);
            let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
            (terms.log_prior, draw, rows)
        };
        let (a, b) = (evaluate(&*plain), evaluate(&*own));
        assert!((a.0 - b.0).abs() < 1e-10, "{} {}", a.0, b.0);
        assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 1e-10 * (1.0 + a.abs())));
        for (row, (a, b)) in a.2.iter().zip(&b.2).enumerate() {
            assert!((a - logs[row] - b).abs() < 1e-9 * (1.0 + a.abs()), "{row}: {a} {b}");
        }
    }
}
