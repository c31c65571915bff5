//! Weigh models so that their mixture predicts best.

use posteria_linalg::{Cholesky, Matrix};

use super::model_weights::{PointwiseError, checked};

/// The mean log score is known to be within this of the largest that weights can give.
const GAP: f64 = 1e-12;

/// Weights below this are 0 for the purpose of Newton steps; updates can raise them again.
const NEGLIGIBLE: f64 = 1e-12;

/// Weights below this become 0 in the end where that is no loss.
const UNSEEN: f64 = 1e-9;

/// Rounds of one multiplicative update and one Newton step. Some ten are enough; models that are
/// nearly the same take more.
const MOST_ROUNDS: usize = 1000;

/// The weights w ≥ 0, Σ w = 1 of the mixture of predictive distributions with the largest
/// leave-one-out log score Σ_i log Σ_k w_k p_k(y_i). `pointwise`: one slice per model with its
/// log p_k(y_i given x_i, D without i) for every row. [Yao et al. 2018]
///
/// Rows that are impossible under every model say nothing about the weights and are left out.
///
/// # Errors
/// [`PointwiseError`].
pub fn stacking_weights(pointwise: &[&[f64]]) -> Result<Vec<f64>, PointwiseError> {
    let rows = checked(pointwise)?;
    let models = pointwise.len();
    // Densities of a row, relative to the best model for it: a factor that no weight depends on.
    let mut densities = Vec::with_capacity(rows * models);
    for row in 0..rows {
        let best = pointwise.iter().map(|values| values[row]).fold(f64::NEG_INFINITY, f64::max);
        if best > f64::NEG_INFINITY {
            densities.extend(pointwise.iter().map(|values| (values[row] - best).exp()));
        }
    }
    let mut weights = vec![1.0 / models as f64; models];
    if densities.is_empty() || models == 1 {
        return Ok(weights);
    }
    let score = Score { densities, models };
    let mut gains = vec![0.0; models];
    for _ in 0..MOST_ROUNDS {
        score.gains(&weights, &mut gains);
        // The score is concave: no weights are better by more than the largest gain less 1.
        if gains.iter().copied().fold(f64::NEG_INFINITY, f64::max) <= 1.0 + GAP {
            break;
        }
        // A step of the EM algorithm: it never lowers the score, and it raises weights from near 0.
        weights.iter_mut().zip(&gains).for_each(|(weight, gain)| *weight *= gain);
        normalise(&mut weights);
        score.newton(&mut weights);
    }
    for (weight, gain) in weights.iter_mut().zip(&gains) {
        // The score gains by it, as far as it can be seen at all.
        if *weight < UNSEEN && *gain < 1.0 {
            *weight = 0.0;
        }
    }
    normalise(&mut weights);
    Ok(weights)
}

fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

/// The mean log score of weights.
struct Score {
    /// Row after row, one density per model.
    densities: Vec<f64>,
    models: usize,
}

impl Score {
    fn rows(&self) -> f64 {
        (self.densities.len() / self.models) as f64
    }

