//! Demonstrations: published results repeated beside their figures, on tables that are simulated here.
//!
//! [`ENTRIES`] lists them. Each is run with [`Settings`] and gives a [`Demonstration`]: quantities with
//! what was published, figures, and what is shown in a terminal. Nothing is printed or written here;
//! whoever runs one does that ([`page()`] makes its page).
//!
//! ```
//! use posteria_demos::{ENTRIES, Settings, Silent};
//!
//! let entry = ENTRIES.iter().find(|entry| entry.name == "line").ok_or("it is listed")?;
//! let found = (entry.run)(&Settings::quick(Silent))?;
//! assert!(found.results.iter().any(|quantity| quantity.published.is_some()));
//! # Ok::<(), posteria_demos::Error>(())
//! ```
#![forbid(unsafe_code)]

mod assess;
mod cost;
mod entries;
mod estimate;
mod evidence;
mod figures;
mod linear;
mod modes;
mod networks;
mod neuron;
mod page;
mod picture;
mod processes;
mod samplers;
mod selection;
mod settings;
mod shown;
mod study;
pub mod tour;
mod variational;

use posteria_report::figure::Figure;
use serde::Serialize;

pub use self::entries::{ENTRIES, Entry, NOISE_SENSITIVITY};
pub use self::page::page;
pub use self::settings::{Console, Settings, Silent};
pub use self::shown::{Listing, Shown};

/// Why a demonstration failed.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What a demonstration gives, unless it fails.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a demonstration found.
#[derive(Debug, Default, Serialize)]
pub struct Demonstration {
    /// Its name in the list.
    pub name: &'static str,
    /// Figures of ours beside the published ones.
    pub results: Vec<Quantity>,
    /// Path of the page about it, if there is one.
    pub report: Option<String>,
    /// What a terminal shows in place of the list of results, in order.
    #[serde(skip)]
    pub shown: Vec<Shown>,
    /// Pictures made of characters, for the terminal.
    #[serde(skip)]
    pub drawn: Option<Shown>,
    /// The same and others, for the page.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// What was done, and what is to be seen.
    #[serde(skip)]
    pub words: String,
    /// Reasons not to trust the figures.
    #[serde(skip)]
    pub doubts: Vec<String>,
}

impl Demonstration {
    /// The same with pictures: of characters, and for the page.
    #[must_use]
    fn picturing(self, drawn: impl Into<Shown>, figures: Vec<Figure>) -> Self {
        Demonstration { drawn: Some(drawn.into()), figures, ..self }
    }
}

/// One published figure beside ours.
#[derive(Debug, Serialize)]
pub struct Quantity {
    /// What it is.
    pub quantity: String,
    /// What was published, if that was.
    pub published: Option<f64>,
    /// What was found here.
    pub here: f64,
    /// How far the figure may be off, where that is known.
    pub sd: Option<f64>,
}

impl Quantity {
    /// The mean and standard deviation over repetitions of the same simulation.
    fn over_runs(quantity: impl Into<String>, published: Option<f64>, runs: &[f64]) -> Self {
        let (here, sd) = mean_and_sd(runs);
        Quantity { quantity: quantity.into(), published, here, sd: Some(sd) }
    }
}

/// The mean and standard deviation of some numbers.
fn mean_and_sd(runs: &[f64]) -> (f64, f64) {
    let count = runs.len() as f64;
    let mean = runs.iter().sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}
