//! Kill units at every moment, copy them while they run, and do them several times at once.

use std::fs;
use std::num::NonZero;
use std::path::Path;

use posteria::assess::{AssessError, Division, FittedFolds, Method};
use posteria::data::{Table, TextFormat};
use posteria::fit::{Fit, FitOptions, fit_table};
use posteria::{Linear, model::spec::Spec};

use super::Crash;
use super::toy::{options, same, scratch};
use crate::archive::tests::DIGESTS;
use crate::{
    NewPlan, PartError, PartOptions, PlanFolds, PlannedDivision, PlannedRun, Ran, Run, RunFolder,
    RunSource, WorkError, WorkPlan, WriteOptions,
};

/// A small fit, and how its rows are divided.
fn divided() -> (Fit, Vec<Division>) {
    let rows: String = (0..12).map(|row| format!("{},{}\n", row % 7, row % 5)).collect();
    let text = format!("x,y\n{rows}");
    let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).expect("a table");
    let few = FitOptions {
        chains: NonZero::new(2),
        warmup: Some(6),
        draws: NonZero::new(8),
        ..FitOptions::default()
    };
    let fit = fit_table(&table, "y", Linear::default(), &few).expect("a fit");
    let method = Method::k_fold(3, 1);
    let Method::KFold { schemes, draws } = &method else { unreachable!("folds") };
    let none = |_: &str| Err(PartError::from(AssessError::NoTargets));
    let divisions = Division::all(&fit, (schemes, *draws), none).expect("divided");
    (fit, divisions)
}

/// A plan of its folds.
fn plan(path: &Path) -> WorkPlan {
    plan_of(path, false)
}

/// A plan of its folds, or of every chain of them.
fn plan_of(path: &Path, each_chain: bool) -> WorkPlan {
    let (fit, divisions) = divided();
    let divisions = divisions.iter().map(|it| PlannedDivision::of(it, None, None)).collect();
    let run = PlannedRun { divisions, each_chain, ..PlannedRun::of("it", RunSource::Fit(&fit)) };
    let new = NewPlan { action: "test", arguments: serde_json::Value::Null, runs: vec![run] };
    WorkPlan::create(path, &new).expect("a plan")
}

/// Does the first unit.
fn do_first(plan: &WorkPlan, write: &WriteOptions) -> Result<Ran, WorkError> {
    do_unit(plan, 1, write)
}

fn do_unit(plan: &WorkPlan, unit: usize, write: &WriteOptions) -> Result<Ran, WorkError> {
    let read = |_: &Spec, _: &Path| Err(PartError::Table { message: "there is none".into() });
    plan.run_unit(unit, &read, PartOptions { threads: NonZero::<usize>::MIN, write, seen: &|| () })
}

fn left_at_work(path: &Path) -> usize {
    fs::read_dir(path.join("work")).expect("a folder").count()
}

#[test]
fn a_unit_killed_anywhere_has_the_same_result() {
    let folder = scratch();
    let path = folder.path().join("plan");
    let plan = plan(&path);
    let result = plan.result_file(1);
    let counter = WriteOptions { crash: Crash::after(i64::MAX / 2), ..options() };
    assert_eq!(do_first(&plan, &counter).expect("done"), Ran::Done);
    let steps = i64::MAX / 2 - counter.crash.left();
    let whole = fs::read(&result).expect("a result");
    assert!(steps > 100, "{steps} operations are too few to test");
    // The first and the last ones are about a folder as a whole; those between are alike.
    for step in (0..steps).filter(|step| step % 5 == 0 || *step > steps - 20) {
        fs::remove_file(&result).expect("removed");
        let killed = WriteOptions { crash: Crash::after(step), ..options() };
        do_first(&plan, &killed).expect_err("killed");
        assert_eq!(do_first(&plan, &options()).expect("done"), Ran::Done);
        assert!(fs::read(&result).expect("a result") == whole, "killed after {step} operations");
        assert_eq!(left_at_work(&path), 0);
    }
}

