//! Moments, distribution function and quantiles of one output of a mixture over draws.

use super::Family;
use super::draw_mixture::{DrawMixture, normal_density};
use super::family::Component;
use super::normal_plus_laplace::NormalPlusLaplace;
use super::normal_plus_student_t::NormalPlusStudentT;
use super::quantile::solve;
use crate::density::StudentT;
use crate::density::special::{normal_cdf, normal_quantile};

/// One draw in so many begins the search for a quantile, where that leaves at least a few.
const STRIDE: usize = 16;
const FEW: usize = 16;

impl DrawMixture<'_> {
    /// The mean of an output, Σ_s w_s E(y given draw s); `None` if it does not exist, as for a
    /// Student t with at most one degree of freedom.
    pub(super) fn mean(&self, output: usize) -> Option<f64> {
        if self.family.is_count() {
            return self.mean_count();
        }
        if self.family.duration().is_some() {
            return self.moment_of_duration(1.0);
        }
        let mut mean = 0.0;
        for (weight, parameters) in self.components() {
            let component = self.family.component(parameters, output);
            if component.dof <= 1.0 {
                return None;
            }
            // A convex combination: nothing overflows.
            mean += weight * component.location;
        }
        Some(mean)
    }

    /// The standard deviation of an output: its variance is the mean of the variances plus the
    /// variance of the means over draws. `None` if it is infinite, as for a Student t with at
    /// most two degrees of freedom in any draw.
    pub(super) fn sd(&self, output: usize) -> Option<f64> {
        if self.family.is_count() {
            return self.sd_of_count();
        }
        if self.family.duration().is_some() {
            return self.sd_of_duration();
        }
        let mean = self.mean(output)?;
        // Squares are taken relative to the largest term, so that none over- or underflows.
        let mut largest: f64 = 0.0;
        for (_, parameters) in self.components() {
            let component = self.family.component(parameters, output);
            if component.dof <= 2.0 {
                return None;
            }
            let spread = component.spread.max(component.scale);
            largest = largest.max(spread).max((component.location - mean).abs());
        }
        let mut sum = 0.0;
        for (weight, parameters) in self.components() {
            let component = self.family.component(parameters, output);
            let factor = match self.family {
                Family::Laplace { .. } | Family::NormalPlusLaplace { .. } => 2.0,
                Family::StudentT { .. } | Family::NormalPlusStudentT { .. }
                    if component.dof != f64::INFINITY =>
                {
                    component.dof / (component.dof - 2.0)
                }
                _ => 1.0,
            };
            let [within, function, between] =
                [component.scale, component.spread, component.location - mean]
                    .map(|deviation| (deviation / largest).powi(2));
            sum += weight * (factor * within + function + between);
        }
        Some(largest * sum.sqrt())
    }

    /// The quantile for a probability of at most ½ of `sign` times the output.
    pub(super) fn lower_quantile(&self, output: usize, sign: f64, probability: f64) -> f64 {
        if self.family.is_count() {
            unreachable!("counts have quantiles of their own");
        }
        if self.family.duration().is_some() {
            return self.lower_quantile_of_duration(sign, probability);
        }
        let mut dofs = (f64::INFINITY, 0.0_f64);
        if let Family::StudentT { .. } | Family::NormalPlusStudentT { .. } = self.family {
            for (_, parameters) in self.components() {
                let dof = self.family.component(parameters, output).dof;
                dofs = (dofs.0.min(dof), dofs.1.max(dof));
            }
        }
        // The quantile of a mixture lies between the least and the greatest of its components';
        // below the median those of a t move out as the degrees of freedom shrink. That of a sum
        // of symmetric unimodal variables lies beyond each of theirs, and not as far as the sum of
        // theirs for half the probability.
        let standard = Standard::new(self.family);
        let [far, near] = [dofs.0, dofs.1].map(|dof| standard.quantile(dof, probability));
        let halved = standard.quantile(dofs.0, 0.5 * probability);
        let normal = [probability, 0.5 * probability].map(normal_quantile);
        let mut bracket = (f64::INFINITY, f64::NEG_INFINITY);
        let mut start = 0.0;
        for (weight, parameters) in self.components() {
            let component = self.family.component(parameters, output);
            let Component { scale, spread, .. } = component;
            let location = sign * component.location;
            let mut ends = (location + scale * far, location + scale * near);
            // Where draws agree, the mean of the components' quantiles is nearly the answer.
            let mut guess = ends.1;
            if component.is_sum() {
                ends.0 = location + scale * halved + spread * normal[1];
                ends.1 = location + (scale * near).min(spread * normal[0]);
                guess = location - (scale * near).hypot(spread * normal[0]);
            }
            if weight.is_nan() || ends.0.is_nan() || ends.1.is_nan() {
                return f64::NAN;
            }
            bracket = (bracket.0.min(ends.0), bracket.1.max(ends.1));
            start += weight * guess;
        }
        if self.draws() >= FEW * STRIDE {
            // Nearer to the answer, at a fraction of the price of a step with all draws.
            let some = |x: f64| self.tail_of_some(output, sign, x, STRIDE);
            start = solve(probability, bracket, start, some);
        }
        solve(probability, bracket, start, |x| self.tail(output, sign, x))
    }

    /// P(`sign` × output ≤ x) and its density; of a count P(output ≤ x) or P(output > -x).
    pub(super) fn tail(&self, output: usize, sign: f64, x: f64) -> (f64, f64) {
        if self.family.is_count() {
            return (self.tail_of_count(sign, x), f64::NAN);
        }
        if self.family.duration().is_some() {
            return self.tail_of_duration(sign, x);
        }
        let mut standard = Standard::new(self.family);
        let (mut below, mut density) = (0.0, 0.0);
        for (weight, parameters) in self.components() {
            let (own, slope) = standard.of(parameters, output, sign, x);
            below += weight * own;
            density += weight * slope;
        }
        (below, density)
    }

    /// The same of one draw in `stride`; not a number if none of these has a weight.
    fn tail_of_some(&self, output: usize, sign: f64, x: f64, stride: usize) -> (f64, f64) {
        let mut standard = Standard::new(self.family);
        let (mut below, mut density, mut total) = (0.0, 0.0, 0.0);
        for (weight, parameters) in self.components().step_by(stride) {
            let (own, slope) = standard.of(parameters, output, sign, x);
            below += weight * own;
            density += weight * slope;
            total += weight;
        }
        (below / total, density / total)
    }
}

