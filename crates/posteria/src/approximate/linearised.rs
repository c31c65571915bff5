//! Predict with a network taken as linear about some weights.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::{Ensemble, Evidence, average_probability};
use crate::density::special::logistic;
use crate::model::mlp::{MlpPosterior, Rows};
use crate::model::{Evaluator, Posterior};
use crate::predict::{Family, Predictor};

/// Predictive distributions of a network whose weights are N(w̄, A⁻¹) and whose outputs are taken
/// as linear in them about w̄ [MacKay 1992b; MacKay 1992c]: an output is N(f(x, w̄), gᵀA⁻¹g) with
/// g the derivatives of f at w̄, a real target has the variance of its residual added, and the
/// probability of a class is averaged over its log odds.
///
/// Weights that are determined only in products are far from normal, and draws from N(w̄, A⁻¹) fit
/// badly where this distribution of the outputs does not.
pub struct Linearised<'p> {
    posterior: &'p MlpPosterior,
    weights: Vec<f64>,
    precision: Cholesky,
    /// Variance of the residual of every target, standardised; none for classes.
    noise: Vec<f64>,
    family: Family,
}

impl<'p> Linearised<'p> {
    /// Predictions about a mode. `None` for more than two classes and for residuals whose scale
    /// depends on the row.
    pub fn at_mode(posterior: &'p MlpPosterior, mode: &Evidence) -> Option<Self> {
        let family = posterior.predictor()?.family();
        let noise = match family {
            Family::Normal { outputs } => {
                let variances: Vec<f64> = mode.scales.betas.iter().map(|beta| 1.0 / beta).collect();
                match variances.len() {
                    1 => vec![variances[0]; outputs],
                    count if count == outputs => variances,
                    _ => return None,
                }
            }
            Family::Bernoulli => Vec::new(),
            _ => return None,
        };
        let (weights, precision) = (mode.weights.clone(), mode.precision.clone());
        Some(Linearised { posterior, weights, precision, noise, family })
    }

    /// Predictions of an ensemble. `None` for residuals whose scale depends on the row, or has no
    /// mean square.
    pub fn of_ensemble(ensemble: &Ensemble<'p>) -> Option<Self> {
        let posterior = ensemble.posterior();
        let noise = ensemble.residual_variances()?;
        let family = Family::Normal { outputs: noise.len() };
        let (weights, precision) = (ensemble.mean_weights().to_vec(), ensemble.precision().clone());
        Some(Linearised { posterior, weights, precision, noise, family })
    }

    /// What the parameters are those of.
    pub fn family(&self) -> Family {
        self.family
    }

