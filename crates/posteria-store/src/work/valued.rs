//! Value the predictions of all rows where a fold is fitted, so that whoever collects only reads.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use posteria::assess::{FoldModel, RowUtilities, Valuation};
use posteria::fit::{Fit, JobCounter, Watch, Workers};

use crate::Run;
use crate::codec::{Decoder, Encode};
use crate::disk::failure;
use crate::error::StoreError;
use crate::folds::{PartError, PartOptions};

/// Name of the file of a result that has what the predictions of all rows are worth. It is for whoever
/// collects: in the folder of a fold of a run there is none.
pub(super) const VALUED: &str = "utilities";

/// Writes what the predictions of all rows by a fold are worth into its folder; whether all is done then.
pub(super) fn value(
    (fit, fold): (&Fit, &FoldModel),
    valuation: &Valuation,
    folder: &Path,
    options: PartOptions<'_>,
) -> Result<bool, PartError> {
    let draws = Run::open(folder)?.draws_of_variables()?;
    let draws = draws.laid_out_as(fold.prepared.posterior.layout());
    let until = Until(options.write.cancel.clone());
    let workers = Workers { threads: options.threads, watch: Arc::new(until) };
    let found = valuation.of_fold(fit, (fold, &draws), &workers);
    if workers.go_on().is_err() {
        return Ok(false);
    }
    let file = folder.join(VALUED);
    fs::write(&file, encode(&found?)).map_err(failure("write", &file))?;
    Ok(true)
}

/// Stops when chains would stop.
struct Until(Arc<AtomicBool>);

impl Watch for Until {
    fn begin<'w>(&'w self, _: &str, _: usize) -> Box<dyn JobCounter + Send + 'w> {
        Box::new(Uncounted)
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts nothing.
struct Uncounted;

impl JobCounter for Uncounted {
    fn job_done(&self) {}
}

fn encode(rows: &[RowUtilities]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.put_count(rows.len());
    for RowUtilities { values, replicates, pit, probabilities } in rows {
        bytes.put_floats(values);
        bytes.put_count(replicates.len());
        replicates.iter().for_each(|each| bytes.put_floats(each));
        bytes.put_floats(pit);
        bytes.put_floats(probabilities);
    }
    bytes
}

/// What was written.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<RowUtilities>, StoreError> {
    let mut from = Decoder::new("the utilities", bytes);
    let count = from.count(32, "the number of rows")?;
    let mut rows = Vec::with_capacity(count);
    for _ in 0..count {
        let values = from.floats("the values")?;
        let utilities = from.count(8, "the number of utilities")?;
        let replicates = (0..utilities).map(|_| from.floats("the replicates"));
        let replicates = replicates.collect::<Result<_, _>>()?;
        let pit = from.floats("the transforms")?;
        let probabilities = from.floats("the probabilities")?;
        rows.push(RowUtilities { values, replicates, pit, probabilities });
    }
    match from.is_empty() {
        true => Ok(rows),
        false => Err(from.damaged("it goes on after its last row")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utilities_come_back_to_the_last_bit_and_never_panic() {
        let row = |by: f64| RowUtilities {
            values: vec![1.0 / 3.0 * by, -0.0],
            replicates: vec![vec![by; 3], Vec::new()],
            pit: vec![0.1 + by],
            probabilities: Vec::new(),
        };
        let bytes = encode(&[row(1.0), row(-2e-300)]);
        assert_eq!(encode(&decode(&bytes).expect("read")), bytes);
        for cut in 0..bytes.len() {
            assert!(decode(&bytes[..cut]).is_err(), "{cut}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode(&longer).is_err());
    }
}
