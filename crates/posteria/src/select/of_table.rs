//! From a table to the inputs that matter, in one call.

use super::{
    AssessSets, ChoiceError, ChoiceOptions, ChoiceReport, ChoiceRule, ChoiceStep, DividedFit,
    FitsElsewhere, InputChoice, InputSets, SelectError, SelectionReport, Visits, candidates_of,
    choose, input_importance, likely_sets, visits,
};
use crate::assess::{
    AssessError, AssessOptions, Bootstrap, Division, Method, PointwiseUtilities, TargetFacts,
    Utility, Valuation,
};
use crate::data::Table;
use crate::fit::{Fit, FitError, FitOptions, Prepared, Workers, prepare_table};
use crate::model::selection::Candidates;
use crate::model::spec::{SelectionSpec, Spec};

/// Why inputs cannot be selected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// A model cannot be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A set cannot be assessed.
    #[error(transparent)]
    Assess(Box<AssessError>),
    /// Draws do not say which inputs are in.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// Sets cannot be compared.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// Sets have other complete rows than all inputs.
    #[error(
        "a set of inputs has other complete rows than all inputs, since rows with empty cells are \
         dropped; take them out of the table"
    )]
    OtherRows,
    /// Fits that are to be made elsewhere are not there yet.
    #[error("fits that are made elsewhere are not there yet")]
    Elsewhere,
    /// Chains that are to be run elsewhere would wait for each other.
    #[error(
        "chains that stop when they have settled, or have drawn enough, wait for each other: say how \
         long each runs with --warmup and --draws, without --ess and --time"
    )]
    NotIndependent,
}

impl From<AssessError> for SelectionError {
    fn from(error: AssessError) -> Self {
        SelectionError::Assess(Box::new(error))
    }
}

/// How inputs are selected.
#[derive(Clone, Debug, Default)]
pub struct SelectOptions {
    /// How a set is chosen.
    pub choice: ChoiceOptions,
    /// What predictions are worth; the log predictive density if absent.
    pub utility: Option<Utility>,
    /// Judge sets by fits without each of so many folds, in place of leave-one-out.
    pub folds: Option<usize>,
}

/// What was found about inputs.
pub struct Selection {
    /// The chains over input sets.
    pub search: Fit,
    /// What they say about inputs, sizes and sets.
    pub visits: Visits,
    /// The smallest set that predicts as well as all inputs.
    pub choice: InputChoice,
    /// What may leave the model.
    pub candidates: Candidates,
    /// When a set is as good as all inputs.
    pub rule: ChoiceRule,
    /// How sets were assessed.
    pub method: Method,
    /// Into how many folds rows were divided for that, if they were.
    pub folds: Option<usize>,
}

impl Selection {
    /// What the chains over input sets are called where they are made elsewhere.
    pub const SEARCH: &str = "the search";

    /// All that is to be told about it, as `posteria select --json` does.
    ///
    /// # Errors
    /// [`SelectionError`] if whoever watches the work stops it.
    pub fn report(&self) -> Result<SelectionReport, SelectionError> {
        let Fit { prepared, draws, workers, .. } = &self.search;
        let with = (prepared.spec.sampling.seed(), workers);
        let importance = input_importance(prepared, (&self.candidates, draws), with);
        let importance = importance.map_err(AssessError::from)?;
        let mut report = SelectionReport::new(&prepared.spec, &self.visits, importance);
        let by = (self.method.name(), self.folds);
        report.choose(ChoiceReport::new(&self.choice, &self.rule, by));
        Ok(report)
    }
}

/// The chains over input sets that a selection begins with, prepared.
///
/// # Errors
/// [`SelectionError`] if table and model do not go together.
pub fn prepare_search(
    table: &Table,
    target: &str,
    model: impl Into<Spec>,
    options: &FitOptions,
) -> Result<Prepared, SelectionError> {
    let mut spec: Spec = model.into();
    spec.selection.get_or_insert_default();
    if options.draws.is_none() {
        spec.sampling = spec.sampling.over_input_sets(spec.model.kind);
    }
    Ok(prepare_table(table, target, spec, options)?)
}

