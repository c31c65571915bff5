//! Let powers of prior and likelihood take the place of a posterior.

use std::ops::Range;

use crate::draws::Layout;
use crate::model::accelerator::AcceleratorError;
use crate::model::{Evaluator, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Sweep, Update};

/// A posterior whose chains sample prior^γ × likelihood^β [Fabricius 1999, §2.3.2]: with γ = 1, β or 1/β
/// ([`TemperingChoice`](crate::model::spec::TemperingChoice)).
///
/// β = 1 is the posterior. Towards 0 the data count less and the prior remains; beyond 1 they
/// count more than they are worth, until at large β only the maximum of the likelihood is left
/// (with γ = 1 the prior is between equals), or with γ = β the mode of the posterior. Neither is a posterior distribution: what is learned is too
/// little or too certain.
///
/// Draws and statistics are of the untempered model: `log_density` is log prior plus log
/// likelihood. They do not follow the density of that, so that it has no
/// [`StateDensity::density_slots`], no [`StateDensity::movable_slots`] and no evidence.
pub struct TemperedPosterior {
    posterior: Box<dyn Posterior>,
    /// The same model with the normalised prior^γ, unless γ is 1.
    raised: Option<Box<dyn Posterior>>,
    inverse_temperature: f64,
}

impl TemperedPosterior {
    /// `posterior` with its likelihood raised to the power `inverse_temperature`.
    pub fn new(posterior: Box<dyn Posterior>, inverse_temperature: f64) -> Self {
        TemperedPosterior { posterior, raised: None, inverse_temperature }
    }

    /// With prior^γ, normalised, in place of the prior: that of `raised`, the model of the same data
    /// and the same states.
    #[must_use]
    pub fn with_prior_of(mut self, raised: Box<dyn Posterior>) -> Self {
        assert_eq!(self.posterior.state_len(), raised.state_len(), "the same states");
        self.raised = Some(raised);
        self
    }

    /// What chains sample.
    fn sampled(&self) -> &dyn Posterior {
        self.raised.as_deref().unwrap_or(&*self.posterior)
    }
}

impl Posterior for TemperedPosterior {
    fn layout(&self) -> &Layout {
        self.posterior.layout()
    }

    fn rows(&self) -> usize {
        self.posterior.rows()
    }

    fn state_len(&self) -> usize {
        self.posterior.state_len()
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        self.posterior.row_parts()
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        self.sampled().start(stream)
    }

    /// At β times the temperature that is asked for.
    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        self.sampled().sweep(self.inverse_temperature * inverse_temperature)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        self.posterior.evaluator()
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.posterior.draw_prior(stream)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        self.posterior.predictor()
    }

    fn device_failure(&self) -> Option<&AcceleratorError> {
        self.posterior.device_failure()
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        self.posterior.tempering().map(|_| self as &dyn Tempering)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        self.posterior.state_density().map(|_| self as &dyn StateDensity)
    }
}

impl Tempering for TemperedPosterior {
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        self.sampled().prior_state(stream)
    }

    fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let beta = self.inverse_temperature * inverse_temperature;
        match self.sampled().tempering() {
            Some(model) => model.short_sweep(beta),
            None => self.sampled().sweep(beta),
        }
    }

    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        self.sampled().tempering()?.refresh(self.inverse_temperature * inverse_temperature)
    }
}

impl StateDensity for TemperedPosterior {
    /// None: its draws do not follow the density of the model.
    fn density_slots(&self) -> Option<Vec<usize>> {
        None
    }

    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        self.posterior.state_density()?.state_of(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};
    use crate::sample::Step;

    /// Can all that a posterior may, and tells at which temperature it was asked.
    struct Able(Layout);

    struct Asked(String);

    impl Update for Asked {
        fn name(&self) -> &str {
            &self.0
        }

        fn update(&mut self, _: &mut [f64], _: &mut Stream) -> Step {
            Step::default()
        }
    }

    fn asked<'p>(what: &str, beta: f64) -> Box<dyn Update + 'p> {
        Box::new(Asked(format!("{what} {beta}")))
    }

    impl Posterior for Able {
        fn layout(&self) -> &Layout {
            &self.0
        }

        fn rows(&self) -> usize {
            2
        }

        fn state_len(&self) -> usize {
            3
        }

        fn row_parts(&self) -> Vec<Range<usize>> {
            vec![1..3, 0..0]
        }

        fn start(&self, _: &mut Stream) -> Vec<f64> {
            vec![0.0; 3]
        }

        fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
            Sweep::new(vec![asked("sweep", inverse_temperature)])
        }

        fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
            unreachable!("nobody asks here")
        }

        fn tempering(&self) -> Option<&dyn Tempering> {
            Some(self)
        }

        fn state_density(&self) -> Option<&dyn StateDensity> {
            Some(self)
        }
    }

    impl Tempering for Able {
        fn short_sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
            Sweep::new(vec![asked("short sweep", inverse_temperature)])
        }

        fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
            Some(asked("refresh", inverse_temperature))
        }

        fn draw_prior_state(&self, _: &mut Stream) -> Option<Vec<f64>> {
            Some(vec![7.0])
        }
    }

    impl StateDensity for Able {
        fn density_slots(&self) -> Option<Vec<usize>> {
            Some(vec![0])
        }

        fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
            Some(draw.iter().map(|value| -value).collect())
        }
    }

    fn tempered() -> TemperedPosterior {
        TemperedPosterior::new(Box::new(Able(Layout::new())), 0.5)
    }

    #[test]
    fn parts_of_rows_are_those_of_the_model() {
        assert_eq!(tempered().row_parts(), [1..3, 0..0]);
    }

    #[test]
    fn temperatures_multiply() {
        let tempered = tempered();
        assert_eq!(tempered.sweep(0.5).names().collect::<Vec<_>>(), ["sweep 0.25"]);
        assert_eq!(tempered.short_sweep(0.5).names().collect::<Vec<_>>(), ["short sweep 0.25"]);
        assert_eq!(
            tempered.refresh(1.0).map(|it| it.name().to_string()),
            Some("refresh 0.5".into())
        );
    }

    #[test]
    fn states_of_draws_and_of_the_prior_are_those_of_the_model() {
        assert_eq!(tempered().state_of(&[1.0, 2.0]), Some(vec![-1.0, -2.0]));
        let stream = &mut Seed(1).stream(Purpose::Data, [0, 0]);
        assert_eq!(tempered().draw_prior_state(stream), Some(vec![7.0]));
    }

    /// Its draws do not follow exp(log prior + log likelihood).
    #[test]
    fn the_density_of_the_model_is_not_that_of_its_draws() {
        assert_eq!(tempered().density_slots(), None);
        assert!(tempered().movable_slots().is_empty());
    }
}
