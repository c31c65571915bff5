//! What is kept with a draw: prior and likelihood by other means, and units.

use super::super::hierarchy::Scale;
use super::cases::{PRIORS, TARGETS};
use super::gradients::moderate_state;
use super::*;
use crate::model::prior::Above;
use crate::model::residual::ResidualDof;
use crate::target::Terms;
use reference::{log_density, residual_factors, weight_factors};

/// Relative.
const EXACT: f64 = 1e-11;

pub(super) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < EXACT * a.abs().max(b.abs()).max(1.0)
}

pub(super) struct Evaluated {
    pub(super) draw: Vec<f64>,
    pub(super) rows: Vec<f64>,
    pub(super) terms: Terms,
}

pub(super) fn evaluate(posterior: &MlpPosterior, state: &[f64]) -> Evaluated {
    let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; posterior.rows()]);
    let terms = posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
    Evaluated { draw, rows, terms }
}

/// All models, each with a state.
pub(super) fn every_model(mut check: impl FnMut(&World, &MlpPosterior, &[f64], &mut Stream)) {
    let mut stream = stream(20);
    for target in TARGETS {
        for layers in [(0, true), (3, false), (2, true)] {
            for number in 0..PRIORS.len() {
                let priors = cases::priors(&target, number);
                let mut world = World::new(target, layers, &priors, "");
                world.several = 3;
                let empty = world.empty();
                let state = moderate_state(&empty, &mut stream);
                let targets = world.draw_targets(&empty, &state, &mut stream);
                check(&world, &world.posterior(&targets), &state, &mut stream);
            }
        }
    }
}

#[test]
fn terms_are_those_of_the_model_written_out_anew() {
    every_model(|world, posterior, state, _| {
        let found = evaluate(posterior, state);
        let mut prior = log_density(&weight_factors(posterior, state, false));
        prior += log_density(&residual_factors(posterior, state));
        let name = world.target.name;
        assert!(close(found.terms.log_prior, prior), "{name}: {} {prior}", found.terms.log_prior);
        let factors = world.target_factors(posterior, state, false);
        let mut rows = vec![0.0; posterior.rows()];
        let by_row = world.target.residual.contains("covariance");
        let count = rows.len();
        for (index, factor) in factors.iter().enumerate() {
            let row = if by_row { index / world.shape().outputs } else { index % count };
            rows[row] += factor.log_density;
        }
        for (row, (found, expected)) in found.rows.iter().zip(&rows).enumerate() {
            assert!(close(*found, *expected), "{name}, row {row}: {found} {expected}");
        }
        assert!(close(found.terms.log_likelihood, rows.iter().sum()), "{name}");
    });
}

#[test]
fn every_entry_of_the_state_has_one_meaning() {
    every_model(|world, posterior, _, _| {
        let mut uses = vec![0; posterior.state_len];
        let mut used = |slots: std::ops::Range<usize>| slots.for_each(|slot| uses[slot] += 1);
        let shape = world.shape();
        used(0..shape.len());
        for group in &posterior.hierarchy.groups {
            if let Scale::Sampled(levels) = &group.scale {
                used(levels.slots.clone());
                if let Above::Sampled { slot, .. } = levels.above {
                    used(slot..slot + 1);
                }
                if let Some(slot) = levels.spread.sampled_dof() {
                    used(slot..slot + 1);
                }
            }
            group.weight_dof_slot().into_iter().for_each(|slot| used(slot..slot + 1));
            if let Some(multipliers) = &group.multipliers {
                assert_eq!(multipliers.slots.len(), group.members.len());
                used(multipliers.slots.clone());
            }
        }
        if let Observed::Real(residual) = &posterior.observed {
            match &residual.noise {
                Noise::Scales { levels, .. } => {
                    used(levels.slots.clone());
                    if let Above::Sampled { slot, .. } = levels.above {
                        used(slot..slot + 1);
                    }
                }
                Noise::Covariance { slots, .. } => used(slots.clone()),
            }
            match residual.dof {
                ResidualDof::Fixed(_) => {}
                ResidualDof::Grid { slot, .. } | ResidualDof::Continuous { slot, .. } => {
                    used(slot..slot + 1);
                }
            }
            residual.slopes.iter().for_each(|slopes| used(slopes.slots.clone()));
            used(residual.cases.clone().unwrap_or(0..0));
        }
        assert!(uses.iter().all(|count| *count == 1), "{}: {uses:?}", world.target.name);
    });
}

/// The same rows, with targets in other units and another origin.
fn in_units(data: &Dataset, units: &[Standardization]) -> Dataset {
    Dataset { target_scaling: units.to_vec(), ..data.clone() }
}

