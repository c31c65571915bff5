//! Take parts of draws: thinned, joined, selected.

use std::num::NonZero;

use super::{Draws, Layout, Statistics};

/// A part of draws that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubsetError {
    /// The thinning interval or the batch size is 0.
    #[error("a thinning interval or batch of 0 draws keeps nothing; give 1 or more")]
    Zero,
    /// The last draw lies beyond the end.
    #[error("draw {last} was asked for as the last, but chains have {draws}; give {draws} or less")]
    PastTheEnd {
        /// The last draw asked for, counted from 1.
        last: usize,
        /// Draws per chain.
        draws: usize,
    },
    /// Nothing is left.
    #[error(
        "no draw is left after dropping the first {burn} of {last} per chain and taking {size} at \
         a time; drop fewer"
    )]
    NothingLeft {
        /// Draws dropped from the beginning.
        burn: usize,
        /// The last draw considered.
        last: usize,
        /// Thinning interval (1) or batch size.
        size: usize,
    },
    /// Two runs name different components.
    #[error(
        "the runs do not hold the same variables: component {component} is {first} in one and \
         {second} in the other; join runs of the same model and data"
    )]
    LayoutsDiffer {
        /// Index of the first difference.
        component: usize,
        /// Its name in the first run; `(none)` if there is no such component.
        first: String,
        /// Its name in the second run.
        second: String,
    },
    /// Two runs have chains of different length.
    #[error(
        "chains of {first} and of {second} draws cannot stand side by side; thin or shorten the \
         longer ones"
    )]
    DrawsDiffer {
        /// Draws per chain of the first run.
        first: usize,
        /// Draws per chain of the second run.
        second: usize,
    },
    /// Two runs keep the log likelihood of different numbers of rows.
    #[error("the runs keep the log likelihood of {first} and of {second} rows of data")]
    RowsDiffer {
        /// Rows of the first run.
        first: usize,
        /// Rows of the second run.
        second: usize,
    },
    /// There is no such chain.
    #[error("there is no chain {chain}: they are numbered from 0 to below {chains}")]
    NoSuchChain {
        /// The chain asked for.
        chain: usize,
        /// How many there are.
        chains: usize,
    },
    /// There is no such variable.
    #[error("there is no variable {name:?}; there are: {}", known.join(", "))]
    NoSuchVariable {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A variable was named twice.
    #[error("variable {name:?} was asked for twice")]
    Repeated {
        /// The name.
        name: String,
    },
}

impl Draws {
    /// Keeps every `thin`-th draw of each chain from number `burn + 1` to number `last`, counted
    /// from 1; `last` is the end of the chain if absent. [MCMCstuff manual §3.2.2]
    ///
    /// # Errors
    /// [`SubsetError::Zero`], [`SubsetError::PastTheEnd`], [`SubsetError::NothingLeft`].
    pub fn thin(
        &self,
        burn: usize,
        thin: usize,
        last: Option<usize>,
    ) -> Result<Draws, SubsetError> {
        let last = self.range(burn, thin, last)?;
        if burn >= last {
            return Err(SubsetError::NothingLeft { burn, last, size: 1 });
        }
        let kept = (burn..last).step_by(thin);
        let mut out = Draws::empty(self.layout.clone(), self.chains, self.rows);
        out.draws = kept.len();
        for chain in 0..self.chains {
            kept.clone().for_each(|draw| self.copy_draw(&mut out, chain, draw));
        }
        Ok(out)
    }

    /// About `asked` of the draws, evenly spaced up to the last draw of every chain, without their
    /// statistics; all of them if there are no more.
    #[must_use]
    pub fn spread_evenly(self, asked: Option<NonZero<usize>>) -> Draws {
        let (chains, count) = (self.chains, self.draws);
        let per_chain = match asked.map(|asked| asked.get().div_ceil(chains.max(1))) {
            Some(per_chain) if per_chain < count => per_chain,
            _ => return self,
        };
        let mut values = Vec::with_capacity(chains * per_chain * self.layout.len());
        for chain in 0..chains {
            for index in 0..per_chain {
                values.extend_from_slice(self.draw(chain, (index + 1) * count / per_chain - 1));
            }
        }
        Draws { draws: per_chain, values, ..Draws::empty(self.layout.clone(), chains, 0) }
    }

