//! Differentiate a function of the latents through the noise that they come from.
//!
//! f = f₀ + K a with f₀ = L_K z, a = R B⁻¹c and c = ν - Rᵀf₀ - ε. For a function with derivatives g
//! at f let b = B⁻¹RᵀK g and u = g - R b. Then gᵀdf = uᵀdf₀ - bᵀdε + uᵀdK a, and with w = L_Kᵀu
//! uᵀdf₀ = wᵀdz + wᵀΦ(L_K⁻¹ dK L_K⁻ᵀ)z, where Φ takes the lower half and half of the diagonal
//! [Murray 2016].

use posteria_linalg::Matrix;

use super::super::sites::Sites;
use super::Gaussian;

/// The derivatives with respect to K: L_K⁻ᵀ S L_K⁻¹ + ½ Σ_j (u_j a_jᵀ + a_j u_jᵀ), S the symmetric
/// matrix with entries ½ Σ_j w_j z_jᵀ below its diagonal and on it.
pub(in crate::model::gp::latent) struct Adjoint {
    rows: usize,
    /// u.
    pulls: Vec<f64>,
    /// a.
    solved: Vec<f64>,
    /// L_K⁻ᵀ S L_K⁻¹.
    through_factor: Matrix,
}

impl Adjoint {
    pub(in crate::model::gp::latent) fn new(rows: usize, functions: usize) -> Self {
        let size = rows * functions;
        let through_factor = Matrix::zeros(rows, rows);
        Adjoint { rows, pulls: vec![0.0; size], solved: vec![0.0; size], through_factor }
    }

    /// A column of the lower half.
    pub(super) fn column(&self, index: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.through_factor.column(index)[index..]);
        let functions = self.pulls.chunks_exact(self.rows).zip(self.solved.chunks_exact(self.rows));
        for (pulls, solved) in functions {
            let (pull, solution) = (0.5 * pulls[index], 0.5 * solved[index]);
            let others = pulls[index..].iter().zip(&solved[index..]);
            for (out, (other_pull, other_solution)) in out.iter_mut().zip(others) {
                *out += pull * other_solution + solution * other_pull;
            }
        }
    }
}

impl Gaussian<'_> {
    /// Derivatives with respect to the noise that was just turned into latents
    /// ([`Gaussian::transform_noise`], centred) of a function with the derivatives `slopes` at
    /// them; those with respect to K go into `adjoint`.
    pub(in crate::model::gp::latent) fn differentiate(
        &mut self,
        sites: &Sites,
        slopes: &[f64],
        z: &[f64],
        (of_z, of_noise): (&mut [f64], &mut [f64]),
        adjoint: &mut Adjoint,
    ) {
        let rows = self.prior.rows();
        let Adjoint { pulls, solved, through_factor, .. } = adjoint;
        pulls.copy_from_slice(slopes);
        if sites.present() {
            sites.root_times(&self.scratch, solved);
            of_z.copy_from_slice(slopes);
            for function in of_z.chunks_exact_mut(rows) {
                self.prior_factor.multiply_lower_transposed(function);
                self.prior_factor.multiply_lower(function);
            }
            sites.root_transposed_times(of_z, of_noise);
            self.factor.solve(of_noise);
            sites.root_times(of_noise, of_z);
            pulls.iter_mut().zip(&*of_z).for_each(|(pull, lost)| *pull -= lost);
            of_noise.iter_mut().for_each(|slope| *slope = -*slope);
        } else {
            solved.fill(0.0);
            of_noise.fill(0.0);
        }
        of_z.copy_from_slice(pulls);
        for function in of_z.chunks_exact_mut(rows) {
            self.prior_factor.multiply_lower_transposed(function);
        }
        for column in 0..rows {
            let entries = &mut through_factor.column_mut(column)[column..];
            entries.fill(0.0);
            for (slopes, z) in of_z.chunks_exact(rows).zip(z.chunks_exact(rows)) {
                let own = 0.5 * z[column];
                let both = entries.iter_mut().zip(&slopes[column..]);
                both.for_each(|(entry, slope)| *entry += own * slope);
            }
        }
        through_factor.mirror_lower();
        self.prior_factor.solve_lower_transposed_matrix(through_factor);
        through_factor.transpose();
        self.prior_factor.solve_lower_transposed_matrix(through_factor);
    }
}
