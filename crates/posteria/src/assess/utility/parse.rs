//! Find the utility that a text names.

use super::super::TargetFacts;
use super::{
    AbsoluteError, Accuracy, Better, Brier, Concordance, Crps, Elpd, ErrorRate, Expression,
    Likelihood, RankedProbability, SquaredError, UtilityError, UtilityFunction,
};
use crate::data::nearest;

/// Name of the log predictive density.
pub const ELPD: &str = "elpd";

const ALL: [&str; 13] = [
    ELPD,
    "likelihood",
    "rmse",
    "nrmse",
    "mae",
    "abs-quantile:ALPHA",
    "crps",
    "concordance",
    "accuracy",
    "error-rate",
    "brier",
    "rps",
    "expr:FORMULA",
];

/// The utility named `elpd`, `likelihood`, `rmse`, `nrmse`, `mae`, `abs-quantile:ALPHA`, `crps`
/// (numbers), `concordance` (one number, or a duration), `accuracy`, `error-rate`, `brier` (classes), `rps`
/// (ordered classes) or `expr:FORMULA`, of which `formulas` says what is better.
///
/// # Errors
/// If there is none of that name, or it does not fit the targets; with the list of those that do.
pub fn parse_utility(
    text: &str,
    targets: &TargetFacts,
    formulas: Better,
) -> Result<Box<dyn UtilityFunction>, UtilityError> {
    let text = text.trim();
    if let Some(formula) = text.strip_prefix("expr:") {
        if !fits("expr", targets) {
            let (kind, fitting) = (targets.kind(), fitting(targets));
            return Err(UtilityError::NotForTask { name: "expr".into(), kind, fitting });
        }
        return Ok(Box::new(Expression::new(formula.trim(), targets, formulas)?));
    }
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    let known = ALL.iter().any(|it| it.split(':').next() == Some(name));
    let takes_parameter = name == "abs-quantile";
    if !known || (!takes_parameter && text.contains(':')) {
        let fitting = fitting(targets);
        let suggestion = nearest(text, &fitting);
        let kind = targets.kind();
        return Err(UtilityError::Unknown { name: text.into(), suggestion, kind, fitting });
    }
    if !fits(name, targets) {
        let (kind, fitting) = (targets.kind(), fitting(targets));
        return Err(UtilityError::NotForTask { name: name.into(), kind, fitting });
    }
    let utility: Box<dyn UtilityFunction> = match (name, targets) {
        (ELPD, _) => Box::new(Elpd),
        ("likelihood", _) => Box::new(Likelihood),
        ("rmse", _) => Box::new(SquaredError::rmse()),
        ("nrmse", TargetFacts::Real { names, deviations }) => {
            let constant = deviations.iter().position(|sd| !(*sd > 0.0 && sd.is_finite()));
            if let Some(target) = constant {
                return Err(UtilityError::Constant { target: names[target].clone() });
            }
            Box::new(SquaredError::nrmse(deviations))
        }
        ("mae", _) => Box::new(AbsoluteError::mean()),
        ("abs-quantile", _) => {
            let alpha = parameter.trim().parse().ok().filter(|it: &f64| *it > 0.0 && *it < 1.0);
            let none = || UtilityError::Probability { given: parameter.into() };
            Box::new(AbsoluteError::quantile(alpha.ok_or_else(none)?))
        }
        ("crps", _) => Box::new(Crps),
        ("concordance", _) => {
            Box::new(Concordance::new(matches!(targets, TargetFacts::Censored { .. })))
        }
        ("accuracy", _) => Box::new(Accuracy),
        ("error-rate", _) => Box::new(ErrorRate),
        ("rps", TargetFacts::Ordered { order, .. }) => Box::new(RankedProbability::new(order)),
        _ => Box::new(Brier),
    };
    Ok(utility)
}

fn fits(name: &str, targets: &TargetFacts) -> bool {
    match name.split(':').next().unwrap_or(name) {
        ELPD | "likelihood" => true,
        // What is censored is no number that a formula could hold against a prediction.
        "expr" => !matches!(targets, TargetFacts::Censored { .. }),
        "accuracy" | "error-rate" | "brier" => !targets.labels().is_empty(),
        "concordance" => match targets {
            TargetFacts::Censored { .. } => true,
            TargetFacts::Real { names, .. } => names.len() == 1,
            _ => false,
        },
        "rps" => matches!(targets, TargetFacts::Ordered { .. }),
        _ => matches!(targets, TargetFacts::Real { .. }),
    }
}

fn fitting(targets: &TargetFacts) -> Vec<String> {
    ALL.iter().filter(|name| fits(name, targets)).map(|name| name.to_string()).collect()
}
