//! ParameterEstimate a model by maximum likelihood.

use serde::{Deserialize, Serialize};

use super::{ApproximationError, ApproximationFindings, ApproximationResult, FittedApproximation};
use crate::approximate::{Criteria, Estimation, Evidence, EvidenceError, PointAtMode};
use crate::model::linear::{LinearPosterior, ParameterEstimate};
use crate::model::spec::InferenceChoice;
use crate::model::{Regularised, Response};
use crate::random::Seed;

/// Change of a log odds in another Newton step above which there is no maximum: each step takes
/// separable classes about one further apart, and those that are not hardly change any more.
const STILL_MOVING: f64 = 0.1;
/// Residual scale, in standard deviations of the target, below which nothing is left over.
const PERFECT: f64 = 2e-6;

/// The class of a column that other classes are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceClass {
    /// Name of the column.
    pub column: String,
    /// The class.
    pub class: String,
}

/// What maximum likelihood found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LikelihoodFindings {
    /// The inference by its name in specifications.
    pub method: InferenceChoice,
    /// The log likelihood L at its maximum, of targets in the user's unit.
    pub log_likelihood: f64,
    /// Intercept and weights, on the user's scale.
    pub coefficients: Vec<ParameterEstimate>,
    /// Classes of columns of three or more that have no weight of their own: those of the other
    /// classes are differences from them. A target is among the columns: its coefficients are those of
    /// the log odds of the other classes against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_classes: Vec<ReferenceClass>,
    /// Residual scales √(R/n), R the sum of squares: too small by the coefficients that they are
    /// about.
    pub residual_scales: Vec<ParameterEstimate>,
    /// Information criteria, with p coefficients and residual scales.
    pub criteria: Criteria,
    /// The finite-sample AIC of one target, L - p - p(p + 1)/(n - p - 1)
    /// [Hurvich & Tsai 1989]; none without more rows than that.
    pub aicc: Option<f64>,
}

