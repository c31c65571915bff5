//! Concordance: whether predictions put pairs of rows in the order of their targets.

use super::{Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// The index of concordance [Harrell et al. 1982]: of two rows of which it is known which target is the
/// smaller one, the probability that its predictive median is smaller too; of equal medians half the
/// pairs count. ½ is a guess, 1 an order without mistakes. Which of two durations is shorter is known if
/// the shorter one has ended; one that is censored when another ends is the longer one; of two that end
/// together nothing is known [Harrell et al. 1996].
///
/// Both rows of a pair must have been predicted by the same fit: of two that were left out by turns, each is
/// predicted without its own target and with the other's, which puts them in the wrong order where they have
/// little else to tell them apart [Airola et al. 2011]. So pairs are of the same fold, or of new rows.
///
/// It is about pairs, so that a row has no value of its own: [`UtilityFunction::evaluate`] gives the
/// predictive median, and [`Summary::Concordance`] what medians and targets together are worth.
#[derive(Clone, Copy, Debug)]
pub struct Concordance {
    signed: bool,
}

impl Concordance {
    /// `signed` durations are negative where they are censored.
    pub fn new(signed: bool) -> Self {
        Concordance { signed }
    }
}

impl UtilityFunction for Concordance {
    fn name(&self) -> &str {
        "concordance"
    }
    fn better(&self) -> Better {
        Better::Higher
    }
    fn summary(&self) -> Summary {
        Summary::Concordance { signed: self.signed }
    }
    fn evaluate(&self, predictive: &Predictive<'_>, _: &[f64]) -> f64 {
        predictive.quantile(0, 0.5)
    }
}

/// A row as one of a pair.
#[derive(Clone, Copy, Debug)]
struct Member {
    row: usize,
    at: f64,
    ended: bool,
    fold: usize,
    /// Place of its prediction among the different predictions of all rows, from 1.
    rank: usize,
}

/// Rows whose concordance is wanted under many weightings.
#[derive(Clone, Debug)]
pub(in super::super) struct Pairs {
    /// Fold by fold from the largest target on, and of equal ones those first that are censored there.
    members: Vec<Member>,
    /// Number of different predictions.
    ranks: usize,
}

impl Pairs {
    /// `None` where there is no target for every prediction, or one is no number.
    pub(super) fn new(
        predictions: &[f64],
        (targets, folds): (&[f64], &[usize]),
        signed: bool,
    ) -> Option<Self> {
        let odd = predictions.iter().chain(targets).any(|value| value.is_nan());
        if odd || predictions.len() != targets.len() {
            return None;
        }
        let mut sorted = predictions.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let member = |(row, target): (usize, &f64)| Member {
            row,
            at: if signed { target.abs() } else { *target },
            ended: !(signed && *target < 0.0),
            fold: folds.get(row).copied().unwrap_or(0),
            rank: 1 + sorted.partition_point(|value| *value < predictions[row]),
        };
        let mut members: Vec<Member> = targets.iter().enumerate().map(member).collect();
        members.sort_by(|a, b| {
            let by_target = || b.at.total_cmp(&a.at).then(a.ended.cmp(&b.ended));
            a.fold.cmp(&b.fold).then_with(by_target)
        });
        Some(Pairs { members, ranks: sorted.len() })
    }

    /// Σ w_i w_j [in order] / Σ w_i w_j over pairs whose order is known; NaN if there is none. Takes
    /// n log n steps: from the largest target on, the weights of all larger ones are in a tree of sums by
    /// the rank of their predictions [Fenwick 1994].
    pub(super) fn concordance(&self, weights: &[f64]) -> f64 {
        let mut tree = vec![0.0; self.ranks + 1];
        let (mut concordant, mut pairs) = (0.0, 0.0);
        let together = |a: &Member, b: &Member| a.at.total_cmp(&b.at).is_eq() && a.ended == b.ended;
        for fold in self.folds() {
            let mut all = 0.0;
            tree.fill(0.0);
            for members in fold.chunk_by(together) {
                for member in members.iter().filter(|it| it.ended) {
                    let weight = weights[member.row];
                    let below = sum_up_to(&tree, member.rank - 1);
                    let up_to = sum_up_to(&tree, member.rank);
                    concordant += weight * (all - 0.5 * (below + up_to));
                    pairs += weight * all;
                }
                for member in members {
                    add(&mut tree, member.rank, weights[member.row]);
                    all += weights[member.row];
                }
            }
        }
        concordant / pairs
    }

    fn folds(&self) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|a, b| a.fold == b.fold)
    }

    /// What a little more weight of each row adds to the concordance, per weight: its influence, whose
    /// weighted sum is 0.
    pub(super) fn influences(&self, weights: &[f64]) -> Vec<f64> {
        let mut of_row = vec![[0.0; 2]; self.members.len()];
        let mut pairs = 0.0;
        let pairs_of = |count: usize| {
            (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
        };
        for fold in self.folds() {
            for (longer, shorter) in pairs_of(fold.len()) {
                let (longer, shorter) = (fold[longer], fold[shorter]);
                let known = longer.at > shorter.at || !longer.ended;
                if !(shorter.ended && known) {
                    continue;
                }
                let order = match longer.rank.cmp(&shorter.rank) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
                for (one, other) in [(longer.row, shorter.row), (shorter.row, longer.row)] {
                    of_row[one][0] += weights[other] * order;
                    of_row[one][1] += weights[other];
                }
                pairs += weights[longer.row] * weights[shorter.row];
            }
        }
        let index = self.concordance(weights);
        of_row.iter().map(|[order, known]| (order - index * known) / pairs).collect()
    }
}

