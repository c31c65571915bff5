//! Check how tables become data: roles, classes, scales, missing cells, new tables.

use super::{
    Censoring, DataError, Dataset, Encoder, Encoding, Ending, Missing, Roles, Standardization,
    Table, Targets, Task, TextFormat,
};
use crate::caution::Caution;

const ROUNDING: f64 = 1e-12;

fn table(text: &str) -> Table {
    Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap()
}

fn roles(target: &str) -> Roles {
    Roles { targets: vec![target.into()], ..Roles::default() }
}

fn refused(text: &str, roles: &Roles) -> String {
    Dataset::new(&table(text), roles).unwrap_err().to_string()
}

fn codes(dataset: &Dataset) -> (Vec<&str>, Vec<usize>) {
    match &dataset.targets {
        Targets::Classes { labels, codes, .. } => {
            (labels.iter().map(String::as_str).collect(), codes.clone())
        }
        _ => panic!("the targets should be classes"),
    }
}

#[test]
fn inputs_and_targets_come_back_on_the_users_scale() {
    let text = "x,y,colour,sex\n1,10,red,m\n2,30,blue,f\n4,20,green,m\n5,5,red,m\n";
    let (data, cautions) = Dataset::new(&table(text), &roles("y")).unwrap();
    assert_eq!(cautions, []);
    assert_eq!(data.task, Task::Regression);
    assert_eq!(data.input_names, ["x", "colour[blue]", "colour[green]", "colour[red]", "sex[m]"]);
    let user = [
        [1.0, 2.0, 4.0, 5.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0, 1.0],
    ];
    for (column, values) in user.iter().enumerate() {
        let standardized = data.inputs.column(column);
        assert!(standardized.iter().sum::<f64>().abs() < ROUNDING);
        let squares: f64 = standardized.iter().map(|value| value * value).sum();
        assert!((squares - 3.0).abs() < ROUNDING);
        for (value, standardized) in values.iter().zip(standardized) {
            assert!((data.input_scaling[column].invert(*standardized) - value).abs() < ROUNDING);
        }
    }
    let raw = Roles { standardize: false, ..roles("y") };
    let (data, _) = Dataset::new(&table(text), &raw).unwrap();
    assert_eq!(data.inputs.column(0), [1.0, 2.0, 4.0, 5.0]);
    assert_eq!(data.target_scaling, [Standardization::IDENTITY]);
}

#[test]
fn columns_have_the_roles_they_are_given() {
    let text = "a,b,c,g,f\n1,2,3,u,2\n4,5,7,v,1\n7,8,8,u,2\n";
    let given = Roles {
        targets: vec!["c".into(), "a".into()],
        group: Some("g".into()),
        fold: Some("f".into()),
        ..Roles::default()
    };
    let encoding = Encoder::fit(&table(text), &given).unwrap();
    assert_eq!(encoding.dataset.input_names, ["b"]);
    assert_eq!(encoding.dataset.groups, Some(vec![0, 1, 0]));
    assert_eq!(encoding.folds, Some(vec![1, 0, 1]));
    match &encoding.dataset.targets {
        Targets::Real { names, values } => {
            assert_eq!(names, &["c", "a"]);
            assert!((encoding.dataset.target_scaling[1].invert(values[(1, 1)]) - 4.0).abs() < 1e-9);
        }
        _ => panic!("the targets should be real"),
    }
    let twice = Roles { inputs: Some(vec!["a".into()]), ..given.clone() };
    assert_eq!(
        refused(text, &twice),
        "d: column \"a\" was given twice among targets and inputs; name it once"
    );
    let unknown = Roles { group: Some("G1".into()), ..given };
    assert_eq!(
        refused(text, &unknown),
        "d: there is no column \"G1\"; the columns are \"a\", \"b\", \"c\", \"g\", \"f\""
    );
    let alone = "d: no column is left to explain \"y\"; give the table more columns";
    assert_eq!(refused("y\n1\n", &roles("y")), alone);
    let none = Roles { inputs: Some(Vec::new()), ..roles("y") };
    assert_eq!(Dataset::new(&table("y\n1\n2\n"), &none).unwrap().0.rows(), 2);
}

