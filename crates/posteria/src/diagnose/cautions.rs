//! Decide which diagnostics give reason to doubt the draws.

use super::chains::FEWEST_DRAWS;
use super::energy::{divergences, energy_fractions, saturated_trees};
use super::summary::{SummaryOptions, VariableSummary};
use crate::caution::{Caution, Question};
use crate::draws::{Draws, Role, Variable};

/// Largest R-hat of few chains that have mixed. [Vehtari et al. 2021]
pub const R_HAT_LIMIT: f64 = 1.01;
/// Effective draws needed per chain for the diagnostics themselves to be stable, of few chains.
const EFFECTIVE_DRAWS_PER_CHAIN: f64 = 100.0;
/// Effective draws that are enough of however many chains: the error of a mean is then a twentieth
/// of the deviation.
pub const EFFECTIVE_DRAWS: f64 = 400.0;
/// So many chains are many.
pub const MANY_CHAINS: usize = 10;

/// Largest R-hat of so many chains that have mixed: 1.01, of ten chains or more 1.02. The same
/// number of effective draws is fewer in each of many chains, by whose number R-hat differs from 1
/// even where they are all alike: by 1/(2n) of n effective draws per chain.
pub fn r_hat_limit(chains: usize) -> f64 {
    if chains < MANY_CHAINS { R_HAT_LIMIT } else { 1.0 + 2.0 * (R_HAT_LIMIT - 1.0) }
}

/// Effective draws of so many chains that are needed: 100 of each, and 400 of however many.
pub fn effective_draws_needed(chains: usize) -> f64 {
    (EFFECTIVE_DRAWS_PER_CHAIN * chains as f64).min(EFFECTIVE_DRAWS)
}

/// Most rows whose fitted values are judged.
const JUDGED_ROWS: usize = 50;
/// Smallest energy fraction of a chain that explores its tails. [Betancourt 2016]
pub const ENERGY_FRACTION_LIMIT: f64 = 0.3;
/// Largest share of draws whose sweep met a proposal without a usable density.
pub const INFEASIBLE_LIMIT: f64 = 0.05;

/// What is judged apart, in the order in which people ask.
const QUESTIONS: [Question; 4] =
    [Question::Predictions, Question::Residuals, Question::Inputs, Question::Parameters];

pub(super) fn of(
    draws: &Draws,
    variables: &[VariableSummary],
    options: &SummaryOptions,
) -> Vec<Caution> {
    let mut cautions = Vec::new();
    if draws.draws < FEWEST_DRAWS {
        cautions.push(Caution::TooFewDraws { draws: draws.draws });
    }
    if draws.chains == 1 {
        cautions.push(Caution::OneChain);
    }
    cautions.extend(unusable(draws, variables));
    let judged = judged(draws);
    // What comes after the components is the log density.
    let own = |(index, variable): &(usize, &VariableSummary)| {
        variable.identified && judged.get(*index).is_none_or(|judged| *judged)
    };
    let variables: Vec<&VariableSummary> =
        variables.iter().enumerate().filter(own).map(|(_, variable)| variable).collect();
    let needed = effective_draws_needed(draws.chains);
    for about in QUESTIONS {
        let own = |variable: &&&VariableSummary| variable.role.question() == about;
        let variables: Vec<&VariableSummary> = variables.iter().filter(own).copied().collect();
        cautions.extend(not_converged(about, &variables, r_hat_limit(draws.chains)));
        cautions.extend(few((about, "bulk"), &variables, needed, |variable| variable.ess_bulk));
        cautions.extend(few((about, "tail"), &variables, needed, |variable| variable.ess_tail));
    }
    cautions.extend(of_statistics(draws, options));
    cautions
}

/// Rows by whose fitted values predictions are judged: of many rows 50, evenly spaced, so that they
/// are the same whenever it is asked. The worst of more rows is worse by chance alone.
pub fn judged_rows(rows: usize) -> Vec<usize> {
    let count = rows.min(JUDGED_ROWS);
    (0..count).map(|index| index * rows / count).collect()
}

/// Where a draw holds the fitted values of the rows that are judged: rows come first.
pub fn judged_components(fitted: &Variable) -> impl Iterator<Item = usize> + use<> {
    let rows = fitted.dimensions.first().map_or(1, |rows| rows.labels.len());
    let (outputs, offset) = (fitted.len() / rows.max(1), fitted.offset);
    let of_row = move |row: usize| (0..outputs).map(move |output| offset + row * outputs + output);
    judged_rows(rows).into_iter().flat_map(of_row)
}

/// Which components of a draw are judged. Predictions are, by the fitted values and the log density,
/// which is what a fit goes on for; what else follows from these is shown and not judged again.
fn judged(draws: &Draws) -> Vec<bool> {
    let mut judged = vec![true; draws.layout.len()];
    let Some(fitted) = draws.layout.of_role(Role::Fitted) else { return judged };
    for variable in draws.layout.variables() {
        if variable.role.question() == Question::Predictions {
            judged[variable.range()].fill(false);
        }
    }
    judged_components(fitted).for_each(|component| judged[component] = true);
    judged
}

