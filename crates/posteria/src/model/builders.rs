//! Models by plain constructors: each is a specification, of which every key can be set.

use super::spec::{
    BasisSpec, InferenceChoice, ModelKind, ModelSpec, PriorSpec, Priors, ResidualFamily,
    SamplingSpec, Spec,
};

/// Linear, logistic or softmax regression, by the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear(Spec);

/// A multilayer perceptron with one layer of hidden units: regression or classes, by the targets.
///
/// ```
/// use posteria::data::TextFormat;
/// use posteria::{FitOptions, Mlp, Table, Utility};
///
/// let height = |i: i32| (f64::from(i) / 8.0).sin() + 0.02 * f64::from(i * 37 % 11 - 5);
/// let rows: String = (0..40).map(|i| format!("{i},{}\n", height(i))).collect();
/// let text = format!("t,height\n{rows}");
/// let table = Table::from_text("waves.csv", text.as_bytes(), &TextFormat::default())?;
/// let few = FitOptions { chains: 4.try_into().ok(), warmup: Some(100), ..FitOptions::default() };
/// let options = FitOptions { draws: 50.try_into().ok(), ..few };
/// let fit = posteria::fit(&table, "height", Mlp::default().hidden(3), &options)?;
/// let figures = fit.predict(&table)?.figures.ok_or("the table has the target")?;
/// assert!(figures.rmse < 0.2);
/// assert_eq!(fit.loo(&[Utility::Mae])?.expected[0].name, "mae");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp(Spec);

/// A Gaussian process: regression or classes, by the targets.
///
/// ```
/// use posteria::data::TextFormat;
/// use posteria::{FitOptions, Gp, Table, Utility};
///
/// let height = |i: i32| (f64::from(i) / 5.0).cos() + 0.02 * f64::from(i * 37 % 11 - 5);
/// let rows: String = (0..24).map(|i| format!("{i},{}\n", height(i))).collect();
/// let text = format!("t,height\n{rows}");
/// let table = Table::from_text("waves.csv", text.as_bytes(), &TextFormat::default())?;
/// let options = FitOptions { draws: 50.try_into().ok(), warmup: Some(50), ..FitOptions::default() };
/// let fit = posteria::fit(&table, "height", Gp::default(), &options)?;
/// assert!(fit.predict(&table)?.figures.ok_or("the table has the target")?.rmse < 0.15);
/// assert!(fit.loo(&[Utility::Rmse])?.expected[0].estimate < 0.15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gp(Spec);

/// What every model has.
macro_rules! common {
    ($model:ident, $kind:ident) => {
        impl Default for $model {
            fn default() -> Self {
                let (kind, sampling) = (ModelKind::$kind, SamplingSpec::usual(ModelKind::$kind));
                let model = ModelSpec { kind, ..ModelSpec::default() };
                $model(Spec { model, sampling, ..Spec::default() })
            }
        }

        impl From<$model> for Spec {
            fn from(model: $model) -> Spec {
                model.0
            }
        }

        impl $model {
            /// The distribution of real targets about the function; normal if not said.
            #[must_use]
            pub fn residual(mut self, family: ResidualFamily) -> Self {
                self.0.residual.get_or_insert_default().family = Some(family);
                self
            }

            /// Where priors come from that are not given.
            #[must_use]
            pub fn priors(mut self, priors: Priors) -> Self {
                self.0.model.priors = Some(priors);
                self
            }

            /// The prior of a group of weights or a kind of hyperparameter.
            #[must_use]
            pub fn prior(mut self, group: &str, prior: PriorSpec) -> Self {
                self.0.prior.insert(group.into(), prior);
                self
            }

            /// The columns that are inputs; all but the target if not said.
            #[must_use]
            pub fn inputs<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
                self.0.data.inputs = Some(names.into_iter().map(String::from).collect());
                self
            }

            /// How the posterior is found; by Markov chains if not said.
            #[must_use]
            pub fn inference(mut self, inference: InferenceChoice) -> Self {
                let seed = self.0.sampling.seed;
                self.0.sampling = SamplingSpec::of_inference(inference, ModelKind::$kind, seed);
                self
            }
        }
    };
}

common!(Linear, Linear);
common!(Mlp, Mlp);
common!(Gp, Gp);

impl Linear {
    /// Functions that take the place of every real input.
    #[must_use]
    pub fn basis(mut self, basis: BasisSpec) -> Self {
        self.0.model.basis = Some(basis);
        self
    }
}

impl Mlp {
    /// The number of hidden units.
    #[must_use]
    pub fn hidden(mut self, units: usize) -> Self {
        self.0.model.hidden = Some(units);
        self
    }
}

impl Gp {
    /// The covariance function, a sum of these.
    #[must_use]
    pub fn covariance<'n>(mut self, terms: impl IntoIterator<Item = &'n str>) -> Self {
        self.0.model.covariance = Some(terms.into_iter().map(String::from).collect());
        self
    }

    /// Approximates by so many nearest neighbours of every row, for tables of many rows.
    #[must_use]
    pub fn neighbours(mut self, count: usize) -> Self {
        self.0.model.neighbours = Some(count);
        self
    }
}