#[test]
fn classes_are_found_and_ordered() {
    let class = |text: &str, task| {
        let given = Roles { task, ..roles("y") };
        let (data, cautions) = Dataset::new(&table(text), &given).unwrap();
        let (labels, codes) = codes(&data);
        assert!(data.target_scaling.is_empty());
        (data.task, labels.join(" "), codes, cautions.len())
    };
    let text = "x,y\n1,no\n2,yes\n3,no\n";
    assert_eq!(class(text, None), (Task::Binary, "no yes".into(), vec![0, 1, 0], 0));
    let text = "x,y\n1,10\n2,9\n3,-1\n";
    let expected = (Task::Multiclass, "-1 9 10".to_string(), vec![2, 1, 0], 0);
    assert_eq!(class(text, Some(Task::Multiclass)), expected);
    let text = "x,y\n1,b\n2,c\n3,a\n";
    assert_eq!(class(text, None), (Task::Multiclass, "a b c".into(), vec![1, 2, 0], 0));
    let text = "x,y\n1,0\n2,-0\n3,1\n";
    assert_eq!(class(text, Some(Task::Binary)), (Task::Binary, "0 1".into(), vec![0, 0, 1], 0));
    // One class only: accepted with a caution, and binary still has two labels.
    let text = "x,y\n1,1\n2,1\n";
    assert_eq!(class(text, Some(Task::Binary)), (Task::Binary, "0 1".into(), vec![1, 1], 1));
    let text = "x,y\n1,a\n2,a\n";
    assert_eq!(class(text, None), (Task::Binary, "a not a".into(), vec![0, 0], 1));
    let text = "x,y\n1,0\n2,1\n";
    assert_eq!(Dataset::new(&table(text), &roles("y")).unwrap().0.task, Task::Regression);
}

#[test]
fn targets_that_do_not_fit_the_task_are_refused() {
    let with = |task| Roles { task: Some(task), ..roles("y") };
    for (text, given, expected) in [
        (
            "x,y\n1,0\n2,1\n3,2\n",
            with(Task::Binary),
            "d: target \"y\" has 3 classes (\"0\", \"1\", \"2\"), but the task is binary; choose \
             multiclass",
        ),
        (
            "x,y\n1,0\n2,0.5\n",
            with(Task::Multiclass),
            "d:3:2: \"0.5\" in column \"y\" is not a class: classes are text or whole numbers; \
             choose regression",
        ),
        (
            "x,y\n1,0\n2,b\n",
            with(Task::Regression),
            "d:3:2: \"b\" in column \"y\" is not a number, so it cannot be the target of a \
             regression; choose binary or multiclass",
        ),
        (
            "x,y,z\n1,a,1\n2,b,2\n",
            Roles { targets: vec!["y".into(), "z".into()], ..Roles::default() },
            "d: 2 targets were given, but classification takes exactly one",
        ),
        (
            "x;y\n1;1,5\n2;2\n",
            roles("y"),
            "d:2:2: \"1,5\" in column \"y\" looks like a number with a decimal comma or \
             separators; write 1234.5 with a point and nothing else, or check the delimiter",
        ),
        (
            "x,y\n1e308,1\n-1.7e308,2\n",
            roles("y"),
            "d:2:1: 2 too large cells: 2:1 (column \"x\"), 3:1; at most 1e152 can be used: correct \
             them, or change the unit of the column",
        ),
        (
            "x,y\n1e-320,1\n2e-320,2\n",
            roles("y"),
            "d: the values of column \"x\" are too large or too small to be computed with; change \
             their unit",
        ),
        (
            "x,y\n1,inf\n1e999,2\n",
            roles("y"),
            "d:2:2: 2 infinite cells: 2:2 (column \"y\"), 3:1; write finite \
             numbers, at most 1e152 in size",
        ),
    ] {
        assert_eq!(refused(text, &given), expected);
    }
}

