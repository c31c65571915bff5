//! Bring a design matrix of your own to the evidence framework.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use crate::model::{Decay, Noise, Outputs, Regularised, Response, Scales};
use crate::random::Stream;

/// Real targets y = Φw + e with a design matrix Φ, weights N(0, 1/α) by groups and residuals
/// N(0, 1/β): a model that is linear in its parameters. Its states are its weights.
#[derive(Clone, Debug)]
pub struct Design {
    matrix: Matrix,
    targets: Vec<f64>,
    decays: Vec<Decay>,
    noise: Noise,
    group_of: Vec<u32>,
}

impl Design {
    /// A model of the rows of `matrix`, one per target, with one column per weight. The residual
    /// precision β is estimated unless `known_beta` says what it is.
    ///
    /// # Panics
    /// If there is not one target per row, or the groups do not hold every weight once, in order.
    #[track_caller]
    pub fn new(
        matrix: Matrix,
        targets: Vec<f64>,
        decays: Vec<Decay>,
        known_beta: Option<f64>,
    ) -> Self {
        assert_eq!(matrix.rows(), targets.len(), "one target per row");
        let ends: Vec<usize> = decays.iter().map(|decay| decay.members.end).collect();
        let starts = [0].iter().chain(&ends);
        let in_order = decays.iter().zip(starts).all(|(decay, end)| decay.members.start == *end);
        assert!(in_order && ends.last() == Some(&matrix.columns()), "groups hold every weight");
        let count = targets.len() as f64;
        let (scale, dof) =
            known_beta.map_or((1.0, 0.0), |beta| (beta.sqrt().recip(), f64::INFINITY));
        let noise = Noise { name: "residual".into(), count, scale, dof };
        let group_of = vec![0; targets.len()];
        Design { matrix, targets, decays, noise, group_of }
    }
}

impl Regularised for Design {
    fn decays(&self) -> Vec<Decay> {
        self.decays.clone()
    }

    fn noises(&self) -> Vec<Noise> {
        vec![self.noise.clone()]
    }

    fn response(&self) -> Response<'_> {
        Response::Real { targets: &self.targets, group_of: &self.group_of }
    }

    fn outputs<'p>(&'p self) -> Box<dyn Outputs + 'p> {
        Box::new(DesignOutputs { design: self, slopes: vec![0.0; self.targets.len()] })
    }

    /// Zero: there is one mode.
    fn start(&self, _stream: &mut Stream) -> Vec<f64> {
        vec![0.0; self.matrix.columns()]
    }

    fn state(&self, weights: &[f64], _scales: &Scales) -> Vec<f64> {
        weights.to_vec()
    }

    fn log_unit(&self) -> f64 {
        0.0
    }

    fn units(&self) -> Vec<f64> {
        vec![1.0]
    }
}

struct DesignOutputs<'d> {
    design: &'d Design,
    slopes: Vec<f64>,
}

impl Outputs for DesignOutputs<'_> {
    fn len(&self) -> usize {
        self.slopes.len()
    }

    fn rows(&self) -> usize {
        self.slopes.len()
    }

    fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        matrix_vector(&self.design.matrix, weights, outputs);
    }

    fn log_likelihood(&mut self, weights: &[f64], precisions: &[f64], gradient: &mut [f64]) -> f64 {
        matrix_vector(&self.design.matrix, weights, &mut self.slopes);
        let mut value = 0.0;
        let pairs = self.slopes.iter_mut().zip(&self.design.targets).zip(precisions);
        for ((slot, target), beta) in pairs {
            let residual = target - *slot;
            value -= 0.5 * beta * residual * residual;
            *slot = beta * residual;
        }
        transposed_matrix_vector(&self.design.matrix, &self.slopes, gradient);
        value
    }

    fn jacobian(&mut self, _weights: &[f64], jacobian: &mut Matrix) {
        jacobian.values_mut().copy_from_slice(self.design.matrix.values());
    }
}
