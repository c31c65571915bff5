//! How well do probabilities tell rows with a class from rows without it?

/// How well predicted probabilities tell rows of a class from all others, at every threshold: the
/// receiver operating characteristic, and precision against recall. Neither looks at whether the
/// probabilities themselves hold, which [`Reliability`](super::calibration::Reliability) does.
///
/// Predictions must be of rows that were left out: those of training rows look too good.
///
/// ```
/// use posteria::assess::Discrimination;
///
/// let found = Discrimination::new(&[0.9, 0.6, 0.4, 0.1], &[true, false, true, false]);
/// // Of the four pairs of a row with and a row without the class, three are in order.
/// assert!((found.expect("both kinds of rows").area - 0.75).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Discrimination {
    /// Rates from the highest threshold, where no row is called positive, to the lowest, where all
    /// are. Rows of the same probability are called together.
    pub thresholds: Vec<Threshold>,
    /// Area under the receiver operating characteristic: the probability that a row with the class
    /// has a higher probability than one without, ties counted half [Hanley & McNeil 1982].
    pub area: f64,
    /// Standard error of `area` over rows [DeLong et al. 1988]; NaN for one row of a kind.
    pub area_se: f64,
    /// Σ (recall_k - recall_{k-1}) precision_k over thresholds; `prevalence` for guesses at random.
    pub average_precision: f64,
    /// Part of the rows that have the class.
    pub prevalence: f64,
}

/// What happens where rows of at least this probability are called positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The probability; +∞ where no row is called positive.
    pub at: f64,
    /// Part of the rows with the class that are called positive: sensitivity, recall.
    pub true_positive_rate: f64,
    /// Part of the rows without the class that are called positive: 1 - specificity.
    pub false_positive_rate: f64,
    /// Part of the rows called positive that have the class; NaN where none is.
    pub precision: f64,
}

impl Discrimination {
    /// Of probabilities of a class beside whether each row has it. `None` where there are no rows
    /// with it or none without, or a probability is no number.
    pub fn new(probabilities: &[f64], happened: &[bool]) -> Option<Self> {
        let mut rows: Vec<(f64, bool)> =
            probabilities.iter().copied().zip(happened.iter().copied()).collect();
        let positives = rows.iter().filter(|(_, is)| *is).count();
        let negatives = rows.len() - positives;
        if positives == 0 || negatives == 0 || rows.iter().any(|(p, _)| p.is_nan()) {
            return None;
        }
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [with, without] = [positives, negatives].map(|count| count as f64);
        let start = Threshold {
            at: f64::INFINITY,
            true_positive_rate: 0.0,
            false_positive_rate: 0.0,
            precision: f64::NAN,
        };
        let mut thresholds = vec![start];
        let (mut hits, mut alarms, mut average_precision) = (0, 0, 0.0);
        for tied in rows.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let new = tied.iter().filter(|(_, is)| *is).count();
            hits += new;
            alarms += tied.len() - new;
            let precision = hits as f64 / (hits + alarms) as f64;
            average_precision += new as f64 / with * precision;
            thresholds.push(Threshold {
                at: tied[0].0,
                true_positive_rate: hits as f64 / with,
                false_positive_rate: alarms as f64 / without,
                precision,
            });
        }
        let (area, area_se) = area(&rows);
        let prevalence = with / rows.len() as f64;
        Some(Discrimination { thresholds, area, area_se, average_precision, prevalence })
    }
}

