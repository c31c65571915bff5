//! Approximate the posterior of a single neuron by a normal distribution
//! [MacKay 2003, §41.5, figure 41.11].

use posteria::approximate::{Laplace, average_probability, moderated_probability};
use posteria::density::special::logistic;
use posteria::random::Purpose;

use super::neuron::{draw_by_chains, log_posterior};
use super::{Demonstration, Quantity, Settings};
use crate::Result;

/// Points of the input square, to a side.
const SIDE: usize = 21;
/// Trajectories of Hamiltonian Monte Carlo that the approximation is compared with.
const TRAJECTORIES: usize = 4000;

const WORDS: &str = "\
The ten points of the demonstration neuron, since the source does not print its own. Differences are of
the predicted probability of class 1 over a grid on the square from 0 to 10. The source says that the
predictions of the normal approximation are qualitatively those of Monte Carlo and clearly different
in numbers; they are here. κ makes the average over the normal distribution nearly exact, so that it is
the normal distribution itself that is wrong.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut target = log_posterior();
    let normal = Laplace::at_mode(&mut target, vec![0.0; 3])?;
    let mut stream = settings.seed.stream(Purpose::Data, [7, 0]);
    let count = if settings.quick { TRAJECTORIES / 20 } else { TRAJECTORIES };
    let draws = draw_by_chains(count, &mut stream);
    let mut worst = [0.0_f64; 4];
    let mut sum = 0.0;
    let scale = 10.0 / (SIDE - 1) as f64;
    for i in 0..SIDE {
        for j in 0..SIDE {
            let x = [1.0, i as f64 * scale, j as f64 * scale];
            let output = |w: &[f64]| x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
            let (a, variance) = (output(normal.mode()), normal.variance(&x));
            let exact = average_probability(a, variance);
            let moderated = moderated_probability(a, variance);
            let sampled =
                draws.iter().map(|w| logistic(output(w))).sum::<f64>() / draws.len() as f64;
            let differences = [
                (moderated - exact).abs(),
                (exact - sampled).abs(),
                (logistic(a) - sampled).abs(),
                (logistic(a) - exact).abs(),
            ];
            worst.iter_mut().zip(differences).for_each(|(w, d)| *w = w.max(d));
            sum += (exact - sampled).abs();
        }
    }
    let quantity =
        |name: &str, here: f64| Quantity { quantity: name.into(), published: None, here, sd: None };
    let results = vec![
        quantity("w0 at the mode", normal.mode()[0]),
        quantity("w1 at the mode", normal.mode()[1]),
        quantity("w2 at the mode", normal.mode()[2]),
        quantity("largest difference of κ moderation from the exact average", worst[0]),
        quantity("largest difference of the normal approximation from Monte Carlo", worst[1]),
        quantity(
            "mean difference of the normal approximation from Monte Carlo",
            sum / (SIDE * SIDE) as f64,
        ),
        quantity("largest difference of the mode alone from Monte Carlo", worst[2]),
        quantity("largest difference of the mode alone from the moderated", worst[3]),
    ];
    Ok(Demonstration {
        name: "neuron-laplace",
        results,
        words: WORDS.into(),
        ..Demonstration::default()
    })
}
