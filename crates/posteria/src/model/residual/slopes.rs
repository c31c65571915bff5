//! Let the log scale of residuals be linear in some inputs.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::by::inputs_of;
use crate::data::Dataset;
use crate::density::special::LOG_SQRT_2PI;
use crate::model::ModelError;
use crate::model::prior::limited;
use crate::random::Stream;

/// Spread of starting slopes between chains.
const SPREAD: f64 = 0.1;

/// log σ_i = a + Σ_k b_k z_ik with the standardised inputs z_k of row i and b_k ~ N(0, τ²), after
/// [Vehtari 2001, eq. 2.15] on the log scale, where σ² stays positive whatever b is
/// [Cook & Weisberg 1983; Harvey 1976]. Each target has slopes of its own, or all the same.
#[derive(Clone, Debug)]
pub(in crate::model) struct Slopes {
    /// Entries of the state with b, those of a target next to each other.
    pub(in crate::model) slots: Range<usize>,
    /// Columns of the inputs, one slope each.
    columns: Vec<usize>,
    /// Names of these inputs.
    pub(super) names: Vec<String>,
    /// Their standard deviations in the user's unit.
    units: Vec<f64>,
    /// z, rows × columns.
    values: Matrix,
    /// τ.
    sd: f64,
}

impl Slopes {
    /// Slopes along the inputs `names` of `data`, for `sets` of targets, in the state from entry
    /// `first` on.
    pub(super) fn new(
        (names, sd): (&[String], f64),
        data: &Dataset,
        (sets, first): (usize, usize),
    ) -> Result<Self, ModelError> {
        let mut columns = Vec::new();
        for name in names {
            columns.extend(inputs_of(("slopes", name), data)?);
        }
        columns.sort_unstable();
        columns.dedup();
        Ok(Slopes {
            slots: first..first + sets * columns.len(),
            names: columns.iter().map(|k| data.input_names[*k].clone()).collect(),
            units: columns.iter().map(|k| data.input_scaling[*k].scale).collect(),
            values: Matrix::from_fn(data.rows(), columns.len(), |row, k| {
                data.inputs[(row, columns[k])]
            }),
            columns,
            sd,
        })
    }

    /// Number of slopes of a target.
    pub(super) fn count(&self) -> usize {
        self.columns.len()
    }

    /// Number of targets with slopes of their own; 1 where all have the same.
    pub(super) fn sets(&self) -> usize {
        self.slots.len() / self.columns.len()
    }

    /// Entries of the state with the slopes of a target.
    pub(in crate::model) fn of_target(&self, target: usize) -> Range<usize> {
        let first = self.slots.start + (target % self.sets()) * self.count();
        first..first + self.count()
    }

    /// z, rows × columns.
    pub(super) fn values(&self) -> &Matrix {
        &self.values
    }

    /// τ.
    pub(super) fn sd(&self) -> f64 {
        self.sd
    }

    /// Σ b_k z_ik of a target and a row.
    pub(super) fn offset(&self, state: &[f64], target: usize, row: usize) -> f64 {
        let slopes = state[self.of_target(target)].iter().enumerate();
        slopes.map(|(k, b)| b * self.values[(row, k)]).sum()
    }

    /// The factor exp(Σ b_k z_k) of the scale of a new row by its standardised `input`, given the
    /// slopes that a draw holds. Far out it ends where its square is still a number.
    pub(super) fn factor(&self, shown: &[f64], target: usize, input: impl Fn(usize) -> f64) -> f64 {
        let own = &shown[(target % self.sets()) * self.count()..][..self.count()];
        let terms = own.iter().zip(&self.units).zip(&self.columns);
        limited(terms.map(|((b, unit), column)| b * unit * input(*column)).sum()).exp()
    }

    /// Slopes as draws show them, of log σ per unit of the input.
    pub(super) fn shown<'a>(&'a self, state: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        state[self.slots.clone()].iter().zip(self.units.iter().cycle()).map(|(b, unit)| b / unit)
    }

    /// Reads what [`Slopes::shown`] tells.
    pub(super) fn restore(&self, mut take: impl FnMut() -> f64, state: &mut [f64]) {
        for (b, unit) in state[self.slots.clone()].iter_mut().zip(self.units.iter().cycle()) {
            *b = take() * unit;
        }
    }

    /// Log prior density; `add` receives the derivative with respect to every entry.
    pub(in crate::model) fn log_prior(
        &self,
        state: &[f64],
        mut add: impl FnMut(usize, f64),
    ) -> f64 {
        let precision = self.sd.powi(-2);
        let constant = LOG_SQRT_2PI + self.sd.ln();
        let mut value = 0.0;
        for slot in self.slots.clone() {
            value -= 0.5 * precision * state[slot].powi(2) + constant;
            add(slot, -precision * state[slot]);
        }
        value
    }

    /// Hands the derivatives with respect to the slopes to `add`, given that with respect to log σ
    /// of a row of a target.
    pub(in crate::model) fn add_gradient(
        &self,
        (target, row): (usize, usize),
        derivative: f64,
        add: &mut (impl FnMut(usize, f64) + ?Sized),
    ) {
        for (k, slot) in self.of_target(target).enumerate() {
            add(slot, derivative * self.values[(row, k)]);
        }
    }

    /// Draws the slopes from their prior.
    pub(super) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        state[self.slots.clone()].iter_mut().for_each(|b| *b = self.sd * stream.normal());
    }

    /// Puts the slopes where chains start: about 0.
    pub(super) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        state[self.slots.clone()].iter_mut().for_each(|b| *b = SPREAD * stream.normal());
    }
}
