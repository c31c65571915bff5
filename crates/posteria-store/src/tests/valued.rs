//! What units find out about the rows of a fit is all that an assessment needs of their folds.

use std::num::NonZero;

use posteria::Linear;
use posteria::assess::{
    AssessError, AssessOptions, Better, Division, FittedFolds, Method, RowUtilities, TargetFacts,
    Utility, Valuation,
};
use posteria::data::{Table, TextFormat};
use posteria::draws::Draws;
use posteria::fit::{Fit, FitOptions, fit_table};

use super::toy::{options, scratch};
use crate::{
    NewPlan, PartError, PartOptions, PlanFolds, PlannedDivision, PlannedRun, Ran, RunSource,
    WorkPlan,
};

/// Folds whose draws nobody gets to see.
#[derive(Debug)]
struct OnlyValued(PlanFolds);

impl FittedFolds for OnlyValued {
    fn draws(&self, _: usize, _: &Division, fold: usize) -> Result<Draws, AssessError> {
        Err(AssessError::NotFitted { reason: format!("fold {fold} is read") })
    }

    fn valued(
        &self,
        fit: usize,
        of: (&Division, usize),
        asked: &Valuation,
    ) -> Result<Option<Vec<RowUtilities>>, AssessError> {
        FittedFolds::valued(&self.0, fit, of, asked)
    }
}

/// A fit of a few rows with a target of two kinds.
fn fitted(text: &str) -> Fit {
    let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).expect("a table");
    let few = FitOptions {
        chains: NonZero::new(2),
        warmup: Some(20),
        draws: NonZero::new(30),
        ..FitOptions::default()
    };
    fit_table(&table, "y", Linear::default(), &few).expect("a fit")
}

#[test]
fn folds_are_valued_where_they_are_fitted() {
    let numbers: String = (0..24).map(|row| format!("{},{}\n", row % 7, row % 5)).collect();
    let classes: String =
        (0..24).map(|row| format!("{},{}\n", row % 7, ["no", "yes"][row % 3 % 2])).collect();
    for (rows, formula) in [(numbers, "expr:-abs(y - mean)"), (classes, "expr:log_density")] {
        let fit = fitted(&format!("x,y\n{rows}"));
        let targets = TargetFacts::of(&fit.prepared.data);
        let mut utilities = Utility::usual(&targets);
        utilities.push(Utility::parse(formula, &targets, Better::Higher).expect("a formula"));
        let seed = fit.prepared.spec.sampling.seed();
        let method = Method::k_fold(3, seed.0);
        let Method::KFold { schemes, draws } = &method else { unreachable!("folds") };
        let none = |_: &str| Err(PartError::from(AssessError::NoTargets));
        let divisions = Division::all(&fit, (schemes, *draws), none).expect("divided");
        let valuation = Valuation::new(&utilities, &targets, seed);
        let planned =
            divisions.iter().map(|it| PlannedDivision::of(it, None, Some(&valuation))).collect();
        let folder = scratch();
        let path = folder.path().join("plan");
        let run = PlannedRun { divisions: planned, ..PlannedRun::of("it", RunSource::Fit(&fit)) };
        let arguments = serde_json::Value::Null;
        let new = NewPlan { action: "test", arguments, runs: vec![run] };
        let plan = WorkPlan::create(&path, &new).expect("a plan");
        let read =
            |_: &_, _: &_| Err(PartError::Table { message: "there is no table".to_string() });
        let part = PartOptions { threads: NonZero::<usize>::MIN, write: &options(), seen: &|| () };
        for unit in 1..=3 {
            assert_eq!(plan.run_unit(unit, &read, part).expect("done"), Ran::Done);
        }
        let folds = OnlyValued(PlanFolds::new(plan).expect("folds"));
        let elsewhere = AssessOptions { fitted: Some((&folds, 0)), ..AssessOptions::default() };
        let found = fit.assess_with(&method, &utilities, &elsewhere).expect("assessed");
        let alone = fit.assess(&method, &utilities).expect("assessed");
        let told = |it: &posteria::assess::FitAssessment| {
            serde_json::to_string(&it.report(&fit).expect("told")).expect("JSON")
        };
        assert_eq!(told(&found), told(&alone));
        // By anything else they are not valued: their draws are asked for.
        let others = fit.assess_with(&method, &utilities[..1], &elsewhere);
        assert!(others.expect_err("read").to_string().contains("fold 0 is read"));
    }
}
