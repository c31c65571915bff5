//! Modes, the shape of the density there, and kernels that begin with it.

use posteria_linalg::Matrix;

use super::chain::{Chain, stage, sweep_of, warmup};
use super::monte_carlo::{assert_mean, assert_normal};
use super::resume::assert_resumes;
use super::targets::{BANANA_BEND, BANANA_SD, banana_residual};
use crate::sample::hmc::{Hmc, HmcOptions, MetricKind};
use crate::sample::{
    Adapt, AtMode, FittedStudentT, FromMode, Kernel, MetropolisHastings, Modes, Sequence, Stage,
    WithSurrogate,
};
use crate::target::{Infeasible, LogDensity};

/// The banana with its gradient, and a second one `shift` away of e^`height` times the mass.
#[derive(Clone, Copy)]
struct Bananas {
    shift: f64,
    height: f64,
}

const ONE: Bananas = Bananas { shift: 0.0, height: f64::NEG_INFINITY };
const TWO: Bananas = Bananas { shift: 30.0, height: -1.0 };

impl Bananas {
    fn one(x: &[f64]) -> (f64, [f64; 2]) {
        let residual = banana_residual(x);
        let value = -0.5 * ((x[0] / BANANA_SD).powi(2) + residual * residual);
        let first = -x[0] / BANANA_SD.powi(2) + residual * 2.0 * BANANA_BEND * x[0];
        (value, [first, -residual])
    }
}

impl LogDensity for Bananas {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(position, &mut [0.0; 2])
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let (near, near_slopes) = Bananas::one(position);
        let (far, far_slopes) = Bananas::one(&[position[0], position[1] - self.shift]);
        let far = far + self.height;
        let top = near.max(far);
        let (a, b) = ((near - top).exp(), (far - top).exp());
        for (slot, (x, y)) in gradient.iter_mut().zip(near_slopes.iter().zip(&far_slopes)) {
            *slot = (a * x + b * y) / (a + b);
        }
        Ok(top + (a + b).ln())
    }
}

fn trajectories() -> Hmc {
    let options = HmcOptions {
        metric: MetricKind::Dense,
        leapfrog_steps: 5,
        duration: Some(1.6),
        ..HmcOptions::default()
    };
    Hmc::new(2, options)
}

fn kernels() -> [Box<dyn Kernel>; 4] {
    let guess = || FittedStudentT::new(&[0.3, 0.3]).walk_share(0.0).rest_if_hopeless();
    let sequence = |guess| {
        let guesses = MetropolisHastings::new(guess).repeats(2);
        Box::new(Sequence::new(vec![Box::new(trajectories()), Box::new(guesses)]))
    };
    [
        Box::new(trajectories()),
        sequence(guess()),
        // So wide that it is hardly ever accepted: it comes to rest.
        sequence(guess().inflation(1000.0)),
        Box::new(WithSurrogate::new(trajectories(), 9, 36)),
    ]
}

#[test]
fn a_mode_has_no_slope_and_the_curvature_of_the_density() {
    for start in [[3.0, 4.0], [-2.0, -1.0], [0.5, 6.0]] {
        let found = AtMode::find(&mut { ONE }, start.to_vec()).unwrap();
        // x₁ = 0, r = 0: the only place where both slopes vanish.
        let lowest = -BANANA_BEND * BANANA_SD * BANANA_SD;
        assert!(found.squared_distance(&[0.0, lowest]) < 0.05, "{:?}", found.mode);
        // There ∂²/∂x₁² = -1/sd² (r = 0 leaves nothing of the bend), ∂²/∂x₂² = -1.
        let exact = AtMode::new(&mut { ONE }, vec![0.0, lowest], 0.0).unwrap();
        let covariance = Matrix::from_fn(2, 2, |i, j| match (i, j) {
            (0, 0) => BANANA_SD * BANANA_SD,
            (1, 1) => 1.0,
            _ => 0.0,
        });
        for (found, exact) in exact.covariance.values().iter().zip(covariance.values()) {
            assert!((found - exact).abs() < 1e-3, "{found} {exact}");
        }
    }
}

#[test]
fn flat_and_rising_directions_get_a_bounded_spread() {
    struct Saddle;
    impl LogDensity for Saddle {
        fn dim(&self) -> usize {
            3
        }
        fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
            Ok(-2.0 * x[0] * x[0] + 0.1 * x[1] * x[1])
        }
        fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
            g.copy_from_slice(&[-4.0 * x[0], 0.2 * x[1], 0.0]);
            self.log_density(x)
        }
    }
    let found = AtMode::new(&mut Saddle, vec![0.0; 3], 0.0).unwrap();
    for (i, variance) in [0.25, 4.0, 4.0].iter().enumerate() {
        assert!((found.covariance[(i, i)] - variance).abs() < 1e-9);
    }
}

#[test]
fn shared_modes_are_found_once_and_told_apart() {
    let starts = [[1.0, 2.0], [-3.0, 1.0], [2.0, 33.0], [-1.0, 28.0], [0.0, 0.0]];
    let modes = Modes::new(starts.map(|start| start.to_vec()).to_vec());
    assert!(modes.get().is_none());
    let found = modes.find(&mut { TWO });
    assert_eq!(found.len(), 2);
    // The greater mass first; the other has e⁻¹ of it.
    assert!((found[0].log_mass() - found[1].log_mass() - 1.0).abs() < 0.05);
    assert!(found[1].mode[1] > 20.0);
    assert!(std::ptr::eq(found, modes.find(&mut { TWO })));
}

