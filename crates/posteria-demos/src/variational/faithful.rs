//! Fit a mixture of six components to Old Faithful, and see how many hold rows [Bishop 2006,
//! figure 10.6].

use posteria::data::recipes::old_faithful;
use posteria::data::{Dataset, Roles};
use posteria::model::mixture::{Mixture, MixtureFindings, MixturePosterior};
use posteria::model::spec::{ModelKind, Spec};
use posteria::random::Seed;

use super::{Demonstration, Quantity, Settings, conclude, figure};
use crate::Result;

/// Components of the source.
const COMPONENTS: usize = 6;

const WORDS: &str = "\
272 eruptions of the geyser and the waits after them, standardised; six components with a Dirichlet
prior of concentration 0.001 and normal-Wishart priors. The source draws the result and prints but
this: two components are left, the weights of the others cannot be told from zero. The bound compares
numbers of components on its own: it is highest for two, and superfluous ones cost next to nothing.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (data, _) = Dataset::new(&old_faithful::rows(), &Roles::default())?;
    let seed = settings.seed;
    let posterior = fit(&data, COMPONENTS, seed)?;
    let found = posterior.findings();
    let mut results = vec![
        figure("components of six that hold rows", Some(2.0), found.effective_components as f64),
        figure("rounds of the best climb", None, found.bounds.len() as f64),
    ];
    results.extend(groups(&posterior, &found));
    for components in 1..=if settings.quick { 2 } else { 4 } {
        let bound = fit(&data, components, seed)?.findings().bound;
        let name = match components {
            1 => "lower bound of the log evidence, 1 component (exact)".into(),
            several => format!("lower bound of the log evidence, {several} components"),
        };
        results.push(figure(name, None, bound));
    }
    results.push(figure("lower bound of the log evidence, 6 components", None, found.bound));
    Ok(conclude("mixture-faithful", results, WORDS.into()))
}

fn fit(data: &Dataset, components: usize, seed: Seed) -> Result<MixturePosterior> {
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Mixture;
    spec.model.components = Some(components);
    spec.sampling.warmup = 0;
    Ok(Mixture::new(&spec)?.condition(data, seed)?)
}

/// Weight and mean of every component that holds rows.
fn groups(posterior: &MixturePosterior, found: &MixtureFindings) -> Vec<Quantity> {
    let mut results = Vec::new();
    for component in 0..found.effective_components {
        let number = component + 1;
        results.push(figure(
            format!("component {number}: expected weight"),
            None,
            found.mixing[component],
        ));
        let mean = posterior.mean(component);
        for (name, value) in [("eruption", mean[0]), ("wait", mean[1])] {
            let name = format!("component {number}: mean {name}, minutes");
            results.push(figure(name, None, value));
        }
    }
    let empty: f64 = found.mixing[found.effective_components..].iter().sum();
    results.push(figure("expected weight of all others", Some(0.0), empty));
    results
}
