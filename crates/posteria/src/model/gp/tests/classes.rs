//! Classes: chains against exact answers, whatever the sites, and resumed bit for bit.

use posteria_linalg::{Cholesky, Matrix};

use super::super::observed::Observed;
use super::posterior;
use crate::data::{Dataset, Targets};
use crate::density::special::normal_cdf;
use crate::model::gp::GpPosterior;
use crate::model::outcome::two_classes;
use crate::model::{ModelError, Posterior};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Stage, Sweep};

/// Standard deviation of log hyperparameters in these tests.
pub(super) const LOG_SD: f64 = 0.7;
/// Log-normal priors about 1.
pub(super) const PRIORS: &str = "[prior.magnitude]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.7\n\
    [prior.relevance]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.7\nwidth_scaled = false\n";
/// How latents are moved.
pub(super) const KERNELS: [&str; 4] =
    ["", "kernel = 'hmc'", "latents = 'elliptical'", "latents = 'metropolis'"];
/// Keys of `[model]` and numbers of classes.
pub(super) const TARGETS: [(&str, usize); 3] = [("", 2), ("link = 'probit'", 2), ("", 3)];

const BATCHES: usize = 64;
/// |z| of a mean over 64 batches passes this by chance with probability 1e-6; the tests of
/// classes look at about 3000 means. Seeds are fixed.
pub(super) const FAR: f64 = 5.4;

pub(super) fn stream(index: u64) -> Stream {
    Seed(1999).stream(Purpose::Data, [index, 0])
}

/// Two inputs, nothing standardised.
pub(in crate::model::gp) fn dataset(codes: &[usize], classes: usize) -> Dataset {
    let inputs = Matrix::from_fn(codes.len(), 2, |row, input| match input {
        0 => (0.9 * row as f64).sin() * 1.5,
        _ => (0.4 + 1.7 * row as f64).cos(),
    });
    let labels = (0..classes).map(|class| format!("class {class}")).collect();
    let targets = Targets::Classes { name: "y".into(), labels, codes: codes.to_vec() };
    Dataset { input_names: vec!["a".into(), "b".into()], ..Dataset::unscaled(inputs, targets) }
}

/// Functions of all classes of a row: of two classes 0 and f, else those of the contrasts.
pub(super) fn class_functions(posterior: &GpPosterior, state: &[f64], row: usize) -> Vec<f64> {
    let rows = posterior.row_count();
    let of_row = |j: usize| state[posterior.latents.start + j * rows + row];
    match &posterior.observed {
        Observed::Multiclass { contrasts, .. } => {
            let mut classes = vec![0.0; contrasts.classes];
            let values: Vec<f64> = (0..contrasts.classes - 1).map(of_row).collect();
            contrasts.expand(&values, &mut classes);
            classes
        }
        _ => vec![0.0, of_row(0)],
    }
}

/// Probabilities of all classes of a row.
pub(super) fn probabilities(posterior: &GpPosterior, state: &[f64], row: usize) -> Vec<f64> {
    let functions = class_functions(posterior, state, row);
    if let Observed::Binary { link, .. } = &posterior.observed {
        let p = two_classes::probability(*link, functions[1]);
        return vec![1.0 - p, p];
    }
    let total: f64 = functions.iter().map(|f| f.exp()).sum();
    functions.iter().map(|f| f.exp() / total).collect()
}

/// Finds step sizes, proposals and sites from `state` on.
pub(super) fn tune(sweep: &mut Sweep<'_>, state: &mut [f64], stream: &mut Stream) {
    for (adapt, passes) in
        [(Adapt::StepSize, 30), (Adapt::Metric, 150), (Adapt::StepSize, 100), (Adapt::Nothing, 0)]
    {
        sweep.enter(&Stage { adapt, ..Stage::default() });
        for _ in 0..passes {
            sweep.pass(state, stream);
        }
    }
}

