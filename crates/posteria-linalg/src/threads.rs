//! Let the work on large matrices use several threads, without changing a bit of its results.
//!
//! Work is cut into blocks by its size alone, each computed by one thread from start to end; the
//! budget only decides how many blocks are computed at a time.

use std::cell::Cell;
use std::num::NonZero;

use crate::view::ViewMut;

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
    matrix: ViewMut<'_>,
    cost: impl Fn(usize) -> f64 + Sync,
    work: impl Fn(ViewMut<'_>, usize) + Sync,
) {
    let ViewMut { values, rows, columns, stride } = matrix;
    if rows == 0 || columns == 0 {
        return;
    }
    // Nothing of what comes after the last entry.
    let values = &mut values[..(columns - 1) * stride + rows];
    for_each_chunk(
        (values, BLOCK * stride),
        |chunk| cost(chunk * BLOCK),
        |values, chunk| {
            let first = chunk * BLOCK;
            let columns = BLOCK.min(columns - first);
            work(ViewMut { values, rows, columns, stride }, first);
        },
    );
}

/// Calls `work` with every chunk of `size` values and its number, several at a time where the
/// budget allows; `cost` of a number weighs chunks against each other.
pub(crate) fn for_each_chunk(
    (values, size): (&mut [f64], usize),
    cost: impl Fn(usize) -> f64 + Sync,
    work: impl Fn(&mut [f64], usize) + Sync,
) {
    share((values, size, 0), threads().get(), &cost, &work);
}

fn share(
    (values, size, first): (&mut [f64], usize, usize),
    threads: usize,
    cost: &(impl Fn(usize) -> f64 + Sync),
    work: &(impl Fn(&mut [f64], usize) + Sync),
) {
    let chunks = values.len().div_ceil(size);
    if threads <= 1 || chunks <= 1 {
        for (index, chunk) in values.chunks_mut(size).enumerate() {
            work(chunk, first + index);
        }
        return;
    }
    // The first half of the threads gets its share of the cost, in whole chunks.
    let half = threads / 2;
    let total: f64 = (0..chunks).map(|index| cost(first + index)).sum();
    let wanted = total * half as f64 / threads as f64;
    let mut sum = 0.0;
    let enough = (0..chunks).take_while(|index| {
        let next = cost(first + index);
        sum += next;
        sum - 0.5 * next < wanted
    });
    let count = enough.count().clamp(1, chunks - 1);
    let (left, right) = values.split_at_mut(count * size);
    rayon::join(
        || share((left, size, first), half, cost, work),
        || share((right, size, first + count), threads - half, cost, work),
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
                    assert!(block.columns <= BLOCK && start.is_multiple_of(BLOCK));
                    for column in 0..block.columns {
                        block.column(column)[1] += (start + column) as f64 + 1.0;
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
