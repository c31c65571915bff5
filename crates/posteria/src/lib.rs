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
//! | 5 | [`fit`] | chains and committees, in parallel; the only spawner of threads |
//! | 6 | [`assess`] | how good predictions will be: leave-one-out, utilities and their distributions, decisions |
//! | 7 | [`evidence`] | log evidence, Bayes factors and probabilities of models |
//!
//! Two narrow waists carry the weight: every sampler works on a [`target::LogDensity`], and
//! every model is fitted through [`model::Posterior`].
//!
//! # From a table
//!
//! ```
//! use std::sync::Arc;
//!
//! use posteria::data::{Dataset, Roles, Table, TextFormat};
//! use posteria::diagnose::{SummaryOptions, summarize};
//! use posteria::fit::fit;
//! use posteria::model::linear::Linear;
//! use posteria::model::spec::Spec;
//! use posteria::random::Seed;
//! use posteria::sample::Plan;
//! use posteria::sample::hmc::{Nuts, NutsOptions};
//!
//! let text = "age,weight\n1,3.1\n2,5.0\n3,6.8\n4,9.2\n5,11.1\n6,12.8\n";
//! let table = Table::from_text("puppies.csv", text.as_bytes(), &TextFormat::default())?;
//! let roles = Roles { targets: vec!["weight".into()], ..Roles::default() };
//! let (data, _cautions) = Dataset::new(&table, &roles)?;
//!
//! // Any key that is left out has a default; see `Linear::new`.
//! let spec = Spec::from_toml("[model]\nkind = 'linear'")?;
//! let nuts = Arc::new(|dim| Box::new(Nuts::new(dim, NutsOptions::default())) as _);
//! let posterior = Linear::new(&spec)?.condition(&data, nuts)?;
//! let draws = fit(&posterior, &Plan::new(4, 200, 500), Seed(1), 2.try_into()?)?;
//!
//! let summary = summarize(&draws, &SummaryOptions::default());
//! let slope = &summary.variables[1];
//! assert_eq!(slope.name, "weights[age]");
//! assert!((slope.mean - 2.0).abs() < 0.1 && slope.r_hat < 1.01);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
pub mod model;
pub mod optimise;
pub mod predict;
pub mod random;
pub mod sample;
pub mod select;
pub mod target;
