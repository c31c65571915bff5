//! Say what the variables of a draw are to those who read it: found by role, whatever the model.

use crate::caution::Question;

/// What a variable is to those who read draws. A file keeps names alone, and the role follows from
/// the name ([`Role::of_name`]), so that runs of every version have roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A coefficient, a weight, or whatever else has a meaning of its own in its model.
    #[default]
    Parameter,
    /// The scale of the weights out of an input, or its inverse length scale.
    Relevance,
    /// The same of one of several terms of a covariance.
    TermRelevance,
    /// The scale that relevances have in common.
    RelevanceAbove,
    /// Another scale of a prior or a process: a magnitude, the scale of a group of weights.
    Scale,
    /// Degrees of freedom of scales or weights.
    Dof,
    /// The standard deviation or scale of residuals, one or several.
    ResidualScale,
    /// The scale that residual scales have in common.
    ResidualScaleAbove,
    /// How the log of the residual scale changes with an input.
    ResidualLogSlope,
    /// The covariance of the residuals of several targets.
    ResidualCovariance,
    /// Degrees of freedom of the residuals.
    ResidualDof,
    /// Another parameter of the residuals.
    Residual,
    /// How far counts vary more than those of a Poisson distribution.
    Overdispersion,
    /// The residual scale of every row.
    CaseScale,
    /// Which inputs are in the model.
    Inclusion,
    /// The latent functions at all rows.
    Latents,
    /// The functions at rows of the fit.
    Fitted,
    /// Their mean given all else that a draw holds, where they are drawn.
    FittedMean,
    /// The error at the rows of the fit.
    TrainingError,
    /// The error at rows that the fit has not seen.
    TestError,
    /// The log density of a draw, which is no variable of a layout but one of a summary.
    LogDensity,
}

/// Roles that one variable alone may have, and its name.
const NAMES: [(Role, &str); 15] = [
    (Role::Relevance, "relevance"),
    (Role::ResidualScale, "residual_scale"),
    (Role::ResidualScaleAbove, "residual_scale_above"),
    (Role::ResidualLogSlope, "residual_log_slope"),
    (Role::ResidualCovariance, "residual_covariance"),
    (Role::ResidualDof, "residual_dof"),
    (Role::Overdispersion, "overdispersion"),
    (Role::CaseScale, "case_scale"),
    (Role::Inclusion, "inclusion"),
    (Role::Latents, "latents"),
    (Role::Fitted, "fitted"),
    (Role::FittedMean, "fitted_mean"),
    (Role::TrainingError, "training_error"),
    (Role::TestError, "test_error"),
    (Role::LogDensity, "log_density"),
];

impl Role {
    /// The role of a variable that a file calls so. Names of scales are `relevance`, `magnitude`
    /// (with the numbers of a term where there are several), `…_scale`, or one of these with `_above`.
    pub fn of_name(name: &str) -> Self {
        if let Some((role, _)) = NAMES.iter().find(|(_, own)| *own == name) {
            return *role;
        }
        let (below, is_above) = match name.strip_suffix("_above") {
            Some(below) => (below, true),
            None => (name, false),
        };
        let kind = below.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit());
        match (kind, is_above) {
            ("relevance", true) => Role::RelevanceAbove,
            ("relevance", false) => Role::TermRelevance,
            ("magnitude", _) => Role::Scale,
            _ if below.starts_with("residual_") => Role::Residual,
            _ if below.ends_with("_scale") => Role::Scale,
            _ if name.ends_with("_dof") => Role::Dof,
            _ => Role::Parameter,
        }
    }

    /// The name of the one variable that may have this role.
    ///
    /// # Panics
    /// If several variables of a model may have it.
    pub(crate) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(role, _)| *role == self);
        found.expect("a role of one variable alone").1
    }

    /// Whether variables with this role are positive scales, whose priors are heavy-tailed: their
    /// own moments need not exist, those of their logarithms do.
    pub fn is_scale(self) -> bool {
        matches!(
            self,
            Role::Relevance
                | Role::TermRelevance
                | Role::RelevanceAbove
                | Role::Scale
                | Role::ResidualScale
                | Role::ResidualScaleAbove
                | Role::Overdispersion
                | Role::CaseScale
        )
    }

    /// Whether it is of the residual model.
    pub fn is_residual(self) -> bool {
        matches!(
            self,
            Role::ResidualScale
                | Role::ResidualScaleAbove
                | Role::ResidualLogSlope
                | Role::ResidualCovariance
                | Role::ResidualDof
                | Role::Residual
        )
    }

    /// Whether it follows from parameters and data, and is none of the parameters itself: of every row
    /// by itself, or an error.
    pub fn is_derived(self) -> bool {
        matches!(self, Role::Fitted | Role::FittedMean | Role::TrainingError | Role::TestError)
    }

    /// What a variable with this role says something about.
    pub fn question(self) -> Question {
        match self {
            Role::Fitted
            | Role::FittedMean
            | Role::TrainingError
            | Role::TestError
            | Role::LogDensity => Question::Predictions,
            Role::ResidualScale
            | Role::ResidualLogSlope
            | Role::ResidualCovariance
            | Role::ResidualDof
            | Role::Overdispersion => Question::Residuals,
            Role::Relevance | Role::TermRelevance | Role::RelevanceAbove => Question::Inputs,
            _ => Question::Parameters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_files_keep_tell_roles() {
        for (role, name) in NAMES {
            assert_eq!((Role::of_name(name), role.name()), (role, name));
        }
        for (name, role) in [
            ("relevance_1_2", Role::TermRelevance),
            ("relevance_above", Role::RelevanceAbove),
            ("relevance_3_above", Role::RelevanceAbove),
            ("magnitude_2", Role::Scale),
            ("input_weight_scale_above", Role::Scale),
            ("input_weight_scale_dof", Role::Dof),
            ("relevance_dof", Role::Dof),
            ("weights", Role::Parameter),
            ("scale_of_things", Role::Parameter),
            ("_above", Role::Parameter),
        ] {
            assert_eq!(Role::of_name(name), role, "{name}");
        }
        assert!(Role::of_name("relevance_3_above").is_scale() && !Role::Dof.is_scale());
        assert!(Role::ResidualScaleAbove.is_scale() && !Role::ResidualDof.is_scale());
    }
}
