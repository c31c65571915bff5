//! Chains in a run folder, and how far they are on stderr.

use std::path::Path;

use posteria::draws::Draws;
use posteria::fit::{Chain, ChainMemory, ChainStore, Leg, LegWatch, Recorder, Report};
use posteria::sample::Plan;
use posteria_store::{Extent, RunWriter};

use super::open;
use crate::failure::{Classify, Failure, Result};
use crate::output::Output;
use crate::progress::{Progress, Seen};

/// A run folder that chains are written into.
pub struct ChainFolder<'a> {
    /// The folder.
    pub path: &'a Path,
    /// What writes into it.
    pub writer: RunWriter,
}

impl ChainFolder<'_> {
    /// Sweeps that all chains have done.
    pub fn sweeps(&self) -> usize {
        self.writer.memories().iter().flatten().map(|memory| memory.iteration).sum()
    }
}

impl Recorder for ChainFolder<'_> {
    fn goes_on(&self, sweeps: usize) -> bool {
        self.writer.goes_on(sweeps)
    }

    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> std::ops::ControlFlow<()> {
        self.writer.after_sweep(report, chain)
    }
}

impl ChainStore for ChainFolder<'_> {
    type Error = Failure;

    fn memories(&self) -> Vec<Option<ChainMemory>> {
        self.writer.memories()
    }

    fn set_plan(&mut self, plan: &Plan) -> Result<()> {
        self.writer.set_extent(Extent::from(plan)).running()
    }

    fn pause_at(&self, sweeps: usize) {
        self.writer.pause_at(sweeps);
    }

    fn draws(&mut self) -> Result<Draws> {
        self.writer.checkpoint().running()?;
        open(self.path)?.draws_of_variables().running()
    }

    fn has_failed(&self) -> bool {
        self.writer.has_failed()
    }
}

/// Shows how far chains are.
pub struct LegProgress {
    /// How messages appear.
    pub output: Output,
    /// About how many sweeps of other chains follow.
    pub followed_by: usize,
    /// What was seen of the chains before they paused.
    pub seen: Option<Seen>,
}

impl LegWatch for LegProgress {
    fn watch(
        &mut self,
        leg: &Leg<'_>,
        recorder: &dyn Recorder,
        run: &mut dyn FnMut(&dyn Recorder),
    ) {
        let progress = Progress::new(recorder, self.output, &leg.expected, leg.layout, leg.begun)
            .since(self.seen.take())
            .towards(leg.goal, leg.attained)
            .followed_by(self.followed_by);
        let progress = if leg.of_members { progress.of_members() } else { progress };
        run(&progress);
        self.seen = Some(progress.finish());
    }
}
