//! Compile a formula: from the loosest operator to the tightest.

use super::aggregate::{AGGREGATES, Aggregate, Aggregation};
use super::compiler::{Compiler, Kind, Operand};
use super::error::{FormulaError, FormulaFault};
use super::program::{One, Op, Two};
use super::scope::{Meaning, QUANTITIES};
use super::token::{Piece, Token};
use crate::data::nearest;

/// Functions of numbers.
const ONE: [(&str, One); 8] = [
    ("abs", One::Abs),
    ("sqrt", One::Sqrt),
    ("exp", One::Exp),
    ("log", One::Log),
    ("floor", One::Floor),
    ("ceil", One::Ceil),
    ("round", One::Round),
    ("sign", One::Sign),
];
const OTHERS: [&str; 10] = ["min", "max", "pow", "if", "q", "cdf", "prob", "and", "or", "not"];

const COMPARISONS: [(&str, Two); 6] = [
    ("<", Two::Less),
    ("<=", Two::LessEqual),
    (">", Two::Greater),
    (">=", Two::GreaterEqual),
    ("==", Two::Equal),
    ("!=", Two::NotEqual),
];

type Parsed = Result<Operand, FormulaError>;

impl Compiler<'_> {
    /// A whole formula: something that is a number, and nothing after it.
    pub(super) fn formula(&mut self) -> Result<(), FormulaError> {
        let value = self.disjunction()?;
        self.number(value)?;
        match self.peek().piece {
            Piece::End => Ok(()),
            _ => Err(self.unexpected("an operator or the end")),
        }
    }

    fn disjunction(&mut self) -> Parsed {
        // Every way into parentheses and arguments leads through here.
        self.enter()?;
        let mut left = self.conjunction()?;
        while self.take_word("or") {
            self.number(left)?;
            let right = self.conjunction()?;
            self.number(right)?;
            left = self.two(left, Two::Or)?;
        }
        self.leave();
        Ok(left)
    }

    fn conjunction(&mut self) -> Parsed {
        let mut left = self.negation()?;
        while self.take_word("and") {
            self.number(left)?;
            let right = self.negation()?;
            self.number(right)?;
            left = self.two(left, Two::And)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed {
        if !self.take_word("not") {
            return self.comparison();
        }
        self.enter()?;
        let of = self.negation()?;
        self.leave();
        self.one(of, One::Not)
    }

    fn comparison(&mut self) -> Parsed {
        let left = self.sum()?;
        let Some(comparison) = self.take_sign(&COMPARISONS) else { return Ok(left) };
        let right = self.sum()?;
        if COMPARISONS.iter().any(|(sign, _)| self.peek().piece == Piece::Sign(sign)) {
            return Err(self.unexpected("`and` between two comparisons"));
        }
        let equality = matches!(comparison, Two::Equal | Two::NotEqual);
        match (left.kind, right.kind) {
            (Kind::Symbol { .. }, Kind::Symbol { .. }) if equality => {}
            (Kind::Symbol { .. }, Kind::Literal(value)) if equality => {
                self.constant_as_symbol(right, value)?;
            }
            (Kind::Literal(value), Kind::Symbol { .. }) if equality => {
                self.constant_as_symbol(left, value)?;
            }
            (Kind::Symbol { numeric: false }, _) | (_, Kind::Symbol { numeric: false }) => {
                return Err(self.error(right.at, FormulaFault::ClassAgainstNumber));
            }
            _ => {
                self.number(right)?;
                self.number_before(left, right)?;
            }
        }
        self.two(left, comparison)
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        while let Some(two) = self.take_sign(&[("+", Two::Add), ("-", Two::Subtract)]) {
            self.number(left)?;
            let right = self.product()?;
            self.number(right)?;
            left = self.two(left, two)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        while let Some(two) = self.take_sign(&[("*", Two::Multiply), ("/", Two::Divide)]) {
            self.number(left)?;
            let right = self.unary()?;
            self.number(right)?;
            left = self.two(left, two)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        match self.take_sign(&[("-", true), ("+", false)]) {
            None => self.power(),
            Some(negative) => {
                self.enter()?;
                let of = self.unary()?;
                self.leave();
                let of = self.number(of)?;
                if !negative {
                    return Ok(of);
                }
                match of.kind {
                    Kind::Literal(value) => Ok(self.change_constant(of, -value)),
                    _ => self.one(of, One::Negate),
                }
            }
        }
    }

    fn power(&mut self) -> Parsed {
        let base = self.primary()?;
        if self.take_sign(&[("^", ())]).is_none() {
            return Ok(base);
        }
        self.number(base)?;
        // To the right first, and 2^-1 is meant as it is written.
        let exponent = self.unary()?;
        self.number(exponent)?;
        self.two(base, Two::Power)
    }

    fn primary(&mut self) -> Parsed {
        let token = self.peek().clone();
        match token.piece {
            Piece::Number(value) => {
                self.advance();
                self.push(token.at, Op::Constant(value), Kind::Literal(value))
            }
            Piece::Text(text) => {
                self.advance();
                self.symbol(token.at, &text)
            }
            Piece::Sign("(") => {
                self.advance();
                let inside = self.disjunction()?;
                self.close()?;
                Ok(inside)
            }
            Piece::Name(name) if !["and", "or", "not"].contains(&name.as_str()) => {
                self.advance();
                self.named(token.at, &name)
            }
            _ => Err(self.unexpected("a number, a name or `(`")),
        }
    }

    fn named(&mut self, at: usize, name: &str) -> Parsed {
        let called = self.peek().piece == Piece::Sign("(");
        let meaning = self.scope.meaning(name);
        if meaning.is_some() && !self.is_row() {
            return Err(self.error(at, FormulaFault::OfRow { name: name.into() }));
        }
        match meaning {
            Some(Meaning::OfTarget(fact)) => {
                let target = match called {
                    true => {
                        self.advance();
                        let target = self.target()?;
                        self.close()?;
                        target
                    }
                    false => self.only_target(at, name)?,
                };
                return self.load(at, fact(target), Kind::Number);
            }
            Some(Meaning::Number(fact)) => return self.load(at, fact, Kind::Number),
            Some(Meaning::Symbol { fact, numeric }) => {
                return self.load(at, fact, Kind::Symbol { numeric });
            }
            None => {}
        }
        if called && self.is_function(name) {
            self.advance();
            return self.call(at, name);
        }
        if self.scope.symbols().iter().any(|label| label == name) {
            return self.symbol(at, name);
        }
        Err(self.error(at, self.unknown(name)))
    }

    fn is_function(&self, name: &str) -> bool {
        match name {
            "q" | "cdf" => self.scope.has_quantiles(),
            "prob" => self.scope.has_probabilities(),
            "and" | "or" | "not" => false,
            name if self.aggregate(name).is_some() => true,
            _ => ONE.iter().any(|(one, _)| *one == name) || OTHERS.contains(&name),
        }
    }

    fn unknown(&self, name: &str) -> FormulaFault {
        let known = self.scope.known();
        let calls = ["q", "cdf", "prob"];
        if self.is_function(name) {
            return FormulaFault::Arguments { name: name.into(), takes: "arguments in ( )" };
        }
        if QUANTITIES.contains(&name) || calls.contains(&name) {
            return FormulaFault::NotHere { name: name.into(), known };
        }
        let mut names: Vec<String> = known
            .iter()
            .map(|name| name.split('(').next().unwrap_or(name).to_string())
            .chain(ONE.iter().map(|(name, _)| name.to_string()))
            .chain(["min", "max", "pow", "if"].map(String::from))
            .collect();
        names.extend(self.scope.symbols().iter().cloned());
        FormulaFault::UnknownName { name: name.into(), suggestion: nearest(name, &names), known }
    }

    /// The function of all rows of this name, where there are any.
    fn aggregate(&self, name: &str) -> Option<Aggregate> {
        let found = AGGREGATES.iter().find(|(known, _)| *known == name);
        found.filter(|_| self.scope.has_aggregates()).map(|(_, aggregate)| *aggregate)
    }

    /// A function of all rows whose parenthesis is open.
    fn of_all_rows(&mut self, at: usize, name: &str, how: Aggregate) -> Parsed {
        let takes = |takes| FormulaFault::Arguments { name: name.to_string(), takes };
        let of = self.of_rows(Self::disjunction)?;
        let how = match how {
            Aggregate::Quantile(_) => {
                let takes = takes("a quantity of a row and a probability: quantile(y, 0.9)");
                self.comma(at, &takes)?;
                let Token { piece, at: place } = self.peek().clone();
                let Piece::Number(p) = piece else { return Err(self.error(at, takes)) };
                if !(p > 0.0 && p < 1.0) {
                    return Err(self.error(place, FormulaFault::Probability { value: p }));
                }
                self.advance();
                self.end_of(at, takes)?;
                Aggregate::Quantile(p)
            }
            how => {
                self.end_of(at, takes("one quantity of a row"))?;
                how
            }
        };
        self.aggregation(at, Aggregation { how, of })
    }

    /// A function whose parenthesis is open.
    fn call(&mut self, at: usize, name: &str) -> Parsed {
        let takes = |takes| FormulaFault::Arguments { name: name.to_string(), takes };
        if let Some(how) = self.aggregate(name)
            && (!OTHERS.contains(&name) || self.is_one_argument())
        {
            return self.of_all_rows(at, name, how);
        }
        if let Some((_, one)) = ONE.iter().find(|(known, _)| *known == name) {
            let of = self.disjunction()?;
            self.end_of(at, takes("one number"))?;
            return self.one(of, *one);
        }
        match name {
            "if" => self.condition(at, takes("a condition and two values: if(y > 0, 1, 2)")),
            "prob" => {
                let of = self.disjunction()?;
                let of = match of.kind {
                    Kind::Literal(value) => self.constant_as_symbol(of, value)?,
                    Kind::Symbol { .. } => of,
                    Kind::Number => return Err(self.error(at, takes("one class"))),
                };
                self.end_of(at, takes("one class"))?;
                self.replace(of, Op::Probability)
            }
            "q" | "cdf" => {
                let of = self.disjunction()?;
                let of = self.number(of)?;
                if let (Kind::Literal(p), "q") = (of.kind, name)
                    && !(p > 0.0 && p < 1.0)
                {
                    return Err(self.error(of.at, FormulaFault::Probability { value: p }));
                }
                let target = match self.take_sign(&[(",", ())]) {
                    Some(()) => self.target()?,
                    None => self.only_target(at, name)?,
                };
                self.end_of(at, takes("one number, and the target if there are several"))?;
                let op = if name == "q" { Op::Quantile(target) } else { Op::Cdf(target) };
                self.replace(of, op)
            }
            _ => self.fold(at, name, takes("two numbers")),
        }
    }

    /// min, max of two or more, pow of two.
    fn fold(&mut self, at: usize, name: &str, takes: FormulaFault) -> Parsed {
        let two = match name {
            "min" => Two::Minimum,
            "max" => Two::Maximum,
            _ => Two::Power,
        };
        let mut left = self.disjunction()?;
        self.number(left)?;
        let mut more = 0;
        while self.take_sign(&[(",", ())]).is_some() {
            let right = self.disjunction()?;
            self.number(right)?;
            left = self.two(left, two)?;
            more += 1;
        }
        if more == 0 || (name == "pow" && more > 1) {
            return Err(self.error(at, takes));
        }
        self.close()?;
        Ok(left)
    }

    fn condition(&mut self, at: usize, takes: FormulaFault) -> Parsed {
        let condition = self.disjunction()?;
        self.number(condition)?;
        let branch = self.branch();
        self.comma(at, &takes)?;
        let first = self.disjunction()?;
        self.number(first)?;
        self.comma(at, &takes)?;
        let jump = self.jump();
        let second = self.disjunction()?;
        self.number(second)?;
        self.end_of(at, takes)?;
        Ok(self.join(condition, branch, jump))
    }
}
