//! Judge several variables at once by their worst direction.

use posteria_linalg::{Cholesky, Matrix, dot};

use super::chains::{Scaled, is_finite, mean};

/// The multivariate potential scale reduction factor of `variables` (each a list of chains),
///
/// R̂ᵖ = (n - 1) / n + (1 + 1/m) λ₁, with λ₁ the largest eigenvalue of W⁻¹ B / n,
///
/// where W is the mean covariance within chains and B / n the covariance of the chain means
/// [Brooks & Gelman 1998, §4.1]. It bounds the squared factor of every linear combination of the
/// variables; it is *not* a square root, as in the paper.
///
/// `None` if the variables differ in their chains or draws, there are fewer than two of either,
/// a draw is not finite, or W is singular (a variable is constant or a combination of others, or
/// there are fewer draws than variables).
pub fn multivariate_scale_reduction<C: AsRef<[f64]>>(variables: &[Vec<C>]) -> Option<f64> {
    let chains = variables.first()?.len();
    let draws = variables[0].first()?.as_ref().len();
    let mut scaled = Vec::with_capacity(variables.len());
    for variable in variables {
        let views: Vec<&[f64]> = variable.iter().map(AsRef::as_ref).collect();
        let alike = views.len() == chains
            && views.iter().all(|chain| chain.len() == draws && is_finite(chain));
        if !alike || chains < 2 || draws < 2 {
            return None;
        }
        // The largest eigenvalue does not depend on the units of the variables.
        scaled.push(Scaled::new(&views));
    }
    let means: Vec<Vec<f64>> =
        scaled.iter().map(|variable| variable.views().iter().map(|c| mean(c)).collect()).collect();
    let within = Cholesky::new(&within_covariance(&scaled, &means)).ok()?;

    // B / n has rank m - 1 only: its eigenvalues relative to W are those of a small m × m matrix
    // of inner products of the centred means D in the metric of W.
    let whitened: Vec<Vec<f64>> = (0..chains)
        .map(|chain| {
            let mut deviation: Vec<f64> =
                means.iter().map(|of_chain| of_chain[chain] - mean(of_chain)).collect();
            within.solve_lower(&mut deviation);
            deviation
        })
        .collect();
    let inner = Matrix::from_fn(chains, chains, |i, j| {
        dot(&whitened[i], &whitened[j]) / (chains as f64 - 1.0)
    });
    let (m, n) = (chains as f64, draws as f64);
    Some((n - 1.0) / n + (m + 1.0) / m * largest_eigenvalue(inner))
}

fn within_covariance(scaled: &[Scaled], means: &[Vec<f64>]) -> Matrix {
    let chains = means[0].len();
    let centred: Vec<Vec<f64>> = scaled
        .iter()
        .zip(means)
        .map(|(variable, means)| {
            let chains = variable.chains.iter().zip(means);
            chains.flat_map(|(chain, mean)| chain.iter().map(move |x| x - mean)).collect()
        })
        .collect();
    let freedom = (centred[0].len() - chains) as f64;
    Matrix::from_fn(scaled.len(), scaled.len(), |i, j| dot(&centred[i], &centred[j]) / freedom)
}

/// By Jacobi's rotations, which converge quadratically and never miss a close pair.
fn largest_eigenvalue(mut a: Matrix) -> f64 {
    const SWEEPS: usize = 60;
    let dim = a.rows();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..dim).flat_map(|i| (0..i).map(move |j| (i, j))).map(|ij| a[ij].powi(2)).sum();
        let diagonal: f64 = (0..dim).map(|i| a[(i, i)].powi(2)).sum();
        if off <= f64::EPSILON.powi(2) * diagonal {
            break;
        }
        for p in 0..dim {
            for q in p + 1..dim {
                rotate(&mut a, p, q);
            }
        }
    }
    (0..dim).map(|i| a[(i, i)]).fold(f64::NEG_INFINITY, f64::max)
}

fn rotate(a: &mut Matrix, p: usize, q: usize) {
    if a[(p, q)].abs() < f64::MIN_POSITIVE {
        return;
    }
    let theta = (a[(q, q)] - a[(p, p)]) / (2.0 * a[(p, q)]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..a.rows() {
        let (x, y) = (a[(k, p)], a[(k, q)]);
        a[(k, p)] = c * x - s * y;
        a[(k, q)] = s * x + c * y;
    }
    for k in 0..a.rows() {
        let (x, y) = (a[(p, k)], a[(q, k)]);
        a[(p, k)] = c * x - s * y;
        a[(q, k)] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalue_of_a_known_matrix() {
        // Tridiagonal 2, -1: the largest eigenvalue is 2 - 2 cos(5π/6).
        let a = Matrix::from_fn(5, 5, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let exact = 2.0 - 2.0 * (5.0 * std::f64::consts::PI / 6.0).cos();
        assert!((largest_eigenvalue(a) - exact).abs() < 1e-12);
    }

    #[test]
    fn unusable_variables_have_none() {
        let x = vec![vec![1.0, 2.0, 4.0, 3.0], vec![2.0, 1.0, 0.0, 5.0]];
        assert!(multivariate_scale_reduction(std::slice::from_ref(&x)).is_some());
        assert!(multivariate_scale_reduction(&[x.clone(), x.clone()]).is_none());
        assert!(multivariate_scale_reduction(&[x, vec![vec![1.0; 4]; 2]]).is_none());
        assert!(multivariate_scale_reduction::<Vec<f64>>(&[]).is_none());
    }
}
