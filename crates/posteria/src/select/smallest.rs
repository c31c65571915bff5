//! Find the smallest number of inputs that is enough, by looking at few numbers.

/// A search for the smallest of the numbers 1, …, `most` that will do, where `most` does, and
/// whatever does goes on to do if there are more.
///
/// It begins at a guess, goes down (or up) from there in steps 1, 2, 4, …, and halves what is
/// between the largest number that did not do and the smallest that did. A good guess is confirmed
/// by looking at two numbers; a bad one costs about 2 log₂ of its error.
///
/// ```
/// use posteria::select::SmallestSize;
///
/// let mut search = SmallestSize::new(10, 5);
/// while let Some(k) = search.next_size() {
///     search.tell(k >= 4);
/// }
/// assert_eq!((search.smallest(), search.looks()), (4, 4)); // 5, 4, 2 and 3
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallestSize {
    /// The largest number that does not do; 0 if none is known.
    below: usize,
    /// The smallest that does.
    smallest: usize,
    most: usize,
    guess: usize,
    looks: usize,
}

impl SmallestSize {
    /// Among 1, …, `most`, begun at `guess`.
    pub fn new(most: usize, guess: usize) -> Self {
        SmallestSize { below: 0, smallest: most, most, guess, looks: 0 }
    }

    /// The number to look at next; `None` if the smallest is known.
    pub fn next_size(&self) -> Option<usize> {
        if self.smallest <= self.below + 1 {
            return None;
        }
        let step = 1 << self.looks.saturating_sub(1).min(62);
        let next = match (self.below > 0, self.smallest < self.most) {
            (false, false) => self.guess,
            (false, true) => self.smallest.saturating_sub(step),
            (true, false) => self.below.saturating_add(step),
            (true, true) => self.below.midpoint(self.smallest),
        };
        Some(next.clamp(self.below + 1, self.smallest - 1))
    }

    /// Takes note of whether [`SmallestSize::next_size`] does.
    pub fn tell(&mut self, does: bool) {
        let Some(size) = self.next_size() else { return };
        self.looks += 1;
        if does {
            self.smallest = size;
        } else {
            self.below = size;
        }
    }

    /// The smallest number so far that does.
    pub fn smallest(&self) -> usize {
        self.smallest
    }

    /// How many numbers were looked at.
    pub fn looks(&self) -> usize {
        self.looks
    }

    /// About how many numbers are left to look at: one beside the guess, or as many as halving takes.
    pub fn left(&self) -> usize {
        match self.looks {
            _ if self.next_size().is_none() => 0,
            0 => 2.min(self.most - 1),
            _ if self.below == 0 || self.smallest == self.most => 1,
            _ => (self.smallest - self.below - 1).ilog2() as usize + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_found_from_every_guess_by_few_looks() {
        for most in 1..40usize {
            for smallest in 1..=most {
                for guess in 0..=most + 1 {
                    let mut search = SmallestSize::new(most, guess);
                    while let Some(size) = search.next_size() {
                        assert!((1..most).contains(&size), "{most}: {size}");
                        search.tell(size >= smallest);
                    }
                    assert_eq!(search.smallest(), smallest, "{most} from {guess}");
                    let error = guess.clamp(1, most).abs_diff(smallest);
                    let allowed = 2 + 2 * (error + 1).ilog2() as usize;
                    assert!(search.looks() <= allowed, "{most}, {smallest} from {guess}");
                    assert_eq!(search.left(), 0);
                }
            }
        }
    }

    #[test]
    fn what_is_left_is_told() {
        let mut search = SmallestSize::new(10, 5);
        assert_eq!((search.next_size(), search.left()), (Some(5), 2));
        search.tell(true);
        assert_eq!((search.next_size(), search.left()), (Some(4), 1));
        search.tell(true);
        assert_eq!((search.next_size(), search.left()), (Some(2), 1));
        search.tell(false);
        assert_eq!((search.next_size(), search.left()), (Some(3), 1));
        assert_eq!(SmallestSize::new(1, 1).next_size(), None);
    }
}
