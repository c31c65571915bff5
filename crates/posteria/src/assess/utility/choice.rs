//! Utilities by name.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::super::TargetFacts;
use super::{Better, UtilityError, UtilityFunction, parse_utility};

/// What a prediction is worth, by name; [`parse_utility`] says for which targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Utility {
    /// Log predictive density, log p(y | x, D).
    Elpd,
    /// Predictive density.
    Likelihood,
    /// Root mean square of target minus predictive mean.
    Rmse,
    /// The same in units of the standard deviation of the target.
    Nrmse,
    /// Mean distance of target and predictive median.
    Mae,
    /// This quantile of the distance of target and predictive median.
    AbsQuantile(f64),
    /// Continuous ranked probability score.
    Crps,
    /// Share of pairs of rows that predictive medians put in the order of their targets.
    Concordance,
    /// Share of rows whose most probable class is theirs.
    Accuracy,
    /// Share of rows whose most probable class is another.
    ErrorRate,
    /// Brier score.
    Brier,
    /// Ranked probability score of ordered classes.
    Rps,
    /// A formula of the target and its predictive distribution, and which values are better.
    Formula(String, Better),
}

impl Utility {
    /// Those that are usual for these targets: the log predictive density, and an error that is easily
    /// read.
    pub fn usual(targets: &TargetFacts) -> Vec<Self> {
        match targets {
            TargetFacts::Real { .. } => vec![Utility::Elpd, Utility::Rmse],
            TargetFacts::Classes { .. } => vec![Utility::Elpd, Utility::Accuracy],
            TargetFacts::Ordered { .. } => vec![Utility::Elpd, Utility::Rps],
            TargetFacts::Censored { .. } | TargetFacts::Absent => vec![Utility::Elpd],
        }
    }

    /// What computes it for these targets.
    ///
    /// # Errors
    /// [`UtilityError`] if it is not for them.
    pub fn function(
        &self,
        targets: &TargetFacts,
    ) -> Result<Box<dyn UtilityFunction>, UtilityError> {
        let better = match self {
            Utility::Formula(_, better) => *better,
            _ => Better::Higher,
        };
        parse_utility(&self.to_string(), targets, better)
    }

    /// The one that [`parse_utility`] reads from a text; of formulas `formulas` says what is better.
    ///
    /// # Errors
    /// As [`parse_utility`].
    pub fn parse(
        text: &str,
        targets: &TargetFacts,
        formulas: Better,
    ) -> Result<Self, UtilityError> {
        parse_utility(text, targets, formulas)?;
        let text = text.trim();
        let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
        Ok(match name {
            "elpd" => Utility::Elpd,
            "likelihood" => Utility::Likelihood,
            "rmse" => Utility::Rmse,
            "nrmse" => Utility::Nrmse,
            "mae" => Utility::Mae,
            "abs-quantile" => Utility::AbsQuantile(parameter.trim().parse().unwrap_or(f64::NAN)),
            "crps" => Utility::Crps,
            "concordance" => Utility::Concordance,
            "accuracy" => Utility::Accuracy,
            "error-rate" => Utility::ErrorRate,
            "brier" => Utility::Brier,
            "rps" => Utility::Rps,
            _ => Utility::Formula(parameter.trim().into(), formulas),
        })
    }
}

impl fmt::Display for Utility {
    /// As [`parse_utility`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Utility::Elpd => f.write_str("elpd"),
            Utility::Likelihood => f.write_str("likelihood"),
            Utility::Rmse => f.write_str("rmse"),
            Utility::Nrmse => f.write_str("nrmse"),
            Utility::Mae => f.write_str("mae"),
            Utility::AbsQuantile(alpha) => write!(f, "abs-quantile:{alpha}"),
            Utility::Crps => f.write_str("crps"),
            Utility::Concordance => f.write_str("concordance"),
            Utility::Accuracy => f.write_str("accuracy"),
            Utility::ErrorRate => f.write_str("error-rate"),
            Utility::Brier => f.write_str("brier"),
            Utility::Rps => f.write_str("rps"),
            Utility::Formula(formula, _) => write!(f, "expr:{formula}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read() {
        let real = TargetFacts::Real { names: vec!["y".into()], deviations: vec![2.0] };
        let classes = TargetFacts::Classes { labels: vec!["no".into(), "yes".into()] };
        let formula = Utility::Formula("-abs(y - mean)".into(), Better::Higher);
        use Utility::{
            AbsQuantile, Accuracy, Brier, Concordance, Crps, Elpd, ErrorRate, Likelihood, Mae,
            Nrmse, Rmse,
        };
        for of_numbers in [Rmse, Nrmse, Mae, AbsQuantile(0.9), Crps, Concordance, formula] {
            assert!(of_numbers.function(&real).is_ok(), "{of_numbers}");
            let read = Utility::parse(&of_numbers.to_string(), &real, Better::Higher);
            assert_eq!(read.as_ref().ok(), Some(&of_numbers));
        }
        for of_classes in [Accuracy, ErrorRate, Brier] {
            assert!(of_classes.function(&classes).is_ok(), "{of_classes}");
            assert!(of_classes.function(&real).is_err(), "{of_classes}");
            let read = Utility::parse(&of_classes.to_string(), &classes, Better::Higher);
            assert_eq!(read.as_ref().ok(), Some(&of_classes));
        }
        for of_all in [Elpd, Likelihood] {
            assert!(of_all.function(&real).is_ok() && of_all.function(&classes).is_ok());
        }
    }
}