/// Whoever asks first: the same bits with one thread and with four.
#[test]
fn shared_modes_do_not_depend_on_who_finds_them() {
    let starts: Vec<Vec<f64>> = (0..6).map(|i| vec![f64::from(i) - 2.0, 4.0]).collect();
    let alone = Modes::new(starts.clone());
    let together = Modes::new(starts);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| together.find(&mut { ONE }).len());
        }
    });
    let bits = |modes: &Modes| {
        let found = modes.find(&mut { ONE }).iter();
        found.flat_map(|mode| mode.mode.iter().map(|x| x.to_bits())).collect::<Vec<_>>()
    };
    assert_eq!(bits(&alone), bits(&together));
}

/// The emulator too: its rounds are shared.
#[test]
fn shared_emulators_do_not_depend_on_who_trains_them() {
    let starts = || vec![vec![1.0, 0.0], vec![-2.0, 30.0]];
    let [alone, together] = [Modes::new(starts()), Modes::new(starts())];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| together.emulator(&mut { TWO }).is_some());
        }
    });
    let [own, other] = [&alone, &together].map(|modes| modes.emulator(&mut { TWO }).unwrap());
    assert_eq!(own.memory(), other.memory());
    assert!(own.acceptance() > 0.6, "{}", own.acceptance());
}

/// Modes that no trajectory joins are visited by their masses: that of the second is e⁻¹ of the
/// first. False alarm at four standard errors of as many independent draws as visits: once in
/// 16 000 seeds.
#[test]
fn surrogate_transitions_cross_to_modes_far_apart() {
    let modes = Modes::new(vec![vec![1.0, 0.0], vec![-2.0, 30.0]]);
    let kernel = Box::new(FromMode::among(WithSurrogate::new(trajectories(), 9, 36), &modes));
    let mut chain = Chain::new(sweep_of(TWO, kernel), &[9.0, 9.0], warmup(), 3);
    chain.warm_up();
    let draws = chain.draws(4000);
    let above: Vec<bool> = draws.iter().map(|draw| draw[1] > 15.0).collect();
    let share = above.iter().filter(|above| **above).count() as f64 / 4000.0;
    let crossings = above.windows(2).filter(|pair| pair[0] != pair[1]).count() as f64;
    let expected = (1.0 + 1.0_f64.exp()).recip();
    let error = (expected * (1.0 - expected) / crossings).sqrt();
    assert!(crossings > 400.0 && (share - expected).abs() < 4.0 * error, "{share} {crossings}");
}

/// As the tests of other kernels: false alarms are those of `assert_normal` and `assert_mean`.
#[test]
fn kernels_from_a_mode_recover_a_banana() {
    let variance = 2.0 * BANANA_BEND.powi(2) * BANANA_SD.powi(4) + 1.0;
    for (index, kernel) in kernels().into_iter().enumerate() {
        let modes = Modes::new(vec![vec![1.0, 0.0], vec![-2.0, 3.0]]);
        let kernel = Box::new(FromMode::among(kernel, &modes));
        let mut chain = Chain::new(sweep_of(ONE, kernel), &[9.0, 9.0], warmup(), 7);
        chain.warm_up();
        let draws = chain.draws(60_000);
        assert_normal(&format!("{index}, first"), &draws, (0.0, BANANA_SD), |x| x[0]);
        assert_normal(&format!("{index}, residual"), &draws, (0.0, 1.0), banana_residual);
        assert_mean(&format!("{index}, second"), &draws, variance, |x| x[1] * x[1]);
    }
}

#[test]
fn kernels_from_a_mode_resume_bit_for_bit() {
    for index in 0..kernels().len() {
        let own = || kernels().into_iter().nth(index).unwrap();
        assert_resumes(&format!("own {index}"), &[2.0, 3.0], || {
            sweep_of(ONE, Box::new(FromMode::own(own())))
        });
        let modes = Modes::new(vec![vec![1.0, 0.0], vec![-2.0, 30.0]]);
        assert_resumes(&format!("shared {index}"), &[2.0, 3.0], || {
            sweep_of(TWO, Box::new(FromMode::among(own(), &modes)))
        });
    }
}

#[test]
fn only_a_stage_that_adapts_begins_at_the_mode() {
    let far = [6.0, 9.0];
    let found = AtMode::find(&mut { ONE }, far.to_vec()).unwrap();
    let first = |stages: Vec<Stage>, seed: u64| {
        let kernel = Box::new(FromMode::own(trajectories()));
        let mut chain = Chain::new(sweep_of(ONE, kernel), &far, stages, seed);
        found.squared_distance(&chain.draws(1)[0])
    };
    let start = found.squared_distance(&far);
    assert!((first(Vec::new(), 0) - start).abs() < 0.5 * start);
    // Half as wide again as the normal approximation: 2.25 χ²₂ exceeds 30 once in 800 times, and
    // the step after it hardly changes that.
    let near = (0..20).filter(|seed| first(vec![stage(10, Adapt::StepSize)], *seed) < 30.0);
    assert!(near.count() >= 18);
}
