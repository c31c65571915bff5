//! Check predictive distributions against references, exact answers and themselves.

mod averages;
mod densities;
mod effects;
mod quantiles;
mod sums;
mod tables;

use super::Family;
use crate::random::{Purpose, Seed, Stream};

const NORMAL: Family = Family::Normal { outputs: 1 };
const STUDENT_T: Family = Family::StudentT { outputs: 1 };
const LAPLACE: Family = Family::Laplace { outputs: 1 };

fn stream(index: u64) -> Stream {
    Seed(7).stream(Purpose::Data, [index, 0])
}

/// Parameters of `draws` draws of any real family: locations about 0, scales about 1.
fn parameters(family: Family, draws: usize, stream: &mut Stream) -> Vec<f64> {
    let mut parameters = Vec::with_capacity(draws * family.width());
    for _ in 0..draws {
        match family {
            Family::Normal { outputs } | Family::Laplace { outputs } => {
                for _ in 0..outputs {
                    parameters.extend([2.0 * stream.normal(), (0.4 * stream.normal()).exp()]);
                }
            }
            Family::StudentT { outputs } => {
                for _ in 0..outputs {
                    let dof = 2.5 + 20.0 * stream.uniform();
                    parameters.extend([2.0 * stream.normal(), (0.4 * stream.normal()).exp(), dof]);
                }
            }
            Family::NormalPlusStudentT { outputs } => {
                for output in 0..outputs {
                    let dof = 2.5 + 20.0 * stream.uniform();
                    let spread = if output == 1 { 0.0 } else { (0.7 * stream.normal()).exp() };
                    let scale = (0.4 * stream.normal()).exp();
                    parameters.extend([2.0 * stream.normal(), spread, scale, dof]);
                }
            }
            Family::NormalPlusLaplace { outputs } => {
                for _ in 0..outputs {
                    let [spread, scale] = [0.7, 0.4].map(|sd| (sd * stream.normal()).exp());
                    parameters.extend([2.0 * stream.normal(), spread, scale]);
                }
            }
            Family::MultivariateNormal { outputs } => {
                parameters.extend((0..outputs).map(|_| 2.0 * stream.normal()));
                for row in 0..outputs {
                    parameters.extend((0..row).map(|_| 0.7 * stream.normal()));
                    parameters.push((0.4 * stream.normal()).exp());
                }
            }
            Family::Count => parameters.extend([stream.normal(), 0.0, f64::INFINITY]),
            Family::Duration(_) => parameters.extend([stream.normal(), 0.0, 0.5]),
            Family::Bernoulli => parameters.push(2.0 * stream.normal()),
            Family::Categorical { classes: several } | Family::Density { components: several } => {
                parameters.extend((0..several).map(|_| 2.0 * stream.normal()));
            }
        }
    }
    parameters
}

fn every_family() -> [Family; 9] {
    [
        NORMAL,
        STUDENT_T,
        LAPLACE,
        Family::NormalPlusStudentT { outputs: 2 },
        Family::NormalPlusLaplace { outputs: 1 },
        Family::Normal { outputs: 2 },
        Family::MultivariateNormal { outputs: 3 },
        Family::Bernoulli,
        Family::Categorical { classes: 4 },
    ]
}
