//! What names a formula may use.

use super::super::TargetFacts;
use super::aggregate::AGGREGATES;
use super::program::Fact;

/// Which quantities a formula is about.
#[derive(Clone, Debug)]
pub struct Scope {
    targets: TargetFacts,
    /// Whether there is a predictive distribution beside the target itself.
    predictive: bool,
    /// Whether it is about all rows at once.
    all_rows: bool,
    actions: Vec<String>,
    /// Labels of the classes, then actions that are none of them.
    symbols: Vec<String>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// A number of every real target.
    OfTarget(fn(usize) -> Fact),
    /// A number of the row.
    Number(Fact),
    /// A class or an action; whether all labels are numbers.
    Symbol { fact: Fact, numeric: bool },
}

impl Scope {
    /// The target and its predictive distribution: `y`, `mean`, `sd`, `median`, `log_density`,
    /// `q(p)`, `cdf(x)` of numbers, `y`, `most_probable`, `prob(c)`, `log_density` of classes.
    pub fn prediction(targets: &TargetFacts) -> Self {
        let symbols = targets.labels().to_vec();
        Scope {
            targets: targets.clone(),
            predictive: true,
            all_rows: false,
            actions: Vec::new(),
            symbols,
        }
    }

    /// The targets of all rows: `y` inside functions of all rows, as in `mean(y)`; where durations may be
    /// censored, how long a row was watched, and `censored`.
    pub(super) fn statistic(targets: &TargetFacts) -> Self {
        Scope { predictive: false, all_rows: true, ..Scope::prediction(targets) }
    }

    /// Whether there are functions of all rows.
    pub(super) fn has_aggregates(&self) -> bool {
        self.all_rows
    }

    /// The target `y` and an action `a` (or `action`), out of a list.
    pub fn cost(targets: &TargetFacts, actions: &[String]) -> Self {
        let mut symbols = targets.labels().to_vec();
        let numeric = all_numbers(actions) && symbols.is_empty();
        let new = actions.iter().filter(|action| !numeric && !targets.labels().contains(action));
        symbols.extend(new.cloned());
        Scope {
            targets: targets.clone(),
            predictive: false,
            all_rows: false,
            actions: actions.to_vec(),
            symbols,
        }
    }

    /// The value that [`Fact::Action`] has for every action: itself if it is a number among
    /// numbers, else the index of its symbol.
    pub(crate) fn action_values(&self) -> Vec<f64> {
        let value = |action: &String| match self.symbols.iter().position(|it| it == action) {
            Some(index) => index as f64,
            None => number(action),
        };
        self.actions.iter().map(value).collect()
    }

    pub(super) fn symbols(&self) -> &[String] {
        &self.symbols
    }

    /// The number that each symbol is; NaN if it is none.
    pub(super) fn label_numbers(&self) -> Vec<f64> {
        self.symbols.iter().map(|label| number(label)).collect()
    }

    /// Names of the real targets.
    pub(super) fn target_names(&self) -> &[String] {
        match &self.targets {
            TargetFacts::Real { names, .. } => names,
            TargetFacts::Censored { name } => std::slice::from_ref(name),
            _ => &[],
        }
    }

    fn may_be_censored(&self) -> bool {
        matches!(self.targets, TargetFacts::Censored { .. })
    }

    pub(super) fn has_quantiles(&self) -> bool {
        self.predictive && !self.target_names().is_empty()
    }

    pub(super) fn has_probabilities(&self) -> bool {
        self.predictive && !self.targets.labels().is_empty()
    }

    pub(super) fn meaning(&self, name: &str) -> Option<Meaning> {
        let real = !self.target_names().is_empty();
        let labels = self.targets.labels();
        let classes = !labels.is_empty();
        let class = |fact| Meaning::Symbol { fact, numeric: all_numbers(labels) };
        let meaning = match name {
            "y" if real => Meaning::OfTarget(Fact::Observed),
            "censored" if self.all_rows && self.may_be_censored() => {
                Meaning::Number(Fact::Censored)
            }
            "y" | "class" if classes => class(Fact::Observed(0)),
            "mean" if self.has_quantiles() => Meaning::OfTarget(Fact::Mean),
            "sd" if self.has_quantiles() => Meaning::OfTarget(Fact::Sd),
            "median" if self.has_quantiles() => Meaning::OfTarget(Fact::Median),
            "most_probable" if self.has_probabilities() => class(Fact::MostProbable),
            "log_density" if self.predictive => Meaning::Number(Fact::LogDensity),
            "a" | "action" if !self.actions.is_empty() => {
                let (fact, numeric) = (Fact::Action, all_numbers(&self.actions));
                if self.symbols.is_empty() {
                    Meaning::Number(fact)
                } else {
                    Meaning::Symbol { fact, numeric }
                }
            }
            _ => return None,
        };
        Some(meaning)
    }

    /// Names of quantities, for messages.
    pub(super) fn known(&self) -> Vec<String> {
        let calls = [("q(p)", self.has_quantiles()), ("cdf(x)", self.has_quantiles())];
        let prob = [("prob(class)", self.has_probabilities())];
        let names = QUANTITIES.iter().filter(|name| self.meaning(name).is_some());
        let aggregates = AGGREGATES.iter().filter(|_| self.all_rows).map(|(name, _)| name);
        let calls = calls.iter().chain(&prob).filter(|(_, there)| *there).map(|(name, _)| name);
        names.chain(calls).chain(aggregates).map(|name| name.to_string()).collect()
    }
}

/// Every quantity that there is for some targets.
pub(super) const QUANTITIES: [&str; 10] = [
    "y",
    "censored",
    "class",
    "mean",
    "sd",
    "median",
    "most_probable",
    "log_density",
    "a",
    "action",
];

fn number(text: &str) -> f64 {
    text.trim().parse().ok().filter(|value: &f64| value.is_finite()).unwrap_or(f64::NAN)
}

fn all_numbers(labels: &[String]) -> bool {
    !labels.is_empty() && labels.iter().all(|label| !number(label).is_nan())
}
