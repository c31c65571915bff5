//! Check columns that are not what they seem: numbers gone wrong, ids, dates, classes in figures.

use super::{DataError, Dataset, Encoder, LevelKind, Missing, Roles, Table, Task, TextFormat};
use crate::caution::Caution;

fn table(text: &str) -> Table {
    Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap()
}

fn roles() -> Roles {
    Roles { targets: vec!["y".into()], ..Roles::default() }
}

fn refused(text: &str, roles: &Roles) -> String {
    Dataset::new(&table(text), roles).unwrap_err().to_string()
}

/// A table of one input with these cells.
fn of(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let row = |(row, cell)| format!("{},{row}.5\n", AsRef::<str>::as_ref(&cell));
    let rows: String = cells.into_iter().enumerate().map(row).collect();
    format!("x,y\n{rows}")
}

#[test]
fn one_bad_cell_among_twelve_is_named() {
    let mut cells: Vec<String> = (0..12).map(|row| (row * row).to_string()).collect();
    cells[3] = "abc".into();
    let words = "d:5:1: \"abc\" in column \"x\" is not a number, but most cells of the column are; \
                 correct it, or write NA and use --missing drop (classes are read where most of them \
                 are words)";
    assert_eq!(refused(&of(&cells), &roles()), words);
    // So it is beside cells that may be dropped, and if it is a target.
    cells[1] = "-".into();
    let drop = Roles { missing: Missing::Drop, ..roles() };
    assert_eq!(refused(&of(&cells), &drop), words);
    let target = Roles { targets: vec!["x".into()], missing: Missing::Drop, ..Roles::default() };
    assert_eq!(refused(&of(&cells), &target), words);
    let three = refused(&of(["1", "2", "oops"]), &roles());
    assert!(three.starts_with("d:4:1: \"oops\""), "{three}");
    let comma = refused(&of(["1", "2", "1,234", "abc"].map(|it| format!("\"{it}\""))), &roles());
    assert!(comma.starts_with("d:4:1: \"1,234\"") && comma.contains("separators"), "{comma}");
}

#[test]
fn marks_of_missing_numbers_are_refused_or_dropped() {
    let cells = ["1", "-", "3", "NA", "n/a", "5", "none", "?", "nan", "null", ".", "", "8"];
    let text = of(cells);
    let words = refused(&text, &roles());
    assert!(words.starts_with("d:3:1: 9 missing cells: 3:1 (column \"x\"), "), "{words}");
    assert!(words.contains("--missing drop"), "{words}");
    let encoding =
        Encoder::fit(&table(&text), &Roles { missing: Missing::Drop, ..roles() }).unwrap();
    assert_eq!(encoding.rows, [0, 2, 5, 12]);
    assert_eq!(encoding.cautions, [Caution::RowsDropped { count: 9, rows: 13, emptiest: None }]);
    assert_eq!(encoding.dataset.input_names, ["x"]);
    // Where there are no numbers, a dash is a class like any other.
    let (data, _) = Dataset::new(&table(&of(["+", "-", "-", "+"])), &roles()).unwrap();
    assert_eq!(data.input_names, ["x[-]"]);
}

#[test]
fn new_rows_are_read_as_the_fit_read_them() {
    let encoder = Encoder::fit(&table(&of(["1", "2", "4"])), &roles()).unwrap().encoder;
    // All cells are marks, none is a number: still a column of numbers.
    let error =
        |text: &str, missing| encoder.encode(&table(text), missing).unwrap_err().to_string();
    assert!(error("x,z\n-,1\n", Missing::Error).starts_with("d:2:1: 1 missing cell: 2:1"));
    let kept = encoder.encode(&table("x,y\n-,1\n2,2\nnone,3\n4,4\n"), Missing::Drop).unwrap();
    assert_eq!(kept.rows, [1, 3]);
    let no_target = encoder.encode(&table("x,y\n2,-\n4,-\n"), Missing::Error).unwrap();
    assert_eq!(no_target.targets, None);
    for (text, place) in [
        ("x\n1\nabc\n-\n", "d:3:1: \"abc\""),
        ("x,y\nabc,1\ndef,2\n", "d:2:1: \"abc\""),
        ("x,y\n1,1\n2,abc\n", "d:3:2: \"abc\""),
        ("x,y\n1,1\n2020-01-05,2\n", "d:3:1: \"2020-01-05\""),
        ("x,y\n1,1\n1e300,2\n", "d:3:1: 1 too large cell: 3:1 (column \"x\"); at most 1e152"),
    ] {
        let words = error(text, Missing::Drop);
        assert!(words.starts_with(place), "{words}");
    }
}

