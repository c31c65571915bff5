//! Put folds where assessments of their run look for them.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use posteria::fit::Fit;

use super::unit::{PlannedDivision, Unit, Work};
use super::valued::VALUED;
use super::{WorkError, WorkPlan};
use crate::folds::{FoldRun, fold_folder};
use crate::{Run, RunFolder};

impl WorkPlan {
    /// Puts the folds that units have fitted of the run of this number where assessments of the run in
    /// `path` look for them: those that are whole. What is there already, and is complete and closed, stays; what is
    /// wrong with one keeps no other from its place.
    ///
    /// # Errors
    /// The first of them, as [`WorkPlan::unpack`].
    pub fn install_folds(&self, run: usize, units: &[Unit], path: &Path) -> Result<(), WorkError> {
        let mut folds: BTreeMap<(usize, usize), Vec<&Unit>> = BTreeMap::new();
        for unit in units.iter().filter(|unit| unit.run == run) {
            if let Some(of) = unit.work.fold() {
                folds.entry(of).or_default().push(unit);
            }
        }
        let (mut installed, fit) = (Ok(()), OnceCell::new());
        for (of, parts) in folds {
            let one = match self.have_whole_results(parts.iter().copied()) {
                Ok(true) => self.install_fold(of, (&parts, &fit), path),
                lacking => lacking.map(|_| ()),
            };
            installed = installed.and(one);
        }
        installed
    }

    fn install_fold(
        &self,
        (division, index): (usize, usize),
        (parts, fit): (&[&Unit], &OnceCell<Fit>),
        run: &Path,
    ) -> Result<(), WorkError> {
        let (planned, _) = self.division(division)?;
        let path = fold_folder(run, (&planned.scheme, planned.folds), index);
        if let Ok(there) = Run::open(&path)
            && there.is_closed()
            && there.chain_draws().iter().all(|own| *own >= planned.draws)
        {
            return Ok(());
        }
        RunFolder::remove(&path)?;
        if let [unit @ Unit { work: Work::Fold { .. }, .. }] = parts {
            return self.unpack_part(unit, &path, |name| name != Path::new(VALUED));
        }
        let fit = match fit.get() {
            Some(fit) => fit,
            // The first one needs it: of what is there already nothing is.
            None => fit.get_or_init({
                let fit = self.fit_of(parts[0].run)?;
                || fit
            }),
        };
        self.join_fold((fit, &planned, index), parts, &path)
    }

    /// The fold that its chains make together, in the new folder `path`.
    pub(super) fn join_fold(
        &self,
        (fit, planned, index): (&Fit, &PlannedDivision, usize),
        chains: &[&Unit],
        path: &Path,
    ) -> Result<(), WorkError> {
        let (division, fold) = self.fold_model(fit, planned, index)?;
        let begun = self.scratch("fold", chains[0].id);
        let joined = FoldRun::open(fit, &division, &fold, &begun)
            .and_then(|run| run.begin())
            .map_err(WorkError::from)
            .and_then(|()| self.join_parts(&begun, chains.iter().copied(), path));
        // It was there to be copied only.
        let _ = fs::remove_dir_all(begun);
        joined
    }
}
