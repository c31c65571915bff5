//! List the demonstrations.

use super::networks::{noise_sensitivity, outliers, relevance, surface, three_class, two_class};
use super::{
    Demonstration, Settings, assess, evidence, linear, modes, neuron, processes, samplers,
    selection, variational,
};
use crate::Result;

/// The demonstration that repeats a study on several tables.
pub const NOISE_SENSITIVITY: &str = "noise-sensitivity";

/// A demonstration by name.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// What `--full` does, and how long it takes, where the study was published at another size.
    pub full: Option<&'static str>,
    /// Runs it.
    pub run: fn(&Settings) -> Result<Demonstration>,
}

/// All of them, in the order of the list.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "samplers",
        title: "what an independent draw costs: Gibbs, Metropolis, Langevin, hybrid Monte Carlo",
        source: "Fabricius 1999, §4.4",
        full: None,
        run: |settings| Ok(samplers::run(settings.seed, settings.threads)),
    },
    Entry {
        name: "neuron",
        title: "a single neuron by the Langevin method and by Hamiltonian Monte Carlo",
        source: "MacKay 2003, §41.4",
        full: None,
        run: |settings| Ok(neuron::run(settings.seed, settings.threads)),
    },
    Entry {
        name: "surface-mlp",
        title: "a network learns a surface of two inputs",
        source: "MCMCstuff §3.3.1",
        full: None,
        run: surface::run,
    },
    Entry {
        name: "two-class-mlp",
        title: "a network classifies nearly as well as the best possible rule",
        source: "MCMCstuff §3.3.2",
        full: None,
        run: two_class::run,
    },
    Entry {
        name: "three-class-mlp",
        title: "a network of three classes finds two of four inputs irrelevant",
        source: "MCMCstuff §3.3.3",
        full: None,
        run: three_class::run,
    },
    Entry {
        name: "outliers-mlp",
        title: "Student-t residuals keep outliers from bending the curve",
        source: "MCMCstuff §3.3.5",
        full: None,
        run: outliers::run,
    },
    Entry {
        name: NOISE_SENSITIVITY,
        title: "what a wrong residual model costs, beside a committee of early-stopped networks",
        source: "Vehtari 2001, table 2.1",
        full: None,
        run: noise_sensitivity::run,
    },
    Entry {
        name: "relevance",
        title: "the relevance of an input is its nonlinearity, not its importance",
        source: "Vehtari 2001, §2.2.4",
        full: None,
        run: relevance::run,
    },
    Entry {
        name: "surface-gp",
        title: "a Gaussian process learns the surface of two inputs",
        source: "MCMCstuff §4.3.1",
        full: None,
        run: processes::surface::run,
    },
    Entry {
        name: "two-class-gp",
        title: "a Gaussian process classifies nearly as well as the best possible rule",
        source: "MCMCstuff §4.3.2",
        full: None,
        run: processes::two_class::run,
    },
    Entry {
        name: "outliers-gp",
        title: "Student-t residuals of a Gaussian process keep outliers from bending the curve",
        source: "MCMCstuff §4.3.4",
        full: None,
        run: processes::outliers::run,
    },
    Entry {
        name: "input-selection-mlp",
        title: "reversible jumps find which of four inputs a network needs",
        source: "MCMCstuff §3.3.4",
        full: None,
        run: selection::network,
    },
    Entry {
        name: "input-selection-gp",
        title: "reversible jumps find which of four inputs a Gaussian process needs",
        source: "MCMCstuff §4.3.3",
        full: None,
        run: selection::process,
    },
    Entry {
        name: "input-selection-concrete-like",
        title: "which of 27 similar inputs suffice to predict as well as all",
        source: "Vehtari 2001, figures 4.2 to 4.11",
        full: Some(
            "a Gaussian process and a network of 10 hidden units, by ten folds; about two hours on \
             two cores",
        ),
        run: selection::concrete::run,
    },
    Entry {
        name: "robot-arm",
        title: "a network and a Gaussian process learn where the hand of a robot arm is",
        source: "Vehtari 2001, §3.4.1",
        full: None,
        run: processes::robot_arm::run,
    },
    Entry {
        name: "robot-arm-assess",
        title: "the expected error by leave-one-out and ten folds, beside the true one",
        source: "Vehtari 2001, figures 3.2 to 3.9",
        full: Some("three training tables, in three times the time of one"),
        run: assess::robot_arm::run,
    },
    Entry {
        name: "residual-models",
        title: "four residual models of a Gaussian process compared in pairs, by three utilities",
        source: "in kind Vehtari 2001, tables 3.1 to 3.3",
        full: Some(
            "three tables of 215 rows, by Gaussian processes and networks of 10 hidden units; about \
             an hour on two cores",
        ),
        run: assess::residual_models::run,
    },
    Entry {
        name: "grouped-data",
        title: "rows that come in groups must be left out in groups",
        source: "in kind Vehtari 2001, §3.4.3, table 2.3",
        full: Some(
            "48 images of 100 rows, 84 inputs, 20 hidden units; about three hours on two cores",
        ),
        run: assess::grouped_data::run,
    },
    Entry {
        name: "lindley",
        title: "a vague prior reverses the Bayes factor but not cross-validation",
        source: "Vehtari 2001, figure 3.1",
        full: None,
        run: assess::lindley::run,
    },
    Entry {
        name: "line",
        title: "the posterior of a line after 0, 1, 2 and 20 points",
        source: "Bishop 2006, figure 3.7",
        full: None,
        run: linear::line::run,
    },
    Entry {
        name: "linear-inputs",
        title: "how many inputs matter: maximum likelihood, a penalty, and the exact evidence",
        source: "Fabricius 1999, table 6.1",
        full: None,
        run: linear::inputs::run,
    },
    Entry {
        name: "evidence-sinusoid",
        title: "the evidence finds how smooth a curve of basis functions should be",
        source: "Bishop 2006, figure 3.16",
        full: None,
        run: modes::evidence_sinusoid::run,
    },
    Entry {
        name: "neuron-laplace",
        title: "a normal distribution at the mode in place of the posterior of a neuron",
        source: "MacKay 2003, figure 41.11",
        full: None,
        run: modes::neuron_laplace::run,
    },
    Entry {
        name: "tempered",
        title: "between the prior and maximum likelihood: a power of the likelihood",
        source: "Fabricius 1999, figure 2.2",
        full: None,
        run: modes::tempered::run,
    },
    Entry {
        name: "normalizing-constant",
        title: "the constant of a normal distribution by importance sampling, from near and far",
        source: "Fabricius 1999, §5.1.1",
        full: None,
        run: evidence::constant::run,
    },
    Entry {
        name: "evidence-linear",
        title: "the evidence of nine linear models by path sampling, beside the exact values",
        source: "Fabricius 1999, figure 6.6",
        full: None,
        run: evidence::inputs::run,
    },
    Entry {
        name: "evidence-robot-arm",
        title: "how many hidden units: maximum likelihood with its criteria, and the evidence",
        source: "Fabricius 1999, figures 6.12 to 6.20",
        full: Some(
            "networks of 1, 2, …, 19 hidden units, two levels of noise; about two hours on two \
             cores",
        ),
        run: evidence::robot_arm::run,
    },
    Entry {
        name: "hysteresis",
        title: "chains that lag behind the temperature, and ladders that do not",
        source: "Fabricius 1999, figure 6.21",
        full: None,
        run: evidence::hysteresis::run,
    },
    Entry {
        name: "mixture-faithful",
        title: "a mixture of six components finds the two kinds of eruptions of Old Faithful",
        source: "Bishop 2006, figure 10.6",
        full: None,
        run: variational::faithful::run,
    },
    Entry {
        name: "pca",
        title: "Bayesian principal components find how many there are",
        source: "Bishop 1999",
        full: None,
        run: variational::principal::run,
    },
    Entry {
        name: "divergences",
        title: "what different divergences take for the best normal approximation",
        source: "Bishop 2006, §10.1",
        full: None,
        run: variational::divergences::run,
    },
];
