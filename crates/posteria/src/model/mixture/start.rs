//! Start climbs from divisions of the rows, and keep the best.

use super::ascent::{Ascent, Prior};
use crate::density::ParameterError;
use crate::random::{Purpose, Seed, Stream};

/// Climbs from every number of occupied components.
const CLIMBS_PER_NUMBER: usize = 2;
/// Different numbers of occupied components that are tried, at most.
const NUMBERS: usize = 10;
/// Rows on which starts are compared, at most; the best goes on on all.
const COMPARED_ROWS: usize = 4000;
/// Rounds of k-means that improve a division.
const ROUNDS: usize = 5;

/// The best climb of several, whose number of components at first goes from all to one: a climb
/// empties superfluous components but hardly ever fills an empty one.
pub(super) fn best<'a>(
    rows: &'a [f64],
    prior: &'a Prior,
    seed: Seed,
) -> Result<(Ascent<'a>, usize), ParameterError> {
    let dim = prior.component.dim();
    let count = rows.len() / dim;
    // Evenly spaced, so that sorted tables are well represented.
    let compared: Vec<f64> = match count > COMPARED_ROWS {
        true => (0..COMPARED_ROWS)
            .flat_map(|index| &rows[index * count / COMPARED_ROWS * dim..][..dim])
            .copied()
            .collect(),
        false => Vec::new(),
    };
    let few: &[f64] = if compared.is_empty() { rows } else { &compared };
    let numbers = prior.components.min(NUMBERS);
    let mut best: Option<(f64, Vec<usize>)> = None;
    let climbs = numbers * CLIMBS_PER_NUMBER;
    for climb in 0..climbs {
        // From all components down to one, spread over what there is.
        let step = climb / CLIMBS_PER_NUMBER;
        let occupied = (numbers - step) * prior.components / numbers;
        let mut stream = seed.stream(Purpose::Start, [climb as u64, 0]);
        let assignment = division(few, dim, occupied.max(1), &mut stream);
        let bound = Ascent::from_assignment(few, prior, &assignment)?.climb()?.bound();
        if best.as_ref().is_none_or(|(highest, _)| bound > *highest) {
            best = Some((bound, assignment));
        }
    }
    let (_, assignment) = best.expect("at least one climb");
    // Only divisions are kept of the climbs: parameters of many components are large.
    let ascent = match compared.is_empty() {
        true => Ascent::from_assignment(rows, prior, &assignment)?,
        false => climb_few(&compared, rows, prior, &assignment)?,
    };
    Ok((ascent.climb()?, climbs))
}

/// Climbs on few rows, then goes on on all.
fn climb_few<'a>(
    few: &[f64],
    rows: &'a [f64],
    prior: &'a Prior,
    assignment: &[usize],
) -> Result<Ascent<'a>, ParameterError> {
    let found = Ascent::from_assignment(few, prior, assignment)?.climb()?;
    let (concentrations, components) = (found.concentrations, found.components);
    Ascent::from_parameters(rows, prior, concentrations, components)
}

/// Divides the rows among at most `number` components: centres far from each other
/// [k-means++, Arthur & Vassilvitskii 2007], then rounds of k-means.
fn division(rows: &[f64], dim: usize, number: usize, stream: &mut Stream) -> Vec<usize> {
    let count = rows.len() / dim;
    let row = |index: usize| &rows[index * dim..][..dim];
    let mut centres = row(stream.index(count)).to_vec();
    let mut nearest: Vec<f64> = rows.chunks(dim).map(|x| square(x, &centres)).collect();
    while centres.len() < number * dim {
        let total: f64 = nearest.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            // All rows are centres already.
            break;
        }
        let mut remaining = stream.uniform() * total;
        let chosen = nearest.iter().position(|distance| {
            remaining -= distance;
            remaining < 0.0
        });
        let centre = row(chosen.unwrap_or(count - 1)).to_vec();
        for (slot, x) in nearest.iter_mut().zip(rows.chunks(dim)) {
            *slot = slot.min(square(x, &centre));
        }
        centres.extend(centre);
    }
    let mut assignment = assign(rows, dim, &centres);
    for _ in 0..ROUNDS {
        let mut counts = vec![0.0; centres.len() / dim];
        let mut sums = vec![0.0; centres.len()];
        for (x, component) in rows.chunks(dim).zip(&assignment) {
            counts[*component] += 1.0;
            sums[component * dim..][..dim].iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        }
        for ((centre, sum), count) in
            centres.chunks_mut(dim).zip(sums.chunks(dim)).zip(&counts).filter(|(_, c)| **c > 0.0)
        {
            centre.iter_mut().zip(sum).for_each(|(slot, sum)| *slot = sum / count);
        }
        assignment = assign(rows, dim, &centres);
    }
    assignment
}

/// The nearest centre of every row, the first of equals.
fn assign(rows: &[f64], dim: usize, centres: &[f64]) -> Vec<usize> {
    let nearest = |x: &[f64]| {
        let distances = centres.chunks(dim).map(|centre| square(x, centre)).enumerate();
        let first = (0, f64::INFINITY);
        distances.fold(first, |best, next| if next.1 < best.1 { next } else { best }).0
    };
    rows.chunks(dim).map(nearest).collect()
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}
