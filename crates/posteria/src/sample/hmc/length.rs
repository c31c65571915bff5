//! Find in warm-up the length of trajectories that moves the farthest for its cost.

use std::ops::RangeInclusive;

use super::Metric;
use super::shortening::{Shortening, Verdict};
use super::trajectory::{Buffers, Place, Transition};
use crate::sample::memory::{ForeignMemory, MemoryReader};
use crate::target::LogDensity;

/// Every so many trajectories one is of twice the length, to see whether that is better. Seldom,
/// since most of them are wasted effort once the best length is reached.
const EXPLORE_EVERY: usize = 4;
/// Fewest trajectories before a length is changed.
const FEWEST_TRAJECTORIES: f64 = 8.0;
/// How many standard errors better a longer length must be. Few: half the best length costs a
/// random walk, twice the best only the doubled effort.
const LONGER_CLEARLY: f64 = 1.0;
/// How many standard errors better a shorter length must be.
const SHORTER_CLEARLY: f64 = 2.0;
/// Trajectories for which a length must be the best before it is judged by the features.
const SETTLED: f64 = 64.0;

/// Where the best length of trajectories is looked for, and by what it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct LengthSearch {
    /// Numbers of leapfrog steps.
    pub range: RangeInclusive<usize>,
    /// What a trajectory costs besides its steps, in leapfrog steps: energies, fresh momenta and
    /// the other updates of a sweep.
    pub overhead: f64,
    /// How many [`LogDensity::features`] the target has, if lengths are to be shortened where
    /// these are nearly independent already.
    pub features: Option<usize>,
}

impl LengthSearch {
    /// A search over `range` by how far the position moves, with nothing besides trajectories.
    pub fn over(range: RangeInclusive<usize>) -> Self {
        LengthSearch { range, overhead: 1.0, features: None }
    }
}

/// Halves and doubles the number L of leapfrog steps towards the largest
/// E[(|x' - m|² - |x - m|²)²] / (L + overhead), in coordinates where the metric is the identity, m the mean
/// position: the change of the squared distance from the centre, which sees the slowest
/// directions [Hoffman, Radul & Sountsov 2021].
///
/// A trajectory of n steps passes the places where ones of n/2, n/4, … steps would have ended,
/// so that lengths are compared on the same start and momentum, whose noise cancels.
///
/// A length that is settled so is then shortened where the features of the target allow it.
pub(super) struct Length {
    range: RangeInclusive<usize>,
    overhead: f64,
    shortening: Option<Shortening>,
    /// Trajectories since the length was changed.
    unchanged: f64,
    features: Vec<f64>,
    /// Mean position since the stage began, of so many trajectories.
    centre: Vec<f64>,
    count: f64,
    /// Twice the present length against it.
    doubling: Comparison,
    /// Its half, quarter, … against it.
    halvings: Vec<Comparison>,
    /// What the places on the latest trajectory are worth.
    rates: Vec<f64>,
}

/// Paired differences between another length and the present one: how much better the other is.
#[derive(Clone, Copy, Debug, Default)]
struct Comparison {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Comparison {
    fn add(&mut self, difference: f64) {
        self.count += 1.0;
        self.sum += difference;
        self.squares += difference * difference;
    }

    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Whether the other length is better by so many standard errors.
    fn is_better_by(&self, errors: f64) -> bool {
        let mean = self.mean();
        let variance = (self.squares / self.count - mean * mean).max(0.0) / self.count;
        self.count >= FEWEST_TRAJECTORIES && mean > errors * variance.sqrt()
    }
}

impl Length {
    pub(super) fn new(dim: usize, search: LengthSearch) -> Self {
        let LengthSearch { range, overhead, features } = search;
        assert!(*range.start() > 0 && range.start() <= range.end(), "lengths from 1 up");
        let halvings = range.end().ilog2() as usize;
        Length {
            range,
            overhead,
            shortening: features.map(|features| Shortening::new(features, overhead)),
            unchanged: 0.0,
            features: vec![0.0; features.unwrap_or(0)],
            centre: vec![0.0; dim],
            count: 0.0,
            doubling: Comparison::default(),
            halvings: vec![Comparison::default(); halvings],
            rates: Vec::with_capacity(halvings + 2),
        }
    }

    /// How many places a trajectory is to note.
    pub(super) fn places(&self) -> usize {
        self.rates.capacity()
    }

    /// The nearest length that is allowed.
    pub(super) fn within(&self, length: usize) -> usize {
        length.clamp(*self.range.start(), *self.range.end())
    }

    /// The length of the next trajectory: the present one, or every now and then twice that.
    pub(super) fn next(&self, present: usize) -> usize {
        let explores = !self.shortens() && (self.count as usize).is_multiple_of(EXPLORE_EVERY);
        if explores && self.range.contains(&(2 * present)) { 2 * present } else { present }
    }

