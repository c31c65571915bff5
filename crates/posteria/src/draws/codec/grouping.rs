//! Recognise arrays in a row of component names.

use std::collections::{HashMap, HashSet};

use crate::draws::{Dimension, Layout};

/// How component names are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// `beta[age, 2]`, as everyone but Stan.
    Brackets,
    /// `beta.1.2`; brackets too.
    Stan,
}

/// Why names make no layout.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GroupingError {
    NamedTwice(String),
    ManyVariables(usize),
}

/// Most variables of a layout: looking one up by name takes time in proportion.
pub(super) const MOST_VARIABLES: usize = 20_000;

/// A column name taken apart.
struct Parsed {
    base: String,
    labels: Vec<String>,
}

impl Parsed {
    fn full(&self) -> String {
        match self.labels.len() {
            0 => self.base.clone(),
            _ => format!("{}[{}]", self.base, self.labels.join(", ")),
        }
    }
}

/// The layout of columns called `names`, and the component that every column becomes.
///
/// Neighbours with the same name before the indices become one array if their indices fill a
/// grid, in whatever order (CmdStan's is column-major); what does not stays as it is.
pub(super) fn layout_of(
    names: &[String],
    naming: Naming,
) -> Result<(Layout, Vec<usize>), GroupingError> {
    let parsed: Vec<Parsed> = names.iter().map(|name| parse(name, naming)).collect();
    let alike = |a: &Parsed, b: &Parsed| {
        !a.labels.is_empty() && a.base == b.base && a.labels.len() == b.labels.len()
    };
    let groups: Vec<&[Parsed]> = parsed.chunk_by(alike).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    groups.iter().for_each(|group| *uses.entry(&group[0].base).or_default() += 1);

    let mut variables: Vec<(String, Vec<Dimension>)> = Vec::new();
    let mut places = Vec::with_capacity(names.len());
    for group in &groups {
        let start = places.len();
        let grid = if uses[group[0].base.as_str()] == 1 { grid(group) } else { None };
        if let Some((dimensions, within)) = grid {
            variables.push((group[0].base.clone(), dimensions));
            places.extend(within.iter().map(|place| start + place));
        } else {
            variables.extend(group.iter().map(|parsed| (parsed.full(), Vec::new())));
            places.extend(start..start + group.len());
        }
    }
    if variables.len() > MOST_VARIABLES {
        return Err(GroupingError::ManyVariables(variables.len()));
    }
    let mut taken = HashSet::new();
    if let Some((name, _)) = variables.iter().find(|(name, _)| !taken.insert(name.as_str())) {
        return Err(GroupingError::NamedTwice(name.clone()));
    }
    let mut layout = Layout::new();
    for (name, dimensions) in variables {
        layout.push(name, dimensions);
    }
    Ok((layout, places))
}

fn parse(name: &str, naming: Naming) -> Parsed {
    let of = |base: &str, labels: Vec<&str>| Parsed {
        base: base.to_string(),
        labels: labels.into_iter().map(String::from).collect(),
    };
    if let Some((base, inner)) = name.strip_suffix(']').and_then(|rest| rest.split_once('['))
        && !base.is_empty()
    {
        // `[1,2]` holds two indices, but `[a,b]` may be the one label "a,b".
        let numeric = inner.split(',').all(is_index);
        let labels = inner.split(if numeric { "," } else { ", " }).collect();
        return of(base, labels);
    }
    if naming == Naming::Stan {
        let mut base = name;
        let mut labels = Vec::new();
        while let Some((rest, last)) = base.rsplit_once('.') {
            if rest.is_empty() || !is_index(last) {
                break;
            }
            labels.push(last);
            base = rest;
        }
        labels.reverse();
        return of(base, labels);
    }
    of(name, Vec::new())
}

fn is_index(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The axes of a group whose indices fill a grid, and the row-major place of each member.
fn grid(group: &[Parsed]) -> Option<(Vec<Dimension>, Vec<usize>)> {
    let first = group.first().filter(|parsed| !parsed.labels.is_empty())?;
    let mut dimensions = Vec::new();
    let mut places = vec![0_usize; group.len()];
    let mut size = 1_usize;
    for axis in 0..first.labels.len() {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut labels: Vec<String> = Vec::new();
        let mut indices = Vec::with_capacity(group.len());
        for parsed in group {
            let label = parsed.labels[axis].as_str();
            let index = *known.entry(label).or_insert_with(|| {
                labels.push(label.to_string());
                labels.len() - 1
            });
            indices.push(index);
        }
        size = size.checked_mul(labels.len()).filter(|size| *size <= group.len())?;
        places.iter_mut().zip(&indices).for_each(|(place, i)| *place = *place * labels.len() + i);
        dimensions.push(Dimension { name: format!("{}_dim_{axis}", first.base), labels });
    }
    let mut free = vec![true; group.len()];
    let fills = size == group.len()
        && places.iter().all(|&place| std::mem::replace(&mut free[place], false));
    fills.then_some((dimensions, places))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str], naming: Naming) -> Result<(Layout, Vec<usize>), GroupingError> {
        layout_of(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), naming)
    }

    #[test]
    fn column_major_arrays_become_row_major() {
        let names = ["mu", "b.1.1", "b.2.1", "b.1.2", "b.2.2", "b.1.3", "b.2.3", "tau.1"];
        let (layout, places) = of(&names, Naming::Stan).unwrap();
        let shown =
            ["mu", "b[1, 1]", "b[1, 2]", "b[1, 3]", "b[2, 1]", "b[2, 2]", "b[2, 3]", "tau[1]"];
        assert_eq!(layout.component_names(), shown);
        assert_eq!(places, [0, 1, 4, 2, 5, 3, 6, 7]);
        assert_eq!(layout.variables()[1].dimensions[1].name, "b_dim_1");
    }

    #[test]
    fn bracketed_names_stay_as_they_are() {
        let names = ["w[age, 0]", "w[age, 1]", "w[a,b, 0]", "w[a,b, 1]", "v[1,2]", "x.1", "[y]"];
        let (layout, places) = of(&names, Naming::Brackets).unwrap();
        let shown = ["w[age, 0]", "w[age, 1]", "w[a,b, 0]", "w[a,b, 1]", "v[1, 2]", "x.1", "[y]"];
        assert_eq!(layout.component_names(), shown);
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(layout.variables().len(), 4);
    }

    #[test]
    fn indices_that_fill_no_grid_stay_scalars() {
        let (layout, _) = of(&["b.1.1", "b.2.2", "c.1", "z", "c.2"], Naming::Stan).unwrap();
        assert_eq!(layout.component_names(), ["b[1, 1]", "b[2, 2]", "c[1]", "z", "c[2]"]);
        assert_eq!(layout.variables().len(), 5);
        let (layout, _) = of(&["c", "c.1", "c.2"], Naming::Stan).unwrap();
        assert_eq!(layout.component_names(), ["c", "c[1]", "c[2]"]);
    }

    #[test]
    fn names_that_meet_are_refused() {
        let twice = of(&["a", "b", "a"], Naming::Brackets);
        assert_eq!(twice, Err(GroupingError::NamedTwice("a".into())));
        let met = of(&["c", "c.1", "d", "c[1]"], Naming::Stan);
        assert_eq!(met, Err(GroupingError::NamedTwice("c[1]".into())));
        assert!(of(&["c.1", "c.1"], Naming::Stan).is_err());
    }
}
