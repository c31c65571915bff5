//! Choose nine of 27 inputs that are much alike.

use posteria::assess::utility::{Elpd, UtilityFunction};
use posteria::assess::{
    Bootstrap, LeaveOneOutOptions, LogLikelihoods, PointwiseUtilities, Terms, bayesian_bootstrap,
    difference, leave_one_out,
};
use posteria::data::recipes::concrete_like::{NAMES, TRAINING_ROWS, draw, is_relevant};
use posteria::data::{Folds, Table, Task};
use posteria::model::spec::{InclusionPriorSpec, ModelKind, Priors, SelectionSpec, Spec};
use posteria::random::Purpose;
use posteria::sample::Plan;
use posteria::select::{Visits, ranked};

use super::super::assess::Assessor;
use super::super::estimate::Estimate;
use super::super::study::{Study, numbers, table_of};
use super::super::{Demonstration, Quantity, Settings};
use super::of_draws;
use crate::Result;

const NAME: &str = "input-selection-concrete-like";

const WORDS: &str = "\
A linear model of 215 new rows of a recipe in the manner of the concrete of the thesis, whose data belong to
a company: 27 inputs in nine groups of three that are much alike; the first of each group matters, some by
curved effects. Which inputs are in is sampled by reversible jumps with a beta-binomial(5, 10) prior of their
number. elpd is per row, by leave-one-out, of the model with the k most probable inputs alone (--full: of a
Gaussian process and a network of 10 hidden units, by ten folds, as published); sd is that of
the Bayesian bootstrap over rows, and of probabilities of inputs the Monte Carlo error. Chosen is the smallest
k for which the probability that all 27 inputs predict better is below 0.95. The published figures are those
of the Gaussian process on the air in concrete (figures 4.3 and 4.6): nine inputs clearly more probable than
the others, no significant improvement after about nine, and nine better than eight with probability of
about 0.9. The utility of the chosen set is a little optimistic: the same rows chose it.
";

/// Numbers of most probable inputs that are tried, besides all.
const SIZES: std::ops::RangeInclusive<usize> = 1..=15;
/// Those that are compared, which is all that a test needs.
const QUICK_SIZES: std::ops::RangeInclusive<usize> = 8..=9;
/// The probability that all inputs are better, from which on it is beyond doubt.
const BEYOND_DOUBT: f64 = 0.95;

/// Hidden units of the published network, and folds of the thesis.
const HIDDEN: usize = 10;
const FOLDS: usize = 10;

/// A kind of model, and by what its predictions are judged.
#[derive(Clone, Copy)]
struct Way<'s> {
    kind: ModelKind,
    by_folds: bool,
    settings: &'s Settings,
}

