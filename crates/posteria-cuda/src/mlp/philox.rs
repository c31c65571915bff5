//! Name random numbers by what they are for: Philox 4x32 with ten rounds [Salmon et al. 2011].
//!
//! A number does not depend on how many were drawn before it, so the same draws come out whatever
//! the number of threads, blocks and launches.

use posteria::random::Seed;

/// What a random number is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Dof = 1,
    Kappa,
    Residual,
    Part,
    Above,
    Momentum,
    Step,
    Acceptance,
    Start,
}

/// The chain and the iteration that random numbers belong to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) seed: Seed,
    pub(super) fold: u32,
    pub(super) chain: u32,
    pub(super) iteration: u32,
}

impl Name {
    /// 128 random bits.
    pub(super) fn bits(&self, purpose: Purpose, index: u32, attempt: u32) -> [u32; 4] {
        let last = self.fold << 20 | (purpose as u32) << 12 | attempt;
        philox([index, self.iteration, self.chain, last], self.seed.0)
    }

    /// A standard normal number [Box & Muller 1958].
    pub(super) fn normal(&self, purpose: Purpose, index: u32, attempt: u32) -> f64 {
        let [a, b, c, d] = self.bits(purpose, index, attempt);
        let angle = 2.0 * std::f64::consts::PI * uniform(c, d);
        (-2.0 * uniform(a, b).ln()).sqrt() * angle.cos()
    }

    /// A number between 0 and 1.
    pub(super) fn uniform(&self, purpose: Purpose) -> f64 {
        let [a, b, ..] = self.bits(purpose, 0, 0);
        uniform(a, b)
    }

    /// The logarithm of a gamma variate of scale 1 [Marsaglia & Tsang 2000]; with a shape below 1,
    /// of one with a shape 1 larger times a uniform number to the power 1/shape.
    pub(super) fn log_gamma(&self, shape: f64, purpose: Purpose, index: u32) -> f64 {
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        let mut attempt = 0;
        loop {
            let z = self.normal(purpose, index, attempt);
            let [e, f, g, h] = self.bits(purpose, index, attempt + 1);
            let v = (1.0 + c * z).powi(3);
            let fits = v > 0.0 && uniform(e, f).ln() < 0.5 * z * z + d - d * v + d * v.ln();
            if fits || attempt >= 128 {
                let below = if shape < 1.0 { uniform(g, h).ln() / shape } else { 0.0 };
                return (d * v).ln() + below;
            }
            attempt += 2;
        }
    }

    /// u with log density a u - b exp(-u) - c exp(u) - ½ d (u - m)²: logarithms of gamma, inverse
    /// gamma and generalised inverse Gaussian variates, and these with a log-normal prior. The
    /// density is log-concave: the tangents left and right of its mode and its greatest value cover
    /// it [Devroye 1986, §VII.2].
    pub(super) fn log_concave(
        &self,
        [a, b, c]: [f64; 3],
        (m, d): (f64, f64),
        purpose: Purpose,
        index: u32,
    ) -> f64 {
        let (mut low, mut high) = (-200.0, 200.0);
        for _ in 0..22 {
            let u: f64 = 0.5 * (low + high);
            let rises = a + b * (-u).exp() - c * u.exp() - d * (u - m) > 0.0;
            *(if rises { &mut low } else { &mut high }) = u;
        }
        let mut mode: f64 = 0.5 * (low + high);
        for _ in 0..4 {
            let (falls, rises) = (b * (-mode).exp(), c * mode.exp());
            mode += (a + falls - rises - d * (mode - m)) / (falls + rises + d);
        }
        let (b, c, a) = (b * (-mode).exp(), c * mode.exp(), a - d * (mode - m));
        let psi = |t: f64| a * t - b * (-t).exp_m1() - c * t.exp_m1() - 0.5 * d * t * t;
        let reach = |side: f64| {
            let mut reach = (1.5 / (b + c + d).sqrt()).min(500.0);
            while psi(side * reach) < -3.0 {
                reach *= 0.7;
            }
            reach
        };
        let (ahead, behind) = (reach(1.0), reach(-1.0));
        let right = -(a + b * (-ahead).exp() - c * ahead.exp() - d * ahead);
        let left = a + b * behind.exp() - c * (-behind).exp() + d * behind;
        let from = ahead + psi(ahead) / right;
        let to = behind + psi(-behind) / left;
        let middle = from + to;
        let area = middle + right.recip() + left.recip();
        let mut attempt = 0;
        loop {
            let [e, f, g, h] = self.bits(purpose, index, attempt);
            let place = uniform(e, f) * area;
            let (t, cover) = if place < middle {
                (place - to, 0.0)
            } else if place - middle < right.recip() {
                let cover = ((place - middle) * right).ln();
                (from - cover / right, cover)
            } else {
                let cover = ((place - middle - right.recip()) * left).ln();
                (-to + cover / left, cover)
            };
            if uniform(g, h).ln() < psi(t) - cover || attempt >= 256 {
                return mode + t;
            }
            attempt += 1;
        }
    }
}