/// Variables with draws that are not finite, which is a fault whether they are identified or not,
/// and identified variables whose draws are all the same.
fn unusable(draws: &Draws, variables: &[VariableSummary]) -> Vec<Caution> {
    let dim = draws.layout.len();
    let moves = |variable: &VariableSummary| variable.role == Role::LogDensity && variable.sd > 0.0;
    let moving = variables.last().is_some_and(moves);
    let mut cautions = Vec::new();
    let mut constant = Vec::new();
    for (component, variable) in variables.iter().enumerate() {
        let name = || variable.name.clone();
        let fault = |value: &f64| !value.is_finite();
        if variable.mean.is_nan() {
            let count = if component < dim {
                draws.values.iter().skip(component).step_by(dim).filter(|v| fault(v)).count()
            } else {
                draws.statistics.iter().filter(|s| fault(&s.log_density)).count()
            };
            if count > 0 {
                cautions.push(Caution::NonFinite { variable: name(), count });
            }
        } else if draws.draws >= FEWEST_DRAWS
            && variable.sd <= 0.0
            && variable.identified
            && !(moving && is_settled(variable.mean))
        {
            constant.push(name());
        }
    }
    let count = constant.len();
    let first = constant.into_iter().next();
    cautions.extend(first.map(|variable| Caution::Constant { variable, count }));
    cautions
}

/// Whether a constant may be a probability or a share that is settled up to rounding, or an
/// indicator: 0 or 1. Where the log density moves, such a variable is not a stuck sampler.
fn is_settled(constant: f64) -> bool {
    constant.abs().to_bits() == 0.0_f64.to_bits() || constant.to_bits() == 1.0_f64.to_bits()
}

fn not_converged(about: Question, variables: &[&VariableSummary], limit: f64) -> Option<Caution> {
    let above = || variables.iter().filter(|variable| variable.r_hat > limit);
    let worst = above().max_by(|a, b| a.r_hat.total_cmp(&b.r_hat))?;
    Some(Caution::NotConverged {
        about,
        variable: worst.name.clone(),
        r_hat: worst.r_hat,
        count: above().count(),
    })
}

fn few(
    (about, kind): (Question, &'static str),
    variables: &[&VariableSummary],
    needed: f64,
    size: impl Fn(&VariableSummary) -> f64,
) -> Option<Caution> {
    let below = variables.iter().filter(|variable| size(variable) < needed);
    let worst = below.min_by(|a, b| size(a).total_cmp(&size(b)))?;
    let variable = worst.name.clone();
    Some(Caution::FewEffectiveDraws { about, variable, kind, effective_size: size(worst), needed })
}

fn of_statistics(draws: &Draws, options: &SummaryOptions) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let total = draws.statistics.len();
    let count = divergences(draws).iter().sum();
    if count > 0 {
        cautions.push(Caution::Divergences { count, draws: total });
    }
    if let Some(depth) = options.greatest_tree_depth {
        let count = saturated_trees(draws, depth).iter().sum();
        if count > 0 {
            cautions.push(Caution::TreeDepth { count, depth });
        }
    }
    let fractions = energy_fractions(draws).into_iter().enumerate();
    if let Some((chain, fraction)) = fractions
        .filter(|(_, fraction)| *fraction < ENERGY_FRACTION_LIMIT)
        .min_by(|a, b| a.1.total_cmp(&b.1))
    {
        cautions.push(Caution::LowEnergyFraction { chain, fraction });
    }
    // A draw keeps how many proposals of its sweep failed but not how many there were: the share
    // of sweeps with a failure is what can be judged.
    let count = draws.statistics.iter().filter(|s| s.infeasible > 0.0).count();
    if count as f64 > INFEASIBLE_LIMIT * total as f64 {
        cautions.push(Caution::Infeasible { count, proposals: total });
    }
    cautions
}

#[cfg(test)]
mod tests {
    use super::super::summary::summarize;
    use super::*;
    use crate::draws::Layout;
    use crate::draws::{Dimension, Statistics};
    use crate::random::{Purpose, Seed};

    /// Four chains of 500 good draws of three scalars, with good statistics.
    fn good() -> Draws {
        let mut layout = Layout::new();
        for name in ["a", "b", "c"] {
            layout.push_scalar(name);
        }
        let mut draws = Draws::empty(layout, 4, 0);
        draws.draws = 500;
        draws.values = vec![0.0; 4 * 500 * 3];
        let mut stream = Seed(5).stream(Purpose::Chain, [0, 0]);
        stream.fill_normal(&mut draws.values);
        for _ in 0..2000 {
            let mut values = [0.0; Statistics::LEN];
            (values[0], values[3]) = (stream.normal(), stream.normal());
            draws.statistics.push(Statistics::from_array(values));
        }
        draws
    }

    fn cautions(draws: &Draws) -> Vec<Caution> {
        let options = SummaryOptions { greatest_tree_depth: Some(10), ..Default::default() };
        summarize(draws, &options).cautions
    }

    #[test]
    fn good_draws_raise_none() {
        assert_eq!(cautions(&good()), []);
    }

