//! Write a covariance function and its derivatives as CUDA source.

use std::fmt::Write;

use posteria::model::gp::covariance::{Covariance, Factor, Function, Parameter};
use posteria::model::spec::Sharing;

/// Log scales are kept within ± this, as on the CPU.
const LARGEST_LOG: f64 = 150.0;

/// The kernels for one covariance function.
pub(super) fn source(covariance: &Covariance) -> String {
    let (inputs, parameters) = (covariance.inputs(), covariance.parameters().len());
    let mut value = String::new();
    let mut slopes = String::new();
    for (term, factors) in covariance.terms().enumerate() {
        let code = TermCode::new(covariance, term, &factors);
        code.write_value(&mut value);
        code.write_slopes(&mut slopes);
    }
    let parameters = parameters.max(1);
    format!(
        "#define INPUTS {inputs}\n#define PARAMETERS {parameters}\n\
         __device__ __forceinline__ double covariance(const double *a, const double *b, int n, const double *h) {{\n\
         double k = 0;\n{value}return k;\n}}\n\
         __device__ __forceinline__ void add_slopes(double w, const double *a, const double *b, int n, const double *h, double *g) {{\n\
         {slopes}}}\n{}",
        include_str!("kernels.cu")
    )
}

/// The parameters as kernels take them: squares of magnitudes, everything else as it is.
pub(super) fn natural(covariance: &Covariance, log_parameters: &[f64], out: &mut [f64]) {
    for ((slot, log), parameter) in out.iter_mut().zip(log_parameters).zip(covariance.parameters())
    {
        *slot = match parameter {
            Parameter::Magnitude { .. } => (2.0 * log).exp(),
            _ => log.clamp(-LARGEST_LOG, LARGEST_LOG).exp(),
        };
    }
}

/// A term, and where its parameters are.
struct TermCode<'a> {
    magnitude: Option<usize>,
    /// Every factor with its first parameter.
    factors: Vec<(&'a Factor, usize)>,
}

impl<'a> TermCode<'a> {
    fn new(covariance: &Covariance, term: usize, factors: &[&'a Factor]) -> Self {
        let position =
            |wanted: &dyn Fn(&Parameter) -> bool| covariance.parameters().iter().position(wanted);
        let magnitude =
            position(&|found| matches!(found, Parameter::Magnitude { term: t } if *t == term));
        let first = |factor: usize| {
            let place = |found: &Parameter| {
                matches!(found, Parameter::Relevance { term: t, factor: f, .. }
                    if (*t, *f) == (term, factor))
            };
            position(&place).unwrap_or(0)
        };
        let factors = factors.iter().enumerate().map(|(index, f)| (*f, first(index))).collect();
        TermCode { magnitude, factors }
    }

    fn square(&self) -> String {
        self.magnitude.map_or("1.0".into(), |index| format!("h[{index}]"))
    }

    /// Opens a block in which v0, v1, … are the values of the factors.
    fn write_values(&self, out: &mut String) {
        out.push_str("{\n");
        for (index, (factor, first)) in self.factors.iter().enumerate() {
            let mut code = FactorCode { out, factor, first: *first, v: index };
            code.value();
        }
    }

    fn product(&self, without: Option<usize>) -> String {
        let others = (0..self.factors.len()).filter(|index| Some(*index) != without);
        others.fold(String::from("1.0"), |text, index| format!("{text} * v{index}"))
    }

    fn write_value(&self, out: &mut String) {
        self.write_values(out);
        let _ = writeln!(out, "k = fma({}, {}, k);\n}}", self.square(), self.product(None));
    }

    fn write_slopes(&self, out: &mut String) {
        self.write_values(out);
        let square = self.square();
        if let Some(index) = self.magnitude {
            let product = self.product(None);
            let _ = writeln!(out, "g[{index}] += 2.0 * w * {square} * ({product});");
        }
        for (index, (factor, first)) in self.factors.iter().enumerate() {
            // Never by division: a factor may be zero.
            let others = self.product(Some(index));
            let _ = writeln!(out, "{{ const double s = w * {square} * ({others});");
            let mut code = FactorCode { out, factor, first: *first, v: index };
            code.slopes();
            out.push_str("}\n");
        }
        out.push_str("}\n");
    }
}

/// Writes one factor; its value is v followed by `v`, and so are the names of what leads there.
struct FactorCode<'a, 'o> {
    out: &'o mut String,
    factor: &'a Factor,
    first: usize,
    v: usize,
}

impl FactorCode<'_, '_> {
    fn line(&mut self, text: String) {
        let _ = writeln!(self.out, "{text}");
    }

