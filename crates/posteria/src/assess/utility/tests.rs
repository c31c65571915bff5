//! Check utilities against answers by hand.

use std::f64::consts::PI;

use super::super::TargetFacts;
use super::*;
use crate::density::checks::{assert_relative, integral_above_zero};
use crate::density::special::normal_cdf;
use crate::predict::Family;

fn real(count: usize) -> TargetFacts {
    let names = (1..=count).map(|k| format!("t{k}")).collect();
    TargetFacts::Real { names, deviations: (1..=count).map(|k| 2.0 * k as f64).collect() }
}

fn classes(labels: &[&str]) -> TargetFacts {
    TargetFacts::Classes { labels: labels.iter().map(|label| label.to_string()).collect() }
}

fn utility(text: &str, targets: &TargetFacts) -> Box<dyn UtilityFunction> {
    parse_utility(text, targets, Better::Lower).unwrap_or_else(|error| panic!("{error}"))
}

const ONE: Family = Family::Normal { outputs: 1 };

fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

#[test]
fn densities_of_a_mixture_by_hand() {
    // ¼ N(0, 1) + ¾ N(3, 2²) at 1.
    let parameters = [0.0, 1.0, 3.0, 2.0];
    let logs = [1f64.ln(), 3f64.ln()];
    let predictive = Predictive::weighted(ONE, &parameters, &logs);
    let density = 0.25 * normal_density(1.0) + 0.75 * normal_density(1.0) / 2.0;
    assert_relative(utility("likelihood", &real(1)).evaluate(&predictive, &[1.0]), density, 1e-14);
    assert_relative(utility("elpd", &real(1)).evaluate(&predictive, &[1.0]), density.ln(), 1e-14);
    // Two targets stay joint: the mean of products.
    let parameters = [0.0, 1.0, 0.0, 1.0, 3.0, 1.0, 3.0, 1.0];
    let predictive = Predictive::new(Family::Normal { outputs: 2 }, &parameters);
    let near = normal_density(0.0) * normal_density(1.0);
    let far = normal_density(3.0) * normal_density(2.0);
    let found = utility("elpd", &real(2)).evaluate(&predictive, &[0.0, 1.0]);
    assert_relative(found, (0.5 * (near + far)).ln(), 1e-13);
}

#[test]
fn errors_are_of_mean_and_median() {
    // Skew: median of 0, 0, 6 (narrow) is near 0, mean 2.
    let parameters = [0.0, 0.01, 0.0, 0.01, 6.0, 0.01];
    let predictive = Predictive::new(ONE, &parameters);
    let at = |text: &str| utility(text, &real(1)).evaluate(&predictive, &[1.0]);
    assert_relative(at("rmse"), 1.0, 1e-12);
    assert_relative(at("nrmse"), 0.25, 1e-12);
    let median = predictive.quantile(0, 0.5);
    assert!(median < 0.05);
    assert_relative(at("mae"), 1.0 - median, 1e-12);
    assert_relative(at("abs-quantile:0.9"), 1.0 - median, 1e-12);
    // Several targets: the mean over targets, each in its own unit for nrmse.
    let parameters = [1.0, 1.0, 10.0, 1.0];
    let predictive = Predictive::new(Family::Normal { outputs: 2 }, &parameters);
    let at = |text: &str| utility(text, &real(2)).evaluate(&predictive, &[4.0, 6.0]);
    assert_relative(at("rmse"), (9.0 + 16.0) / 2.0, 1e-12);
    assert_relative(at("nrmse"), (9.0 / 4.0 + 16.0 / 16.0) / 2.0, 1e-12);
    assert_relative(at("mae"), 3.5, 1e-9);
    // A Cauchy prediction has no mean, but a median.
    let cauchy = Predictive::new(Family::StudentT { outputs: 1 }, &[0.0, 1.0, 1.0]);
    assert!(utility("rmse", &real(1)).evaluate(&cauchy, &[1.0]).is_nan());
    assert_relative(utility("mae", &real(1)).evaluate(&cauchy, &[1.0]), 1.0, 1e-9);
}

