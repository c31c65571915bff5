//! Keep the residual model of real targets in a chain's state.
//!
//! Every family is normal given one positive number κ per row and target: the factor of a
//! residual r with scale σ is σ^(-β) exp(-½ κ r²/σ²) at inverse temperature β, up to terms
//! without σ and r. κ = β for normal residuals. For Student's t, (1 + r²/νσ²)^(-s) with
//! s = β(ν+1)/2 is an integral over λ ~ Gamma(s, 1), κ = 2λ/ν [Geweke 1993]; for Laplace,
//! exp(-β|r|/σ) is one over a variance u with an exponential density, κ = 1/u
//! [Andrews & Mallows 1974]. So the power of the likelihood is exact at every β.

mod by;
mod cases;
mod columns;
mod conditional;
mod dof;
mod likelihood;
mod predictive;
mod prior;
mod record;
mod slopes;
mod slopes_conditional;
mod state;

use std::ops::Range;

pub(in crate::model) use by::By;
pub(in crate::model) use cases::LOG_CASE_LIMIT;
pub(in crate::model) use conditional::ResidualConditional;
pub(in crate::model) use dof::ResidualDof;
pub(in crate::model) use likelihood::ResidualLikelihood;
pub(in crate::model) use predictive::ResidualPlaces;
pub use prior::RESIDUAL_DOFS;
pub(in crate::model) use prior::ResidualPrior;
pub(in crate::model) use slopes::Slopes;

use crate::data::{Dataset, Targets};
use crate::density::{Categorical, InverseGamma, InverseWishart, ParameterError};
use crate::model::ModelError;
use crate::model::prior::{Above, DofChoice, DofGrid, DofSource, Levels, ScaleDensity, Spread};
use crate::model::spec::{ResidualFamily, ResidualSharing, Values};
use posteria_linalg::Matrix;

/// The residual model of real targets and its place in the state.
#[derive(Clone, Debug)]
pub(in crate::model) struct Residual {
    pub(in crate::model) family: ResidualFamily,
    /// Standardised targets, o·n + i.
    pub(in crate::model) targets: Vec<f64>,
    pub(in crate::model) rows: usize,
    pub(in crate::model) outputs: usize,
    pub(in crate::model) noise: Noise,
    pub(in crate::model) sharing: ResidualSharing,
    /// Degrees of freedom of Student's t and of per-case variances.
    pub(in crate::model) dof: ResidualDof,
    /// Groups of rows with degrees of freedom each.
    pub(in crate::model) dof_by: Option<DofGroups>,
    /// Entries of the state with κ, o·n + i; none for normal residuals.
    pub(in crate::model) cases: Option<Range<usize>>,
    /// Whether these are parameters of the model, functions being integrated out given them.
    pub(in crate::model) samples_cases: bool,
    /// Values of the columns that `by` names, for every group of rows.
    pub(in crate::model) by: Option<By>,
    /// How the log scales change along inputs.
    pub(in crate::model) slopes: Option<Slopes>,
    /// Whether the scales are known: then the state holds them and nothing moves them.
    pub(in crate::model) known_scales: Option<Vec<f64>>,
    /// Where the model's part of the state ends.
    pub(in crate::model) end: usize,
}

/// Groups of rows with degrees of freedom of their own.
#[derive(Clone, Debug)]
pub(in crate::model) struct DofGroups {
    by: By,
    /// The group of every row.
    of_row: Vec<usize>,
}

impl DofGroups {
    fn new(names: &[String], data: &Dataset) -> Result<Self, ModelError> {
        let by = By::new(("dof_by", names), data)?;
        let of_row = |row: usize| by.group(|k| data.inputs[(row, k)]).unwrap_or(0);
        let of_row = (0..data.rows()).map(of_row).collect();
        Ok(DofGroups { by, of_row })
    }
}

