//! The normal distribution of the functions given sites, at one set of hyperparameters.
//!
//! With B = I + RᵀKR (K with the jitter on its diagonal) and ν = R⁻¹h, in the units g = Rᵀf of the
//! sites the functions have covariance I - B⁻¹ and mean (I - B⁻¹)ν, and the sites the evidence
//! Z = |B|^(-½) exp(½ νᵀν - ½ νᵀB⁻¹ν) [Rasmussen & Williams 2006, §3.4.3].

mod adjoint;
mod implicit;

use posteria_linalg::{Cholesky, Matrix};

pub(super) use self::adjoint::Adjoint;
use super::super::covariance::Evaluator;
use super::super::posterior::GpPosterior;
use super::shared::same;
use super::sites::Sites;
use crate::random::Stream;
use crate::target::Infeasible;

/// N(m, Σ) and what belongs to it.
pub(super) struct Gaussian<'p> {
    covariance: Evaluator<'p>,
    jitter_variance: f64,
    functions: usize,
    /// Log parameters of the covariance in `prior`; not numbers before the first.
    log_parameters: Vec<f64>,
    /// K, the lower triangle (both where there are blocks).
    prior: Matrix,
    /// L_K, if known.
    prior_factor: Cholesky,
    has_prior_factor: bool,
    /// L_B, if known.
    factor: Cholesky,
    has_factor: bool,
    /// Room for the inverse of B.
    room: Matrix,
    /// L_B⁻¹ν.
    half_solved: Vec<f64>,
    scratch: Vec<f64>,
}

impl<'p> Gaussian<'p> {
    pub(super) fn new(posterior: &'p GpPosterior) -> Self {
        let rows = posterior.row_count();
        let functions = posterior.observed.functions();
        let size = rows * functions;
        Gaussian {
            covariance: posterior.covariance.evaluator(&posterior.inputs),
            jitter_variance: posterior.jitter * posterior.jitter,
            functions,
            log_parameters: vec![f64::NAN; posterior.covariance.parameters().len()],
            prior: Matrix::zeros(rows, rows),
            prior_factor: Cholesky::identity(rows),
            has_prior_factor: false,
            factor: Cholesky::identity(size),
            has_factor: false,
            room: Matrix::zeros(size, size),
            half_solved: vec![0.0; size],
            scratch: vec![0.0; size],
        }
    }

    /// Takes the log parameters of the covariance function.
    pub(super) fn set(&mut self, log_parameters: &[f64]) {
        if self.is_at(log_parameters) {
            return;
        }
        self.log_parameters.copy_from_slice(log_parameters);
        (self.has_prior_factor, self.has_factor) = (false, false);
        self.covariance.set(log_parameters);
        self.covariance.fill(&mut self.prior);
        for row in 0..self.prior.rows() {
            self.prior[(row, row)] += self.jitter_variance;
        }
        if self.functions > 1 {
            self.prior.mirror_lower();
        }
    }

    /// Whether these are the log parameters in use, bit for bit.
    pub(super) fn is_at(&self, log_parameters: &[f64]) -> bool {
        same(&self.log_parameters, log_parameters)
    }

    /// The sites are no longer those of the factor.
    pub(super) fn forget_sites(&mut self) {
        self.has_factor = false;
    }

    /// Finds L_K, unless it is known.
    ///
    /// # Errors
    /// [`Infeasible`] if K is not positive definite.
    pub(super) fn factorize_prior(&mut self) -> Result<(), Infeasible> {
        if !self.has_prior_factor {
            self.prior_factor
                .factorize(&self.prior)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            self.has_prior_factor = true;
        }
        Ok(())
    }

