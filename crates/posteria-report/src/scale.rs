//! Map numbers to places in a picture, and choose where the ticks are.

use crate::number::significant;

/// How an axis runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios.
    Log,
}

/// A label and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, in numbers.
    pub value: f64,
    /// What it says.
    pub label: String,
}

/// Maps the numbers from `low` to `high` to the places from `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// How it runs.
    pub kind: Kind,
    /// The smallest number.
    pub low: f64,
    /// The largest number.
    pub high: f64,
    from: f64,
    to: f64,
}

/// The part of the range that is left free on both sides of the data.
const MARGIN: f64 = 0.04;
/// Numbers beyond this overflow when they are subtracted.
const LARGEST: f64 = 1e300;
/// Numbers beyond these leave no room for a margin in ratios.
const RATIOS: std::ops::RangeInclusive<f64> = 1e-250..=1e250;

impl Scale {
    /// A scale that shows `values` between the places `from` and `to`. Numbers that the kind cannot
    /// show are left out; where none is left, it runs from 0 to 1.
    pub fn around(
        kind: Kind,
        values: impl IntoIterator<Item = f64>,
        [from, to]: [f64; 2],
        is_tight: bool,
    ) -> Self {
        let [mut low, mut high] = [f64::INFINITY, f64::NEG_INFINITY];
        for value in values {
            let fits = value.abs() <= LARGEST && (kind == Kind::Linear || RATIOS.contains(&value));
            if fits {
                (low, high) = (low.min(value), high.max(value));
            }
        }
        if low > high {
            (low, high) = if kind == Kind::Log { (0.1, 10.0) } else { (0.0, 1.0) };
        }
        let [mut a, mut b] = [low, high].map(|value| forward(kind, value));
        let least = 1e-9 * a.abs().max(b.abs()).max(1e-290);
        if b - a <= least {
            let half = if kind == Kind::Log { 0.5 } else { 0.5 * a.abs().max(1e-12).max(least) };
            let half = if a.abs() <= 0.0 && kind == Kind::Linear { 1.0 } else { half };
            (a, b) = (a - half, b + half);
        } else if !is_tight {
            let margin = MARGIN * (b - a);
            (a, b) = (a - margin, b + margin);
        }
        let [low, high] = [a, b].map(|value| backward(kind, value));
        Scale { kind, low, high, from, to }
    }

    /// Where `value` is; `None` if it cannot be shown. What is beyond the range is put at most one
    /// length outside, so that lines leave the picture at the right angle and no number explodes.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.kind == Kind::Log && value <= 0.0) {
            return None;
        }
        let [a, b, at] = [self.low, self.high, value].map(|value| forward(self.kind, value));
        let fraction = ((at - a) / (b - a)).clamp(-1.0, 2.0);
        Some(self.from + fraction * (self.to - self.from))
    }

    /// Whether `value` is within the range.
    pub fn shows(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// About `count` round numbers within the range.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.kind {
            Kind::Log if self.high / self.low >= 10.0 => self.log_ticks(count),
            _ => self.linear_ticks(count),
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<Tick> {
        let step = round_step((self.high - self.low) / count.max(1) as f64);
        if !(step > 0.0 && step.is_finite()) {
            return Vec::new();
        }
        let first = (self.low / step - 1e-9).ceil();
        let digits = {
            let largest = self.low.abs().max(self.high.abs());
            (largest / step).log10().max(0.0).floor() as usize + 2
        };
        (0..=2 * count + 2)
            .map(|index| (first + index as f64) * step)
            .take_while(|value| *value <= self.high + 1e-9 * step)
            .map(|value| {
                let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
                Tick { value, label: significant(value, digits.min(12)) }
            })
            .collect()
    }

    fn log_ticks(&self, count: usize) -> Vec<Tick> {
        let [first, last] = [self.low, self.high].map(f64::log10);
        let decades = last - first;
        // Every decade, or every so many; 2 and 5 between where there is room.
        let stride = (decades / count.max(1) as f64).ceil().max(1.0) as i32;
        let within: &[f64] = match count as f64 / decades {
            room if room >= 3.0 => &[1.0, 2.0, 5.0],
            room if room >= 2.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let mut ticks = Vec::new();
        for exponent in (first.floor() as i32..=last.ceil() as i32).filter(|e| e % stride == 0) {
            for factor in within {
                let value = factor * 10f64.powi(exponent);
                if self.low <= value * (1.0 + 1e-9) && value <= self.high * (1.0 + 1e-9) {
                    ticks.push(Tick { value, label: significant(value, 3) });
                }
            }
        }
        ticks
    }
}

fn forward(kind: Kind, value: f64) -> f64 {
    if kind == Kind::Log { value.ln() } else { value }
}

fn backward(kind: Kind, value: f64) -> f64 {
    if kind == Kind::Log { value.exp() } else { value }
}

/// The round number 1, 2 or 5 times a power of ten next above `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = step / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| factor <= round * (1.0 + 1e-9));
    round.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(kind: Kind, values: [f64; 2], count: usize) -> Vec<String> {
        let scale = Scale::around(kind, values, [0.0, 100.0], true);
        scale.ticks(count).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Kind::Linear, [0.0, 1.0], 5), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Kind::Linear, [-3.0, 7.0], 4), ["0", "5"]);
        assert_eq!(
            labels(Kind::Linear, [1000.001, 1000.004], 3),
            ["1000.001", "1000.002", "1000.003", "1000.004"]
        );
        assert_eq!(labels(Kind::Log, [0.01, 100.0], 5), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(Kind::Log, [1.0, 20.0], 5), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(Kind::Log, [2.0, 4.0], 4), ["2", "2.5", "3", "3.5", "4"]);
    }

    #[test]
    fn places_are_linear_or_logarithmic() {
        let scale = Scale::around(Kind::Linear, [0.0, 10.0], [100.0, 0.0], true);
        assert!((scale.place(2.5).expect("a place") - 75.0).abs() < 1e-9);
        let scale = Scale::around(Kind::Log, [1.0, 100.0, -3.0], [0.0, 100.0], true);
        assert!((scale.place(10.0).expect("a place") - 50.0).abs() < 1e-9);
        assert_eq!(scale.place(-1.0), None);
        assert_eq!(scale.place(f64::NAN), None);
    }

    proptest! {
        #[test]
        fn every_number_has_a_place_in_or_near_the_picture(
            values in prop::collection::vec(prop::num::f64::ANY, 0..6),
            is_log in any::<bool>(),
        ) {
            let kind = if is_log { Kind::Log } else { Kind::Linear };
            let scale = Scale::around(kind, values.iter().copied(), [0.0, 100.0], false);
            prop_assert!(scale.low < scale.high, "{scale:?}");
            for value in values {
                if let Some(place) = scale.place(value) {
                    prop_assert!((-100.0..=200.0).contains(&place));
                }
            }
            let ticks = scale.ticks(5);
            prop_assert!(ticks.len() <= 20);
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value));
        }
    }
}