    /// What predicts by a draw of the weights w: outputs are f(x, w̄) + g(x)ᵀ(w - w̄), whose
    /// distribution over draws is that of the outputs here.
    pub fn predictor(&self) -> Box<dyn Predictor + '_> {
        self.posterior.predictor_about(&self.weights)
    }

    /// What records draws of the weights: fitted values, errors and log likelihoods of rows are
    /// those of the linear outputs, the terms of the density those of the network.
    pub fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.posterior.evaluator_about(&self.weights)
    }

    /// The parameters of every row's predictive distribution, row by row, in the user's unit, at
    /// rows × inputs that are standardised as the training data are.
    ///
    /// # Panics
    /// If there is not one column per input.
    pub fn parameters(&self, inputs: &Matrix) -> Vec<f64> {
        self.parameters_at(&Rows::new(inputs))
    }

    /// The same at the rows of the fit, as if they were new.
    pub fn at_training_rows(&self) -> Vec<f64> {
        self.parameters_at(self.posterior.training_rows())
    }

    /// The parameters of the predictive distribution of every row of the fit given the others,
    /// their scales kept: the row's own factor is divided out of the distribution of its outputs
    /// [Vehtari et al. 2016, §3.2]. With outputs N(m, V), residual variances N and targets y that
    /// is N(m - V₋N⁻¹(y - m), V₋) with V₋ = (V⁻¹ - N⁻¹)⁻¹, exact for outputs that are linear in
    /// the weights; for two classes N⁻¹ is p(1 - p) and N⁻¹(y - m) is y - p.
    ///
    /// # Errors
    /// The number of a row, from 0, whose outputs would be undetermined without it.
    pub fn leave_one_out(&self) -> Result<Vec<f64>, usize> {
        let targets = self.posterior.answers();
        let rows = self.posterior.training_rows();
        let mut parameters = Vec::with_capacity(rows.len() * self.family.width());
        let mut failed = None;
        self.for_rows(rows, |row, means, covariance| {
            let observed: Vec<f64> =
                (0..means.len()).map(|output| targets[output * rows.len() + row]).collect();
            match self.without(means, covariance, &observed) {
                Some((means, variances)) => self.push(&means, &variances, &mut parameters),
                None => failed = failed.or(Some(row)),
            }
        });
        failed.map_or(Ok(parameters), Err)
    }

    /// Mean and variances of the outputs of a row without its own factor.
    fn without(&self, means: &[f64], v: &Matrix, observed: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        // N⁻¹, and N⁻¹(y - m).
        let (precisions, pulls): (Vec<f64>, Vec<f64>) = if self.noise.is_empty() {
            let p = logistic(means[0]);
            (vec![p * (1.0 - p)], vec![observed[0] - p])
        } else {
            let residuals = means.iter().zip(observed).zip(&self.noise);
            let pulls = residuals.map(|((mean, y), noise)| (y - mean) / noise).collect();
            (self.noise.iter().map(|noise| noise.recip()).collect(), pulls)
        };
        // V₋ = V + VR(I - W)⁻¹RV with R = N^-½ and W = RVR, the leverage of the row, below 1.
        let count = means.len();
        let root: Vec<f64> = precisions.iter().map(|precision| precision.sqrt()).collect();
        let scaled = |i: usize, j: usize| root[i] * v[(i, j)] * root[j];
        let rest = Matrix::from_fn(count, count, |i, j| f64::from(u8::from(i == j)) - scaled(i, j));
        let rest = Cholesky::new(&rest).ok()?;
        let mut factor = Matrix::from_fn(count, count, |i, j| root[i] * v[(i, j)]);
        rest.solve_lower_matrix(&mut factor);
        let entry = |i: usize, j: usize| {
            v[(i, j)] + (0..count).map(|k| factor[(k, i)] * factor[(k, j)]).sum::<f64>()
        };
        let mean = |i: usize| means[i] - (0..count).map(|j| entry(i, j) * pulls[j]).sum::<f64>();
        Some(((0..count).map(mean).collect(), (0..count).map(|i| entry(i, i)).collect()))
    }

    fn parameters_at(&self, rows: &Rows) -> Vec<f64> {
        let mut parameters = Vec::with_capacity(rows.len() * self.family.width());
        self.for_rows(rows, |_, means, covariance| {
            let variances: Vec<f64> = (0..means.len()).map(|i| covariance[(i, i)]).collect();
            self.push(means, &variances, &mut parameters);
        });
        parameters
    }

    /// Appends the parameters of a row whose outputs have these means and variances.
    fn push(&self, means: &[f64], variances: &[f64], parameters: &mut Vec<f64>) {
        if self.noise.is_empty() {
            let probability = average_probability(means[0], variances[0]);
            parameters.push((probability / (1.0 - probability)).ln());
        }
        for (target, noise) in self.noise.iter().enumerate() {
            let scaling = self.posterior.target_scaling()[target];
            let sd = (variances[target] + noise).sqrt();
            parameters.extend([scaling.invert(means[target]), scaling.scale * sd]);
        }
    }

    /// Gives the outputs of every row and their covariance, standardised.
    fn for_rows(&self, rows: &Rows, mut each: impl FnMut(usize, &[f64], &Matrix)) {
        let count = self.posterior.output_count();
        for first in (0..rows.len()).step_by(BLOCK) {
            let block: Vec<usize> = (first..rows.len().min(first + BLOCK)).collect();
            let here = rows.subset(&block);
            let (outputs, scaled) =
                linear_parts(self.posterior, &self.weights, &self.precision, &here);
            for (index, row) in block.into_iter().enumerate() {
                let at = |output: usize| output * here.len() + index;
                let means: Vec<f64> = (0..count).map(|output| outputs[at(output)]).collect();
                let entry = |i: usize, j: usize| dot(scaled.column(at(i)), scaled.column(at(j)));
                each(row, &means, &Matrix::from_fn(count, count, entry));
            }
        }
    }
}

/// Rows whose derivatives by all weights are held at once.
const BLOCK: usize = 256;

/// Outputs at w̄ and their variances gᵀA⁻¹g, at o · rows + i, on the standardised scale.
pub(super) fn linear_outputs(
    posterior: &MlpPosterior,
    weights: &[f64],
    precision: &Cholesky,
    inputs: &Matrix,
) -> (Vec<f64>, Vec<f64>) {
    let (outputs, scaled) = linear_parts(posterior, weights, precision, &Rows::new(inputs));
    let variance = |at: usize| dot(scaled.column(at), scaled.column(at));
    let variances = (0..outputs.len()).map(variance).collect();
    (outputs, variances)
}