    /// Finds L_B, unless it is known or there are no sites.
    ///
    /// # Errors
    /// [`Infeasible`] if K is not usable.
    pub(super) fn factorize(&mut self, sites: &Sites) -> Result<(), Infeasible> {
        if self.has_factor || !sites.present() {
            return Ok(());
        }
        let rows = self.prior.rows();
        let matrix = self.factor.matrix_mut();
        for b in 0..self.functions {
            for column in 0..rows {
                for a in b..self.functions {
                    // Of blocks on the diagonal the lower half only.
                    let first = if a == b { column } else { 0 };
                    let to = &mut matrix.column_mut(b * rows + column)[a * rows..][first..rows];
                    let prior = &self.prior.column(column)[first..];
                    for j in a..self.functions {
                        let own = sites.root(j, b)[column];
                        let entries = to.iter_mut().zip(&sites.root(j, a)[first..]).zip(prior);
                        match j == a {
                            true => entries.for_each(|((to, root), k)| *to = own * root * k),
                            false => entries.for_each(|((to, root), k)| *to += own * root * k),
                        }
                    }
                }
                matrix[(b * rows + column, b * rows + column)] += 1.0;
            }
        }
        self.factor
            .refactorize()
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        self.has_factor = true;
        self.half_solved.copy_from_slice(sites.targets());
        self.factor.solve_lower(&mut self.half_solved);
        Ok(())
    }

    /// log Z - ½ νᵀν, after [`Gaussian::factorize`]; 0 without sites.
    pub(super) fn log_evidence(&self, sites: &Sites) -> f64 {
        if !sites.present() {
            return 0.0;
        }
        let square: f64 = self.half_solved.iter().map(|u| u * u).sum();
        -0.5 * self.factor.log_determinant() - 0.5 * square
    }

    /// m = R⁻ᵀ(ν - B⁻¹ν); if asked for, K⁻¹m = R B⁻¹ν goes into `solved`.
    pub(super) fn mean(&mut self, sites: &Sites, mean: &mut [f64], solved: Option<&mut [f64]>) {
        if !sites.present() {
            mean.fill(0.0);
            return;
        }
        self.scratch.copy_from_slice(&self.half_solved);
        self.factor.solve_lower_transposed(&mut self.scratch);
        for ((mean, target), solved) in mean.iter_mut().zip(sites.targets()).zip(&self.scratch) {
            *mean = target - solved;
        }
        sites.root_transposed_solve(mean);
        if let Some(solved) = solved {
            sites.root_times(&self.scratch, solved);
        }
    }

    /// `out` ← Σ x = R⁻ᵀ(I - B⁻¹)R⁻¹ x. Without sites K x, for which L_K must be known.
    pub(super) fn covariance_times(&mut self, sites: &Sites, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
        if !sites.present() {
            for function in out.chunks_exact_mut(self.prior.rows()) {
                self.prior_factor.multiply_lower_transposed(function);
                self.prior_factor.multiply_lower(function);
            }
            return;
        }
        sites.root_solve(out);
        self.scratch.copy_from_slice(out);
        self.factor.solve(&mut self.scratch);
        out.iter_mut().zip(&self.scratch).for_each(|(out, solved)| *out -= solved);
        sites.root_transposed_solve(out);
    }

    /// Draws from N(0, Σ); L_K must be known.
    pub(super) fn draw_deviation(
        &mut self,
        sites: &Sites,
        deviation: &mut [f64],
        noise: &mut [f64],
        stream: &mut Stream,
    ) {
        stream.fill_normal(deviation);
        if sites.present() {
            stream.fill_normal(noise);
        }
        self.transform_noise(sites, deviation, noise, false);
    }

    /// Turns standard normal noise (z, ε) into functions: with f₀ = L_K z and
    /// c = ν - Rᵀf₀ - ε they are f₀ + K R B⁻¹c = R⁻ᵀ(ν - ε - B⁻¹c), N(m, Σ). Without `centred`
    /// ν is left away: N(0, Σ). `functions` comes as z; L_K must be known. B⁻¹c stays in the
    /// scratch.
    pub(super) fn transform_noise(
        &mut self,
        sites: &Sites,
        functions: &mut [f64],
        noise: &[f64],
        centred: bool,
    ) {
        for function in functions.chunks_exact_mut(self.prior.rows()) {
            self.prior_factor.multiply_lower(function);
        }
        if !sites.present() {
            return;
        }
        let rest = &mut self.scratch;
        sites.root_transposed_times(functions, rest);
        let shift = if centred { 1.0 } else { 0.0 };
        for ((f, noise), target) in functions.iter_mut().zip(noise).zip(sites.targets()) {
            *f = shift * target - noise;
        }
        for (rest, f) in rest.iter_mut().zip(&*functions) {
            *rest = f - *rest;
        }
        self.factor.solve(rest);
        functions.iter_mut().zip(&*rest).for_each(|(f, solved)| *f -= solved);
        sites.root_transposed_solve(functions);
    }

