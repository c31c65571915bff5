//! How long rows with durations were watched.

use crate::random::Stream;

/// For how long the rows of a table were watched: known where they were censored, and where they ended known
/// to be longer. Of those it follows the Kaplan-Meier estimate of the times of censoring, of rows for which
/// it is the end that hides the censoring [Kaplan & Meier 1958], given that it is not before what was seen.
pub(super) struct Watched<'a> {
    /// Durations; below 0 where they are censored.
    observed: &'a [f64],
    /// Times of censoring, increasing, and the part of rows that is watched for longer.
    longer: Vec<(f64, f64)>,
}

impl<'a> Watched<'a> {
    /// Of these rows; durations that are censored are below 0.
    pub(super) fn new(observed: &'a [f64]) -> Self {
        let mut times = observed.to_vec();
        // What ends at a time is no longer there for what is censored at that time.
        times.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(b.total_cmp(a)));
        let mut longer: Vec<(f64, f64)> = Vec::new();
        let mut part = 1.0;
        for (place, time) in times.iter().enumerate() {
            if *time >= 0.0 {
                continue;
            }
            let there = (times.len() - place) as f64;
            part *= 1.0 - 1.0 / there;
            match longer.last_mut() {
                Some((last, left)) if (*last + time).abs() <= 0.0 => *left = part,
                _ => longer.push((-time, part)),
            }
        }
        Watched { observed, longer }
    }

    /// Until when a row is watched, with the part `u` of those that are watched for longer; infinite where
    /// none was censored so late.
    fn until(&self, row: usize, u: f64) -> f64 {
        let seen = self.observed[row];
        if seen < 0.0 {
            return -seen;
        }
        let later = self.longer.partition_point(|(time, _)| *time < seen);
        let left = if later > 0 { self.longer[later - 1].1 } else { 1.0 };
        let beyond = self.longer[later..].iter().find(|(_, part)| *part <= u * left);
        beyond.map_or(f64::INFINITY, |(time, _)| *time)
    }

    /// Censors durations of a row, each with an end of its own.
    pub(super) fn censor<'v>(
        &self,
        row: usize,
        durations: impl Iterator<Item = &'v mut f64>,
        mut stream: Stream,
    ) {
        for duration in durations {
            let until = self.until(row, stream.uniform());
            if *duration > until {
                *duration = -until;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn rows_are_watched_for_as_long_as_others_were() {
        // Censored at 2 (twice) and at 5; ended at 1, 3, 5 and 9.
        let observed = [1.0, -2.0, -2.0, 3.0, 5.0, -5.0, 9.0];
        let found = Watched::new(&observed);
        // At 2 there are six rows: 4/6 are watched for longer. At 5, where another ends, two: half of that.
        let expected = [(2.0, 4.0 / 6.0), (5.0, 2.0 / 6.0)];
        assert_eq!(found.longer.len(), 2);
        for ((time, part), expected) in found.longer.iter().zip(expected) {
            assert!((time - expected.0).abs() < 1e-12 && (part - expected.1).abs() < 1e-12);
        }
        // Of the row that ended at 1: until 2 with probability 1/3, until 5 with 1/3, else for ever.
        assert!([0.99, 0.7].iter().all(|u| (found.until(0, *u) - 2.0).abs() < 1e-12));
        assert!([0.6, 0.35].iter().all(|u| (found.until(0, *u) - 5.0).abs() < 1e-12));
        assert!(found.until(0, 0.3).is_infinite());
        // Of the one that ended at 3 until 5 with probability 1/2; of the last nothing is known.
        assert!((found.until(3, 0.51) - 5.0).abs() < 1e-12 && found.until(3, 0.49).is_infinite());
        // Who ends at a time is watched until then at least, as is who is censored there.
        assert!((found.until(4, 0.51) - 5.0).abs() < 1e-12 && found.until(4, 0.49).is_infinite());
        assert!(found.until(6, 0.9).is_infinite());
        assert!((found.until(1, 0.2) - 2.0).abs() < 1e-12);
        let mut values = [1.5, 2.5];
        found.censor(1, values.iter_mut(), Seed(1).stream(Purpose::Data, [0, 0]));
        assert!((values[0] - 1.5).abs() < 1e-12 && (values[1] + 2.0).abs() < 1e-12);
    }

    /// Where all rows are watched until the same time, so are those that ended.
    #[test]
    fn a_common_end_is_found() {
        let observed = [0.3, -1.0, 0.9, -1.0, 0.1];
        let found = Watched::new(&observed);
        for row in 0..5 {
            assert!((found.until(row, 0.5) - 1.0).abs() < 1e-12);
        }
    }
}
