//! The likelihood of ordered classes: a cumulative logit about one f.

use std::ops::Range;

use crate::density::LocationTerms;
use crate::density::special::{ln_gamma, log1m_exp, log1p_exp, logistic};
use crate::draws::{Dimension, Layout};
use crate::random::Stream;

/// What is added to the rows of every class, so that one without rows has a place.
const HALF_A_ROW: f64 = 0.5;

/// Ordered classes 0, …, K - 1 with P(y ≤ k) = σ(c_k - f), σ the logistic and c_0 < … < c_{K-2} the cut
/// points [McCullagh 1980].
///
/// The prior of the cut points is such that where f = 0 the probabilities of the classes are uniform over
/// all that sum to 1, a Dirichlet(1, …, 1) [Betancourt 2019]: of densities this is
/// (K - 1)! Π_k σ(c_k) σ(-c_k) over ordered cut points, the order statistics of independent logistic
/// variables.
///
/// A state holds c_0 and the logarithms of the gaps, so that any state is one.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    codes: Vec<usize>,
    labels: Vec<String>,
    pub(super) slots: Range<usize>,
}

impl Ordered {
    /// Classes of rows, whose cut points are in the state from entry `first` on.
    pub(super) fn new(codes: &[usize], labels: &[String], first: usize) -> Self {
        let slots = first..first + labels.len() - 1;
        Ordered { codes: codes.to_vec(), labels: labels.to_vec(), slots }
    }

    /// Those of these rows.
    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let codes = rows.iter().map(|row| self.codes[*row]).collect();
        Ordered { codes, labels: self.labels.clone(), slots: self.slots.clone() }
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.labels.len()
    }

    /// The classes, as a draw has numbers of each.
    pub(super) fn dimension(&self) -> Dimension {
        Dimension { name: "class".into(), labels: self.labels.clone() }
    }

    /// Names the cut points by the classes on both sides.
    pub(super) fn push_layout(&self, layout: &mut Layout) {
        let between = self.labels.windows(2).map(|pair| format!("{}|{}", pair[0], pair[1]));
        let dimension = Dimension { name: "cut".into(), labels: between.collect() };
        layout.push(CUT_POINTS, vec![dimension]);
    }

    /// The cut points of a state.
    pub(super) fn cuts(&self, state: &[f64]) -> Vec<f64> {
        let mut cuts = Vec::with_capacity(self.slots.len());
        self.write_cuts(state, &mut cuts);
        cuts
    }

    /// Appends the cut points of a state.
    pub(super) fn write_cuts(&self, state: &[f64], cuts: &mut Vec<f64>) {
        let mut cut = 0.0;
        for (k, value) in state[self.slots.clone()].iter().enumerate() {
            cut += if k == 0 { *value } else { value.exp() };
            cuts.push(cut);
        }
    }

    /// Puts cut points into a state.
    pub(super) fn set(&self, cuts: impl IntoIterator<Item = f64>, state: &mut [f64]) {
        let mut last = f64::NAN;
        for (k, (slot, cut)) in state[self.slots.clone()].iter_mut().zip(cuts).enumerate() {
            *slot = if k == 0 { cut } else { (cut - last).ln() };
            last = cut;
        }
    }

    /// The log prior density of what a state holds.
    pub(super) fn log_prior(&self, state: &[f64]) -> f64 {
        let log_gaps: f64 = state[self.slots.clone()].iter().skip(1).sum();
        log_density(&self.cuts(state)) + log_gaps
    }

    /// Draws cut points from their prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        let mut cuts: Vec<f64> = self
            .slots
            .clone()
            .map(|_| {
                let u = stream.uniform().max(f64::MIN_POSITIVE);
                u.ln() - (-u).ln_1p()
            })
            .collect();
        cuts.sort_unstable_by(f64::total_cmp);
        self.set(cuts, state);
    }

    /// Puts cut points where they give the shares of the classes, or somewhat off.
    pub(super) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        let shift = 0.3 * stream.normal();
        self.set(self.usual_cuts().into_iter().map(|cut| cut + shift), state);
    }

    /// Cut points that give the shares of the classes where f = 0.
    pub(super) fn usual_cuts(&self) -> Vec<f64> {
        let total = self.codes.len() as f64 + HALF_A_ROW * self.classes() as f64;
        let mut below = 0.0;
        let cuts = (0..self.slots.len()).map(|class| {
            let rows = self.codes.iter().filter(|code| **code == class).count() as f64;
            below += rows + HALF_A_ROW;
            (below / (total - below)).ln()
        });
        cuts.collect()
    }

    /// The log probability of the class of a row at f, with its derivatives by f.
    pub(super) fn terms(&self, row: usize, f: f64, cuts: &[f64]) -> LocationTerms {
        terms(self.codes[row], f, cuts)
    }
}