#[derive(Clone, Debug)]
pub(in crate::model) enum Noise {
    /// One scale per target, per group of rows, or for all.
    Scales {
        levels: Levels,
        /// Index of the scale of every residual, o·n + i.
        slot_of: Vec<u32>,
        /// Number of residuals of every scale.
        counts: Vec<f64>,
    },
    /// The covariance matrix of the targets' residuals, O × O.
    Covariance { slots: Range<usize>, prior: InverseWishart },
}

impl Residual {
    /// The residual model of `data`, in the state from entry `first` on.
    pub(in crate::model) fn new(
        prior: &ResidualPrior,
        data: &Dataset,
        first: usize,
    ) -> Result<Self, ModelError> {
        let Targets::Real { values, .. } = &data.targets else {
            unreachable!("only real targets have residuals")
        };
        let (rows, outputs) = (values.rows(), values.columns());
        let by = if prior.by.is_empty() { None } else { Some(By::new(("by", &prior.by), data)?) };
        let dof_by = match &prior.dof_by[..] {
            [] => None,
            names => Some(DofGroups::new(names, data)?),
        };
        let invalid = |_: ParameterError| ModelError::NotAvailable {
            what: "a residual prior of such extreme numbers".into(),
        };
        let mut next = first;
        let mut take = |count: usize| {
            next += count;
            next - count..next
        };
        let noise = if prior.sharing == ResidualSharing::Covariance && outputs > 1 {
            let prior = inverse_wishart(&prior.scale.conjugate(), outputs).map_err(invalid)?;
            Noise::Covariance { slots: take(outputs * outputs), prior }
        } else {
            let per_target = prior.sharing != ResidualSharing::Common && outputs > 1;
            let group_count = by.as_ref().map_or(1, |by| by.labels.len());
            let mut slot_of = Vec::with_capacity(rows * outputs);
            for output in 0..outputs {
                for row in 0..rows {
                    let group = match &by {
                        Some(by) => by.group(|k| data.inputs[(row, k)]).unwrap_or(0),
                        None => 0,
                    };
                    let target = if per_target { output } else { 0 };
                    slot_of.push((target * group_count + group) as u32);
                }
            }
            let count = if per_target { outputs } else { 1 } * group_count;
            let mut counts = vec![0.0; count];
            slot_of.iter().for_each(|slot| counts[*slot as usize] += 1.0);
            let slots = take(count);
            let (above, spread) = match (&by, prior.scale) {
                (Some(_), scale) => {
                    let above = Above::Sampled { slot: take(1).start, prior: scale };
                    (above, Spread::InverseGamma(DofSource::Fixed(prior.by_dof)))
                }
                (None, ScaleDensity::InverseGamma(variance)) => {
                    let dof = DofSource::Fixed(variance.dof());
                    (Above::Fixed(variance.scale()), Spread::InverseGamma(dof))
                }
                (None, ScaleDensity::LogNormal(prior)) => {
                    let logarithm = prior.logarithm();
                    let spread = Spread::LogNormal { log_sd: logarithm.scale() };
                    (Above::Fixed(logarithm.mean().exp()), spread)
                }
            };
            Noise::Scales { levels: Levels { slots, spread, above }, slot_of, counts }
        };
        let slopes = match (&prior.slopes[..], &noise) {
            ([], _) | (_, Noise::Covariance { .. }) => None,
            (names, Noise::Scales { .. }) => {
                let sets = if prior.sharing == ResidualSharing::Common { 1 } else { outputs };
                let sd = prior.slope_sd;
                let slopes = Slopes::new((names, sd), data, (sets, take(0).start))?;
                take(slopes.slots.len());
                Some(slopes)
            }
        };
        let with_dof = matches!(prior.family, ResidualFamily::StudentT | ResidualFamily::PerCase);
        let dof = match &prior.dof {
            DofChoice::Known(dof) => ResidualDof::Fixed(*dof),
            _ if !with_dof => ResidualDof::Fixed(1.0),
            DofChoice::Grid(values) => {
                let uniform = Categorical::new(&vec![1.0; values.len()]).map_err(invalid)?;
                let grid = DofGrid::new(values, &uniform).map_err(invalid)?;
                ResidualDof::Grid { slot: take(1).start, grid }
            }
            DofChoice::Continuous(prior) => {
                ResidualDof::Continuous { slot: take(1).start, prior: *prior }
            }
        };
        if let Some(groups) = dof_by.as_ref().filter(|_| dof.slot().is_some()) {
            take(groups.by.labels.len() - 1);
        }
        let cases = (prior.family != ResidualFamily::Normal).then(|| take(rows * outputs));
        let targets = values.values().to_vec();
        Ok(Residual {
            family: prior.family,
            targets,
            rows,
            outputs,
            noise,
            sharing: prior.sharing,
            dof,
            dof_by,
            cases,
            samples_cases: false,
            by,
            slopes,
            known_scales: None,
            end: next,
        })
    }

