//! A weighted mixture over draws: what one model says about a row.

use super::Family;
use super::count::CountComponent;
use super::duration::DurationComponent;
use super::family::Component;
use super::mixture::LogSum;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp, logistic};
use crate::density::{Laplace, StudentT};
use crate::random::Stream;

/// p(y) = Σ_s w_s p(y given draw s). Draws of weight zero are never looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawMixture<'a> {
    pub(super) family: Family,
    parameters: &'a [f64],
    log_weights: Option<&'a [f64]>,
    /// Logarithm of the sum of the weights.
    log_total: f64,
}

impl<'a> DrawMixture<'a> {
    /// The mixture with equal weights; `parameters` holds [`Family::width`] numbers per draw.
    #[track_caller]
    pub(super) fn new(family: Family, parameters: &'a [f64]) -> Self {
        let width = family.width();
        assert!(width > 0 && !parameters.is_empty(), "a mixture has draws with parameters");
        assert_eq!(parameters.len() % width, 0, "{width} parameters per draw");
        let log_total = ((parameters.len() / width) as f64).ln();
        DrawMixture { family, parameters, log_weights: None, log_total }
    }

    /// The mixture with weights proportional to exp(`log_weights`), which may have any common
    /// offset; -∞ is a weight of zero.
    #[track_caller]
    pub(super) fn weighted(family: Family, parameters: &'a [f64], log_weights: &'a [f64]) -> Self {
        let equal = DrawMixture::new(family, parameters);
        assert_eq!(equal.draws(), log_weights.len(), "one weight per draw");
        let log_total = log_sum_exp(log_weights);
        DrawMixture { log_weights: Some(log_weights), log_total, ..equal }
    }

    pub(super) fn family(&self) -> Family {
        self.family
    }

    /// Number of draws.
    pub(super) fn draws(&self) -> usize {
        self.parameters.len() / self.family.width()
    }

    /// Logarithm of the joint density of all outputs at `observed`; for classes, of the
    /// probability of the class with index `observed[0]` (-∞ if there is no such class). Of a
    /// row without target, the log density of the row, and nothing is observed.
    #[track_caller]
    pub(super) fn log_density(&self, observed: &[f64]) -> f64 {
        if self.family.is_density() {
            assert_eq!(observed.len(), 0, "no target");
            return self.log_mixture(log_sum_exp);
        }
        if self.family.classes() > 0 {
            assert_eq!(observed.len(), 1, "one class");
            let class = observed[0] as usize;
            let is_class =
                class < self.family.classes() && (class as f64 - observed[0]).abs() <= 0.0;
            return if is_class { self.log_probability(class) } else { f64::NEG_INFINITY };
        }
        assert_eq!(observed.len(), self.family.outputs(), "one number per output");
        let mut workspace = vec![0.0; observed.len()];
        self.log_mixture(|parameters| self.family.log_density(parameters, observed, &mut workspace))
    }

    /// Logarithm of the density at `y` of one output alone.
    #[track_caller]
    pub(super) fn log_density_of(&self, output: usize, y: f64) -> f64 {
        self.log_mixture(|parameters| {
            self.family.log_density_of(self.family.component(parameters, output), y)
        })
    }

    /// Logarithm of the probability of a class.
    #[track_caller]
    pub(super) fn log_probability(&self, class: usize) -> f64 {
        assert!(class < self.family.classes(), "no class {class}");
        if self.family.is_density() {
            // p(k given x) = p(x, k) / p(x), both averaged over draws: a draw under which the
            // row is likely says more about its component.
            return self.log_mixture(|parameters| parameters[class]) - self.log_density(&[]);
        }
        self.log_mixture(|parameters| self.family.log_probability(parameters, class))
    }

    /// Writes the probability of every class; they sum to 1.
    #[track_caller]
    pub(super) fn probabilities(&self, probabilities: &mut [f64]) {
        let classes = self.family.classes();
        assert_eq!(probabilities.len(), classes, "one place per class");
        if self.family.is_density() {
            let each = probabilities.iter_mut().enumerate();
            each.for_each(|(class, slot)| *slot = self.log_probability(class).exp());
            return;
        }
        probabilities.fill(0.0);
        for (weight, parameters) in self.components() {
            if let Family::Bernoulli = self.family {
                // Each from its own side: neither is 1 minus a rounded number.
                probabilities[0] += weight * logistic(-parameters[0]);
                probabilities[1] += weight * logistic(parameters[0]);
                continue;
            }
            let total = log_sum_exp(parameters);
            for (slot, value) in probabilities.iter_mut().zip(parameters) {
                *slot += weight * (value - total).exp();
            }
        }
    }

