//! Check coordinates, densities and draws of levels.

use super::*;
use crate::density::{Categorical, InverseGamma};
use crate::model::prior::DofGrid;
use crate::random::{Purpose, Seed};

/// Three scales, with and without a level above, after two entries that are not theirs.
fn every_level() -> [Levels; 4] {
    let grid = DofGrid::new(&[2.0, 6.0], &Categorical::new(&[1.0, 3.0]).unwrap()).unwrap();
    let prior = ScaleDensity::inverse_gamma(0.4, 3.0).unwrap();
    let fixed = Spread::InverseGamma(DofSource::Fixed(5.0));
    let sampled = Spread::InverseGamma(DofSource::Sampled { slot: 0, grid });
    let log_normal = Spread::LogNormal { log_sd: 0.8 };
    let above = |prior| Above::Sampled { slot: 5, prior };
    let normal = ScaleDensity::log_normal(0.4, 1.2).unwrap();
    [
        Levels { slots: 2..5, spread: fixed, above: Above::Fixed(0.7) },
        Levels { slots: 2..5, spread: sampled, above: above(prior) },
        Levels { slots: 2..5, spread: log_normal.clone(), above: Above::Fixed(0.7) },
        Levels { slots: 2..5, spread: log_normal, above: above(normal) },
    ]
}

const STATE: [f64; 7] = [6.0, 9.0, -0.3, 0.8, -1.1, 0.2, 9.0];

#[test]
fn coordinates_and_states_are_one_to_one() {
    for levels in every_level() {
        let mut coordinates = vec![f64::NAN; levels.coordinates()];
        levels.enter(&STATE, &mut coordinates);
        let mut state = STATE;
        levels.slots.clone().for_each(|slot| state[slot] = f64::NAN);
        if let Above::Sampled { slot, .. } = levels.above {
            state[slot] = f64::NAN;
        }
        levels.leave(&coordinates, &mut state);
        for (found, expected) in state.iter().zip(STATE) {
            assert!((found - expected).abs() < 1e-15, "{state:?}");
        }
    }
}

/// The change of coordinates is a shear, of determinant 1: the density stays.
#[test]
fn coordinates_have_the_density_of_the_scales() {
    for levels in every_level() {
        let mut coordinates = vec![0.0; levels.coordinates()];
        levels.enter(&STATE, &mut coordinates);
        let densities = levels.densities(&STATE).unwrap();
        let mut gradient = vec![0.0; coordinates.len()];
        let found = levels.log_density_gradient(&densities, &coordinates, &mut gradient).unwrap();
        let expected = levels.log_prior(&STATE) - levels.spread.log_prior(&STATE);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        // And by hand: densities of variances, Jacobian 2v each.
        let above = match levels.above {
            Above::Fixed(scale) => scale,
            Above::Sampled { slot, .. } => STATE[slot].exp(),
        };
        let of = |log_scale: f64, prior: ScaleDensity| match prior {
            ScaleDensity::InverseGamma(prior) => {
                let variance = (2.0 * log_scale).exp();
                prior.log_density(variance) + (2.0 * variance).ln()
            }
            ScaleDensity::LogNormal(prior) => prior.log_density(log_scale.exp()) + log_scale,
        };
        let level = match &levels.spread {
            Spread::InverseGamma(dof) => ScaleDensity::inverse_gamma(above, dof.value(&STATE)),
            Spread::LogNormal { log_sd } => ScaleDensity::log_normal(above, *log_sd),
        };
        let level = level.unwrap();
        let mut by_hand: f64 = STATE[2..5].iter().map(|log_scale| of(*log_scale, level)).sum();
        if let Above::Sampled { slot, prior } = levels.above {
            by_hand += of(STATE[slot], prior);
        }
        assert!((found - by_hand).abs() < 1e-12, "{found} {by_hand}");
    }
}