    #[test]
    fn few_rows_are_judged_and_always_the_same() {
        assert_eq!(judged_rows(3), [0, 1, 2]);
        let many = judged_rows(1_000_000);
        assert_eq!((many.len(), many[1], many[49]), (50, 20_000, 980_000));
        assert!(judged_rows(0).is_empty());
        let mut layout = Layout::new();
        layout.push_scalar("a");
        let labels = |count: usize| (0..count).map(|i| i.to_string()).collect();
        let dimension = |name: &str, count| Dimension { name: name.into(), labels: labels(count) };
        layout.push("fitted", vec![dimension("obs_id", 200), dimension("class", 3)]);
        let components = judged_components(layout.variable("fitted").unwrap()).collect::<Vec<_>>();
        assert_eq!((components.len(), &components[..4]), (150, &[1, 2, 3, 13][..]));
    }

    #[test]
    fn predictions_are_judged_by_the_rows_that_a_fit_goes_on_for() {
        let rows = |name: &str| {
            let labels = (0..200).map(|row| row.to_string()).collect();
            (name.to_string(), vec![Dimension { name: "obs_id".into(), labels }])
        };
        let mut layout = Layout::new();
        for (name, dimensions) in ["fitted", "fitted_mean"].map(rows) {
            layout.push(&name, dimensions);
        }
        layout.push_scalar("training_error");
        let width = layout.len();
        let mut draws = Draws { layout, values: vec![0.0; 2000 * width], ..good() };
        Seed(6).stream(Purpose::Chain, [0, 0]).fill_normal(&mut draws.values);
        let apart = |component: usize| {
            let mut draws = draws.clone();
            draws
                .values
                .iter_mut()
                .skip(component)
                .step_by(width)
                .take(500)
                .for_each(|x| *x += 1.0);
            cautions(&draws)
        };
        // Every fourth row of 200 is judged.
        let named = |found: &[Caution]| {
            let row = |c: &Caution| {
                matches!(c, Caution::NotConverged { about: Question::Predictions, count: 1, .. })
            };
            found.iter().any(row)
        };
        assert!(named(&apart(8)));
        for component in [9, 200 + 8, 400] {
            assert_eq!(apart(component), []);
        }
    }

    #[test]
    fn chains_apart_are_named_with_the_worst() {
        let mut draws = good();
        for draw in draws.values[..1500].chunks_mut(3) {
            draw[0] += 1.0;
            draw[1] += 3.0;
        }
        let found = cautions(&draws);
        let expected = |c: &Caution| matches!(c, Caution::NotConverged { variable, count: 2, .. } if variable == "b");
        assert!(found.iter().any(expected), "{found:?}");
        let few = |c: &Caution| matches!(c, Caution::FewEffectiveDraws { kind: "bulk", .. });
        assert!(found.iter().any(few));
    }

    #[test]
    fn constant_and_not_finite_variables_are_named() {
        let mut draws = good();
        draws.values.iter_mut().step_by(3).for_each(|x| *x = 0.1);
        draws.values[4] = f64::NAN;
        draws.values[7] = f64::INFINITY;
        assert_eq!(
            cautions(&draws),
            [
                Caution::NonFinite { variable: "b".into(), count: 2 },
                Caution::Constant { variable: "a".into(), count: 1 },
            ]
        );
    }

    #[test]
    fn settled_probabilities_are_not_stuck_unless_everything_is() {
        let mut draws = good();
        draws.values.iter_mut().step_by(3).for_each(|x| *x = 1.0);
        assert_eq!(cautions(&draws), []);
        draws.statistics.iter_mut().for_each(|s| s.log_density = -3.0);
        let stuck = Caution::Constant { variable: "a".into(), count: 2 };
        assert_eq!(cautions(&draws), [stuck]);
        draws.statistics[3].log_density = f64::NEG_INFINITY;
        let fault = Caution::NonFinite { variable: "log_density".into(), count: 1 };
        assert!(cautions(&draws).contains(&fault));
    }

    #[test]
    fn one_short_chain_is_both() {
        let mut draws = good();
        draws.chains = 1;
        draws.draws = 3;
        draws.values.truncate(9);
        draws.statistics.clear();
        assert_eq!(cautions(&draws), [Caution::TooFewDraws { draws: 3 }, Caution::OneChain]);
    }

    #[test]
    fn statistics_are_judged() {
        let mut draws = good();
        draws.statistics[7].diverging = 1.0;
        draws.statistics[8].tree_depth = 10.0;
        draws.statistics[..101].iter_mut().for_each(|s| s.infeasible = 2.0);
        for (i, s) in draws.statistics[1000..1500].iter_mut().enumerate() {
            s.energy = i as f64;
        }
        let found = cautions(&draws);
        assert!(found.contains(&Caution::Divergences { count: 1, draws: 2000 }));
        assert!(found.contains(&Caution::TreeDepth { count: 1, depth: 10 }));
        assert!(found.contains(&Caution::Infeasible { count: 101, proposals: 2000 }));
        assert!(found.iter().any(|c| matches!(c, Caution::LowEnergyFraction { chain: 2, .. })));
        assert_eq!(found.len(), 4);
    }
}
