//! Read covariance functions from text, and write them.

use std::iter::Peekable;
use std::str::Chars;

use super::{CovarianceError, Factor, Function};
use crate::model::spec::Sharing;

/// A position in the text, in characters from 1.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    column: usize,
    input_names: &'a [String],
    sharing: Sharing,
}

pub(super) fn parse(
    text: &str,
    input_names: &[String],
    sharing: Sharing,
) -> Result<Vec<Vec<Factor>>, CovarianceError> {
    let mut reader = Reader { rest: text.chars().peekable(), column: 1, input_names, sharing };
    let mut terms = vec![vec![reader.factor()?]];
    loop {
        match reader.next_symbol() {
            None => return Ok(terms),
            Some('+') => terms.push(Vec::new()),
            Some('*') => {}
            Some(other) => {
                return Err(CovarianceError::Syntax {
                    expected: "'+', '*' or the end",
                    found: format!("'{other}'"),
                    column: reader.column - 1,
                });
            }
        }
        let factor = reader.factor()?;
        terms.last_mut().expect("there is a first term").push(factor);
    }
}

impl Reader<'_> {
    fn take(&mut self) -> Option<char> {
        let next = self.rest.next();
        self.column += usize::from(next.is_some());
        next
    }

    fn skip_spaces(&mut self) {
        while self.rest.peek().is_some_and(|next| next.is_whitespace()) {
            self.take();
        }
    }

    /// The next character that is no space.
    fn next_symbol(&mut self) -> Option<char> {
        self.skip_spaces();
        self.take()
    }

    /// What stands before one of the marks, without spaces around it, and its column.
    fn word(
        &mut self,
        marks: &str,
        expected: &'static str,
    ) -> Result<(String, usize), CovarianceError> {
        self.skip_spaces();
        let column = self.column;
        let mut word = String::new();
        while let Some(next) = self.rest.peek().copied().filter(|next| !marks.contains(*next)) {
            word.push(next);
            self.take();
        }
        let word = word.trim_end().to_owned();
        if word.is_empty() {
            let found = self.rest.peek().map_or("the end".into(), |next| format!("'{next}'"));
            return Err(CovarianceError::Syntax { expected, found, column });
        }
        Ok((word, column))
    }

    fn factor(&mut self) -> Result<Factor, CovarianceError> {
        let (word, column) = self.word("+*(),", "a covariance function")?;
        let Some(function) = Function::from_name(&word) else {
            let known = Function::ALL.iter().map(|function| function.name().into()).collect();
            return Err(CovarianceError::UnknownFunction { word, column, known });
        };
        let brackets = self.rest.peek() == Some(&'(');
        let inputs = match (brackets, function) {
            (true, Function::Constant) => {
                return Err(CovarianceError::InputsOfConstant { word, column: self.column });
            }
            (false, Function::Constant) => Vec::new(),
            (true, _) => self.inputs()?,
            (false, _) => (0..self.input_names.len()).collect(),
        };
        if inputs.is_empty() && function != Function::Constant {
            return Err(CovarianceError::NoInputs { word, column });
        }
        Ok(Factor { function, inputs, sharing: self.sharing })
    }

    /// Names between brackets.
    fn inputs(&mut self) -> Result<Vec<usize>, CovarianceError> {
        self.take();
        let mut inputs = Vec::new();
        loop {
            let (word, column) = self.input()?;
            let Some(input) = self.input_names.iter().position(|name| *name == word) else {
                let known = self.input_names.to_vec();
                return Err(CovarianceError::UnknownInput { word, column, known });
            };
            if inputs.contains(&input) {
                return Err(CovarianceError::RepeatedInput { word, column });
            }
            inputs.push(input);
            match self.next_symbol() {
                Some(',') => {}
                Some(')') => return Ok(inputs),
                other => {
                    let found = other.map_or("the end".into(), |next| format!("'{next}'"));
                    let column = self.column - usize::from(other.is_some());
                    return Err(CovarianceError::Syntax { expected: "',' or ')'", found, column });
                }
            }
        }
    }

    /// The name of an input; in double quotes it may hold anything but a double quote.
    fn input(&mut self) -> Result<(String, usize), CovarianceError> {
        self.skip_spaces();
        if self.rest.peek() != Some(&'"') {
            return self.word(",()", "the name of an input");
        }
        let column = self.column;
        self.take();
        let mut word = String::new();
        loop {
            match self.take() {
                Some('"') => return Ok((word, column)),
                Some(next) => word.push(next),
                None => {
                    let column = self.column;
                    let found = "the end".into();
                    return Err(CovarianceError::Syntax { expected: "'\"'", found, column });
                }
            }
        }
    }
}

/// The canonical text of a covariance function.
pub(super) fn write<'a>(
    terms: impl Iterator<Item = Vec<&'a Factor>>,
    input_names: &[String],
) -> String {
    let all: Vec<usize> = (0..input_names.len()).collect();
    let factor = |factor: &Factor| {
        let name = factor.function.name();
        if factor.function == Function::Constant || factor.inputs == all {
            return name.to_owned();
        }
        let inputs: Vec<String> =
            factor.inputs.iter().map(|input| quoted(&input_names[*input])).collect();
        format!("{name}({})", inputs.join(","))
    };
    let terms: Vec<String> = terms
        .map(|factors| factors.into_iter().map(factor).collect::<Vec<_>>().join("*"))
        .collect();
    terms.join("+")
}

/// The name of an input, in quotes where it would not be read back as it is.
fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && name.trim() == name
        && !name.starts_with('"')
        && !name.contains([',', '(', ')']);
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}
