//! Let the work on large matrices use several threads, without changing a bit of its results.
//!
//! Work is cut into blocks by its size alone, each computed by one thread from start to end; the
//! budget only decides how many blocks are computed at a time.

use std::cell::Cell;
use std::num::NonZero;

use faer::MatMut;

thread_local! {
    static BUDGET: Cell<usize> = const { Cell::new(1) };
}

/// Matrices from this dimension on are worked on in blocks of columns.
pub(crate) const LARGE: usize = 512;

/// Restores a budget, also when the work panics.
struct Restore(usize);

impl Drop for Restore {
    fn drop(&mut self) {
        BUDGET.set(self.0);
    }
}

/// Runs `work`; factorisations, inverses and products of large matrices in it may use `budget`
/// threads. Without it they use one. No result depends on the budget.
pub fn with_threads<R>(budget: NonZero<usize>, work: impl FnOnce() -> R) -> R {
    let _restore = Restore(BUDGET.replace(budget.get()));
    work()
}

/// Threads that work started now may use.
pub fn threads() -> NonZero<usize> {
    NonZero::new(BUDGET.get()).unwrap_or(NonZero::<usize>::MIN)
}

/// Columns of a piece.
pub(crate) const BLOCK: usize = 128;

/// Calls `work` with every block of [`BLOCK`] columns of a matrix and its first column, several
/// at a time where the budget allows; `cost` of a first column weighs blocks against each other.
pub(crate) fn for_each_block(
    matrix: MatMut<'_, f64>,
    cost: impl Fn(usize) -> f64 + Sync,
    work: impl Fn(MatMut<'_, f64>, usize) + Sync,
) {
    share((matrix, 0), threads().get(), &cost, &work);
}

fn share(
    (mut matrix, first): (MatMut<'_, f64>, usize),
    threads: usize,
    cost: &(impl Fn(usize) -> f64 + Sync),
    work: &(impl Fn(MatMut<'_, f64>, usize) + Sync),
) {
    let columns = matrix.ncols();
    if threads <= 1 || columns <= BLOCK {
        for start in (0..columns).step_by(BLOCK) {
            let width = BLOCK.min(columns - start);
            work(matrix.as_mut().subcols_mut(start, width), first + start);
        }
        return;
    }
    // The first half of the threads gets its share of the cost, in whole blocks.
    let half = threads / 2;
    let starts = (0..columns).step_by(BLOCK);
    let total: f64 = starts.clone().map(|start| cost(first + start)).sum();
    let wanted = total * half as f64 / threads as f64;
    let mut sum = 0.0;
    let enough = starts.take_while(|start| {
        let next = cost(first + start);
        sum += next;
        sum - 0.5 * next < wanted
    });
    let blocks = enough.count().clamp(1, columns.div_ceil(BLOCK) - 1);
    let (left, right) = matrix.split_at_col_mut(blocks * BLOCK);
    rayon::join(
        || share((left, first), half, cost, work),
        || share((right, first + blocks * BLOCK), threads - half, cost, work),
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Matrix;

    /// Results of `work` with budgets of 1, 2, 3 and 7 threads.
    pub(crate) fn with_budgets<R>(work: impl Fn() -> R) -> [R; 4] {
        [1, 2, 3, 7].map(|budget| with_threads(NonZero::new(budget).unwrap(), &work))
    }

    #[test]
    fn every_block_is_worked_on_once_whatever_the_budget() {
        for columns in [0, 1, BLOCK, BLOCK + 1, 10 * BLOCK - 1] {
            for result in with_budgets(|| {
                let mut matrix = Matrix::zeros(2, columns);
                let cost = |start: usize| start as f64;
                for_each_block(matrix.view_mut(), cost, |mut block, start| {
                    assert!(block.ncols() <= BLOCK && start.is_multiple_of(BLOCK));
                    for column in 0..block.ncols() {
                        block[(1, column)] += (start + column) as f64 + 1.0;
                    }
                });
                matrix
            }) {
                let expected = Matrix::from_fn(2, columns, |r, c| (r * (c + 1)) as f64);
                assert_eq!(result, expected);
            }
        }
    }

    #[test]
    fn a_budget_ends_with_its_work() {
        let two = NonZero::new(2).unwrap();
        assert_eq!(threads(), NonZero::<usize>::MIN);
        with_threads(two, || {
            assert_eq!(threads(), two);
            with_threads(NonZero::new(5).unwrap(), || assert_eq!(threads().get(), 5));
            assert_eq!(threads(), two);
        });
        let panicked = std::panic::catch_unwind(|| with_threads(two, || panic!("on purpose")));
        assert!(panicked.is_err());
        assert_eq!(threads(), NonZero::<usize>::MIN);
    }
}
