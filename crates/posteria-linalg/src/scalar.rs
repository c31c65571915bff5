//! Do the arithmetic of one lane, in double or single precision.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the lane-wise kernels need of a floating point number. Every operation is rounded
/// once and in the order written, so that no instruction set changes a bit.
pub trait Scalar:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + 'static
{
    const ZERO: Self;
    const ONE: Self;
    /// Whether the number carries the value of a density; single precision only carries forces.
    const CARRIES_VALUES: bool;
    /// The square of numbers below this is finite.
    const LARGE: Self;
    /// 1.5 · 2^(mantissa bits), plus the bias of the exponent: adding it rounds to an integer
    /// and leaves that integer, biased, in the lowest bits.
    const ROUND: Self;
    /// 2 / ln 2.
    const TANH_SCALE: Self;
    /// |tanh x| rounds to 1 from here on.
    const TANH_LIMIT: Self;
    /// Minimax polynomial of tanh(½ f ln 2) / f in f² for |f| ≤ ½.
    const TANH: &'static [Self];
    /// 1 / ln 2.
    const EXP_SCALE: Self;
    /// ln 2 in two parts; products of the first with exponents are exact.
    const LN_2: (Self, Self);
    /// exp(-x) is a normal number up to here.
    const EXP_LIMIT: Self;
    /// exp overflows above the second and is zero below the first.
    const EXP_RANGE: (Self, Self);
    /// Minimax polynomial of (2^f - 1) / f for |f| ≤ ½.
    const EXP: &'static [Self];

    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn abs(self) -> Self;
    /// `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// 2^r, where `self` is r + [`Scalar::ROUND`].
    fn power(self) -> Self;
    /// 2^⌊r/2⌋ and 2^(r - ⌊r/2⌋), where `self` is r + [`Scalar::ROUND`].
    fn half_powers(self) -> (Self, Self);
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    /// Mantissa in [1, 2) and exponent of a positive finite normal number.
    fn split(self) -> (Self, i64);
}

macro_rules! scalar {
    ($float:ident, $bits:ident, $mantissa_bits:literal, $constants:tt) => {
        scalar!(@implement $float, $bits, $mantissa_bits, $constants);
    };
    (@implement $float:ident, $bits:ident, $mantissa_bits:literal, { $($constants:item)* }) => {
        impl Scalar for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const ROUND: Self = (3 as $float) * ((1u64 << ($mantissa_bits - 1)) as $float)
                + ($float::MAX_EXP - 1) as $float;
            const TANH_SCALE: Self = 2.0 * std::$float::consts::LOG2_E;
            const EXP_SCALE: Self = std::$float::consts::LOG2_E;
            $($constants)*

            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                $float::mul_add(self, factor, term)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $float::abs(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $float::copysign(self, sign)
            }
            #[inline(always)]
            fn power(self) -> Self {
                $float::from_bits(self.to_bits() << $mantissa_bits)
            }
            #[inline(always)]
            fn half_powers(self) -> (Self, Self) {
                const BIAS: $bits = ($float::MAX_EXP - 1) as $bits;
                let ones = <$float as Scalar>::ROUND.to_bits();
                // Exponents shifted up by 4096 to stay positive while they are halved.
                let r = self.to_bits().wrapping_sub(ones).wrapping_add(4096);
                let low = r >> 1;
                let high = r.wrapping_sub(low);
                let power = |half: $bits| {
                    $float::from_bits(half.wrapping_add(BIAS.wrapping_sub(2048)) << $mantissa_bits)
                };
                (power(low), power(high))
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn split(self) -> (Self, i64) {
                const FRACTION: $bits = (1 << $mantissa_bits) - 1;
                let bits = self.to_bits();
                let exponent = ((bits >> $mantissa_bits) as i64).wrapping_sub($float::MAX_EXP as i64 - 1);
                (<$float>::from_bits((bits & FRACTION) | (1.0 as $float).to_bits()), exponent)
            }
        }
    };
}

// Coefficients by Remez exchange in 60 digits; the relative error of every polynomial is below
// an eighth of the rounding unit (single precision: below the rounding unit).
scalar!(f64, u64, 52, {
    const CARRIES_VALUES: bool = true;
    const LARGE: f64 = 1e150;
    const TANH_LIMIT: f64 = 20.0;
    const TANH: &'static [f64] = &[
        0.346_573_590_279_972_65,
        -0.013_876_027_166_204_886,
        0.000_666_677_907_288_810_9,
        -0.000_032_412_058_549_833_7,
        1.577_594_352_595_577_8e-6,
        -7.674_377_887_982_644e-8,
        3.583_268_220_507_379e-9,
    ];
    // 32 bits of ln 2, then the rest.
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    const EXP_LIMIT: f64 = 708.0;
    const EXP_RANGE: (f64, f64) = (-746.0, 710.0);
    const EXP: &'static [f64] = &[
        std::f64::consts::LN_2,
        0.240_226_506_959_100_98,
        0.055_504_108_664_821_237,
        0.009_618_129_107_607_065,
        0.001_333_355_814_653_164_5,
        0.000_154_035_304_414_815_87,
        0.000_015_252_733_701_201_394,
        1.321_544_272_369_400_5e-6,
        1.017_812_130_522_244_3e-7,
        7.072_561_805_155_224_6e-9,
        4.445_536_262_945_608e-10,
    ];
});

scalar!(f32, u32, 23, {
    const CARRIES_VALUES: bool = false;
    const LARGE: f32 = 1e18;
    const TANH_LIMIT: f32 = 9.5;
    const TANH: &'static [f32] = &[0.346_573_57, -0.013_874_908, 0.000_654_689_85];
    const LN_2: (f32, f32) = (0.693_359_4, -0.000_212_194_44);
    const EXP_LIMIT: f32 = 87.0;
    const EXP_RANGE: (f32, f32) = (-104.0, 89.0);
    const EXP: &'static [f32] = &[
        std::f32::consts::LN_2,
        0.240_226_5,
        0.055_503_574,
        0.009_618_238,
        0.001_339_073_6,
        0.000_154_035_13,
    ];
});