    /// Takes the scales of all targets and groups as known.
    ///
    /// # Errors
    /// [`ModelError`] if there is not one value, or one per scale.
    pub(in crate::model) fn know_scales(&mut self, values: &Values) -> Result<(), ModelError> {
        let Noise::Scales { levels, .. } = &self.noise else {
            unreachable!("a covariance matrix has no scales")
        };
        let count = levels.slots.len();
        let logs: Option<Vec<f64>> =
            (0..count).map(|index| values.get(index, count).map(f64::ln)).collect();
        let what = "residual in [hyperparameters]".into();
        let found = values.given().len();
        let logs = logs.ok_or(ModelError::Length { what, expected: count, found })?;
        self.known_scales = Some(logs);
        Ok(())
    }

    /// Whether the residuals are normal given scales alone, without κ, slopes or covariances.
    pub(in crate::model) fn is_normal_with_scales(&self) -> bool {
        self.cases.is_none() && self.slopes.is_none() && matches!(self.noise, Noise::Scales { .. })
    }

    /// Whether the residuals of a target are normal, all with the same scale.
    pub(in crate::model) fn is_normal_with_one_scale(&self) -> bool {
        self.is_normal_with_scales() && self.by.is_none()
    }

    /// How many groups of rows have degrees of freedom of their own.
    fn dof_groups(&self) -> usize {
        self.dof_by.as_ref().map_or(1, |groups| groups.by.labels.len())
    }

    /// The group of the degrees of freedom of the residual at o·n + i.
    fn dof_group(&self, residual: usize) -> usize {
        self.dof_by.as_ref().map_or(0, |groups| groups.of_row[residual % self.rows])
    }

    /// Degrees of freedom of the residual at o·n + i.
    pub(in crate::model) fn dof_of(&self, state: &[f64], residual: usize) -> f64 {
        self.dof.of_group(state, self.dof_group(residual))
    }

    /// Degrees of freedom of a new row by its standardised `input`, given those that a draw holds. Of
    /// values that no training row had: the least of all groups, which has the heaviest tails.
    pub(in crate::model) fn dof_at(&self, shown: &[f64], input: impl Fn(usize) -> f64) -> f64 {
        match (&self.dof_by, shown) {
            (_, []) => self.dof.value(&[]),
            (None, _) => shown[0],
            (Some(groups), _) => match groups.by.group(input) {
                Some(group) => shown[group],
                None => shown.iter().copied().fold(f64::INFINITY, f64::min),
            },
        }
    }

    /// How many residuals every scale has, and the scale of every residual, o·n + i.
    pub(in crate::model) fn groups(&self) -> (&[f64], &[u32]) {
        match &self.noise {
            Noise::Scales { counts, slot_of, .. } => (counts, slot_of),
            Noise::Covariance { .. } => (&[], &[]),
        }
    }

    /// log σ of the residual at o·n + i.
    pub(in crate::model) fn log_scale(&self, state: &[f64], residual: usize) -> f64 {
        match &self.noise {
            Noise::Scales { levels, slot_of, .. } => {
                state[levels.slots.start + slot_of[residual] as usize]
                    + self.offset(state, residual)
            }
            Noise::Covariance { .. } => f64::NAN,
        }
    }

