//! Check that covariance functions are read, written and refused.

use super::*;

fn names() -> Vec<String> {
    ["year", "month", "a+b", "x (cm)", " "].map(String::from).to_vec()
}

fn parse(text: &str) -> Result<Vec<Vec<Factor>>, CovarianceError> {
    Covariance::parse(text, &names(), Sharing::PerInput)
}

fn canonical(text: &str) -> String {
    Covariance::new(parse(text).unwrap(), 5).name(&names())
}

#[test]
fn text_is_read_and_written_back() {
    for (text, expected) in [
        ("se", "squared-exponential"),
        (" rbf + constant ", "squared-exponential+constant"),
        ("matern32*matern52(year)+matern-3/2", "matern-3/2*matern-5/2(year)+matern-3/2"),
        (
            "periodic( month )*squared-exponential(year) + linear",
            "periodic(month)*squared-exponential(year)+linear",
        ),
        ("rq(month, year)*nn(a+b)", "rational-quadratic(month,year)*neural-network(a+b)"),
        ("exponential(\"x (cm)\",\" \")", "exponential(\"x (cm)\",\" \")"),
        ("linear(\"year\")", "linear(year)"),
        ("se(year,month,a+b,\"x (cm)\",\" \")", "squared-exponential"),
    ] {
        assert_eq!(canonical(text), expected);
        assert_eq!(canonical(expected), expected);
        assert_eq!(parse(text), parse(expected));
    }
    let terms = parse("periodic(month)*se(year)+linear").unwrap();
    assert_eq!(terms.len(), 2);
    assert_eq!(terms[0][0], factor(Function::Periodic, &[1], Sharing::PerInput));
    assert_eq!(terms[0][1], factor(Function::SquaredExponential, &[0], Sharing::PerInput));
    assert_eq!(terms[1][0], factor(Function::Linear, &[0, 1, 2, 3, 4], Sharing::PerInput));
    for function in Function::ALL {
        assert_eq!(Function::from_name(function.name()), Some(function));
    }
}

#[test]
fn parameters_come_in_their_order() {
    let relevance = |term, factor, input| Parameter::Relevance { term, factor, input };
    let covariance = Covariance::new(parse("periodic(month,year)*rq(year)+constant").unwrap(), 5);
    let expected = [
        Parameter::Magnitude { term: 0 },
        relevance(0, 0, Some(1)),
        relevance(0, 0, Some(0)),
        Parameter::Period { term: 0, factor: 0, input: 1 },
        Parameter::Period { term: 0, factor: 0, input: 0 },
        relevance(0, 1, Some(0)),
        Parameter::Shape { term: 0, factor: 1 },
        Parameter::Magnitude { term: 1 },
    ];
    assert_eq!(covariance.parameters(), expected);
    let common = Covariance::parse("linear+nn+linear*se", &names(), Sharing::Common).unwrap();
    let expected = [
        relevance(0, 0, None),
        Parameter::Magnitude { term: 1 },
        relevance(1, 0, None),
        Parameter::Bias { term: 1, factor: 0 },
        Parameter::Magnitude { term: 2 },
        relevance(2, 0, None),
        relevance(2, 1, None),
    ];
    assert_eq!(Covariance::new(common, 5).parameters(), expected);
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (text, message) in [
        (
            "se + mattern",
            "column 6: 'mattern' is no covariance function; known: squared-exponential, \
             matern-3/2, matern-5/2, exponential, rational-quadratic, periodic, linear, constant, \
             neural-network",
        ),
        ("se(yaer)", "column 4: 'yaer' is no input; known: year, month, a+b, x (cm),  "),
        ("se(year,year)", "column 9: input 'year' is named twice; name it once"),
        ("constant(year)", "column 9: 'constant' has no inputs; leave the brackets out"),
        ("", "column 1: expected a covariance function, found the end"),
        ("se+", "column 4: expected a covariance function, found the end"),
        ("se+*linear", "column 4: expected a covariance function, found '*'"),
        ("se()", "column 4: expected the name of an input, found ')'"),
        ("se(year", "column 8: expected ',' or ')', found the end"),
        ("se(year(", "column 8: expected ',' or ')', found '('"),
        ("se(\"year", "column 9: expected '\"', found the end"),
        ("se(year) linear", "column 10: expected '+', '*' or the end, found 'l'"),
        ("se)", "column 3: expected '+', '*' or the end, found ')'"),
        ("größe+se", "column 1: 'größe' is no covariance function"),
        ("linear+größe", "column 8: 'größe' is no covariance function"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
    let error = Covariance::parse("se", &[], Sharing::Common).unwrap_err();
    assert_eq!(error, CovarianceError::NoInputs { word: "se".into(), column: 1 });
    assert!(Covariance::parse("constant", &[], Sharing::Common).is_ok());
}
