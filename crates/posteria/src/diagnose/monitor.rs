//! Follow R-hat while chains run, from a few draws spread over all that were kept.

use super::potential_scale_reduction::r_hat;
use crate::draws::{Draws, Layout};

/// Draws per chain that are looked at: enough to see chains apart, few enough to look often.
const MOST_DRAWS: usize = 200;

/// The variable on which the chains agree least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxRHat {
    /// Its component in a draw.
    pub component: usize,
    /// Its [`r_hat`].
    pub r_hat: f64,
}

/// The largest [`r_hat`] of all identified components, from at most 200 draws per chain, evenly spaced.
/// `None` while none is defined (one chain, fewer than four draws, nothing moves).
pub fn max_r_hat(draws: &Draws) -> Option<MaxRHat> {
    let stride = draws.draws.div_ceil(MOST_DRAWS).max(1);
    let chains = |component: usize| -> Vec<Vec<f64>> {
        let chain = |chain| (0..draws.draws).step_by(stride).map(move |i| draws.draw(chain, i));
        (0..draws.chains).map(|c| chain(c).map(|draw| draw[component]).collect()).collect()
    };
    let components = identified(&draws.layout);
    largest(components.into_iter().map(|component| (component, r_hat(&chains(component)))))
}

/// The components whose value means the same in every chain.
fn identified(layout: &Layout) -> Vec<usize> {
    let components = layout.identified_components().into_iter().enumerate();
    components.filter(|(_, identified)| *identified).map(|(component, _)| component).collect()
}

fn largest(values: impl Iterator<Item = (usize, f64)>) -> Option<MaxRHat> {
    values
        .filter(|(_, r_hat)| !r_hat.is_nan())
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(component, r_hat)| MaxRHat { component, r_hat })
}

/// Keeps the draws of running chains that [`max_r_hat`] needs, and no others: memory is bounded by
/// 200 draws per chain however long they run. Draws may arrive in any order of chains.
#[derive(Clone, Debug)]
pub struct RHatMonitor {
    dim: usize,
    /// The identified components: the others are not kept.
    components: Vec<usize>,
    chains: Vec<Decimated>,
}

/// Every `stride`-th draw of one chain.
#[derive(Clone, Debug)]
struct Decimated {
    seen: usize,
    stride: usize,
    values: Vec<f64>,
}

impl RHatMonitor {
    /// Nothing seen yet of `chains` chains whose draws `layout` names.
    pub fn new(chains: usize, layout: &Layout) -> Self {
        let empty = Decimated { seen: 0, stride: 1, values: Vec::new() };
        let components = identified(layout);
        RHatMonitor { dim: layout.len(), components, chains: vec![empty; chains] }
    }

    /// Takes note of the next draw of a chain.
    ///
    /// # Panics
    /// If there is no such chain or the draw has another length.
    pub fn push(&mut self, chain: usize, draw: &[f64]) {
        assert_eq!(draw.len(), self.dim, "a draw of another length");
        let width = self.components.len();
        let chain = &mut self.chains[chain];
        if chain.seen.is_multiple_of(chain.stride) {
            if chain.values.len() >= MOST_DRAWS * width {
                chain.halve(width);
            }
            if chain.seen.is_multiple_of(chain.stride) {
                chain.values.extend(self.components.iter().map(|&component| draw[component]));
            }
        }
        chain.seen += 1;
    }

    /// The largest [`r_hat`] so far; as [`max_r_hat`], over the draws that every chain has reached.
    pub fn max_r_hat(&self) -> Option<MaxRHat> {
        let stride = self.chains.iter().map(|chain| chain.stride).max()?;
        let seen = self.chains.iter().map(|chain| chain.seen).min()?;
        let kept = seen.div_ceil(stride);
        let width = self.components.len();
        let of = |chain: &Decimated, index: usize| -> Vec<f64> {
            // Strides are powers of two, so the coarsest is a multiple of every other.
            let step = stride / chain.stride;
            (0..kept).map(|i| chain.values[i * step * width + index]).collect()
        };
        largest(self.components.iter().enumerate().map(|(index, &component)| {
            let chains: Vec<Vec<f64>> = self.chains.iter().map(|c| of(c, index)).collect();
            (component, r_hat(&chains))
        }))
    }
}

impl Decimated {
    /// Drops every second draw.
    fn halve(&mut self, dim: usize) {
        let kept = (self.values.len() / dim.max(1)).div_ceil(2);
        for i in 1..kept {
            self.values.copy_within(2 * i * dim..(2 * i + 1) * dim, i * dim);
        }
        self.values.truncate(kept * dim);
        self.stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn a_monitor_sees_what_the_draws_show() {
        let mut stream = Seed(6).stream(Purpose::Chain, [0, 0]);
        let mut layout = Layout::new();
        for name in ["weight", "a", "b"] {
            layout.push_scalar(name);
        }
        layout.set_unidentified("weight");
        for count in [3, 4, 150, 200, 201, 399, 1000] {
            let mut draws = Draws::empty(layout.clone(), 3, 0);
            draws.draws = count;
            draws.values = vec![0.0; 3 * count * 3];
            stream.fill_normal(&mut draws.values);
            for draw in draws.values[..3 * count].chunks_mut(3) {
                draw[0] += 9.0;
                draw[2] += 2.0;
            }
            let mut monitor = RHatMonitor::new(3, &layout);
            for chain in 0..3 {
                (0..count).for_each(|i| monitor.push(chain, draws.draw(chain, i)));
                assert!(monitor.chains[chain].values.len() <= 400);
            }
            let (seen, shown) = (monitor.max_r_hat(), max_r_hat(&draws));
            if count == 3 {
                assert_eq!((seen, shown), (None, None));
                continue;
            }
            assert_eq!(seen.unwrap().component, 2);
            assert_eq!(shown.unwrap().component, 2);
            if count <= 200 {
                assert_eq!(seen, shown, "all draws are kept");
            } else {
                assert!((seen.unwrap().r_hat / shown.unwrap().r_hat - 1.0).abs() < 0.2);
            }
        }
    }

    #[test]
    fn chains_may_run_at_different_speeds() {
        let mut layout = Layout::new();
        assert!(RHatMonitor::new(2, &layout).max_r_hat().is_none());
        layout.push_scalar("a");
        let mut monitor = RHatMonitor::new(2, &layout);
        for i in 0..1000 {
            monitor.push(0, &[f64::from(i)]);
        }
        assert!(monitor.max_r_hat().is_none());
        for i in 0..500 {
            monitor.push(1, &[f64::from(i)]);
        }
        // The same draws at the same places: no disagreement between, only within.
        assert!(monitor.max_r_hat().unwrap().r_hat > 1.0);
        let kept = |i: usize| &monitor.chains[i].values;
        assert_eq!(kept(0)[1].to_bits(), 8.0_f64.to_bits());
        assert_eq!(kept(1)[1].to_bits(), 4.0_f64.to_bits());
        assert!(RHatMonitor::new(0, &layout).max_r_hat().is_none());
    }
}
