//! Shorten trajectories where the draws are nearly independent already.

use crate::sample::memory::{ForeignMemory, MemoryReader};

/// Trajectories of one length before it is judged.
const BLOCK: usize = 128;
/// Trajectories of a stage before any is judged: only a long history shows slow directions.
const HISTORY: f64 = 500.0;
/// Largest lag of the autocorrelations that are summed.
const LAGS: usize = 16;
/// Trajectories per independent draw up to which a shorter length is tried.
const EASY: f64 = 3.0;
/// Trajectories per independent draw of the slowest feature from which on no shorter length is
/// tried or kept: a block is too short to tell how slow it is.
const SLOWEST: f64 = 8.0;
/// A shorter length is kept if an effective draw costs this much less, or an even shorter one.
const CHEAPER: f64 = 0.95;

/// Judges lengths by the autocorrelation of the target's features over many trajectories, with
/// everything else that moves the state between them.
///
/// The jump of a single trajectory cannot tell whether a slow direction matters: other updates
/// may move it, or nothing that is predicted depends on it. Where the features forget
/// their past within a few trajectories the length is halved as long as (L + overhead) × their
/// autocorrelation time falls. That time is the mean over the features, unless one of them is so
/// slow that a block cannot tell its time.
pub(super) struct Shortening {
    features: usize,
    overhead: f64,
    /// Number, mean and sum of squared deviations of the features since the stage began.
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
    /// Features at the starts of the trajectories of this block, one after the other.
    block: Vec<f64>,
    /// The longer length from which the present one was halved, and its cost.
    longer: Option<(usize, f64)>,
    /// Whether the best length was found in this stage.
    done: bool,
}

/// What is to be done with the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The block is not full yet.
    Wait,
    /// Go on with this length.
    Take(usize),
    /// Draws are far from independent: trajectories may have to be longer.
    Slow,
}

impl Shortening {
    pub(super) fn new(features: usize, overhead: f64) -> Self {
        let block = Vec::with_capacity(BLOCK * features);
        Shortening {
            features,
            overhead,
            count: 0.0,
            mean: vec![0.0; features],
            squares: vec![0.0; features],
            block,
            longer: None,
            done: false,
        }
    }

    /// Takes the features at the start of a trajectory into their moments.
    pub(super) fn note(&mut self, features: &[f64]) {
        self.count += 1.0;
        for ((mean, squares), g) in self.mean.iter_mut().zip(&mut self.squares).zip(features) {
            let before = g - *mean;
            *mean += before / self.count;
            *squares += before * (g - *mean);
        }
    }

    /// Whether enough was seen to judge lengths.
    pub(super) fn is_ready(&self) -> bool {
        self.count >= HISTORY
    }

    /// Whether there is nothing more to find in this stage.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the features at the start of a trajectory of the length `present`.
    pub(super) fn observe(&mut self, features: &[f64], present: usize, fewest: usize) -> Verdict {
        if self.block.len() < BLOCK * self.features {
            self.block.extend(features);
        }
        if self.block.len() < BLOCK * self.features {
            return Verdict::Wait;
        }
        let time = self.autocorrelation_time();
        self.block.clear();
        let cost = time * (present as f64 + self.overhead);
        match self.longer.take() {
            None if time > EASY => Verdict::Slow,
            Some((longer, its_cost)) if cost >= CHEAPER * its_cost => {
                self.done = true;
                Verdict::Take(longer)
            }
            _ if present / 2 < fewest => {
                self.done = true;
                Verdict::Take(present)
            }
            _ => {
                self.longer = Some((present, cost));
                Verdict::Take(present / 2)
            }
        }
    }

    /// Mean over the features of 1 + 2 Σ ρ_k, summed up to the first negative ρ_k, about the
    /// mean of the whole stage: a block that lies off it shows that the features move slowly.
    /// Infinite if a feature is too slow to be judged.
    fn autocorrelation_time(&self) -> f64 {
        let (mut sum, mut count, mut slowest) = (0.0, 0.0, 0.0_f64);
        for feature in 0..self.features {
            let values = || self.block.iter().skip(feature).step_by(self.features);
            let mean = self.mean[feature];
            let products = |lag: usize| -> f64 {
                let sum: f64 =
                    values().zip(values().skip(lag)).map(|(a, b)| (a - mean) * (b - mean)).sum();
                sum / (BLOCK - lag) as f64
            };
            let variance = (self.squares[feature] / self.count).max(products(0));
            if variance > 0.0 {
                let correlations = (1..=LAGS).map(|lag| products(lag) / variance);
                let time = 1.0 + 2.0 * correlations.take_while(|rho| *rho > 0.0).sum::<f64>();
                sum += time;
                slowest = slowest.max(time);
                count += 1.0;
            }
        }
        // Features that never change tell nothing.
        if count > 0.0 && slowest <= SLOWEST { sum / count } else { f64::INFINITY }
    }