#[test]
fn summaries_of_weighted_rows() {
    let (values, weights) = ([4.0, 1.0, 9.0, 2.0], [1.0, 2.0, 1.0, 0.0]);
    assert_relative(Summary::Mean.of(&values, &weights), 15.0 / 4.0, 1e-15);
    assert_relative(Summary::RootMean.of(&values, &weights), (15.0f64 / 4.0).sqrt(), 1e-15);
    // Middles of 1, 4, 9 at 1, 2.5, 3.5 of 4: row 2 has no weight.
    for (probability, expected) in
        [(0.1, 1.0), (0.25, 1.0), (0.4375, 2.5), (0.75, 6.5), (0.95, 9.0)]
    {
        let found = Summary::Quantile(probability).of(&values, &weights);
        assert_relative(found, expected, 1e-12);
    }
    // What is infinite or not a number shows, unless it has no weight.
    let odd = [1.0, f64::INFINITY];
    assert!(Summary::Mean.of(&odd, &[1.0, 1.0]).is_infinite());
    assert_relative(Summary::Mean.of(&odd, &[1.0, 0.0]), 1.0, 1e-15);
    assert_relative(Summary::Quantile(0.2).of(&odd, &[1.0, 1.0]), 1.0, 1e-15);
    assert!(Summary::Quantile(0.2).of(&[1.0, f64::NAN], &[1.0, 1.0]).is_nan());
    assert_eq!(utility("rmse", &real(1)).summary(), Summary::RootMean);
    assert_eq!(utility("abs-quantile:0.9", &real(1)).summary(), Summary::Quantile(0.9));
}

#[test]
fn classes_are_scored() {
    let three = classes(&["a", "b", "c"]);
    let logs = [0.5f64.ln(), 0.3f64.ln(), 0.2f64.ln()];
    let predictive = Predictive::new(Family::Categorical { classes: 3 }, &logs);
    let at = |text: &str, class: f64| utility(text, &three).evaluate(&predictive, &[class]);
    assert_relative(at("accuracy", 0.0), 1.0, 1e-15);
    assert_relative(at("error-rate", 2.0), 1.0, 1e-15);
    assert!(at("accuracy", 1.0).abs() < 1e-15 && at("error-rate", 0.0).abs() < 1e-15);
    assert_relative(at("brier", 1.0), 0.25 + 0.49 + 0.04, 1e-12);
    assert_relative(at("likelihood", 2.0), 0.2, 1e-12);
    assert_relative(at("expr:if(most_probable == y, 0, 2 * prob(c))", 1.0), 0.4, 1e-12);
    // Two classes: p of the second ½ (logistic(0) + logistic(ln 3)) = 0.625.
    let two = classes(&["no", "yes"]);
    let log_odds = [0.0, 3f64.ln()];
    let predictive = Predictive::new(Family::Bernoulli, &log_odds);
    let at = |text: &str, class: f64| utility(text, &two).evaluate(&predictive, &[class]);
    assert_relative(at("brier", 1.0), 0.375 * 0.375, 1e-12);
    assert_relative(at("brier", 0.0), 0.625 * 0.625, 1e-12);
    assert_relative(at("elpd", 0.0), 0.375f64.ln(), 1e-12);
}

/// σ [z (2Φ(z) - 1) + 2φ(z) - 1/√π].
fn normal_crps(location: f64, scale: f64, y: f64) -> f64 {
    let z = (y - location) / scale;
    scale * (z * (2.0 * normal_cdf(z) - 1.0) + 2.0 * normal_density(z) - 1.0 / PI.sqrt())
}

#[test]
fn crps_meets_its_closed_forms() {
    let crps = utility("crps", &real(1));
    for (location, scale, y) in
        [(0.0, 1.0, 0.0), (3.0, 0.5, 2.0), (-1e6, 1e-3, -1e6), (0.0, 1.0, 40.0), (0.0, 1.0, -7.0)]
    {
        let parameters = [location, scale];
        let found = crps.evaluate(&Predictive::new(ONE, &parameters), &[y]);
        assert_relative(found, normal_crps(location, scale, y), 1e-6);
    }
    // Mixtures: E|X - y| - ½ E|X - X'| with A(m, s) = E|N(m, s²)|.
    let a = |m: f64, s: f64| m * (2.0 * normal_cdf(m / s) - 1.0) + 2.0 * s * normal_density(m / s);
    let draws = [(0.0, 1.0, 1.0), (50.0, 0.01, 2.0), (51.0, 3.0, 0.5), (-4.0, 0.2, 1.0)];
    let parameters: Vec<f64> = draws.iter().flat_map(|(m, s, _)| [*m, *s]).collect();
    let logs: Vec<f64> = draws.iter().map(|(_, _, w): &(f64, f64, f64)| w.ln()).collect();
    let total: f64 = draws.iter().map(|(_, _, w)| w).sum();
    for y in [-10.0, 0.3, 25.0, 50.0, 50.5, 1000.0] {
        let mut expected = 0.0;
        for (m, s, w) in draws {
            expected += w / total * a(y - m, s);
            for (n, t, v) in draws {
                expected -= 0.5 * w * v / (total * total) * a(m - n, s.hypot(t));
            }
        }
        let found = crps.evaluate(&Predictive::weighted(ONE, &parameters, &logs), &[y]);
        assert_relative(found, expected, 1e-6);
    }
    // Heavy tails, against the double exponential rule.
    for dof in [1.0, 2.0, 5.0] {
        let parameters = [1.0, 2.0, dof];
        let t = Predictive::new(Family::StudentT { outputs: 1 }, &parameters);
        let below = integral_above_zero(2.0, |x| t.cdf(0, 0.5 - x).powi(2));
        let above = integral_above_zero(2.0, |x| t.probability_above(0, 0.5 + x).powi(2));
        assert_relative(crps.evaluate(&t, &[0.5]), below + above, 1e-6);
    }
    let undefined = Predictive::new(ONE, &[f64::NAN, 1.0]);
    assert!(crps.evaluate(&undefined, &[0.5]).is_nan());
}

