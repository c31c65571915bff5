//! Find how many principal components rows have [Bishop 1999].

use posteria::data::recipes::principal::{FOUR, FOUR_ROWS, THREE, THREE_ROWS, draw};
use posteria::data::{Dataset, Roles};
use posteria::model::pca::Pca;
use posteria::model::spec::{ModelKind, Spec};
use posteria::random::Purpose;

use super::{Demonstration, Settings, conclude, figure};
use crate::Result;

const WORDS: &str = "\
Rows of ten columns whose spread is larger in three, or four, directions that are drawn at random. Nine
components are offered, each with a prior precision of its own, and those that are not needed are
switched off. Columns are not standardised: the noise is the same in all of them as they are.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut results = Vec::new();
    for (index, (sds, rows, planted)) in
        [(THREE, THREE_ROWS, 3), (FOUR, FOUR_ROWS, 4)].into_iter().enumerate()
    {
        let stream = &mut settings.seed.stream(Purpose::Data, [28, index as u64]);
        let table = draw(rows, &sds, stream);
        let roles = Roles { standardize: false, ..Roles::default() };
        let (data, _) = Dataset::new(&table, &roles)?;
        let mut spec = Spec::default();
        spec.model.kind = ModelKind::Pca;
        spec.sampling.warmup = 0;
        let posterior = Pca::new(&spec)?.condition(&data)?;
        let found = posterior.findings();
        let label = format!("{rows} rows");
        let kept = found.effective_dimension;
        let name = format!("{label}: components ({planted} planted)");
        results.push(figure(name, None, kept as f64));
        results.push(figure(
            format!("{label}: noise standard deviation (truth {})", sds[9]),
            None,
            posterior.noise_sd(),
        ));
        let share: f64 = found.explained_variance.iter().take(kept).sum();
        results.push(figure(format!("{label}: share of the variance explained"), None, share));
        // Along a component the variance is that of loadings and noise together.
        let truth = (sds[0] * sds[0] - sds[9] * sds[9]).sqrt();
        let longest = posterior.loading_lengths().first().copied().unwrap_or(0.0);
        let name = format!("{label}: length of the largest loadings (truth {truth:.2})");
        results.push(figure(name, None, longest));
        results.push(figure(
            format!("{label}: lower bound of the log evidence"),
            None,
            found.bound,
        ));
    }
    Ok(conclude("pca", results, WORDS.into()))
}