    /// Parameter of the relevance of the k-th input of the factor.
    fn relevance(&self, k: usize) -> usize {
        match self.factor.sharing {
            Sharing::Common => self.first,
            Sharing::PerInput => self.first + k,
        }
    }

    /// Parameter of that index after the relevances.
    fn other(&self, index: usize) -> usize {
        self.first
            + index
            + match self.factor.sharing {
                Sharing::Common => 1,
                Sharing::PerInput => self.factor.inputs.len(),
            }
    }

    /// ρ_k (x_k - x'_k).
    fn difference(&self, k: usize) -> String {
        let (input, relevance) = (self.factor.inputs[k], self.relevance(k));
        format!("h[{relevance}] * (a[{input}] - b[(size_t){input} * n])")
    }

    /// ρ_k x_k of either point.
    fn scaled(&self, k: usize, second: bool) -> String {
        let (input, relevance) = (self.factor.inputs[k], self.relevance(k));
        match second {
            false => format!("h[{relevance}] * a[{input}]"),
            true => format!("h[{relevance}] * b[(size_t){input} * n]"),
        }
    }

    /// A sum over inputs of squares named t.
    fn sum_of_squares(&mut self, name: &str, each: &[String]) {
        self.line(format!("double {name} = 0;"));
        for t in each {
            self.line(format!("{{ const double t = {t}; {name} = fma(t, t, {name}); }}"));
        }
    }

    fn differences(&self) -> Vec<String> {
        (0..self.factor.inputs.len()).map(|k| self.difference(k)).collect()
    }

    /// ρ_k sin(π (x_k - x'_k)/p_k).
    fn sines(&self) -> Vec<String> {
        let sine = |k: usize| {
            let (input, relevance, period) =
                (self.factor.inputs[k], self.relevance(k), self.other(k));
            format!("h[{relevance}] * sinpi((a[{input}] - b[(size_t){input} * n]) / h[{period}])")
        };
        (0..self.factor.inputs.len()).map(sine).collect()
    }

    fn value(&mut self) {
        let v = self.v;
        let inputs = self.factor.inputs.len();
        match self.factor.function {
            Function::SquaredExponential
            | Function::Exponential
            | Function::RationalQuadratic
            | Function::Matern32
            | Function::Matern52 => {
                let each = self.differences();
                self.sum_of_squares(&format!("q{v}"), &each);
            }
            Function::Periodic => {
                let each = self.sines();
                self.sum_of_squares(&format!("q{v}"), &each);
            }
            Function::Linear => {
                self.line(format!("double v{v} = 0;"));
                for k in 0..inputs {
                    let (a, b) = (self.scaled(k, false), self.scaled(k, true));
                    self.line(format!("v{v} = fma({a}, {b}, v{v});"));
                }
            }
            Function::NeuralNetwork => {
                let bias = self.other(0);
                for (name, sides) in
                    [("s", [false, true]), ("d", [false, false]), ("e", [true, true])]
                {
                    self.line(format!("double {name}{v} = h[{bias}] * h[{bias}];"));
                    for k in 0..inputs {
                        let [a, b] = sides.map(|second| self.scaled(k, second));
                        self.line(format!("{name}{v} = fma({a}, {b}, {name}{v});"));
                    }
                }
                self.line(format!("d{v} = 1.0 + 2.0 * d{v}; e{v} = 1.0 + 2.0 * e{v};"));
            }
            _ => {}
        }
        let value = match self.factor.function {
            Function::SquaredExponential | Function::Periodic => format!("exp(-q{v})"),
            Function::Exponential => format!("exp(-sqrt(q{v}))"),
            Function::Matern32 => {
                self.line(format!("const double r{v} = sqrt(3.0 * q{v}), x{v} = exp(-r{v});"));
                format!("(1.0 + r{v}) * x{v}")
            }
            Function::Matern52 => {
                self.line(format!("const double r{v} = sqrt(5.0 * q{v}), x{v} = exp(-r{v});"));
                format!("(1.0 + r{v} + r{v} * r{v} / 3.0) * x{v}")
            }
            Function::RationalQuadratic => {
                let shape = self.other(0);
                self.line(format!("const double l{v} = log1p(q{v} / h[{shape}]);"));
                format!("exp(-h[{shape}] * l{v})")
            }
            Function::NeuralNetwork => {
                format!("0.63661977236758134308 * asin(2.0 * s{v} / sqrt(d{v} * e{v}))")
            }
            Function::Linear => return,
            _ => "1.0".into(),
        };
        self.line(format!("const double v{v} = {value};"));
    }