    /// Appends the chains of another run of the same length and layout. If only one of them has
    /// statistics, those of the other are NaN; what one of them does not identify, neither do both.
    ///
    /// # Errors
    /// [`SubsetError::LayoutsDiffer`], [`SubsetError::DrawsDiffer`], [`SubsetError::RowsDiffer`].
    pub fn join(&self, other: &Draws) -> Result<Draws, SubsetError> {
        if !self.layout.names_as(&other.layout) {
            return Err(first_difference(&self.layout, &other.layout));
        }
        let differ = |first, second| SubsetError::DrawsDiffer { first, second };
        if self.draws != other.draws {
            return Err(differ(self.draws, other.draws));
        }
        if self.rows != other.rows {
            return Err(SubsetError::RowsDiffer { first: self.rows, second: other.rows });
        }
        let mut out = self.clone();
        for variable in other.layout.variables().iter().filter(|variable| !variable.identified) {
            out.layout.set_unidentified(&variable.name);
        }
        out.chains += other.chains;
        out.values.extend_from_slice(&other.values);
        out.log_likelihood.extend_from_slice(&other.log_likelihood);
        if !self.statistics.is_empty() || !other.statistics.is_empty() {
            let unknown = Statistics::from_array([f64::NAN; Statistics::LEN]);
            out.statistics.resize(self.chains * self.draws, unknown);
            out.statistics.extend_from_slice(&other.statistics);
            out.statistics.resize(out.chains * out.draws, unknown);
        }
        Ok(out)
    }

    /// Keeps some chains, in the order given.
    ///
    /// # Errors
    /// [`SubsetError::NoSuchChain`].
    pub fn select_chains(&self, chains: &[usize]) -> Result<Draws, SubsetError> {
        if let Some(&chain) = chains.iter().find(|&&chain| chain >= self.chains) {
            return Err(SubsetError::NoSuchChain { chain, chains: self.chains });
        }
        let mut out = Draws::empty(self.layout.clone(), chains.len(), self.rows);
        out.draws = self.draws;
        for &chain in chains {
            (0..self.draws).for_each(|draw| self.copy_draw(&mut out, chain, draw));
        }
        Ok(out)
    }

    /// Keeps some variables, in the order given, with the statistics of every draw.
    ///
    /// # Errors
    /// [`SubsetError::NoSuchVariable`], [`SubsetError::Repeated`].
    pub fn select_variables<S: AsRef<str>>(&self, names: &[S]) -> Result<Draws, SubsetError> {
        let mut layout = Layout::new();
        let mut ranges = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            let variable =
                self.layout.variable(name).ok_or_else(|| SubsetError::NoSuchVariable {
                    name: name.to_string(),
                    known: self.layout.variables().iter().map(|v| v.name.clone()).collect(),
                })?;
            if layout.variable(name).is_some() {
                return Err(SubsetError::Repeated { name: name.to_string() });
            }
            layout.push(name, variable.dimensions.clone());
            if !variable.identified {
                layout.set_unidentified(name);
            }
            ranges.push(variable.range());
        }
        let mut values = Vec::with_capacity(self.chains * self.draws * layout.len());
        for chain in 0..self.chains {
            for draw in 0..self.draws {
                let draw = self.draw(chain, draw);
                ranges.iter().for_each(|range| values.extend_from_slice(&draw[range.clone()]));
            }
        }
        Ok(Draws { layout, values, ..self.clone() })
    }

    /// The last draw asked for, checked.
    pub(super) fn range(
        &self,
        burn: usize,
        size: usize,
        last: Option<usize>,
    ) -> Result<usize, SubsetError> {
        let last = last.unwrap_or(self.draws);
        if size == 0 {
            Err(SubsetError::Zero)
        } else if last > self.draws {
            Err(SubsetError::PastTheEnd { last, draws: self.draws })
        } else if burn > last {
            Err(SubsetError::NothingLeft { burn, last, size })
        } else {
            Ok(last)
        }
    }

    fn copy_draw(&self, out: &mut Draws, chain: usize, draw: usize) {
        out.values.extend_from_slice(self.draw(chain, draw));
        let index = chain * self.draws + draw;
        out.statistics.extend(self.statistics.get(index));
        if !self.log_likelihood.is_empty() {
            let start = index * self.rows;
            out.log_likelihood.extend_from_slice(&self.log_likelihood[start..start + self.rows]);
        }
    }
}

/// Where two layouts that are not equal first differ; by the name of an axis if in nothing else.
fn first_difference(first: &Layout, second: &Layout) -> SubsetError {
    let (a, b) = (first.component_names(), second.component_names());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let name = |names: &[String], layout: &Layout| {
        if a.len() == b.len() && same == a.len() {
            return format!("an array over {}", axes(layout));
        }
        names.get(same).cloned().unwrap_or_else(|| "(none)".to_string())
    };
    let component = if same == a.len().max(b.len()) { 0 } else { same };
    SubsetError::LayoutsDiffer { component, first: name(&a, first), second: name(&b, second) }
}

