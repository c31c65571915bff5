//! Say why a command did not succeed, and with which exit code.

use std::io;

use posteria::assess::AssessError;
use posteria::fit::{ApproximationError, Cancelled, FitError, PredictError};
use posteria::select::ChoiceError;
use posteria_store::{FitFolderError, PartError, StoreError, WorkError};

use crate::interrupt::Interrupt;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// Something in the command, the specification or the data is wrong; nothing was begun.
    BadInput(anyhow::Error),
    /// The work was begun and failed.
    Running(anyhow::Error),
    /// The result of the command could not be printed.
    Print(io::Error),
    /// The work is done, but its diagnostics say not to trust it.
    Doubtful {
        /// Number of warnings.
        cautions: usize,
    },
    /// Fits are missing that are to be made elsewhere; they were taken note of.
    Elsewhere,
    /// A signal ended the work; what was drawn is kept.
    Interrupted {
        /// The signal's number.
        signal: u8,
        /// How to go on.
        advice: String,
    },
}

/// The error with those of its causes that its own text does not tell already.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Result of a command or a part of one.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Bad input, from a message.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Failure::BadInput(anyhow::Error::msg(message.into()))
    }

    /// The line for the user; `None` if nobody listens any more.
    pub fn message(&self) -> Option<String> {
        match self {
            Failure::BadInput(error) | Failure::Running(error) => Some(with_causes(error)),
            Failure::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Failure::Print(error) => Some(format!("cannot write to stdout: {error}")),
            Failure::Doubtful { cautions } => Some(format!(
                "the diagnostics gave {cautions} warning(s), and --strict makes them an error"
            )),
            Failure::Elsewhere => Some("fits are missing that are to be made elsewhere".into()),
            Failure::Interrupted { advice, .. } => Some(format!("interrupted; {advice}")),
        }
    }

    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            // Whoever closed the pipe has seen enough: that is no failure.
            Failure::Print(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Running(_) | Failure::Print(_) | Failure::Elsewhere => 1,
            Failure::BadInput(_) => 2,
            Failure::Doubtful { .. } => 3,
            Failure::Interrupted { signal, .. } => 128 + signal,
        }
    }
}

/// Classifies the error of a result.
pub trait Classify<T> {
    /// The user's input is at fault: exit code 2.
    fn bad_input(self) -> Result<T>;
    /// The work failed: exit code 1.
    fn running(self) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> Classify<T> for std::result::Result<T, E> {
    fn bad_input(self) -> Result<T> {
        self.map_err(|error| Failure::BadInput(error.into()))
    }

    fn running(self) -> Result<T> {
        self.map_err(|error| Failure::Running(error.into()))
    }
}

/// An error about the fit that a run folder holds.
pub fn folder_failure(error: FitFolderError) -> Failure {
    match error {
        FitFolderError::Store(error) => store_failure(error),
        error => Failure::BadInput(error.into()),
    }
}

/// An error about a run folder that was given: bad input, unless the system itself failed.
pub fn store_failure(error: StoreError) -> Failure {
    use io::ErrorKind::{
        IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
    };
    let given = match &error {
        StoreError::Io { source, .. } => matches!(
            source.kind(),
            IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem
        ),
        _ => true,
    };
    if given { Failure::BadInput(error.into()) } else { Failure::Running(error.into()) }
}

impl From<Cancelled> for Failure {
    /// Only a signal stops work.
    fn from(_: Cancelled) -> Self {
        let signal = Interrupt::listen().ok().and_then(|interrupt| interrupt.signal());
        let advice = "nothing was written; repeat the command".into();
        Failure::Interrupted { signal: signal.unwrap_or_default(), advice }
    }
}

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Self {
        match error {
            PredictError::Cancelled(cancelled) => cancelled.into(),
            error => Failure::BadInput(error.into()),
        }
    }
}

impl From<AssessError> for Failure {
    fn from(error: AssessError) -> Self {
        match error {
            AssessError::Predict(error) => error.into(),
            AssessError::Approximation(error) => error.into(),
            AssessError::Importance(_) | AssessError::Fit { .. } => Failure::Running(error.into()),
            error => Failure::BadInput(error.into()),
        }
    }
}

impl From<ChoiceError> for Failure {
    fn from(error: ChoiceError) -> Self {
        Failure::BadInput(error.into())
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Cancelled(cancelled) => cancelled.into(),
            FitError::Approximation(error) => error.into(),
            FitError::Prepare(error) => Failure::BadInput(error.into()),
            error => Failure::Running(error.into()),
        }
    }
}

impl From<ApproximationError> for Failure {
    fn from(error: ApproximationError) -> Self {
        match error {
            ApproximationError::Model(error) => Failure::BadInput(error.into()),
            error => Failure::Running(error.into()),
        }
    }
}

impl From<PartError> for Failure {
    fn from(error: PartError) -> Self {
        match error {
            PartError::Folder(error) => folder_failure(*error),
            PartError::Assess(error) => (*error).into(),
            PartError::Fit(error) => (*error).into(),
            PartError::Approximation(error) => (*error).into(),
            PartError::Ladder(_) => Failure::Running(error.into()),
            error => Failure::BadInput(error.into()),
        }
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Store(error) => store_failure(error),
            WorkError::Part(error) => (*error).into(),
            WorkError::Unit { .. } | WorkError::DamagedResult { .. } => {
                Failure::Running(error.into())
            }
            error => Failure::BadInput(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let cause = || io::Error::other("the disk is full");
        let silent = anyhow::Error::new(cause()).context("cannot write");
        assert_eq!(with_causes(&silent), "cannot write: the disk is full");
        let telling = anyhow::Error::new(cause()).context("the disk is full; free some space");
        assert_eq!(with_causes(&telling), "the disk is full; free some space");
    }
}