/// The distribution of an output at location 0.
struct Standard {
    family: Family,
    /// Those with the degrees of freedom last asked for: often those of the next draw too.
    student_t: Option<StudentT>,
    sum: Option<NormalPlusStudentT>,
}

impl Standard {
    fn new(family: Family) -> Self {
        Standard { family, student_t: None, sum: None }
    }

    /// Distribution function and density of `sign` times an output at `x`.
    fn of(&mut self, parameters: &[f64], output: usize, sign: f64, x: f64) -> (f64, f64) {
        let component = self.family.component(parameters, output);
        // All families are symmetric: mirroring only moves the location.
        self.at(&component, x - sign * component.location)
    }

    /// Distribution function and density at `x`.
    fn at(&mut self, component: &Component, x: f64) -> (f64, f64) {
        let Component { scale, spread, dof, .. } = *component;
        let nothing = (f64::NAN, f64::NAN);
        let z = x / scale;
        match self.family {
            Family::NormalPlusLaplace { .. } if component.is_sum() => {
                NormalPlusLaplace::new(spread, scale).at(x)
            }
            Family::NormalPlusStudentT { .. } if component.is_sum() => {
                let same = |sum: &NormalPlusStudentT| sum.dof().to_bits() == dof.to_bits();
                if !self.sum.as_ref().is_some_and(same) {
                    self.sum = NormalPlusStudentT::new(dof);
                }
                self.sum.map_or(nothing, |sum| sum.at(spread, scale, x))
            }
            Family::Laplace { .. } | Family::NormalPlusLaplace { .. } => {
                let half = 0.5 * (-z.abs()).exp();
                (if z < 0.0 { half } else { 1.0 - half }, half / scale)
            }
            Family::StudentT { .. } | Family::NormalPlusStudentT { .. } if dof != f64::INFINITY => {
                let same = |t: &StudentT| t.dof().to_bits() == dof.to_bits();
                if !self.student_t.as_ref().is_some_and(same) {
                    self.student_t = StudentT::new(0.0, 1.0, dof).ok();
                }
                self.student_t.map_or(nothing, |t| (t.cdf(z), t.log_density(z).exp() / scale))
            }
            _ => (normal_cdf(z), normal_density(z) / scale),
        }
    }

    /// The quantile at scale 1, without the normal part of a sum.
    fn quantile(&self, dof: f64, probability: f64) -> f64 {
        match self.family {
            Family::Laplace { .. } | Family::NormalPlusLaplace { .. } => (2.0 * probability).ln(),
            Family::StudentT { .. } | Family::NormalPlusStudentT { .. } if dof != f64::INFINITY => {
                StudentT::new(0.0, 1.0, dof).map_or(f64::NAN, |t| t.quantile(probability))
            }
            _ => normal_quantile(probability),
        }
    }
}
