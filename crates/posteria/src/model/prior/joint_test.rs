//! Check whole hierarchies by Geweke's joint distribution test.
//!
//! Two simulators of the joint density of parameters and data must agree: independent draws,
//! level by level from the top; and a chain that alternates data given parameters with the
//! updates under test [Geweke 2004]. Every statistic is compared by a two-sample z with
//! batch-means errors; |z| < 4 has a false-alarm rate of 6e-5 each (seeds are fixed).

use super::student_t_scale::log_scale_given_student_t;
use super::{Above, DofGrid, DofSource, Levels, Spread, Squares};
use crate::density::{Categorical, InverseGamma, StudentT};
use crate::random::{Purpose, Seed, Stream};

const BATCHES: usize = 100;

/// Mean and its standard error, from batch means.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let batch = values.len() / BATCHES;
    let means: Vec<f64> =
        values.chunks_exact(batch).map(|c| c.iter().sum::<f64>() / batch as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}

/// Asserts that two series of statistics have equal means.
fn assert_same_means<const S: usize>(independent: &[[f64; S]], chain: &[[f64; S]]) {
    for s in 0..S {
        let column = |rows: &[[f64; S]]| rows.iter().map(|row| row[s]).collect::<Vec<f64>>();
        let (mean_1, error_1) = mean_and_error(&column(independent));
        let (mean_2, error_2) = mean_and_error(&column(chain));
        let z = (mean_1 - mean_2) / error_1.hypot(error_2);
        assert!(z.abs() < 4.0, "statistic {s}: means {mean_1} and {mean_2}, z = {z}");
    }
}

const GROUPS: usize = 3;
const MEMBERS: usize = 2;
const WEIGHTS: usize = GROUPS * MEMBERS;
const COMMON: usize = WEIGHTS + GROUPS;
const A_0: f64 = 0.7;
/// Degrees of freedom large enough that second moments of squared weights exist, also at the
/// smallest inverse temperature tested.
const DOF_COMMON: f64 = 14.0;
const DOF: f64 = 12.0;

/// Means and squares of all log scales, and the mean square of each group.
fn hierarchy_statistics(state: &[f64]) -> [f64; 11] {
    let mut statistics = [0.0; 11];
    for k in 0..GROUPS {
        let log_scale = state[WEIGHTS + k];
        statistics[k] = log_scale;
        statistics[GROUPS + k] = log_scale * log_scale;
        let squares = squares(state, k);
        statistics[2 * GROUPS + k] = squares.sum / squares.count;
    }
    statistics[9] = state[COMMON];
    statistics[10] = state[COMMON].powi(2);
    statistics
}

/// Strided on purpose: weight j of group k stands at k + 3j.
fn group(k: usize) -> impl Iterator<Item = usize> {
    (0..MEMBERS).map(move |j| k + GROUPS * j)
}

fn squares(state: &[f64], k: usize) -> Squares {
    Squares::of(group(k).map(|index| state[index]))
}

/// w | a raised to β is N(0, a²/β), up to a factor that depends on a.
fn draw_weights(state: &mut [f64], beta: f64, stream: &mut Stream) {
    for k in 0..GROUPS {
        let scale = state[WEIGHTS + k].exp() / beta.sqrt();
        for index in group(k) {
            state[index] = scale * stream.normal();
        }
    }
}

/// Independent draws from Π_kj N(w_kj; 0, a_k²)^β · prior. Integrated over n weights, the
/// normal density to the power β leaves a_k^(n(1-β)): an inverse gamma with n(1-β) degrees of
/// freedom fewer and the same ν s². Its constant in turn leaves the same power of a_ave.
fn draw_hierarchy(state: &mut [f64], beta: f64, stream: &mut Stream) {
    let fewer = |scale: f64, dof: f64, less: f64| {
        InverseGamma::new(scale * (dof / (dof - less)).sqrt(), dof - less).unwrap()
    };
    let less = MEMBERS as f64 * (1.0 - beta);
    state[COMMON] = fewer(A_0, DOF_COMMON, less * GROUPS as f64).draw_log_scale(stream);
    for k in 0..GROUPS {
        state[WEIGHTS + k] = fewer(state[COMMON].exp(), DOF, less).draw_log_scale(stream);
    }
    draw_weights(state, beta, stream);
}

