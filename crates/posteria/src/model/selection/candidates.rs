//! Which inputs may leave a model, alone or together.

use super::heredity::Heredity;
use super::prior::InclusionPrior;
use crate::model::ModelError;
use crate::model::spec::{InclusionPriorSpec, SelectionSpec};

/// What may enter and leave a model, and the prior of its sets.
///
/// A candidate is an input or a group of inputs: one that was asked for, or the indicators of one
/// text column, which are called `colour[red]`, `colour[green]`, … and are the candidate `colour`.
/// Inputs that are always in are no candidates and do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    names: Vec<String>,
    members: Vec<Vec<usize>>,
    inputs: usize,
    prior: InclusionPrior,
}

/// The name of the text column that an indicator belongs to.
fn column_of(input: &str) -> Option<&str> {
    input.strip_suffix(']').and_then(|name| name.split_once('[')).map(|(column, _)| column)
}

/// Whether an input has this name, or is an indicator of the column that has it.
fn is_named(input: &str, name: &str) -> bool {
    input == name || column_of(input) == Some(name)
}

impl Candidates {
    /// The candidates among the inputs of these names.
    ///
    /// # Errors
    /// [`ModelError`] if a name is none of them or is given twice, nothing may leave, something
    /// requires itself, or the prior has another number of numbers.
    pub fn new(spec: &SelectionSpec, input_names: &[String]) -> Result<Self, ModelError> {
        let mut taken = vec![false; input_names.len()];
        let mut take = |key: &'static str, name: &str| -> Result<Vec<usize>, ModelError> {
            let is_it = |index: &usize| is_named(&input_names[*index], name);
            let found: Vec<usize> = (0..input_names.len()).filter(is_it).collect();
            if found.is_empty() {
                let (name, inputs) = (name.into(), input_names.to_vec());
                return Err(ModelError::NotAnInput { key, name, inputs });
            }
            if found.iter().any(|index| std::mem::replace(&mut taken[*index], true)) {
                return Err(ModelError::SelectedTwice { name: name.into() });
            }
            Ok(found)
        };
        for name in spec.always.iter().flatten() {
            take("always", name)?;
        }
        let mut members: Vec<(String, Vec<usize>)> = Vec::new();
        for group in spec.groups.iter().flatten() {
            let mut inputs = Vec::new();
            for name in group {
                inputs.extend(take("groups", name)?);
            }
            inputs.sort_unstable();
            members.push((group.join("+"), inputs));
        }
        for (index, name) in input_names.iter().enumerate() {
            if taken[index] {
                continue;
            }
            match column_of(name) {
                None => members.push((name.clone(), vec![index])),
                Some(column) => match members.iter_mut().find(|(name, _)| name == column) {
                    Some((_, inputs)) => inputs.push(index),
                    None => members.push((column.into(), vec![index])),
                },
            }
        }
        members.retain(|(_, inputs)| !inputs.is_empty());
        members.sort_by_key(|(_, inputs)| inputs[0]);
        if members.is_empty() {
            let what = "selection without an input that may leave".into();
            return Err(ModelError::NotAvailable { what });
        }
        let wanted = spec.prior();
        let count = members.len();
        let prior = InclusionPrior::new(&wanted, count).map_err(|wrong| match wanted {
            InclusionPriorSpec::Expected([mean, sd]) => {
                let all = count as f64;
                let spread = (mean * (1.0 - mean / all)).max(0.0);
                let (least, most) = (spread.sqrt(), (spread * all).sqrt());
                ModelError::ExpectedInputs { candidates: count, mean, sd, least, most }
            }
            _ => ModelError::InclusionPrior { candidates: count, found: wrong.found },
        })?;
        let (names, members): (Vec<String>, Vec<Vec<usize>>) = members.into_iter().unzip();
        let mut candidates = Candidates { names, members, inputs: input_names.len(), prior };
        if let Some(prior) = candidates.prior_of_requiring(spec, input_names)? {
            candidates.prior = prior;
        }
        Ok(candidates)
    }

    /// The prior where candidates require others.
    fn prior_of_requiring(
        &self,
        spec: &SelectionSpec,
        input_names: &[String],
    ) -> Result<Option<InclusionPrior>, ModelError> {
        let Some(requires) = spec.requires.as_ref().filter(|it| !it.is_empty()) else {
            return Ok(None);
        };
        // Inputs that are always in are no candidates.
        let candidate_of = |name: &String| -> Result<Option<usize>, ModelError> {
            let Some(input) = input_names.iter().position(|input| is_named(input, name)) else {
                let (name, inputs) = (name.clone(), input_names.to_vec());
                return Err(ModelError::NotAnInput { key: "requires", name, inputs });
            };
            Ok(self.members.iter().position(|members| members.contains(&input)))
        };
        let mut required = vec![Vec::new(); self.len()];
        for (name, of_it) in requires {
            let child = candidate_of(name)?;
            for other in of_it {
                let parent = candidate_of(other)?;
                if let (Some(child), Some(parent)) = (child, parent) {
                    required[child].push(parent);
                }
            }
        }
        let heredity = Heredity::new(required, &self.names)?;
        Ok(InclusionPrior::requiring(&spec.prior(), heredity))
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none; there always are.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of inputs, those that are always in included.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The name of every candidate.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The inputs of a candidate.
    ///
    /// # Panics
    /// If there is no such candidate.
    pub fn members(&self, candidate: usize) -> &[usize] {
        &self.members[candidate]
    }

    /// The prior of sets of candidates.
    pub fn prior(&self) -> &InclusionPrior {
        &self.prior
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::Spec;

    fn candidates(text: &str) -> Result<Candidates, ModelError> {
        let names = ["a", "colour[blue]", "b", "colour[red]", "c"].map(String::from);
        let spec = Spec::from_toml(&format!("[selection]\n{text}")).unwrap();
        Candidates::new(&spec.selection.unwrap(), &names)
    }

    #[test]
    fn the_indicators_of_a_column_are_one_candidate() {
        let all = candidates("").unwrap();
        assert_eq!(all.names(), ["a", "colour", "b", "c"]);
        assert_eq!(all.members(1), [1, 3]);
        assert_eq!((all.len(), all.inputs(), all.prior().candidates()), (4, 5, 4));
        let grouped = candidates("always = ['colour']\ngroups = [['c', 'a']]").unwrap();
        assert_eq!(grouped.names(), ["c+a", "b"]);
        assert_eq!(grouped.members(0), [0, 4]);
        // One class may be asked for alone.
        assert_eq!(candidates("always = ['colour[red]']").unwrap().members(1), [1]);
    }

    /// Of a, colour, b and c, c may be in with a and colour only.
    #[test]
    fn what_is_required_must_be_in() {
        let all = candidates("requires = { c = ['a', 'colour'] }").unwrap();
        let prior = all.prior();
        assert!(prior.log_probability(&[true, false, true, true]) == f64::NEG_INFINITY);
        let whole = prior.log_probability(&[true, true, false, true]);
        assert!((whole - 0.5_f64.powi(4).ln()).abs() < 1e-14, "{whole}");
        assert_eq!(prior.inclusion_probabilities(), [0.5, 0.5, 0.5, 0.125]);
        // What is always in is required of nobody.
        let kept = candidates("always = ['a']\nrequires = { c = ['a'], b = ['c'] }").unwrap();
        assert_eq!(kept.prior().inclusion_probabilities(), [0.5, 0.25, 0.5]);
    }

    #[test]
    fn names_that_are_no_inputs_or_come_twice_are_refused() {
        for (text, part) in [
            ("always = ['d']", "d in selection.always is not an input"),
            ("groups = [['a', 'd']]", "d in selection.groups"),
            ("groups = [['a', 'b'], ['b', 'c']]", "b is named twice in [selection]"),
            ("always = ['a', 'b', 'c', 'colour']", "may leave"),
            ("prior = { probabilities = [0.5] }", "4 candidates"),
            ("requires = { d = ['a'] }", "d in selection.requires"),
            ("requires = { c = ['d'] }", "d in selection.requires"),
            ("requires = { c = ['a'], a = ['c'] }", "requires itself"),
        ] {
            let message = candidates(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert_eq!(
            candidates("").unwrap().prior(),
            &InclusionPrior::new(&InclusionPriorSpec::UniformModels, 4).unwrap()
        );
    }
}
