//! Compare what different divergences take for the best normal approximation.

use posteria::approximate::{FactorisedNormal, NormalGamma};
use posteria::random::Purpose;

use super::gaussian::{Density, Normal};
use super::{Demonstration, Quantity, Settings, conclude, figure};
use crate::Result;

/// Correlation of the two variables that are taken for independent.
const CORRELATION: f64 = 0.9;
/// Where the two modes are, and their standard deviation.
const MODE: f64 = 2.0;
const MODE_SD: f64 = 0.6;
/// Values of the normal distribution whose mean and precision are found.
const VALUES: usize = 10;

const WORDS: &str = "\
1. p(z) ∝ exp(-z²/2) σ(20z + 4): Laplace's approximation sits at the mode, next to the steep side, and puts
   half its mass where there is none; the one that minimises KL(q‖p) keeps to where the mass is, and is
   too narrow [Bishop 2006, fig. 10.1].
2. Two correlated normal variables taken for independent: minimising KL(q‖p) gives the conditional
   variances 1 - ρ², too small, minimising KL(p‖q) the marginal ones [fig. 10.2].
3. Two modes: KL(q‖p) takes one of them, KL(p‖q) spreads over both [fig. 10.3].
4. Mean μ and precision τ of a normal distribution, q(μ) q(τ) by turns [fig. 10.4]: the exact posterior has
   them dependent, and what the bound of the log evidence lacks is the price.
The published figures are drawn, not printed; exact values stand beside ours where there are any.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut results = skewed();
    results.extend(correlated());
    results.extend(two_modes());
    results.extend(mean_and_precision(settings));
    Ok(conclude("divergences", results, WORDS.into()))
}

fn skewed() -> Vec<Quantity> {
    let log = |z: f64| {
        let activation = 20.0 * z + 4.0;
        // log σ without overflow on either side.
        -0.5 * z * z + activation.min(0.0) - (-activation.abs()).exp().ln_1p()
    };
    let density = Density::new(log, -10.0, 10.0);
    let exact = density.moments();
    let (laplace, best) = (density.laplace(0.0), density.variational(exact));
    let mut results = Vec::new();
    for (name, found) in [("Laplace", laplace), ("KL(q‖p)", best)] {
        results.push(beside(format!("1. {name}: mean"), exact.mean, found.mean));
        results.push(beside(format!("1. {name}: standard deviation"), exact.sd, found.sd));
        let divergence = density.divergence(found);
        results.push(figure(format!("1. {name}: KL(q‖p)"), None, divergence));
    }
    results
}

/// Coordinate ascent of q(z1) q(z2): each factor is normal with the precision Λ_ii, and its mean
/// follows that of the other.
fn correlated() -> Vec<Quantity> {
    let precision = 1.0 / (1.0 - CORRELATION * CORRELATION);
    let across = -CORRELATION * precision;
    let mut means = [1.0_f64, -1.0];
    let mut rounds = 0;
    while means.iter().any(|mean| mean.abs() > 1e-9) {
        means[0] = -across / precision * means[1];
        means[1] = -across / precision * means[0];
        rounds += 1;
    }
    let exact = 1.0 - CORRELATION * CORRELATION;
    vec![
        beside("2. KL(q‖p): variance of either factor", exact, 1.0 / precision),
        beside("2. KL(p‖q): variance of either factor", 1.0, 1.0),
        figure("2. KL(q‖p): rounds until the means are right to 1e-9", None, f64::from(rounds)),
    ]
}

fn two_modes() -> Vec<Quantity> {
    let log = |z: f64| {
        let of = |centre: f64| -0.5 * ((z - centre) / MODE_SD).powi(2);
        let (left, right) = (of(-MODE), of(MODE));
        left.max(right) + (-(left - right).abs()).exp().ln_1p()
    };
    let density = Density::new(log, -12.0, 12.0);
    let one = density.variational(Normal { mean: 0.5 * MODE, sd: 1.0 });
    let both = density.moments();
    let marginal = MODE.hypot(MODE_SD);
    vec![
        beside("3. KL(q‖p): mean", MODE, one.mean),
        beside("3. KL(q‖p): standard deviation", MODE_SD, one.sd),
        beside("3. KL(q‖p): divergence", 2f64.ln(), density.divergence(one)),
        beside("3. KL(p‖q): mean", 0.0, both.mean),
        beside("3. KL(p‖q): standard deviation", marginal, both.sd),
    ]
}

fn mean_and_precision(settings: &Settings) -> Vec<Quantity> {
    let mut stream = settings.seed.stream(Purpose::Data, [29, 0]);
    let values: Vec<f64> = (0..VALUES).map(|_| stream.normal()).collect();
    let prior = NormalGamma { mean: 0.0, rows: 0.1, shape: 1.0, rate: 1.0 };
    let exact = prior.given(&values);
    let found = FactorisedNormal::new(prior, &values, 1.0).climb();
    // The exact μ is Student's t with 2a degrees of freedom and scale² b/(aλ).
    let variance = exact.rate / (exact.rows * (exact.shape - 1.0));
    vec![
        beside("4. E μ", exact.mean, found.mean()),
        beside("4. standard deviation of μ", variance.sqrt(), found.mean_sd()),
        beside("4. E τ", exact.shape / exact.rate, found.precision()),
        beside("4. standard deviation of τ", exact.shape.sqrt() / exact.rate, found.precision_sd()),
        beside("4. bound of the log evidence", prior.log_evidence(&values), found.bound()),
    ]
}

/// A figure whose name tells the exact value.
fn beside(name: impl std::fmt::Display, exact: f64, here: f64) -> Quantity {
    // What is zero but for rounding is shown as zero.
    let here = if here.abs() < 1e-12 { 0.0 } else { here };
    figure(format!("{name} (exact {exact:.3})"), None, here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_divergence_does_what_it_is_known_for() {
        let skewed = skewed();
        let of = |part: &str| {
            skewed.iter().find(|q| q.quantity.contains(part)).expect("a quantity").here
        };
        // The mode is left of the mean; who minimises KL(q‖p) avoids where p vanishes.
        assert!(of("Laplace: mean") < of("KL(q‖p): mean"));
        assert!(of("Laplace: standard") > of("KL(q‖p): standard"));
        assert!(of("KL(q‖p): KL") < of("Laplace: KL") && of("KL(q‖p): KL") > 0.0);
        // The exact values are in the names, to three digits.
        for quantity in correlated().iter().chain(&two_modes()) {
            if let Some((_, exact)) = quantity.quantity.split_once("(exact ") {
                let exact: f64 = exact.trim_end_matches(')').parse().expect("a number");
                assert!((quantity.here - exact).abs() < 0.01, "{quantity:?}");
            }
        }
    }
}
