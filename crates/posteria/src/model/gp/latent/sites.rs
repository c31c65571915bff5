//! Keep one normal site per row in place of its likelihood.

use crate::sample::{ForeignMemory, MemoryReader};

/// Added to the curvature of a softmax, whose blocks are singular where a row is sure.
const BLOCK_FLOOR: f64 = 1e-3;
/// Added to the curvature of two classes: keeps rows that are all but certain within numbers.
const FLOOR: f64 = 1e-8;

/// Sites exp(hᵀf - ½ fᵀWf), W with one F × F block W_i = R_i R_iᵀ per row.
///
/// Vectors are at j·n + i, blocks at (j·F + k)·n + i.
#[derive(Clone, Debug)]
pub(super) struct Sites {
    rows: usize,
    functions: usize,
    /// Added to the curvature of the likelihood.
    floor: f64,
    /// Whether there are any.
    present: bool,
    /// W.
    precisions: Vec<f64>,
    /// h.
    shifts: Vec<f64>,
    /// R, lower triangular blocks.
    roots: Vec<f64>,
    /// ν = R⁻¹h.
    targets: Vec<f64>,
}

impl Sites {
    /// No sites: N(m, Σ) is the prior.
    pub(super) fn none(rows: usize, functions: usize) -> Self {
        let (vector, blocks) =
            (vec![0.0; rows * functions], vec![0.0; rows * functions * functions]);
        Sites {
            rows,
            functions,
            floor: if functions > 1 { BLOCK_FLOOR } else { FLOOR },
            present: false,
            precisions: blocks.clone(),
            shifts: vector.clone(),
            roots: blocks,
            targets: vector,
        }
    }

    /// The same, to touch the likelihood as closely as numbers let them: sites of chains keep some
    /// distance from rows that are sure.
    pub(super) fn touching(rows: usize, functions: usize) -> Self {
        Sites { floor: FLOOR, ..Sites::none(rows, functions) }
    }

    pub(super) fn present(&self) -> bool {
        self.present
    }

    /// ν.
    pub(super) fn targets(&self) -> &[f64] {
        &self.targets
    }

    fn at(&self, j: usize, k: usize) -> usize {
        (j * self.functions + k) * self.rows
    }

    /// One entry of R for all rows.
    pub(super) fn root(&self, j: usize, k: usize) -> &[f64] {
        &self.roots[self.at(j, k)..][..self.rows]
    }

    /// Sites that touch β log p at `latents`, where it has these derivatives and curvatures
    /// (of log p, with β = `inverse_temperature`); or, of means of all three over a distribution of
    /// latents, the sites of that. Returns whether they are usable.
    pub(super) fn touch(
        &mut self,
        inverse_temperature: f64,
        latents: &[f64],
        gradient: &[f64],
        curvature: &[f64],
    ) -> bool {
        for (precision, curvature) in self.precisions.iter_mut().zip(curvature) {
            *precision = inverse_temperature * curvature;
        }
        let floor = self.floor;
        for j in 0..self.functions {
            let diagonal = self.at(j, j);
            for precision in &mut self.precisions[diagonal..diagonal + self.rows] {
                *precision += inverse_temperature * floor;
            }
        }
        for (shift, slope) in self.shifts.iter_mut().zip(gradient) {
            *shift = inverse_temperature * slope;
        }
        for j in 0..self.functions {
            for k in 0..self.functions {
                let block = self.at(j, k);
                for row in 0..self.rows {
                    self.shifts[j * self.rows + row] +=
                        self.precisions[block + row] * latents[k * self.rows + row];
                }
            }
        }
        self.factorize()
    }

    /// Sites with this W and h, of one function. Returns whether they are usable.
    pub(super) fn set(&mut self, precisions: &[f64], shifts: &[f64]) -> bool {
        self.precisions.copy_from_slice(precisions);
        self.shifts.copy_from_slice(shifts);
        self.factorize()
    }

