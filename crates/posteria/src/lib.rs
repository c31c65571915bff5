//! Bayesian neural networks, Gaussian processes and linear models for tables of data.
//!
//! The modules follow the data flow; each may import only from the rows above its own
//! (`tests/integration/layers.rs` enforces the table):
//!
//! | layer | modules | what they know |
//! |---|---|---|
//! | 0 | [`random`], [`density`], [`caution`] | numbers only |
//! | 1 | [`target`], [`data`], [`draws`] | what is sampled, tables, what chains leave behind |
//! | 2 | [`sample`], [`optimise`], [`diagnose`], [`predict`] | Markov kernels, modes, diagnostics, predictive distributions; no model |
//! | 3 | [`model`] | specification and data become a [`model::Posterior`] |
//! | 4 | [`approximate`] | what takes the place of a posterior, without Markov chains |
//! | 5 | [`mod@fit`] | a table becomes a [`Fit`]: chains and committees, in parallel; the only spawner of threads |
//! | 6 | [`assess`] | how good predictions will be: leave-one-out, utilities and their distributions, decisions |
//! | 7 | [`evidence`], [`select`] | log evidence, Bayes factors and probabilities of models; which inputs |
//!
//! Two narrow waists carry the weight: every sampler works on a [`target::LogDensity`], and
//! every model is fitted through [`model::Posterior`].
//!
//! # From a table
//!
//! ```standalone_crate
//! use posteria::{FitOptions, Linear, Table, Utility};
//!
//! # let folder = std::env::temp_dir().join(format!("posteria-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # std::env::set_current_dir(&folder)?;
//! # let house = |i: usize| format!("{},{},{}\n", 50 + 3 * i, i % 4, 90 + 5 * i + 7 * (i % 4) + i * i % 5);
//! # std::fs::write("houses.csv", format!("area,rooms,price\n{}", (0..30).map(house).collect::<String>()))?;
//! # std::fs::write("new.csv", "area,rooms\n98,2\n119,3\n")?;
//! let table = Table::read("houses.csv")?;
//! let fit = posteria::fit(&table, "price", Linear::default(), &FitOptions::default())?;
//! println!("{}", fit.summary());
//! let predicted = fit.predict(&Table::read("new.csv")?)?;
//! let loo = fit.loo(&[Utility::Elpd, Utility::Rmse])?;
//!
//! // The price was 90 + 5 (98 - 50)/3 + 7 · 2 and a little more.
//! assert!((predicted.rows[0].outputs[0].mean - 185.6).abs() < 2.0);
//! assert!(loo.expected[1].estimate < 3.0);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Mlp`] and [`Gp`] take the place of [`Linear`], and any [`model::spec::Spec`] theirs: it holds
//! every key of a specification file.
//!
//! # With a density of your own
//!
//! ```
//! use posteria::diagnose::{SummaryOptions, summarize};
//! use posteria::fit::fit;
//! use posteria::model::Custom;
//! use posteria::random::Seed;
//! use posteria::sample::Plan;
//! use posteria::sample::hmc::{Nuts, NutsOptions};
//! use posteria::target::{Infeasible, LogDensity};
//!
//! /// Five successes in eight trials, uniform prior, as a density of the log odds u: with
//! /// p = 1 / (1 + exp(-u)), p⁵ (1 - p)³ and the Jacobian p (1 - p).
//! struct LogOdds;
//!
//! impl LogDensity for LogOdds {
//!     fn dim(&self) -> usize {
//!         1
//!     }
//!     fn log_density(&mut self, u: &[f64]) -> Result<f64, Infeasible> {
//!         Ok(6.0 * u[0] - 10.0 * u[0].exp().ln_1p())
//!     }
//!     fn log_density_gradient(
//!         &mut self,
//!         u: &[f64],
//!         gradient: &mut [f64],
//!     ) -> Result<f64, Infeasible> {
//!         gradient[0] = 6.0 - 10.0 / (1.0 + (-u[0]).exp());
//!         self.log_density(u)
//!     }
//! }
//!
//! let posterior = Custom::density(
//!     &["log_odds"],
//!     || Box::new(LogOdds),
//!     |dim| Box::new(Nuts::new(dim, NutsOptions::default())),
//! )?;
//! let draws = fit(&posterior, &Plan::new(4, 200, 1000), Seed(1), 2.try_into()?)?;
//! let summary = summarize(&draws, &SummaryOptions::default());
//! // E[u] = ψ(6) - ψ(4) = 1/4 + 1/5.
//! let log_odds = &summary.variables[0];
//! assert!((log_odds.mean - 0.45).abs() < 4.0 * log_odds.mcse_mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod approximate;
pub mod assess;
pub mod caution;
pub mod data;
pub mod density;
pub mod diagnose;
pub mod draws;
pub mod evidence;
pub mod fit;
mod json;
pub mod model;
pub mod optimise;
pub mod predict;
pub mod random;
pub mod sample;
pub mod select;
pub mod target;

pub use assess::Utility;
pub use data::Table;
pub use fit::fit_table as fit;
pub use fit::{Fit, FitOptions};
pub use model::{Gp, Linear, Mlp};

/// The chapter of the guide about the library: its blocks are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/rust.md")]
struct GuideToTheLibrary;