/// Samples which inputs are in a model of the column `target`, and chooses the smallest set whose
/// predictions are as good as those of all inputs [Vehtari 2001, ch. 5]; `model` may have a
/// [`SelectionSpec`] with a prior of sets, groups, and inputs that are always in.
///
/// # Errors
/// [`SelectionError`] if a model cannot be fitted or assessed.
pub fn select_inputs(
    table: &Table,
    target: &str,
    model: impl Into<Spec>,
    (options, select): (&FitOptions, &SelectOptions),
) -> Result<Selection, SelectionError> {
    let search = prepare_search(table, target, model, options)?;
    select_from(table, search, (options, select), None)
}

/// The same by fits that are made elsewhere, where a search begins that [`prepare_search`] has prepared.
///
/// # Errors
/// [`SelectionError::Elsewhere`] as long as fits are missing: those that the choice is known or likely to
/// need next, side by side, and then what it needs besides, have been asked for.
pub fn select_inputs_elsewhere(
    table: &Table,
    search: Prepared,
    with: (&FitOptions, &SelectOptions),
    elsewhere: &dyn FitsElsewhere,
) -> Result<Selection, SelectionError> {
    select_from(table, search, with, Some(elsewhere))
}

fn select_from(
    table: &Table,
    search: Prepared,
    (options, select): (&FitOptions, &SelectOptions),
    elsewhere: Option<&dyn FitsElsewhere>,
) -> Result<Selection, SelectionError> {
    let selection: SelectionSpec = search.spec.selection.clone().unwrap_or_default();
    let search = made(Selection::SEARCH, search, (&options.workers, elsewhere))?;
    let candidates = candidates_of(&search.draws, &selection);
    let candidates = candidates.map_err(|error| FitError::Prepare(error.into()))?;
    let visits = visits(&search.draws, &candidates)?;
    let Prepared { spec, encoder, data, .. } = &search.prepared;
    let draws = options.draws.map_or(InputSets::draws(spec), std::num::NonZero::get);
    let sets = InputSets::new(spec, encoder, &candidates, draws);
    let method = match select.folds {
        Some(folds) => Method::k_fold(folds, spec.sampling.seed),
        None => Method::leave_one_out(),
    };
    let mut assessor = InMemorySets {
        sets: &sets,
        table,
        utility: select.utility.clone().unwrap_or(Utility::Elpd),
        method,
        workers: &options.workers,
        elsewhere,
        observed: &search.observed,
        folds: None,
        done: Vec::new(),
    };
    let of = (&sets, &candidates, &visits);
    if elsewhere.is_some() {
        assessor.want(&likely_sets(of, &select.choice))?;
    }
    let bootstrap =
        Bootstrap { groups: data.groups.clone(), ..Bootstrap::new(spec.sampling.seed()) };
    let choice = choose(&mut assessor, of, &select.choice, &bootstrap)?;
    let InMemorySets { method, folds, .. } = assessor;
    let rule = select.choice.rule();
    Ok(Selection { search, visits, choice, candidates, rule, method, folds })
}

/// The fit of what was prepared, from elsewhere if it is made there.
fn made(
    name: &str,
    prepared: Prepared,
    (workers, elsewhere): (&Workers, Option<&dyn FitsElsewhere>),
) -> Result<Fit, SelectionError> {
    let Some(elsewhere) = elsewhere else { return Ok(prepared.fit(workers)?) };
    if !prepared.has_independent_chains() {
        return Err(SelectionError::NotIndependent);
    }
    let fit = elsewhere.fit(name, prepared)?.ok_or(SelectionError::Elsewhere)?;
    Ok(Fit { workers: workers.clone(), ..fit })
}

/// Whether what was asked for is not there yet.
fn is_wanted<T>(found: Result<T, SelectionError>) -> Result<bool, SelectionError> {
    match found {
        Err(SelectionError::Elsewhere) => Ok(true),
        found => found.map(|_| false),
    }
}

/// Sets that are fitted in memory.
struct InMemorySets<'a> {
    sets: &'a InputSets<'a>,
    table: &'a Table,
    utility: Utility,
    method: Method,
    workers: &'a Workers,
    elsewhere: Option<&'a dyn FitsElsewhere>,
    observed: &'a [Vec<f64>],
    /// Into how many folds rows were divided, if they were.
    folds: Option<usize>,
    done: Vec<(Vec<bool>, PointwiseUtilities)>,
}

