//! Gaussian processes: functions drawn from a normal distribution over functions.

pub mod covariance;
