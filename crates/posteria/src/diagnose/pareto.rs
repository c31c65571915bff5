//! Fit a generalised Pareto distribution to the tail of importance ratios.

/// Fewest exceedances that a tail is fitted to.
pub(crate) const FEWEST_EXCEEDANCES: usize = 5;

/// The generalised Pareto distribution of exceedances x > 0, density
/// (1/σ) (1 + k x/σ)^(-1/k - 1). It has 1/k finite moments; for k ≤ 0 all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParetoTail {
    /// k, the shape.
    pub shape: f64,
    /// σ, the scale.
    pub scale: f64,
}

impl ParetoTail {
    /// Fits the distribution to exceedances in increasing order; `None` if there are fewer than
    /// five of them, or no finite fit (where most of them are 0 by rounding, say).
    ///
    /// The likelihood is profiled over b = -k/σ and averaged over a grid of b with a prior that
    /// depends on the data [Zhang & Stephens 2009]; the shape is then drawn towards 0.5 as if by
    /// ten more exceedances, which steadies it in short tails [Vehtari et al. 2024].
    pub fn fit(exceedances: &[f64]) -> Option<Self> {
        /// Scale of the prior of b, in quartiles.
        const PRIOR_SCALE: f64 = 3.0;
        /// Exceedances that the prior of the shape counts for, and where it is centred.
        const PRIOR_COUNT: f64 = 10.0;
        const PRIOR_SHAPE: f64 = 0.5;
        let count = exceedances.len();
        if count < FEWEST_EXCEEDANCES {
            return None;
        }
        let n = count as f64;
        let quartile = exceedances[(n / 4.0 + 0.5) as usize - 1];
        let largest = exceedances[count - 1];
        // k of the generalised Pareto distribution with -k/σ = b that fits best.
        let shape_at = |b: f64| exceedances.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;

        let points = 30 + n.sqrt() as usize;
        let mut grid = Vec::with_capacity(points);
        for point in 1..=points {
            let spread = 1.0 - (points as f64 / (point as f64 - 0.5)).sqrt();
            let b = spread / (PRIOR_SCALE * quartile) + 1.0 / largest;
            let k = shape_at(b);
            grid.push((b, n * ((-b / k).ln() - k - 1.0)));
        }
        let highest = grid.iter().map(|(_, profile)| *profile).fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut weighted) = (0.0, 0.0);
        for (b, profile) in &grid {
            let weight = (profile - highest).exp();
            total += weight;
            weighted += weight * b;
        }
        let b = weighted / total;
        let k = shape_at(b);
        let scale = -k / b;
        let shape = (n * k + PRIOR_COUNT * PRIOR_SHAPE) / (n + PRIOR_COUNT);
        (shape.is_finite() && scale.is_finite() && scale > 0.0)
            .then_some(ParetoTail { shape, scale })
    }

    /// The quantile at `probability` in (0, 1): σ ((1 - p)^-k - 1) / k.
    pub fn quantile(&self, probability: f64) -> f64 {
        let log_survival = (-probability).ln_1p();
        if self.shape.abs() < f64::EPSILON {
            -self.scale * log_survival
        } else {
            self.scale * (-self.shape * log_survival).exp_m1() / self.shape
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn finds_the_shape_and_scale_of_its_own_draws() {
        // 20 000 draws know k to (1 + k) / √n = 0.7 to 1.2 % and σ to about √2.5 %/√n; the prior
        // moves k by less than 10/20 000. Five times that: false alarms below 1e-5.
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        for (shape, scale) in [(0.7, 1.0), (0.2, 3.0), (-0.2, 0.5), (0.0, 2.0)] {
            let truth = ParetoTail { shape, scale };
            let mut draws: Vec<f64> =
                (0..20_000).map(|_| truth.quantile(stream.uniform())).collect();
            draws.sort_unstable_by(f64::total_cmp);
            let fitted = ParetoTail::fit(&draws).expect("a fit");
            let error = 5.0 * (1.0 + shape) / 20_000_f64.sqrt() + 5e-4;
            assert!((fitted.shape - shape).abs() < error, "{fitted:?} for {truth:?}");
            assert!((fitted.scale / scale - 1.0).abs() < 0.06, "{fitted:?} for {truth:?}");
        }
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for shape in [-0.3, 0.0, 1e-9, 0.8] {
            let tail = ParetoTail { shape, scale: 1.7 };
            for p in [0.01, 0.5, 0.99] {
                let x = tail.quantile(p) / tail.scale;
                let survival = match shape.abs() < 1e-12 {
                    true => (-x).exp(),
                    false => (1.0 + shape * x).powf(-1.0 / shape),
                };
                assert!((1.0 - survival - p).abs() < 1e-6, "{shape} {p}: {survival}");
            }
        }
    }

    #[test]
    fn too_few_or_equal_to_nothing_is_not_fitted() {
        assert_eq!(ParetoTail::fit(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(ParetoTail::fit(&[0.0; 20]), None);
        assert!(ParetoTail::fit(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_some());
    }
}
