//! Turn inputs into the columns that a model is linear in.

use std::f64::consts::TAU;
use std::ops::Range;

use posteria_linalg::Matrix;

use crate::data::{Dataset, Standardization};
use crate::model::ModelError;
use crate::model::spec::BasisSpec;

/// The columns of the design matrix: the inputs themselves, or functions of them.
///
/// Functions act on the user's scale. A power beyond the first is that of x less its mean over
/// the training rows, if x was standardised, for powers of numbers far from 0 are hardly told
/// apart. The columns of a standardised input are standardised over the training rows in turn;
/// those of one that was left as it is are left as they are. Indicators of classes are left
/// alone: every function of them is linear in them.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    inputs: Vec<Input>,
    /// Name of every column.
    pub(super) names: Vec<String>,
    /// How every column was standardised.
    pub(super) scaling: Vec<Standardization>,
    /// The columns of every input.
    pub(super) spans: Vec<Range<usize>>,
    /// Whether there are functions at all.
    pub(super) expanded: bool,
}

#[derive(Clone, Debug)]
struct Input {
    scaling: Standardization,
    /// None for the input itself.
    functions: Option<Functions>,
}

/// The functions of one input.
#[derive(Clone, Debug)]
enum Functions {
    Powers { degree: usize, centre: f64 },
    Bumps { centres: Vec<f64>, width: f64 },
    Waves { period: f64, terms: usize },
}

impl Functions {
    fn new(basis: &BasisSpec, scaling: Standardization) -> Self {
        match basis {
            BasisSpec::Polynomial { degree } => {
                Functions::Powers { degree: *degree, centre: scaling.centre }
            }
            BasisSpec::Gaussian { centres, width } => {
                Functions::Bumps { centres: centres.clone(), width: *width }
            }
            BasisSpec::Fourier { period, terms } => {
                Functions::Waves { period: *period, terms: *terms }
            }
        }
    }

    /// The function with this index at `x`, on the user's scale.
    fn value(&self, index: usize, x: f64) -> f64 {
        match self {
            Functions::Powers { .. } if index == 0 => x,
            Functions::Powers { centre, .. } => (x - centre).powi(index as i32 + 1),
            Functions::Bumps { centres, width } => {
                let z = (x - centres[index]) / width;
                (-0.5 * z * z).exp()
            }
            Functions::Waves { period, .. } => {
                // The remainder keeps all digits of x where it is many periods.
                let angle = TAU * (index / 2 + 1) as f64 * ((x % period) / period);
                if index.is_multiple_of(2) { angle.sin() } else { angle.cos() }
            }
        }
    }

    fn names(&self, input: &str) -> Vec<String> {
        match self {
            Functions::Powers { degree, centre } => {
                let base =
                    if centre.abs() > 0.0 { format!("({input}-mean)") } else { input.to_string() };
                let power = |k: usize| format!("{base}^{k}");
                std::iter::once(input.to_string()).chain((2..=*degree).map(power)).collect()
            }
            Functions::Bumps { centres, .. } => {
                centres.iter().map(|centre| format!("gaussian({input} at {centre})")).collect()
            }
            Functions::Waves { terms, .. } => (1..=*terms)
                .flat_map(|term| [format!("sin{term}({input})"), format!("cos{term}({input})")])
                .collect(),
        }
    }
}

impl Columns {
    /// The columns that `basis` makes of the inputs of `data`.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`] if a function of a training row is no ordinary number.
    pub(super) fn new(basis: Option<&BasisSpec>, data: &Dataset) -> Result<Self, ModelError> {
        let mut columns = Columns {
            inputs: Vec::new(),
            names: Vec::new(),
            scaling: Vec::new(),
            spans: Vec::new(),
            expanded: basis.is_some(),
        };
        for (k, name) in data.input_names.iter().enumerate() {
            let scaling = data.input_scaling[k];
            let values = data.inputs.column(k);
            let basis = basis.filter(|_| !is_indicator(name, values, scaling));
            let functions = basis.map(|basis| Functions::new(basis, scaling));
            let first = columns.names.len();
            match &functions {
                None => {
                    columns.names.push(name.clone());
                    columns.scaling.push(scaling);
                }
                Some(functions) => {
                    let standardized = scaling != Standardization::IDENTITY;
                    for (index, name) in functions.names(name).into_iter().enumerate() {
                        let values: Vec<f64> = values
                            .iter()
                            .map(|x| functions.value(index, scaling.invert(*x)))
                            .collect();
                        let row = values.iter().position(|value| !value.is_finite());
                        let map = match (row, standardized) {
                            (None, true) => Standardization::fit(&values),
                            (None, false) => Some(Standardization::IDENTITY),
                            _ => None,
                        };
                        let Some(map) = map else {
                            return Err(ModelError::NotFinite {
                                column: name,
                                row: row.unwrap_or(0),
                            });
                        };
                        columns.scaling.push(map);
                        columns.names.push(name);
                    }
                }
            }
            columns.spans.push(first..columns.names.len());
            columns.inputs.push(Input { scaling, functions });
        }
        Ok(columns)
    }

    /// Number of columns.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// Writes the standardised columns of standardised `inputs`, from column `first` of `out` on.
    pub(super) fn write(&self, inputs: &Matrix, first: usize, out: &mut Matrix) {
        for (k, (input, span)) in self.inputs.iter().zip(&self.spans).enumerate() {
            for (index, column) in span.clone().enumerate() {
                let slots = out.column_mut(first + column).iter_mut().zip(inputs.column(k));
                match &input.functions {
                    None => slots.for_each(|(slot, x)| *slot = *x),
                    Some(functions) => slots.for_each(|(slot, x)| {
                        let value = functions.value(index, input.scaling.invert(*x));
                        *slot = self.scaling[column].apply(value);
                    }),
                }
            }
        }
    }

    /// The standardised columns of one row of inputs on the user's scale.
    ///
    /// # Panics
    /// If there is not one value per input.
    pub(super) fn of_row(&self, inputs: &[f64]) -> Vec<f64> {
        assert_eq!(inputs.len(), self.inputs.len(), "one value per input");
        let mut row = Vec::with_capacity(self.len());
        for ((input, span), &x) in self.inputs.iter().zip(&self.spans).zip(inputs) {
            for (index, column) in span.clone().enumerate() {
                let functions = input.functions.as_ref();
                let value = functions.map_or(x, |functions| functions.value(index, x));
                row.push(self.scaling[column].apply(value));
            }
        }
        row
    }
}

/// Whether a column is the indicator of a class: named after it, and 0 or 1 in every row.
fn is_indicator(name: &str, values: &[f64], scaling: Standardization) -> bool {
    let named = name.ends_with(']') && name.contains('[');
    named
        && values.iter().all(|x| {
            let x = scaling.invert(*x);
            // Up to the rounding of a trip to the standard scale and back.
            x.abs() < 1e-9 || (x - 1.0).abs() < 1e-9
        })
}
