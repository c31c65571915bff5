//! Repeat search and choice without every fold in turn, and predict the fold by what was chosen.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use posteria::assess::{HeldOut, KFoldUtilities, Method, RowUtilities, bayesian_bootstrap};
use posteria::data::{Dataset, FoldScheme, FoldSpec, Folds, Missing};
use posteria::model::selection::Candidates;
use posteria::model::spec::Spec;
use posteria::select::{InputChoice, InputTimes, NestedReport, SetTimes, UtilitySummary, visits};
use posteria_store::division_name;

use super::super::Context;
use super::assessor::{Assessor, apart};
use super::sets::{finish, go_on_later};
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::elsewhere::unless_elsewhere;
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::prepare::Source;
use crate::sampling::{open, spec_of};
use crate::text;

/// A run whose search and choice are repeated.
pub struct Whole<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// Its specification.
    pub spec: &'a Spec,
    /// What may leave.
    pub candidates: &'a Candidates,
    /// How a set is chosen.
    pub asked: &'a args::Choice,
}

impl Whole<'_> {
    /// Repeats search and choice without each of `count` folds. `best` is what came of all rows, by
    /// `plan`.
    pub fn nested(
        &self,
        (best, plan, folder): (&InputChoice, &Plan, &Path),
        count: NonZero<usize>,
        (interrupt, context): (&Interrupt, &Context),
    ) -> Result<NestedReport> {
        let all = Subject::open(folder)?;
        let (scheme, folds) = division((count, context), &all.prepared.data)?;
        self.announce(&folds, context);
        let (mut by_fold, mut chosen, mut missing) = (Vec::new(), Vec::new(), false);
        for index in 0..folds.count() {
            context.output.message(&format!("nested fold {} of {}", index + 1, folds.count()));
            let found = self.one_fold((&scheme, &folds, index), (&all, plan), (interrupt, context));
            let Some((evaluated, set)) = unless_elsewhere(found)? else {
                missing = true;
                continue;
            };
            by_fold.push(evaluated);
            chosen.push(set);
        }
        if missing {
            return Err(Failure::Elsewhere);
        }
        let folders = FoldFolders::new(&all, context.seed(), context.watched(interrupt));
        let training = all.assessor(&plan.utilities, &folders).assess(&Method::Posterior);
        let training = training.map_err(|it| go_on_later(it, self.path))?.evaluated;
        let mut divided =
            KFoldUtilities::new(&plan.utilities, (&training, &all.observed), (&folds, &by_fold));
        let Some(pointwise) = divided.utilities.pop() else {
            unreachable!("the log predictive density is always there")
        };
        let bootstrap = &plan.bootstrap;
        let expected = |it| bayesian_bootstrap(it, bootstrap).bad_input();
        let optimism = apart(&best.chosen_set.pointwise, &pointwise, bootstrap)?;
        let full = apart(&best.full_set.pointwise, &pointwise, bootstrap)?;
        Ok(NestedReport {
            folds: folds.count(),
            utility: UtilitySummary::of(&expected(&pointwise)?),
            chosen: UtilitySummary::of(&expected(&best.chosen_set.pointwise)?),
            optimism: UtilitySummary::of_difference(&optimism).signed(pointwise.better.sign()),
            p_full_better: full.probability_better(),
            sets: times(&chosen),
            inputs: self
                .candidates
                .names()
                .iter()
                .map(|name| InputTimes {
                    name: name.clone(),
                    folds: chosen.iter().filter(|set| set.contains(name)).count(),
                })
                .collect(),
        })
    }

    /// Announces what it takes.
    fn announce(&self, folds: &Folds, context: &Context) {
        let (count, sampling) = (folds.count(), &self.spec.sampling);
        let sets = self.asked.options().most_sets(self.candidates.len());
        context.output.message(&format!(
            "nested folds: search and choice are repeated without each of {count} folds, into the folder \
             nested of the run: {count} searches of {} of {}, then up to {}",
            text::count(sampling.chains, "chain"),
            match sampling.ess {
                Some(_) => format!("at most {}", text::count(sampling.draws, "draw")),
                None => text::count(sampling.draws, "draw"),
            },
            text::count(count * sets, "set"),
        ));
    }

    /// Search and choice without one fold: what is known about all rows then, and the set.
    fn one_fold(
        &self,
        (scheme, folds, index): (&FoldScheme, &Folds, usize),
        (all, plan): (&Subject, &Plan),
        (interrupt, context): (&Interrupt, &Context),
    ) -> Result<(Vec<RowUtilities>, Vec<String>)> {
        let spec = fold_spec(self.spec, scheme, index);
        let fold = spec.data.fold.clone();
        let path = fold_path(self.path, scheme, (folds, index));
        let source = Source::of_run(&open(self.path)?, &spec)?;
        // What a run keeps of its table is the columns that it uses, and the chosen set uses fewer.
        let (table, rows) = match &source {
            Source::Kept(table) => (table, &(0..table.rows()).collect()),
            Source::File(_) => {
                let (table, rows) = all.table()?;
                (table, rows)
            }
        };
        let finished = finish((spec, &source), &path, interrupt, context);
        finished.map_err(|it| go_on_later(it, self.path))?;
        let run = open(&path)?;
        let spec = spec_of(&run)?;
        if spec.data.fold != fold || spec.data.sha256 != self.spec.data.sha256 {
            return Err(Failure::bad_input(format!(
                "{} is a fold of another division or of other data; remove it, or use another --seed",
                path.display()
            )));
        }
        let draws = run.draws_of_variables().running()?;
        let found = visits(&draws, self.candidates).bad_input()?;
        let within = (self.path, &*path, &spec);
        let mut assessor =
            Assessor::new(within, self.candidates, self.asked, (interrupt, context))?;
        let (best, folder) = assessor.choose(self.candidates, &found, self.asked)?;
        let subject = Subject::open_part(&folder)?;
        let missing = Missing::from(self.spec.data.missing);
        let encoded = subject.prepared.encoder.encode(table, missing).bad_input()?;
        if encoded.rows != *rows {
            return Err(Failure::bad_input(format!(
                "{} has other complete rows than {}; take them out of the table",
                folder.display(),
                self.path.display()
            )));
        }
        let folders = FoldFolders::new(&subject, context.seed(), context.watched(interrupt));
        let assessor = subject.assessor(&plan.utilities, &folders);
        let inputs = encoded.inputs_and_offsets();
        let rows = HeldOut { inputs: &inputs, observed: &all.observed, log_weights: None };
        let evaluated = assessor.of_rows(rows, index as u64 + 1).map_err(Failure::from);
        Ok((evaluated.map_err(|it| go_on_later(it, self.path))?, best.chosen))
    }
}

