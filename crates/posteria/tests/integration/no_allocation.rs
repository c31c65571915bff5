//! Count allocations of the thread: a chain at work makes none.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use posteria::fit::Chain;
use posteria::model::Posterior;
use posteria::model::mlp::{Likelihood, Marginal, MarginalGradient, Network, Rows, Shape};
use posteria::optimise::{Ascent, ScaledConjugateGradient};
use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Nuts, NutsOptions};
use posteria::sample::{
    Block, EllipticalSlice, Ladder, NormalPrior, Plan, ReplicaExchange, Slice, Stage, Sweep,
    Unconditional,
};
use posteria::target::{PriorTimesLikelihood, Tempered};
use posteria_linalg::{Cholesky, Matrix};

use crate::kernels;
use crate::means::Means;
use crate::tables::{classification, linear, regression};
use crate::targets::{Gaussian, WideBanana};
use crate::toy::Toy;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// 500 sweeps of a chain after its warm-up.
fn check(name: &str, posterior: &dyn Posterior) {
    check_chain(name, posterior, 200, 500);
}

fn check_chain(name: &str, posterior: &dyn Posterior, warmup: usize, draws: usize) {
    let plan = Plan::new(1, warmup, draws);
    let mut chain = Chain::start(posterior, &plan, Seed(3), 0).expect("a usable start");
    for _ in 0..warmup {
        chain.advance();
    }
    let before = allocations();
    for _ in 0..draws {
        assert!(chain.advance());
        std::hint::black_box(chain.report());
    }
    assert_eq!(allocations() - before, 0, "{name} allocates");
}

/// 500 sweeps after the first.
fn check_sweep(name: &str, mut sweep: Sweep<'_>, mut state: Vec<f64>) {
    let mut stream = Seed(3).stream(Purpose::Chain, [0, 0]);
    sweep.enter(&Stage::default());
    sweep.pass(&mut state, &mut stream);
    let before = allocations();
    for _ in 0..500 {
        std::hint::black_box(sweep.pass(&mut state, &mut stream));
    }
    assert_eq!(allocations() - before, 0, "{name} allocates");
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(vec![0.0_f64; 10]));
    assert_eq!(allocations() - before, 1);
}

#[test]
fn kernels_beside_a_gibbs_update_allocate_nothing() {
    for (name, kernel) in kernels::ALL {
        check(name, &Toy::new(kernel));
    }
    check("refresh", &Toy::new(kernels::REFRESH));
}

#[test]
fn moving_in_other_coordinates_allocates_nothing() {
    for (name, kernel) in kernels::ALL {
        check_sweep(name, Means::new().sweep(kernel(1)), Means::start());
    }
}

#[test]
fn linear_models_allocate_nothing() {
    let nuts: kernels::Factory = |dim| Box::new(Nuts::new(dim, NutsOptions::default()));
    for spec in [
        "",
        "[prior.weights]\nsharing = 'per-input'\n[prior.intercept]\nscale = 1.0",
        "[prior.weights]\nfamily = 'conjugate'\nrho = 0.1",
    ] {
        check(spec, &linear(spec, &regression(3), nuts));
    }
    // Wide enough for the blocked factorisation.
    check("a wide regression", &linear("", &regression(70), nuts));
    for (name, kernel) in kernels::ALL {
        let spec = "[prior.weights]\nsharing = 'per-input'";
        check(&format!("logistic, {name}"), &linear(spec, &classification(), kernel));
    }
}

#[test]
fn networks_allocate_nothing() {
    for (name, posterior) in crate::networks::networks() {
        // The principal axes of a residual covariance are found by a library that allocates.
        if name != "covariance" {
            check_chain(&name, &posterior, 60, 60);
        }
    }
}

