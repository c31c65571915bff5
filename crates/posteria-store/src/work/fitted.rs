//! Fits and folds that units have made, for whoever has their models in memory.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use posteria::assess::{AssessError, Division, FittedFolds, RowUtilities, Valuation};
use posteria::data::FoldScheme;
use posteria::draws::Draws;
use posteria::fit::{Fit, Prepared, Stopped};
use posteria::select::{DividedFit, FitsElsewhere};

use super::valued::{VALUED, decode};
use super::{
    PlannedDivision, PlannedRun, RunSource, Unit, WORK, Work, WorkError, WorkPlan, to_json,
};
use crate::Run;
use crate::staging::unique;

/// The folds of a plan: the runs of the plan are the fits, in order.
#[derive(Debug)]
pub struct PlanFolds {
    plan: WorkPlan,
    units: Vec<Unit>,
    /// The places of the units of every fold among them, one or one of each chain: of which run, how
    /// divided, which fold.
    folds: HashMap<(usize, String, usize), Vec<usize>>,
    /// By what predictions are valued in every division.
    valuations: HashMap<usize, Option<Valuation>>,
}

impl PlanFolds {
    /// Those of this plan.
    ///
    /// # Errors
    /// [`WorkError`] if its units cannot be read.
    pub fn new(plan: WorkPlan) -> Result<Self, WorkError> {
        let units = plan.units()?;
        let mut folds: HashMap<_, Vec<usize>> = HashMap::new();
        let mut divided: HashMap<usize, String> = HashMap::new();
        let mut valuations = HashMap::new();
        for (place, unit) in units.iter().enumerate() {
            let Some((division, index)) = unit.work.fold() else { continue };
            let how = match divided.get(&division) {
                Some(how) => how.clone(),
                None => {
                    let (planned, _) = plan.division(division)?;
                    valuations.insert(division, planned.valuation);
                    divided.entry(division).or_insert(how(&planned.scheme, planned.draws)?).clone()
                }
            };
            let own = folds.entry((unit.run, how, index)).or_default();
            // A fold that is there twice counts once.
            if own.iter().all(|it| is_beside(units[*it].work, unit.work)) {
                own.push(place);
            }
        }
        Ok(PlanFolds { plan, units, folds, valuations })
    }

