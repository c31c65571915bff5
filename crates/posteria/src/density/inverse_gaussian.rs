//! Draw from the inverse Gaussian distribution of unit shape.

use crate::random::Stream;

/// Draws X from the inverse Gaussian distribution with mean 1/m and shape 1, of density
/// (2πx³)^(-1/2) exp(-(mx - 1)²/(2x)), by the transformation with two roots of [Michael,
/// Schucany & Haas 1976]. At m = 0 it is the reciprocal of a chi-square variable with one
/// degree of freedom. `None` unless m is finite and not negative.
///
/// It is the conditional of a reciprocal variance under an exponential prior: for
/// z ~ N(0, v) and v exponential with mean 2, 1/v given z has m = |z|.
pub fn draw_inverse_gaussian(reciprocal_mean: f64, stream: &mut Stream) -> Option<f64> {
    let m = reciprocal_mean;
    if !(m >= 0.0 && m.is_finite()) {
        return None;
    }
    let normal = stream.normal();
    let y = normal * normal;
    // The smaller root, written without cancellation; the other is 1/(m² smaller).
    let smaller = 1.0 / (m + 0.5 * y + 0.5 * (y * (4.0 * m + y)).sqrt());
    let ratio = m * smaller;
    let drawn = if stream.uniform() * (1.0 + ratio) <= 1.0 { smaller } else { 1.0 / (m * ratio) };
    (drawn > 0.0 && drawn.is_finite()).then_some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow};
    use crate::random::{Purpose, Seed};

    #[test]
    fn draws_follow_the_density() {
        for (part, m) in [0.0, 1e-9, 0.3, 1.0, 25.0].into_iter().enumerate() {
            // On log x, where the density times x is smooth.
            let upper = if m < 0.1 { 50.0 } else { 12.0 };
            let exact = NumericCdf::new(-8.0, upper, |l: f64| {
                let x = l.exp();
                -0.5 * l - 0.5 * (m * x - 1.0).powi(2) / x
            });
            let mut stream = Seed(6).stream(Purpose::Data, [part as u64, 0]);
            let mut draws: Vec<f64> =
                (0..20_000).map(|_| draw_inverse_gaussian(m, &mut stream).unwrap().ln()).collect();
            assert_draws_follow(&mut draws, |l| exact.at(l));
        }
    }

    #[test]
    fn means_that_are_no_numbers_are_refused() {
        let mut stream = Seed(7).stream(Purpose::Data, [0, 0]);
        for m in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(draw_inverse_gaussian(m, &mut stream), None);
        }
        assert!(draw_inverse_gaussian(1e150, &mut stream).is_some());
    }
}
