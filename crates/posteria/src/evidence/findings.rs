//! What was found about the evidence of a model.

use serde::{Deserialize, Serialize};

use super::{Directions, LogEvidence, RungSummary};
use crate::caution::Caution;

/// What was found about the evidence of one model.
pub struct EvidenceFindings {
    /// One estimate per method, the one that counts first.
    pub estimates: Vec<LogEvidence>,
    /// Path sampling by single chains.
    pub directions: Option<Directions>,
    /// Rungs of the ladder.
    pub rungs: Vec<RungSummary>,
    /// Journeys to the prior and back, over all ladders.
    pub round_trips: u64,
    /// Methods that disagree.
    pub cautions: Vec<Caution>,
}

/// Energy at one temperature, by the ladder and by single chains in both directions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CurveRung {
    /// By the ladder.
    #[serde(flatten)]
    pub rung: RungSummary,
    /// Mean energy of the chain from the prior.
    pub forward_mean: Option<f64>,
    /// Its standard deviation.
    pub forward_sd: Option<f64>,
    /// Mean energy of the chain back to the prior.
    pub backward_mean: Option<f64>,
    /// Its standard deviation.
    pub backward_sd: Option<f64>,
}

impl EvidenceFindings {
    /// The estimate that counts.
    pub fn main(&self) -> &LogEvidence {
        &self.estimates[0]
    }

    /// Energy against temperature.
    pub fn curve(&self) -> Vec<CurveRung> {
        let both = self.directions.as_ref();
        let up = both.map(|both| both.forward_energies.curve());
        let down = both.map(|both| both.backward_energies.curve());
        let rung = |(k, rung): (usize, &RungSummary)| CurveRung {
            rung: *rung,
            forward_mean: up.as_ref().map(|up| up[k].mean),
            forward_sd: up.as_ref().map(|up| up[k].sd),
            backward_mean: down.as_ref().map(|down| down[k].mean),
            backward_sd: down.as_ref().map(|down| down[k].sd),
        };
        self.rungs.iter().enumerate().map(rung).collect()
    }
}
