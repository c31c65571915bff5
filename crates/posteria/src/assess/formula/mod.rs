//! Formulas that users write: safe, typed, and compiled once.
//!
//! ```text
//! numbers        1, .5, 2e-3
//! operators      + - * / ^, < <= > >= == !=, and or not, ( )
//! functions      abs sqrt exp log floor ceil round sign, min(a, b, …) max(a, b, …) pow(a, b)
//!                if(condition, a, b)
//! real targets   y  mean  sd  median  log_density  q(probability)  cdf(value)
//!                of several targets: y(2) or y("name"), mean(2), q(0.9, 2), …
//! classes        y (or class)  most_probable  log_density  prob(blue)  prob("light blue")  prob(y)
//!                compared as y == "blue"; labels that are numbers are numbers where one is needed
//! of all rows    mean sum sd min max median skewness autocorrelation of a formula of y, and
//!                quantile(y, 0.9); of a [`Statistic`] only, as in max(y) - quantile(abs(y - mean(y)), 0.5)
//! ```
//!
//! Comparisons are 1 or 0, and any number but 0 counts as true. `^` binds tighter than a
//! sign (-2^2 is -4) and to the right. What is undefined (the sd of a t with two degrees of freedom)
//! is NaN and stays NaN through comparisons and conditions too, so that it shows in the result.

mod aggregate;
mod compiler;
mod error;
mod parser;
mod program;
mod scope;
mod statistic;
#[cfg(test)]
mod tests;
mod token;

pub use error::{FormulaError, FormulaFault};
pub(crate) use program::{Fact, Facts};
pub use scope::Scope;
pub use statistic::Statistic;

use self::aggregate::Aggregation;
use self::compiler::Compiler;
use self::program::Program;

/// Bytes that a formula may have.
const LONGEST: usize = 4096;

/// A formula that has been understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    program: Program,
}

impl Formula {
    /// Compiles a formula over the names of `scope`; see the [module](self) for the language.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, scope: &Scope) -> Result<Self, FormulaError> {
        Ok(Formula { text: text.to_string(), program: compile(text, scope)?.0 })
    }

    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value; a quantity is looked up once, and only if it is needed.
    pub(crate) fn evaluate(&self, facts: &dyn Facts) -> f64 {
        self.program.run(facts)
    }
}

fn compile(text: &str, scope: &Scope) -> Result<(Program, Vec<Aggregation>), FormulaError> {
    if text.len() > LONGEST {
        let fault = FormulaFault::TooLong { bytes: text.len(), most: LONGEST };
        return Err(FormulaError { formula: String::new(), at: 0, fault });
    }
    let mut compiler = Compiler::new(text, token::tokens(text)?, scope);
    compiler.formula()?;
    Ok(compiler.finish())
}
