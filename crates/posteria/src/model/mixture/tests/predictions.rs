//! Predictions: exact densities under q against averages over draws.

use posteria_linalg::Matrix;

use super::*;
use crate::data::recipes::old_faithful;
use crate::density::special::log_sum_exp;
use crate::predict::{Family, PredictiveTable};

#[test]
fn the_mixture_of_t_is_the_average_over_draws() {
    let (data, _) = Dataset::new(&old_faithful::rows(), &Roles::default()).unwrap();
    let posterior = model("components = 3").condition(&data, Seed(1)).unwrap();
    let rows = [[2.0, 55.0], [4.4, 80.0], [3.2, 66.0], [6.0, 40.0]];
    let inputs = Matrix::from_fn(4, 2, |row, column| posterior.standardized(&rows[row])[column]);
    let draws = draws(&posterior, 8000, &mut stream(40));
    let mut predictor = posterior.predictor().unwrap();
    assert_eq!(predictor.family(), Family::Density { components: 3 });
    let table = PredictiveTable::new(&mut *predictor, &draws, 0..8000, &inputs);
    for (row, x) in rows.iter().enumerate() {
        let exact = posterior.predictive_log_density(x);
        let predictive = table.predictive(row);
        // Ratios to the exact density average to 1; |z| < 4.5 has a false-alarm rate of 7e-6.
        let ratios: Vec<f64> =
            table.parameters(row).chunks(3).map(|own| (log_sum_exp(own) - exact).exp()).collect();
        let mean = ratios.iter().sum::<f64>() / 8000.0;
        let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 8000.0;
        assert!((mean - 1.0).abs() < 4.5 * (variance / 8000.0).sqrt(), "row {row}: {mean}");
        assert!((predictive.log_density(&[]) - (exact + mean.ln())).abs() < 1e-9);
        let mut probabilities = [0.0; 3];
        predictive.probabilities(&mut probabilities);
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        if row < 3 {
            let expected = posterior.responsibilities(x);
            for (found, expected) in probabilities.iter().zip(&expected) {
                assert!((found - expected).abs() < 0.03, "row {row}: {probabilities:?}");
            }
            let most = usize::from(expected[1] > expected[0]);
            assert_eq!(predictive.most_probable(), most);
        }
    }
}

#[test]
fn importance_weights_of_draws_average_to_the_evidence() {
    // One component: q is the posterior, every weight is the evidence.
    let columns = groups(20, 2, 1, &mut stream(41));
    let posterior = posterior(&columns, "components = 1");
    let mut evaluator = posterior.evaluator();
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut log_likelihood = vec![0.0; 20];
    let mut stream = stream(42);
    for _ in 0..20 {
        let state = posterior.start(&mut stream);
        let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
        let weight = terms.at(1.0) - posterior.approximation().log_density(&state);
        assert!((weight - posterior.findings().bound).abs() < 1e-7, "{weight}");
    }
    // Several: the log of the average weight is above the bound, which is the average of logs.
    let columns = groups(30, 1, 2, &mut stream);
    let posterior = super::posterior(&columns, "components = 2\n[prior.mixing]\nshape = 1.0");
    let (mut evaluator, mut draw) = (posterior.evaluator(), vec![0.0; posterior.layout().len()]);
    let mut log_likelihood = vec![0.0; 30];
    let weights: Vec<f64> = (0..4000)
        .map(|_| {
            let state = posterior.start(&mut stream);
            let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
            terms.at(1.0) - posterior.approximation().log_density(&state)
        })
        .collect();
    let evidence = log_sum_exp(&weights) - 4000f64.ln();
    let bound = posterior.findings().bound;
    assert!(evidence > bound && evidence < bound + 3.0, "{evidence} {bound}");
}

#[test]
fn draws_depend_on_the_stream_alone_and_are_of_the_named_shape() {
    let columns = groups(25, 3, 2, &mut stream(43));
    let posterior = posterior(&columns, "components = 2");
    let names = posterior.layout().component_names();
    assert_eq!(names.len(), 2 * (1 + 3 + 3 + 3));
    assert!(names.contains(&"means[2, x1]".into()), "{names:?}");
    assert!(names.contains(&"correlations[1, x0:x2]".into()), "{names:?}");
    let run = |index: u64| draws(&posterior, 10, &mut stream(index)).values;
    assert_eq!(run(44), run(44));
    assert_ne!(run(44), run(45));
}
