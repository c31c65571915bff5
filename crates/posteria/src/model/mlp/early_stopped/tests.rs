//! Check that early-stopped networks profit from stopping, and that states fit their weights.

use posteria_linalg::Matrix;

use super::*;
use crate::data::{Dataset, Targets, Task};
use crate::model::Posterior;
use crate::model::mlp::Mlp;
use crate::model::spec::Spec;
use crate::optimise::ScaledConjugateGradient;
use crate::random::{Purpose, Seed};

fn stream(index: u64) -> Stream {
    Seed(31).stream(Purpose::Start, [index, 0])
}

fn inputs(rows: usize) -> Matrix {
    let mut stream = Seed(7).stream(Purpose::Data, [0, 0]);
    // The third has two values, for residual scales by group.
    Matrix::from_fn(rows, 3, |_, k| if k == 2 { stream.normal().signum() } else { stream.normal() })
}

/// Two targets, sin 2x₀ and x₁ with noise of deviation 0.5; x₂ tells nothing.
fn regression(rows: usize) -> Dataset {
    let inputs = inputs(rows);
    let mut stream = Seed(7).stream(Purpose::Data, [1, 0]);
    let values = Matrix::from_fn(rows, 2, |row, target| {
        let mean = if target == 0 { (2.0 * inputs[(row, 0)]).sin() } else { inputs[(row, 1)] };
        mean + 0.5 * stream.normal()
    });
    let names = vec!["y0".into(), "y1".into()];
    Dataset::unscaled(inputs, Targets::Real { names, values })
}

fn classes(codes: Vec<usize>, task: Task) -> Dataset {
    let count = codes.iter().max().map_or(0, |code| code + 1).max(2);
    let labels = (0..count).map(|code| code.to_string()).collect();
    let inputs = inputs(codes.len());
    Dataset {
        task,
        ..Dataset::unscaled(inputs, Targets::Classes { name: "c".into(), labels, codes })
    }
}

fn posterior(data: &Dataset, rest: &str) -> MlpPosterior {
    let text = format!("[model]\nkind = 'mlp'\nhidden = 8\n{rest}");
    let spec = Spec::from_toml(&text).expect("a specification");
    Mlp::new(&spec).expect("a model").condition(data, None).expect("a posterior")
}

#[test]
fn held_back_rows_are_better_off_than_at_the_start_and_than_at_the_mode() {
    let three = classes((0..60).map(|row| row * row % 7 % 3).collect(), Task::Multiclass);
    for data in [regression(60), three] {
        let posterior = posterior(&data, "");
        for index in 0..5 {
            let mut same = stream(index);
            let [training, stopping] = posterior.halves(&mut same);
            let [training, stopping] = [training, stopping].map(|it| Half::new(&posterior, it));
            let mut first = vec![0.0; posterior.shape.len()];
            same.fill_normal(&mut first);
            first.iter_mut().for_each(|weight| *weight *= 0.01);
            let mut on_training = training.log_likelihood(&posterior);
            let options = ScaledConjugateGradient::default();
            let mode = options.maximise(&mut on_training, first.clone()).expect("a mode");
            let network = posterior.early_stopped(&mut stream(index)).expect("a network");
            let weights = &network.state[..posterior.shape.len()];

            let mut validation = stopping.log_likelihood(&posterior);
            let mut held_back = |weights: &[f64]| validation.log_density(weights).expect("usable");
            let stopped = held_back(weights);
            assert!(stopped >= held_back(&first), "{index}: worse than the start");
            // Noise is all that the mode has learned beyond: many more weights than it takes.
            assert!(stopped > held_back(&mode.position) + 1.0, "{index}: no better than the mode");
            let trained = on_training.log_density(weights).expect("usable");
            assert!(trained < mode.log_density);
            assert!(network.evaluations > 2);
        }
    }
    // Two thirds of the noise-free variance of the targets is learned, in every half.
    let posterior = posterior(&regression(60), "");
    let network = posterior.early_stopped(&mut stream(1)).expect("a network");
    let [_, stopping] = posterior.halves(&mut stream(1));
    let half = Half::new(&posterior, stopping);
    let mut on_half = half.log_likelihood(&posterior);
    let of = |on: &mut HalfLikelihood<'_>, w: &[f64]| on.log_density(w).expect("usable");
    let nothing = of(&mut on_half, &vec![0.0; posterior.shape.len()]);
    assert!(of(&mut on_half, &network.state[..posterior.shape.len()]) > 0.67 * nothing);
}