/// How many errors, from batch means, the mean of the column that is furthest off differs from
/// what is expected.
pub(super) fn assert_means(rows: &[Vec<f64>], expected: &[f64], what: &str) {
    for (index, expected) in expected.iter().enumerate() {
        let size = rows.len() / BATCHES;
        let batches = rows.chunks_exact(size);
        let means: Vec<f64> = batches
            .map(|batch| batch.iter().map(|row| row[index]).sum::<f64>() / size as f64)
            .collect();
        let count = means.len() as f64;
        let mean = means.iter().sum::<f64>() / count;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let z = (mean - expected) / (variance / count).sqrt();
        assert!(z.abs() < FAR, "{what}: function {index} is {mean}, {z} errors from {expected}");
    }
}

/// What a world of rows is for quadrature: class codes, link, and whether the magnitude is known.
#[derive(Clone, Copy)]
struct Exact {
    codes: &'static [usize],
    classes: usize,
    probit: bool,
    known_magnitude: bool,
}

const RELEVANCE: f64 = 0.7;
const MAGNITUDE: f64 = 1.8;
const PASSES: usize = 4096;

impl Exact {
    fn posterior(&self, sampling: &str) -> GpPosterior {
        let link = if self.probit { "link = 'probit'\n" } else { "" };
        let prior = "[prior.magnitude]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.7\n";
        let known =
            if self.known_magnitude { format!("magnitude = {MAGNITUDE}\n") } else { String::new() };
        let prior = if self.known_magnitude { "" } else { prior };
        let text = format!(
            "{link}[sampling]\n{sampling}\n{prior}[hyperparameters]\nrelevance = {RELEVANCE}\n{known}"
        );
        posterior(&text, &dataset(self.codes, self.classes))
    }

    /// Differences of functions, squashed lest rare excursions decide the means; their squares and
    /// products; log η.
    fn functions(&self, log_magnitude: f64, classes: &[Vec<f64>]) -> Vec<f64> {
        let mut differences = Vec::new();
        for row in classes {
            let squashed = |d: f64| d / (1.0 + d * d).sqrt();
            differences.extend(row.windows(2).map(|pair| squashed(pair[1] - pair[0])));
        }
        let mut out = differences.clone();
        out.extend(differences.iter().map(|d| d * d));
        out.extend(differences.windows(2).map(|pair| pair[0] * pair[1]));
        if !self.known_magnitude {
            out.extend([log_magnitude, log_magnitude * log_magnitude]);
            out.push(log_magnitude * differences[0]);
        }
        out
    }

    /// Means of [`Exact::functions`] by quadrature over log η and the noise of every function of
    /// every class; sums over equally spaced points are exact for such smooth integrands.
    fn means(&self, beta: f64) -> Vec<f64> {
        let rows = self.codes.len();
        let data = dataset(self.codes, self.classes);
        // Of two classes one function matters; of more, one each.
        let free = if self.classes == 2 { 1 } else { self.classes };
        let dim = free * rows;
        let points = if dim + usize::from(!self.known_magnitude) > 3 { 25 } else { 41 };
        let at = |index: usize| 5.5 * (2.0 * index as f64 / (points - 1) as f64 - 1.0);
        let mut sums = Vec::new();
        let mut total = 0.0;
        for outer in 0..if self.known_magnitude { 1 } else { points } {
            let t = if self.known_magnitude { 0.0 } else { at(outer) };
            let log_magnitude = if self.known_magnitude { MAGNITUDE.ln() } else { LOG_SD * t };
            let k = Matrix::from_fn(rows, rows, |i, j| {
                let distance = |k| (data.inputs[(i, k)] - data.inputs[(j, k)]).powi(2);
                let r = RELEVANCE * RELEVANCE * (distance(0) + distance(1));
                (2.0 * log_magnitude - r).exp() + if i == j { 0.01 } else { 0.0 }
            });
            let factor = Cholesky::new(&k).unwrap();
            for mut index in 0..points.pow(dim as u32) {
                let mut z = vec![0.0; dim];
                for z in &mut z {
                    *z = at(index % points);
                    index /= points;
                }
                let square: f64 = z.iter().map(|z| z * z).sum::<f64>() + t * t;
                if square > 32.0 {
                    continue;
                }
                z.chunks_exact_mut(rows).for_each(|function| factor.multiply_lower(function));
                let classes: Vec<Vec<f64>> = (0..rows)
                    .map(|row| match free {
                        1 => vec![0.0, z[row]],
                        _ => (0..free).map(|class| z[class * rows + row]).collect(),
                    })
                    .collect();
                let likelihood: f64 = classes
                    .iter()
                    .zip(self.codes)
                    .map(|(f, code)| match self.probit {
                        true => normal_cdf(if *code == 1 { f[1] } else { -f[1] }),
                        false => f[*code].exp() / f.iter().map(|f| f.exp()).sum::<f64>(),
                    })
                    .product();
                let weight = (-0.5 * square).exp() * likelihood.powf(beta);
                total += weight;
                let functions = self.functions(log_magnitude, &classes);
                sums.resize(functions.len(), 0.0);
                sums.iter_mut().zip(functions).for_each(|(sum, f)| *sum += weight * f);
            }
        }
        sums.iter().map(|sum| sum / total).collect()
    }