/// How rows are divided into so many nested folds.
pub fn division(
    (count, context): (NonZero<usize>, &Context),
    rows: &Dataset,
) -> Result<(FoldScheme, Folds)> {
    let scheme = FoldScheme::new(count.get(), context.seed().0).resolved(rows);
    let folds = scheme.divide(rows, None).bad_input()?;
    Ok((scheme, folds))
}

/// The specification of the search without a fold, counted from 0.
pub fn fold_spec(whole: &Spec, scheme: &FoldScheme, index: usize) -> Spec {
    let mut spec = whole.clone();
    spec.data.fold = Some(FoldSpec { index: index + 1, scheme: scheme.clone(), within: None });
    spec.data.test = None;
    spec
}

/// The folder of that search.
pub fn fold_path(whole: &Path, scheme: &FoldScheme, (folds, index): (&Folds, usize)) -> PathBuf {
    let name = division_name(scheme, folds.count());
    whole.join("nested").join(name).join(format!("fold-{:04}", index + 1))
}

/// Different sets, those that occur most often first.
fn times(chosen: &[Vec<String>]) -> Vec<SetTimes> {
    let mut all: Vec<SetTimes> = Vec::new();
    for set in chosen {
        match all.iter_mut().find(|it| it.inputs == *set) {
            Some(it) => it.folds += 1,
            None => all.push(SetTimes { inputs: set.clone(), folds: 1 }),
        }
    }
    all.sort_by_key(|it| std::cmp::Reverse(it.folds));
    all
}
