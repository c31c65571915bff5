//! What utilities and formulas must know about the targets.

use crate::data::{Dataset, Targets, Task};

/// The targets of a task, as far as utilities and formulas need to know them.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetFacts {
    /// Real targets.
    Real {
        /// Names of the target columns.
        names: Vec<String>,
        /// Standard deviation of every target over the rows of the fit (divisor n - 1), on the
        /// user's scale.
        deviations: Vec<f64>,
    },
    /// One target that is a class.
    Classes {
        /// Labels of the classes, in the order of their indices.
        labels: Vec<String>,
    },
    /// One target that is a duration, of which some rows may be censored.
    Censored {
        /// Name of the target column.
        name: String,
    },
    /// One target that is a class of an order.
    Ordered {
        /// Labels of the classes, in the order of their indices.
        labels: Vec<String>,
        /// Indices of the classes, from the lowest on.
        order: Vec<usize>,
    },
    /// Rows without a target, which have a density of their own.
    Absent,
}

impl TargetFacts {
    /// Those of a dataset.
    pub fn of(dataset: &Dataset) -> Self {
        match &dataset.targets {
            Targets::Classes { labels, .. } if dataset.task == Task::Ordinal => {
                TargetFacts::Ordered { labels: labels.clone(), order: (0..labels.len()).collect() }
            }
            Targets::Classes { labels, .. } => TargetFacts::Classes { labels: labels.clone() },
            Targets::Counts { name, values } => {
                TargetFacts::Real { names: vec![name.clone()], deviations: vec![deviation(values)] }
            }
            Targets::Durations { name, censored: Some(_), .. } => {
                TargetFacts::Censored { name: name.clone() }
            }
            Targets::Durations { name, times, .. } => {
                TargetFacts::Real { names: vec![name.clone()], deviations: vec![deviation(times)] }
            }
            Targets::Real { names, .. } if names.is_empty() => TargetFacts::Absent,
            Targets::Real { names, values } => {
                let scale = |target: usize| {
                    dataset.target_scaling.get(target).map_or(1.0, |scaling| scaling.scale)
                };
                let of = |target: usize| deviation(values.column(target)) * scale(target);
                TargetFacts::Real {
                    names: names.clone(),
                    deviations: (0..names.len()).map(of).collect(),
                }
            }
        }
    }

    /// The same beside others of the same column: classes without an order have that of the first that
    /// orders the same classes, so that predictions of both are judged alike.
    pub fn beside<'a>(self, others: impl IntoIterator<Item = &'a TargetFacts>) -> Self {
        let TargetFacts::Classes { labels } = &self else { return self };
        let order_of = |other: &TargetFacts| match other {
            TargetFacts::Ordered { labels: theirs, order } => {
                let places = same_classes(labels, theirs)?;
                Some(order.iter().map(|class| places[*class]).collect())
            }
            _ => None,
        };
        match others.into_iter().find_map(order_of) {
            Some(order) => TargetFacts::Ordered { labels: labels.clone(), order },
            None => self,
        }
    }

    /// The same with this order of classes, if they have none and it is one of them.
    pub(super) fn ordered(self, order: Option<&[usize]>) -> Self {
        match (self, order) {
            (TargetFacts::Classes { labels }, Some(order)) if is_order(order, labels.len()) => {
                TargetFacts::Ordered { labels, order: order.to_vec() }
            }
            (facts, _) => facts,
        }
    }

    /// The labels of classes; none otherwise.
    pub fn labels(&self) -> &[String] {
        match self {
            TargetFacts::Classes { labels } | TargetFacts::Ordered { labels, .. } => labels,
            _ => &[],
        }
    }

    /// What the targets are, in a word.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            TargetFacts::Real { .. } => "numbers",
            TargetFacts::Classes { .. } => "classes",
            TargetFacts::Ordered { .. } => "ordered classes",
            TargetFacts::Censored { .. } => "durations that may be censored",
            TargetFacts::Absent => "rows without a target",
        }
    }
}

/// Standard deviation with divisor n - 1; NaN for fewer than two values.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value / count).sum::<f64>();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if values.len() < 2 { f64::NAN } else { (squares / (count - 1.0)).sqrt() }
}

/// Whether each of so many classes is there once.
fn is_order(order: &[usize], classes: usize) -> bool {
    order.len() == classes && (0..classes).all(|class| order.contains(&class))
}

/// Where every class of the second is among those of the first; `None` unless they are the same.
pub(super) fn same_classes(first: &[String], second: &[String]) -> Option<Vec<usize>> {
    let place = |label: &String| first.iter().position(|own| own == label);
    (first.len() == second.len()).then(|| second.iter().map(place).collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Roles, Table, TextFormat};

    fn facts(text: &str, targets: &[&str]) -> TargetFacts {
        let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap();
        let targets = targets.iter().map(|name| name.to_string()).collect();
        let roles = Roles { targets, ..Roles::default() };
        TargetFacts::of(&Dataset::new(&table, &roles).unwrap().0)
    }

    #[test]
    fn classes_have_the_order_of_the_same_ordered_classes() {
        let labels = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let ordered = |text: &str| TargetFacts::Ordered {
            labels: labels(text),
            order: (0..labels(text).len()).collect(),
        };
        let plain = TargetFacts::Classes { labels: labels("good fair poor") };
        let found = plain.clone().beside([&plain, &ordered("poor fair good")]);
        let expected =
            TargetFacts::Ordered { labels: labels("good fair poor"), order: vec![2, 1, 0] };
        assert_eq!(found, expected);
        assert_eq!(plain.clone().beside([&ordered("poor fair best")]), plain);
        assert_eq!(plain.clone().beside([&ordered("poor fair good best")]), plain);
    }

    #[test]
    fn deviations_are_on_the_users_scale() {
        let text = "x,y,z\n1,10,3\n2,20,5\n4,60,4\n";
        let TargetFacts::Real { names, deviations } = facts(text, &["y", "z"]) else {
            panic!("real targets");
        };
        assert_eq!(names, ["y", "z"]);
        assert!((deviations[0] - 700f64.sqrt()).abs() < 1e-9, "{deviations:?}");
        assert!((deviations[1] - 1.0).abs() < 1e-12);
        let classes = facts("x,c\n1,b\n2,a\n", &["c"]);
        assert_eq!(classes.labels(), ["a", "b"]);
    }
}
