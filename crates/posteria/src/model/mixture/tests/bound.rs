//! The bound: it never decreases, it is below the evidence, and it is the sum of its terms.

use posteria_linalg::{Cholesky, Matrix};

use super::super::ascent::{Ascent, Prior, constants};
use super::*;
use crate::data::recipes::old_faithful;
use crate::density::special::{digamma, ln_gamma, log_sum_exp};
use crate::model::usable::usable_rows;

/// Decreases of the bound that rounding can make, in units of the bound.
const ROUNDING: f64 = 1e-12;

#[test]
fn the_bound_never_decreases() {
    for (index, rest) in [
        "components = 1",
        "components = 3",
        "components = 8",
        "components = 8\n[prior.mixing]\nshape = 1.0",
        "components = 5\n[prior.covariance]\nscale = 1.0\ndof = 0.3",
        "components = 5\n[prior.means]\nrho = 3.0",
    ]
    .iter()
    .enumerate()
    {
        for (rows, dim) in [(3, 2), (40, 1), (150, 3), (60, 5)] {
            let mut stream = stream(index as u64);
            let data = dataset(&groups(rows, dim, 3, &mut stream));
            let (rows, model) = (usable_rows(&data).unwrap(), model(rest));
            let prior = Prior::new(&model, dim).unwrap();
            // A random division is far from any optimum, so the climb is long.
            let random: Vec<usize> =
                (0..data.rows()).map(|_| stream.index(model.components)).collect();
            let climb = Ascent::from_assignment(&rows, &prior, &random).unwrap().climb().unwrap();
            assert!(climb.bounds.len() >= 2 && climb.bound().is_finite());
            for pair in climb.bounds.windows(2) {
                let lost = pair[0] - pair[1];
                assert!(lost <= ROUNDING * (1.0 + pair[0].abs()), "{rest}, {dim}: lost {lost}");
            }
        }
    }
}

#[test]
fn one_component_has_the_exact_evidence() {
    // The evidence by the chain rule: Student-t densities of every row given those before.
    let columns = groups(25, 3, 2, &mut stream(11));
    let posterior = posterior(&columns, "components = 1");
    let mut known = posterior.prior.component.clone();
    let mut exact = 0.0;
    let mut workspace = vec![0.0; 3];
    for x in posterior.rows.chunks(3) {
        exact += known.predictive_log_density(x, &mut workspace);
        known = known.given(1.0, x, &Matrix::zeros(3, 3)).unwrap();
    }
    let found = *posterior.approximation().bounds().last().unwrap();
    assert!((found - exact).abs() < 1e-9 * exact.abs(), "{found} for {exact}");
    // In the user's units: one factor 1/scale per row and column.
    let unit: f64 = posterior.scaling.iter().map(|scaling| scaling.scale.ln()).sum();
    assert!((posterior.findings().bound - (exact - 25.0 * unit)).abs() < 1e-8);
}

#[test]
fn the_bound_is_below_the_evidence_of_two_components() {
    // Few rows: the evidence is a sum over all 2^n divisions, each with exact evidence.
    let columns = groups(8, 1, 2, &mut stream(12));
    let posterior = posterior(&columns, "components = 2\n[prior.mixing]\nshape = 0.7");
    let (rows, prior) = (&posterior.rows, &posterior.prior);
    let mut terms = Vec::new();
    for division in 0..1usize << rows.len() {
        let assignment: Vec<usize> = (0..rows.len()).map(|row| division >> row & 1).collect();
        // A division that is certain has no entropy: its bound is its exact log density.
        terms.push(Ascent::from_assignment(rows, prior, &assignment).unwrap().bound());
    }
    let evidence = log_sum_exp(&terms);
    let bound = *posterior.approximation().bounds().last().unwrap();
    assert!(bound < evidence, "{bound} is no bound of {evidence}");
    // It misses the exchange of the components, log 2, and little more.
    assert!(bound > evidence - 3.0, "{bound} is far below {evidence}");
}

#[test]
fn the_bound_is_the_sum_of_its_terms() {
    // All of [Bishop 2006, eq. 10.71-10.77], from expectations.
    let columns = groups(50, 2, 3, &mut stream(13));
    let data = dataset(&columns);
    let (rows, model) = (usable_rows(&data).unwrap(), model("components = 4"));
    let prior = Prior::new(&model, 2).unwrap();
    let random: Vec<usize> = (0..50).map(|row| row % 4).collect();
    let mut climb = Ascent::from_assignment(&rows, &prior, &random).unwrap();
    for _ in 0..7 {
        climb.find_responsibilities();
        climb.find_parameters().unwrap();
        let constants = constants(&climb.concentrations, &climb.components);
        let total: f64 = climb.concentrations.iter().sum();
        let mut sum = 0.0;
        for (x, own) in rows.chunks(2).zip(climb.responsibilities().chunks(4)) {
            for k in 0..4 {
                let distance = climb.components[k].expected_distance(x, &mut [0.0; 2]);
                // E log p(x, z) - E log q(z).
                let entropy = if own[k] > 0.0 { own[k] * own[k].ln() } else { 0.0 };
                sum += own[k] * (constants[k] - 0.5 * distance) - entropy;
            }
        }
        // E log p(π) - E log q(π).
        let log_pi: Vec<f64> =
            climb.concentrations.iter().map(|a| digamma(*a) - digamma(total)).collect();
        sum += ln_gamma(4.0 * prior.concentration)
            - 4.0 * ln_gamma(prior.concentration)
            - ln_gamma(total);
        for (a, log) in climb.concentrations.iter().zip(&log_pi) {
            sum += ln_gamma(*a) + (prior.concentration - a) * log;
        }
        for q in &climb.components {
            // E log p(μ, Λ) - E log q(μ, Λ), with E Λ = νW and E tr(AΛ) = ν tr(AW).
            let (p, log) = (&prior.component, q.expected_log_determinant());
            let mut scale = Matrix::zeros(2, 2);
            Cholesky::new(q.inverse_scale()).unwrap().inverse(&mut scale);
            let trace: f64 = (0..2)
                .flat_map(|i| (0..2).map(move |j| (i, j)))
                .map(|(i, j)| p.inverse_scale()[(i, j)] * scale[(j, i)])
                .sum();
            let off: f64 = q.expected_distance(p.mean(), &mut [0.0; 2]);
            sum += 0.5 * (p.dof() - 2.0) * log
                - 0.5 * q.dof() * trace
                - 0.5 * p.beta() * off
                - p.log_normalizer();
            sum -=
                0.5 * (q.dof() - 2.0) * log - 0.5 * q.dof() * 2.0 - 0.5 * 2.0 - q.log_normalizer();
        }
        assert!((climb.bound() - sum).abs() < 1e-9 * sum.abs(), "{} for {sum}", climb.bound());
    }
}

#[test]
fn two_components_of_old_faithful_survive() {
    let (data, _) = Dataset::new(&old_faithful::rows(), &Roles::default()).unwrap();
    for seed in 1..=3 {
        let found = model("components = 6").condition(&data, Seed(seed)).unwrap().findings();
        assert_eq!(found.effective_components, 2, "{:?}", found.rows);
        assert!(found.mixing[2] < 1e-4, "{:?}", found.mixing);
        // Long and short eruptions: about 175 and 97 rows.
        assert!((found.rows[0] - 175.0).abs() < 3.0, "{:?}", found.rows);
        assert!(found.climbs == 12 && found.bounds.len() > 2);
    }
}
