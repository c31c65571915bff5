//! Predict one row as if it had been left out, from its predictive distribution given each draw.

use crate::diagnose::importance::{
    ImportanceError, ImportanceWeights, Smoothing, importance_weights,
};
use crate::predict::{Predictive, PredictiveTable};

/// The weights that make the draws of a table those of the posterior without one row: what
/// [`PredictiveTable::weighted`] takes to predict that row as if it had been left out. The row is at
/// `index` of the table, which holds what its target follows given each draw and, where targets are
/// not independent given a draw, all other rows ([`PredictiveTable::leave_one_out`]). The density of
/// `observed` under a draw is that draw's likelihood, so that none need have been kept.
///
/// `relative_efficiency`: effective size of the draws over their number, 1 if independent.
///
/// # Errors
/// [`ImportanceError`].
pub fn weights_leaving_out(
    (table, index): (&PredictiveTable, usize),
    observed: &[f64],
    smoothing: Smoothing,
    relative_efficiency: f64,
) -> Result<ImportanceWeights, ImportanceError> {
    let family = table.family();
    let draws = table.parameters(index).chunks_exact(family.width());
    let log_ratios: Vec<f64> =
        draws.map(|one| -Predictive::new(family, one).log_density(observed)).collect();
    importance_weights(&log_ratios, smoothing, relative_efficiency)
}

#[cfg(test)]
mod tests {
    use posteria_linalg::Matrix;

    use super::*;
    use crate::assess::LogLikelihoods;
    use crate::draws::{Draws, Layout};
    use crate::predict::{Family, Predictor};
    use crate::random::{Purpose, Seed};

    /// y ~ N(draw[0], 1), of rows that are all alike.
    struct Mean;

    impl Predictor for Mean {
        fn family(&self) -> Family {
            Family::Normal { outputs: 1 }
        }
        fn at(&mut self, draw: &[f64], _inputs: &Matrix, parameters: &mut [f64]) {
            self.at_training_rows(draw, parameters);
        }
        fn functions(&mut self, draw: &[f64], _inputs: &Matrix, outputs: &mut [f64]) {
            outputs.fill(draw[0]);
        }
        fn at_training_rows(&mut self, draw: &[f64], parameters: &mut [f64]) {
            parameters.chunks_exact_mut(2).for_each(|own| own.copy_from_slice(&[draw[0], 1.0]));
        }
    }

    /// Eight rows with known unit variance and a flat prior: the mean is N(ȳ, 1/8).
    const TARGETS: [f64; 8] = [0.3, -0.8, 1.1, 0.2, -0.4, 0.9, 2.0, -0.1];

    fn table(draws: usize) -> (Draws, PredictiveTable) {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let centre = TARGETS.iter().sum::<f64>() / 8.0;
        let mut layout = Layout::new();
        layout.push_scalar("mean");
        let values: Vec<f64> =
            (0..draws).map(|_| centre + stream.normal() / 8_f64.sqrt()).collect();
        let drawn = Draws { draws, values, ..Draws::empty(layout, 1, 0) };
        let table = PredictiveTable::leave_one_out(&mut Mean, (&drawn, 0..draws), (8, 0..8));
        (drawn, table)
    }

    #[test]
    fn a_row_is_predicted_as_by_the_exact_posterior_without_it() {
        let (_, table) = table(20_000);
        for (row, y) in TARGETS.iter().enumerate() {
            let weights = weights_leaving_out((&table, row), &[*y], Smoothing::Pareto, 1.0);
            let weights = weights.expect("weights");
            assert!(weights.pareto_shape < 0.7, "{}", weights.pareto_shape);
            let found = table.weighted(row, &weights.log_weights);
            let others = (TARGETS.iter().sum::<f64>() - y) / 7.0;
            // Without the row the target is N(mean of the others, 1 + 1/7).
            let parameters = [others, (1.0_f64 + 1.0 / 7.0).sqrt()];
            let exact = Predictive::new(Family::Normal { outputs: 1 }, &parameters);
            // Monte Carlo error of a mean of 20 000 draws with deviation 0.38: 0.003; twice that for
            // unequal weights, four standard errors.
            assert!((found.mean(0).expect("a mean") - others).abs() < 0.025, "row {row}");
            assert!((found.cdf(0, *y) - exact.cdf(0, *y)).abs() < 0.01, "row {row}");
            assert!((found.log_density(&[*y]) - exact.log_density(&[*y])).abs() < 0.03);
        }
    }

    #[test]
    fn weights_are_those_of_kept_log_likelihoods() {
        let (drawn, table) = table(300);
        let log_density =
            |mean: f64, y: f64| -0.5 * (y - mean).powi(2) - 0.5 * (2.0 * std::f64::consts::PI).ln();
        let kept: Vec<f64> = drawn
            .values
            .iter()
            .flat_map(|mean| TARGETS.iter().map(move |y| log_density(*mean, *y)))
            .collect();
        let kept = LogLikelihoods::new(&kept, 1, 300, 8).expect("usable");
        for (row, y) in TARGETS.iter().enumerate() {
            let one = weights_leaving_out((&table, row), &[*y], Smoothing::Pareto, 1.0);
            let other = kept.weights_without(row, Smoothing::Pareto, 1.0);
            let (one, other) = (one.expect("weights"), other.expect("weights"));
            assert!((one.pareto_shape - other.pareto_shape).abs() < 1e-6);
            let pairs = one.log_weights.iter().zip(&other.log_weights);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }
}