#[test]
fn halves_are_random_and_have_their_share_of_every_class() {
    let codes: Vec<usize> =
        (0..41).map(|row| usize::from(row < 11) + usize::from(row == 0)).collect();
    let posterior = posterior(&classes(codes.clone(), Task::Multiclass), "");
    let divide = |index| posterior.halves(&mut stream(index));
    let mut rare = [0; 2];
    for index in 0..40 {
        let [training, stopping] = divide(index);
        let mut all = [training.clone(), stopping.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..41).collect::<Vec<_>>());
        assert!(training.len().abs_diff(stopping.len()) <= 1);
        let ones = |half: &[usize]| half.iter().filter(|row| codes[**row] == 1).count();
        assert_eq!((ones(&training), ones(&stopping)), (5, 5));
        rare[0] += usize::from(training.contains(&0));
        rare[1] += usize::from(training.contains(&40));
        assert_ne!(training, divide(index + 1)[0]);
    }
    // Binomial of 40 trials: outside of 6..=34 with probability 2e-6 each.
    assert!(rare.iter().all(|count| (6..=34).contains(count)), "{rare:?}");
    let one = posterior.early_stopped(&mut stream(0)).expect("a network");
    let again = posterior.early_stopped(&mut stream(0)).expect("a network");
    assert_eq!(one, again, "the stream decides");
}

#[test]
fn halves_never_divide_a_group_of_rows() {
    let mut data = regression(60);
    // Twelve groups of five rows that do not follow each other.
    let group_of = |row: usize| row % 12;
    data.groups = Some((0..60).map(group_of).collect());
    let grouped = posterior(&data, "");
    let mut first = 0;
    for index in 0..40 {
        let [training, stopping] = grouped.halves(&mut stream(index));
        let mut all = [training.clone(), stopping.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..60).collect::<Vec<_>>());
        assert_eq!((training.len(), stopping.len()), (30, 30));
        assert!(training.iter().all(|row| stopping.iter().all(|s| group_of(*s) != group_of(*row))));
        first += usize::from(training.contains(&0));
    }
    // Binomial of 40 trials: outside of 6..=34 with probability 2e-6.
    assert!((6..=34).contains(&first), "{first}");
    // One group is never divided either: it trains and stops the training.
    data.groups = Some(vec![0; 60]);
    let single = posterior(&data, "");
    let whole: Vec<usize> = (0..60).collect();
    assert_eq!(single.halves(&mut stream(0)), [whole.clone(), whole]);
    assert!(single.early_stopped(&mut stream(0)).is_ok());
}

#[test]
fn every_part_of_a_group_has_the_scale_of_its_own_weights() {
    let posterior = posterior(&regression(80), "");
    let state = posterior.early_stopped(&mut stream(2)).expect("a network").state;
    let (hidden, relevances) = (8, 3);
    let group = &posterior.hierarchy.groups[0];
    let Scale::Sampled(levels) = &group.scale else { panic!("sampled scales") };
    assert_eq!(levels.slots.len(), relevances);
    let mut logs = 0.0;
    for input in 0..relevances {
        let weights = &state[input * hidden..(input + 1) * hidden];
        let square: f64 = weights.iter().map(|w| w * w).sum::<f64>() / 8.0;
        let log = state[levels.slots.start + input];
        assert!((log - (0.5 * square.ln()).max(0.01f64.ln())).abs() < 1e-12);
        logs += log / 3.0;
    }
    let Above::Sampled { slot, .. } = levels.above else { panic!("a level above") };
    assert!((state[slot] - logs).abs() < 1e-12);
    // The input without a say is seen to have none, on the average over divisions of the rows.
    let mut means = [0.0; 3];
    for index in 0..10 {
        let state = posterior.early_stopped(&mut stream(index)).expect("a network").state;
        for (mean, slot) in means.iter_mut().zip(levels.slots.clone()) {
            *mean += 0.1 * state[slot];
        }
    }
    assert!(means[0] > means[2] && means[1] > means[2], "{means:?}");
}

