//! Judge whether an estimate from a ladder can be relied on.

use super::directions::Directions;
use super::energies::Energies;
use super::estimate::LogEvidence;
use crate::caution::{Caution, EvidenceDoubt};
use crate::diagnose::r_hat;

/// Least acceptance of exchanges.
const ACCEPTANCE: f64 = 0.05;
/// Largest R-hat of the log likelihoods at a rung.
const R_HAT: f64 = 1.1;
/// Round trips of every ladder that show that it goes to and fro.
const ROUND_TRIPS: u64 = 2;
/// Largest standard error, in nats, of a value that can be used.
const ERROR: f64 = 2.0;
/// Standard errors between two values that differ.
const DISAGREEMENT: f64 = 4.0;
/// A valley this deep against the lower of the peaks beside it divides two phases.
const VALLEY: f64 = 0.5;
/// Fewest draws in a window that a peak is told by.
const PEAK: f64 = 20.0;

/// The estimate with whatever the ladder and single chains in both directions say against it.
///
/// Not usable where neighbours exchange less than 5 %, where ladders disagree, where there is
/// hysteresis, where a direction by itself gives another value, or where a rung has two phases and
/// the ladders have not been seen to go to and fro. If they have, phases are told, but it is the
/// very purpose of exchanges to pass them.
#[must_use]
pub fn judge(
    mut found: LogEvidence,
    energies: &Energies,
    directions: Option<&Directions>,
) -> LogEvidence {
    let betas = &energies.inverse_temperatures;
    let crossed = energies.round_trips.iter().all(|trips| *trips >= ROUND_TRIPS);
    let mut doubts = Vec::new();
    let worst = energies.acceptance.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
    if let Some((pair, &acceptance)) = worst
        && acceptance < ACCEPTANCE
    {
        let between = [betas[pair], betas[pair + 1]];
        doubts.push((EvidenceDoubt::Gap { between, acceptance }, true));
    }
    let hats = energies.values.iter().zip(betas).map(|(rung, beta)| (r_hat(rung), *beta));
    let worst = hats.filter(|(hat, _)| !hat.is_nan()).max_by(|a, b| a.0.total_cmp(&b.0));
    let mut agree = true;
    if let Some((r_hat, inverse_temperature)) = worst
        && r_hat > R_HAT
    {
        agree = false;
        doubts.push((EvidenceDoubt::LaddersDisagree { inverse_temperature, r_hat }, true));
    }
    let bridged = crossed && agree;
    let phases = energies.values.iter().zip(betas).find_map(|(rung, beta)| {
        let mut values: Vec<f64> = rung.iter().flatten().copied().collect();
        two_phases(&mut values).map(|levels| (*beta, levels))
    });
    if let Some((inverse_temperature, levels)) = phases {
        doubts.push((EvidenceDoubt::TwoPhases { inverse_temperature, levels }, !bridged));
    }
    if let Some(directions) = directions {
        doubts.extend(doubt_of_directions(&found, directions, bridged).map(|doubt| (doubt, true)));
    }
    if found.standard_error > ERROR || found.standard_error.is_nan() {
        doubts.push((EvidenceDoubt::Imprecise { error: found.standard_error }, true));
    }
    for (doubt, fatal) in doubts {
        found.usable &= !fatal;
        found.cautions.push(Caution::Evidence(doubt));
    }
    found
}

/// What single chains in both directions say against an estimate: that they differ from each
/// other, or else which of them differs most from the estimate. Directions that agree may do so
/// because one of them is known badly.
fn doubt_of_directions(
    found: &LogEvidence,
    directions: &Directions,
    bridged: bool,
) -> Option<EvidenceDoubt> {
    let Directions { forward, backward, .. } = directions;
    if directions.is_hysteresis() {
        let (forward, backward) = (forward.value, backward.value);
        let error = directions.error();
        return Some(EvidenceDoubt::Hysteresis { forward, backward, error, bridged });
    }
    let apart = |way: &LogEvidence| {
        (way.value - found.value).abs() / way.standard_error.hypot(found.standard_error)
    };
    let from_prior = apart(forward) > apart(backward);
    let way = if from_prior { forward } else { backward };
    (apart(way) > DISAGREEMENT).then(|| EvidenceDoubt::OneDirection {
        from_prior,
        direction: way.value,
        value: found.value,
        error: way.standard_error.hypot(found.standard_error),
    })
}

