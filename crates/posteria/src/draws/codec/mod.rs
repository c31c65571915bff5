//! Write draws to any `Write`, and read anyone's draws from any `Read`.

mod columns;
mod csv;
mod error;
mod grouping;
mod json;
mod lines;
mod number;
mod read;
#[cfg(test)]
mod round_trip;
mod stan_csv;
mod table;

pub use csv::write_csv;
pub use error::{ReadError, WriteError};
pub use json::write_json;
pub use read::read_draws;
pub use stan_csv::write_stan_csv;

/// Statistics under the names CmdStan gives them, with their place in
/// [`Statistics::to_array`](super::Statistics::to_array); the order is that of its files.
const STAN_STATISTICS: [(&str, usize); 7] = [
    ("lp__", 0),
    ("accept_stat__", 5),
    ("stepsize__", 4),
    ("treedepth__", 7),
    ("n_leapfrog__", 6),
    ("divergent__", 8),
    ("energy__", 3),
];
