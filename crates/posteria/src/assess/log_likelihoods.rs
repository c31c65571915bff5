//! See the log likelihood of every row under every draw, checked.

use crate::draws::Draws;

/// The log likelihood of every row under every draw of every chain: log p(y_i given x_i, θ_s), or,
/// where the targets are not independent given a draw, log p(y_i given x_i, the other rows, θ_s).
///
/// All values are finite, or -∞ for a row that is impossible under a draw.
#[derive(Clone, Copy, Debug)]
pub struct LogLikelihoods<'a> {
    values: &'a [f64],
    chains: usize,
    draws: usize,
    rows: usize,
}

/// Log likelihoods that cannot be used. Indices begin at 0; the text counts from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LogLikelihoodError {
    /// No chain, no draw or no row.
    #[error(
        "there is no log likelihood: {chains} chain(s) of {draws} draw(s), {rows} row(s); keep the \
         log likelihood of every row with the draws"
    )]
    Empty {
        /// Number of chains.
        chains: usize,
        /// Draws per chain.
        draws: usize,
        /// Number of rows.
        rows: usize,
    },
    /// The number of values is not chains × draws × rows.
    #[error(
        "{found} log likelihoods cannot be {chains} chain(s) × {draws} draw(s) × {rows} row(s)"
    )]
    Shape {
        /// Number of values.
        found: usize,
        /// Number of chains.
        chains: usize,
        /// Draws per chain.
        draws: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A value is NaN or +∞.
    #[error(
        "the log likelihood of row {} is {value} in draw {} of chain {}; a log density is finite, or \
         -inf where the row is impossible: look for an overflow in what computed it",
        row + 1, draw + 1, chain + 1
    )]
    NotUsable {
        /// Index of the row.
        row: usize,
        /// Index of the chain.
        chain: usize,
        /// Index of the draw in its chain.
        draw: usize,
        /// The value.
        value: f64,
    },
}

impl<'a> LogLikelihoods<'a> {
    /// Checks values that lie as index `(chain * draws + draw) * rows + row`.
    ///
    /// # Errors
    /// [`LogLikelihoodError`].
    pub fn new(
        values: &'a [f64],
        chains: usize,
        draws: usize,
        rows: usize,
    ) -> Result<Self, LogLikelihoodError> {
        if chains == 0 || draws == 0 || rows == 0 {
            return Err(LogLikelihoodError::Empty { chains, draws, rows });
        }
        let expected = chains.checked_mul(draws).and_then(|size| size.checked_mul(rows));
        if expected != Some(values.len()) {
            return Err(LogLikelihoodError::Shape { found: values.len(), chains, draws, rows });
        }
        let unusable = |value: &f64| value.is_nan() || *value == f64::INFINITY;
        if let Some(index) = values.iter().position(unusable) {
            return Err(LogLikelihoodError::NotUsable {
                row: index % rows,
                chain: index / rows / draws,
                draw: index / rows % draws,
                value: values[index],
            });
        }
        Ok(LogLikelihoods { values, chains, draws, rows })
    }

    /// Checks the log likelihoods that were kept with draws.
    ///
    /// # Errors
    /// [`LogLikelihoodError`], [`LogLikelihoodError::Empty`] if they were not kept.
    pub fn of(draws: &'a Draws) -> Result<Self, LogLikelihoodError> {
        Self::new(&draws.log_likelihood, draws.chains, draws.draws, draws.rows)
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Number of draws per chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// S, the number of draws of all chains.
    pub fn size(&self) -> usize {
        self.chains * self.draws
    }

    /// The log likelihoods of one row under every draw, chain after chain.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Vec<f64> {
        assert!(row < self.rows, "no row {row}");
        self.values.iter().skip(row).step_by(self.rows).copied().collect()
    }

    /// The log likelihood of all rows together under every draw, chain after chain.
    pub fn totals(&self) -> Vec<f64> {
        self.values.chunks_exact(self.rows).map(|rows| rows.iter().sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_value_is_named_and_a_good_matrix_is_read_by_rows() {
        let mut values: Vec<f64> = (0..12).map(|i| -f64::from(i)).collect();
        let all = LogLikelihoods::new(&values, 2, 3, 2).expect("usable");
        assert_eq!(all.row(1), [-1.0, -3.0, -5.0, -7.0, -9.0, -11.0]);
        assert_eq!(all.totals(), [-1.0, -5.0, -9.0, -13.0, -17.0, -21.0]);
        values[9] = f64::NEG_INFINITY;
        assert!(LogLikelihoods::new(&values, 2, 3, 2).is_ok());
        for value in [f64::NAN, f64::INFINITY] {
            values[9] = value;
            let error = LogLikelihoods::new(&values, 2, 3, 2).expect_err("refused");
            assert!(error.to_string().contains("row 2 is"), "{error}");
            assert!(error.to_string().contains("draw 2 of chain 2"), "{error}");
        }
        assert!(LogLikelihoods::new(&values, 2, 3, 3).is_err());
        assert!(LogLikelihoods::new(&[], 0, 0, 0).is_err());
    }
}