fn sum_up_to(tree: &[f64], mut place: usize) -> f64 {
    let mut sum = 0.0;
    while place > 0 {
        sum += tree[place];
        place &= place - 1;
    }
    sum
}

fn add(tree: &mut [f64], mut place: usize, weight: f64) {
    while place < tree.len() {
        tree[place] += weight;
        place += place & place.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;
    use crate::random::{Purpose, Seed};

    fn index(predictions: &[f64], targets: &[f64]) -> f64 {
        let pairs = Pairs::new(predictions, (targets, &[]), true).expect("numbers");
        pairs.concordance(&vec![0.3; targets.len()])
    }

    #[test]
    fn small_tables_are_counted_by_hand() {
        // Ended at 1, 3, 3 and 5, censored at 2 and 3. Known: 1 before all five others; each 3 before the
        // one censored at 3 and before 5: nine pairs. In order are those of 1 with 3.5, 4 and 6, half of
        // that with 2, not that with 1; of the first 3 (4) both; of the second (3.5) both.
        let targets = [1.0, -2.0, 3.0, 3.0, -3.0, 5.0];
        let predictions = [2.0, 1.0, 4.0, 3.5, 6.0, 6.0];
        assert_relative(index(&predictions, &targets), (4.0 + 2.0 + 2.0) / 9.0, 1e-15);
        let tied = [2.0, 1.0, 4.0, 3.5, 2.0, 6.0];
        // The one censored at 3 is tied with the first, and before both others.
        assert_relative(index(&tied, &targets), (3.5 + 1.0 + 1.0) / 9.0, 1e-15);
        assert_relative(index(&[1.0, 2.0], &[1.0, 2.0]), 1.0, 1e-15);
        assert_relative(index(&[1.0, 1.0], &[1.0, 2.0]), 0.5, 1e-15);
        // A weight of 2 is a row twice; pairs of the same row are none, as times are equal.
        let pairs = Pairs::new(&tied, (&targets, &[]), true).expect("numbers");
        let twice = |values: &[f64]| [values, &values[2..3]].concat();
        let doubled = pairs.concordance(&[1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
        assert_relative(doubled, index(&twice(&tied), &twice(&targets)), 1e-14);
        // Only the first of them is known to be first of any.
        assert!(index(&[1.0, 2.0], &[-1.0, 2.0]).is_nan());
        assert!(index(&[1.0, 2.0], &[2.0, 2.0]).is_nan());
        assert!(Pairs::new(&[f64::NAN], (&[1.0], &[]), true).is_none());
        assert!(Pairs::new(&[1.0], (&[], &[]), true).is_none());
        // Numbers are not censored where they are negative.
        let numbers = Pairs::new(&[1.0, 2.0], (&[-1.0, -2.0], &[]), false).expect("numbers");
        assert_relative(numbers.concordance(&[1.0, 1.0]), 0.0, 1e-15);
    }

    /// The sums by ranks against all pairs, and influences against differences; many ties.
    #[test]
    fn it_is_the_share_of_all_pairs() {
        let folds: Vec<usize> = (0..70).map(|row| row * 7 % 3).collect();
        share_of_pairs(&[0; 70]);
        share_of_pairs(&folds);
    }

    fn share_of_pairs(folds: &[usize]) {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let rows = 70;
        let mut number = |count: usize| 1.0 + stream.index(count) as f64;
        let predictions: Vec<f64> = (0..rows).map(|_| number(20)).collect();
        let targets: Vec<f64> =
            (0..rows).map(|_| if number(3) > 2.0 { -number(15) } else { number(15) }).collect();
        let weights: Vec<f64> = (0..rows).map(|_| number(100) / 100.0).collect();
        let (mut concordant, mut all) = (0.0, 0.0);
        for i in 0..rows {
            for j in 0..rows {
                let (shorter, longer) = (targets[i], targets[j]);
                let first = shorter < longer.abs() || (shorter <= -longer && longer < 0.0);
                if shorter > 0.0 && first && folds[i] == folds[j] {
                    let weight = weights[i] * weights[j];
                    let half = f64::from(u8::from(predictions[i] <= predictions[j]))
                        + f64::from(u8::from(predictions[i] < predictions[j]));
                    concordant += 0.5 * half * weight;
                    all += weight;
                }
            }
        }
        let pairs = Pairs::new(&predictions, (&targets, folds), true).expect("numbers");
        let found = pairs.concordance(&weights);
        assert_relative(found, concordant / all, 1e-12);
        let influences = pairs.influences(&weights);
        let total: f64 = influences.iter().zip(&weights).map(|(it, weight)| it * weight).sum();
        assert!(total.abs() < 1e-12, "{total}");
        for row in [0, 13, 44] {
            let at = |by: f64| {
                let mut weights = weights.clone();
                weights[row] += by;
                pairs.concordance(&weights)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - influences[row]).abs() < 1e-8, "{slope} {}", influences[row]);
        }
    }
}
