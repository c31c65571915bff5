//! Say what a caution is about: what is wrong, and what to do.

use std::fmt;

use super::Caution;

/// Share of rows whose weights fail from which scores of single chains are not only rough.
const MANY_FAILING: f64 = 0.1;

/// A name as a shell takes it: in quotes if it has anything in it but plain characters.
pub fn shell_word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        return name.into();
    }
    let mut quoted = String::from("'");
    for c in name.chars() {
        match c {
            '\'' => quoted.push_str("'\\''"),
            '"' | '\\' => quoted.push(c),
            _ => quoted.extend(c.escape_debug()),
        }
    }
    quoted + "'"
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caution::NotConverged { about, variable, r_hat, count } => write!(
                f,
                "the chains disagree about {}: R-hat is {:.3} for {variable} ({count} \
                 variable(s) above the limit); draw longer, or look for separate modes by running \
                 more chains",
                about.name(),
                // Rounded up, so that what is above the limit does not read as if it were not.
                (r_hat * 1e3).ceil() / 1e3
            ),
            Caution::FewEffectiveDraws { variable, kind, effective_size, needed, .. } => write!(
                f,
                "only {:.0} effective {kind} draws for {variable}, {needed:.0} are needed for stable \
                 estimates; draw longer",
                // Rounded down: 399.6 of 400 are not 400.
                effective_size.floor()
            ),
            Caution::Constant { variable, count } => write!(
                f,
                "{variable} has the same value in every draw ({count} such variable(s)), so R-hat \
                 is not defined; if it should vary, the sampler is stuck"
            ),
            Caution::NonFinite { variable, count } => write!(
                f,
                "{count} draw(s) of {variable} are NaN or infinite, so nothing can be said about \
                 it; look for a division by zero or a quantity that is not always defined"
            ),
            Caution::Divergences { count, draws } => write!(
                f,
                "in {count} of {draws} draws a trajectory diverged and was rejected, so a narrow part \
                 of the posterior may be visited too rarely; warm up longer, or compare with other \
                 moves (kernel in [sampling])"
            ),
            Caution::TreeDepth { count, depth } => write!(
                f,
                "{count} trajectories reached the greatest tree depth {depth}: sampling is slow \
                 but valid; allow a greater depth or adapt the metric longer"
            ),
            Caution::LowEnergyFraction { chain, fraction } => write!(
                f,
                "E-BFMI is {fraction:.2} in chain {} (below 0.3): the tails are explored \
                 slowly; warm up longer or reparametrise heavy-tailed scales",
                chain + 1
            ),
            Caution::Tempered { inverse_temperature, prior_power }
                if (prior_power - 1.0).abs() > 0.0 =>
            {
                write!(
                    f,
                    "the likelihood counts with the power {inverse_temperature} and the prior with \
                 {prior_power}: these are not draws of the posterior; omit the inverse temperature for \
                 that"
                )
            }
            Caution::Tempered { inverse_temperature, .. } => write!(
                f,
                "the likelihood counts with the power {inverse_temperature}: these are not draws of \
                 the posterior; omit the inverse temperature for that"
            ),
            Caution::Approximation(doubt) => doubt.fmt(f),
            Caution::Evidence(doubt) => doubt.fmt(f),
            Caution::OneChain => write!(
                f,
                "one chain cannot show that chains agree; run at least four from different starts"
            ),
            Caution::TooFewDraws { draws } => {
                write!(
                    f,
                    "{draws} draw(s) per chain are too few to diagnose; at least 4 are needed"
                )
            }
            Caution::ConstantColumn { column } => write!(
                f,
                "column {column} has the same value in every row: it is kept, but it cannot \
                 explain anything"
            ),
            Caution::RowNumbers { column, first, rows } => write!(
                f,
                "column {column} counts the rows, {first} to {}, and is an input all the same; \
                 unless it is a time or a place, leave it out with --exclude {}",
                first + rows - 1,
                shell_word(column)
            ),
            Caution::ConstantTarget { column } => write!(
                f,
                "every row has the same value of target {column}: how far new targets may be from \
                 it comes from the prior alone; add rows with other values"
            ),
            Caution::WholeTarget(found) => found.fmt(f),
            Caution::Extrapolation(found) => found.fmt(f),
            Caution::PredictionsNotFinite { count, row } => write!(
                f,
                "the predictions of {count} row(s) are not finite numbers, first that of row {}; \
                 check the sizes of their inputs",
                row + 1
            ),
            Caution::SingleClass { column, label } => write!(
                f,
                "every row has class {label} of target {column}: the probability of any other \
                 class comes from the prior alone; add rows of another class"
            ),
            Caution::RowsDropped { count, rows, emptiest } => {
                write!(f, "{count} of {rows} rows were dropped for missing values")?;
                match emptiest {
                    Some((column, missing)) => write!(
                        f,
                        ", {missing} of them for column \"{}\"; keep them with --exclude {}",
                        column.escape_debug(),
                        shell_word(column)
                    ),
                    None => Ok(()),
                }
            }
            Caution::Infeasible { count, proposals } => write!(
                f,
                "{count} of {proposals} proposals were rejected because the density was not \
                 finite; check the scale of the data and the priors"
            ),
            Caution::HighParetoShape { row, pareto_shape, limit, count, rows } => write!(
                f,
                "leaving out rows one at a time by importance sampling fails for {count} of {rows} \
                 row(s): Pareto k is {pareto_shape:.2} for row {} (at most {limit:.2} can be \
                 trusted); refit without these rows, use k-fold cross-validation, or a model with \
                 heavier tails",
                row + 1
            ),
            Caution::ChainScores { count, rows, chain } => write!(
                f,
                "leaving out rows by importance sampling fails for {count} of {rows} rows in chain {}, \
                 so that weights and scores of single chains {}; draw longer, or score both ways on \
                 rows that were not fitted (predict with and without --chains stacked)",
                chain + 1,
                // These rows are the ones that a chain fits by heart, and their scores too good.
                match *count as f64 > MANY_FAILING * *rows as f64 {
                    true => "cannot be trusted",
                    false => "are rough",
                }
            ),
            Caution::StackingNoBetter { stacked_by_others, equal } => write!(
                f,
                "weights that were chosen by other rows predict them no better than equal weights do \
                 (leave-one-out log predictive density {stacked_by_others:.1} and {equal:.1}): these \
                 say no more than chance; omit --chains stacked"
            ),
            Caution::ModeOfAllRows => write!(
                f,
                "the one point that predicts was found with all rows, those that are left out included: these figures \
                 are too good, and they count no effective parameters; find it without them: --method \
                 kfold"
            ),
            Caution::FewWeights { effective_size, draws } => write!(
                f,
                "{draws} weighted draws are worth only {effective_size:.1}: the approximation is far \
                 from the posterior, and what is averaged over them is not to be trusted; fit with \
                 --inference mcmc"
            ),
            Caution::FewTailDraws { draws, needed } => write!(
                f,
                "{draws} draw(s) are too few to smooth importance weights or to judge them; draw at \
                 least {needed}"
            ),
            Caution::ImpossibleRow { row, draw, count } => write!(
                f,
                "{count} row(s) have the likelihood 0 under a draw (row {}, draw {}), so their log \
                 predictive density is -inf; check that row, or use a residual model that allows it",
                row + 1,
                draw + 1
            ),
            Caution::WaicVariance { row, variance, limit, count } => write!(
                f,
                "WAIC is not reliable: the log density of {count} row(s) has a posterior variance \
                 above {limit} ({variance:.2} for row {}); use leave-one-out",
                row + 1
            ),
            Caution::NegativeParameters { p_dic } => write!(
                f,
                "DIC counts {p_dic:.2} effective parameters: the posterior mean fits worse than the \
                 draws do, so it does not stand for them; use leave-one-out"
            ),
            Caution::BestOfMany { utility, models, advantage, expected } => write!(
                f,
                "by {utility} the best of {models} models is {advantage:.3} better than the median \
                 one, and {expected:.3} is expected if all were equally good: the difference may be \
                 chance; average the models, or assess the chosen one on rows that did not choose it"
            ),
            Caution::UtilityNotFinite { utility, count, row } => write!(
                f,
                "{utility} is not a finite number for {count} row(s), first for row {}, and so is \
                 its expectation; look at these rows, or use a utility that is defined for them",
                row + 1
            ),
            Caution::ProbabilityWithheld { models } => {
                let each = models.iter().map(|(name, rows)| {
                    let noun = if *rows == 1 { "row" } else { "rows" };
                    format!("{rows} {noun} of {name}")
                });
                let each = each.collect::<Vec<_>>().join(", ");
                let most = models.iter().map(|(_, rows)| *rows).max().unwrap_or(0);
                write!(
                    f,
                    "no probability of being better is given where importance weights fail ({each}), \
                     since it would leave out how wrong they are; leave those rows out by new fits \
                     with --refit {most}, or use --method kfold"
                )
            }
            Caution::FewUnits { count, grouped } => write!(
                f,
                "{count} {} are too few to stand for all future rows: the distribution of the \
                 expected utility is rough, and likely too narrow; collect more",
                if *grouped { "groups" } else { "rows" }
            ),
            Caution::InputSets { r_hat, ks_p } => write!(
                f,
                "the chains disagree about the inputs that are in (R-hat {r_hat:.3}, \
                 Kolmogorov-Smirnov p {ks_p:.2e} between chains): their probabilities may be wrong; \
                 draw longer, or raise jumps in [selection]"
            ),
            Caution::NoJumps { draws } => write!(
                f,
                "the input set is the same in all {draws} draws of every chain: other sets are all \
                 but impossible, or jumps fail; compare with jumps and tries in [selection] raised"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn names_can_be_typed_again() {
        assert_eq!(shell_word("runs/a-1.b"), "runs/a-1.b");
        assert_eq!(shell_word("my run"), "'my run'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word("a\u{202e}\nb\"\\"), "'a\\u{202e}\\nb\"\\'");
    }
}
