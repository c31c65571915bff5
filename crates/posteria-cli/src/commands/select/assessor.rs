//! Find out what predictions by sets of inputs are worth, each set once.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

use posteria::assess::{Bootstrap, Difference, Method, PointwiseUtilities, difference};
use posteria::model::selection::Candidates;
use posteria::model::spec::Spec;
use posteria::select::{AssessSets, ChoiceStep, InputChoice, InputSets, Visits, choose};

use super::super::Context;
use super::sets::Sets;
use crate::args;
use crate::assessment::{FoldFolders, Plan, Subject};
use crate::failure::{Classify, Failure, Result};
use crate::interrupt::Interrupt;
use crate::text;
use crate::warning::Warning;

/// R-hat of a set from which on its utility is doubtful.
const FAR_OFF: f64 = 1.1;

/// Sets that a choice takes usually: all inputs, the set that is chosen, and one that is too small.
const SETS: usize = 3;

/// Draws of every chain of a set of the inputs of a run with this specification.
pub fn draws(spec: &Spec, asked: &args::Choice) -> NonZero<usize> {
    let usual = NonZero::new(InputSets::draws(spec));
    asked.fold_draws.or(usual).unwrap_or(NonZero::<usize>::MIN)
}

/// About how many sweeps the fits of a choice take.
pub fn sweeps_of_choice(spec: &Spec, asked: &args::Choice) -> usize {
    let each = InputSets::warmup(spec) + draws(spec, asked).get();
    let count = asked.largest.map_or(SETS, |largest| 1 + largest.get());
    count * InputSets::chains(spec) * each * (1 + asked.folds.map_or(0, NonZero::get))
}

/// Assesses sets of the inputs of a run, all by leave-one-out or all on the same folds.
pub struct Assessor<'a> {
    /// The sets, and their fits.
    pub sets: Sets<'a>,
    draws: usize,
    chains: usize,
    interrupt: &'a Interrupt,
    context: &'a Context,
    /// How the model with all inputs is assessed, and the targets of its rows.
    plan: Plan,
    observed: Vec<Vec<f64>>,
    done: Vec<(Vec<bool>, PointwiseUtilities)>,
    /// When all inputs had been assessed, so that the time of other sets is known.
    began: Option<Instant>,
    folds: Option<usize>,
    /// Sets whose chains have not mixed, and those with rows whose weights cannot be trusted.
    unsettled: Vec<String>,
    failing: Vec<usize>,
}

impl<'a> Assessor<'a> {
    /// Of the run in `path`, which is `whole` or without one fold of it. All inputs are fitted at once.
    pub fn new(
        (whole, path, spec): (&'a Path, &'a Path, &Spec),
        candidates: &'a Candidates,
        asked: &args::Choice,
        (interrupt, context): (&'a Interrupt, &'a Context),
    ) -> Result<Self> {
        let chains = InputSets::chains(spec);
        let draws = draws(spec, asked);
        let how = asked.how(draws, spec.data.group.is_some());
        let sets = Sets::new((whole, path, spec), candidates, draws.get())?;
        context.output.message("choice: the model with all inputs, then with fewer");
        let (folder, _) = sets.fit(&vec![true; candidates.len()], interrupt, context)?;
        let subject = Subject::open_part(&folder)?;
        let plan = Plan::new(&how, &subject, context.seed())?;
        Ok(Assessor {
            sets,
            draws: draws.get(),
            chains,
            interrupt,
            context,
            plan,
            observed: subject.fit.observed,
            done: Vec::new(),
            began: None,
            folds: None,
            unsettled: Vec::new(),
            failing: Vec::new(),
        })
    }

    /// How sets are assessed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of folds of what was assessed, if rows were divided.
    pub fn folds(&self) -> Option<usize> {
        self.folds
    }

    /// Announces how sets are assessed.
    pub fn announce(&self, what: &str) {
        let judged = match &self.plan.method {
            Method::KFold { schemes, .. } => {
                let folds = schemes.first().map_or(0, |scheme| scheme.count);
                format!("by fits without each of {folds} folds")
            }
            _ => "by leave-one-out".into(),
        };
        self.context.output.message(&format!(
            "{what}: sets are fitted to all rows and judged {judged}, {} of {}",
            text::count(self.chains, "chain"),
            text::count(self.draws, "draw"),
        ));
    }