    /// Draws (z, ε) given the functions that they turn into: r = Rᵀf₀ + ε is independent of
    /// them, so with r = L_B ξ, f₀ = f + K R B⁻¹(r - ν) = f + R⁻ᵀ(r - ν - L_B⁻ᵀ(ξ - L_B⁻¹ν)).
    pub(super) fn draw_noise(
        &mut self,
        sites: &Sites,
        functions: &[f64],
        z: &mut [f64],
        noise: &mut [f64],
        stream: &mut Stream,
    ) {
        if sites.present() {
            stream.fill_normal(noise);
            let rest = &mut self.scratch;
            for ((rest, xi), u) in rest.iter_mut().zip(&*noise).zip(&self.half_solved) {
                *rest = xi - u;
            }
            self.factor.solve_lower_transposed(rest);
            self.factor.multiply_lower(noise);
            let parts = noise.iter().zip(sites.targets()).zip(&*rest);
            for (z, ((r, target), rest)) in z.iter_mut().zip(parts) {
                *z = r - target - rest;
            }
            sites.root_transposed_solve(z);
            z.iter_mut().zip(functions).for_each(|(z, f)| *z += f);
            sites.root_transposed_times(z, rest);
            noise.iter_mut().zip(&*rest).for_each(|(r, rest)| *r -= rest);
        } else {
            z.copy_from_slice(functions);
        }
        for function in z.chunks_exact_mut(self.prior.rows()) {
            self.prior_factor.solve_lower(function);
        }
    }

    /// Derivatives of log Z with respect to the log parameters of the covariance function, after
    /// [`Gaussian::factorize`]: with α = R B⁻¹ν and P = R B⁻¹Rᵀ, ½ Σ_j tr((α_j α_jᵀ - P_jj) ∂K).
    /// With an `adjoint` those of its function of K are added.
    pub(super) fn gradient(
        &mut self,
        sites: &Sites,
        adjoint: Option<&Adjoint>,
        gradient: &mut [f64],
    ) {
        let (rows, functions, present) = (self.prior.rows(), self.functions, sites.present());
        if present {
            self.factor.inverse(&mut self.room);
            self.scratch.copy_from_slice(&self.half_solved);
            self.factor.solve_lower_transposed(&mut self.scratch);
            sites.root_times(&self.scratch, &mut self.half_solved);
        }
        let (inverse, alpha) = (&self.room, &self.half_solved);
        let mut column = |index: usize, out: &mut [f64]| {
            match adjoint {
                Some(adjoint) => adjoint.column(index, out),
                None => out.fill(0.0),
            }
            if !present {
                return;
            }
            for alpha in alpha.chunks_exact(rows) {
                let own = 0.5 * alpha[index];
                out.iter_mut().zip(&alpha[index..]).for_each(|(out, other)| *out += own * other);
            }
            for b in 0..functions {
                for a in 0..functions {
                    let inverse = &inverse.column(b * rows + index)[a * rows..][index..rows];
                    for j in a.max(b)..functions {
                        let own = 0.5 * sites.root(j, b)[index];
                        let others = sites.root(j, a)[index..].iter().zip(inverse);
                        out.iter_mut()
                            .zip(others)
                            .for_each(|(out, (root, entry))| *out -= own * root * entry);
                    }
                }
            }
        };
        self.covariance.gradient(&mut column, gradient);
        if present {
            // The half-solved targets again.
            self.half_solved.copy_from_slice(sites.targets());
            self.factor.solve_lower(&mut self.half_solved);
        }
    }
}
