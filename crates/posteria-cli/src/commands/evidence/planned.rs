//! Which ladders the evidences of models need, for units that run them.

use std::path::Path;

use posteria::fit::Prepared;
use posteria_store::{NewPlan, PlannedLadders, PlannedRun, RunSource, WorkPlan};
use serde_json::Value;

use super::sensitivity::{self, Scaled};
use super::subject::Subject;
use super::{failure, seed_of, subjects};
use crate::args;
use crate::commands::Context;
use crate::failure::{Failure, Result};

/// A model whose ladders are planned: which subject it is of, and what it is called besides, if it is
/// not that itself.
struct Of<'a> {
    subject: &'a Subject,
    name: String,
    model: &'a Prepared,
}

/// Makes a plan of the ladders of these models, in the folder `out`.
pub fn planned(
    asked: &args::Evidence,
    (out, arguments): (&Path, Value),
    context: &Context,
) -> Result<WorkPlan> {
    let subjects = subjects(asked)?;
    let scaled = scaled(asked, &subjects)?;
    let options = asked.options();
    let of_points = sensitivity::options_of_points(&options);
    let mut runs = Vec::with_capacity(subjects.len());
    for (subject, points) in subjects.iter().zip(&scaled) {
        let name = subject.name.clone();
        let mut all = vec![(Of { subject, name, model: &subject.prepared }, &options)];
        all.extend(points.iter().map(|point| {
            let name = format!("{}, {}", subject.name, point.name);
            (Of { subject, name, model: &point.model }, &of_points)
        }));
        for (Of { subject, name, model }, options) in all {
            options.check(&model.posterior).map_err(|error| failure(&name, error))?;
            let ladders = options
                .ladders(&model.posterior)
                .map(|asked| PlannedLadders { seed: seed_of(subject, context).0, asked });
            let source = RunSource::Model(model, Some(Path::new(&subject.name)));
            runs.push(PlannedRun { ladders, ..PlannedRun::of(&name, source) });
        }
    }
    if runs.iter().all(|run| run.ladders.is_none()) {
        return Err(Failure::bad_input(
            "none of these methods runs ladders of temperatures, which alone are units; use posteria \
             evidence",
        ));
    }
    Ok(WorkPlan::create(out, &NewPlan { action: "evidence", arguments, runs })?)
}

/// Refuses models that are not those that a plan was made for.
pub fn check(plan: &WorkPlan, asked: &args::Evidence) -> Result<()> {
    let subjects = subjects(asked)?;
    let scaled = scaled(asked, &subjects)?;
    let mut number = 0;
    for (subject, points) in subjects.iter().zip(&scaled) {
        let models = std::iter::once(&subject.prepared).chain(points.iter().map(|it| &it.model));
        for model in models {
            plan.check_model(number, model)?;
            number += 1;
        }
    }
    Ok(())
}

/// The models with other priors that are looked at besides, for every subject.
fn scaled(asked: &args::Evidence, subjects: &[Subject]) -> Result<Vec<Vec<Scaled>>> {
    let of = |subject| match &asked.sensitivity {
        Some(sensitivity) => sensitivity::points(subject, sensitivity).collect(),
        None => Ok(Vec::new()),
    };
    subjects.iter().map(of).collect()
}