#[test]
fn a_reference_class_has_no_indicator_here_and_in_new_tables() {
    let text = "colour,sex,y\nred,m,1\nblue,f,2\ngreen,m,4\nred,m,5\n";
    let given = Roles { reference_classes: true, ..roles("y") };
    let Encoding { dataset, encoder, .. } = Encoder::fit(&table(text), &given).unwrap();
    assert_eq!(dataset.input_names, ["colour[green]", "colour[red]", "sex[m]"]);
    assert_eq!(encoder.reference_classes(), [("colour".to_string(), "blue".to_string())]);
    let again = Encoder::from_json(&encoder.to_json()).unwrap();
    let new = again.encode(&table("sex,colour\nf,blue\nm,red\n"), Missing::Error).unwrap();
    for (row, expected) in [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]].into_iter().enumerate() {
        for (column, expected) in expected.into_iter().enumerate() {
            let value = dataset.input_scaling[column].invert(new.inputs[(row, column)]);
            assert!((value - expected).abs() < ROUNDING, "{row} {column} {value}");
        }
    }
}

#[test]
fn numbers_gone_wrong_do_not_become_classes() {
    let mut text = "x,y\n".to_string();
    (0..30).for_each(|row| text.push_str(&format!("{row}.5,1\n")));
    text.push_str("3.1.4,2\n");
    assert_eq!(
        refused(&text, &roles("y")),
        "d:32:1: \"3.1.4\" in column \"x\" is not a number, but most cells of the column are; \
         correct it, or write NA and use --missing drop (classes are read where most of them are \
         words)"
    );
    let (data, _) = Dataset::new(&table("x,y\n1,1\n2,4\n3+,3\n18-25,2\n"), &roles("y")).unwrap();
    assert_eq!(data.input_names, ["x[1]", "x[18-25]", "x[2]", "x[3+]"]);
}

#[test]
fn missing_cells_are_refused_or_their_rows_dropped() {
    let text = "x,y,unused\n1,2,\n,3,1\n3,NA,1\n,,\n5,6,1\n";
    let given = Roles { inputs: Some(vec!["x".into()]), ..roles("y") };
    assert_eq!(
        refused(text, &given),
        "d:3:1: 4 missing cells: 3:1 (column \"x\"), 4:2, 5:1, 5:2; fill them \
         in, or leave their rows out with --missing drop"
    );
    let drop = Roles { missing: Missing::Drop, ..given };
    let encoding = Encoder::fit(&table(text), &drop).unwrap();
    assert_eq!(encoding.rows, [0, 4]);
    assert_eq!(encoding.cautions, [Caution::RowsDropped { count: 3, rows: 5, emptiest: None }]);
    // Scales come from the rows that are left.
    assert!((encoding.dataset.input_scaling[0].centre - 3.0).abs() < ROUNDING);
    assert_eq!(
        refused("x,y\n1,\n,2\n", &Roles { missing: Missing::Drop, ..roles("y") }),
        "d: each of the 2 rows has a missing cell, so none is left; leave columns out with --exclude: \
         most cells are missing in \"x\" (1), \"y\" (1)"
    );
}

#[test]
fn constant_columns_are_kept_with_a_caution() {
    let text = "x,c,k,y\n1,7,a,1\n2,7,a,2\n";
    let (data, cautions) = Dataset::new(&table(text), &roles("y")).unwrap();
    let constant = |column: &str| Caution::ConstantColumn { column: column.into() };
    assert_eq!(cautions, [constant("c"), constant("k")]);
    assert_eq!(data.input_names, ["x", "c", "k[a]"]);
    assert_eq!(data.input_scaling[1], Standardization { centre: 7.0, scale: 1.0 });
    assert_eq!(data.inputs.column(2), [0.0, 0.0]);
    let (_, cautions) = Dataset::new(&table("x,y\n1,7\n2,7\n"), &roles("y")).unwrap();
    assert_eq!(cautions, [Caution::ConstantTarget { column: "y".into() }]);
    let (one, cautions) = Dataset::new(&table("x,y\n3,4\n"), &roles("y")).unwrap();
    assert_eq!((one.rows(), cautions.len()), (1, 0));
}

