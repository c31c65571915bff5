//! Compare averages over a chain with exact values, by their Monte Carlo error.

/// Batches of a chain; each must be much longer than its autocorrelation.
const BATCHES: usize = 50;

/// |t| of 49 degrees of freedom exceeds this with probability 4e-5: the false-alarm rate of one
/// comparison, had the seed not been fixed after it passed. All comparisons of these tests
/// together (some 400) stay below 2 %.
const LARGEST_Z: f64 = 4.5;

/// Checks that the mean of `value` over `draws` is `truth`, by batch means.
#[track_caller]
pub fn assert_mean(what: &str, draws: &[Vec<f64>], truth: f64, value: impl Fn(&[f64]) -> f64) {
    let length = draws.len() / BATCHES;
    let means: Vec<f64> = draws
        .chunks_exact(length)
        .take(BATCHES)
        .map(|batch| batch.iter().map(|draw| value(draw)).sum::<f64>() / length as f64)
        .collect();
    let count = BATCHES as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let error = (variance / count).sqrt();
    let z = (mean - truth) / error;
    assert!(error > 0.0, "{what}: the batches do not differ");
    assert!(z.abs() < LARGEST_Z, "{what}: {mean} ± {error} is not {truth} (z = {z:.1})");
}

/// Checks mean, variance and the outer deciles of a normal variable.
#[track_caller]
pub fn assert_normal(
    what: &str,
    draws: &[Vec<f64>],
    (mean, sd): (f64, f64),
    value: impl Fn(&[f64]) -> f64,
) {
    let standard = |draw: &[f64]| (value(draw) - mean) / sd;
    assert_mean(&format!("{what}: mean"), draws, 0.0, standard);
    assert_mean(&format!("{what}: variance"), draws, 1.0, |draw| standard(draw).powi(2));
    for (name, quantile, share) in
        [("lower decile", -1.281_551_565_544_6, 0.1), ("upper decile", 1.281_551_565_544_6, 0.9)]
    {
        let below = |draw: &[f64]| f64::from(u8::from(standard(draw) < quantile));
        assert_mean(&format!("{what}: {name}"), draws, share, below);
    }
}

/// Checks by the Kolmogorov–Smirnov statistic that independent `draws` have this distribution
/// function; √n D > 2.23 has probability 1e-4.
#[track_caller]
pub fn assert_distribution(what: &str, mut draws: Vec<f64>, distribution: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let distance = draws
        .iter()
        .enumerate()
        .map(|(i, draw)| {
            let p = distribution(*draw);
            (p - i as f64 / count).abs().max(((i + 1) as f64 / count - p).abs())
        })
        .fold(0.0, f64::max);
    let statistic = count.sqrt() * distance;
    assert!(statistic < 2.23, "{what}: √n D = {statistic}");
}
