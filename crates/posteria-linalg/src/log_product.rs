//! Take the logarithm of a long product once instead of that of every factor.

/// A positive product m · 2^e with m in [1, 2): it neither overflows nor underflows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogProduct {
    pub(crate) mantissa: f64,
    pub(crate) exponent: i64,
}

impl Default for LogProduct {
    fn default() -> Self {
        LogProduct { mantissa: 1.0, exponent: 0 }
    }
}

impl LogProduct {
    /// Multiplies by m · 2^e with m in [1, 2).
    pub(crate) fn multiply(&mut self, mantissa: f64, exponent: i64) {
        let product = self.mantissa * mantissa;
        let (mantissa, carry) = if product >= 2.0 { (0.5 * product, 1) } else { (product, 0) };
        self.mantissa = mantissa;
        self.exponent += exponent + carry;
    }

    /// The logarithm of the product.
    pub fn ln(&self) -> f64 {
        (self.exponent as f64).mul_add(std::f64::consts::LN_2, libm::log(self.mantissa))
    }
}
