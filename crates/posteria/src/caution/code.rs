//! Tell programs what a caution is: its code, whether it is a doubt, and its cure apart.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Caution, Question};

impl Serialize for Caution {
    /// Its code, what is wrong, what to do about it where that is known, and whether it is a doubt.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (message, cure) = self.message_and_cure();
        let mut told = serializer.serialize_struct("Caution", 4)?;
        told.serialize_field("code", self.code())?;
        told.serialize_field("message", &message)?;
        match &cure {
            Some(cure) => told.serialize_field("cure", cure)?,
            None => told.skip_field("cure")?,
        }
        told.serialize_field("doubt", &self.is_doubt())?;
        told.end()
    }
}

impl Caution {
    /// Whether it is about what predictions rest on, and not about single parameters or relevances.
    pub fn concerns_predictions(&self) -> bool {
        match self {
            Caution::NotConverged { about, .. } | Caution::FewEffectiveDraws { about, .. } => {
                !matches!(about, Question::Inputs | Question::Parameters)
            }
            _ => true,
        }
    }

    /// Whether it is about how chains agree and how much they have drawn.
    pub fn is_of_chains(&self) -> bool {
        matches!(self, Caution::NotConverged { .. } | Caution::FewEffectiveDraws { .. })
    }

    /// Whether it is about trajectories that could not follow the density.
    pub fn is_of_trajectories(&self) -> bool {
        matches!(self, Caution::Divergences { .. } | Caution::LowEnergyFraction { .. })
    }

    /// A name that does not change with the words, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Caution::NotConverged { .. } => "not-converged",
            Caution::FewEffectiveDraws { .. } => "few-effective-draws",
            Caution::Constant { .. } => "constant-variable",
            Caution::NonFinite { .. } => "not-finite",
            Caution::Divergences { .. } => "divergences",
            Caution::TreeDepth { .. } => "tree-depth",
            Caution::LowEnergyFraction { .. } => "low-e-bfmi",
            Caution::Tempered { .. } => "tempered",
            Caution::Approximation(doubt) => doubt.code(),
            Caution::Evidence(_) => "evidence",
            Caution::OneChain => "one-chain",
            Caution::TooFewDraws { .. } => "too-few-draws",
            Caution::ConstantColumn { .. } => "constant-column",
            Caution::RowNumbers { .. } => "row-numbers",
            Caution::ConstantTarget { .. } => "constant-target",
            Caution::SingleClass { .. } => "single-class",
            Caution::RowsDropped { .. } => "rows-dropped",
            Caution::WholeTarget(_) => "whole-target",
            Caution::Extrapolation(_) => "extrapolation",
            Caution::PredictionsNotFinite { .. } => "predictions-not-finite",
            Caution::Infeasible { .. } => "infeasible-proposals",
            Caution::HighParetoShape { .. } | Caution::ChainScores { .. } => "high-pareto-k",
            Caution::StackingNoBetter { .. } => "stacking-no-better",
            Caution::ModeOfAllRows => "mode-of-all-rows",
            Caution::FewWeights { .. } => "few-weights",
            Caution::FewTailDraws { .. } => "few-tail-draws",
            Caution::ImpossibleRow { .. } => "impossible-row",
            Caution::WaicVariance { .. } => "waic-variance",
            Caution::NegativeParameters { .. } => "negative-p-dic",
            Caution::BestOfMany { .. } => "best-of-many",
            Caution::UtilityNotFinite { .. } => "utility-not-finite",
            Caution::FewUnits { .. } => "few-units",
            Caution::ProbabilityWithheld { .. } => "probability-withheld",
            Caution::InputSets { .. } => "input-sets-disagree",
            Caution::NoJumps { .. } => "no-jumps",
        }
    }

    /// Whether it is a reason not to trust the result; the others are facts about what was given,
    /// worth knowing.
    pub fn is_doubt(&self) -> bool {
        !matches!(
            self,
            Caution::Tempered { .. }
                | Caution::ConstantColumn { .. }
                | Caution::RowNumbers { .. }
                | Caution::ConstantTarget { .. }
                | Caution::SingleClass { .. }
                | Caution::RowsDropped { .. }
                | Caution::WholeTarget(_)
                | Caution::Extrapolation(_)
                | Caution::StackingNoBetter { .. }
        )
    }

    /// What is wrong, and what to do about it where that is known. The sentence of `Display` is
    /// both, with a semicolon between them.
    pub fn message_and_cure(&self) -> (String, Option<String>) {
        let text = self.to_string();
        match text.rsplit_once("; ") {
            Some((message, cure)) => (message.into(), Some(cure.into())),
            None => (text, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_falls_short_by_a_little_does_not_read_as_if_it_did_not() {
        let about = super::super::Question::Predictions;
        let variable = String::from("fitted[1]");
        let (kind, effective_size, needed) = ("bulk", 399.6, 400.0);
        let few = Caution::FewEffectiveDraws {
            about,
            variable: variable.clone(),
            kind,
            effective_size,
            needed,
        };
        assert!(
            few.to_string().starts_with("only 399 effective bulk draws for fitted[1], 400 are")
        );
        let apart = Caution::NotConverged { about, variable, r_hat: 1.0102, count: 1 };
        assert!(apart.to_string().contains("R-hat is 1.011"), "{apart}");
    }

    #[test]
    fn the_cure_follows_the_semicolon() {
        let caution = Caution::TooFewDraws { draws: 3 };
        let (message, cure) = caution.message_and_cure();
        assert_eq!(message, "3 draw(s) per chain are too few to diagnose");
        assert_eq!(cure.as_deref(), Some("at least 4 are needed"));
        assert_eq!(caution.to_string(), format!("{message}; {}", cure.unwrap_or_default()));
        assert_eq!((caution.code(), caution.is_doubt()), ("too-few-draws", true));
        let dropped = Caution::RowsDropped { count: 2, rows: 9, emptiest: None };
        assert!(dropped.message_and_cure().1.is_none() && !dropped.is_doubt());
        let told = serde_json::to_string(&caution).expect("JSON");
        let words =
            r#""3 draw(s) per chain are too few to diagnose","cure":"at least 4 are needed""#;
        let whole = format!(r#"{{"code":"too-few-draws","message":{words},"doubt":true}}"#);
        assert_eq!(told, whole);
    }
}