    /// Writes a draw of the target: one number per output, or the index of a class.
    #[track_caller]
    pub(super) fn draw(&self, stream: &mut Stream, target: &mut [f64]) {
        let parameters = self.draw_component(stream);
        if self.family.classes() > 0 {
            assert_eq!(target.len(), 1, "one place for the class");
            let mut remaining = stream.uniform();
            let last = self.family.classes() - 1;
            // What rounding leaves of 1 falls to the last class.
            let drawn = (0..last).find(|class| {
                remaining -= self.family.log_probability(parameters, *class).exp();
                remaining < 0.0
            });
            target[0] = drawn.unwrap_or(last) as f64;
            return;
        }
        assert_eq!(target.len(), self.family.outputs(), "one place per output");
        if let Family::MultivariateNormal { outputs } = self.family {
            let (means, factor) = parameters.split_at(outputs);
            stream.fill_normal(target);
            // From the last row up: y_o = mean_o + Σ_j≤o L_oj z_j overwrites z_o only.
            for output in (0..outputs).rev() {
                let row = &factor[output * (output + 1) / 2..][..=output];
                let spread: f64 = row.iter().zip(&target[..]).map(|(l, z)| l * z).sum();
                target[output] = means[output] + spread;
            }
            return;
        }
        for (output, slot) in target.iter_mut().enumerate() {
            let component = self.family.component(parameters, output);
            if self.family.is_count() {
                *slot = CountComponent::new(&component).draw(stream);
                continue;
            }
            if let Some(family) = self.family.duration() {
                *slot = DurationComponent::new(family, &component).draw(stream);
                continue;
            }
            let Component { scale, spread, dof, .. } = component;
            let mut location = component.location;
            if component.is_sum() {
                location += spread * stream.normal();
            }
            *slot = match self.family {
                Family::StudentT { .. } | Family::NormalPlusStudentT { .. }
                    if dof != f64::INFINITY =>
                {
                    StudentT::new(location, scale, dof).map_or(f64::NAN, |t| t.draw(stream))
                }
                Family::Laplace { .. } | Family::NormalPlusLaplace { .. } => {
                    Laplace::new(location, scale).map_or(f64::NAN, |it| it.draw(stream))
                }
                _ => location + scale * stream.normal(),
            };
        }
    }

    /// The parameters of a draw chosen by its weight.
    #[track_caller]
    fn draw_component(&self, stream: &mut Stream) -> &'a [f64] {
        let width = self.family.width();
        if self.log_weights.is_none() {
            return &self.parameters[stream.index(self.draws()) * width..][..width];
        }
        let mut remaining = stream.uniform();
        let mut last = None;
        for (weight, parameters) in self.components() {
            last = Some(parameters);
            remaining -= weight;
            if remaining < 0.0 {
                break;
            }
        }
        last.expect("some draw has a positive weight")
    }

    /// Weight and parameters of every draw that counts; the weights sum to 1.
    pub(super) fn components(&self) -> impl Iterator<Item = (f64, &'a [f64])> {
        let equal = (-self.log_total).exp();
        let (log_weights, log_total) = (self.log_weights, self.log_total);
        let each = self.parameters.chunks_exact(self.family.width()).enumerate();
        each.filter_map(move |(draw, parameters)| {
            let weight = log_weights.map_or(equal, |logs| (logs[draw] - log_total).exp());
            // NaN passes, and shows in the result.
            if weight.abs() <= 0.0 { None } else { Some((weight, parameters)) }
        })
    }

    /// log Σ_s w_s exp(term of draw s).
    fn log_mixture(&self, mut term: impl FnMut(&'a [f64]) -> f64) -> f64 {
        let mut sum = LogSum::EMPTY;
        for (draw, parameters) in self.parameters.chunks_exact(self.family.width()).enumerate() {
            match self.log_weights.map_or(0.0, |logs| logs[draw]) {
                f64::NEG_INFINITY => {}
                log_weight => sum.add(log_weight + term(parameters)),
            }
        }
        sum.value() - self.log_total
    }
}

/// Density of the standard normal distribution.
pub(super) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z - LOG_SQRT_2PI).exp()
}
