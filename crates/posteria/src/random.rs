//! Give every unit of work its own reproducible stream of random numbers.
//!
//! A stream is ChaCha8 in counter mode. Its 256-bit key *is* the name of the stream: the
//! user's seed, the purpose and two indices, 64 bits each. Different names are different
//! keys, so streams never overlap, need no jumping ahead, and do not depend on which thread
//! draws from them or on how many other streams exist.

use std::convert::Infallible;

use chacha20::ChaCha8Rng;
use rand::{SeedableRng, TryRng};

use rand_distr::{Distribution, Exp1, Open01, StandardNormal};
use serde::{Deserialize, Serialize};

/// The user's seed: one integer from which every stream of a run is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed(pub u64);

/// What a stream is used for. Part of the stream's key, so the numbers are stable names:
/// never renumber, only append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Transitions of a Markov chain; indices: chain, fold.
    Chain = 1,
    /// Starting values of a chain; indices: chain, fold.
    Start = 2,
    /// Division of rows into folds; indices: repetition, what for (0: fits, 1: weights of models).
    Folds = 3,
    /// Bayesian bootstrap weights; indices: replicate, what is weighted (0: rows).
    Bootstrap = 4,
    /// Simulated data, in demonstrations and in joint-distribution tests; indices: free.
    Data = 5,
    /// Functions that a draw leaves open; indices: number of the draw, what for (0: what users ask
    /// for).
    Functions = 6,
    /// Weighted draws of an approximation; indices: what (0: the draws, 1: which are kept), 0.
    Weighted = 7,
    /// What a kept draw of a chain leaves open; indices: chain, and number of the draw with the fold
    /// in its upper half.
    Completion = 8,
    /// New targets at the rows of the fit; indices: chain, number of the draw.
    Replicates = 9,
    /// Draws from the prior, and new targets that follow from them; indices: number of the draw,
    /// what (0: parameters, 1: targets).
    Prior = 10,
    /// Random sample of the rows that are left out one at a time; indices: number of rows, 0.
    RowSample = 11,
    /// New targets of rows that are left out; indices: row, 0.
    LeftOut = 12,
    /// Estimates of the log evidence; indices: ladder or particle, phase.
    Evidence = 16,
}

impl Seed {
    /// The stream named by this seed, a purpose and two indices (chain and fold, say).
    pub fn stream(self, purpose: Purpose, indices: [u64; 2]) -> Stream {
        Stream::from_key([self.0, purpose as u64, indices[0], indices[1]])
    }
}

/// A reproducible generator of random numbers; the only source of randomness in posteria.
#[derive(Debug)]
pub struct Stream {
    key: [u64; 4],
    generator: ChaCha8Rng,
}

impl Clone for Stream {
    fn clone(&self) -> Self {
        Stream::at(self.position())
    }
}

/// Where a [`Stream`] stands: enough to continue it bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamPosition {
    /// Seed, purpose and indices.
    pub key: [u64; 4],
    /// Number of 32-bit words already drawn.
    pub words: u64,
}

impl Stream {
    fn from_key(key: [u64; 4]) -> Self {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(8).zip(key) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        Stream { key, generator: ChaCha8Rng::from_seed(bytes) }
    }

    /// Where the stream stands now.
    pub fn position(&self) -> StreamPosition {
        // 2^64 words are 500 years of drawing; the counter cannot leave 64 bits.
        StreamPosition { key: self.key, words: self.generator.get_word_pos() as u64 }
    }

    /// The stream that continues from `position`.
    pub fn at(position: StreamPosition) -> Self {
        let mut stream = Stream::from_key(position.key);
        stream.generator.set_word_pos(u128::from(position.words));
        stream
    }

    /// A draw from the uniform distribution on the open interval (0, 1).
    pub fn uniform(&mut self) -> f64 {
        Open01.sample(&mut self.generator)
    }

