//! Train a committee of early-stopped networks [Vehtari 2001, §2.2.5].

use posteria::data::{Dataset, Targets};
use posteria::model::mlp::{Likelihood, Network, Rows, Shape};
use posteria::optimise::{EarlyStopping, early_stopped};
use posteria::random::Stream;
use posteria::target::{Infeasible, LogDensity};

/// Networks in the committee.
const MEMBERS: usize = 10;
/// Standard deviation of the weights that training starts from: near zero, so that the
/// network starts smooth.
const START: f64 = 0.1;

/// The mean output, at the rows of `inputs`, of networks that were trained by least squares on
/// halves of `data` chosen at random, each until the error on its other half rose. One real
/// target; inputs and outputs on the standardised scale.
///
/// # Errors
/// [`Infeasible`] if training cannot start.
pub fn committee(
    data: &Dataset,
    inputs: &Rows,
    hidden: usize,
    stream: &mut Stream,
) -> Result<Vec<f64>, Infeasible> {
    let shape = Shape { inputs: inputs.inputs(), hidden, outputs: 1, direct: false };
    let mut order: Vec<usize> = (0..data.rows()).collect();
    let mut mean = vec![0.0; inputs.len()];
    let mut outputs = mean.clone();
    for _ in 0..MEMBERS {
        stream.shuffle(&mut order);
        let (training, held_out) = order.split_at(order.len() / 2);
        let halves = [training, held_out].map(|rows| Half::new(&data.select(rows)));
        let mut target = halves[0].squares(shape);
        let mut watched = halves[1].squares(shape);
        let start = (0..shape.len()).map(|_| START * stream.normal()).collect();
        let validation = &mut |weights: &[f64]| watched.log_density(weights);
        let options = EarlyStopping::default();
        let stopped = early_stopped(&mut target, validation, start, &options)?;
        Network::new(shape, inputs).outputs(&stopped.position, &mut outputs);
        for (mean, output) in mean.iter_mut().zip(&outputs) {
            *mean += output / MEMBERS as f64;
        }
    }
    Ok(mean)
}

/// Some rows of the data.
struct Half {
    rows: Rows,
    targets: Vec<f64>,
    precisions: Vec<f64>,
}

impl Half {
    fn new(data: &Dataset) -> Self {
        let targets = match &data.targets {
            Targets::Real { values, .. } => values.column(0).to_vec(),
            Targets::Classes { .. } => unreachable!("committees here have real targets"),
        };
        let precisions = vec![1.0; targets.len()];
        Half { rows: Rows::new(&data.inputs), targets, precisions }
    }

    fn squares(&self, shape: Shape) -> Squares<'_> {
        Squares { network: Network::new(shape, &self.rows), half: self }
    }
}

/// Minus half the sum of squared errors, by the weights.
struct Squares<'a> {
    network: Network<'a>,
    half: &'a Half,
}

impl Squares<'_> {
    fn likelihood(half: &Half) -> Likelihood<'_> {
        Likelihood::Squares { targets: &half.targets, precisions: &half.precisions }
    }
}

impl LogDensity for Squares<'_> {
    fn dim(&self) -> usize {
        self.network.shape().len()
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        let value = self.network.log_likelihood(weights, &Self::likelihood(self.half));
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn log_density_gradient(
        &mut self,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let likelihood = Self::likelihood(self.half);
        let value = self.network.log_likelihood_gradient(weights, &likelihood, gradient);
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }
}

#[cfg(test)]
mod tests {
    use posteria::data::Roles;
    use posteria::random::{Purpose, Seed};

    use super::super::table_of;
    use super::*;

    #[test]
    fn a_committee_learns_a_curve_from_clean_rows() {
        let inputs: Vec<f64> = (0..60).map(|row| f64::from(row) / 10.0 - 3.0).collect();
        let targets = inputs.iter().map(|x| (1.3 * x).sin()).collect();
        let table = table_of([("x", inputs), ("y", targets)]);
        let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
        let (data, _) = Dataset::new(&table, &roles).expect("clean data");
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let rows = Rows::new(&data.inputs);
        let outputs = committee(&data, &rows, 8, &mut stream).expect("feasible");
        let Targets::Real { values, .. } = &data.targets else { panic!("real targets") };
        let squares: f64 = outputs.iter().zip(values.column(0)).map(|(f, y)| (f - y).powi(2)).sum();
        // Standardised targets have mean square 1; a straight line leaves more than half of it.
        assert!(squares / 60.0 < 0.02, "{}", squares / 60.0);
    }
}