/// A number between 0 and 1, both excluded, of 53 bits.
fn uniform(high: u32, low: u32) -> f64 {
    let bits = (u64::from(high) << 32 | u64::from(low)) >> 11;
    (bits as f64 + 0.5) / (1_u64 << 53) as f64
}

fn philox(counter: [u32; 4], seed: u64) -> [u32; 4] {
    let wide = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    let (mut c, mut keys) = (counter, [seed as u32, (seed >> 32) as u32]);
    for _ in 0..10 {
        let (high0, low0) = wide(0xD251_1F53, c[0]);
        let (high1, low1) = wide(0xCD9E_8D57, c[2]);
        c = [high1 ^ c[1] ^ keys[0], low1, high0 ^ c[3] ^ keys[1], low0];
        keys[0] = keys[0].wrapping_add(0x9E37_79B9);
        keys[1] = keys[1].wrapping_add(0xBB67_AE85);
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of the authors' library.
    #[test]
    fn the_generator_gives_its_published_numbers() {
        let zeros = philox([0; 4], 0);
        assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox([u32::MAX; 4], u64::MAX);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let drawn = philox(pi, 0x299f_31d0_a409_3822);
        assert_eq!(drawn, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    /// Means of 40 000 draws against quadrature; six standard errors, a false alarm in 10⁷ tests.
    #[test]
    fn variates_have_the_moments_of_their_densities() {
        let draws = |one: &dyn Fn(&Name) -> f64| {
            let name = |iteration| Name { seed: Seed(5), fold: 0, chain: 3, iteration };
            let values: Vec<f64> = (0..40_000).map(|iteration| one(&name(iteration))).collect();
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            (mean, variance, (variance / n).sqrt())
        };
        // Moments of densities on a fine grid.
        let moments = |log_density: &dyn Fn(f64) -> f64| {
            let grid: Vec<f64> = (-60_000..60_000).map(|i| f64::from(i) * 1e-3).collect();
            let most = grid.iter().map(|x| log_density(*x)).fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = grid.iter().map(|x| (log_density(*x) - most).exp()).collect();
            let mass: f64 = weights.iter().sum();
            let mean = grid.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>() / mass;
            let square = |(x, w): (&f64, &f64)| (x - mean).powi(2) * w;
            (mean, grid.iter().zip(&weights).map(square).sum::<f64>() / mass)
        };
        let check = |(mean, variance, error): (f64, f64, f64), (m, v): (f64, f64)| {
            assert!((mean - m).abs() < 6.0 * error, "mean {mean} of {m}");
            assert!((variance / v - 1.0).abs() < 0.15, "variance {variance} of {v}");
        };
        for shape in [0.25, 0.75, 1.0, 4.5, 120.0] {
            let drawn = draws(&|name| name.log_gamma(shape, Purpose::Part, 2));
            check(drawn, moments(&|u| shape * u - u.exp()));
        }
        for ([a, b, c], (m, d)) in [
            ([1.5, 0.1, 2.0], (0.0, 0.0)),
            ([-3.0, 2.0, 0.01], (0.0, 0.0)),
            ([0.0, 1e-3, 1e-3], (0.0, 0.0)),
            ([40.0, 1.0, 9.0], (0.0, 0.0)),
            ([5.0, 0.0, 1e-9], (1.0, 0.25)),
            ([0.0, 0.0, 0.0], (-2.0, 4.0)),
        ] {
            let drawn = draws(&|name| name.log_concave([a, b, c], (m, d), Purpose::Above, 0));
            let squares = |u: f64| 0.5 * d * (u - m) * (u - m);
            check(drawn, moments(&|u| a * u - b * (-u).exp() - c * u.exp() - squares(u)));
        }
        let normal = draws(&|name| name.normal(Purpose::Momentum, 1, 0));
        check(normal, (0.0, 1.0));
    }
}