    /// A draw from the standard normal distribution.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.generator)
    }

    /// Fills `values` with independent standard normal draws.
    pub fn fill_normal(&mut self, values: &mut [f64]) {
        for value in values {
            *value = StandardNormal.sample(&mut self.generator);
        }
    }

    /// A draw from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(&mut self.generator)
    }

    /// A draw from Gamma(shape, scale 1), density ∝ x^(shape-1) exp(-x).
    ///
    /// # Panics
    /// If `shape` is not positive and finite.
    #[track_caller]
    pub fn gamma(&mut self, shape: f64) -> f64 {
        match rand_distr::Gamma::new(shape, 1.0) {
            Ok(gamma) => gamma.sample(&mut self.generator),
            Err(_) => panic!("gamma shape must be positive and finite, got {shape}"),
        }
    }

    /// A draw from the Poisson distribution. A mean beyond 1e15 is its own draw, to eight digits.
    ///
    /// # Panics
    /// If `mean` is negative or not a number.
    #[track_caller]
    pub fn poisson(&mut self, mean: f64) -> f64 {
        const LARGE: f64 = 1e15;
        assert!(mean >= 0.0, "the mean of a Poisson distribution must not be negative, got {mean}");
        if mean > LARGE {
            return mean.round();
        }
        // A mean of zero is refused below, and settles everything.
        rand_distr::Poisson::new(mean).map_or(0.0, |it| it.sample(&mut self.generator))
    }

    /// A uniform draw from 0, …, `count` - 1.
    ///
    /// # Panics
    /// If `count` is zero.
    #[track_caller]
    pub fn index(&mut self, count: usize) -> usize {
        assert!(count > 0, "no index can be drawn from an empty range");
        rand::RngExt::random_range(&mut self.generator, 0..count as u64) as usize
    }

    /// Permutes `values` uniformly at random.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.index(last + 1));
        }
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.generator.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.generator.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.generator.try_fill_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_continues_bit_for_bit_from_its_position() {
        let mut stream = Seed(7).stream(Purpose::Chain, [3, 0]);
        for _ in 0..1001 {
            stream.normal();
        }
        stream.uniform();
        let mut resumed = Stream::at(stream.position());
        for _ in 0..1000 {
            assert_eq!(stream.normal().to_bits(), resumed.normal().to_bits());
            assert_eq!(stream.gamma(0.3).to_bits(), resumed.gamma(0.3).to_bits());
        }
    }

    #[test]
    fn every_part_of_the_name_makes_another_stream() {
        let first = |seed, purpose, indices| Seed(seed).stream(purpose, indices).uniform();
        let base = first(1, Purpose::Chain, [0, 0]);
        for other in [
            first(2, Purpose::Chain, [0, 0]),
            first(1, Purpose::Start, [0, 0]),
            first(1, Purpose::Chain, [1, 0]),
            first(1, Purpose::Chain, [0, 1]),
        ] {
            assert_ne!(base.to_bits(), other.to_bits());
        }
    }

    #[test]
    fn uniform_stays_inside_the_open_interval() {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        for _ in 0..100_000 {
            let u = stream.uniform();
            assert!(u > 0.0 && u < 1.0);
        }
    }

    #[test]
    fn shuffle_reaches_all_orders_equally() {
        // Chi-square over the six orders of three items, 5 degrees of freedom: 25.7 is the
        // 0.9999 quantile, so the false-alarm rate is 1e-4 (seed fixed).
        let mut stream = Seed(11).stream(Purpose::Data, [1, 0]);
        let mut counts = std::collections::HashMap::new();
        let repetitions = 60_000;
        for _ in 0..repetitions {
            let mut items = [0u8, 1, 2];
            stream.shuffle(&mut items);
            *counts.entry(items).or_insert(0.0) += 1.0;
        }
        let expected = f64::from(repetitions) / 6.0;
        let chi_square: f64 =
            counts.values().map(|count: &f64| (count - expected).powi(2) / expected).sum();
        assert_eq!(counts.len(), 6);
        assert!(chi_square < 25.7, "chi-square {chi_square}");
    }
}
