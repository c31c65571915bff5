//! Figures, and one self-contained page about one or several fits.
//!
//! The crate knows numbers and words, no models: a [`Part`] of a [`Report`] is a list of
//! [`sections`], each made from a plain struct that whoever holds the results fills in. Nothing
//! statistical is computed here beyond what drawing needs: histograms, kernel densities of draws,
//! ranks, and thinning of points.
//!
//! A [`Figure`](figure::Figure) is data first: axes, marks and the table behind them. Written as
//! inline SVG it follows the light or dark scheme of the page; written as a file, SVG or PNG, it
//! stands alone.
//! A page makes no network requests, works without its script, and escapes every text.
//!
//! ```
//! use posteria_report::sections::{Densities, DensityGroup, Sample};
//! use posteria_report::{Part, Report};
//!
//! let draws = (0..200).map(|i| (i as f64 * 0.7).sin()).collect();
//! let group = DensityGroup {
//!     title: "Noise".into(),
//!     label: "residual scale".into(),
//!     samples: vec![Sample { name: "residual_scale".into(), draws }],
//!     ..DensityGroup::default()
//! };
//! let mut part = Part::new("my run");
//! part.push(Densities { groups: vec![group] }.section());
//! let page = Report { title: "A report".into(), parts: vec![part] }.html();
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
//! ```
#![forbid(unsafe_code)]

mod contour;
mod density;
mod escape;
pub mod figure;
mod letters;
mod number;
mod page;
pub mod plain;
mod png;
mod scale;
pub mod sections;
mod svg;
#[cfg(test)]
mod tests;
mod thin;

pub use page::{Alert, Block, Folded, Level, Part, Report, Section, TextTable};