/// Outputs at w̄, at o · rows + i, and for each a column L⁻¹g with A = LLᵀ: the products of two
/// columns are the covariances of outputs.
fn linear_parts(
    posterior: &MlpPosterior,
    weights: &[f64],
    precision: &Cholesky,
    rows: &Rows,
) -> (Vec<f64>, Matrix) {
    let count = rows.len() * posterior.output_count();
    let mut outputs = vec![0.0; count];
    let mut jacobian = Matrix::zeros(count, weights.len());
    posterior.linearize(weights, rows, &mut outputs, &mut jacobian);
    let mut scaled = Matrix::from_fn(weights.len(), count, |weight, at| jacobian[(at, weight)]);
    precision.solve_lower_matrix(&mut scaled);
    (outputs, scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approximate::{Approximation, Estimation, NormalAtMode};
    use crate::data::{Column, Encoder, Roles, Table};
    use crate::draws::Role;
    use crate::model::Regularised;
    use crate::model::mlp::Mlp;
    use crate::model::spec::Spec;
    use crate::random::{Purpose, Seed};

    /// A network of `hidden` units on 40 rows of two inputs and these targets.
    fn network(hidden: usize, targets: &[&str]) -> MlpPosterior {
        let mut stream = Seed(7).stream(Purpose::Data, [0, 0]);
        let columns: Vec<Vec<f64>> =
            (0..4).map(|_| (0..40).map(|_| stream.normal()).collect()).collect();
        let target = |row: usize, slope: f64, noise: usize| {
            columns[0][row] + slope * columns[1][row] + 0.5 * columns[noise][row]
        };
        let y = (0..40).map(|row| target(row, 0.5, 2)).collect();
        let z = (0..40).map(|row| target(row, -1.0, 3)).collect();
        let c = (0..40).map(|row| if target(row, 0.5, 2) > 0.0 { "b" } else { "a" });
        let columns = vec![
            ("u".into(), Column::numbers(columns[0].clone())),
            ("v".into(), Column::numbers(columns[1].clone())),
            ("y".into(), Column::numbers(y)),
            ("z".into(), Column::numbers(z)),
            ("c".into(), Column::from_texts(c).unwrap()),
        ];
        let table = Table::new("memory", columns).unwrap();
        let names: Vec<String> = targets.iter().map(|name| name.to_string()).collect();
        let inputs = Some(vec!["u".into(), "v".into()]);
        let roles = Roles { targets: names.clone(), inputs, ..Roles::default() };
        let data = Encoder::fit(&table, &roles).unwrap().dataset;
        let text =
            format!("[data]\ntarget = {names:?}\n[model]\nkind = 'mlp'\nhidden = {hidden}\n");
        let mut spec = Spec::from_toml(&text).unwrap();
        spec.complete(data.task).unwrap();
        Mlp::new(&spec).unwrap().condition(&data, None).unwrap()
    }

    fn mode(posterior: &MlpPosterior) -> Evidence {
        let model = posterior.regularised().unwrap();
        Evidence::best(&model as &dyn Regularised, Estimation::Evidence, 2, Seed(1)).unwrap()
    }

    #[test]
    fn leaving_out_is_exact_where_the_outputs_are_linear() {
        for targets in [&["y"][..], &["y", "z"]] {
            let posterior = network(0, targets);
            let mode = mode(&posterior);
            let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
            let found = linearised.leave_one_out().unwrap();
            let (rows, outputs) = (posterior.training_rows(), targets.len());
            let count = rows.len();
            let mut values = vec![0.0; count * outputs];
            let mut jacobian = Matrix::zeros(count * outputs, mode.weights.len());
            posterior.linearize(&mode.weights, rows, &mut values, &mut jacobian);
            let factor = mode.precision.factor();
            for row in [0, 17, 39] {
                // Aw = b loses what the row adds to both sides.
                let dim = mode.weights.len();
                let product = |i: usize, j: usize| {
                    (0..=i.min(j)).map(|k| factor[(i, k)] * factor[(j, k)]).sum::<f64>()
                };
                let mut a = Matrix::from_fn(dim, dim, product);
                let mut b: Vec<f64> =
                    (0..dim).map(|i| (0..dim).map(|j| a[(i, j)] * mode.weights[j]).sum()).collect();
                for output in 0..outputs {
                    let at = output * count + row;
                    let beta = linearised.noise[output].recip();
                    for i in 0..dim {
                        let gradient = jacobian[(at, i)];
                        b[i] -= beta * gradient * posterior.answers()[at];
                        (0..dim).for_each(|j| a[(i, j)] -= beta * gradient * jacobian[(at, j)]);
                    }
                }
                let without = Linearised {
                    posterior: &posterior,
                    precision: Cholesky::new(&a).unwrap(),
                    weights: {
                        Cholesky::new(&a).unwrap().solve(&mut b);
                        b
                    },
                    noise: linearised.noise.clone(),
                    family: linearised.family,
                };
                let expected = without.parameters_at(&rows.subset(&[row]));
                for (found, expected) in found[row * expected.len()..].iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-8, "{row}: {found} {expected}");
                }
            }
        }
    }

    /// Means of 4000 draws within five of their standard errors, variances within five of 2/4000:
    /// a false alarm of the 160 comparisons in 10 000 seeds.
    #[test]
    fn draws_of_the_weights_have_the_distribution_of_the_outputs() {
        for target in ["y", "c"] {
            let posterior = network(3, &[target]);
            let mode = mode(&posterior);
            let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
            let rows = posterior.training_rows();
            let (means, scaled) = linear_parts(&posterior, &mode.weights, &mode.precision, rows);
            let variances = (0..40).map(|row| dot(scaled.column(row), scaled.column(row)));
            let normal = NormalAtMode::new(&mode);
            let mut stream = Seed(3).stream(Purpose::Data, [1, 0]);
            let mut state = mode.state.clone();
            let mut draw = vec![0.0; posterior.layout().len()];
            let mut log_likelihood = vec![0.0; 40];
            let width = linearised.family().width();
            let (mut parameters, mut own) = (vec![0.0; 40 * width], vec![0.0; 40]);
            let mut sums = vec![[0.0; 2]; 40];
            let fitted = posterior.layout().range_of(Role::Fitted);
            let (mut evaluator, mut raw) = (linearised.evaluator(), posterior.evaluator());
            let mut predictor = linearised.predictor();
            let draws = 4000;
            for index in 0..draws {
                normal.draw(&mut state, &mut stream);
                let terms = evaluator.evaluate(&state, &mut draw, &mut log_likelihood).unwrap();
                predictor.at_training_rows(&draw, &mut parameters);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let at = parameters[row * width];
                    let (f, shown) = match posterior.target_scaling().first() {
                        Some(scaling) => ((at - scaling.centre) / scaling.scale, at),
                        None => (at, logistic(at)),
                    };
                    let off = f - means[row];
                    sums[0] += off;
                    sums[1] += off * off;
                    let kept = draw[fitted.clone()][row];
                    assert!((kept - shown).abs() < 1e-9 * shown.abs().max(1.0), "{kept} {shown}");
                }
                if index == 0 {
                    let of_network = raw.evaluate(&state, &mut draw, &mut own).unwrap();
                    assert_eq!(terms, of_network, "the density is that of the network");
                    assert_ne!(own, log_likelihood, "and rows are those of the linear outputs");
                }
            }
            let count = f64::from(draws);
            for ([sum, squares], variance) in sums.into_iter().zip(variances) {
                assert!((sum / count).abs() < 5.0 * (variance / count).sqrt(), "{sum} {variance}");
                let ratio = squares / count / variance;
                assert!((ratio - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "{ratio}");
            }
        }
    }

    #[test]
    fn classes_are_left_out_nearly_as_by_fits_without_the_row() {
        let posterior = network(0, &["c"]);
        let mode = mode(&posterior);
        let linearised = Linearised::at_mode(&posterior, &mode).unwrap();
        let left_out = linearised.leave_one_out().unwrap();
        let known = linearised.at_training_rows();
        let sum = |log_odds: &[f64]| -> f64 {
            let rows = log_odds.iter().zip(posterior.answers());
            rows.map(|(a, y)| logistic(if *y > 0.5 { *a } else { -a }).ln()).sum()
        };
        // A row that is left out is predicted worse, by about one unit per weight in all.
        let gap = sum(&known) - sum(&left_out);
        assert!(gap > 0.5 && gap < 4.5, "{gap}");
        let rows = left_out.iter().zip(&known).zip(posterior.answers());
        for ((out, known), y) in rows {
            assert!(if *y > 0.5 { out <= known } else { out >= known }, "{out} {known} {y}");
        }
    }
}