    /// A chain of this kernel; after warm-up the precisions of sites are multiplied by `spoilt`, and
    /// their shifts are changed.
    fn check(&self, sampling: &str, beta: f64, exact: &[f64], spoilt: Option<f64>) {
        let posterior = self.posterior(sampling);
        let mut stream = stream(3);
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(beta);
        tune(&mut sweep, &mut state, &mut stream);
        if let Some(factor) = spoilt {
            let mut memory = sweep.memory();
            // At the end of the memory: precisions by blocks, then shifts.
            let functions = posterior.observed.functions();
            let shifts = memory[0].len() - self.codes.len() * functions;
            let precisions = shifts - self.codes.len() * functions * functions;
            memory[0][precisions..shifts].iter_mut().for_each(|w| *w *= factor);
            memory[0][shifts..].iter_mut().for_each(|h| *h += 0.3);
            sweep.recall(&memory).unwrap();
        }
        let mut rows = Vec::new();
        for _ in 0..PASSES {
            sweep.pass(&mut state, &mut stream);
            let classes: Vec<_> =
                (0..self.codes.len()).map(|row| class_functions(&posterior, &state, row)).collect();
            rows.push(self.functions(state[0], &classes));
        }
        let what = format!(
            "{:?}, probit {}, known {}, {sampling}, β = {beta}, sites {spoilt:?}",
            self.codes, self.probit, self.known_magnitude
        );
        assert_means(&rows, exact, &what);
    }

    fn check_all(&self) {
        for beta in [1.0, 0.3] {
            let exact = self.means(beta);
            for sampling in KERNELS {
                self.check(sampling, beta, &exact, None);
            }
            // That chains are right whatever their sites is seen at one temperature. Much narrower
            // sites would be right too, but slow.
            let spoilt: &[f64] = if beta < 1.0 { &[] } else { &[0.2, 2.0] };
            for factor in spoilt {
                self.check("", beta, &exact, Some(*factor));
                self.check("kernel = 'hmc'", beta, &exact, Some(*factor));
            }
        }
    }
}

#[test]
fn two_classes_with_known_hyperparameters_are_those_of_quadrature() {
    let exact = Exact { codes: &[1, 0, 1], classes: 2, probit: false, known_magnitude: true };
    exact.check_all();
    Exact { probit: true, ..exact }.check_all();
}

#[test]
fn two_classes_with_an_unknown_magnitude_are_those_of_quadrature() {
    let exact = Exact { codes: &[1, 1], classes: 2, probit: false, known_magnitude: false };
    exact.check_all();
    Exact { probit: true, ..exact }.check_all();
}

/// Also shows that the common part of the classes is integrated out: quadrature keeps it.
#[test]
fn three_classes_are_those_of_quadrature() {
    Exact { codes: &[1], classes: 3, probit: false, known_magnitude: false }.check_all();
}