#[test]
fn new_tables_are_encoded_like_the_training_table() {
    let text = "x,k,y\n1,a,10\n3,b,30\n5,1,20\n";
    let encoding = Encoder::fit(&table(text), &roles("y")).unwrap();
    let json = serde_json::to_string(&encoding.encoder).unwrap();
    let encoder: Encoder = serde_json::from_str(&json).unwrap();
    assert_eq!(encoder, encoding.encoder);

    let same = encoder.encode(&table(text), Missing::Error).unwrap();
    assert_eq!(same.inputs, encoding.dataset.inputs);
    assert_eq!(same.targets.as_ref(), Some(&encoding.dataset.targets));

    // Other order, a column too many, no target; classes that read as numbers.
    let new = encoder.encode(&table("more,k,x\n9,1.0,5\n9,1,1\n"), Missing::Error).unwrap();
    assert_eq!(new.targets, None);
    assert_eq!(new.inputs.column(0)[0].to_bits(), encoding.dataset.inputs[(2, 0)].to_bits());
    assert_eq!(new.inputs.column(1)[1].to_bits(), encoding.dataset.inputs[(2, 1)].to_bits());

    let empty_target = encoder.encode(&table("x,k,y\n1,a,\n2,b,NA\n"), Missing::Error).unwrap();
    assert_eq!(empty_target.targets, None);
    let dropped = encoder.encode(&table("x,k,y\n1,a,\n2,b,3\n"), Missing::Drop).unwrap();
    assert_eq!((dropped.rows, dropped.cautions.len()), (vec![1], 1));

    for (text, expected) in [
        (
            "k,X\na,1\n",
            "d: there is no column \"x\" (did you mean \"X\"?); the columns are \"k\", \"X\"",
        ),
        (
            "x,k\n1,a\n2,c\n",
            "d:3:2: \"c\" in column \"k\" is a class that the training data do not have; they \
             have \"1\", \"a\", \"b\"",
        ),
        (
            "x,k\n1,a\nlow,b\n",
            "d:3:1: \"low\" in column \"x\" is not a number, but the column held numbers when the \
             model was fitted; correct it, or write NA and use --missing drop",
        ),
    ] {
        let error: DataError = encoder.encode(&table(text), Missing::Error).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn the_magnitude_of_columns_does_not_matter() {
    let encode = |factor: f64| {
        let values = [1.0, 2.5, -3.0, 0.125].map(|value: f64| value * factor);
        let rows: String = values.iter().map(|value| format!("{value:e},{value:?}\n")).collect();
        Dataset::new(&table(&format!("x,y\n{rows}")), &roles("y")).unwrap().0
    };
    let reference = encode(1.0);
    for factor in [1e-150, 1e-8, 1e8, 1e150] {
        let data = encode(factor);
        for (value, expected) in data.inputs.values().iter().zip(reference.inputs.values()) {
            assert!((value - expected).abs() < ROUNDING, "{factor}");
        }
    }
}

#[test]
fn counts_and_exposures_are_taken_as_they_are() {
    let text = "x,e,y\n1,2,0\n2,0.5,3\n4,1,12\n";
    let given = Roles { task: Some(Task::Count), exposure: Some("e".into()), ..roles("y") };
    let encoding = Encoder::fit(&table(text), &given).unwrap();
    let data = &encoding.dataset;
    assert_eq!(data.input_names, ["x"]);
    assert_eq!(data.task, Task::Count);
    let values = vec![0.0, 3.0, 12.0];
    assert_eq!(data.targets, Targets::Counts { name: "y".into(), values: values.clone() });
    assert_eq!(data.offsets, Some([2.0_f64, 0.5, 1.0].map(f64::ln).to_vec()));
    assert_eq!(data.inputs_and_offsets().columns(), 2);
    assert_eq!(data.select(&[1]).offsets, Some(vec![0.5_f64.ln()]));
    // As a run folder keeps them, and as new rows have them.
    let again = Encoder::from_json(&encoding.encoder.to_json()).unwrap();
    let exposures = [2.0, 0.5, 1.0];
    let kept = [values];
    let restored = again.restore(&[1.0, 2.0, 4.0], &kept, None, Some(&exposures)).unwrap();
    assert_eq!(restored.targets, data.targets);
    assert_eq!(restored.offsets, data.offsets);
    assert!(again.restore(&[1.0, 2.0, 4.0], &kept, None, None).is_err());
    let new = again.encode(&table("e,x\n3,1\n"), Missing::Error).unwrap();
    assert_eq!((new.targets.is_none(), new.offsets), (true, Some(vec![3.0_f64.ln()])));
    let missing = again.encode(&table("x\n1\n2\n"), Missing::Error).unwrap_err().to_string();
    assert!(missing.contains("there is no column \"e\""), "{missing}");
    for (text, says) in [
        ("x,e,y\n1,2,0\n2,1,-3\n", "3:3: \"-3\" in column \"y\" is not a count"),
        ("x,e,y\n1,2,0\n2,1,2.5\n", "3:3: \"2.5\" in column \"y\" is not a count"),
        ("x,e,y\n1,2,0\n2,0,2\n", "3:2: \"0\" in column \"e\" is not an exposure"),
        ("x,e,y\n1,2,0\n2,-1,2\n", "3:2: \"-1\" in column \"e\" is not an exposure"),
        ("x,e,y\n1,2,0\n2,,2\n", "1 missing cell"),
    ] {
        let message = refused(text, &given);
        assert!(message.contains(says), "{message}");
    }
    let real = Roles { task: Some(Task::Regression), ..given.clone() };
    assert!(refused(text, &real).contains("choose --task count"));
    let twice = Roles { inputs: Some(vec!["e".into()]), ..given.clone() };
    assert!(refused(text, &twice).contains("is a target or an input too"));
    let several = Roles { targets: vec!["y".into(), "x".into()], inputs: None, ..given };
    assert!(refused("x,e,y,z\n1,2,0,1\n", &several).contains("one at a time"));
}

#[test]
fn durations_and_what_is_censored_are_read() {
    let text = "x,y,c\n1,2.5,0\n2,4,1\n4,9,no\n";
    let censoring = |one_is| Some(Censoring { column: "c".into(), one_is });
    let given =
        Roles { task: Some(Task::Duration), censoring: censoring(Ending::Censored), ..roles("y") };
    let encoding = Encoder::fit(&table(text), &given).unwrap();
    let data = &encoding.dataset;
    assert_eq!((&data.input_names[..], data.task), (&["x".to_string()][..], Task::Duration));
    let (name, times) = ("y".to_string(), vec![2.5, 4.0, 9.0]);
    let censored = Some(vec![false, true, false]);
    assert_eq!(data.targets, Targets::Durations { name, times: times.clone(), censored });
    assert_eq!(encoding.encoder.observed(&data.targets), [[2.5], [-4.0], [9.0]]);
    assert_eq!(data.select(&[1]).targets.signed_durations(), [-4.0]);
    // As a run folder keeps them, as a plan does, and as new rows have them.
    let again = Encoder::from_json(&encoding.encoder.to_json()).unwrap();
    let restored = again.restore(&[1.0, 2.0, 4.0], &[times], None, Some(&[0.0, 1.0, 0.0])).unwrap();
    assert_eq!(
        (&restored.targets, &restored.target_scaling),
        (&data.targets, &data.target_scaling)
    );
    let decoded = again.decode(&restored, None).unwrap();
    assert_eq!(Encoder::fit(&decoded, &given).unwrap().dataset.targets, data.targets);
    assert_eq!(again.encode(&table("x\n1\n"), Missing::Error).unwrap().targets, None);
    let without = again.encode(&table("x,y\n1,2\n"), Missing::Error).unwrap_err().to_string();
    assert!(without.contains("add it, or leave the durations out"), "{without}");
    let event = Roles { censoring: censoring(Ending::Event), ..given.clone() };
    let other = Encoder::fit(&table(text), &event).unwrap().dataset;
    assert_eq!(other.targets.signed_durations(), [-2.5, 4.0, -9.0]);
    for (text, says) in [
        ("x,y,c\n1,2,0\n2,0,1\n", "3:2: \"0\" in column \"y\" is not a duration"),
        ("x,y,c\n1,2,0\n2,-3,1\n", "3:2: \"-3\" in column \"y\" is not a duration"),
        ("x,y,c\n1,2,0\n2,3,2\n", "3:3: \"2\" in column \"c\" does not say whether"),
        ("x,y,c\n1,2,1\n2,3,1\n", "did you mean --event?"),
    ] {
        let message = refused(text, &given);
        assert!(message.contains(says), "{message}");
    }
    let real = Roles { task: Some(Task::Regression), ..given.clone() };
    assert!(refused(text, &real).contains("choose --task duration"));
    let twice = Roles { inputs: Some(vec!["c".into()]), ..given };
    assert!(refused(text, &twice).contains("name it once"));
}
