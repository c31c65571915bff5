//! Say which candidates may be in only where others are: interactions and powers beside the inputs
//! that they are made of.

use crate::model::ModelError;

/// Most candidates of one family that others require: every set of them is looked at.
const MOST_REQUIRED: usize = 16;

/// What every candidate requires: it may be in only if all of these are, the *strong heredity* of
/// interactions [Chipman 1996, §2].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Heredity {
    required: Vec<Vec<usize>>,
    /// Every candidate after those that it requires.
    order: Vec<usize>,
    families: Vec<Family>,
}

/// Candidates that depend on one another, directly or by others.
#[derive(Clone, Debug, Default, PartialEq)]
struct Family {
    /// Those that others require, each after those that it requires itself.
    parents: Vec<usize>,
    /// Those that nothing requires.
    leaves: Vec<usize>,
}

impl Heredity {
    /// Nothing requires anything.
    pub(super) fn none(count: usize) -> Self {
        let families = (0..count).map(|leaf| Family { parents: Vec::new(), leaves: vec![leaf] });
        Heredity {
            required: vec![Vec::new(); count],
            order: (0..count).collect(),
            families: families.collect(),
        }
    }

    /// What each of the candidates of these `names` requires.
    ///
    /// # Errors
    /// [`ModelError`] if a candidate requires itself, by others even, or too many are required in
    /// one family.
    pub(super) fn new(required: Vec<Vec<usize>>, names: &[String]) -> Result<Self, ModelError> {
        let count = required.len();
        let (mut order, mut placed) = (Vec::with_capacity(count), vec![false; count]);
        while order.len() < count {
            let is_next = |&at: &usize| !placed[at] && required[at].iter().all(|it| placed[*it]);
            let Some(next) = (0..count).find(is_next) else {
                let name = (0..count).find(|at| !placed[*at]).map(|at| names[at].clone());
                return Err(ModelError::RequiresItself { name: name.unwrap_or_default() });
            };
            placed[next] = true;
            order.push(next);
        }
        // Families are joined until whatever requires something is in the family of it.
        let mut family_of: Vec<usize> = (0..count).collect();
        for child in 0..count {
            for parent in &required[child] {
                let (from, to) = (family_of[child], family_of[*parent]);
                family_of.iter_mut().filter(|it| **it == from).for_each(|it| *it = to);
            }
        }
        let mut families = vec![Family::default(); count];
        for candidate in &order {
            let family = &mut families[family_of[*candidate]];
            match required.iter().any(|it| it.contains(candidate)) {
                true => family.parents.push(*candidate),
                false => family.leaves.push(*candidate),
            }
        }
        families.retain(|family| !family.leaves.is_empty());
        if let Some(found) = families.iter().map(|it| it.parents.len()).max()
            && found > MOST_REQUIRED
        {
            return Err(ModelError::TooManyRequired { found, most: MOST_REQUIRED });
        }
        Ok(Heredity { required, order, families })
    }

    /// Whether all that `candidate` requires is in.
    pub(super) fn allows(&self, candidate: usize, present: &[bool]) -> bool {
        self.required[candidate].iter().all(|required| present[*required])
    }

    /// All candidates, each after those that it requires.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The probability of every candidate to be in, where each is in with probability
    /// `probabilities` given that all it requires are.
    pub(super) fn inclusion_probabilities(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut found = vec![0.0; probabilities.len()];
        for family in &self.families {
            self.over_parents(family, probabilities, |p, present| {
                for &parent in family.parents.iter().filter(|parent| present[**parent]) {
                    found[parent] += p;
                }
                for &leaf in family.leaves.iter().filter(|leaf| self.allows(**leaf, present)) {
                    found[leaf] += p * probabilities[leaf];
                }
            });
        }
        found
    }

    /// Probabilities of 0, 1, … candidates, under the same.
    pub(super) fn sizes(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut sizes = vec![1.0];
        for family in &self.families {
            let mut of_family = vec![0.0; family.parents.len() + family.leaves.len() + 1];
            self.over_parents(family, probabilities, |p, present| {
                let parents = family.parents.iter().filter(|parent| present[**parent]).count();
                let mut shifted = vec![0.0; parents];
                shifted.push(p);
                for &leaf in family.leaves.iter().filter(|leaf| self.allows(**leaf, present)) {
                    add_candidate(&mut shifted, probabilities[leaf]);
                }
                of_family.iter_mut().zip(&shifted).for_each(|(sum, p)| *sum += p);
            });
            let mut joined = vec![0.0; sizes.len() + of_family.len() - 1];
            for (k, p) in sizes.iter().enumerate() {
                for (more, q) in of_family.iter().enumerate() {
                    joined[k + more] += p * q;
                }
            }
            sizes = joined;
        }
        sizes
    }

    /// Calls `visit` with every possible set of the parents of a family, and its probability.
    fn over_parents(
        &self,
        family: &Family,
        probabilities: &[f64],
        mut visit: impl FnMut(f64, &[bool]),
    ) {
        let mut present = vec![false; self.required.len()];
        for bits in 0..1_usize << family.parents.len() {
            let mut p = 1.0;
            for (bit, &parent) in family.parents.iter().enumerate() {
                let is_in = bits >> bit & 1 == 1;
                present[parent] = is_in;
                // Those that it requires are placed already.
                let in_with = match self.allows(parent, &present) {
                    true => probabilities[parent],
                    false => 0.0,
                };
                p *= if is_in { in_with } else { 1.0 - in_with };
            }
            if p > 0.0 {
                visit(p, &present);
            }
        }
    }
}

/// Probabilities of sizes with one more candidate that is in with `probability`.
fn add_candidate(sizes: &mut Vec<f64>, probability: f64) {
    sizes.push(0.0);
    for k in (0..sizes.len()).rev() {
        let below = if k > 0 { sizes[k - 1] } else { 0.0 };
        sizes[k] = (1.0 - probability) * sizes[k] + probability * below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heredity(required: &[&[usize]]) -> Result<Heredity, String> {
        let names: Vec<String> = (0..required.len()).map(|k| format!("x{k}")).collect();
        let required = required.iter().map(|it| it.to_vec()).collect();
        Heredity::new(required, &names).map_err(|error| error.to_string())
    }

    #[test]
    fn candidates_come_after_those_that_they_require() {
        let chain = heredity(&[&[2], &[0, 2], &[], &[]]).unwrap();
        assert_eq!(chain.order(), [2, 0, 1, 3]);
        assert!(!chain.allows(1, &[true, false, false, true]));
        assert!(chain.allows(1, &[true, false, true, false]));
        assert_eq!(chain.families.len(), 2);
        assert_eq!(Heredity::none(3), heredity(&[&[], &[], &[]]).unwrap());
    }

    #[test]
    fn circles_and_families_too_large_to_enumerate_are_refused() {
        assert!(heredity(&[&[1], &[2], &[0]]).unwrap_err().contains("x0"));
        assert!(heredity(&[&[0]]).unwrap_err().contains("x0"));
        let parents: Vec<usize> = (0..=MOST_REQUIRED).collect();
        let mut required: Vec<&[usize]> = vec![&[]; parents.len()];
        required.push(&parents);
        assert!(heredity(&required).unwrap_err().contains("17"));
    }
}
