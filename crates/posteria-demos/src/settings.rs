//! Say how a demonstration is run, and who is told how far it is.

use std::num::NonZero;
use std::sync::Arc;

use posteria::fit::{LegWatch, Workers};
use posteria::random::Seed;

/// Who is told how far a demonstration is.
pub trait Console: Send + Sync {
    /// A line about what has begun or is done.
    fn message(&self, text: &str);

    /// Sees the chains of one fit.
    fn chains(&self) -> Box<dyn LegWatch + '_>;
}

/// What a demonstration is run with.
#[derive(Clone)]
pub struct Settings {
    /// Names the streams of all that is drawn.
    pub seed: Seed,
    /// Most threads; results do not depend on them.
    pub threads: NonZero<usize>,
    /// Who is told how far it is.
    pub console: Arc<dyn Console>,
    /// Tables of a repeated study, if their number was given.
    pub tables: Option<usize>,
    /// The study at the size that was published, of a demonstration that has one.
    pub full: bool,
    /// Next to no draws, for tests: everything runs, and no figure means anything.
    pub quick: bool,
}

impl Settings {
    /// On one thread with seed 1 and next to no draws.
    pub fn quick(console: impl Console + 'static) -> Self {
        let (seed, threads) = (Seed(1), NonZero::<usize>::MIN);
        let console = Arc::new(console);
        Settings { seed, threads, console, tables: None, full: false, quick: true }
    }
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Console for Silent {
    fn message(&self, _: &str) {}

    fn chains(&self) -> Box<dyn LegWatch + '_> {
        Box::new(Workers::of(NonZero::<usize>::MIN))
    }
}
