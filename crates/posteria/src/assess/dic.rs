//! Penalise the likelihood at a point estimate by the effective number of parameters.

use crate::caution::Caution;

/// The deviance information criterion, on the log scale: higher is better. -2 times its numbers
/// are deviances.
#[derive(Clone, Debug, PartialEq)]
pub struct Dic {
    /// L(θ̄) - p_dic, which is L(θ̄) + 2 (E L(θ) - L(θ̄)). [Vehtari 2001, eq. 3.47]
    pub dic: f64,
    /// Effective number of parameters 2 (L(θ̄) - E L(θ)), with L the log likelihood of all rows.
    /// [Spiegelhalter et al. 2002; Vehtari 2001, eq. 3.45]
    pub p_dic: f64,
    /// L(θ̄) - p_dic_variance.
    pub dic_variance: f64,
    /// The alternative ½ Var D(θ) = 2 Var L(θ), never negative and the same whatever the parameters
    /// are called. NaN for fewer than two draws. [Gelman et al. 2013, §7.2]
    pub p_dic_variance: f64,
    /// Reasons for doubt.
    pub cautions: Vec<Caution>,
}

impl Dic {
    /// The criterion without a point that stands for the draws: ½ Var D(θ) counts the parameters,
    /// and E L(θ) - p/2 is the criterion. Without draws all is NaN.
    pub fn by_variance(log_likelihoods: &[f64]) -> Self {
        let size = log_likelihoods.len() as f64;
        let mean = log_likelihoods.iter().sum::<f64>() / size;
        let squares: f64 = log_likelihoods.iter().map(|value| (value - mean).powi(2)).sum();
        let p_dic = 2.0 * squares / (size - 1.0);
        let dic = mean - 0.5 * p_dic;
        Dic { dic, p_dic, dic_variance: dic, p_dic_variance: p_dic, cautions: Vec::new() }
    }

    /// The criterion from the log likelihood of all rows under every draw, and at one point that
    /// stands for them, mostly the posterior mean of the parameters. It depends on which
    /// parameters are averaged; where the posterior has several modes no point stands for it.
    /// Without draws all is NaN.
    pub fn new(log_likelihoods: &[f64], at_point: f64) -> Self {
        let size = log_likelihoods.len() as f64;
        let mean = log_likelihoods.iter().sum::<f64>() / size;
        let squares: f64 = log_likelihoods.iter().map(|value| (value - mean).powi(2)).sum();
        let p_dic = 2.0 * (at_point - mean);
        let p_dic_variance = 2.0 * squares / (size - 1.0);
        let negative = (p_dic < 0.0).then_some(Caution::NegativeParameters { p_dic });
        Dic {
            dic: at_point - p_dic,
            p_dic,
            dic_variance: at_point - p_dic_variance,
            p_dic_variance,
            cautions: negative.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn a_normal_likelihood_has_as_many_parameters_as_it_has() {
        // Posterior N(0, I) in d dimensions under L = -½ |θ|²: p = d both ways. L has mean -d/2 and
        // variance d/2, so over 20 000 draws 2 E L is known to √(2 d / S) = 0.03 and 2 Var L to
        // about d √((2 + 12/d) / S) = 0.07; five times that.
        let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
        let dim = 5;
        let mut draw = || -0.5 * (0..dim).map(|_| stream.normal().powi(2)).sum::<f64>();
        let values: Vec<f64> = (0..20_000).map(|_| draw()).collect();
        let found = Dic::new(&values, 0.0);
        assert!((found.p_dic - 5.0).abs() < 0.12, "{found:?}");
        let alone = Dic::by_variance(&values);
        assert!((alone.p_dic - found.p_dic_variance).abs() < 1e-12, "{alone:?}");
        // E L = -d/2 and p = d: -d, as about a point.
        assert!((alone.dic + 5.0).abs() < 0.2, "{alone:?}");
        assert!((found.p_dic_variance - 5.0).abs() < 0.35, "{found:?}");
        assert!((found.dic + found.p_dic).abs() < 1e-12 && found.cautions.is_empty());
    }

    #[test]
    fn a_point_worse_than_the_draws_is_doubted() {
        let found = Dic::new(&[-1.0, -2.0, -3.0], -5.0);
        assert!((found.p_dic + 6.0).abs() < 1e-12 && (found.dic - 1.0).abs() < 1e-12);
        assert!((found.p_dic_variance - 2.0).abs() < 1e-12);
        assert!(matches!(found.cautions[..], [Caution::NegativeParameters { .. }]));
    }
}