fn axes(layout: &Layout) -> String {
    let axes = layout.variables().iter().flat_map(|variable| &variable.dimensions);
    axes.map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two chains whose draws are 1, 2, … in `a` and hundreds in `b`.
    pub(in crate::draws) fn counting(draws: usize) -> Draws {
        let mut layout = Layout::new();
        layout.push_scalar("a");
        layout.push_vector("b", "i", vec!["x".into(), "y".into()]);
        let mut out = Draws::empty(layout, 2, 1);
        out.draws = draws;
        for chain in 0..2 {
            for draw in 1..=draws {
                let value = (1000 * chain + draw) as f64;
                out.values.extend([value, 100.0 * value, -value]);
                let mut statistics = [value; Statistics::LEN];
                statistics[8] = f64::from(u8::from(draw == 3));
                out.statistics.push(Statistics::from_array(statistics));
                out.log_likelihood.push(-value);
            }
        }
        out
    }

    pub(in crate::draws) fn first_components(draws: &Draws, chain: usize) -> Vec<i64> {
        (0..draws.draws).map(|i| draws.draw(chain, i)[0].round() as i64).collect()
    }

    #[test]
    fn thinning_starts_after_the_burn_in() {
        let thinned = counting(10).thin(3, 3, None).unwrap();
        assert_eq!(first_components(&thinned, 0), [4, 7, 10]);
        assert_eq!(first_components(&thinned, 1), [1004, 1007, 1010]);
        assert_eq!(thinned.statistics[1].n_steps.round() as i64, 7);
        assert_eq!(thinned.log_likelihood.len(), 6);
        let thinned = counting(10).thin(3, 3, Some(9)).unwrap();
        assert_eq!(first_components(&thinned, 0), [4, 7]);
        assert_eq!(counting(10).thin(0, 1, None).unwrap(), counting(10));
        assert_eq!(counting(4).thin(0, 0, None), Err(SubsetError::Zero));
        assert!(matches!(counting(4).thin(4, 1, None), Err(SubsetError::NothingLeft { .. })));
        assert!(matches!(counting(4).thin(9, 1, None), Err(SubsetError::NothingLeft { .. })));
        let past = Err(SubsetError::PastTheEnd { last: 5, draws: 4 });
        assert_eq!(counting(4).thin(0, 1, Some(5)), past);
    }

    #[test]
    fn joining_and_selecting_chains_are_inverse() {
        let draws = counting(5);
        let (first, second) =
            (draws.select_chains(&[0]).unwrap(), draws.select_chains(&[1]).unwrap());
        assert_eq!(first.join(&second).unwrap(), draws);
        assert!(draws.select_chains(&[2]).is_err());
        let differ = SubsetError::DrawsDiffer { first: 5, second: 4 };
        assert_eq!(draws.join(&counting(4)), Err(differ));
        let other = draws.select_variables(&["a"]).unwrap();
        assert!(matches!(
            draws.join(&other),
            Err(SubsetError::LayoutsDiffer { component: 1, ref second, .. }) if second == "(none)"
        ));
    }

    #[test]
    fn joining_without_statistics_leaves_them_unknown() {
        let mut bare = counting(3);
        bare.statistics.clear();
        let joined = bare.join(&counting(3)).unwrap();
        assert_eq!(joined.statistics.len(), 12);
        assert!(joined.statistics[5].log_density.is_nan());
        assert!((joined.statistics[6].log_density - 1.0).abs() < 1e-12);
    }

    #[test]
    fn variables_are_selected_by_name() {
        let chosen = counting(3).select_variables(&["b", "a"]).unwrap();
        assert_eq!(chosen.layout.component_names(), ["b[x]", "b[y]", "a"]);
        assert_eq!(chosen.draw(1, 2), [100_300.0, -1003.0, 1003.0]);
        assert!(matches!(
            counting(3).select_variables(&["c"]),
            Err(SubsetError::NoSuchVariable { ref known, .. }) if known.len() == 2
        ));
        assert!(counting(3).select_variables(&["a", "a"]).is_err());
    }

    #[test]
    fn what_is_not_identified_stays_so() {
        let mut draws = counting(6);
        draws.layout.set_unidentified("b");
        let parts = [
            draws.select_variables(&["b", "a"]).unwrap(),
            draws.select_chains(&[1]).unwrap(),
            draws.thin(0, 2, None).unwrap(),
            draws.batch(0, 2, None, |batch| crate::draws::BatchCentre::Mean.of(batch)).unwrap(),
            draws.join(&draws).unwrap(),
        ];
        for part in parts {
            assert!(part.layout.variable("a").unwrap().identified);
            assert!(!part.layout.variable("b").unwrap().identified);
        }
        // A table of draws cannot say it; what one run knows holds for both.
        assert_eq!(counting(6).join(&draws).unwrap().layout, draws.layout);
    }
}
