//! Folds that units have fitted, for assessments of fits in memory.

use std::fs;

use posteria::assess::{AssessError, Division, FittedFolds};
use posteria::draws::Draws;

use super::{Unit, WORK, Work, WorkError, WorkPlan};
use crate::Run;
use crate::staging::unique;

/// The folds of a plan: the runs of the plan are the fits, in order.
#[derive(Debug)]
pub struct PlanFolds {
    plan: WorkPlan,
    units: Vec<Unit>,
}

impl PlanFolds {
    /// Those of this plan.
    ///
    /// # Errors
    /// [`WorkError`] if its units cannot be read.
    pub fn new(plan: WorkPlan) -> Result<Self, WorkError> {
        let units = plan.units()?;
        Ok(PlanFolds { plan, units })
    }

    fn found(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, WorkError> {
        for unit in self.units.iter().filter(|unit| unit.run == fit) {
            let Work::Fold { division: number, index } = unit.work else { continue };
            if index != fold {
                continue;
            }
            let (planned, _) = self.plan.division(number)?;
            if planned.scheme != division.scheme || planned.draws != division.draws {
                continue;
            }
            let path = self.plan.path.join(WORK).join(format!("read-{:06}.{}", unit.id, unique()));
            self.plan.unpack(unit, &path)?;
            let draws = Run::open(&path).and_then(|run| run.draws_of_variables());
            // It was there to be read only.
            let _ = fs::remove_dir_all(&path);
            return Ok(draws?);
        }
        Err(WorkError::NoFold { path: self.plan.path.clone(), fold: fold + 1 })
    }
}

impl FittedFolds for PlanFolds {
    fn draws(&self, fit: usize, division: &Division, fold: usize) -> Result<Draws, AssessError> {
        let reason = |error: WorkError| AssessError::NotFitted { reason: error.to_string() };
        self.found(fit, division, fold).map_err(reason)
    }
}