#[test]
fn densities_of_networks_allocate_nothing() {
    let (n, inputs) =
        (300, Matrix::from_fn(300, 3, |row, column| (row * 3 + column) as f64 / 450.0));
    let rows = Rows::new(&inputs);
    // 21 design columns for the small factorisation, 41 for the blocked one.
    for hidden in [0, 17, 37] {
        let shape = Shape { inputs: 3, hidden, outputs: 2, direct: true };
        let (weights, targets) = (vec![0.1; shape.len()], vec![0.5; 2 * n]);
        let codes: Vec<u32> = (0..n).map(|row| (row % 2) as u32).collect();
        let scales = vec![0.5; shape.tail().len()];
        let mut network = Network::new(shape, &rows);
        let mut marginal = Marginal::new(shape, &rows);
        let mut marginal_gradient = MarginalGradient::new(&shape, &rows);
        let mut gradient = vec![0.0; shape.len()];
        let mut stream = Seed(3).stream(Purpose::Chain, [0, 0]);
        // The backend sets up its own scratch memory once per thread.
        let mut before = 0;
        for _ in 0..2 {
            before = allocations();
            let all = [
                Likelihood::Squares { targets: &targets, precisions: &targets },
                Likelihood::StudentT { targets: &targets, inverse_scales: &targets, dof: 4.0 },
                Likelihood::Absolute { targets: &targets, inverse_scales: &targets },
                Likelihood::Logistic { signs: &targets },
                Likelihood::Softmax { codes: &codes },
            ];
            for likelihood in all {
                network.log_likelihood(&weights, &likelihood);
                network.log_likelihood_gradient(&weights, &likelihood, &mut gradient);
                network.force(&weights, &likelihood, &mut gradient);
            }
            let (head, tail) = gradient.split_at_mut(shape.tail().start);
            head.fill(0.1);
            marginal
                .log_density_gradient(head, &scales, &targets, &targets, &mut marginal_gradient)
                .expect("a usable density");
            marginal.draw_output_weights(&mut stream, tail);
        }
        assert_eq!(allocations() - before, 0, "{hidden} hidden units");
    }
}

#[test]
fn elliptical_slice_sampling_allocates_nothing() {
    for inverse_temperature in [0.0, 1.0] {
        let likelihood = |x: &[f64]| Ok(-(x[0] - x[1] * x[1]).powi(2));
        let prior = NormalPrior::new(vec![0.5, -0.5], Cholesky::identity(2), likelihood);
        let update = EllipticalSlice::new("block", 0, prior, inverse_temperature);
        check_sweep("elliptical slice", Sweep::new(vec![Box::new(update)]), vec![0.1, 0.2]);
    }
}

#[test]
fn replica_exchange_allocates_nothing() {
    let ladder = Ladder::geometric(0.4, 3).expect("a valid ratio").down_to_prior();
    let sweep = |inverse_temperature: f64| {
        let target = Unconditional(Tempered { product: WideBanana, inverse_temperature });
        Sweep::new(vec![Box::new(Block::new("position", 0, target, Slice::new(&[1.0, 1.0])))])
    };
    let sweeps = ladder[1..].iter().map(|beta| sweep(*beta)).collect();
    let exchange = ReplicaExchange::new("exchange", ladder, sweeps, vec![vec![0.1; 2]; 3], |x| {
        WideBanana.terms(x).map(|terms| terms.log_likelihood)
    });
    check_sweep("exchange", sweep(1.0).with(Box::new(exchange)), vec![0.1; 2]);
}

#[test]
fn a_climb_allocates_nothing() {
    let mut target = Gaussian::ill_conditioned(20);
    let options = ScaledConjugateGradient::default();
    let mut ascent = Ascent::new(&mut target, vec![3.0; 20], &options).expect("a usable start");
    let before = allocations();
    let mut iterations = 0;
    while iterations < 500 && !ascent.advance(&mut target).is_over() {
        iterations += 1;
    }
    assert_eq!(allocations() - before, 0, "the climb allocates");
    assert!((10..500).contains(&iterations), "{iterations}");
}