#[test]
fn gradients_carry_those_of_the_rest_of_the_target() {
    // The rest of the target: Σ c_k log a_k.
    let rest = [0.7, -1.3, 0.4];
    for levels in every_level() {
        let mut coordinates = vec![0.0; levels.coordinates()];
        levels.enter(&STATE, &mut coordinates);
        let first = coordinates.len() - 3;
        let densities = levels.densities(&STATE).unwrap();
        let value = |coordinates: &[f64], gradient: &mut [f64]| {
            gradient[first..].copy_from_slice(&rest);
            let density = levels.log_density_gradient(&densities, coordinates, gradient).unwrap();
            let mut state = STATE;
            levels.leave(coordinates, &mut state);
            density + state[2..5].iter().zip(rest).map(|(l, c)| l * c).sum::<f64>()
        };
        let mut gradient = vec![0.0; coordinates.len()];
        value(&coordinates, &mut gradient);
        let mut ignored = gradient.clone();
        for (index, claimed) in gradient.iter().enumerate() {
            let mut at = |h: f64| {
                let mut moved = coordinates.clone();
                moved[index] += h;
                value(&moved, &mut ignored)
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((claimed - numeric).abs() < 1e-8, "{index}: {claimed} {numeric}");
        }
    }
}

#[test]
fn log_scales_stay_where_their_squares_are_numbers() {
    assert!((2.0 * limited(1e9)).exp().is_finite() && (2.0 * limited(-1e9)).exp() > 0.0);
    let mut stream = Seed(3).stream(Purpose::Data, [20, 0]);
    let tiny = ScaleDensity::inverse_gamma(1.0, 1e-3).unwrap();
    let levels = Levels {
        slots: 0..3,
        spread: Spread::InverseGamma(DofSource::Fixed(1e-3)),
        above: Above::Sampled { slot: 3, prior: tiny },
    };
    let densities = levels.densities(&[]).unwrap();
    let mut state = [0.0; 4];
    let mut coordinates = [0.0; 4];
    for _ in 0..100 {
        levels.draw_prior(&mut state, &mut stream);
        assert!(state.iter().all(|log| log.abs() <= LOG_SCALE_LIMIT));
        levels.enter(&state, &mut coordinates);
        assert!(levels.log_density_gradient(&densities, &coordinates, &mut [0.0; 4]).is_some());
    }
    // Neither the level above nor a scale below may leave the range.
    for far in [[352.0, 0.0, 0.0, 0.0], [-352.0, 0.0, 2.0, 0.0], [300.0, 0.0, 0.0, 60.0]] {
        assert!(levels.log_density_gradient(&densities, &far, &mut [0.0; 4]).is_none());
    }
    let near = [300.0, 0.0, -60.0, 40.0];
    assert!(levels.log_density_gradient(&densities, &near, &mut [0.0; 4]).is_some());
}

#[test]
fn what_is_not_finite_stays_and_is_reported() {
    let mut levels = Levels {
        slots: 2..4,
        spread: Spread::InverseGamma(DofSource::Fixed(0.5)),
        above: Above::Sampled { slot: 4, prior: InverseGamma::new(1.0, 0.5).unwrap().into() },
    };
    let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
    let mut state = [f64::NAN, 1.0, 0.5, f64::NAN, 0.25];
    assert!(!levels.gibbs_above(&mut state, &mut stream));
    assert!((state[4] - 0.25).abs() < 1e-15);
    // A weight that is not a number leaves its own scale alone; the others are drawn.
    let squares = |state: &[f64], k: usize| Squares::of([state[k]]);
    assert!(!levels.gibbs(&mut state, squares, 1.0, &mut stream));
    assert!((state[2] - 0.5).abs() < 1e-15 && state[3].is_finite() && state[4].is_finite());
    state[0] = 2.0;
    assert!(levels.gibbs(&mut state, squares, 1.0, &mut stream));
}

#[test]
fn centred_derivatives_are_those_of_the_log_prior() {
    for levels in every_level() {
        let mut gradient = [0.0; 7];
        let value = levels.centred_log_density(&STATE, |slot, d| gradient[slot] += d).unwrap();
        let expected = levels.log_prior(&STATE) - levels.spread.log_prior(&STATE);
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        for slot in 2..6 {
            let at = |h: f64| {
                let mut moved = STATE;
                moved[slot] += h;
                levels.log_prior(&moved)
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient[slot] - numeric).abs() < 1e-8, "{slot}: {numeric}");
        }
    }
}