#[test]
fn what_does_not_fit_is_refused_with_what_does() {
    let refused =
        |text: &str, targets: &TargetFacts| match parse_utility(text, targets, Better::Higher) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => error.to_string(),
        };
    let said = refused("accuracy", &real(1));
    assert!(said.contains("accuracy is not for numbers") && said.contains("nrmse"), "{said}");
    let said = refused("rmse", &classes(&["a", "b"]));
    assert!(said.contains("classes; use one of elpd") && said.contains("brier"), "{said}");
    let said = refused("mae", &TargetFacts::Absent);
    assert!(said.contains("elpd, likelihood, expr:FORMULA"), "{said}");
    assert!(refused("rsme", &real(1)).contains("did you mean rmse?"));
    assert!(refused("rmse:2", &real(1)).contains("no utility"));
    for text in ["abs-quantile", "abs-quantile:", "abs-quantile:90", "abs-quantile:nan"] {
        assert!(refused(text, &real(1)).contains("abs-quantile:0.9"), "{text}");
    }
    assert!(refused("expr:maen", &real(1)).contains("did you mean `mean`?"));
    let constant = TargetFacts::Real { names: vec!["z".into()], deviations: vec![0.0] };
    assert!(refused("nrmse", &constant).contains("z, which does not vary"));
    let own = parse_utility(" expr: abs(y - mean) ", &real(1), Better::Higher).unwrap();
    assert_eq!((own.better(), own.name()), (Better::Higher, "expr:abs(y - mean)"));
}

#[test]
fn averages_over_draws_give_the_same_value_where_they_are_enough() {
    let logs = [1f64.ln(), 3f64.ln(), 0.5f64.ln()];
    let check =
        |predictive: &Predictive<'_>, targets: &TargetFacts, observed: &[f64], names: &[&str]| {
            let classes = predictive.family().classes();
            let mut probabilities = vec![0.0; classes];
            if classes > 0 {
                predictive.probabilities(&mut probabilities);
            }
            let outputs = if classes > 0 { 0 } else { observed.len() };
            let means: Vec<f64> =
                (0..outputs).map(|k| predictive.mean(k).expect("a mean")).collect();
            let averages = Averages {
                log_density: predictive.log_density(observed),
                means: &means,
                probabilities: &probabilities,
            };
            for name in names {
                let utility = utility(name, targets);
                let found = utility.of_averages(&averages, observed).expect("enough");
                assert_relative(found, utility.evaluate(predictive, observed), 1e-12);
            }
        };
    let parameters = [0.0, 1.0, 3.0, 2.0, -1.0, 0.5];
    let one = Predictive::weighted(ONE, &parameters, &logs);
    check(&one, &real(1), &[0.7], &["elpd", "likelihood", "rmse", "nrmse"]);
    let parameters = [0.3, -1.0, 0.2, 2.0, 0.1, 0.4, -0.5, 0.0, 1.5];
    let three = Predictive::weighted(Family::Categorical { classes: 3 }, &parameters, &logs);
    let labels = classes(&["a", "b", "c"]);
    for class in [0.0, 1.0, 2.0] {
        check(&three, &labels, &[class], &["elpd", "accuracy", "error-rate", "brier"]);
    }
    let averages = Averages { log_density: 0.0, means: &[0.0], probabilities: &[] };
    assert!(utility("mae", &real(1)).of_averages(&averages, &[0.0]).is_none());
}

/// Σ_k (F(k) - 1[k ≥ y])² by its terms; of a heavy tail beyond 12 deviations nothing is missed that
/// shows.
#[test]
fn the_score_of_a_count_is_a_sum() {
    for parameters in [[1.1, 0.0, f64::INFINITY], [2.0, 0.4, 3.0]] {
        let count = Predictive::new(Family::Count, &parameters);
        for y in [0.0, 3.0, 40.0] {
            let terms = (0..600).map(f64::from).map(|k| {
                let wrong = if k < y { count.cdf(0, k) } else { count.probability_above(0, k) };
                wrong * wrong
            });
            let expected: f64 = terms.sum();
            let found = Crps.evaluate(&count, &[y]);
            assert!((found - expected).abs() < 1e-6 * expected, "{y}: {found} {expected}");
        }
    }
}
