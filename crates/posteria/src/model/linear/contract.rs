//! What chains, their store and predictions ask of every posterior.

use std::ops::Range;

use super::coefficients::GroupScale;
use super::evaluator::LinearEvaluator;
use super::input_sets::{ConjugateSet, RegressionSet};
use super::logistic::Logistic;
use super::posterior::{Conjugate, Likelihood, LinearPosterior, closed_forms};
use super::predictor::LinearPredictor;
use super::softmax::Softmax;
use super::updates::{ConjugateUpdate, ResidualUpdate, ScalesUpdate};
use super::weights::WeightsUpdate;
use crate::draws::Layout;
use crate::model::selection::Jump;
use crate::model::{Evaluator, Posterior, StateDensity, Tempering};
use crate::predict::Predictor;
use crate::random::Stream;
use crate::sample::{Sweep, Update};

impl Posterior for LinearPosterior {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.x.rows()
    }

    fn state_len(&self) -> usize {
        match (&self.coefficients.selection, &self.likelihood) {
            (Some(selection), _) => selection.slots.end,
            (None, Likelihood::Real(regression)) => regression.residual.end,
            (None, Likelihood::Outcomes(outcomes)) => outcomes.end,
            (None, _) => self.coefficients.state_len,
        }
    }

    fn row_parts(&self) -> Vec<Range<usize>> {
        match &self.likelihood {
            Likelihood::Real(regression) => regression.residual.cases.clone().into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Scales about the middle of their priors, coefficients about zero.
    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut state = vec![0.0; self.state_len()];
        for group in &self.coefficients.groups {
            let scale = match group.scale {
                GroupScale::Fixed(scale) => scale,
                GroupScale::Sampled(slot, prior) => {
                    state[slot] = prior.conjugate().scale().ln() + stream.normal();
                    state[slot].exp()
                }
            };
            for slot in &mut state[group.members.clone()] {
                *slot = scale.min(1.0) * stream.normal();
            }
        }
        if let Likelihood::Real(regression) = &self.likelihood {
            regression.residual.start(&mut state, stream);
            regression.residual.start_cases(&mut state);
        }
        if let Likelihood::Outcomes(outcomes) = &self.likelihood {
            outcomes.start(&mut state, stream);
        }
        if let Some(selection) = &self.coefficients.selection {
            selection.draw_prior(&mut state, stream);
        }
        state
    }

    fn sweep<'p>(&'p self, inverse_temperature: f64) -> Sweep<'p> {
        let coefficients = &self.coefficients;
        let mut updates: Vec<Box<dyn Update + 'p>> = Vec::new();
        match &self.likelihood {
            Likelihood::Real(regression) => {
                if let (Some(conjugate), Some(selection)) =
                    (&regression.conjugate, &coefficients.selection)
                {
                    let x = &self.x;
                    let weights = || {
                        ConjugateSet::new(
                            (x, regression),
                            conjugate,
                            coefficients,
                            inverse_temperature,
                        )
                    };
                    return Sweep::new(vec![
                        Box::new(Jump::new(selection, weights())),
                        Box::new(weights()),
                    ]);
                }
                if let Some(Conjugate { rho, variance, .. }) = regression.conjugate {
                    let (residual, prior) = (&regression.residual, (rho, variance));
                    let exact = closed_forms(&self.x, residual, prior, inverse_temperature);
                    return Sweep::new(vec![Box::new(ConjugateUpdate::new(exact, coefficients))]);
                }
                let (x, beta) = (&self.x, inverse_temperature);
                if let Some(selection) = &coefficients.selection {
                    let weights = WeightsUpdate::new(x, regression, coefficients, beta);
                    updates.push(Box::new(Jump::new(selection, RegressionSet { weights })));
                }
                updates.push(Box::new(WeightsUpdate::new(x, regression, coefficients, beta)));
                updates.push(Box::new(ResidualUpdate::new(x, regression, coefficients, beta)));
            }
            Likelihood::Logistic(signs) => {
                let likelihood = || Logistic::new(&self.x, signs);
                self.class_updates(likelihood, inverse_temperature, &mut updates);
            }
            Likelihood::Softmax { codes, classes } => {
                let likelihood = || Softmax::new(&self.x, codes, *classes);
                self.class_updates(likelihood, inverse_temperature, &mut updates);
            }
            Likelihood::Outcomes(outcomes) => {
                updates.extend(self.outcome_updates(outcomes, inverse_temperature));
            }
        }
        if coefficients.state_len > coefficients.count {
            updates.push(Box::new(ScalesUpdate { coefficients }));
        }
        Sweep::new(updates)
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(LinearEvaluator::new(self))
    }

    fn draw_prior(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        let state = self.draw_prior_state(stream)?;
        let mut draw = vec![0.0; self.layout.len()];
        LinearEvaluator::new(self).write(&state, &mut draw);
        Some(draw)
    }

    fn predictor<'p>(&'p self) -> Option<Box<dyn Predictor + 'p>> {
        Some(Box::new(LinearPredictor::new(self)))
    }

    fn tempering(&self) -> Option<&dyn Tempering> {
        Some(self)
    }

    fn state_density(&self) -> Option<&dyn StateDensity> {
        Some(self)
    }
}
