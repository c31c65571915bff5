//! Are the chains usable? Diagnostics of draws, whoever made them.
//!
//! Functions take the draws of one variable as a list of chains (`&[Vec<f64>]`, `&[&[f64]]`).
//! None fails: what is not defined is NaN. [`summarize`] puts all of them into one table, with
//! the [`Caution`](crate::caution::Caution)s they give reason for.

mod autocorrelation_time;
mod autocovariance;
mod cautions;
mod chains;
mod counts;
mod display;
mod effective_size;
mod energy;
mod fourier;
pub(crate) mod importance;
mod interval;
mod kolmogorov_smirnov;
mod mixing;
mod monitor;
mod monte_carlo_error;
mod multivariate;
pub(crate) mod pareto;
mod potential_scale_reduction;
mod rank;
#[cfg(test)]
pub(crate) mod reference;
mod summary;

pub use autocorrelation_time::{Truncation, autocorrelation_time};
pub use autocovariance::autocorrelation;
pub use cautions::{EFFECTIVE_DRAWS, R_HAT_LIMIT, effective_draws_needed, r_hat_limit};
pub(crate) use cautions::{MANY_CHAINS, judged_components, judged_rows};
pub use chains::FEWEST_DRAWS;
pub(crate) use counts::DOUBTFUL_COUNTS;
pub(crate) use counts::{constant_chains, r_hat_of_counts};
pub use effective_size::{
    bulk_effective_size, local_effective_size, mean_effective_size, median_effective_size,
    quantile_effective_size, sd_effective_size, tail_effective_size,
};
pub use energy::{divergences, energy_fraction, energy_fractions};
pub use interval::{
    Interval, IntervalKind, MassError, equal_tailed_interval, highest_density_interval, quantile,
};
pub use kolmogorov_smirnov::kolmogorov_smirnov;
pub(crate) use kolmogorov_smirnov::{asymptotic_p_value, chains_p_value};
pub use mixing::Mixing;
pub use monitor::{RHatMonitor, max_r_hat};
pub use monte_carlo_error::{mcse_mean, mcse_quantile, mcse_sd};
pub use multivariate::multivariate_scale_reduction;
pub use potential_scale_reduction::{
    ScaleReduction, potential_scale_reduction, potential_scale_reduction_of_thirds, r_hat,
    split_r_hat,
};
pub use rank::rank_correlation;
pub use summary::{
    LOG_DENSITY, Summary, SummaryOptions, VariableSummary, summarize, summarize_chains,
};
