//! Make a posterior of a user's own density and kernel.

use std::sync::Arc;

use super::{Evaluator, KernelFactory, ModelError, Posterior};
use crate::draws::Layout;
use crate::random::Stream;
use crate::sample::{Block, Kernel, Sweep, Unconditional};
use crate::target::{Infeasible, LogDensity, PriorTimesLikelihood, Tempered, Terms};

type DensityFactory<'a> = Box<dyn Fn() -> Box<dyn LogDensity + Send + 'a> + Send + Sync + 'a>;
type ProductFactory<'a> =
    Box<dyn Fn() -> Box<dyn PriorTimesLikelihood + Send + 'a> + Send + Sync + 'a>;
type Start<'a> = Box<dyn Fn(&mut Stream) -> Vec<f64> + Send + Sync + 'a>;

/// A user's own density as a [`Posterior`]: one block, one kernel; a draw is the position.
///
/// The density is given as a closure that builds it, because every chain owns one (with its
/// buffers). A chain starts uniformly between -2 and 2 in every component unless
/// [`Custom::with_start`] says otherwise.
///
/// ```
/// use posteria::fit::fit;
/// use posteria::model::Custom;
/// use posteria::random::Seed;
/// use posteria::sample::hmc::{Nuts, NutsOptions};
/// use posteria::sample::{Kernel, Plan};
/// use posteria::target::{Infeasible, LogDensity};
///
/// /// A normal density with mean 3 and standard deviation 1 in two independent components.
/// struct Normal;
///
/// impl LogDensity for Normal {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
///         let squares: f64 = x.iter().map(|x| (x - 3.0).powi(2)).sum();
///         Ok(-0.5 * squares - std::f64::consts::TAU.ln())
///     }
///     fn log_density_gradient(
///         &mut self,
///         x: &[f64],
///         gradient: &mut [f64],
///     ) -> Result<f64, Infeasible> {
///         for (gradient, x) in gradient.iter_mut().zip(x) {
///             *gradient = 3.0 - x;
///         }
///         self.log_density(x)
///     }
/// }
///
/// let kernel = |dim: usize| -> Box<dyn Kernel> { Box::new(Nuts::new(dim, NutsOptions::default())) };
/// let posterior = Custom::density(&["a", "b"], || Box::new(Normal), kernel)?;
/// let draws = fit(&posterior, &Plan::new(4, 200, 1000), Seed(1), 2.try_into()?)?;
/// let a: Vec<f64> = draws.component(0).concat();
/// let mean = a.iter().sum::<f64>() / a.len() as f64;
/// assert!((mean - 3.0).abs() < 0.2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Custom<'a> {
    layout: Layout,
    factory: Factory<'a>,
    kernel: KernelFactory<'a>,
    start: Start<'a>,
}

enum Factory<'a> {
    Density(DensityFactory<'a>),
    Product(ProductFactory<'a>),
}

impl<'a> Custom<'a> {
    /// A posterior from a bare log density with named components. Its terms count the whole
    /// density as prior, so an inverse temperature changes nothing.
    ///
    /// # Errors
    /// [`ModelError::Length`] if there is not one name per component, and
    /// [`ModelError::Duplicate`] if two are the same.
    pub fn density(
        names: &[&str],
        density: impl Fn() -> Box<dyn LogDensity + Send + 'a> + Send + Sync + 'a,
        kernel: impl Fn(usize) -> Box<dyn Kernel> + Send + Sync + 'a,
    ) -> Result<Self, ModelError> {
        let dim = density().dim();
        Custom::new(names, dim, Factory::Density(Box::new(density)), Arc::new(kernel))
    }

    /// A posterior from a product prior × likelihood with named components, which can be
    /// sampled at any inverse temperature.
    ///
    /// # Errors
    /// [`ModelError::Length`] if there is not one name per component, and
    /// [`ModelError::Duplicate`] if two are the same.
    pub fn prior_times_likelihood(
        names: &[&str],
        product: impl Fn() -> Box<dyn PriorTimesLikelihood + Send + 'a> + Send + Sync + 'a,
        kernel: impl Fn(usize) -> Box<dyn Kernel> + Send + Sync + 'a,
    ) -> Result<Self, ModelError> {
        let dim = product().dim();
        Custom::new(names, dim, Factory::Product(Box::new(product)), Arc::new(kernel))
    }

    fn new(
        names: &[&str],
        dim: usize,
        factory: Factory<'a>,
        kernel: KernelFactory<'a>,
    ) -> Result<Self, ModelError> {
        if names.len() != dim {
            let what = "names of the components of the density".into();
            return Err(ModelError::Length { what, expected: dim, found: names.len() });
        }
        let mut layout = Layout::new();
        for &name in names {
            if layout.variable(name).is_some() {
                return Err(ModelError::Duplicate { name: name.into() });
            }
            layout.push_scalar(name);
        }
        let start: Start<'a> =
            Box::new(move |stream| (0..dim).map(|_| 4.0 * stream.uniform() - 2.0).collect());
        Ok(Custom { layout, factory, kernel, start })
    }

    /// Chains start where `start` says. A start without a usable density is drawn again.
    ///
    /// # Panics
    /// A chain panics if `start` returns a position of another length than the density's.
    #[must_use]
    pub fn with_start(
        mut self,
        start: impl Fn(&mut Stream) -> Vec<f64> + Send + Sync + 'a,
    ) -> Self {
        self.start = Box::new(start);
        self
    }
}

impl Posterior for Custom<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        0
    }

    fn state_len(&self) -> usize {
        self.layout.len()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let start = (self.start)(stream);
        assert_eq!(start.len(), self.layout.len(), "a start has one value per component");
        start
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let target: Box<dyn LogDensity + Send + 'p> = match &self.factory {
            Factory::Density(density) => density(),
            Factory::Product(product) => {
                Box::new(Tempered { product: product(), inverse_temperature })
            }
        };
        let kernel = (self.kernel)(self.layout.len());
        Sweep::new(vec![Box::new(Block::new("position", 0, Unconditional(target), kernel))])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        match &self.factory {
            Factory::Density(density) => Box::new(DensityEvaluator(density())),
            Factory::Product(product) => Box::new(ProductEvaluator(product())),
        }
    }
}

