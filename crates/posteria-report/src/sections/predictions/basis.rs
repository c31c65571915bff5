//! Say of which rows predictions are: rows that were left out, or rows of the fit.

/// How the rows that a figure counts were predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Basis {
    /// By a fit that knows them.
    #[default]
    Fit,
    /// Each without itself, by importance weights.
    LeaveOneOut,
}

impl Basis {
    /// In a title.
    pub(super) fn title(self) -> &'static str {
        match self {
            Basis::Fit => "rows of the fit",
            Basis::LeaveOneOut => "leave-one-out",
        }
    }

    /// In a caption.
    pub(super) fn caption(self) -> &'static str {
        match self {
            Basis::Fit => {
                "Of the rows of the fit, which the model has seen: expect worse of new rows."
            }
            Basis::LeaveOneOut => "Leave-one-out: each row is predicted without itself.",
        }
    }
}
