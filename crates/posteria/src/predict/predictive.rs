//! The predictive distribution of one row.

use super::average::Average;
use super::count::least_count;
use super::draw_mixture::DrawMixture;
use super::{Family, ModelShare};
use crate::random::Stream;

/// The predictive distribution of the target of one row: of one model a mixture over its draws,
///
/// p(y) = Σ_s w_s p(y given draw s),
///
/// with weights that are equal (posterior prediction) or given (importance weights of
/// leave-one-out), and of several models their average, p(y) = Σ_k w_k p(y given model k).
/// Several outputs stay joint: the density of a row is the mean over draws of
/// a product over outputs, not a product of means [Vehtari 2001].
///
/// Numbers that do not exist (the standard deviation of a t with two degrees of freedom) are
/// `None`; parameters or weights that are not numbers give NaN. Draws and models of weight zero
/// are never looked at.
///
/// ```
/// use posteria::predict::{Family, Predictive};
///
/// // Two draws: N(0, 1) and N(4, 1).
/// let parameters = [0.0, 1.0, 4.0, 1.0];
/// let predictive = Predictive::new(Family::Normal { outputs: 1 }, &parameters);
/// assert!((predictive.mean(0).unwrap() - 2.0).abs() < 1e-12);
/// assert!((predictive.sd(0).unwrap() - 5f64.sqrt()).abs() < 1e-12);
/// assert!((predictive.quantile(0, 0.5) - 2.0).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Predictive<'a>(Over<'a>);