#[test]
fn three_level_hierarchy_passes_the_joint_distribution_test() {
    for beta in [1.0_f64, 0.3] {
        let top = InverseGamma::new(A_0, DOF_COMMON).unwrap();
        let mut levels = Levels {
            slots: WEIGHTS..COMMON,
            spread: Spread::InverseGamma(DofSource::Fixed(DOF)),
            above: Above::Sampled { slot: COMMON, prior: top.into() },
        };
        let mut stream = Seed(5).stream(Purpose::Data, [1, beta.to_bits()]);
        let mut state = [0.0; COMMON + 1];
        let independent: Vec<_> = (0..40_000)
            .map(|_| {
                draw_hierarchy(&mut state, beta, &mut stream);
                hierarchy_statistics(&state)
            })
            .collect();
        let chain: Vec<_> = (0..100_000)
            .map(|_| {
                draw_weights(&mut state, beta, &mut stream);
                assert!(levels.gibbs(&mut state, squares, beta, &mut stream));
                hierarchy_statistics(&state)
            })
            .collect();
        assert_same_means(&independent, &chain);
    }
}

/// Hierarchies with half a degree of freedom, as users have them, have no moments on the raw
/// scale: frequencies of passing a limit have.
#[test]
fn heavy_tailed_hierarchy_passes_the_joint_distribution_test() {
    let (dof, top) = (0.5, 0.05);
    let mut stream = Seed(5).stream(Purpose::Data, [2, 0]);
    let level = InverseGamma::new(top, dof).unwrap();
    let mut levels = Levels {
        slots: 1..2,
        spread: Spread::InverseGamma(DofSource::Fixed(dof)),
        above: Above::Sampled { slot: 2, prior: level.into() },
    };
    let simulate = |state: &mut [f64; 3], stream: &mut Stream| {
        state[2] = level.draw_log_scale(stream);
        state[1] = InverseGamma::new(state[2].exp(), dof).unwrap().draw_log_scale(stream);
    };
    let statistics = |state: &[f64; 3]| {
        let above = |x: f64, limit: f64| f64::from(u8::from(x > limit));
        [above(state[1], -1.0), above(state[2], -2.0), above(state[1], 1.0), above(state[2], 0.0)]
    };
    let mut state = [0.0; 3];
    let independent: Vec<_> = (0..40_000)
        .map(|_| {
            simulate(&mut state, &mut stream);
            statistics(&state)
        })
        .collect();
    let chain: Vec<_> = (0..200_000)
        .map(|_| {
            state[0] = state[1].exp() * stream.normal();
            let squares = |state: &[f64], _| Squares::of([state[0]]);
            assert!(levels.gibbs(&mut state, squares, 1.0, &mut stream));
            statistics(&state)
        })
        .collect();
    assert_same_means(&independent, &chain);
}

#[test]
fn student_t_scale_and_dof_pass_the_joint_distribution_test() {
    const DOFS: [f64; 3] = [4.0, 8.0, 30.0];
    let prior = InverseGamma::new(0.7, 8.0).unwrap();
    let choice = Categorical::new(&[1.0, 2.0, 1.0]).unwrap();
    let mut grid = DofGrid::new(&DOFS, &choice).unwrap();
    let mut stream = Seed(5).stream(Purpose::Data, [3, 0]);
    let draw_values = |log_scale: f64, dof: f64, values: &mut [f64], stream: &mut Stream| {
        let t = StudentT::new(0.0, log_scale.exp(), dof).unwrap();
        values.iter_mut().for_each(|value| *value = t.draw(stream));
    };
    let statistics = |log_scale: f64, index: usize, values: &[f64]| {
        let absolute = values.iter().map(|x| x.abs()).sum::<f64>() / values.len() as f64;
        let first = f64::from(u8::from(index == 0));
        let last = f64::from(u8::from(index == 2));
        [log_scale, log_scale * log_scale, first, last, absolute, first * log_scale]
    };
    let (mut log_scale, mut index, mut values) = (0.0, 0, [0.0; 5]);
    let independent: Vec<_> = (0..20_000)
        .map(|_| {
            log_scale = prior.draw_log_scale(&mut stream);
            index = choice.draw(&mut stream);
            draw_values(log_scale, DOFS[index], &mut values, &mut stream);
            statistics(log_scale, index, &values)
        })
        .collect();
    let chain: Vec<_> = (0..60_000)
        .map(|_| {
            draw_values(log_scale, DOFS[index], &mut values, &mut stream);
            log_scale = log_scale_given_student_t(
                &values,
                DOFS[index],
                &prior,
                1.0,
                log_scale,
                &mut stream,
            )
            .unwrap();
            grid.begin();
            grid.add_student_t(&values, log_scale.exp(), 1.0);
            index = grid.draw(&mut stream).unwrap();
            statistics(log_scale, index, &values)
        })
        .collect();
    assert_same_means(&independent, &chain);
}
