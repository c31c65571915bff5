//! Draw what predictions are made of at new rows: functions, and targets.

use posteria_linalg::Matrix;

use super::replicates::draw_rows;
use super::{PosteriorPredictive, PredictError};
use crate::random::{Purpose, Stream};

/// Draws that one job evaluates.
const DRAWS: usize = 16;

impl PosteriorPredictive<'_> {
    /// The functions f at the rows of `inputs`, of so many evenly chosen draws of every chain: draw
    /// after draw, of each row after row the functions. What a draw leaves open is drawn jointly over
    /// all rows, so that a line through them is one function.
    ///
    /// # Errors
    /// [`PredictError`] if the work was cancelled.
    pub fn draw_functions(
        &self,
        inputs: &Matrix,
        per_chain: usize,
    ) -> Result<Vec<f64>, PredictError> {
        let width = inputs.rows() * self.family.functions();
        self.each_draw("functions", Purpose::Functions, (per_chain, width), || {
            let mut predictor = self.predictor();
            move |draw: &[f64], stream: &mut Stream, place: &mut [f64]| {
                predictor.draw_functions(draw, inputs, stream, place);
            }
        })
    }

    /// New targets at the rows of `inputs`, of so many evenly chosen draws of every chain: draw after
    /// draw, of each row after row the targets; classes as their indices. Every row by itself given a
    /// draw.
    ///
    /// # Errors
    /// [`PredictError`] if the work was cancelled.
    pub fn draw_targets(
        &self,
        inputs: &Matrix,
        per_chain: usize,
    ) -> Result<Vec<f64>, PredictError> {
        let width = inputs.rows() * self.family.targets();
        let of_rows = inputs.rows() * self.family.width();
        let linearised = self.linearised.as_ref().map(|it| (it.family(), it.parameters(inputs)));
        self.each_draw("targets", Purpose::Replicates, (per_chain, width), || {
            let mut predictor = self.predictor();
            let mut parameters = vec![0.0; of_rows];
            let linearised = &linearised;
            move |draw: &[f64], stream: &mut Stream, place: &mut [f64]| match linearised {
                Some((family, parameters)) => draw_rows(*family, parameters, stream, place),
                None => {
                    predictor.at(draw, inputs, &mut parameters);
                    draw_rows(self.family, &parameters, stream, place);
                }
            }
        })
    }

    /// `width` numbers of each of these draws, which what `worker` makes for a job writes.
    fn each_draw<W: FnMut(&[f64], &mut Stream, &mut [f64])>(
        &self,
        what: &str,
        purpose: Purpose,
        (per_chain, width): (usize, usize),
        worker: impl Fn() -> W + Sync,
    ) -> Result<Vec<f64>, PredictError> {
        let draws = self.draws.draws;
        let per_chain = per_chain.min(draws);
        let total = self.draws.chains * per_chain;
        if width == 0 {
            return Ok(Vec::new());
        }
        let values = self.workers.run(what, total.div_ceil(DRAWS), |job| {
            let mut write = worker();
            let numbers = job * DRAWS..total.min((job + 1) * DRAWS);
            let mut values = vec![0.0; numbers.len() * width];
            for (number, place) in numbers.zip(values.chunks_exact_mut(width)) {
                let (chain, index) = (number / per_chain, number % per_chain);
                // Evenly, up to the last draw of the chain.
                let draw = (index + 1) * draws / per_chain - 1;
                // Named by the draw, so that it does not matter who draws how many.
                let stream = &mut self.seed.stream(purpose, [(chain * draws + draw) as u64, 0]);
                write(self.draws.draw(chain, draw), stream, place);
            }
            values
        })?;
        Ok(values.concat())
    }
}