    /// What the slopes add to log σ of the residual at o·n + i.
    pub(in crate::model) fn offset(&self, state: &[f64], residual: usize) -> f64 {
        let of = |slopes: &Slopes| slopes.offset(state, residual / self.rows, residual % self.rows);
        self.slopes.as_ref().map_or(0.0, of)
    }

    /// The factor that the slopes of a draw make of the scale of a new row by its standardised
    /// `input`.
    pub(in crate::model) fn factor(
        &self,
        shown: &[f64],
        target: usize,
        input: impl Fn(usize) -> f64,
    ) -> f64 {
        self.slopes.as_ref().map_or(1.0, |slopes| slopes.factor(shown, target, input))
    }

    /// The sum of what the slopes add to log σ of all residuals.
    pub(in crate::model) fn sum_of_offsets(&self, state: &[f64]) -> f64 {
        match &self.slopes {
            None => 0.0,
            Some(_) => (0..self.targets.len()).map(|index| self.offset(state, index)).sum(),
        }
    }

    /// Degrees of freedom of separate scales about their common one.
    pub(in crate::model) fn group_dof(&self) -> f64 {
        match &self.noise {
            Noise::Scales { levels: Levels { spread: Spread::InverseGamma(dof), .. }, .. } => {
                dof.value(&[])
            }
            _ => f64::INFINITY,
        }
    }

    /// The precision κ/σ² of every residual, given inverse temperature β; none at β = 0, where
    /// the data tell nothing whatever κ is.
    pub(in crate::model) fn precisions(&self, state: &[f64], beta: f64, precisions: &mut [f64]) {
        let Noise::Scales { levels, .. } = &self.noise else {
            unreachable!("a covariance matrix has its own precisions")
        };
        if beta <= 0.0 {
            precisions.fill(0.0);
            return;
        }
        let first = levels.slots.start;
        if levels.slots.len() == 1 && self.slopes.is_none() {
            let precision = (-2.0 * state[first]).exp();
            match &self.cases {
                None => precisions.fill(beta * precision),
                Some(cases) => {
                    for (slot, kappa) in precisions.iter_mut().zip(&state[cases.clone()]) {
                        *slot = kappa * precision;
                    }
                }
            }
            return;
        }
        for (index, slot) in precisions.iter_mut().enumerate() {
            let kappa = self.cases.as_ref().map_or(beta, |cases| state[cases.start + index]);
            *slot = kappa * (-2.0 * self.log_scale(state, index)).exp();
        }
    }
}

/// Σ whose variances have the marginal Inv-gamma(s², ν): ν' = ν + O - 1 degrees of freedom and
/// scatter ν'S0 = νs² I.
fn inverse_wishart(
    variance: &InverseGamma,
    outputs: usize,
) -> Result<InverseWishart, ParameterError> {
    let dof = variance.dof() + outputs as f64 - 1.0;
    let square = variance.dof() / dof * variance.scale() * variance.scale();
    let scale =
        Matrix::from_fn(outputs, outputs, |row, column| if row == column { square } else { 0.0 });
    InverseWishart::new(&scale, dof)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn variances_of_a_covariance_have_the_prior_of_a_single_variance() {
        let variance = InverseGamma::new(0.3, 4.0).unwrap();
        let prior = inverse_wishart(&variance, 3).unwrap();
        let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
        let mut covariance = Matrix::zeros(3, 3);
        let draws = (0..4000).map(|_| {
            prior.draw(&mut stream, &mut covariance);
            variance.cdf(covariance[(1, 1)])
        });
        let mean = draws.sum::<f64>() / 4000.0;
        // Uniform: the mean is off by more than five errors with probability 6e-7.
        assert!((mean - 0.5).abs() < 5.0 / (12.0_f64 * 4000.0).sqrt(), "{mean}");
    }
}