#[test]
fn numbers_that_cannot_be_computed_with_are_named() {
    for standardize in [true, false] {
        let roles = Roles { standardize, ..roles() };
        assert_eq!(
            refused("x,y\n1,1\n1e300,2\n3,3\n", &roles),
            "d:3:1: 1 too large cell: 3:1 (column \"x\"); at most 1e152 can be used: correct them, or \
             change the unit of the column"
        );
        let target = refused("x,y\n1,1\n2,-1e155\n3,3\n", &roles);
        assert!(target.starts_with("d:3:2: 1 too large cell: 3:2 (column \"y\")"), "{target}");
        assert!(Dataset::new(&table("x,y\n1,1\n1e152,2\n3,3\n"), &roles).is_ok());
    }
    // Each column can be computed with, but the slope cannot; squares can, but not their sum.
    let slope = refused("x,y\n1e-100,1e100\n2e-100,2e100\n", &roles());
    assert!(
        slope.starts_with("d: the values of column \"x\" are too large or too small"),
        "{slope}"
    );
    let raw = Roles { standardize: false, ..roles() };
    let many: String = (0..20_000).map(|row| format!("1e152,{row}\n")).collect();
    let sum = refused(&format!("x,y\n{many}"), &raw);
    assert!(sum.starts_with("d: the values of column \"x\" are too large or too small"), "{sum}");
    // A value within range, but not on the scale of the fit.
    let encoder = Encoder::fit(&table(&of(["1e-150", "2e-150", "4e-150"])), &roles()).unwrap();
    let error = encoder.encoder.encode(&table("x,z\n1,2\n1e10,3\n"), Missing::Error).unwrap_err();
    assert!(
        error.to_string().starts_with("d:3:1: \"10000000000\" in column \"x\" is so far from"),
        "{error}"
    );
}

#[test]
fn a_value_for_every_row_is_no_class() {
    let ids = of((0..150).map(|row| format!("P{row:03}")));
    assert_eq!(
        refused(&ids, &roles()),
        "d: column \"x\" has 150 different values in 150 row(s), more than the 100 that are taken for \
         classes, and looks like ids or free text (such as \"P000\"); leave it out with --exclude \
         x, or if they are classes allow so many with --max-levels 150"
    );
    let raised = Roles { max_levels: Some(150), ..roles() };
    assert_eq!(Dataset::new(&table(&ids), &raised).unwrap().0.input_names.len(), 150);
    let lowered = Roles { max_levels: Some(2), ..roles() };
    assert!(refused(&of(["a", "b", "c", "a"]), &lowered).contains("more than the 2 that"));
    // Another role makes no indicators, and an input that is not used does no harm.
    let group = Roles { group: Some("x".into()), ..roles() };
    let grouped = ids.replace("x,y", "x,y,z").replace(".5\n", ".5,1\n");
    assert_eq!(Dataset::new(&table(&grouped), &group).unwrap().0.input_names, ["z"]);
}

#[test]
fn dates_and_hexadecimal_numbers_are_called_so() {
    let days = of((1..=12).map(|day| format!("2024-03-{day:02}")));
    let words = refused(&days, &roles());
    for word in ["12 different values in 12 row(s)", "dates (such as \"2024-03-01\")", "days since"]
    {
        assert!(words.contains(word), "{word:?} is missing in {words}");
    }
    let hexadecimal = refused(&of((0..12).map(|row| format!("0x{row:X}F"))), &roles());
    assert!(hexadecimal.contains("hexadecimal numbers (such as \"0x0F\"); write them as"));
    let percent = refused(&of((0..12).map(|row| format!("{row}.5%"))), &roles());
    assert!(percent.contains("numbers with a unit (such as \"0.5%\"); write the numbers alone"));
    // Twelve months of 25 rows each are still a quantity, three are classes.
    let months =
        |months: usize| of((0..300).map(move |row| format!("2024-{:02}-01", row % months + 1)));
    assert!(refused(&months(12), &roles()).contains("more than the 10 that"));
    assert_eq!(Dataset::new(&table(&months(3)), &roles()).unwrap().0.input_names.len(), 3);
}

#[test]
fn small_tables_keep_their_classes() {
    for cells in [
        &["a", "b", "c", "d"][..],
        &["a", "b", "c", "d", "d"],
        &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "a", "b"],
    ] {
        assert!(Dataset::new(&table(&of(cells)), &roles()).is_ok(), "{cells:?}");
    }
    let all = ["a", "b", "c", "d", "e"];
    assert!(refused(&of(all), &roles()).contains("5 different values in 5 row(s)"));
}

