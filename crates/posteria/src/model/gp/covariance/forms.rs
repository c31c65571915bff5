//! Find what evaluates a factor, by its function.

use super::constant::Constant;
use super::exponential::Exponential;
use super::factor::{Factor, Function};
use super::form::Form;
use super::linear::Linear;
use super::matern_3_2::Matern32;
use super::matern_5_2::Matern52;
use super::neural_network::NeuralNetwork;
use super::periodic::Periodic;
use super::rational_quadratic::RationalQuadratic;
use super::squared_exponential::SquaredExponential;
use super::stationary::Stationary;

impl Factor {
    /// What evaluates it.
    pub(super) fn form(&self) -> Box<dyn Form> {
        match self.function {
            Function::SquaredExponential => Box::new(Stationary::<SquaredExponential>::new(self)),
            Function::Matern32 => Box::new(Stationary::<Matern32>::new(self)),
            Function::Matern52 => Box::new(Stationary::<Matern52>::new(self)),
            Function::Exponential => Box::new(Stationary::<Exponential>::new(self)),
            Function::RationalQuadratic => Box::new(RationalQuadratic::new(self)),
            Function::Periodic => Box::new(Periodic::new(self)),
            Function::Linear => Box::new(Linear::new(self)),
            Function::Constant => Box::new(Constant),
            Function::NeuralNetwork => Box::new(NeuralNetwork::new(self)),
        }
    }
}