impl LinearPosterior {
    /// The maximum of the likelihood, where `reference_classes` of columns have no weight.
    ///
    /// # Errors
    /// [`ApproximationError`] if there is none.
    pub(super) fn most_likely(
        &self,
        reference_classes: Vec<(String, String)>,
        seed: Seed,
    ) -> Result<FittedApproximation<'static>, ApproximationError> {
        let model = self.regularised()?;
        let is_of_classes = !matches!(model.response(), Response::Real { .. });
        let mode = match Evidence::best(&model, Estimation::Mode, 1, seed) {
            // Inputs are not collinear: the classes are so far apart that nothing curves.
            Err(EvidenceError::Curvature { .. }) if is_of_classes => {
                return Err(ApproximationError::Separable);
            }
            found => found?,
        };
        if is_of_classes && mode.newton_change(&model) > STILL_MOVING {
            return Err(ApproximationError::Separable);
        }
        if mode.residual_groups.iter().any(|group| group.scale < PERFECT) {
            return Err(ApproximationError::PerfectFit);
        }
        let precisions: Vec<(f64, usize)> =
            mode.residual_groups.iter().map(|group| (group.precision, group.count)).collect();
        let scales = self.scale_estimates(&precisions);
        let findings = LikelihoodFindings {
            method: InferenceChoice::Ml,
            log_likelihood: mode.log_likelihood,
            coefficients: self.coefficient_estimates(&mode.weights, &mode.precision),
            aicc: if scales.len() > 1 { None } else { mode.criteria.aicc() },
            residual_scales: scales,
            criteria: mode.criteria,
            reference_classes: reference_classes
                .into_iter()
                .map(|(column, class)| ReferenceClass { column, class })
                .collect(),
        };
        Ok(FittedApproximation {
            approximation: Some(Box::new(PointAtMode::new(&mode))),
            linearised: None,
            result: ApproximationResult {
                findings: ApproximationFindings::Likelihood(Box::new(findings)),
                doubts: Vec::new(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Dataset, Roles, Table};
    use crate::fit::usual_kernel;
    use crate::model::linear::Linear;
    use crate::model::spec::Spec;

    /// Loss of ammonia, flow of air, temperature of the water, concentration of the acid
    /// [Brownlee 1965].
    const LOSS: [[f64; 4]; 21] = [
        [42.0, 80.0, 27.0, 89.0],
        [37.0, 80.0, 27.0, 88.0],
        [37.0, 75.0, 25.0, 90.0],
        [28.0, 62.0, 24.0, 87.0],
        [18.0, 62.0, 22.0, 87.0],
        [18.0, 62.0, 23.0, 87.0],
        [19.0, 62.0, 24.0, 93.0],
        [20.0, 62.0, 24.0, 93.0],
        [15.0, 58.0, 23.0, 87.0],
        [14.0, 58.0, 18.0, 80.0],
        [14.0, 58.0, 18.0, 89.0],
        [13.0, 58.0, 17.0, 88.0],
        [11.0, 58.0, 18.0, 82.0],
        [12.0, 58.0, 19.0, 93.0],
        [8.0, 50.0, 18.0, 89.0],
        [7.0, 50.0, 18.0, 86.0],
        [8.0, 50.0, 19.0, 72.0],
        [8.0, 50.0, 19.0, 79.0],
        [9.0, 50.0, 20.0, 80.0],
        [15.0, 56.0, 20.0, 82.0],
        [15.0, 70.0, 20.0, 91.0],
    ];

    /// Mean grade, score of a test, whether taught by another method, whether the grade improved
    /// [Spector & Mazzeo 1980].
    const GRADES: [[f64; 4]; 32] = [
        [2.66, 20.0, 0.0, 0.0],
        [2.89, 22.0, 0.0, 0.0],
        [3.28, 24.0, 0.0, 0.0],
        [2.92, 12.0, 0.0, 0.0],
        [4.00, 21.0, 0.0, 1.0],
        [2.86, 17.0, 0.0, 0.0],
        [2.76, 17.0, 0.0, 0.0],
        [2.87, 21.0, 0.0, 0.0],
        [3.03, 25.0, 0.0, 0.0],
        [3.92, 29.0, 0.0, 1.0],
        [2.63, 20.0, 0.0, 0.0],
        [3.32, 23.0, 0.0, 0.0],
        [3.57, 23.0, 0.0, 0.0],
        [3.26, 25.0, 0.0, 1.0],
        [3.53, 26.0, 0.0, 0.0],
        [2.74, 19.0, 0.0, 0.0],
        [2.75, 25.0, 0.0, 0.0],
        [2.83, 19.0, 0.0, 0.0],
        [3.12, 23.0, 1.0, 0.0],
        [3.16, 25.0, 1.0, 1.0],
        [2.06, 22.0, 1.0, 0.0],
        [3.62, 28.0, 1.0, 1.0],
        [2.89, 14.0, 1.0, 0.0],
        [3.51, 26.0, 1.0, 0.0],
        [3.54, 24.0, 1.0, 1.0],
        [2.83, 27.0, 1.0, 1.0],
        [3.39, 17.0, 1.0, 1.0],
        [2.67, 24.0, 1.0, 0.0],
        [3.65, 21.0, 1.0, 1.0],
        [4.00, 23.0, 1.0, 1.0],
        [3.10, 21.0, 1.0, 0.0],
        [2.39, 19.0, 1.0, 1.0],
    ];

    fn posterior<const C: usize>(
        rows: &[[f64; C]],
        targets: &[usize],
        task: &str,
    ) -> LinearPosterior {
        posterior_of(rows, targets, &format!("task = '{task}'"))
    }

    fn posterior_of<const C: usize>(
        rows: &[[f64; C]],
        targets: &[usize],
        keys: &str,
    ) -> LinearPosterior {
        let names = ["a", "b", "c", "d"];
        let column = |k: usize| {
            let values = rows.iter().map(|row| row[k]).collect();
            (names[k].to_string(), Column::numbers(values))
        };
        let table = Table::new("memory", (0..C).map(column).collect()).unwrap();
        let targets = targets.iter().map(|k| names[*k].to_string()).collect();
        let text = format!("[model]\nkind = 'linear'\n{keys}\n[sampling]\ninference = 'ml'");
        let spec = Spec::from_toml(&text).unwrap();
        let roles = Roles { targets, task: spec.task(), ..Roles::default() };
        let (data, _) = Dataset::new(&table, &roles).unwrap();
        Linear::new(&spec).unwrap().condition(&data, usual_kernel()).unwrap()
    }

    fn found(posterior: &LinearPosterior) -> LikelihoodFindings {
        posterior.check_likelihood().unwrap();
        match posterior.most_likely(Vec::new(), Seed(1)).unwrap().result.findings {
            ApproximationFindings::Likelihood(found) => *found,
            _ => panic!("the findings of another inference"),
        }
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 2e-6 * expected.abs(), "{found} {expected}");
        }
    }

    fn columns(estimates: &[ParameterEstimate]) -> [Vec<f64>; 2] {
        let estimate = estimates.iter().map(|it| it.estimate).collect();
        [estimate, estimates.iter().map(|it| it.standard_error).collect()]
    }

    #[test]
    fn a_regression_has_the_estimates_and_criteria_of_statsmodels() {
        // statsmodels 0.15.0: OLS(STACKLOSS, add_constant(AIRFLOW, WATERTEMP, ACIDCONC)), its
        // standard errors by √((n - k)/n) for the variance R/n; criteria by their formulas from llf
        // and ssr; NIC by the trace of its scores.
        let found = found(&posterior(&LOSS, &[0], "regression"));
        let [estimates, errors] = columns(&found.coefficients);
        assert_close(&estimates, &[-39.91967442, 0.7156402, 1.29528612, -0.15212252]);
        assert_close(&errors, &[10.70324961, 0.12133668, 0.33112446, 0.14062329]);
        assert_eq!(found.coefficients[1].name, "weights[b]");
        assert_close(&[found.residual_scales[0].estimate], &[2.9181693674]);
        let it = &found.criteria;
        let by = [found.log_likelihood, it.aic, it.bic, found.aicc.unwrap()];
        assert_close(&by, &[-52.2877955024, -57.2877955024, -59.8991015967, -59.2877955024]);
        assert_close(&[it.fpe.unwrap(), it.gpe.unwrap()], &[12.5231065545, 12.5231065545]);
        assert_close(&[it.nic_parameters], &[4.3114303790]);
    }

    #[test]
    fn two_classes_have_the_estimates_and_criteria_of_statsmodels() {
        // statsmodels 0.15.0: Logit(GRADE, add_constant(GPA, TUCE, PSI)).
        let found = found(&posterior(&GRADES, &[3], "binary"));
        let [estimates, errors] = columns(&found.coefficients);
        assert_close(&estimates, &[-13.02134686, 2.82611259, 0.09515766, 2.37868766]);
        assert_close(&errors, &[4.93132421, 1.26294108, 0.14155421, 1.06456425]);
        let it = &found.criteria;
        let by = [found.log_likelihood, it.aic, it.bic, found.aicc.unwrap(), it.nic_parameters];
        let expected =
            [-12.8896342221, -16.8896342221, -19.8211060277, -17.6303749629, 3.7470574995];
        assert_close(&by, &expected);
        assert!(it.fpe.is_none() && found.residual_scales.is_empty());
    }

    /// [Greene 2003, table 21.1] has the same to its three digits: -7.452, 1.626, 0.052, 1.426.
    #[test]
    fn two_classes_by_the_probit_have_the_published_estimates() {
        // statsmodels: Probit(GRADE, add_constant(GPA, TUCE, PSI)).
        let found = found(&posterior_of(&GRADES, &[3], "link = 'probit'"));
        let [estimates, errors] = columns(&found.coefficients);
        assert_close(&estimates, &[-7.45231965, 1.62581004, 0.05172895, 1.42633234]);
        assert_close(&errors, &[2.54247249, 0.69388249, 0.08389026, 0.59503773]);
        assert_close(&[found.log_likelihood], &[-12.8188033249]);
    }

    /// Whether the score was low, middling or high, by grade and method.
    fn scores() -> [[f64; 3]; 32] {
        GRADES.map(|[grade, score, method, _]| {
            [f64::from(score > 20.5) + f64::from(score > 23.5), grade, method]
        })
    }

    #[test]
    fn several_classes_have_the_estimates_and_criteria_of_statsmodels() {
        // statsmodels 0.15.0: MNLogit(class of TUCE, add_constant(GPA, PSI)), NIC by the trace of its
        // scores.
        let found = found(&posterior(&scores(), &[0], "multiclass"));
        let [estimates, errors] = columns(&found.coefficients);
        let expected =
            [-9.2055794395, -9.0290083972, 2.9282369617, 2.9300121957, 1.0470063745, 1.0469393874];
        assert_close(&estimates, &expected);
        let expected =
            [4.222608112, 4.1074357449, 1.3910706549, 1.3589573436, 1.0644938432, 1.0327577606];
        assert_close(&errors, &expected);
        assert_eq!(found.coefficients[2].name, "weights[b, 1]");
        let it = &found.criteria;
        let by = [found.log_likelihood, it.aic, it.bic, found.aicc.unwrap(), it.nic_parameters];
        let expected =
            [-30.5787161511, -36.5787161511, -40.9759238595, -38.2587161511, 6.7831979471];
        assert_close(&by, &expected);
        assert!(it.parameters.to_bits() == 6.0_f64.to_bits() && found.residual_scales.is_empty());
    }

    #[test]
    fn several_targets_are_those_of_each() {
        let both = found(&posterior(&LOSS, &[0, 3], "regression"));
        let singles = [0, 1].map(|target| {
            let rows = LOSS.map(|row| [row[3 * target], row[1], row[2]]);
            found(&posterior(&rows, &[0], "regression"))
        });
        for (target, single) in singles.iter().enumerate() {
            let own: Vec<ParameterEstimate> =
                both.coefficients.iter().skip(target).step_by(2).cloned().collect();
            let ([found, errors], [expected, of_single]) =
                (columns(&own), columns(&single.coefficients));
            assert_close(&found, &expected);
            assert_close(&errors, &of_single);
            let scale = &both.residual_scales[target];
            assert_close(&[scale.estimate], &[single.residual_scales[0].estimate]);
        }
        let sum: f64 = singles.iter().map(|single| single.log_likelihood).sum();
        assert_close(&[both.log_likelihood], &[sum]);
        assert!(both.aicc.is_none());
    }

    #[test]
    fn where_there_is_no_maximum_that_is_said() {
        let refused = |posterior: LinearPosterior| {
            let of_inputs = posterior.check_likelihood().err().map(|error| error.to_string());
            of_inputs
                .or(posterior.most_likely(Vec::new(), Seed(1)).err().map(|error| error.to_string()))
                .unwrap()
        };
        let few = refused(posterior(&LOSS[..4], &[0], "regression"));
        assert!(few.contains("4 rows") && few.contains("4 coefficients"), "{few}");
        let sums = LOSS.map(|[y, a, b, _]| [y, a, b, 3.0 * a - b + 2.0]);
        let collinear = refused(posterior(&sums, &[0], "regression"));
        assert!(collinear.starts_with("d is a sum"), "{collinear}");
        let exact = LOSS.map(|[_, a, b, c]| [a - 2.0 * b + 7.0, a, b, c]);
        assert!(refused(posterior(&exact, &[0], "regression")).contains("without any error"));
        // All of one class above 21, and then one of each on the border.
        let apart = GRADES.map(|[a, b, _, _]| [a, b, f64::from(b > 21.5)]);
        assert!(refused(posterior(&apart, &[2], "binary")).contains("tells the classes apart"));
        let mut border = GRADES.map(|[a, b, _, _]| [b, f64::from(b > 21.5), a]);
        border[0] = [21.5, 0.0, 3.0];
        border[1] = [21.5, 1.0, 2.9];
        let border = border.map(|[b, class, _]| [b, class]);
        assert!(refused(posterior(&border, &[1], "binary")).contains("tells the classes apart"));
        // The highest score is apart from the others.
        let third = scores().map(|[class, grade, _]| [class, grade + 9.0 * (class - 1.0).max(0.0)]);
        assert!(refused(posterior(&third, &[0], "multiclass")).contains("tells the classes apart"));
        for (text, key) in [
            ("[prior.weights]\nfixed = 1.0", "prior.weights"),
            ("[residual]\nscale = 1.0", "scale"),
            ("[selection]", "selection"),
        ] {
            let text = format!("[sampling]\ninference = 'ml'\n{text}");
            let error = Linear::new(&Spec::from_toml(&text).unwrap()).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("no priors"), "{error}");
        }
    }
}