    /// Finds R and ν.
    fn factorize(&mut self) -> bool {
        let (rows, functions) = (self.rows, self.functions);
        for row in 0..rows {
            for j in 0..functions {
                for k in 0..=j {
                    let mut entry = self.precisions[self.at(j, k) + row];
                    for l in 0..k {
                        let (a, b) = (self.at(j, l), self.at(k, l));
                        entry -= self.roots[a + row] * self.roots[b + row];
                    }
                    let place = self.at(j, k) + row;
                    self.roots[place] = match k == j {
                        true => entry.sqrt(),
                        false => entry / self.roots[self.at(k, k) + row],
                    };
                }
                let mut target = self.shifts[j * rows + row];
                for k in 0..j {
                    target -= self.roots[self.at(j, k) + row] * self.targets[k * rows + row];
                }
                self.targets[j * rows + row] = target / self.roots[self.at(j, j) + row];
            }
        }
        // A root that is zero or not a number shows in ν, or is infinite itself.
        self.present = self.targets.iter().chain(&self.roots).all(|value| value.is_finite());
        self.present
    }

    /// hᵀf - ½ fᵀWf; `gradient` loses its derivatives h - Wf.
    pub(super) fn subtract_gradient(&self, latents: &[f64], gradient: &mut [f64]) -> f64 {
        let rows = self.rows;
        let mut value = 0.0;
        for j in 0..self.functions {
            for row in 0..rows {
                let shift = self.shifts[j * rows + row];
                let mut pull = 0.0;
                for k in 0..self.functions {
                    pull += self.precisions[self.at(j, k) + row] * latents[k * rows + row];
                }
                value += latents[j * rows + row] * (shift - 0.5 * pull);
                gradient[j * rows + row] -= shift - pull;
            }
        }
        value
    }

    /// hᵀf - ½ fᵀWf.
    pub(super) fn log_density(&self, latents: &[f64]) -> f64 {
        let rows = self.rows;
        let mut value = 0.0;
        for j in 0..self.functions {
            for row in 0..rows {
                let mut pull = 0.0;
                for k in 0..self.functions {
                    pull += self.precisions[self.at(j, k) + row] * latents[k * rows + row];
                }
                value += latents[j * rows + row] * (self.shifts[j * rows + row] - 0.5 * pull);
            }
        }
        value
    }

    /// `out` ← R x.
    pub(super) fn root_times(&self, x: &[f64], out: &mut [f64]) {
        let rows = self.rows;
        out.fill(0.0);
        for j in 0..self.functions {
            for k in 0..=j {
                add_product(&mut out[j * rows..][..rows], self.root(j, k), &x[k * rows..][..rows]);
            }
        }
    }

    /// `out` ← Rᵀ x.
    pub(super) fn root_transposed_times(&self, x: &[f64], out: &mut [f64]) {
        let rows = self.rows;
        out.fill(0.0);
        for j in 0..self.functions {
            for k in 0..=j {
                add_product(&mut out[k * rows..][..rows], self.root(j, k), &x[j * rows..][..rows]);
            }
        }
    }

    /// x ← R⁻¹ x.
    pub(super) fn root_solve(&self, x: &mut [f64]) {
        let rows = self.rows;
        for j in 0..self.functions {
            let (done, rest) = x.split_at_mut(j * rows);
            let own = &mut rest[..rows];
            for k in 0..j {
                subtract_product(own, self.root(j, k), &done[k * rows..][..rows]);
            }
            own.iter_mut().zip(self.root(j, j)).for_each(|(x, root)| *x /= root);
        }
    }

    /// x ← R⁻ᵀ x.
    pub(super) fn root_transposed_solve(&self, x: &mut [f64]) {
        let rows = self.rows;
        for j in (0..self.functions).rev() {
            let (rest, done) = x.split_at_mut((j + 1) * rows);
            let own = &mut rest[j * rows..];
            for k in j + 1..self.functions {
                subtract_product(own, self.root(k, j), &done[(k - j - 1) * rows..][..rows]);
            }
            own.iter_mut().zip(self.root(j, j)).for_each(|(x, root)| *x /= root);
        }
    }

    /// W and h, from which everything else follows.
    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.extend(&self.precisions);
        memory.extend(&self.shifts);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        memory.fill(&mut self.precisions)?;
        memory.fill(&mut self.shifts)?;
        if self.factorize() { Ok(()) } else { Err(memory.foreign()) }
    }
}

fn add_product(out: &mut [f64], a: &[f64], b: &[f64]) {
    out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out += a * b);
}

fn subtract_product(out: &mut [f64], a: &[f64], b: &[f64]) {
    out.iter_mut().zip(a).zip(b).for_each(|((out, a), b)| *out -= a * b);
}