/// Everything that a chain does next follows from its memory, state and stream.
#[test]
fn a_resumed_chain_is_the_same_bit_for_bit() {
    let codes: Vec<usize> = (0..9).map(|row| (row * row) % 3).collect();
    let stages = [(Adapt::StepSize, 14), (Adapt::Metric, 31), (Adapt::StepSize, 12)];
    for (model, classes) in TARGETS {
        let codes: Vec<usize> = codes.iter().map(|code| code % classes).collect();
        for sampling in KERNELS {
            let text = format!("{model}\n[sampling]\n{sampling}\n{PRIORS}");
            let posterior = posterior(&text, &dataset(&codes, classes));
            let mut stream = stream(4);
            let mut state = posterior.start(&mut stream);
            let mut sweep = posterior.sweep(1.0);
            let (mut resumed_state, mut resumed_stream) =
                (state.clone(), Stream::at(stream.position()));
            let mut resumed = posterior.sweep(1.0);
            for (adapt, passes) in stages.into_iter().chain([(Adapt::Nothing, 15)]) {
                let stage = Stage { adapt, ..Stage::default() };
                sweep.enter(&stage);
                resumed.enter(&stage);
                for pass in 0..passes {
                    sweep.pass(&mut state, &mut stream);
                    if pass % 5 == 2 {
                        let memory = resumed.memory();
                        resumed = posterior.sweep(1.0);
                        resumed.enter(&stage);
                        resumed.recall(&memory).unwrap();
                    }
                    resumed.pass(&mut resumed_state, &mut resumed_stream);
                    let bits =
                        |state: &[f64]| state.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&state), bits(&resumed_state), "{text}, {adapt:?}, {pass}");
                }
            }
            let memory = sweep.memory();
            let mut other = posterior.sweep(1.0);
            let damaged: Vec<Vec<f64>> = memory.iter().map(|m| m[..m.len() / 2].to_vec()).collect();
            if memory.iter().any(|memory| !memory.is_empty()) {
                assert!(other.recall(&damaged).is_err(), "{text}");
            }
        }
    }
}

/// Sure rows, one class only, one row, equal rows and no jitter: nothing but finite numbers.
#[test]
fn hard_data_do_no_harm() {
    let sizes: [(&[usize], usize, &str); 5] = [
        (&[0; 12], 2, ""),
        (&[0, 0, 0, 0, 1, 1, 1, 1, 1, 1], 2, "link = 'probit'"),
        (&[1], 2, "jitter = 0.0"),
        (&[2, 2, 2, 2, 2, 2], 3, ""),
        (&[0, 1, 2, 3, 4, 0, 1, 2, 3, 4], 5, "mean = 'linear'"),
    ];
    for (codes, classes, model) in sizes {
        for sampling in KERNELS {
            let mut data = dataset(codes, classes);
            for row in 0..codes.len() / 2 {
                data.inputs[(row, 0)] = 3e3;
                data.inputs[(row, 1)] = -1e4;
            }
            let posterior = posterior(&format!("{model}\n[sampling]\n{sampling}"), &data);
            let mut stream = stream(5);
            let mut state = posterior.start(&mut stream);
            let mut sweep = posterior.sweep(1.0);
            let mut evaluator = posterior.evaluator();
            let mut draw = vec![0.0; posterior.layout().len()];
            let mut log_likelihood = vec![0.0; posterior.rows()];
            for adapt in [Adapt::StepSize, Adapt::Metric, Adapt::Nothing] {
                sweep.enter(&Stage { adapt, ..Stage::default() });
                for _ in 0..40 {
                    sweep.pass(&mut state, &mut stream);
                    assert!(state.iter().all(|value| value.is_finite()), "{codes:?} {sampling}");
                }
                let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood);
                assert!(terms.is_ok(), "{codes:?} {model} {sampling}: {terms:?}");
            }
        }
    }
}

#[test]
fn what_classes_do_not_have_is_refused() {
    use crate::model::gp::GaussianProcess;
    use crate::model::spec::Spec;
    let spec = |text: &str| Spec::from_toml(&format!("[model]\nkind = 'gp'\n{text}")).unwrap();
    let nuts = "task = 'binary'\n[sampling]\nkernel = 'nuts'";
    assert!(GaussianProcess::new(&spec(nuts)).is_err());
    let both = "task = 'multiclass'\n[sampling]\nkernel = 'hmc'\nlatents = 'elliptical'";
    assert!(GaussianProcess::new(&spec(both)).is_err());
    // A task that only the data tell.
    let model = GaussianProcess::new(&spec("[sampling]\nkernel = 'nuts'")).unwrap();
    let error = model.condition(&dataset(&[0, 1, 1], 2), None).err();
    assert!(matches!(error, Some(ModelError::NotAvailable { .. })), "{error:?}");
}
