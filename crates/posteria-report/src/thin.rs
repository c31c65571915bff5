//! Leave out points that a picture has no room for.

/// Indices of at most `most` of `count` things, evenly chosen, the first among them.
pub fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|index| index * count / most).collect()
}

/// Draws of several chains over a common axis, with few enough points to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned {
    /// Numbers of the draws.
    pub x: Vec<f64>,
    /// One line per chain, as long as `x`.
    pub y: Vec<Vec<f64>>,
    /// How many draws two points stand for; 1 where every draw is shown.
    pub every: usize,
}

/// At most `most` points per chain: where there are more draws, those of a stretch are replaced by
/// the smallest and the largest of them, in their order, so that no excursion is lost.
pub fn extremes(chains: &[Vec<f64>], most: usize) -> Thinned {
    let count = chains.iter().map(Vec::len).max().unwrap_or(0);
    if count <= most.max(2) {
        let x = (0..count).map(|draw| draw as f64).collect();
        let padded = |chain: &Vec<f64>| {
            let mut line = chain.clone();
            line.resize(count, f64::NAN);
            line
        };
        return Thinned { x, y: chains.iter().map(padded).collect(), every: 1 };
    }
    let every = count.div_ceil((most / 2).max(1));
    let stretches = count.div_ceil(every);
    let start = |stretch: usize| (stretch * every) as f64;
    let x = (0..stretches).flat_map(|s| [start(s), start(s) + every as f64 / 2.0]).collect();
    let line = |chain: &Vec<f64>| {
        let mut line = Vec::with_capacity(2 * stretches);
        for stretch in 0..stretches {
            let end = chain.len().min((stretch + 1) * every);
            let part = chain.get(stretch * every..end).unwrap_or_default();
            let order = |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1);
            let finite = || part.iter().enumerate().filter(|(_, value)| value.is_finite());
            match (finite().min_by(order), finite().max_by(order)) {
                (Some(low), Some(high)) if low.0 <= high.0 => line.extend([*low.1, *high.1]),
                (Some(low), Some(high)) => line.extend([*high.1, *low.1]),
                _ => line.extend([f64::NAN; 2]),
            }
        }
        line
    };
    Thinned { x, y: chains.iter().map(line).collect(), every }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excursions_survive() {
        let mut chain: Vec<f64> = (0..10_000).map(|i| (i % 7) as f64).collect();
        // The first and the last of their stretches: rising and falling ones keep both ends.
        chain[4_320] = 99.0;
        chain[5_039] = 98.0;
        chain[8_765] = -99.0;
        let thinned = extremes(&[chain.clone(), chain[..3000].to_vec()], 500);
        assert_eq!(thinned.every, 40);
        assert!(thinned.x.len() <= 500 && thinned.y.iter().all(|y| y.len() == thinned.x.len()));
        assert!(
            thinned.y[0].contains(&99.0)
                && thinned.y[0].contains(&98.0)
                && thinned.y[0].contains(&-99.0)
        );
        assert!(thinned.y[1][499].is_nan());
        let whole = extremes(&[vec![1.0, 2.0], vec![3.0]], 500);
        assert_eq!((whole.every, whole.x), (1, vec![0.0, 1.0]));
        assert!(extremes(&[], 500).x.is_empty());
    }

    #[test]
    fn choices_are_even() {
        assert_eq!(evenly(3, 5), [0, 1, 2]);
        assert_eq!(evenly(10, 5), [0, 2, 4, 6, 8]);
        assert!(evenly(0, 5).is_empty());
    }
}