#[test]
fn residuals_are_measured_by_what_their_family_calls_its_scale() {
    // |r| = 0.5 but for an outlier, which only the root mean square sees.
    let residuals: Vec<f64> = (0..21).map(|i| if i == 7 { 50.0 } else { 0.5 }).collect();
    let scale = |family, dof| residual_scale(family, dof, &residuals);
    let mean_square = (20.0 * 0.25 + 2500.0) / 21.0;
    assert!((scale(ResidualFamily::Normal, 1.0) - f64::sqrt(mean_square)).abs() < 1e-12);
    assert!((scale(ResidualFamily::Laplace, 1.0) - 0.5 / 2f64.ln()).abs() < 1e-12);
    // The quartile of the Cauchy distribution is 1, that of t with 4 degrees 0.740697.
    assert!((scale(ResidualFamily::StudentT, 1.0) - 0.5).abs() < 1e-9);
    assert!((scale(ResidualFamily::PerCase, 4.0) - 0.5 / 0.740_697_084).abs() < 1e-6);
}

#[test]
fn starts_of_every_model_are_feasible_and_differ_between_chains() {
    let regression = regression(40);
    let binary = classes((0..40).map(|row| row % 2).collect(), Task::Binary);
    let three = classes((0..40).map(|row| row % 3).collect(), Task::Multiclass);
    let single = classes(vec![1], Task::Binary);
    for (data, rest) in [
        (&regression, ""),
        (&regression, "[residual]\nfamily = 'student-t'"),
        (&regression, "[residual]\nfamily = 'laplace'\nsharing = 'common'"),
        (&regression, "[residual]\nfamily = 'per-case'"),
        (&regression, "[residual]\nby = ['x2']"),
        (&regression, "[residual]\nsharing = 'covariance'"),
        (&regression, "[prior.input_weights]\nfamily = 'student-t'\ndof = 'unknown'"),
        (&binary, "[prior.hidden_bias]\nfamily = 'laplace'"),
        (&three, "[prior.output_weights]\nfixed = 1.0"),
        (&single, ""),
    ] {
        let posterior = posterior(data, &format!("{rest}\n[sampling]\nstart = 'early-stopping'"));
        let mut evaluator = posterior.evaluator();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; posterior.rows()];
        let [first, second] = [0, 1].map(|chain| posterior.start(&mut stream(chain)));
        for state in [&first, &second] {
            let terms = evaluator.evaluate(state, &mut draw, &mut rows).expect("feasible");
            assert!(terms.at(1.0).is_finite(), "{rest}");
        }
        for weight in 0..posterior.shape.len() {
            assert!((first[weight] - second[weight]).abs() > 0.0, "{rest}: weight {weight}");
        }
        if let Observed::Real(residual) = &posterior.observed {
            let slots = match &residual.noise {
                Noise::Scales { levels, .. } => levels.slots.clone(),
                Noise::Covariance { slots, .. } => slots.clone(),
            };
            let log_scale = match &residual.noise {
                Noise::Scales { .. } => first[slots.start],
                Noise::Covariance { .. } => 0.5 * first[slots.start].ln(),
            };
            // The noise has deviation 0.5; of 20 rows' residuals, or half as many.
            assert!((log_scale - 0.5f64.ln()).abs() < 0.8, "{rest}: {}", log_scale.exp());
        }
    }
}

#[test]
fn groups_of_rows_have_residual_scales_of_their_own() {
    let mut data = regression(200);
    let noisy: Vec<bool> = (0..200).map(|row| data.inputs[(row, 2)] > 0.0).collect();
    let mut noise = Seed(7).stream(Purpose::Data, [2, 0]);
    if let Targets::Real { values, .. } = &mut data.targets {
        for (row, noisy) in noisy.iter().enumerate() {
            let deviation = if *noisy { 1.0 } else { 0.1 };
            for target in 0..2 {
                values[(row, target)] = deviation * noise.normal();
            }
        }
    }
    let posterior = posterior(&data, "[residual]\nby = ['x2']");
    let state = posterior.early_stopped(&mut stream(0)).expect("a network").state;
    let Observed::Real(residual) = &posterior.observed else { panic!("real targets") };
    let Noise::Scales { levels, .. } = &residual.noise else { panic!("scales") };
    // Per target, then per group in the order of their values: x2 = -1 is quiet.
    let scales: Vec<f64> = levels.slots.clone().map(|slot| state[slot].exp()).collect();
    assert_eq!(scales.len(), 4);
    for pair in scales.chunks(2) {
        assert!(pair[0] < 0.4 && (0.7..1.5).contains(&pair[1]), "{scales:?}");
    }
}