#[test]
fn a_draw_is_in_the_unit_of_the_targets() {
    let mut stream = stream(21);
    for target in TARGETS.iter().filter(|t| matches!(t.link, Link::Real | Link::Several)) {
        let world = World::new(*target, (2, true), &cases::priors(target, 0), "");
        let empty = world.empty();
        let mut state = moderate_state(&empty, &mut stream);
        let values = world.draw_targets(&empty, &state, &mut stream);
        let data = world.dataset(&values);
        let units: Vec<Standardization> = [(3.0, 20.0), (-1.0, 0.25)][..world.shape().outputs]
            .iter()
            .map(|(centre, scale)| Standardization { centre: *centre, scale: *scale })
            .collect();
        let plain = world.posterior(&values);
        let standardised = world.model.condition(&in_units(&data, &units), None).unwrap();
        let (one, other) = (evaluate(&plain, &state), evaluate(&standardised, &state));
        let jacobian: f64 = units.iter().map(|unit| unit.scale.ln()).sum();
        for (a, b) in one.rows.iter().zip(&other.rows) {
            assert!(close(a - jacobian, *b), "{}: {a} {b}", target.name);
        }
        assert!(close(one.terms.log_prior, other.terms.log_prior), "{}", target.name);
        // The same rows again, with the output layer and the residuals in the user's unit and
        // nothing standardised: the same density of the same targets.
        let outputs = units.len();
        let shape = world.shape();
        let raw: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(index, y)| units[index / world.inputs.rows()].invert(*y))
            .collect();
        for index in shape.tail() {
            state[index] *= units[(index - shape.tail().start) % outputs].scale;
        }
        for (index, unit) in shape.output_bias().zip(&units) {
            state[index] += unit.centre;
        }
        let unstandardised = world.posterior(&raw);
        let Observed::Real(residual) = &unstandardised.observed else { unreachable!("real") };
        match &residual.noise {
            Noise::Scales { levels, .. } => {
                if outputs > 1 && levels.slots.len() < outputs {
                    continue; // One scale for targets in different units.
                }
                let each = levels.slots.len() / outputs;
                for (index, slot) in levels.slots.clone().enumerate() {
                    state[slot] += units[index / each].scale.ln();
                }
            }
            Noise::Covariance { slots, .. } => {
                for (index, slot) in slots.clone().enumerate() {
                    state[slot] *= units[index / outputs].scale * units[index % outputs].scale;
                }
            }
        }
        let third = evaluate(&unstandardised, &state);
        for (a, b) in other.rows.iter().zip(&third.rows) {
            assert!(close(*a, *b), "{}: {a} {b}", target.name);
        }
        assert_same_draw(&standardised, &other.draw, &third.draw, target.name);
    }
}

/// What a draw says about the targets is the same in both ways of writing the model.
fn assert_same_draw(posterior: &MlpPosterior, one: &[f64], other: &[f64], what: &str) {
    let mut compared = 0;
    for variable in posterior.layout().variables() {
        let named = [
            "residual_scale",
            "residual_log_slope",
            "residual_covariance",
            "residual_dof",
            "case_scale",
        ];
        if named.contains(&variable.name.as_str())
            || ["fitted", "training_error"].contains(&variable.name.as_str())
        {
            for index in variable.range() {
                let (a, b) = (one[index], other[index]);
                assert!(close(a, b), "{what}: {} {a} {b}", variable.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 6, "{what}");
}

#[test]
fn scales_are_divided_by_the_published_powers_of_the_fan_in() {
    let divided = |lines: [&'static str; 5], group: &str, hidden: usize| -> f64 {
        let mut world = World::new(cases::NORMAL, (hidden, true), &lines, "");
        world.inputs = inputs(4, 3, &mut stream(22));
        let posterior = world.empty();
        let groups = &posterior.hierarchy.groups;
        let Scale::Sampled(levels) = &groups.iter().find(|g| g.name == group).unwrap().scale else {
            panic!("sampled")
        };
        match &levels.above {
            Above::Fixed(scale) => *scale,
            Above::Sampled { prior, .. } => prior.conjugate().scale(),
        }
    };
    let with = |index: usize, text: &'static str| {
        let mut lines = PRIORS[4];
        lines[index] = text;
        lines
    };
    let common = "scale = 0.05\ndof = 0.5\nwidth_scaled = 'fbm'";
    // The example of the two conventions: .0177 and .00078 for eight units.
    assert!(close(divided(with(2, common), "output_weights", 8), 0.05 / 8.0_f64.sqrt()));
    let power = "scale = 0.05\ndof = 0.5\nwidth_scaled = 'mcmcstuff'";
    assert!(close(divided(with(2, power), "output_weights", 8), 0.05 / 64.0));
    let heavy =
        "sharing = 'per-input'\nscale = 0.05\ndof = 0.5\ntop_dof = 1.0\nwidth_scaled = 'fbm'";
    assert!(close(divided(with(0, heavy), "input_weights", 2), 0.05 / 9.0));
    let light = "sharing = 'per-input'\nscale = 0.05\ndof = 4.0\nwidth_scaled = 'fbm'";
    assert!(close(divided(with(0, light), "input_weights", 2), 0.05 / 6.0_f64.sqrt()));
    let off = "scale = 0.05\ndof = 0.5\nwidth_scaled = false";
    assert!(close(divided(with(2, off), "output_weights", 8), 0.05));
}