    /// Fits and assesses a set, as far as that has not been done before.
    pub fn assess_as(&mut self, set: &[bool], what: &str) -> Result<PointwiseUtilities> {
        if let Some((_, known)) = self.done.iter().find(|(own, _)| own == set) {
            return Ok(known.clone());
        }
        let words = if set.contains(&false) { self.sets.words(set) } else { "all inputs".into() };
        self.context.output.message(&format!("{what}: {words}"));
        let (folder, r_hat) = self.sets.fit(set, self.interrupt, self.context)?;
        if r_hat > FAR_OFF {
            self.unsettled.push(folder.display().to_string());
        }
        let subject = Subject::open_part(&folder)?;
        if self.observed != subject.observed {
            return Err(Failure::bad_input(format!(
                "{} has other rows than the model with all inputs, since rows with empty cells are \
                 dropped; take them out of the table, or use --no-choice",
                folder.display()
            )));
        }
        let folds =
            FoldFolders::new(&subject, self.context.seed(), self.context.watched(self.interrupt))
                .valued(&self.plan);
        let found = subject.assessor(&self.plan.utilities, &folds).assess(&self.plan.method);
        let mut found = found.map_err(|it| self.sets.go_on(it))?;
        self.folds = found.folds.iter().flatten().max().map(|last| last + 1);
        if found.failing > 0 {
            self.failing.push(found.failing);
        }
        let Some(pointwise) = found.utilities.pop() else {
            unreachable!("the log predictive density is always there")
        };
        self.done.push((set.to_vec(), pointwise.clone()));
        Ok(pointwise)
    }

    /// Assesses sets of inputs, and chooses one of them; tells where its fit is.
    pub fn choose(
        &mut self,
        candidates: &Candidates,
        found: &Visits,
        asked: &args::Choice,
    ) -> Result<(InputChoice, PathBuf)> {
        self.announce("choice");
        let bootstrap = self.plan.bootstrap.clone();
        let sets = self.sets.sets.clone();
        let of = (&sets, candidates, found);
        let best = choose(self, of, &asked.options(), &bootstrap)?;
        let folder = self.sets.folder(&best.chosen_set.set);
        Ok((best, folder))
    }

    /// Tells what to be careful about.
    pub fn warn(&self, context: &Context) {
        if !self.unsettled.is_empty() {
            let text = format!(
                "the chains of {} have not mixed (R-hat above {FAR_OFF}): {}; their utilities may be \
                 off, draw more with --fold-draws",
                text::count(self.unsettled.len(), "set"),
                self.unsettled.join(", ")
            );
            context.warn(Warning::new("sets-not-converged", &text));
        }
        if let Some(most) = self.failing.iter().max() {
            let text = format!(
                "leave-one-out cannot be trusted for up to {most} of {} in {}; where the choice is \
                 close, repeat it with --folds 10",
                text::count(self.observed.len(), "row"),
                text::count(self.failing.len(), "set"),
            );
            context.warn(Warning::new("sets-leave-one-out", &text));
        }
    }
}

impl AssessSets for Assessor<'_> {
    type Error = Failure;

    fn assess(&mut self, set: &[bool], step: ChoiceStep) -> Result<PointwiseUtilities> {
        let ChoiceStep { done, others } = step;
        let left = match self.began {
            Some(began) if done > 1 => {
                let each = began.elapsed().as_secs_f64() / (done - 1) as f64;
                format!(", about {} left", text::duration(each * (1 + others) as f64))
            }
            _ => String::new(),
        };
        let what = format!("set {} of about {}{left}", done + 1, done + 1 + others);
        let assessed = self.assess_as(set, &what);
        self.began.get_or_insert_with(Instant::now);
        assessed
    }
}

/// One utility minus another, row by row.
pub fn apart(
    one: &PointwiseUtilities,
    other: &PointwiseUtilities,
    bootstrap: &Bootstrap,
) -> Result<Difference> {
    difference(one, other, bootstrap).bad_input()
}
