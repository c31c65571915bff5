//! Sample which inputs are in a model, beside published probabilities.

pub mod concrete;

use posteria::data::recipes::{three_class, two_class};
use posteria::data::{Column, Table, Task};
use posteria::model::spec::{
    Dof, InclusionPriorSpec, ModelKind, PriorSpec, Priors, SelectionSpec, Spec, WidthRule,
    WidthScaled,
};
use posteria::random::Purpose;
use posteria::select::{Visits, candidates_of, visits};

use super::estimate::Estimate;
use super::study::{Fitted, Study};
use super::{Demonstration, Quantity, Settings};
use crate::Result;

const MLP_WORDS: &str = "\
A 4-8-3 network with softmax outputs on 400 new rows of the recipe of three-class-mlp: x3 and x4 tell
nothing about the class. Which inputs are in is sampled with everything else, by reversible jumps; all
numbers of inputs from 1 to 4 are equally probable before. sd is the Monte Carlo error. The published
probabilities are those of the manual of MCMCstuff, on Neal's own table. The priors of the weights are the
manual's too: scales with 0.05 degrees of freedom, so that the scale of an idle input may be anything, and
such inputs pay for it. With the usual 0.5 degrees of freedom x3 and x4 would be twice as probable.
";

const GP_WORDS: &str = "\
A Gaussian process as the log odds of two classes on 250 new rows of the recipe of two-class-gp, with two
more columns of random numbers. Which inputs are in is sampled with everything else, by reversible jumps;
all numbers of inputs from 1 to 4 are equally probable before. sd is the Monte Carlo error. The published
probabilities are those of the manual of MCMCstuff, on Ripley's own table, with the same priors of the
hyperparameters but a jitter of 10 in the log odds, which is 0.1 here. On Ripley's table with two columns of
random numbers this model gives 1, 1, 0.23 and 0.27.
";

/// What the draws of a fit say about inputs.
fn of_draws(fitted: &Fitted, selection: &SelectionSpec) -> Result<Visits> {
    Ok(visits(fitted.draws(), &candidates_of(fitted.draws(), selection)?)?)
}

/// Sizes 1 to 4 with equal probabilities, as the manual has it.
fn selection() -> SelectionSpec {
    let prior = Some(InclusionPriorSpec::Sizes(vec![1.0; 4]));
    SelectionSpec { prior, ..SelectionSpec::default() }
}

/// Runs the demonstration with a network.
pub fn network(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [22, 0]);
    let table = three_class::draw(settings.rows(three_class::TRAINING_ROWS), &mut stream);
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Mlp;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.task = Some(Task::Multiclass);
    spec.model.hidden = Some(8);
    // Those of the manual, which has the scale above the relevances at 0.05.
    let width_scaled = Some(WidthScaled::By(WidthRule::Mcmcstuff));
    for (group, scale, top_dof, width_scaled) in [
        ("input_weights", 0.05, Some(1.0), width_scaled),
        ("hidden_bias", 0.5, None, None),
        ("output_weights", 0.5, None, width_scaled),
    ] {
        let (scale, dof) = (Some(scale), Some(Dof::Known(0.05)));
        let prior = PriorSpec { scale, dof, top_dof, width_scaled, ..PriorSpec::default() };
        spec.prior.insert(group.into(), prior);
    }
    let published = [1.0, 1.0, 0.15, 0.17];
    let study = Study { targets: vec!["class"], task: Task::Multiclass, spec };
    report("input-selection-mlp", study, (&table, published), (500, 2), MLP_WORDS, settings)
}

/// Runs the demonstration with a Gaussian process.
pub fn process(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [21, 0]);
    let table = two_class::draw(settings.rows(two_class::TRAINING_ROWS), &mut stream);
    let mut columns: Vec<(String, Column)> = Vec::new();
    for name in ["x1", "x2", "class"] {
        let values = super::study::numbers(&table, name).to_vec();
        columns.push((name.into(), Column::numbers(values)));
    }
    for name in ["x3", "x4"] {
        let values = (0..table.rows()).map(|_| stream.normal()).collect();
        columns.insert(columns.len() - 1, (name.into(), Column::numbers(values)));
    }
    let table = Table::new("two-class", columns).expect("columns of one length");
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Gp;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.task = Some(Task::Binary);
    let published = [1.0, 1.0, 0.04, 0.05];
    let study = Study { targets: vec!["class"], task: Task::Binary, spec };
    report("input-selection-gp", study, (&table, published), (300, 2), GP_WORDS, settings)
}

fn report(
    name: &'static str,
    mut study: Study,
    (table, published): (&Table, [f64; 4]),
    (warmup, thin): (usize, usize),
    words: &str,
    settings: &Settings,
) -> Result<Demonstration> {
    study.spec.selection = Some(selection());
    let fitted = study.fit(table, &settings.plan(warmup, thin), settings)?;
    let visits = of_draws(&fitted, &selection())?;
    let mut results: Vec<Quantity> = visits
        .inputs
        .iter()
        .zip(published)
        .map(|(input, published)| {
            let estimate = Estimate { value: input.probability, sd: input.sd };
            Quantity::of(format!("probability of {}", input.name), Some(published), estimate)
        })
        .collect();
    let number = |quantity: &str, here: f64| Quantity {
        quantity: quantity.into(),
        published: None,
        here,
        sd: None,
    };
    results.push(number("share of draws with another set than before", visits.jump_rate));
    results.push(number("largest R-hat of inputs and their number", visits.between.r_hat));
    Ok(settings.conclude(name, results, words.into(), fitted.r_hat()))
}