/// Pairs of estimates that differ by more than four standard errors of their difference.
pub fn disagreement(found: &[LogEvidence]) -> Vec<Caution> {
    let mut cautions = Vec::new();
    for (index, one) in found.iter().enumerate() {
        for other in &found[index + 1..] {
            let difference = one.value - other.value;
            let error = one.standard_error.hypot(other.standard_error);
            // An exact value is exact to rounding and quadrature only.
            if one.usable && other.usable && difference.abs() > DISAGREEMENT * error + 1e-6 {
                let methods = [one.method.name().into(), other.method.name().into()];
                let doubt = EvidenceDoubt::MethodsDisagree { methods, difference, error };
                cautions.push(Caution::Evidence(doubt));
            }
        }
    }
    cautions
}

/// The levels of two groups of values with a valley between them. Groups are those with the
/// largest variance between them; densities are counted in windows about the median of each and
/// about the middle between the medians.
fn two_phases(values: &mut [f64]) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    // Heavy tails of the prior are no phase.
    let values = &values[count / 50..count - count / 50];
    let count = values.len();
    if count < 4 || !values[0].is_finite() {
        return None;
    }
    let total: f64 = values.iter().sum();
    let (mut below, mut best) = (0.0, (0.0, 0));
    for split in 1..count {
        below += values[split - 1];
        let (low, high) = (split as f64, (count - split) as f64);
        let between = low * high * (below / low - (total - below) / high).powi(2);
        if between > best.0 {
            best = (between, split);
        }
    }
    let split = best.1;
    let (low, high) = (values[split / 2], values[(split + count) / 2]);
    let (middle, half) = (0.5 * (low + high), (high - low) / 8.0);
    let within = |centre: f64| {
        let from = values.partition_point(|value| *value < centre - half);
        let to = values.partition_point(|value| *value <= centre + half);
        (to - from) as f64
    };
    let peak = within(low).min(within(high));
    (peak >= PEAK && within(middle) < VALLEY * peak).then_some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::estimate::Method;
    use crate::random::{Purpose, Seed};

    fn phases(mut value: impl FnMut(usize, f64) -> f64) -> bool {
        let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
        let mut values: Vec<f64> = (0..4000).map(|i| value(i, stream.normal())).collect();
        two_phases(&mut values).is_some()
    }

    /// The doubt about a value of 476.7 ± 0.4 beside directions with their errors.
    fn doubt(forward: (f64, f64), backward: (f64, f64)) -> Option<EvidenceDoubt> {
        let energies = Energies {
            inverse_temperatures: vec![0.0, 1.0],
            values: Vec::new(),
            acceptance: vec![f64::NAN],
            round_trips: vec![0],
        };
        let path = |(value, error)| LogEvidence::new(Method::Path, value, error);
        let directions = Directions {
            forward: path(forward),
            backward: path(backward),
            forward_energies: energies.clone(),
            backward_energies: energies,
        };
        doubt_of_directions(&path((476.7, 0.4)), &directions, true)
    }

    #[test]
    fn each_direction_is_held_against_the_value() {
        assert_eq!(doubt((475.9, 0.5), (477.1, 0.5)), None);
        assert!(matches!(
            doubt((471.2, 0.5), (476.8, 0.5)),
            Some(EvidenceDoubt::Hysteresis { .. })
        ));
        // The directions agree within their errors, which are those of the backward one.
        let from_prior = |doubt: Option<EvidenceDoubt>| match doubt {
            Some(EvidenceDoubt::OneDirection { from_prior, .. }) => from_prior,
            other => panic!("{other:?}"),
        };
        assert!(from_prior(doubt((471.2, 0.5), (476.4, 2.2))));
        assert!(!from_prior(doubt((477.1, 2.2), (482.2, 0.5))));
    }

    #[test]
    fn only_two_groups_are_two_phases() {
        assert!(!phases(|_, z| z));
        assert!(!phases(|_, z| -z.exp()));
        assert!(!phases(|_, z| -z * z));
        assert!(!phases(|_, z| -(3.0 * z).exp()));
        assert!(phases(|i, z| z + if i % 2 == 0 { 5.0 } else { 0.0 }));
        assert!(phases(|i, z| z + if i % 8 == 0 { 9.0 } else { 0.0 }));
    }
}