impl InMemorySets<'_> {
    fn name(&self, set: &[bool]) -> String {
        match set.contains(&false) {
            true => format!("the set {}", self.sets.names(set).join(", ")),
            false => "the set of all inputs".into(),
        }
    }

    fn fit(&self, set: &[bool]) -> Result<Fit, SelectionError> {
        let prepared = Prepared::new(self.sets.spec_of(set), self.table, None);
        let prepared = prepared.map_err(FitError::Prepare)?;
        let fit = made(&self.name(set), prepared, (self.workers, self.elsewhere))?;
        match fit.observed == self.observed {
            true => Ok(fit),
            false => Err(SelectionError::OtherRows),
        }
    }

    /// Asks for what is missing of these sets, all at once.
    fn want(&mut self, likely: &[Vec<bool>]) -> Result<(), SelectionError> {
        let mut missing = false;
        for set in likely {
            missing |= is_wanted(self.fit(set))?;
        }
        if !missing && matches!(self.method, Method::KFold { .. }) {
            for set in likely {
                missing |= is_wanted(self.assess(set, ChoiceStep { done: 0, others: 0 }))?;
            }
        }
        if missing { Err(SelectionError::Elsewhere) } else { Ok(()) }
    }

    /// The fit to a set, with its folds where they are fitted elsewhere.
    fn divided(&self, set: &[bool], fit: Fit) -> Result<(Fit, AssessOptions<'_>), SelectionError> {
        let (Some(elsewhere), Method::KFold { schemes, draws }) = (self.elsewhere, &self.method)
        else {
            return Ok((fit, AssessOptions::default()));
        };
        let none = |column: &str| Err(AssessError::NoColumn { column: column.into() });
        let divisions = Division::all(&fit, (schemes, *draws), none)?;
        let (targets, seed) =
            (TargetFacts::of(&fit.prepared.data), fit.prepared.spec.sampling.seed());
        let valuation = Valuation::new(std::slice::from_ref(&self.utility), &targets, seed);
        let divided = elsewhere.divided(&self.name(set), fit, (&divisions, &valuation))?;
        let DividedFit { fit, folds, number } = divided.ok_or(SelectionError::Elsewhere)?;
        Ok((fit, AssessOptions { fitted: Some((folds, number)), ..AssessOptions::default() }))
    }
}

impl AssessSets for InMemorySets<'_> {
    type Error = SelectionError;

    fn assess(
        &mut self,
        set: &[bool],
        _: ChoiceStep,
    ) -> Result<PointwiseUtilities, SelectionError> {
        if let Some((_, known)) = self.done.iter().find(|(own, _)| own == set) {
            return Ok(known.clone());
        }
        let (fit, options) = self.divided(set, self.fit(set)?)?;
        let utilities = std::slice::from_ref(&self.utility);
        let found = fit.assess_with(&self.method, utilities, &options)?;
        self.folds = found.assessed.folds.iter().flatten().max().map(|last| last + 1);
        // Behind the log predictive density, unless it is that.
        let pointwise = found.assessed.utilities.into_iter().next_back();
        let pointwise = pointwise.ok_or(AssessError::NoTargets)?;
        self.done.push((set.to_vec(), pointwise.clone()));
        Ok(pointwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::TextFormat;
    use crate::model::Linear;
    use crate::random::{Purpose, Seed};

    /// Two of four inputs matter, and they are found.
    #[test]
    fn the_inputs_that_matter_are_chosen() {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let mut row = |_| {
            let [a, b, c, d, noise]: [f64; 5] =
                std::array::from_fn(|_| 2.0 * stream.uniform() - 1.0);
            format!("{a},{b},{c},{d},{}\n", 2.0 * a - b + 0.5 * noise)
        };
        let text = format!("a,b,c,d,y\n{}", (0..60).map(&mut row).collect::<String>());
        let table = Table::from_text("t.csv", text.as_bytes(), &TextFormat::default());
        let few = FitOptions { draws: 300.try_into().ok(), ..FitOptions::default() };
        let with = (&few, &SelectOptions::default());
        let found = select_inputs(&table.expect("a table"), "y", Linear::default(), with);
        let found = found.expect("a selection");
        assert_eq!(found.choice.chosen, ["a", "b"]);
        let report = serde_json::to_value(found.report().expect("a report")).expect("JSON");
        assert_eq!((&report["method"], &report["chosen"][1]), (&"loo".into(), &"b".into()));
        assert!(report["inputs"][0]["importance"]["comparison"]["mean"].is_number());
        let p: Vec<f64> = found.visits.inputs.iter().map(|it| it.probability).collect();
        assert!(p[0] > 0.95 && p[1] > 0.95 && p[2] < 0.5 && p[3] < 0.5, "{p:?}");
    }
}