    /// Whether the length has settled, so that it is judged by the features.
    fn shortens(&self) -> bool {
        self.unchanged >= SETTLED && self.shortening.as_ref().is_some_and(Shortening::is_ready)
    }

    /// Learns from a trajectory of the length `tried`; returns the length to go on with.
    pub(super) fn learn(
        &mut self,
        present: usize,
        tried: usize,
        buffers: &Buffers,
        (target, metric): (&mut dyn LogDensity, &mut Metric),
        transition: &Transition,
    ) -> usize {
        let shortens = self.shortens();
        if self.shortening.as_ref().is_some_and(Shortening::is_done) {
            return present;
        }
        if let Some(shortening) = &mut self.shortening
            && target.features(&buffers.start.point.position, &mut self.features).is_ok()
        {
            shortening.note(&self.features);
            if shortens {
                return self.shorten(present);
            }
        }
        let better = self.lengthen(present, tried, buffers, metric, transition);
        self.unchanged = if better == present { self.unchanged + 1.0 } else { 0.0 };
        better
    }

    fn shorten(&mut self, present: usize) -> usize {
        let Some(shortening) = &mut self.shortening else { return present };
        match shortening.observe(&self.features, present, *self.range.start()) {
            Verdict::Wait => present,
            Verdict::Take(length) => length,
            Verdict::Slow => {
                self.unchanged = 0.0;
                present
            }
        }
    }

    fn lengthen(
        &mut self,
        present: usize,
        tried: usize,
        buffers: &Buffers,
        metric: &mut Metric,
        transition: &Transition,
    ) -> usize {
        let start = &buffers.start.point.position;
        self.count += 1.0;
        for (mean, x) in self.centre.iter_mut().zip(start) {
            *mean += (x - *mean) / self.count;
        }
        if transition.infeasible.is_some() {
            return present;
        }
        let Length { centre, rates, doubling, halvings, overhead, .. } = self;
        let origin = metric.squared_distance(start, centre);
        // All lengths are judged with the acceptance at the end: what is not reached does not
        // count, and a trajectory that went astray says nothing.
        let mut rate = |place: &Place| {
            let change = metric.squared_distance(&place.position, centre) - origin;
            transition.acceptance * change * change / (place.steps as f64 + *overhead)
        };
        rates.clear();
        rates.extend(buffers.way.places.iter().take_while(|place| place.steps > 0).map(&mut rate));
        if rates.iter().any(|rate| !rate.is_finite()) {
            return present;
        }
        // On a trajectory of twice the length the present one is the second place.
        let own = usize::from(tried > present);
        let Some(&present_rate) = rates.get(own) else { return present };
        if own == 1 {
            doubling.add(rates[0] - present_rate);
        }
        for (halving, rate) in halvings.iter_mut().zip(&rates[own + 1..]) {
            halving.add(rate - present_rate);
        }
        let better = self.better(present);
        if better != present {
            self.forget();
        }
        better
    }

    /// Twice the present length if that is clearly better, else the best of those shorter ones
    /// that are clearly better, else the present one.
    fn better(&self, present: usize) -> usize {
        if self.doubling.is_better_by(LONGER_CLEARLY) {
            return self.within(2 * present);
        }
        let shorter = self.halvings.iter().enumerate();
        shorter
            .map(|(i, comparison)| (present >> (i + 1), comparison))
            .filter(|(length, comparison)| {
                self.range.contains(length) && comparison.is_better_by(SHORTER_CLEARLY)
            })
            .max_by(|a, b| a.1.mean().total_cmp(&b.1.mean()))
            .map_or(present, |(length, _)| length)
    }

    fn forget(&mut self) {
        self.doubling = Comparison::default();
        self.halvings.fill(Comparison::default());
    }

    /// Begins a stage: distances in another metric, or from another start, are not comparable.
    pub(super) fn restart(&mut self) {
        self.count = 0.0;
        self.unchanged = 0.0;
        self.centre.fill(0.0);
        self.forget();
        if let Some(shortening) = &mut self.shortening {
            shortening.restart();
        }
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.extend([self.count, self.unchanged]);
        memory.extend(&self.centre);
        for Comparison { count, sum, squares } in self.halvings.iter().chain([&self.doubling]) {
            memory.extend([count, sum, squares]);
        }
        if let Some(shortening) = &self.shortening {
            shortening.write(memory);
        }
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.count = memory.number()?;
        self.unchanged = memory.number()?;
        memory.fill(&mut self.centre)?;
        for comparison in self.halvings.iter_mut().chain([&mut self.doubling]) {
            *comparison = Comparison {
                count: memory.number()?,
                sum: memory.number()?,
                squares: memory.number()?,
            };
        }
        match &mut self.shortening {
            Some(shortening) => shortening.read(memory),
            None => Ok(()),
        }
    }
}
