//! Read the log likelihoods of some rows, without those of all others in memory.

use crate::codec::float;
use crate::error::StoreError;
use crate::run::Run;
use crate::schema::Origin;

impl Run {
    /// The log likelihoods of `rows` under every draw: those of a row lie together, chain after
    /// chain. Chains that are ahead are cut to the shortest, as in [`Run::draws`]. Every chunk is
    /// read, but only these rows stay in memory.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if a chunk is not what was written.
    ///
    /// # Panics
    /// If a row is not among those that were kept.
    pub fn log_likelihoods_of(&self, rows: &[usize]) -> Result<Vec<f64>, StoreError> {
        let all = self.rows();
        assert!(rows.iter().all(|row| *row < all), "rows that were kept");
        let columns = &self.loaded.columns;
        let pointwise = |index: &usize| columns[*index].array.origin == Origin::LogLikelihood;
        let draws = self.loaded.draws();
        let total = draws * self.extent().chains;
        let mut values = vec![0.0; total * rows.len()];
        let mut keep = |first: usize, chain: usize, bytes: &[u8]| {
            let each = bytes.chunks_exact((all * 8).max(8));
            for (draw, bytes) in (first..draws).zip(each) {
                for (position, row) in rows.iter().enumerate() {
                    values[position * total + chain * draws + draw] =
                        float(&bytes[row * 8..row * 8 + 8]);
                }
            }
        };
        self.each_chunk(draws, |name, length, [chain, column, chunk]| {
            if pointwise(&column) {
                let checksum = self.loaded.checkpoint.chains[chain].checksums[column][chunk];
                let bytes = self.read_chunk(name, length, checksum)?;
                keep(chunk * columns[column].array.chunks[1], chain, &bytes);
            }
            Ok(())
        })?;
        for (chain, record) in self.loaded.checkpoint.chains.iter().enumerate() {
            let tails = record.tails(columns);
            for (column, tail) in tails.enumerate() {
                if pointwise(&column) {
                    let full = record.checksums[column].len();
                    keep(full * columns[column].array.chunks[1], chain, tail);
                }
            }
        }
        Ok(values)
    }
}
