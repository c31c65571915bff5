//! Differentiate what depends on the mode of the functions, which moves with their covariance.

use super::Gaussian;
use crate::model::gp::latent::sites::Sites;

impl Gaussian<'_> {
    /// -½ log |B|, after [`Gaussian::factorize`].
    pub(in crate::model::gp::latent) fn log_volume(&self) -> f64 {
        -0.5 * self.factor.log_determinant()
    }

    /// Adds the derivatives, with respect to the log parameters of the covariance function, of a function
    /// of the mode that has the derivatives `slopes` there: with g = ∇ log p(y | f) = K⁻¹f at the mode
    /// f it moves by df = (I + KW)⁻¹ dK g [Rasmussen & Williams 2006, eq. 5.24], so that
    /// slopesᵀdf = uᵀdK g with u = (I + WK)⁻¹ slopes = R B⁻¹R⁻¹ slopes. Leaves u in `slopes`.
    pub(in crate::model::gp::latent) fn add_gradient_of_mode(
        &mut self,
        sites: &Sites,
        (slopes, solved): (&mut [f64], &[f64]),
        gradient: &mut [f64],
    ) {
        let rows = self.prior.rows();
        sites.root_solve(slopes);
        self.factor.solve(slopes);
        self.scratch.copy_from_slice(slopes);
        sites.root_times(&self.scratch, slopes);
        let pulls = &*slopes;
        let mut column = |index: usize, out: &mut [f64]| {
            out.fill(0.0);
            for (pulls, solved) in pulls.chunks_exact(rows).zip(solved.chunks_exact(rows)) {
                let (pull, solution) = (0.5 * pulls[index], 0.5 * solved[index]);
                let others = pulls[index..].iter().zip(&solved[index..]);
                for (out, (other_pull, other_solution)) in out.iter_mut().zip(others) {
                    *out += pull * other_solution + solution * other_pull;
                }
            }
        };
        let mut of_mode = vec![0.0; gradient.len()];
        self.covariance.gradient(&mut column, &mut of_mode);
        gradient.iter_mut().zip(&of_mode).for_each(|(sum, slope)| *sum += slope);
    }

    /// The variance of the functions of one row given the sites, entry j, k at j·F + k:
    /// R⁻ᵀ(I - B⁻¹)R⁻¹. After [`Gaussian::gradient`], which leaves B⁻¹.
    pub(in crate::model::gp::latent) fn row_covariance(
        &self,
        sites: &Sites,
        row: usize,
        block: &mut [f64],
    ) {
        let (rows, functions) = (self.prior.rows(), self.functions);
        for j in 0..functions {
            for k in 0..functions {
                let own = if j == k { 1.0 } else { 0.0 };
                block[j * functions + k] = own - self.room[(j * rows + row, k * rows + row)];
            }
        }
        // X ← R⁻ᵀX, by columns and then by rows: R⁻ᵀ(I - B⁻¹)R⁻¹ is symmetric.
        let root = |j: usize, k: usize| sites.root(j, k)[row];
        let mut solve = |at: &dyn Fn(usize) -> usize| {
            for j in (0..functions).rev() {
                let mut value = block[at(j)];
                for k in j + 1..functions {
                    value -= root(k, j) * block[at(k)];
                }
                block[at(j)] = value / root(j, j);
            }
        };
        for column in 0..functions {
            solve(&|j| j * functions + column);
        }
        for line in 0..functions {
            solve(&|j| line * functions + j);
        }
    }
}
