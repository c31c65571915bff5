//! The densities every peer samples, written once.

/// A benchmark density.
#[derive(Clone, Debug)]
pub enum Target {
    /// Independent normals with these precisions.
    Gaussian(Vec<f64>),
    /// The same normals seen through the reflection I - 2 u uᵀ, so that every coordinate is
    /// correlated with every other.
    Reflected { precisions: Vec<f64>, axis: Vec<f64>, scratch: Vec<f64> },
    /// v ~ N(0, 3²), x_i ~ N(0, exp(v)): Neal's funnel.
    Funnel(usize),
}

pub fn by_name(name: &str) -> Option<Target> {
    let dim = 100;
    // Variances from 1e-2 to 1e2: condition number 10⁴.
    let precisions: Vec<f64> =
        (0..dim).map(|i| 10f64.powf(2.0 - 4.0 * i as f64 / (dim - 1) as f64)).collect();
    match name {
        "gaussian" => Some(Target::Gaussian(precisions)),
        "reflected" => {
            let axis = vec![1.0 / (dim as f64).sqrt(); dim];
            Some(Target::Reflected { precisions, axis, scratch: vec![0.0; dim] })
        }
        "funnel" => Some(Target::Funnel(9)),
        _ => None,
    }
}

impl Target {
    pub fn dim(&self) -> usize {
        match self {
            Target::Gaussian(precisions) => precisions.len(),
            Target::Reflected { precisions, .. } => precisions.len(),
            Target::Funnel(count) => count + 1,
        }
    }

    pub fn value(&mut self, x: &[f64]) -> f64 {
        match self {
            Target::Gaussian(precisions) => {
                -0.5 * x.iter().zip(precisions).map(|(x, p)| *p * x * x).sum::<f64>()
            }
            Target::Reflected { precisions, axis, scratch } => {
                reflect(axis, x, scratch);
                -0.5 * scratch.iter().zip(precisions).map(|(x, p)| *p * x * x).sum::<f64>()
            }
            Target::Funnel(count) => {
                let squares = dot(&x[1..], &x[1..]);
                let v = x[0];
                -v * v / 18.0 - 0.5 * *count as f64 * v - 0.5 * (-v).exp() * squares
            }
        }
    }

    pub fn value_and_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> f64 {
        match self {
            Target::Gaussian(precisions) => {
                for ((g, x), p) in gradient.iter_mut().zip(x).zip(precisions) {
                    *g = -*p * x;
                }
                0.5 * dot(x, gradient)
            }
            Target::Reflected { precisions, axis, scratch } => {
                reflect(axis, x, scratch);
                for (s, p) in scratch.iter_mut().zip(precisions) {
                    *s *= -*p;
                }
                reflect(axis, scratch, gradient);
                0.5 * dot(x, gradient)
            }
            Target::Funnel(count) => {
                let v = x[0];
                let precision = (-v).exp();
                let squares = dot(&x[1..], &x[1..]);
                for (g, x) in gradient[1..].iter_mut().zip(&x[1..]) {
                    *g = -precision * x;
                }
                gradient[0] = -v / 9.0 - 0.5 * *count as f64 + 0.5 * precision * squares;
                -v * v / 18.0 - 0.5 * *count as f64 * v - 0.5 * precision * squares
            }
        }
    }
}

fn reflect(axis: &[f64], x: &[f64], out: &mut [f64]) {
    let twice = 2.0 * dot(axis, x);
    for ((out, x), a) in out.iter_mut().zip(x).zip(axis) {
        *out = x - twice * a;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