    /// The numbers of the runs that have folds, in order.
    pub fn runs(&self) -> Vec<usize> {
        self.folds.keys().map(|(run, ..)| *run).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The units of a fold: one, or one of each chain.
    fn parts(&self, fit: usize, division: &Division, fold: usize) -> Result<Vec<&Unit>, WorkError> {
        let own = (fit, how(&division.scheme, division.draws)?, fold);
        let places = self.folds.get(&own).into_iter().flatten();
        Ok(places.map(|place| &self.units[*place]).collect())
    }

    /// What the predictions of all rows of a fit by one of its folds are worth, if the unit of that has
    /// found out just what is asked for.
    ///
    /// # Errors
    /// [`WorkError`] if its result is of something else, or damaged.
    pub fn valued_by(
        &self,
        fit: usize,
        (division, fold): (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>, WorkError> {
        // Where chains are units, nobody has all draws of a fold, and so predicts by them.
        let parts = self.parts(fit, division, fold)?;
        let [unit @ Unit { work: Work::Fold { division, .. }, .. }] = parts[..] else {
            return Ok(None);
        };
        let is_asked = self.valuations.get(division).is_some_and(|own| own.as_ref() == Some(asked));
        if !is_asked || !self.plan.has_result(unit.id) {
            return Ok(None);
        }
        let bytes = self.plan.result_bytes(unit.id)?;
        let packed = self.plan.checked(unit, &bytes)?;
        Ok(packed.file(VALUED).map(|file| decode(&file)).transpose()?)
    }

    fn found(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, WorkError> {
        let parts = self.parts(fit, division, fold)?;
        let Some(first) = parts.first() else {
            return Err(WorkError::NoFold { path: self.plan.path.clone(), fold: fold + 1 });
        };
        let path = self.plan.scratch("read", first.id);
        match first.work {
            Work::FoldChain { division, .. } => {
                let (planned, _) = self.plan.division(division)?;
                let fit = self.plan.fit_of(first.run)?;
                self.plan.join_fold((&fit, &planned, fold), &parts, &path)?;
            }
            _ => self.plan.unpack_part(first, &path, is_of_variables)?,
        }
        let draws = Run::open(&path).and_then(|run| run.draws_of_variables());
        // It was there to be read only.
        let _ = fs::remove_dir_all(&path);
        Ok(draws?)
    }
}

/// Whether draws of variables are read from a file of a run folder: not from what describes it for other
/// readers, nor from its data.
fn is_of_variables(name: &Path) -> bool {
    let mut parts = name.components().map(|part| part.as_os_str().to_string_lossy());
    let describes = parts.clone().next_back().is_some_and(|file| file.starts_with('.'));
    let others =
        [VALUED, "log_likelihood", "constant_data", "observed_data", "posterior_predictive"];
    !describes && !parts.any(|part| others.contains(&&*part))
}

/// Whether these are different chains of a fold.
fn is_beside(one: Work, other: Work) -> bool {
    match (one, other) {
        (Work::FoldChain { chain: one, .. }, Work::FoldChain { chain: other, .. }) => one != other,
        _ => false,
    }
}

/// How rows are divided, in a few words.
fn how(scheme: &FoldScheme, draws: usize) -> Result<String, WorkError> {
    Ok(format!("{} {draws}", to_json(scheme)?))
}

impl FittedFolds for PlanFolds {
    fn draws(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, AssessError> {
        self.found(fit, division, fold).map_err(not_fitted)
    }

    fn valued(
        &self,
        fit: usize,
        of: (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>, AssessError> {
        self.valued_by(fit, of, asked).map_err(not_fitted)
    }
}

/// The fits of a plan by their names, and those that are wanted and not there.
pub struct PlanFits {
    folds: PlanFolds,
    wanted: Mutex<Vec<Wanted>>,
}

/// What is wanted of a plan.
struct Wanted {
    name: String,
    fit: WantedFit,
}

enum WantedFit {
    /// The chains of what was prepared.
    Chains(Box<Prepared>),
    /// The folds of a fit, with the number of training rows of each.
    Folds(Box<Fit>, Vec<(PlannedDivision, Vec<usize>)>),
}

impl PlanFits {
    /// Those of this plan.
    ///
    /// # Errors
    /// [`WorkError`] if its units cannot be read.
    pub fn new(plan: WorkPlan) -> Result<Self, WorkError> {
        Ok(PlanFits { folds: PlanFolds::new(plan)?, wanted: Mutex::default() })
    }

    /// Adds what was wanted as a stage of units; how many.
    ///
    /// # Errors
    /// [`WorkError`] if there is no room for them.
    pub fn extend(self) -> Result<usize, WorkError> {
        let wanted = self.wanted.into_inner().unwrap_or_else(PoisonError::into_inner);
        let runs = wanted.iter().map(|Wanted { name, fit }| match fit {
            WantedFit::Chains(prepared) => PlannedRun::of_chains(name, prepared),
            WantedFit::Folds(fit, divisions) => PlannedRun {
                divisions: divisions.clone(),
                ..PlannedRun::of(name, RunSource::Fit(fit))
            },
        });
        let mut plan = self.folds.plan;
        plan.extend(&runs.collect::<Vec<_>>())
    }

    fn want(&self, name: &str, fit: WantedFit) {
        let mut all = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().all(|own| own.name != name) {
            all.push(Wanted { name: name.into(), fit });
        }
    }

    /// The run of this name with units of which this is true.
    fn run(&self, name: &str, is_own: impl Fn(Work) -> bool) -> Option<usize> {
        let named = self.folds.plan.run_names().enumerate().filter(|(_, own)| *own == name);
        let has = |run: usize| self.folds.units.iter().any(|it| it.run == run && is_own(it.work));
        named.map(|(run, _)| run).find(|run| has(*run))
    }

    /// The draws of all chains of a run, with where they ended.
    fn joined(&self, run: usize, prepared: Prepared) -> Result<Fit, WorkError> {
        let PlanFolds { plan, units, .. } = &self.folds;
        let own: Vec<Unit> = units.iter().filter(|unit| unit.run == run).cloned().collect();
        let path = plan.scratch("joined", own.first().map_or(0, |unit| unit.id));
        plan.join_chains(&own, &path)?;
        let read = Run::open(&path).and_then(|run| {
            let draws = run.draws()?.laid_out_as(prepared.posterior.layout());
            Ok((draws, run.memories().into_iter().flatten().collect(), run.extent().warmup))
        });
        // It was there to be read only.
        let _ = fs::remove_dir_all(&path);
        let (draws, memories, warmup) = read?;
        let fit = Fit::new(prepared, draws, memories, warmup);
        Ok(Fit { stopped: Some(Stopped::Asked), ..fit })
    }
}

impl FitsElsewhere for PlanFits {
    fn fit(&self, name: &str, prepared: Prepared) -> Result<Option<Fit>, AssessError> {
        match self.run(name, |work| matches!(work, Work::Chain { .. })) {
            Some(run) => self.joined(run, prepared).map(Some).map_err(not_fitted),
            None => {
                self.want(name, WantedFit::Chains(Box::new(prepared)));
                Ok(None)
            }
        }
    }

    fn divided(
        &self,
        name: &str,
        fit: Fit,
        (divisions, valuation): (&[Division], &Valuation),
    ) -> Result<Option<DividedFit<'_>>, AssessError> {
        if let Some(number) = self.run(name, |work| matches!(work, Work::Fold { .. })) {
            return Ok(Some(DividedFit { fit, folds: &self.folds, number }));
        }
        let divisions = divisions.iter().map(|it| PlannedDivision::of(it, None, Some(valuation)));
        let divisions = divisions.collect();
        self.want(name, WantedFit::Folds(Box::new(fit), divisions));
        Ok(None)
    }
}

impl PlannedDivision {
    /// How rows are divided, by these labels if a column divides them, and by what predictions of them are
    /// valued; with the number of training rows of each fold.
    pub fn of(
        division: &Division,
        labels: Option<Vec<usize>>,
        valuation: Option<&Valuation>,
    ) -> (Self, Vec<usize>) {
        let Division { scheme, folds, draws } = division;
        let training = (0..folds.count()).map(|fold| folds.training(fold).len()).collect();
        let (scheme, draws, valuation) = (scheme.clone(), *draws, valuation.cloned());
        (PlannedDivision { scheme, folds: folds.count(), draws, labels, valuation }, training)
    }
}

impl WorkPlan {
    /// A folder to read something from, of nobody else.
    pub(super) fn scratch(&self, what: &str, number: usize) -> PathBuf {
        self.path.join(WORK).join(format!("{what}-{number:06}.{}", unique()))
    }
}

fn not_fitted(error: WorkError) -> AssessError {
    AssessError::NotFitted { reason: error.to_string() }
}
