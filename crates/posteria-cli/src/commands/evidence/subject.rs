//! Read the model and the data whose evidence is asked for.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use posteria::data::{Dataset, Targets};
use posteria::evidence::posterior_alone;
use posteria::fit::{Conditioned, Prepared};

use super::super::foreign;
use crate::args::EvidenceMethod;
use crate::context::Context;
use crate::failure::{Classify, Failure, Result};
use crate::job::{beside, read_spec};
use crate::prepare::Source;
use crate::sampling::{open, spec_of};
use crate::verdict;

/// What the evidence is of.
pub struct Subject {
    /// The path as it was given.
    pub name: String,
    /// The run folder, if it is one.
    pub folder: Option<PathBuf>,
    /// The model conditioned on the data, as chains sample it, wherever the table was.
    pub prepared: Prepared,
}

impl Deref for Subject {
    type Target = Prepared;

    fn deref(&self) -> &Prepared {
        &self.prepared
    }
}

impl Subject {
    /// Repeats what is to be said about the draws of a run; a specification file has none.
    pub fn repeat_verdict(&self, context: &Context) -> Result<()> {
        let Some(path) = &self.folder else { return Ok(()) };
        let run = open(path)?;
        let draws = run.draws_of_variables().running()?;
        if draws.draws > 0 {
            // The specification here is that of the posterior, however draws were found.
            let inference = foreign::inference(&run);
            verdict::repeat(path, &draws, inference, run.approximation(), &context.warnings);
        }
        Ok(())
    }

    /// Reads a run folder or a specification file, and its data.
    pub fn load(path: &Path, data: Option<&Path>) -> Result<Self> {
        let name = path.display().to_string();
        let (spec, run) = if path.is_dir() {
            let run = open(path)?;
            (spec_of(&run)?, Some(run))
        } else if path.exists() {
            (read_spec(path)?, None)
        } else {
            let hint = match EvidenceMethod::from_str(&name, true) {
                Ok(_) => ": methods are separated by commas, as in --method path,bridge",
                Err(_) => "",
            };
            return Err(Failure::bad_input(format!(
                "there is no run folder or specification file {name}{hint}"
            )));
        };
        let source = match (data, &spec.data.path, &run) {
            (Some(data), _, _) => Source::File(data.to_path_buf()),
            (None, Some(own), Some(_)) => Source::File(own.into()),
            (None, None, Some(run)) => Source::of_run(run, &spec)?,
            (None, Some(own), None) => Source::File(beside(Some(path), Path::new(own))),
            (None, None, None) => {
                return Err(Failure::bad_input(format!(
                    "{name} does not say where its data are; add path in [data], or --data FILE"
                )));
            }
        };
        if let Source::File(table) = &source
            && !table.exists()
        {
            return Err(Failure::bad_input(format!(
                "the data of {name}, {}, are not there; put the file back, or say where it is with \
                 --data FILE",
                table.display()
            )));
        }
        let spec = posterior_alone(spec);
        spec.check().map_err(|error| Failure::bad_input(format!("{name}: {error}")))?;
        if spec.data.target.is_empty() && !spec.model.kind.is_unsupervised() {
            return Err(Failure::bad_input(format!(
                "{name} does not say which column is the target: add target in [data]"
            )));
        }
        let mut prepared = source.prepare(spec)?;
        prepared.spec.data.path = None;
        let folder = run.map(|_| path.to_path_buf());
        Ok(Subject { name, folder, prepared })
    }

    /// Refuses to compare models of different targets.
    pub fn must_have_targets_of(&self, other: &Subject) -> Result<()> {
        let what = match (&self.posterior, &other.posterior) {
            (Conditioned::Variational(..), Conditioned::Variational(..)) => {
                let same = self.spec.data.sha256 == other.spec.data.sha256
                    && self.data.input_names == other.data.input_names;
                if same { return Ok(()) } else { "other columns or another table" }
            }
            _ if self.spec.data.target != other.spec.data.target => "another target",
            _ if self.data.rows() != other.data.rows() => "another number of rows",
            _ if !same_targets(&self.data, &other.data) => "other values of the target",
            _ => return Ok(()),
        };
        Err(Failure::bad_input(format!(
            "{} has {what} than {}: evidences of different data cannot be compared; fit both to the \
             same rows",
            self.name, other.name
        )))
    }
}

/// Whether the targets are the same in the user's unit.
fn same_targets(one: &Dataset, other: &Dataset) -> bool {
    let real = |data: &Dataset| -> Option<Vec<f64>> {
        let Targets::Real { values, .. } = &data.targets else { return None };
        let rows = values.rows();
        let scaled = values.values().iter().enumerate();
        Some(scaled.map(|(i, value)| data.target_scaling[i / rows].invert(*value)).collect())
    };
    match (real(one), real(other)) {
        (Some(one), Some(other)) => {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
            one.len() == other.len() && one.iter().zip(&other).all(close)
        }
        (None, None) => match (&one.targets, &other.targets) {
            (
                Targets::Classes { codes: a, labels: names, .. },
                Targets::Classes { codes: b, labels: others, .. },
            ) => a == b && names == others,
            (Targets::Counts { values: a, .. }, Targets::Counts { values: b, .. }) => a == b,
            (
                Targets::Durations { times: a, censored: known, .. },
                Targets::Durations { times: b, censored: others, .. },
            ) => a == b && known == others,
            _ => false,
        },
        _ => false,
    }
}