#[test]
fn what_another_attempt_has_left_is_gone_on_with_only_where_it_is_whole() {
    let folder = scratch();
    let path = folder.path().join("plan");
    let plan = plan(&path);
    let result = plan.result_file(1);
    do_first(&plan, &options()).expect("done");
    let whole = fs::read(&result).expect("a result");
    let left = path.join("work/000001.left");
    let unit = plan.unit(1).expect("a unit");
    let again = |what: &str| {
        assert!(left.exists() && !result.exists());
        do_first(&plan, &options()).expect("done");
        assert!(fs::read(&result).expect("a result") == whole, "{what}");
        assert_eq!(left_at_work(&path), 0, "{what}");
    };
    let unpacked = || {
        plan.unpack(&unit, &left).expect("unpacked");
        fs::remove_file(&result).expect("removed");
    };

    unpacked();
    again("all of it");

    // A copy that is on its way, or a folder that is being removed: nothing of it is vouched for.
    for missing in ["draws.zarr/.zmetadata", "draws.zarr/posterior/intercept/.zarray"] {
        unpacked();
        fs::remove_file(left.join(missing)).expect("removed");
        again(missing);
    }

    // All draws, and the end is yet to come.
    let (fit, divisions) = divided();
    let fold = divisions[0].model(&fit, 0).expect("a fold");
    let start = divisions[0].start(&fit, &fold);
    let begun = (&fold.prepared, &start.plan);
    let writer = RunFolder::begin(begun, None, &left, options()).expect("begun");
    let memories: Vec<_> =
        start.memories.expect("where chains begin").into_iter().map(Some).collect();
    let one = NonZero::<usize>::MIN;
    fold.prepared.run(None, &start.plan, &memories, one, &writer).expect("drawn");
    writer.checkpoint().expect("written");
    drop(writer);
    let run = Run::open(&left).expect("a run");
    assert!(!run.is_closed() && run.chain_draws() == [start.plan.draws; 2]);
    fs::remove_file(&result).expect("removed");
    again("not closed");
}

#[test]
fn chains_of_a_fold_are_read_as_the_fold() {
    let folder = scratch();
    let (_, divisions) = divided();
    let [by_folds, by_chains] = [("folds", false), ("chains", true)].map(|(name, each_chain)| {
        let plan = plan_of(&folder.path().join(name), each_chain);
        assert_eq!(plan.count(), if each_chain { 6 } else { 3 });
        for unit in (1..=plan.count()).rev() {
            do_unit(&plan, unit, &options()).expect("done");
        }
        let folds = PlanFolds::new(plan).expect("folds");
        assert_eq!(folds.runs(), [0]);
        let read = |fold| folds.draws(0, &divisions[0], fold).expect("draws");
        let draws: Vec<_> = (0..3).map(read).collect();
        assert_eq!(left_at_work(&folder.path().join(name)), 0);
        draws
    });
    for (one, other) in by_folds.iter().zip(&by_chains) {
        assert!(one.draws == 8 && same(one, other));
    }
    assert!(!same(&by_folds[0], &by_folds[1]));
}

#[test]
fn the_checksum_of_a_result_is_computed_once() {
    let folder = scratch();
    let plan = plan(&folder.path().join("plan"));
    do_first(&plan, &options()).expect("done");
    let (unit, result) = (plan.unit(1).expect("a unit"), plan.result_file(1));
    let before = DIGESTS.get();
    plan.check_result(&unit).expect("whole");
    // What is read by way of a clone is the same plan.
    plan.clone().check_result(&unit).expect("whole");
    plan.unpack(&unit, &folder.path().join("unpacked")).expect("whole");
    assert_eq!(DIGESTS.get() - before, 1);

    // Another file in its place is looked at again, also by its checksum.
    let mut bytes = fs::read(&result).expect("a result");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&result, &bytes).expect("written");
    let said = plan.check_result(&unit).expect_err("damaged").to_string();
    assert!(said.contains("does not fit its checksum"), "{said}");
}

#[test]
fn a_unit_that_several_do_at_once_has_the_same_result() {
    let folder = scratch();
    let path = folder.path().join("plan");
    let plan = plan(&path);
    let result = plan.result_file(1);
    do_first(&plan, &options()).expect("done");
    let whole = fs::read(&result).expect("a result");
    for round in 0..30 {
        fs::remove_file(&result).expect("removed");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| do_first(&plan, &options()).expect("done"));
            }
        });
        assert!(fs::read(&result).expect("a result") == whole, "round {round}");
        assert_eq!(left_at_work(&path), 0, "round {round}");
    }
}
