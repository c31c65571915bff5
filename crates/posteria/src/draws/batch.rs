//! Replace runs of draws by one number: their mean, their median, any function of them.

use super::{Draws, Statistics, SubsetError};

/// What stands for the draws of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchCentre {
    /// Their mean, component by component.
    Mean,
    /// Their median, component by component.
    Median,
}

impl Draws {
    /// Replaces every `size` draws of each chain, from number `burn + 1` to number `last`, by one:
    /// what `function` makes of them, component by component, such as [`BatchCentre::of`]. Draws that do
    /// not fill a last batch are left out.
    /// [MCMCstuff manual §3.2.2; Neal 1993, p. 104]
    ///
    /// Statistics become their means, except that a batch diverges if any of its draws does, counts
    /// (`n_steps`, `infeasible`) are added, and `tree_depth` is the greatest. Pointwise log
    /// likelihoods are dropped: their mean belongs to no parameter value.
    ///
    /// # Errors
    /// [`SubsetError::Zero`], [`SubsetError::PastTheEnd`], [`SubsetError::NothingLeft`].
    pub fn batch(
        &self,
        burn: usize,
        size: usize,
        last: Option<usize>,
        function: impl Fn(&mut [f64]) -> f64,
    ) -> Result<Draws, SubsetError> {
        let last = self.range(burn, size, last)?;
        let batches = last.saturating_sub(burn) / size;
        if batches == 0 {
            return Err(SubsetError::NothingLeft { burn, last, size });
        }
        let mut out = Draws::empty(self.layout.clone(), self.chains, 0);
        out.draws = batches;
        let mut column = Vec::with_capacity(size);
        for chain in 0..self.chains {
            for batch in 0..batches {
                let start = burn + batch * size;
                for component in 0..self.layout.len() {
                    column.clear();
                    column.extend((start..start + size).map(|i| self.draw(chain, i)[component]));
                    out.values.push(function(&mut column));
                }
                if !self.statistics.is_empty() {
                    let first = chain * self.draws + start;
                    out.statistics.push(batched(&self.statistics[first..first + size]));
                }
            }
        }
        Ok(out)
    }
}

impl BatchCentre {
    /// The centre of these values, which may be put in another order.
    pub fn of(self, values: &mut [f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        match self {
            BatchCentre::Mean => mean(values),
            BatchCentre::Median => {
                values.sort_unstable_by(f64::total_cmp);
                let middle = values.len() / 2;
                mean(&values[(values.len() - 1) / 2..=middle])
            }
        }
    }
}

fn batched(statistics: &[Statistics]) -> Statistics {
    let sum = |of: fn(&Statistics) -> f64| statistics.iter().map(of).sum::<f64>();
    let greatest = |of: fn(&Statistics) -> f64| statistics.iter().map(of).fold(f64::NAN, f64::max);
    let mean = |of| sum(of) / statistics.len() as f64;
    Statistics {
        log_density: mean(|s| s.log_density),
        log_prior: mean(|s| s.log_prior),
        log_likelihood: mean(|s| s.log_likelihood),
        energy: mean(|s| s.energy),
        step_size: mean(|s| s.step_size),
        acceptance_rate: mean(|s| s.acceptance_rate),
        n_steps: sum(|s| s.n_steps),
        tree_depth: greatest(|s| s.tree_depth),
        diverging: greatest(|s| s.diverging),
        infeasible: sum(|s| s.infeasible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::subset::tests::{counting, first_components};

    #[test]
    fn batches_average_and_count() {
        let means = counting(10).batch(1, 4, None, |batch| BatchCentre::Mean.of(batch)).unwrap();
        assert_eq!(means.draws, 2);
        assert!((means.draw(0, 0)[0] - 3.5).abs() < 1e-12, "mean of 2, 3, 4, 5");
        assert!((means.draw(1, 1)[1] - 100_750.0).abs() < 1e-9);
        assert_eq!((means.rows, means.log_likelihood.len()), (0, 0));
        let statistics = means.statistics[0];
        assert!((statistics.log_density - 3.5).abs() < 1e-12);
        assert!((statistics.n_steps - 14.0).abs() < 1e-12);
        assert!((statistics.diverging - 1.0).abs() < 1e-12, "draw 3 diverged");
        assert!(means.statistics[1].diverging.abs() < 1e-12);
        let medians =
            counting(10).batch(0, 3, Some(4), |batch| BatchCentre::Median.of(batch)).unwrap();
        assert_eq!((medians.draws, first_components(&medians, 0)), (1, vec![2]));
        let none = counting(4).batch(2, 3, None, |batch| BatchCentre::Mean.of(batch));
        assert_eq!(none, Err(SubsetError::NothingLeft { burn: 2, last: 4, size: 3 }));
    }
}
