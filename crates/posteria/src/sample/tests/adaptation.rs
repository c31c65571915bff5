//! Check what kernels learn in warm-up, and that they learn nothing afterwards.

use super::chain::{Chain, stage, sweep_of, warmup};
use super::targets::{Value, kernels, normal};
use crate::random::{Purpose, Seed};
use crate::sample::{
    Adapt, DirectionWalk, FittedStudentT, Kernel, MetropolisHastings, RandomWalk, Slice, Stage,
};
use crate::target::{Counted, Infeasible, LogDensity, Point};

/// A point whose gradient nobody asked for.
fn point(target: &mut dyn LogDensity, position: Vec<f64>) -> Point {
    let log_density = target.log_density(&position).expect("the start is inside the support");
    Point { gradient: vec![0.0; position.len()], position, log_density }
}

fn mean_acceptance(kernel: Box<dyn Kernel>, dim: usize, warmup: Vec<Stage>) -> f64 {
    let mut chain = Chain::new(sweep_of(normal(dim), kernel), &vec![0.0; dim], warmup, 21);
    chain.warm_up();
    let count = 20_000;
    (0..count).map(|_| chain.advance()[0].acceptance).sum::<f64>() / f64::from(count)
}

#[test]
fn the_scale_meets_the_target_acceptance_from_widths_far_off() {
    for (dim, width, expected) in [(1, 1e-4, 0.44), (1, 1e4, 0.44), (5, 1e-3, 0.234)] {
        let walk = RandomWalk::new(&vec![width; dim]);
        let rate = mean_acceptance(
            Box::new(MetropolisHastings::new(walk)),
            dim,
            vec![stage(2000, Adapt::StepSize)],
        );
        assert!((rate - expected).abs() < 0.06, "acceptance {rate} in {dim}-d from {width}");
    }
    let walk = RandomWalk::new(&[0.1; 5]).learn_covariance().target_acceptance(0.4);
    let rate = mean_acceptance(Box::new(MetropolisHastings::new(walk)), 5, warmup());
    assert!((rate - 0.4).abs() < 0.06, "acceptance {rate}");
}

#[test]
fn a_fitted_student_t_is_accepted_often() {
    let kernel = MetropolisHastings::new(FittedStudentT::new(&[0.1; 5]).walk_share(0.0));
    let rate = mean_acceptance(Box::new(kernel), 5, warmup());
    // The exact fit with 5 degrees of freedom and inflation 1.1 is accepted about 0.65.
    assert!(rate > 0.5, "acceptance {rate}");
}

#[test]
fn widths_of_directions_meet_the_target_acceptance_each_on_its_own() {
    for start in [1e-4, 1e4] {
        let mut target = normal(5);
        let mut walk = DirectionWalk::along_axes(0..5, start);
        let mut stream = Seed(27).stream(Purpose::Data, [0, 0]);
        let mut point = point(&mut target, vec![0.0; 5]);
        walk.enter(&stage(3000, Adapt::StepSize));
        for _ in 0..3000 {
            walk.step(&mut target, &mut point, &mut stream);
        }
        walk.enter(&Stage::default());
        let acceptances: Vec<f64> = (0..20_000)
            .map(|_| walk.step(&mut target, &mut point, &mut stream).acceptance)
            .collect();
        let rate = acceptances.iter().sum::<f64>() / acceptances.len() as f64;
        assert!((rate - 0.4).abs() < 0.03, "acceptance {rate} from {start}");
        // The conditional scales of the normal target grow with the coordinate.
        let widths = walk.widths();
        assert!(widths[3] / widths[1] > 1.5 && widths[3] / widths[1] < 2.7, "{widths:?}");
    }
}

#[test]
fn slice_widths_grow_and_shrink_to_the_size_of_the_slices() {
    for start in [1e-3, 1.0, 1e5] {
        let mut target = Value(1, |x: &[f64]| Ok(-0.5 * (x[0] / 100.0).powi(2)));
        let mut slice = Slice::new(&[start]);
        let mut stream = Seed(22).stream(Purpose::Data, [0, 0]);
        let mut point = point(&mut target, vec![0.0]);
        slice.enter(&stage(500, Adapt::StepSize));
        for _ in 0..500 {
            slice.step(&mut target, &mut point, &mut stream);
        }
        // A slice of a normal is 2 sd √(2 e) long, e exponential; in geometric mean 212 here.
        // The recursion's noise at its end is some 15 %.
        let width = slice.widths()[0];
        assert!((130.0..350.0).contains(&width), "from {start} to {width}");
    }
}

#[test]
fn nothing_is_learned_outside_adapting_stages() {
    for (name, kernel) in kernels(2) {
        let mut chain = Chain::new(sweep_of(normal(2), kernel), &[0.0, 0.0], warmup(), 23);
        chain.warm_up();
        let before = chain.sweep.memory();
        chain.draws(500);
        assert_eq!(before, chain.sweep.memory(), "{name} changed");
    }
}

#[test]
fn a_stage_can_set_the_scale() {
    let mut kernel = MetropolisHastings::new(RandomWalk::new(&[1.0]));
    kernel.enter(&Stage { step_size: Some(0.25), ..Stage::default() });
    let mut target = normal(1);
    let mut stream = Seed(24).stream(Purpose::Data, [0, 0]);
    let mut point = point(&mut target, vec![0.0]);
    let step = kernel.step(&mut target, &mut point, &mut stream);
    assert_eq!(step.step_size.to_bits(), 0.25f64.to_bits());
}

#[test]
fn a_metropolis_step_costs_one_value_and_no_gradient() {
    for (name, mut kernel) in kernels(2) {
        if ["slice", "direction", "sequence"].iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let mut target = Counted::new(normal(2));
        let mut stream = Seed(25).stream(Purpose::Data, [0, 0]);
        let mut point = point(&mut target, vec![0.0, 0.0]);
        target.values = 0;
        for _ in 0..1000 {
            assert_eq!(kernel.step(&mut target, &mut point, &mut stream).evaluations, 1);
        }
        assert_eq!((target.values, target.gradients), (1000, 0), "{name}");
        assert!(!kernel.needs_gradient());
        assert!(point.gradient[0].is_nan(), "{name} leaves an old gradient behind");
    }
}

#[test]
fn proposals_without_a_density_are_rejected_and_counted() {
    for (reason, answer) in [
        (Infeasible::NotFinite, Ok(f64::NAN)),
        (Infeasible::NotFinite, Ok(f64::INFINITY)),
        (
            Infeasible::NotPositiveDefinite { pivot: 3 },
            Err(Infeasible::NotPositiveDefinite { pivot: 3 }),
        ),
    ] {
        for (name, mut kernel) in kernels(2) {
            let mut target = Value(2, |x: &[f64]| if x[0] > 1.0 { answer } else { Ok(0.5 * x[0]) });
            let mut stream = Seed(26).stream(Purpose::Data, [0, 0]);
            let mut point = point(&mut target, vec![0.9, 0.0]);
            let mut met = 0;
            for _ in 0..200 {
                let step = kernel.step(&mut target, &mut point, &mut stream);
                met += usize::from(step.infeasible == Some(reason));
                assert!(point.position[0] <= 1.0 && point.log_density.is_finite(), "{name}");
            }
            assert!(met > 0, "{name} met nothing");
        }
    }
}
