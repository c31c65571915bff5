//! Take note of the fits that a choice is likely to need, so that they can be made elsewhere side by side.
//! Those that turn out to be needed besides are noted when the choice asks for them.

use std::path::Path;

use posteria::data::Dataset;
use posteria::model::selection::Candidates;
use posteria::model::spec::Spec;
use posteria::select::{Visits, likely_sets, visits};

use super::super::Context;
use super::assessor::{Assessor, draws};
use super::nested::{division, fold_path, fold_spec};
use super::sets::{Sets, finish};
use crate::args;
use crate::elsewhere::unless_elsewhere;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::Source;
use crate::sampling::{open, spec_of};

/// Takes note of what is missing of the choice of a run in `path`, which is `whole` or without one fold of
/// it; the rows of `whole` are given.
///
/// # Errors
/// [`Failure::Elsewhere`] if anything is.
pub fn want(
    ((whole, path, spec), rows): ((&Path, &Path, &Spec), &Dataset),
    (candidates, found): (&Candidates, &Visits),
    asked: &args::Choice,
    within: (&Interrupt, &Context),
) -> Result<()> {
    let (interrupt, context) = within;
    let context = &Context { seed: context.seed.or(Some(spec.sampling.seed)), ..context.clone() };
    let mut missing = false;
    if let (Some(count), true) = (asked.nested, whole == path) {
        let (scheme, folds) = division((count, context), rows)?;
        for index in 0..folds.count() {
            let (path, spec) =
                (fold_path(whole, &scheme, (&folds, index)), fold_spec(spec, &scheme, index));
            let source = Source::of_run(&open(whole)?, &spec)?;
            let searched = finish((spec, &source), &path, interrupt, context);
            if unless_elsewhere(searched)?.is_none() {
                missing = true;
                continue;
            }
            let run = open(&path)?;
            let spec = spec_of(&run)?;
            let found = visits(&run.draws_of_variables().running()?, candidates).bad_input()?;
            let of = ((whole, &*path, &spec), rows);
            let inner = want(of, (candidates, &found), asked, (interrupt, context));
            missing |= unless_elsewhere(inner)?.is_none();
        }
    }
    let sets = Sets::new((whole, path, spec), candidates, draws(spec, asked).get())?;
    let mut likely = likely_sets((&sets.sets, candidates, found), &asked.options());
    if asked.leave_out && whole == path {
        let without = (0..candidates.len()).map(|out| {
            let mut set = sets.sets.all();
            set[out] = false;
            set
        });
        likely.extend(without.filter(|set| sets.sets.has_columns(set)));
    }
    let mut unfitted = false;
    for set in &likely {
        unfitted |= unless_elsewhere(sets.fit(set, interrupt, context))?.is_none();
    }
    if !unfitted && (asked.folds.is_some() || spec.data.group.is_some()) {
        let with = (interrupt, context);
        let mut assessor = Assessor::new((whole, path, spec), candidates, asked, with)?;
        for set in &likely {
            missing |= unless_elsewhere(assessor.assess_as(set, "likely"))?.is_none();
        }
    }
    if missing || unfitted { Err(Failure::Elsewhere) } else { Ok(()) }
}
