//! What a linear model can do beside being sampled and predicting: tempering, and its density.

use super::coefficients::GroupScale;
use super::posterior::{Likelihood, LinearPosterior};
use super::updates::ResidualUpdate;
use crate::model::{Posterior, StateDensity, Tempering};
use crate::random::Stream;
use crate::sample::Update;

impl Tempering for LinearPosterior {
    fn draw_prior_state(&self, stream: &mut Stream) -> Option<Vec<f64>> {
        if !self.has_prior() {
            return None;
        }
        let mut state = vec![0.0; self.state_len()];
        self.coefficients.draw_prior(&mut state, stream);
        if let Likelihood::Real(regression) = &self.likelihood {
            let residual = &regression.residual;
            residual.draw_prior(&mut state, stream);
            residual.draw_case_variances(&mut state, stream);
            if let Some(conjugate) = &regression.conjugate {
                for output in 0..self.coefficients.outputs {
                    let log_scale = residual.log_scale(&state, output * residual.rows);
                    let scale = log_scale.exp() / conjugate.rho.sqrt();
                    for at in self.coefficients.of_output(output) {
                        state[at] = scale * stream.normal();
                    }
                }
            }
        }
        if let Likelihood::Outcomes(outcomes) = &self.likelihood {
            outcomes.draw_prior(&mut state, stream);
        }
        if let Some(selection) = &self.coefficients.selection {
            selection.draw_prior(&mut state, stream);
        }
        Some(state)
    }

    fn refresh<'p>(&'p self, inverse_temperature: f64) -> Option<Box<dyn Update + 'p>> {
        match &self.likelihood {
            Likelihood::Real(regression) if regression.residual.cases.is_some() => {
                let (x, beta) = (&self.x, inverse_temperature);
                Some(Box::new(ResidualUpdate::new(x, regression, &self.coefficients, beta)))
            }
            _ => None,
        }
    }
}

impl StateDensity for LinearPosterior {
    fn density_slots(&self) -> Option<Vec<usize>> {
        let mut slots: Vec<usize> = (0..self.coefficients.state_len).collect();
        if let Likelihood::Real(regression) = &self.likelihood {
            slots.extend(regression.residual.density_slots()?);
        }
        if let Likelihood::Outcomes(outcomes) = &self.likelihood {
            slots.extend(outcomes.slots());
        }
        Some(slots)
    }

    fn state_of(&self, draw: &[f64]) -> Option<Vec<f64>> {
        let LinearPosterior { coefficients, likelihood, user, .. } = self;
        if coefficients.selection.is_some() {
            return None;
        }
        let mut state = vec![0.0; self.state_len()];
        let mut next = user.read(draw, &mut state[..coefficients.count]);
        let mut take = || {
            next += 1;
            draw[next - 1]
        };
        for group in &coefficients.groups {
            if let GroupScale::Sampled(slot, _) = group.scale {
                state[slot] = take().ln();
            }
        }
        if let Likelihood::Real(regression) = likelihood {
            regression.residual.restore(take, &user.targets, &mut state);
        } else if let Likelihood::Outcomes(outcomes) = likelihood {
            let height = if outcomes.are_ordered() { user.height(draw) } else { 0.0 };
            outcomes.restore(take, height, &mut state);
        }
        Some(state)
    }

    fn movable_slots(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = (0..self.coefficients.state_len).collect();
        if let Likelihood::Real(regression) = &self.likelihood {
            slots.extend(regression.residual.movable_slots());
        }
        if let Likelihood::Outcomes(outcomes) = &self.likelihood {
            slots.extend(outcomes.slots());
        }
        slots
    }

    fn exact_log_evidence(&self) -> Option<f64> {
        self.log_evidence()
    }
}