impl Way<'_> {
    fn study(&self, selection: Option<SelectionSpec>) -> Study {
        let mut spec = Spec { selection, ..Spec::default() };
        spec.model.kind = self.kind;
        spec.model.priors = Some(Priors::Mcmcstuff);
        spec.model.task = Some(Task::Regression);
        if self.kind == ModelKind::Mlp {
            spec.model.hidden = Some(HIDDEN);
        }
        Study { targets: vec!["y"], task: Task::Regression, spec }
    }

    /// Chains that jump between inputs.
    fn jumps(&self) -> Plan {
        match (self.kind, self.settings.quick) {
            (ModelKind::Gp, false) => Plan { thin: 2, ..Plan::new(4, 300, 500) },
            _ => self.settings.plan(1000, 4),
        }
    }

    /// Chains of a model with some inputs.
    fn plan(&self) -> Plan {
        match (self.kind, self.settings.quick) {
            (ModelKind::Gp, false) => Plan::new(4, 100, 150),
            (ModelKind::Mlp, _) => self.settings.plan(400, 4),
            _ => self.settings.plan(200, 1),
        }
    }

    /// Those of a fold, begun where the fit to all rows ended.
    fn fold_plan(&self) -> Plan {
        match (self.kind, self.settings.quick) {
            (_, true) => self.settings.plan(0, 1),
            (ModelKind::Mlp, _) => Plan { thin: 8, ..Plan::new(2, 300, 500) },
            _ => Plan::new(2, 100, 300),
        }
    }

    /// Log densities of rows left out, by the model with these inputs alone, and the largest R-hat.
    fn pointwise(&self, table: &Table, inputs: &[usize]) -> Result<(PointwiseUtilities, f64)> {
        let settings = self.settings;
        let columns = inputs.iter().map(|input| NAMES[*input]).chain(["y"]);
        let own = table_of(columns.map(|name| (name, numbers(table, name).to_vec())));
        settings.console.message(&format!("the {} most probable inputs", inputs.len()));
        let study = self.study(None);
        let fitted = study.fit(&own, &self.plan(), settings)?;
        if self.by_folds {
            let utilities: Vec<Box<dyn UtilityFunction>> = vec![Box::new(Elpd)];
            let count = if settings.quick { 2 } else { FOLDS };
            let mut of_folds = settings.seed.stream(Purpose::Data, [23, 1]);
            let folds = Folds::random(own.rows(), count, &mut of_folds)?;
            let assessor = Assessor { study: &study, table: &own, utilities: &utilities, settings };
            let (mut found, r_hat) = assessor.folds(&fitted, &folds, &self.fold_plan())?;
            return Ok((found.remove(0), r_hat.max(fitted.r_hat())));
        }
        let likelihoods = LogLikelihoods::of(fitted.draws())?;
        let options = LeaveOneOutOptions::default();
        let loo = leave_one_out(&likelihoods, &options, settings.threads)?;
        let values: Vec<f64> = loo.pointwise.iter().map(|row| row.elpd).collect();
        Ok((PointwiseUtilities::new(&Elpd, Terms::from(values)), fitted.r_hat()))
    }

    /// What this kind of model chooses, and the largest R-hat of any fit.
    fn choose(&self, table: &Table) -> Result<(Vec<Quantity>, f64)> {
        let prior = Some(InclusionPriorSpec::BetaBinomial([5.0, 10.0]));
        let selection = SelectionSpec { prior, ..SelectionSpec::default() };
        let jumps = self.study(Some(selection.clone()));
        let fitted = jumps.fit(table, &self.jumps(), self.settings)?;
        let mut r_hat = fitted.r_hat();
        let visits = of_draws(&fitted, &selection)?;
        let order = ranked(&visits);
        let mut pointwise = |inputs: &[usize]| -> Result<PointwiseUtilities> {
            let (found, of_fits) = self.pointwise(table, inputs)?;
            r_hat = of_fits.max(r_hat);
            Ok(found)
        };
        let all = pointwise(&order)?;
        let range = if self.settings.quick { QUICK_SIZES } else { SIZES };
        let sizes: Vec<usize> = range.clone().collect();
        let each = sizes.iter().map(|k| pointwise(&order[..*k]));
        let each = each.collect::<Result<Vec<_>>>()?;
        let bootstrap = Bootstrap::new(self.settings.seed);
        let better = |one: &PointwiseUtilities, other: &PointwiseUtilities| -> Result<f64> {
            Ok(difference(one, other, &bootstrap)?.probability_better())
        };
        let doubts = each.iter().map(|one| better(&all, one)).collect::<Result<Vec<f64>>>()?;
        let suffices = doubts.iter().position(|p| *p < BEYOND_DOUBT);
        let chosen: &[usize] = suffices.map_or(&order, |index| &order[..sizes[index]]);
        let utility = |one: &PointwiseUtilities| -> Result<Estimate> {
            let expected = bayesian_bootstrap(one, &bootstrap)?;
            Ok(Estimate { value: expected.mean(), sd: expected.sd() })
        };
        let mut results = probabilities(&visits, &order);
        for (k, one) in sizes.iter().zip(&each) {
            let name = format!("elpd of the {k} most probable inputs");
            results.push(Quantity::of(name, None, utility(one)?));
        }
        results.push(Quantity::of("elpd of all inputs", None, utility(&all)?));
        let relevant = chosen.iter().filter(|input| is_relevant(**input)).count();
        let better_than_eight = better(&each[9 - range.start()], &each[8 - range.start()])?;
        results.extend([
            number(
                "probability that nine inputs are better than eight",
                Some(0.9),
                better_than_eight,
            ),
            number("inputs that were chosen", Some(9.0), chosen.len() as f64),
            number("those of them that matter", None, relevant as f64),
            number("those of them that do not", None, (chosen.len() - relevant) as f64),
            number(
                "probability that all inputs are better than those chosen",
                None,
                suffices.map_or(0.5, |index| doubts[index]),
            ),
            number("share of draws with another set than before", None, visits.jump_rate),
            number("largest R-hat of inputs and their number", None, visits.between.r_hat),
        ]);
        Ok((results, r_hat))
    }
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [23, 0]);
    let table = draw(settings.rows(TRAINING_ROWS), &mut stream);
    if !settings.full {
        let way = Way { kind: ModelKind::Linear, by_folds: false, settings };
        let (results, r_hat) = way.choose(&table)?;
        return Ok(settings.conclude(NAME, results, WORDS.into(), r_hat));
    }
    let (mut results, mut r_hat) = (Vec::new(), f64::NAN);
    for (label, kind) in [("Gaussian process", ModelKind::Gp), ("network", ModelKind::Mlp)] {
        settings.console.message(label);
        let (found, of_fits) = Way { kind, by_folds: true, settings }.choose(&table)?;
        r_hat = of_fits.max(r_hat);
        let named =
            |one: Quantity| Quantity { quantity: format!("{label}: {}", one.quantity), ..one };
        results.extend(found.into_iter().map(named));
    }
    Ok(settings.conclude(NAME, results, WORDS.into(), r_hat))
}

/// What the draws say about inputs and their number.
fn probabilities(visits: &Visits, order: &[usize]) -> Vec<Quantity> {
    let of = |input: usize| Estimate {
        value: visits.inputs[input].probability,
        sd: visits.inputs[input].sd,
    };
    let matters = |wanted: bool| order.iter().copied().filter(move |it| is_relevant(*it) == wanted);
    let mut results = Vec::new();
    for input in matters(true) {
        let name = format!("probability of {}, which matters", NAMES[input]);
        results.push(Quantity::of(name, None, of(input)));
    }
    for input in matters(false).take(3) {
        let name = format!("probability of {}, which does not", NAMES[input]);
        results.push(Quantity::of(name, None, of(input)));
    }
    let prior = visits.inputs[0].prior;
    results.push(number("prior probability of every input", Some(1.0 / 3.0), prior));
    for size in visits.sizes.iter().filter(|size| (7..=13).contains(&size.k)) {
        let name = format!("probability of {} inputs, before {:.3}", size.k, size.prior);
        let estimate = Estimate { value: size.probability, sd: size.sd };
        results.push(Quantity::of(name, None, estimate));
    }
    let probable = visits.inputs.iter().filter(|input| input.probability > 0.5).count();
    results.push(number("inputs more probable than not", Some(9.0), probable as f64));
    results
}

fn number(quantity: &str, published: Option<f64>, here: f64) -> Quantity {
    Quantity { quantity: quantity.into(), published, here, sd: None }
}