#[test]
fn a_target_with_a_class_for_every_row_is_refused() {
    let target = Roles { targets: vec!["x".into()], ..Roles::default() };
    let words = refused(&of((0..40).map(|row| format!("name {row}"))), &target);
    assert!(words.contains("choose another --target or merge rare classes"), "{words}");
    let numbers = of((0..40).map(|row| row.to_string()));
    let asked = Roles { task: Some(Task::Multiclass), ..target.clone() };
    let error = Dataset::new(&table(&numbers), &asked).unwrap_err();
    assert!(matches!(error, DataError::TooManyLevels { kind: LevelKind::Numbers, .. }), "{error}");
    assert!(error.to_string().contains("fit them with --task regression"), "{error}");
    assert!(Dataset::new(&table(&numbers), &target).is_ok());
}

#[test]
fn whole_numbers_that_may_be_classes_are_told() {
    let target = Roles { targets: vec!["x".into()], ..Roles::default() };
    let cautions = |cells: &[i32], roles: &Roles| {
        let cells = cells.iter().map(ToString::to_string);
        let (data, cautions) = Dataset::new(&table(&of(cells)), roles).unwrap();
        (data.task, cautions.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (task, said) = cautions(&[0, 1, 1, 0], &target);
    assert_eq!(task, Task::Regression);
    assert_eq!(
        said,
        [
            "target x has 2 different values, the whole numbers 0 and 1, and is fitted as a number; for \
          classes fit with --task binary (--task regression says that numbers are meant)"
        ]
    );
    assert_eq!(cautions(&[0, 1], &target).1.len(), 1);
    let (_, said) = cautions(&[3, 4, 4, 3, 5, 8, 8, 8], &target);
    assert!(said[0].contains("whole numbers 3 to 8") && said[0].contains("--task multiclass"));
    assert!(!said[0].contains("--task count"));
    let (_, said) = cautions(&[0, 1, 1, 0, 2, 5, 0, 1], &target);
    assert!(said[0].contains("for counts of events with --task count"), "{}", said[0]);
    let asked = |task| Roles { task: Some(task), ..target.clone() };
    assert_eq!(cautions(&[0, 1, 1, 0], &asked(Task::Regression)), (Task::Regression, vec![]));
    assert_eq!(cautions(&[0, 1, 1, 0], &asked(Task::Binary)), (Task::Binary, vec![]));
    for numbers in [
        &[3, 7, 9][..],
        &[1000, 2000, 1000, 2000],
        &(0..22).map(|row| row % 11).collect::<Vec<_>>(),
    ] {
        assert_eq!(cautions(numbers, &target).1, Vec::<String>::new(), "{numbers:?}");
    }
}

#[test]
fn columns_that_count_the_rows_are_inputs_with_a_caution() {
    let of = |first: usize, rows: usize, given: &Roles| {
        let line = |row: usize| format!("{},{}.5,{}.25\n", row + first, row * row % 7, row * 3 % 5);
        let text: String = (0..rows).map(line).collect();
        Dataset::new(&table(&format!(",x,y\n{text}")), given).unwrap().1
    };
    let counted = |first, rows| Caution::RowNumbers { column: "x1".into(), first, rows };
    assert_eq!(of(0, 12, &roles()), [counted(0, 12)]);
    let words = "column x1 counts the rows, 1 to 12, and is an input all the same; unless it is a \
                 time or a place, leave it out with --exclude x1";
    let found = of(1, 12, &roles());
    assert_eq!((found[0].to_string().as_str(), found[0].is_doubt()), (words, false));
    // Few rows, years, and columns that were asked for.
    assert_eq!(of(1, 9, &roles()), []);
    assert_eq!(of(2, 12, &roles()), []);
    let inputs = Some(vec!["x1".into(), "x".into()]);
    assert_eq!(of(1, 12, &Roles { inputs, ..roles() }), []);
    let exclude = vec!["x1".into()];
    assert_eq!(of(1, 12, &Roles { exclude, ..roles() }), []);
    // A single input is what the target is to be explained by.
    let rows: String = (1..13).map(|row| format!("{row},{}.5\n", row * row % 7)).collect();
    assert_eq!(Dataset::new(&table(&format!("t,y\n{rows}")), &roles()).unwrap().1, []);
}
