//! Emit the instructions of a formula, and count what they need.

use std::mem;

use super::aggregate::Aggregation;
use super::error::{FormulaError, FormulaFault};
use super::program::{Fact, MOST_FACTS, One, Op, Program, STACK, Two};
use super::scope::Scope;
use super::token::{Piece, Token};
use crate::data::nearest;

/// Parentheses, signs and arguments inside each other.
const DEEPEST: usize = 50;

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Number,
    /// One constant.
    Literal(f64),
    /// A class or an action; whether it can stand for a number.
    Symbol {
        numeric: bool,
    },
}

/// What was compiled last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) kind: Kind,
    /// First of its instructions.
    first: usize,
    /// Where it begins in the formula.
    pub(super) at: usize,
}

pub(super) struct Compiler<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    pub(super) scope: &'a Scope,
    ops: Vec<Op>,
    facts: Vec<Fact>,
    depth: usize,
    /// Numbers on the stack after the last instruction.
    height: usize,
    /// Functions of all rows inside each other here.
    within: usize,
    aggregations: Vec<Aggregation>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>, scope: &'a Scope) -> Self {
        let (ops, facts) = (Vec::new(), Vec::new());
        let aggregations = Vec::new();
        Compiler {
            text,
            tokens,
            next: 0,
            scope,
            ops,
            facts,
            depth: 0,
            height: 0,
            within: 0,
            aggregations,
        }
    }

    pub(super) fn finish(self) -> (Program, Vec<Aggregation>) {
        let label_numbers = self.scope.label_numbers();
        (Program { ops: self.ops, facts: self.facts, label_numbers }, self.aggregations)
    }

    /// Whether a quantity of a row can stand here.
    pub(super) fn is_row(&self) -> bool {
        self.within > 0 || !self.scope.has_aggregates()
    }

    /// The argument of a function of all rows, as a program of its own.
    pub(super) fn of_rows(
        &mut self,
        compile: impl FnOnce(&mut Self) -> Result<Operand, FormulaError>,
    ) -> Result<Program, FormulaError> {
        let outer = (mem::take(&mut self.ops), mem::take(&mut self.facts), self.height);
        self.height = 0;
        self.within += 1;
        let value = compile(self)?;
        self.number(value)?;
        self.within -= 1;
        let (ops, facts, height) = outer;
        self.height = height;
        let label_numbers = self.scope.label_numbers();
        let (ops, facts) = (mem::replace(&mut self.ops, ops), mem::replace(&mut self.facts, facts));
        Ok(Program { ops, facts, label_numbers })
    }

    /// The value of a function of all rows.
    pub(super) fn aggregation(
        &mut self,
        at: usize,
        aggregation: Aggregation,
    ) -> Result<Operand, FormulaError> {
        self.aggregations.push(aggregation);
        self.load(at, Fact::Aggregate(self.aggregations.len() - 1), Kind::Number)
    }

    /// Whether the arguments that follow, of an open parenthesis, are one.
    pub(super) fn is_one_argument(&self) -> bool {
        let mut depth = 0_usize;
        for Token { piece, .. } in &self.tokens[self.next..] {
            match piece {
                Piece::Sign("(") => depth += 1,
                Piece::Sign(")") if depth == 0 => return true,
                Piece::Sign(")") => depth -= 1,
                Piece::Sign(",") if depth == 0 => return false,
                _ => {}
            }
        }
        true
    }

    pub(super) fn error(&self, at: usize, fault: FormulaFault) -> FormulaError {
        FormulaError { formula: self.text.to_string(), at, fault }
    }

    pub(super) fn peek(&self) -> &Token {
        // The last token is the end, and is never passed.
        &self.tokens[self.next]
    }

    pub(super) fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> FormulaError {
        let Token { piece, at } = self.peek();
        self.error(*at, FormulaFault::Unexpected { found: piece.shown(), expected })
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(&self.peek().piece, Piece::Name(name) if name == word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn take_sign<T: Copy>(&mut self, signs: &[(&'static str, T)]) -> Option<T> {
        let found = signs.iter().find(|(sign, _)| self.peek().piece == Piece::Sign(sign));
        let meaning = found.map(|(_, meaning)| *meaning);
        if meaning.is_some() {
            self.advance();
        }
        meaning
    }

    pub(super) fn close(&mut self) -> Result<(), FormulaError> {
        match self.take_sign(&[(")", ())]) {
            Some(()) => Ok(()),
            None => Err(self.unexpected("`)`")),
        }
    }

    /// The end of arguments: another comma means that there are too many.
    pub(super) fn end_of(&mut self, at: usize, takes: FormulaFault) -> Result<(), FormulaError> {
        match self.peek().piece {
            Piece::Sign(",") => Err(self.error(at, takes)),
            _ => self.close(),
        }
    }

    pub(super) fn comma(&mut self, at: usize, takes: &FormulaFault) -> Result<(), FormulaError> {
        match self.take_sign(&[(",", ())]) {
            Some(()) => Ok(()),
            None if self.peek().piece == Piece::Sign(")") => Err(self.error(at, takes.clone())),
            None => Err(self.unexpected("`,`")),
        }
    }

    pub(super) fn enter(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => Err(self.error(self.peek().at, FormulaFault::TooDeep)),
            false => Ok(()),
        }
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn push(&mut self, at: usize, op: Op, kind: Kind) -> Result<Operand, FormulaError> {
        let first = self.ops.len();
        self.ops.push(op);
        self.height += 1;
        if self.height > STACK {
            return Err(self.error(at, FormulaFault::TooDeep));
        }
        Ok(Operand { kind, first, at })
    }

    pub(super) fn load(
        &mut self,
        at: usize,
        fact: Fact,
        kind: Kind,
    ) -> Result<Operand, FormulaError> {
        let known = self.facts.iter().position(|known| *known == fact);
        let slot = known.unwrap_or_else(|| {
            self.facts.push(fact);
            self.facts.len() - 1
        });
        if self.facts.len() > MOST_FACTS {
            return Err(self.error(at, FormulaFault::TooMany));
        }
        self.push(at, Op::Load(slot), kind)
    }

    /// The class or action of this name.
    pub(super) fn symbol(&mut self, at: usize, text: &str) -> Result<Operand, FormulaError> {
        let known = self.scope.symbols();
        if known.is_empty() {
            return Err(self.error(at, FormulaFault::ClassAgainstNumber));
        }
        let index = known.iter().position(|label| label == text);
        let index = index.ok_or_else(|| self.error(at, self.no_class(text)))?;
        let numeric = !self.scope.label_numbers()[index].is_nan();
        self.push(at, Op::Constant(index as f64), Kind::Symbol { numeric })
    }

    fn no_class(&self, text: &str) -> FormulaFault {
        let known = self.scope.symbols().to_vec();
        FormulaFault::UnknownClass {
            text: text.to_string(),
            suggestion: nearest(text, &known),
            known,
        }
    }

    /// A constant number is the label of a class.
    pub(super) fn constant_as_symbol(
        &mut self,
        operand: Operand,
        value: f64,
    ) -> Result<Operand, FormulaError> {
        let numbers = self.scope.label_numbers();
        let index = numbers.iter().position(|label| (label - value).abs() <= 0.0);
        let fault = self.no_class(&value.to_string());
        let index = index.ok_or_else(|| self.error(operand.at, fault))?;
        self.ops[operand.first] = Op::Constant(index as f64);
        Ok(Operand { kind: Kind::Symbol { numeric: true }, ..operand })
    }

    pub(super) fn change_constant(&mut self, operand: Operand, value: f64) -> Operand {
        self.ops[operand.first] = Op::Constant(value);
        Operand { kind: Kind::Literal(value), ..operand }
    }

    /// Makes a number of the operand that ends here.
    pub(super) fn number(&mut self, operand: Operand) -> Result<Operand, FormulaError> {
        self.number_at(operand, self.ops.len())
    }

    /// Makes a number of the operand that ends where `next` begins.
    pub(super) fn number_before(
        &mut self,
        operand: Operand,
        next: Operand,
    ) -> Result<Operand, FormulaError> {
        self.number_at(operand, next.first)
    }

    fn number_at(&mut self, operand: Operand, end: usize) -> Result<Operand, FormulaError> {
        match operand.kind {
            Kind::Symbol { numeric: false } => {
                let example = self.scope.symbols().first().cloned().unwrap_or_default();
                Err(self.error(operand.at, FormulaFault::ClassAsNumber { example }))
            }
            // Distances inside the instructions that follow stay as they are.
            Kind::Symbol { numeric: true } => {
                self.ops.insert(end, Op::LabelNumber);
                Ok(Operand { kind: Kind::Number, ..operand })
            }
            _ => Ok(operand),
        }
    }

    pub(super) fn one(&mut self, of: Operand, one: One) -> Result<Operand, FormulaError> {
        let of = self.number(of)?;
        self.replace(of, Op::One(one))
    }

    /// An instruction that takes one number and leaves one.
    pub(super) fn replace(&mut self, of: Operand, op: Op) -> Result<Operand, FormulaError> {
        self.ops.push(op);
        Ok(Operand { kind: Kind::Number, ..of })
    }

    /// An instruction that takes the last two numbers.
    pub(super) fn two(&mut self, left: Operand, two: Two) -> Result<Operand, FormulaError> {
        self.ops.push(Op::Two(two));
        self.height -= 1;
        Ok(Operand { kind: Kind::Number, ..left })
    }

    /// Begins the first branch of a condition; takes the condition.
    pub(super) fn branch(&mut self) -> usize {
        self.ops.push(Op::If { otherwise: 0, end: 0 });
        self.height -= 1;
        self.ops.len() - 1
    }

    /// Ends the first branch and begins the second.
    pub(super) fn jump(&mut self) -> usize {
        self.ops.push(Op::Jump(0));
        self.height -= 1;
        self.ops.len() - 1
    }

    /// Ends the second branch.
    pub(super) fn join(&mut self, condition: Operand, branch: usize, jump: usize) -> Operand {
        let end = self.ops.len() - 1;
        self.ops[branch] = Op::If { otherwise: jump - branch, end: end - branch };
        self.ops[jump] = Op::Jump(end - jump);
        Operand { kind: Kind::Number, ..condition }
    }

    /// The only target, if nobody says which.
    pub(super) fn only_target(&self, at: usize, name: &str) -> Result<usize, FormulaError> {
        let targets = self.scope.target_names().to_vec();
        match targets.len() {
            1 => Ok(0),
            _ => Err(self.error(at, FormulaFault::WhichTarget { name: name.into(), targets })),
        }
    }

    /// The number of a target, from 1, or its name.
    pub(super) fn target(&mut self) -> Result<usize, FormulaError> {
        let Token { piece, at } = self.peek().clone();
        let targets = self.scope.target_names();
        let found = match &piece {
            Piece::Number(number) => {
                (0..targets.len()).find(|target| ((target + 1) as f64 - number).abs() <= 0.0)
            }
            Piece::Text(name) | Piece::Name(name) => {
                targets.iter().position(|target| target == name)
            }
            _ => return Err(self.unexpected("the number or the name of a target")),
        };
        let fault = FormulaFault::NoTarget { given: piece.shown(), targets: targets.to_vec() };
        let found = found.ok_or_else(|| self.error(at, fault))?;
        self.advance();
        Ok(found)
    }
}
