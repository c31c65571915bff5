//! Test which set is chosen.

use super::*;
use crate::assess::Terms;
use crate::assess::utility::Elpd;
use crate::random::Seed;

fn set(inputs: &[&str], mean: f64, as_good: bool) -> SetUtility {
    SetUtility {
        k: inputs.len(),
        inputs: inputs.iter().map(ToString::to_string).collect(),
        most_probable_inputs: true,
        utility: UtilitySummary { mean, sd: 0.1, q05: mean, q95: mean },
        p_full_better: 0.5,
        p_full_better_by_tolerance: None,
        as_good,
        index: 0,
    }
}

#[test]
fn the_smallest_good_set_is_chosen_and_of_equals_the_best() {
    let full = set(&["a", "b", "c"], -1.0, true);
    let sets =
        [set(&["a"], -3.0, false), set(&["a", "b"], -1.2, true), set(&["b", "c"], -1.1, true)];
    assert_eq!(smallest(&sets, &full, Better::Higher).inputs, ["b", "c"]);
    assert_eq!(smallest(&sets, &full, Better::Lower).inputs, ["a", "b"]);
    assert_eq!(smallest(&sets[..1], &full, Better::Higher).inputs, ["a", "b", "c"]);
}

#[test]
fn a_tolerance_forgives_differences_that_are_sure_but_small() {
    let of = |values: Vec<f64>| PointwiseUtilities::new(&Elpd, Terms::from(values));
    let wave = |row: i32| 0.02 * (f64::from(row) * 0.7).sin();
    let full = of((0..200).map(|_| -1.0).collect());
    let worse = of((0..200).map(|row| -1.03 + wave(row)).collect());
    let sure = difference(&full, &worse, &Bootstrap::new(Seed(1))).expect("comparable");
    let met = |tolerance| ChoiceRule { tolerance, level: LEVEL }.is_met(&sure);
    assert!(!met(None), "worse beyond doubt");
    assert!(!met(Some(0.0)) && !met(Some(0.02)) && met(Some(0.04)));
    let equal = difference(&full, &full, &Bootstrap::new(Seed(1))).expect("comparable");
    assert!(ChoiceRule { tolerance: None, level: LEVEL }.is_met(&equal));
    assert!(ChoiceRule { tolerance: Some(0.0), level: LEVEL }.is_met(&equal));
    // Better with probability 0.8 or so: not beyond doubt, but no proof of equality either.
    let perhaps = of((0..200).map(|row| -1.001 + 0.8 * wave(row * row)).collect());
    let perhaps = difference(&full, &perhaps, &Bootstrap::new(Seed(1))).expect("comparable");
    assert!((0.6..0.95).contains(&perhaps.probability_better()));
    assert!(ChoiceRule { tolerance: None, level: LEVEL }.is_met(&perhaps));
    assert!(!ChoiceRule { tolerance: Some(0.0), level: LEVEL }.is_met(&perhaps));
}