/// What is averaged.
#[derive(Clone, Copy, Debug)]
enum Over<'a> {
    Draws(DrawMixture<'a>),
    Models(Average<'a>),
}

/// The same method of either.
macro_rules! either {
    ($self:ident, $it:ident => $call:expr) => {
        match &$self.0 {
            Over::Draws($it) => $call,
            Over::Models($it) => $call,
        }
    };
}

impl<'a> Predictive<'a> {
    /// The mixture with equal weights; `parameters` holds [`Family::width`] numbers per draw.
    ///
    /// # Panics
    /// If there is no draw, or a part of one.
    #[track_caller]
    pub fn new(family: Family, parameters: &'a [f64]) -> Self {
        Predictive(Over::Draws(DrawMixture::new(family, parameters)))
    }

    /// The mixture with weights proportional to exp(`log_weights`), which may have any common
    /// offset; -∞ is a weight of zero.
    ///
    /// # Panics
    /// If there is no draw, or not one weight per draw.
    #[track_caller]
    pub fn weighted(family: Family, parameters: &'a [f64], log_weights: &'a [f64]) -> Self {
        Predictive(Over::Draws(DrawMixture::weighted(family, parameters, log_weights)))
    }

    /// The average over models with these shares, which sum to 1 [Hoeting et al. 1999]:
    /// distributions of the same target, of whatever families.
    ///
    /// ```
    /// use posteria::predict::{Family, ModelShare, Predictive};
    ///
    /// let normal = Predictive::new(Family::Normal { outputs: 1 }, &[0.0, 1.0]);
    /// let laplace = Predictive::new(Family::Laplace { outputs: 1 }, &[4.0, 1.0]);
    /// let models = [(0.75, normal), (0.25, laplace)]
    ///     .map(|(share, predictive)| ModelShare { share, predictive });
    /// let average = Predictive::average(&models);
    /// assert!((average.mean(0).unwrap() - 1.0).abs() < 1e-12);
    /// let median = average.quantile(0, 0.5);
    /// assert!((average.cdf(0, median) - 0.5).abs() < 1e-11);
    /// ```
    ///
    /// # Panics
    /// If there is no model with a share, models have different numbers of outputs or classes, or one
    /// has no target.
    #[track_caller]
    pub fn average(models: &'a [ModelShare<'a>]) -> Self {
        Predictive(Over::Models(Average::new(models)))
    }

    /// What the target follows given one draw; of several models, given one of the first.
    pub fn family(&self) -> Family {
        either!(self, it => it.family())
    }

    /// The joint density of all outputs, or the probability of a class, at `observed`.
    ///
    /// # Panics
    /// As [`Predictive::log_density`].
    #[track_caller]
    pub fn density(&self, observed: &[f64]) -> f64 {
        self.log_density(observed).exp()
    }

    /// Logarithm of the joint density of all outputs at `observed`; for classes, of the
    /// probability of the class with index `observed[0]` (-∞ if there is no such class). Of a
    /// row without target, the log density of the row, and nothing is observed.
    ///
    /// # Panics
    /// If `observed` has not one number per output, or not one for classes.
    #[track_caller]
    pub fn log_density(&self, observed: &[f64]) -> f64 {
        either!(self, it => it.log_density(observed))
    }

    /// Logarithm of the density at `y` of one output alone; of a censored duration, −y, that of the
    /// probability of a longer one than y.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn log_density_of(&self, output: usize, y: f64) -> f64 {
        self.check(output);
        either!(self, it => it.log_density_of(output, y))
    }

    /// Logarithm of the probability of a class.
    ///
    /// # Panics
    /// If there is no such class.
    #[track_caller]
    pub fn log_probability(&self, class: usize) -> f64 {
        either!(self, it => it.log_probability(class))
    }

    /// Writes the probability of every class; they sum to 1.
    ///
    /// # Panics
    /// If `probabilities` has not one place per class.
    #[track_caller]
    pub fn probabilities(&self, probabilities: &mut [f64]) {
        either!(self, it => it.probabilities(probabilities));
    }

    /// The index of the most probable class, the first of equals.
    ///
    /// # Panics
    /// If the target is not a class.
    #[track_caller]
    pub fn most_probable(&self) -> usize {
        let classes = self.family().classes();
        assert!(classes > 0, "real outputs have no classes");
        let mut probabilities = vec![0.0; classes];
        self.probabilities(&mut probabilities);
        let better = |best: usize, class: usize| {
            if probabilities[class] > probabilities[best] { class } else { best }
        };
        (0..classes).fold(0, better)
    }

    /// Writes a draw of the target: one number per output, or the index of a class.
    ///
    /// # Panics
    /// If `target` has another length, or no draw has a positive weight.
    #[track_caller]
    pub fn draw(&self, stream: &mut Stream, target: &mut [f64]) {
        either!(self, it => it.draw(stream, target));
    }

    /// The mean of an output, Σ_s w_s E(y given draw s); `None` if it does not exist, as for a
    /// Student t with at most one degree of freedom.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn mean(&self, output: usize) -> Option<f64> {
        self.check(output);
        either!(self, it => it.mean(output))
    }

    /// The standard deviation of an output: its variance is the mean of the variances plus the
    /// variance of the means, over draws and over models. `None` if it is infinite, as for a Student
    /// t with at most two degrees of freedom in any draw.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn sd(&self, output: usize) -> Option<f64> {
        self.check(output);
        either!(self, it => it.sd(output))
    }

    /// P(output ≤ y), accurate in the left tail.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn cdf(&self, output: usize, y: f64) -> f64 {
        self.check(output);
        self.tail(output, 1.0, y).0
    }

    /// P(output > y), accurate in the right tail.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn probability_above(&self, output: usize, y: f64) -> f64 {
        self.check(output);
        self.tail(output, -1.0, -y).0
    }

    /// The probability integral transform of an output that is observed at `y`: uniform over rows where
    /// predictions hold. Of a count, whose distribution function jumps there, the part `share` of the
    /// jump is counted: shares that spread evenly over 0 to 1 make it uniform again. Of a censored
    /// duration, −y, it is the same part of all that is above y.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn transform(&self, output: usize, y: f64, share: f64) -> f64 {
        if self.family().is_count() {
            return self.cdf(output, y - 1.0) + share * self.log_density_of(output, y).exp();
        }
        if self.family().duration().is_some() && y < 0.0 {
            return self.cdf(output, -y) + share * self.probability_above(output, -y);
        }
        self.cdf(output, y)
    }

    /// The probabilities of the counts `first`, `first` + 1, …, so many of them.
    ///
    /// # Panics
    /// If the target is no count, or none is asked for.
    #[track_caller]
    pub fn probabilities_from(&self, first: f64, count: usize) -> Vec<f64> {
        assert!(self.family().is_count() && count > 0, "probabilities of counts");
        let mut sums = vec![0.0; count];
        self.add_probabilities(1.0, first, &mut sums);
        sums
    }

    /// By the probabilities of all counts, where these are few, which is quickest.
    fn quantile_of_count(&self, probability: f64) -> f64 {
        /// Most counts.
        const MOST: f64 = 2048.0;
        let (mean, sd) = (self.mean(0).unwrap_or(1.0), self.sd(0).unwrap_or(f64::INFINITY));
        let most = mean + 8.0 * (sd + 1.0);
        if probability > 0.0 && probability < 1.0 && most < MOST {
            let mut below = 0.0;
            for (y, p) in self.probabilities_from(0.0, most as usize + 1).iter().enumerate() {
                below += p;
                if below >= probability {
                    return y as f64;
                }
            }
        }
        least_count(probability, mean, |y| self.cdf(0, y))
    }

    pub(super) fn add_probabilities(&self, share: f64, first: f64, sums: &mut [f64]) {
        either!(self, it => it.add_probabilities(share, first, sums));
    }

    /// The y with P(output ≤ y) = `probability`, to some 1e-12 of the local scale in both tails;
    /// ∓∞ at 0 and 1, NaN beyond. Of a count the least number with P(output ≤ y) ≥ `probability`, from 0
    /// on.
    ///
    /// # Panics
    /// If there is no such output.
    #[track_caller]
    pub fn quantile(&self, output: usize, probability: f64) -> f64 {
        self.check(output);
        if self.family().is_count() {
            return self.quantile_of_count(probability);
        }
        match probability {
            p if !(0.0..=1.0).contains(&p) => f64::NAN,
            p if p <= 0.0 => match self.family().duration() {
                Some(_) => 0.0,
                None => f64::NEG_INFINITY,
            },
            p if p >= 1.0 => f64::INFINITY,
            // 1 - p is exact here.
            p if p > 0.5 => -self.lower_quantile(output, -1.0, 1.0 - p),
            p => self.lower_quantile(output, 1.0, p),
        }
    }

    /// The quantile for a probability of at most ½ of `sign` times the output.
    pub(super) fn lower_quantile(&self, output: usize, sign: f64, probability: f64) -> f64 {
        either!(self, it => it.lower_quantile(output, sign, probability))
    }

    /// P(`sign` × output ≤ x) and its density; of a count P(output ≤ x) or P(output > -x).
    pub(super) fn tail(&self, output: usize, sign: f64, x: f64) -> (f64, f64) {
        either!(self, it => it.tail(output, sign, x))
    }

    #[track_caller]
    fn check(&self, output: usize) {
        let outputs = self.family().outputs();
        assert!(output < outputs, "no output {output}: there are {outputs}");
    }
}