/// The area and its standard error, of rows with the highest probability first.
fn area(rows: &[(f64, bool)]) -> (f64, f64) {
    // Lowest first, so that places can be searched for.
    let of = |kind: bool| -> Vec<f64> {
        rows.iter().rev().filter(|(_, is)| *is == kind).map(|(p, _)| *p).collect()
    };
    let (with, without) = (of(true), of(false));
    // Part of `others` below a value, ties counted half.
    let placement = |value: f64, others: &[f64]| {
        let below = others.partition_point(|other| other.total_cmp(&value).is_lt());
        let up_to = others.partition_point(|other| other.total_cmp(&value).is_le());
        (below + up_to) as f64 / (2 * others.len()) as f64
    };
    let of_with: Vec<f64> = with.iter().map(|value| placement(*value, &without)).collect();
    let of_without: Vec<f64> = without.iter().map(|value| 1.0 - placement(*value, &with)).collect();
    let mean = of_with.iter().sum::<f64>() / of_with.len() as f64;
    let variance = |values: &[f64]| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        squares / (values.len() as f64 - 1.0) / values.len() as f64
    };
    (mean, (variance(&of_with) + variance(&of_without)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn a_small_case_is_counted_by_hand() {
        // From the top: +, -, (+ and - tied), -.
        let p = [0.9, 0.8, 0.5, 0.5, 0.2];
        let found = Discrimination::new(&p, &[true, false, true, false, false]);
        let found = found.expect("both kinds");
        let rates: Vec<[f64; 2]> = found
            .thresholds
            .iter()
            .map(|it| [it.true_positive_rate, it.false_positive_rate])
            .collect();
        let third = 1.0 / 3.0;
        let expected = [[0.0, 0.0], [0.5, 0.0], [0.5, third], [1.0, 2.0 * third], [1.0, 1.0]];
        for (found, expected) in rates.iter().zip(expected) {
            assert!((found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-12);
        }
        assert_eq!(rates.len(), 5);
        // Pairs: 0.9 beats three; 0.5 beats one and ties with one: (3 + 1.5) / 6.
        assert!((found.area - 0.75).abs() < 1e-12);
        // Placements of + are 1 and 1/2, of - are 1/2, 3/4, 1: variances 1/8 / 2 and 1/16 / 3.
        assert!((found.area_se - (1.0_f64 / 16.0 + 1.0 / 48.0).sqrt()).abs() < 1e-12);
        // Precision 1 at the first half of recall, 2/4 at the second.
        assert!((found.average_precision - 0.75).abs() < 1e-12);
        assert!((found.prevalence - 0.4).abs() < 1e-12);
        assert!(found.thresholds[0].precision.is_nan());
    }

    #[test]
    fn extremes_and_what_cannot_be_judged() {
        let perfect = Discrimination::new(&[0.1, 0.9], &[false, true]).expect("both kinds");
        assert!((perfect.area - 1.0).abs() < 1e-12 && perfect.area_se.is_nan());
        let blind = Discrimination::new(&[0.3; 4], &[false, true, true, true]).expect("both kinds");
        assert!((blind.area - 0.5).abs() < 1e-12 && blind.thresholds.len() == 2);
        assert!((blind.average_precision - 0.75).abs() < 1e-12);
        assert!(Discrimination::new(&[0.3, 0.4], &[true, true]).is_none());
        assert!(Discrimination::new(&[f64::NAN, 0.4], &[true, false]).is_none());
        assert!(Discrimination::new(&[], &[]).is_none());
    }

    #[test]
    fn the_standard_error_is_that_of_repetitions() {
        // Scores N(1, 1) with the class and N(0, 1) without: the area is Φ(1/√2) = 0.7602. Over 400
        // tables the deviation of areas is known to 3.5 %: 4 of them make 14 %, false alarm 1e-4.
        let mut stream = Seed(8).stream(Purpose::Data, [0, 0]);
        let (mut areas, mut errors) = (Vec::new(), 0.0);
        for _ in 0..400 {
            let is: Vec<bool> = (0..80).map(|row| row % 2 == 0).collect();
            let scores: Vec<f64> =
                is.iter().map(|is| f64::from(u8::from(*is)) + stream.normal()).collect();
            let found = Discrimination::new(&scores, &is).expect("both kinds");
            areas.push(found.area);
            errors += found.area_se / 400.0;
        }
        let mean = areas.iter().sum::<f64>() / 400.0;
        let sd = (areas.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        assert!((mean - 0.760_25).abs() < 4.0 * sd / 20.0, "{mean}");
        assert!((errors / sd - 1.0).abs() < 0.15, "{errors} {sd}");
    }
}