struct DensityEvaluator<'p>(Box<dyn LogDensity + Send + 'p>);

impl Evaluator for DensityEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        _log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        draw.copy_from_slice(state);
        Ok(Terms { log_prior: self.0.log_density(state)?, log_likelihood: 0.0 })
    }
}

struct ProductEvaluator<'p>(Box<dyn PriorTimesLikelihood + Send + 'p>);

impl Evaluator for ProductEvaluator<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        _log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        draw.copy_from_slice(state);
        self.0.terms(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::special::LOG_SQRT_2PI;
    use crate::random::Seed;
    use crate::sample::hmc::{MetricKind, Nuts, NutsOptions};

    /// x ~ N(0, 1), one observation `y` ~ N(x, 1): the posterior at β is N(βy/(1+β), 1/(1+β)).
    struct OneMean {
        y: f64,
    }

    impl PriorTimesLikelihood for OneMean {
        fn dim(&self) -> usize {
            1
        }

        fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible> {
            let normal = |x: f64| -0.5 * x * x - LOG_SQRT_2PI;
            let x = position[0];
            Ok(Terms { log_prior: normal(x), log_likelihood: normal(self.y - x) })
        }

        fn terms_gradient(
            &mut self,
            position: &[f64],
            inverse_temperature: f64,
            gradient: &mut [f64],
        ) -> Result<Terms, Infeasible> {
            gradient[0] = -position[0] + inverse_temperature * (self.y - position[0]);
            self.terms(position)
        }
    }

    fn nuts(dim: usize) -> Box<dyn Kernel> {
        let metric = MetricKind::Unit;
        Box::new(Nuts::new(dim, NutsOptions { step_size: 1.0, metric, ..NutsOptions::default() }))
    }

    /// Mean of `values` and its standard error from means of 50 batches.
    fn mean_and_error(values: &[f64]) -> (f64, f64) {
        let means: Vec<f64> = values
            .chunks(values.len() / 50)
            .map(|batch| batch.iter().sum::<f64>() / batch.len() as f64)
            .collect();
        let mean = means.iter().sum::<f64>() / 50.0;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 49.0;
        (mean, (variance / 50.0).sqrt())
    }

    #[test]
    fn a_draw_is_the_position_with_both_terms() {
        let product = || -> Box<dyn PriorTimesLikelihood + Send> { Box::new(OneMean { y: 1.5 }) };
        let whole = || -> Box<dyn LogDensity + Send> {
            Box::new(Tempered { product: OneMean { y: 1.5 }, inverse_temperature: 1.0 })
        };
        let terms = OneMean { y: 1.5 }.terms(&[0.7]).unwrap();
        let alone = Terms { log_prior: terms.at(1.0), log_likelihood: 0.0 };
        for (posterior, expected) in [
            (Custom::prior_times_likelihood(&["x"], product, nuts).unwrap(), terms),
            (Custom::density(&["x"], whole, nuts).unwrap(), alone),
        ] {
            let mut draw = [0.0];
            let found = posterior.evaluator().evaluate(&[0.7], &mut draw, &mut []).unwrap();
            assert_eq!(draw[0].to_bits(), 0.7_f64.to_bits());
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_likelihood_counts_by_the_inverse_temperature() {
        let y = 3.0;
        let posterior =
            Custom::prior_times_likelihood(&["x"], || Box::new(OneMean { y }), nuts).unwrap();
        let mut stream = Seed(4).stream(crate::random::Purpose::Chain, [0, 0]);
        for (inverse_temperature, expected) in [(0.0, 0.0), (0.5, 1.0), (1.0, 1.5)] {
            let mut sweep = posterior.sweep(inverse_temperature);
            let mut state = posterior.start(&mut stream);
            let values: Vec<f64> = (0..4000)
                .map(|_| {
                    sweep.pass(&mut state, &mut stream);
                    state[0]
                })
                .collect();
            let (mean, error) = mean_and_error(&values);
            assert!(((mean - expected) / error).abs() < 4.5, "β = {inverse_temperature}: {mean}");
        }
    }

    #[test]
    fn names_must_fit_and_starts_are_obeyed() {
        let error =
            Custom::prior_times_likelihood(&["x", "y"], || Box::new(OneMean { y: 0.0 }), nuts);
        assert!(matches!(error.err(), Some(ModelError::Length { expected: 1, found: 2, .. })));
        let posterior =
            Custom::prior_times_likelihood(&["x"], || Box::new(OneMean { y: 0.0 }), nuts)
                .unwrap()
                .with_start(|_| vec![7.0]);
        let mut stream = Seed(1).stream(crate::random::Purpose::Start, [0, 0]);
        assert_eq!(posterior.start(&mut stream), [7.0]);
    }
}