/// What cut points are called in a draw.
pub(super) const CUT_POINTS: &str = "cut_points";

/// log ((K - 1)! Π_k σ(c_k) σ(-c_k)); -∞ unless they are ordered.
pub(super) fn log_density(cuts: &[f64]) -> f64 {
    if !cuts.windows(2).all(|pair| pair[0] < pair[1]) {
        return f64::NEG_INFINITY;
    }
    let each: f64 = cuts.iter().map(|cut| -log1p_exp(*cut) - log1p_exp(-cut)).sum();
    ln_gamma(cuts.len() as f64 + 1.0) + each
}

/// log (σ(b) - σ(a)) with a and b the cut points below and above the class, less f: as
/// log σ(b) + log σ(-a) + log(1 - exp(a - b)), which keeps its digits in both tails.
pub(super) fn terms(class: usize, f: f64, cuts: &[f64]) -> LocationTerms {
    let above = cuts.get(class).map_or(f64::INFINITY, |cut| cut - f);
    let below = if class > 0 { cuts[class - 1] - f } else { f64::NEG_INFINITY };
    let gap = log1m_exp(below - above);
    let [under, over] = [logistic(below), logistic(-above)];
    LocationTerms {
        value: -log1p_exp(-above) - log1p_exp(below) + gap,
        slope: under - over,
        curvature: under * logistic(-below) + over * logistic(above),
    }
}

/// The log probability of every class at f.
pub(super) fn write_log_probabilities(f: f64, cuts: &[f64], classes: &mut [f64]) {
    for (class, slot) in classes.iter_mut().enumerate() {
        *slot = terms(class, f, cuts).value;
    }
}

/// Minus the second derivative by f of the log probability of a class where f is 0, on average over the
/// classes.
pub(super) fn expected_curvature(cuts: &[f64]) -> f64 {
    let of = |class| {
        let terms = terms(class, 0.0, cuts);
        terms.value.exp() * terms.curvature
    };
    (0..=cuts.len()).map(of).sum()
}

/// The class that is most probable at f.
pub(super) fn most_probable(f: f64, cuts: &[f64]) -> usize {
    let of = |class: &usize| terms(*class, f, cuts).value;
    let best = (0..=cuts.len()).max_by(|a, b| of(a).total_cmp(&of(b)));
    best.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_derivative, assert_relative, integral};

    #[test]
    fn probabilities_sum_to_one_and_derivatives_are_theirs() {
        let cuts = [-2.0, -0.3, 0.1, 4.0];
        for f in [-30.0, -1.0, 0.0, 0.7, 2.5, 40.0] {
            let each = |of: fn(LocationTerms) -> f64| (0..5).map(move |k| of(terms(k, f, &cuts)));
            let total: f64 = each(|it| it.value.exp()).sum();
            assert!((total - 1.0).abs() < 1e-14, "{f}: {total}");
            for class in 0..5 {
                let at = |f: f64| terms(class, f, &cuts);
                assert_derivative(at(f).slope, f, |f| at(f).value);
                assert_derivative(at(f).curvature, f, |f| -at(f).slope);
            }
        }
    }

    /// Over two ordered cut points: inner integral from the first on.
    #[test]
    fn the_prior_of_cut_points_is_normalised() {
        let density = |a: f64, gap: f64| log_density(&[a, a + gap]).exp();
        let inner =
            |a: f64| integral(0.0, 1.0, |log_gap: f64| density(a, log_gap.exp()) * log_gap.exp());
        assert_relative(integral(0.0, 1.0, inner), 1.0, 1e-6);
        assert!(log_density(&[1.0, 1.0]) == f64::NEG_INFINITY);
        assert_relative(integral(0.0, 1.0, |cut| log_density(&[cut]).exp()), 1.0, 1e-9);
    }
}