    /// Begins a stage.
    pub(super) fn restart(&mut self) {
        self.count = 0.0;
        self.mean.fill(0.0);
        self.squares.fill(0.0);
        self.block.clear();
        self.longer = None;
        self.done = false;
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.push(self.count);
        memory.extend(&self.mean);
        memory.extend(&self.squares);
        let (length, cost) = self.longer.unwrap_or((0, 0.0));
        memory.extend([f64::from(u8::from(self.done)), length as f64, cost]);
        memory.push((self.block.len() / self.features) as f64);
        memory.extend(&self.block);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.count = memory.number()?;
        memory.fill(&mut self.mean)?;
        memory.fill(&mut self.squares)?;
        self.done = memory.flag()?;
        let (length, cost) = (memory.count()?, memory.number()?);
        self.longer = (length > 0).then_some((length, cost));
        let rows = memory.count()?.min(BLOCK);
        self.block.resize(rows * self.features, 0.0);
        memory.fill(&mut self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed, Stream};

    /// Feeds an autoregression with this correlation, its negative and independent features until
    /// there is a verdict.
    fn verdict(
        shortening: &mut Shortening,
        correlation: f64,
        length: usize,
        stream: &mut Stream,
    ) -> Verdict {
        let mut features = vec![0.0; shortening.features];
        let mut x = stream.normal();
        loop {
            x = correlation * x + (1.0 - correlation * correlation).sqrt() * stream.normal();
            features[..2].copy_from_slice(&[x, -x]);
            stream.fill_normal(&mut features[2..]);
            shortening.note(&features);
            if shortening.is_ready() {
                let verdict = shortening.observe(&features, length, 4);
                if verdict != Verdict::Wait {
                    return verdict;
                }
            }
        }
    }

    #[test]
    fn independent_features_shorten_until_it_costs_more() {
        let mut stream = Seed(1).stream(Purpose::Chain, [0, 0]);
        let mut shortening = Shortening::new(2, 8.0);
        assert_eq!(verdict(&mut shortening, 0.0, 64, &mut stream), Verdict::Take(32));
        assert_eq!(verdict(&mut shortening, 0.0, 32, &mut stream), Verdict::Take(16));
        assert_eq!(verdict(&mut shortening, 0.0, 16, &mut stream), Verdict::Take(8));
        // Half the length at twice the time: the overhead makes it dearer.
        assert_eq!(verdict(&mut shortening, 0.6, 8, &mut stream), Verdict::Take(16));
        assert!(shortening.is_done());
        shortening.restart();
        assert!(!shortening.is_done() && !shortening.is_ready());
        assert_eq!(verdict(&mut shortening, 0.0, 7, &mut stream), Verdict::Take(7), "3 is too few");
    }

    #[test]
    fn slow_features_are_not_shortened() {
        let mut stream = Seed(2).stream(Purpose::Chain, [0, 0]);
        for correlation in [0.9, 0.999] {
            let mut shortening = Shortening::new(2, 8.0);
            assert_eq!(verdict(&mut shortening, correlation, 64, &mut stream), Verdict::Slow);
        }
    }

    #[test]
    fn one_slow_feature_among_many_keeps_the_length() {
        let mut stream = Seed(4).stream(Purpose::Chain, [0, 0]);
        // On the mean they are easy.
        let mut shortening = Shortening::new(40, 8.0);
        assert_eq!(verdict(&mut shortening, 0.97, 64, &mut stream), Verdict::Slow);
        let mut shortening = Shortening::new(40, 8.0);
        assert_eq!(verdict(&mut shortening, 0.0, 64, &mut stream), Verdict::Take(32));
        // A shorter length with a slow feature is not kept, though it is cheaper on the mean.
        assert_eq!(verdict(&mut shortening, 0.97, 32, &mut stream), Verdict::Take(64));
        assert!(shortening.is_done());
    }

    #[test]
    fn a_memory_continues_a_block() {
        let mut stream = Seed(3).stream(Purpose::Chain, [0, 0]);
        let mut shortening = Shortening::new(2, 8.0);
        for _ in 0..550 {
            let x = stream.normal();
            shortening.note(&[x, x]);
            if shortening.is_ready() {
                shortening.observe(&[x, x], 32, 4);
            }
        }
        let mut memory = Vec::new();
        shortening.write(&mut memory);
        let mut other = Shortening::new(2, 8.0);
        let mut reader = MemoryReader::new("a test", &memory);
        other.read(&mut reader).expect("its own memory");
        reader.finish().expect("nothing left");
        let mut again = Vec::new();
        other.write(&mut again);
        assert_eq!(memory, again);
        let rest = (stream.clone(), stream);
        let [mut a, mut b] = [rest.0, rest.1];
        assert_eq!(verdict(&mut shortening, 0.0, 32, &mut a), verdict(&mut other, 0.0, 32, &mut b));
    }
}
