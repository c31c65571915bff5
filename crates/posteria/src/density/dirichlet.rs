//! The Dirichlet distribution of probabilities.

use super::ParameterError;
use super::error::positive;
use super::gamma::standard_log_draw;
use super::special::{ln_gamma, log_sum_exp};
use crate::random::Stream;

/// Dirichlet(α): density Γ(Σα) / Π Γ(α_k) · Π x_k^(α_k - 1) on the simplex, with respect to
/// all but one of the x_k.
#[derive(Clone, Debug, PartialEq)]
pub struct Dirichlet {
    concentrations: Vec<f64>,
    log_constant: f64,
}

impl Dirichlet {
    /// The Dirichlet distribution with the given concentrations.
    ///
    /// # Errors
    /// [`ParameterError`] unless there is at least one and all are positive and finite.
    pub fn new(concentrations: &[f64]) -> Result<Self, ParameterError> {
        let name = "a Dirichlet distribution";
        if concentrations.is_empty() {
            return Err(ParameterError::WrongLength {
                distribution: name,
                parameter: "concentrations",
                expected: 1,
                given: 0,
            });
        }
        let mut log_constant = 0.0;
        for &concentration in concentrations {
            log_constant -= ln_gamma(positive(name, "concentration", concentration)?);
        }
        log_constant += ln_gamma(concentrations.iter().sum());
        Ok(Dirichlet { concentrations: concentrations.to_vec(), log_constant })
    }

    /// The concentrations α.
    pub fn concentrations(&self) -> &[f64] {
        &self.concentrations
    }

    /// log p(x) for x on the simplex (which is the caller's promise).
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn log_density(&self, probabilities: &[f64]) -> f64 {
        assert_eq!(probabilities.len(), self.concentrations.len(), "one probability each");
        let terms = self.concentrations.iter().zip(probabilities).map(|(concentration, x)| {
            // x = 0 with α = 1 is 0 · -∞: the factor is 1.
            let power = concentration - 1.0;
            if power.abs() > 0.0 { power * x.ln() } else { 0.0 }
        });
        self.log_constant + terms.sum::<f64>()
    }

    /// Writes a draw into `probabilities`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw(&self, stream: &mut Stream, probabilities: &mut [f64]) {
        self.draw_log(stream, probabilities);
        for probability in probabilities {
            *probability = probability.exp();
        }
    }

    /// Writes the logarithms of a draw, finite for any concentrations.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn draw_log(&self, stream: &mut Stream, log_probabilities: &mut [f64]) {
        assert_eq!(log_probabilities.len(), self.concentrations.len(), "one probability each");
        for (log, &concentration) in log_probabilities.iter_mut().zip(&self.concentrations) {
            *log = standard_log_draw(concentration, stream);
        }
        // Tiny concentrations give logarithms of many thousands: shifted first, so that the
        // sum of the probabilities is 1 to the last digits.
        let largest = log_probabilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for log in log_probabilities.iter_mut() {
            *log -= largest;
        }
        let total = log_sum_exp(log_probabilities);
        for log in log_probabilities {
            *log -= total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::Beta;
    use crate::density::checks::{assert_draws_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    #[test]
    fn density_matches_references_and_the_beta() {
        // mpmath, 50 digits.
        let dirichlet = Dirichlet::new(&[0.5, 2.0, 3.5]).unwrap();
        assert_relative(dirichlet.log_density(&[0.2, 0.3, 0.5]), 0.882_031_398_001_522_6, 1e-13);
        let two = Dirichlet::new(&[0.4, 3.0]).unwrap();
        let beta = Beta::new(0.4, 3.0).unwrap();
        assert_relative(two.log_density(&[0.1, 0.9]), beta.log_density(0.1), 1e-13);
        assert!(Dirichlet::new(&[1.0, 1.0]).unwrap().log_density(&[0.0, 1.0]).abs() < 1e-15);
    }

    #[test]
    fn margins_of_draws_are_beta() {
        let dirichlet = Dirichlet::new(&[0.5, 2.0, 3.5]).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [11, 0]);
        let mut draws = [vec![], vec![], vec![]];
        let mut x = [0.0; 3];
        for _ in 0..20_000 {
            dirichlet.draw(&mut stream, &mut x);
            assert_relative(x.iter().sum(), 1.0, 1e-14);
            draws.iter_mut().zip(x).for_each(|(draws, x)| draws.push(x));
        }
        for (draws, alpha) in draws.iter_mut().zip(dirichlet.concentrations()) {
            let beta = Beta::new(*alpha, 6.0 - alpha).unwrap();
            assert_draws_follow(draws, |x| beta.cdf(x));
        }
    }

    #[test]
    fn tiny_concentrations_still_give_probabilities() {
        let dirichlet = Dirichlet::new(&[1e-4; 5]).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [11, 1]);
        let mut x = [0.0; 5];
        for _ in 0..1000 {
            dirichlet.draw(&mut stream, &mut x);
            assert_relative(x.iter().sum(), 1.0, 1e-14);
        }
        assert!(Dirichlet::new(&[]).is_err() && Dirichlet::new(&[1.0, 0.0]).is_err());
    }
}
