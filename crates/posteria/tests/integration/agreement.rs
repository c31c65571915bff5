//! Why chains have not drawn enough is told by their draws, and separated classes are seen.

use std::num::NonZero;

use posteria::assess::{ChainStacking, LogLikelihoods};
use posteria::diagnose::EFFECTIVE_DRAWS;
use posteria::draws::Draws;
use posteria::fit::{Agreement, Cause, Goal, fit, share_that_separates};
use posteria::model::Posterior;
use posteria::random::{Purpose, Seed};
use posteria::sample::Plan;
use posteria_linalg::Matrix;

use crate::kernels;
use crate::tables::{classes, inputs, linear, real, regression};

const ONE: NonZero<usize> = NonZero::<usize>::MIN;

fn sampled(posterior: &dyn Posterior, chains: usize, draws: usize) -> Draws {
    fit(posterior, &Plan::new(chains, 100, draws), Seed(3), ONE).expect("a fit")
}

#[test]
fn chains_that_move_freely_in_places_of_their_own_are_told_from_slow_ones() {
    let data = regression(2);
    let posterior = linear("", &data, kernels::ALL[0].1);
    let mut draws = sampled(&posterior, 4, 300);
    let goal = Goal::new(EFFECTIVE_DRAWS, 4);
    let judge = |draws: &Draws| Agreement::new(&posterior, draws, &data.inputs, &goal, ONE);
    let agreed = judge(&draws);
    // Independent draws: 1200 of 400 effective ones that are needed.
    assert_eq!(agreed.cause, None, "{agreed:?}");
    // The standard error of a chain's mean of independent draws is 1/√300 = 0.06 of its deviation.
    assert!(agreed.distances.iter().all(|it| *it < 0.3), "{agreed:?}");
    // A third of them is not enough, but more of the same would be.
    let few = draws.thin(0, 1, Some(60)).expect("draws");
    let Some(Cause::Slow { draws: wanted }) = judge(&few).cause else {
        panic!("{:?}", judge(&few))
    };
    assert!((61..1200).contains(&wanted), "{wanted}");
    // One chain with another slope moves as freely as the others.
    let weight = draws.layout.variable("weights").expect("weights").offset;
    let (length, chain) = (draws.layout.len(), 2 * 300);
    for draw in draws.values.chunks_exact_mut(length).skip(chain).take(300) {
        draw[weight] += 3.0;
    }
    let apart = judge(&draws);
    assert_eq!(apart.cause, Some(Cause::Modes), "{apart:?}");
    let [others, moved] = [apart.distances[0], apart.distances[2]];
    // It is three times as far from the mean of all four as each of the others is.
    assert!((moved / others - 3.0).abs() < 0.5, "{apart:?}");
    // The error of the mean of all is the spread of the chains': Σ d² / (C (C - 1)).
    let squares: f64 = apart.distances.iter().map(|it| it * it).sum();
    let error = apart.attained.agreement.expect("an error");
    assert!((error - (squares / 12.0).sqrt()).abs() < 1e-9, "{error}");
}

#[test]
fn a_chain_of_another_model_is_the_one_that_fits_worse() {
    // Log likelihoods of the third chain are those of targets that it has not seen.
    let data = regression(2);
    let draws = sampled(&linear("", &data, kernels::ALL[0].1), 3, 200);
    let mut likelihoods = draws.log_likelihood.clone();
    let rows = draws.rows;
    for row in likelihoods.chunks_exact_mut(rows).skip(400) {
        row.iter_mut().for_each(|value| *value -= 1.5);
    }
    let all = LogLikelihoods::new(&likelihoods, 3, 200, rows).expect("usable");
    let found = ChainStacking::new(&all, ONE).expect("weights");
    let worse = found.worse();
    assert_eq!(worse.iter().map(|it| it.chain).collect::<Vec<_>>(), [2], "{worse:?}");
    assert!((worse[0].lower - 1.5 * rows as f64).abs() < 2.0, "{worse:?}");
    assert!(found.weights[2] <= 1e-9, "{:?}", found.weights);
}

#[test]
fn draws_separate_classes_that_can_be_separated() {
    let mut stream = Seed(4).stream(Purpose::Data, [0, 0]);
    let inputs = inputs(30, 2, &mut stream);
    let moved = Matrix::from_fn(30, 2, |row, k| {
        let x = inputs[(row, k)];
        if k == 0 { x + 2.0 * x.signum() } else { x }
    });
    let codes: Vec<usize> = (0..30).map(|row| usize::from(moved[(row, 0)] > 0.0)).collect();
    let share = |codes: Vec<usize>| {
        let data = classes(moved.clone(), codes.clone());
        let posterior = linear("", &data, kernels::ALL[0].1);
        share_that_separates(&posterior, &sampled(&posterior, 2, 100), &codes)
    };
    assert!(share(codes.clone()).expect("classes") > 0.9);
    // Two rows among the others' cannot be separated from them.
    let mut mixed = codes;
    (mixed[0], mixed[1]) = (1 - mixed[0], 1 - mixed[1]);
    assert_eq!(share(mixed), Some(0.0));
    let numbers = real(inputs.clone(), &[0.5; 30]);
    let posterior = linear("", &numbers, kernels::ALL[0].1);
    assert_eq!(share_that_separates(&posterior, &sampled(&posterior, 2, 20), &[]), None);
}
