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

    /// Σ w_i w_j [in order] / Σ w_i w_j over pairs whose order is known; NaN if there is none.
    pub(super) fn concordance(&self, weights: &[f64]) -> f64 {
        let [concordant, pairs] = self.sums(weights, |_, _| ());
        concordant / pairs
    }

    /// Numerator and denominator of the concordance, in n log n steps: from the largest target on, all
    /// larger ones are among the sums. `each` gets a row and, of the pairs where it is the shorter one,
    /// the weights of those in order and of all.
    fn sums(&self, weights: &[f64], mut each: impl FnMut(usize, [f64; 2])) -> [f64; 2] {
        let mut longer = Sums::new(self.ranks);
        let (mut concordant, mut pairs) = (0.0, 0.0);
        for fold in self.folds() {
            longer.clear();
            for members in fold.chunk_by(Member::is_with) {
                for member in members.iter().filter(|it| it.ended) {
                    let (order, known) = (longer.above(member.rank), longer.all);
                    each(member.row, [order, known]);
                    concordant += weights[member.row] * order;
                    pairs += weights[member.row] * known;
                }
                members.iter().for_each(|it| longer.add(it.rank, weights[it.row]));
            }
        }
        [concordant, pairs]
    }

    fn folds(&self) -> impl Iterator<Item = &[Member]> {
        self.members.chunk_by(|a, b| a.fold == b.fold)
    }

    /// What a little more weight of each row adds to the concordance, per weight: its influence, whose
    /// weighted sum is 0. The pairs where a row is the longer one are summed from the smallest target on.
    pub(super) fn influences(&self, weights: &[f64]) -> Vec<f64> {
        let mut of_row = vec![[0.0; 2]; self.members.len()];
        let [concordant, pairs] = self.sums(weights, |row, sums| of_row[row] = sums);
        let mut shorter = Sums::new(self.ranks);
        for fold in self.folds() {
            shorter.clear();
            for members in fold.chunk_by(Member::is_with).rev() {
                for member in members {
                    of_row[member.row][0] += shorter.below(member.rank);
                    of_row[member.row][1] += shorter.all;
                }
                let ended = members.iter().filter(|it| it.ended);
                ended.for_each(|it| shorter.add(it.rank, weights[it.row]));
            }
        }
        let index = concordant / pairs;
        of_row.iter().map(|[order, known]| (order - index * known) / pairs).collect()
    }
}

impl Member {
    /// Whether nothing is known about which is longer, as both ended, or were censored, together.
    fn is_with(&self, other: &Member) -> bool {
        self.at.total_cmp(&other.at).is_eq() && self.ended == other.ended
    }
}

/// Sums of weights by rank, in a tree in which adding to one and summing the first ones take log n
/// steps [Fenwick 1994].
struct Sums {
    tree: Vec<f64>,
    all: f64,
}

impl Sums {
    fn new(ranks: usize) -> Self {
        Sums { tree: vec![0.0; ranks + 1], all: 0.0 }
    }

    fn clear(&mut self) {
        self.tree.fill(0.0);
        self.all = 0.0;
    }

    fn add(&mut self, rank: usize, weight: f64) {
        self.all += weight;
        let mut place = rank;
        while place < self.tree.len() {
            self.tree[place] += weight;
            place += place & place.wrapping_neg();
        }
    }

    /// The weight of smaller ranks, and half of that of the same one.
    fn below(&self, rank: usize) -> f64 {
        0.5 * (self.up_to(rank - 1) + self.up_to(rank))
    }

    /// The weight of larger ranks, and half of that of the same one.
    fn above(&self, rank: usize) -> f64 {
        self.all - self.below(rank)
    }

    fn up_to(&self, rank: usize) -> f64 {
        let (mut sum, mut place) = (0.0, rank);
        while place > 0 {
            sum += self.tree[place];
            place &= place - 1;
        }
        sum
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
        for row in 0..rows {
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