    /// Adds s ∂v/∂log θ.
    fn slopes(&mut self) {
        let v = self.v;
        let slope = match self.factor.function {
            Function::SquaredExponential => format!("-2.0 * v{v}"),
            Function::Exponential => format!("(q{v} > 0.0 ? -v{v} / sqrt(q{v}) : 0.0)"),
            Function::Matern32 => format!("-3.0 * x{v}"),
            Function::Matern52 => format!("-5.0 / 3.0 * (1.0 + r{v}) * x{v}"),
            Function::RationalQuadratic => {
                let shape = self.other(0);
                let ratio = format!("q{v} / (h[{shape}] + q{v})");
                self.line(format!("g[{shape}] += s * h[{shape}] * v{v} * ({ratio} - l{v});"));
                format!("-2.0 * v{v} / (1.0 + q{v} / h[{shape}])")
            }
            Function::Periodic => return self.periodic_slopes(),
            Function::Linear => return self.linear_slopes(),
            Function::NeuralNetwork => return self.neural_slopes(),
            _ => return,
        };
        self.line(format!("const double c = s * ({slope});"));
        for (k, t) in self.differences().into_iter().enumerate() {
            let to = self.relevance(k);
            self.line(format!("{{ const double t = {t}; g[{to}] = fma(c * t, t, g[{to}]); }}"));
        }
    }

    fn periodic_slopes(&mut self) {
        let v = self.v;
        for (k, t) in self.sines().into_iter().enumerate() {
            let (to, period, input) = (self.relevance(k), self.other(k), self.factor.inputs[k]);
            self.line(format!(
                "{{ const double t = {t}, c = 2.0 * s * v{v} * t; g[{to}] -= c * t; \
                 const double x = (a[{input}] - b[(size_t){input} * n]) / h[{period}]; \
                 g[{period}] += c * h[{to}] * cospi(x) * 3.14159265358979323846 * x; }}"
            ));
        }
    }

    fn linear_slopes(&mut self) {
        for k in 0..self.factor.inputs.len() {
            let (to, a, b) = (self.relevance(k), self.scaled(k, false), self.scaled(k, true));
            self.line(format!("g[{to}] += 2.0 * s * ({a}) * ({b});"));
        }
    }

    fn neural_slopes(&mut self) {
        let (v, bias) = (self.v, self.other(0));
        self.line(format!(
            "const double c = s * 2.54647908947032537230 / sqrt(d{v} * e{v} - 4.0 * s{v} * s{v});"
        ));
        let each = (0..self.factor.inputs.len())
            .map(|k| (self.relevance(k), self.scaled(k, false), self.scaled(k, true)));
        let of_bias = (bias, format!("h[{bias}]"), format!("h[{bias}]"));
        for (to, a, b) in each.chain([of_bias]).collect::<Vec<_>>() {
            self.line(format!(
                "{{ const double y = {a}, z = {b}; \
                 g[{to}] += c * (y * z - s{v} * (y * y / d{v} + z * z / e{v})); }}"
            ));
        }
    }
}
