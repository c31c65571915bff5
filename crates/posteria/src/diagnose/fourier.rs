//! Transform complex sequences whose length is a power of two.

use std::f64::consts::TAU;

/// A fast Fourier transform of one length, with its roots of unity.
pub(super) struct Fourier {
    cos: Vec<f64>,
    sin: Vec<f64>,
    len: usize,
}

impl Fourier {
    /// A transform of length `len`, a power of two.
    pub(super) fn new(len: usize) -> Self {
        assert!(len.is_power_of_two(), "{len} is not a power of two");
        let angle = |k: usize| TAU * k as f64 / len as f64;
        Fourier {
            cos: (0..len / 2).map(|k| angle(k).cos()).collect(),
            sin: (0..len / 2).map(|k| -angle(k).sin()).collect(),
            len,
        }
    }

    /// X_k = Σ_j x_j exp(-2πi jk / n), in place. Applying it to the complex conjugate and
    /// conjugating gives n times the inverse.
    pub(super) fn forward(&self, real: &mut [f64], imaginary: &mut [f64]) {
        assert!(real.len() == self.len && imaginary.len() == self.len, "wrong length");
        reverse_bits(real);
        reverse_bits(imaginary);
        let mut half = 1;
        while half < self.len {
            let stride = self.len / (2 * half);
            for start in (0..self.len).step_by(2 * half) {
                let (re_even, re_odd) = real[start..start + 2 * half].split_at_mut(half);
                let (im_even, im_odd) = imaginary[start..start + 2 * half].split_at_mut(half);
                for k in 0..half {
                    let (c, s) = (self.cos[k * stride], self.sin[k * stride]);
                    let re = re_odd[k] * c - im_odd[k] * s;
                    let im = re_odd[k] * s + im_odd[k] * c;
                    (re_odd[k], im_odd[k]) = (re_even[k] - re, im_even[k] - im);
                    re_even[k] += re;
                    im_even[k] += im;
                }
            }
            half *= 2;
        }
    }
}

fn reverse_bits(values: &mut [f64]) {
    let shift = values.len().leading_zeros() + 1;
    for i in 0..values.len() {
        let j = i.reverse_bits().checked_shr(shift).unwrap_or(0);
        if i < j {
            values.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_defining_sum() {
        for len in [1, 2, 4, 16, 32] {
            let x: Vec<f64> = (0..len).map(|j| ((j * 7 + 3) % 11) as f64 - 5.0).collect();
            let y: Vec<f64> = (0..len).map(|j| ((j * 5 + 1) % 13) as f64).collect();
            let (mut real, mut imaginary) = (x.clone(), y.clone());
            Fourier::new(len).forward(&mut real, &mut imaginary);
            for k in 0..len {
                let (mut re, mut im) = (0.0, 0.0);
                for j in 0..len {
                    let angle = -TAU * (j * k) as f64 / len as f64;
                    re += x[j] * angle.cos() - y[j] * angle.sin();
                    im += x[j] * angle.sin() + y[j] * angle.cos();
                }
                assert!((real[k] - re).abs() < 1e-12 && (imaginary[k] - im).abs() < 1e-12);
            }
        }
    }
}
