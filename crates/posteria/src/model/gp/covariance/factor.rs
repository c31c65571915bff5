//! Name the functions that covariance functions are made of, and their parameters.

use super::Parameter;
use crate::model::spec::Sharing;

/// A simple covariance function of magnitude 1 (the linear one: of the magnitude of its
/// relevances). r² = Σ_k ρ_k² (x_k - x'_k)².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// exp(-r²): very smooth.
    SquaredExponential,
    /// (1 + √3 r) exp(-√3 r): once differentiable.
    Matern32,
    /// (1 + √5 r + 5r²/3) exp(-√5 r): twice differentiable.
    Matern52,
    /// exp(-r): continuous and rough.
    Exponential,
    /// (1 + r²/α)^(-α): squared exponentials of many length scales.
    RationalQuadratic,
    /// exp(-Σ_k ρ_k² sin²(π(x_k - x'_k)/p_k)): repeats itself.
    Periodic,
    /// Σ_k ρ_k² x_k x'_k: linear functions.
    Linear,
    /// 1: an unknown level.
    Constant,
    /// (2/π) asin(2 x̃ᵀΣx̃' / √((1 + 2x̃ᵀΣx̃)(1 + 2x̃'ᵀΣx̃'))), x̃ = (1, x): infinitely many hidden
    /// units [Williams 1998].
    NeuralNetwork,
}

impl Function {
    /// All functions.
    pub const ALL: [Function; 9] = [
        Function::SquaredExponential,
        Function::Matern32,
        Function::Matern52,
        Function::Exponential,
        Function::RationalQuadratic,
        Function::Periodic,
        Function::Linear,
        Function::Constant,
        Function::NeuralNetwork,
    ];

    /// Its name in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Function::SquaredExponential => "squared-exponential",
            Function::Matern32 => "matern-3/2",
            Function::Matern52 => "matern-5/2",
            Function::Exponential => "exponential",
            Function::RationalQuadratic => "rational-quadratic",
            Function::Periodic => "periodic",
            Function::Linear => "linear",
            Function::Constant => "constant",
            Function::NeuralNetwork => "neural-network",
        }
    }

    /// The function of a name or of one of its short forms.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "se" | "rbf" => Some(Function::SquaredExponential),
            "matern32" => Some(Function::Matern32),
            "matern52" => Some(Function::Matern52),
            "rq" => Some(Function::RationalQuadratic),
            "nn" => Some(Function::NeuralNetwork),
            _ => Function::ALL.into_iter().find(|function| function.name() == name),
        }
    }
}

/// A function of some of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// The function.
    pub function: Function,
    /// The inputs, by index; those of [`Function::Constant`] do not matter.
    pub inputs: Vec<usize>,
    /// Whether the inputs have one relevance in common or one each.
    pub sharing: Sharing,
}

impl Factor {
    /// Its parameters, as the factor of that index in that term.
    pub(super) fn parameters(&self, term: usize, factor: usize) -> Vec<Parameter> {
        if self.function == Function::Constant {
            return Vec::new();
        }
        let relevance = |input| Parameter::Relevance { term, factor, input };
        let mut parameters: Vec<Parameter> = match self.sharing {
            Sharing::Common => vec![relevance(None)],
            Sharing::PerInput => self.inputs.iter().map(|input| relevance(Some(*input))).collect(),
        };
        match self.function {
            Function::RationalQuadratic => parameters.push(Parameter::Shape { term, factor }),
            Function::NeuralNetwork => parameters.push(Parameter::Bias { term, factor }),
            Function::Periodic => {
                let period = |&input| Parameter::Period { term, factor, input };
                parameters.extend(self.inputs.iter().map(period));
            }
            _ => {}
        }
        parameters
    }
}