    fn mixtures<'s>(&'s self, weights: &'s [f64]) -> impl Iterator<Item = (&'s [f64], f64)> {
        let mixture = move |row: &[f64]| row.iter().zip(weights).map(|(p, w)| p * w).sum::<f64>();
        self.densities.chunks_exact(self.models).map(move |row| (row, mixture(row)))
    }

    /// The score less Σ w, whose maximum over all w ≥ 0 has Σ w = 1 by itself. [Kim et al. 2020]
    fn value(&self, weights: &[f64]) -> f64 {
        let sum: f64 = self.mixtures(weights).map(|(_, mixture)| mixture.ln()).sum();
        sum / self.rows() - weights.iter().sum::<f64>()
    }

    /// The gradient mean_i p_ik / Σ_l w_l p_il: 1 for every model with weight at the maximum, at
    /// most 1 for the others.
    fn gains(&self, weights: &[f64], gains: &mut [f64]) {
        gains.fill(0.0);
        for (row, mixture) in self.mixtures(weights) {
            gains.iter_mut().zip(row).for_each(|(gain, p)| *gain += p / mixture);
        }
        gains.iter_mut().for_each(|gain| *gain /= self.rows());
    }

    /// One Newton step on the models that have weight or would gain by it, no weight below 0; none
    /// if it does not raise the score.
    fn newton(&self, weights: &mut [f64]) {
        let mut gains = vec![0.0; self.models];
        self.gains(weights, &mut gains);
        let free: Vec<usize> =
            (0..self.models).filter(|k| weights[*k] > NEGLIGIBLE || gains[*k] > 1.0).collect();
        let mut curvature = Matrix::zeros(free.len(), free.len());
        for (row, mixture) in self.mixtures(weights) {
            for (j, &l) in free.iter().enumerate() {
                for (i, &k) in free.iter().enumerate().skip(j) {
                    curvature[(i, j)] += row[k] * row[l] / (mixture * mixture * self.rows());
                }
            }
        }
        // Models that predict alike make it singular; then a small ridge chooses among equals.
        let trace: f64 = (0..free.len()).map(|i| curvature[(i, i)]).sum();
        (0..free.len()).for_each(|i| curvature[(i, i)] += 1e-12 * trace);
        curvature.mirror_lower();
        let Ok(factor) = Cholesky::new(&curvature) else { return };
        let mut step: Vec<f64> = free.iter().map(|k| gains[*k] - 1.0).collect();
        factor.solve(&mut step);

        let before = self.value(weights);
        let mut length = 1.0;
        let mut moved = weights.to_vec();
        while length > 1e-6 {
            for (step, &k) in step.iter().zip(&free) {
                moved[k] = (weights[k] + length * step).max(0.0);
            }
            // NaN, where a row is left without density, is not better either.
            if moved.iter().sum::<f64>() > 0.0 && self.value(&moved) > before {
                weights.copy_from_slice(&moved);
                normalise(weights);
                return;
            }
            length *= 0.5;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};
    use proptest::prelude::*;

    fn gap(pointwise: &[&[f64]], weights: &[f64]) -> f64 {
        let rows = pointwise[0].len();
        let gain = |k: usize| {
            let term = |row: usize| {
                let mixture: f64 =
                    pointwise.iter().zip(weights).map(|(v, w)| w * v[row].exp()).sum();
                pointwise[k][row].exp() / mixture
            };
            (0..rows).map(term).sum::<f64>() / rows as f64
        };
        (0..pointwise.len()).map(gain).fold(f64::NEG_INFINITY, f64::max) - 1.0
    }

    proptest! {
        #[test]
        fn no_weights_are_better(
            values in prop::collection::vec(-6.0..2.0_f64, 5 * 12),
            models in 1_usize..6,
        ) {
            let pointwise: Vec<&[f64]> = values.chunks_exact(12).take(models).collect();
            let weights = stacking_weights(&pointwise).expect("weights");
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(weights.iter().all(|weight| *weight >= 0.0));
            let gap = gap(&pointwise, &weights);
            prop_assert!(gap < 1e-10, "gap {gap} at {weights:?}");
        }
    }

    #[test]
    fn two_models_meet_the_closed_form() {
        // Model 0 is right by a factor r in m of n rows, model 1 in the others: the score
        // m log(w r + 1 - w) + (n - m) log(w + (1 - w) r) has its maximum at
        // w = (m (r + 1) - n) / (n (r - 1)).
        let (m, n, r) = (7, 10, 5.0_f64);
        let a: Vec<f64> = (0..n).map(|i| if i < m { r.ln() } else { 0.0 }).collect();
        let b: Vec<f64> = (0..n).map(|i| if i < m { 0.0 } else { r.ln() }).collect();
        let weights = stacking_weights(&[&a, &b]).expect("weights");
        let exact = (m as f64 * (r + 1.0) - n as f64) / (n as f64 * (r - 1.0));
        assert!((weights[0] - exact).abs() < 1e-10, "{weights:?}, exact {exact}");
    }

    #[test]
    fn equal_useless_and_many_models() {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let a: Vec<f64> = (0..200).map(|_| stream.normal()).collect();
        let worse: Vec<f64> = a.iter().map(|x| x - 0.2).collect();
        let weights = stacking_weights(&[&a, &worse, &a]).expect("weights");
        assert!((weights[0] - 0.5).abs() < 1e-9 && weights[1] <= 0.0, "{weights:?}");
        let all: Vec<Vec<f64>> =
            (0..40).map(|_| a.iter().map(|x| x + 0.3 * stream.normal()).collect()).collect();
        let all: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
        let weights = stacking_weights(&all).expect("weights");
        assert!(gap(&all, &weights) < 1e-10, "{}", gap(&all, &weights));
    }

    #[test]
    fn impossible_rows_say_nothing_or_everything() {
        let none = f64::NEG_INFINITY;
        let weights = stacking_weights(&[&[-1.0, none, -1.0], &[-2.0, none, -2.0]]);
        assert_eq!(weights, Ok(vec![1.0, 0.0]));
        assert_eq!(stacking_weights(&[&[none], &[none]]), Ok(vec![0.5, 0.5]));
        // Only the second model allows row 0, only the first is any good elsewhere.
        let weights = stacking_weights(&[&[none, 0.0], &[0.0, none]]).expect("weights");
        assert!((weights[0] - 0.5).abs() < 1e-12);
    }
}
