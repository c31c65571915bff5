//! Test that what is written is read back, and that nothing else does harm.

use proptest::prelude::*;

use super::*;
use crate::draws::{Dimension, Draws, Layout, Statistics};

fn read(texts: &[&str]) -> Result<Draws, ReadError> {
    read_draws(texts.iter().enumerate().map(|(i, text)| (format!("f{i}.csv"), text.as_bytes())))
}

fn message(text: &str) -> String {
    read(&[text]).unwrap_err().to_string()
}

/// Draws of any layout, values and sizes.
fn any_draws() -> impl Strategy<Value = Draws> {
    let axes = prop::collection::vec(1_usize..4, 0..3);
    let layout = prop::collection::vec(axes, 1..4);
    (layout, 1_usize..4, 1_usize..5, any::<bool>(), any::<u64>()).prop_flat_map(
        |(shapes, chains, draws, with_statistics, salt)| {
            let mut layout = Layout::new();
            for (v, shape) in shapes.iter().enumerate() {
                let label = |axis: usize, i: usize| match salt % 3 {
                    0 => (i + 1).to_string(),
                    1 => format!("l{axis}{i}"),
                    _ => format!("a, \"{i}\"\n#"),
                };
                let axis = |(axis, size): (usize, &usize)| Dimension {
                    name: format!("d{axis}"),
                    labels: (0..*size).map(|i| label(axis, i)).collect(),
                };
                layout.push(format!("v{v}"), shape.iter().enumerate().map(axis).collect());
            }
            let per_draw = layout.len() + if with_statistics { Statistics::LEN } else { 0 };
            let numbers = prop::collection::vec(prop::num::f64::ANY, chains * draws * per_draw);
            numbers.prop_map(move |numbers| {
                let mut out = Draws::empty(layout.clone(), chains, 0);
                out.draws = draws;
                for row in numbers.chunks(per_draw) {
                    let (values, statistics) = row.split_at(layout.len());
                    out.values.extend(values);
                    if let Ok(statistics) = statistics.try_into() {
                        out.statistics.push(Statistics::from_array(statistics));
                    }
                }
                out
            })
        },
    )
}

fn same(a: &[f64], b: &[f64]) -> bool {
    let alike = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

fn statistics_of(draws: &Draws, places: &[usize]) -> Vec<f64> {
    let of = |s: &Statistics| places.iter().map(|place| s.to_array()[*place]).collect::<Vec<_>>();
    draws.statistics.iter().flat_map(of).collect()
}

proptest! {
    #[test]
    fn our_table_reads_back_bit_for_bit(draws in any_draws()) {
        let mut out = Vec::new();
        write_csv(&draws, &mut out).unwrap();
        let back = read_draws([("x.csv".to_string(), &out[..])]).unwrap();
        prop_assert_eq!((back.chains, back.draws), (draws.chains, draws.draws));
        prop_assert_eq!(back.layout.component_names(), draws.layout.component_names());
        prop_assert!(same(&back.values, &draws.values));
        let all: Vec<usize> = (0..Statistics::LEN).collect();
        prop_assert!(same(&statistics_of(&back, &all), &statistics_of(&draws, &all)));
    }

    #[test]
    fn stan_files_read_back_bit_for_bit(draws in any_draws()) {
        let files: Vec<Vec<u8>> = (0..draws.chains)
            .map(|chain| {
                let mut out = Vec::new();
                write_stan_csv(&draws, chain, &mut out).unwrap();
                out
            })
            .collect();
        let back = read_draws(files.iter().map(|f| (String::new(), &f[..]))).unwrap();
        prop_assert_eq!((back.chains, back.draws), (draws.chains, draws.draws));
        prop_assert!(same(&back.values, &draws.values), "row-major again");
        let places = STAN_STATISTICS.map(|(_, place)| place);
        prop_assert!(same(&statistics_of(&back, &places), &statistics_of(&draws, &places)));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_draws([("x".to_string(), &bytes[..])]);
    }

    #[test]
    fn almost_tables_never_panic(
        text in "(#[ a-z_=0-9]{0,12}\n){0,2}([a-c.\\[\\]1_,]{1,8}|chain|draw|lp__|,){1,6}\n\
                 (([0-9.,-]|nan|inf|,|\"|\n){0,8}\n){0,6}"
    ) {
        if let Ok(draws) = read(&[&text]) {
            prop_assert_eq!(draws.values.len(), draws.chains * draws.draws * draws.layout.len());
            prop_assert!(draws.values.len() <= text.len());
        }
    }
}

#[test]
fn rows_are_sorted_by_chain_and_draw() {
    let draws = read(&["draw,x,chain\n2,12,7\n1,1,-3\n1,11,7\n5,5,-3\n"]).unwrap();
    assert_eq!((draws.chains, draws.draws), (2, 2));
    assert_eq!(draws.values, [1.0, 5.0, 11.0, 12.0]);
    let interleaved = read(&["chain,x\n1,1\n2,2\n1,3\n2,4\n"]).unwrap();
    assert_eq!(interleaved.values, [1.0, 3.0, 2.0, 4.0]);
    let plain = read(&["\u{feff}x;y\r\n1;2\r\n3;inf\r\n"]).unwrap();
    assert_eq!((plain.chains, plain.draws), (1, 2));
    assert!(plain.statistics.is_empty());
}

#[test]
fn warm_up_of_cmdstan_is_left_out() {
    let file = |settings: &str| {
        format!(
            "# method = sample\n{settings}lp__,x__,b.1,b.2\n-1,0,1,2\n-2,0,3,4\n# done\n-3,0,5,6\n\n# 1 seconds\n"
        )
    };
    let all = read(&[&file("#     save_warmup = 0 (Default)\n# num_warmup = 2\n")]).unwrap();
    assert_eq!(all.draws, 3);
    assert_eq!(all.layout.component_names(), ["b[1]", "b[2]"]);
    let kept = file("#  num_warmup = 4\n# save_warmup = true\n#   thin = 2\n");
    let kept = read(&[&kept, &kept]).unwrap();
    assert_eq!((kept.chains, kept.draws), (2, 1));
    assert_eq!(kept.values, [5.0, 6.0, 5.0, 6.0]);
    assert!((kept.statistics[0].log_density + 3.0).abs() < 1e-15);
    let none = message(&file("# num_warmup = 1000\n# save_warmup = 1\n"));
    assert_eq!(none, "f0.csv: there is no draw, only 3 of warm-up");
}

#[test]
fn errors_name_the_place() {
    let starts = |text: &str, with: &str| {
        let message = message(text);
        assert!(message.starts_with(with), "{message}");
    };
    starts("# a\n\nx,y\n1,2\n# b\n3,oops\n", "f0.csv:6:2: \"oops\" in column \"y\"");
    starts("x,y\n1,2\n3,\n", "f0.csv:3:2: a draw of \"y\" is missing");
    starts("x,y\n1,2,3\n", "f0.csv:2: there are 3 cells where the header names 2");
    starts("chain,x\n1.5,2\n", "f0.csv:2:1: \"1.5\" in column \"chain\" is not an integer");
    starts(
        "chain,draw,x\n1,1,2\n2,1,2\n1,1,2\n",
        "f0.csv:4: draw 1 of chain 1 was there before, in line 2",
    );
    starts(
        "chain,x\n1,1\n2,2\n1,3\n",
        "f0.csv: chains have different numbers of draws (chain 1: 2, chain 2: 1)",
    );
    starts("", "f0.csv: there is no header");
    starts("x,y\n", "f0.csv: there is no draw");
    starts("0.1,0.2\n1,2\n", "f0.csv: there is no header");
    let binary = read_draws([("z".to_string(), &b"\x1f\x8b\x08\x00\xff\n"[..])]).unwrap_err();
    assert!(matches!(binary, ReadError::NotText { line: 1, .. }), "{binary}");
    let other = read(&["x,y\n1,2\n", "x,z\n1,2\n"]).unwrap_err().to_string();
    assert!(other.contains("\"z\" stands where the first file has \"y\""), "{other}");
    let longer = read(&["x\n1\n", "x\n1\n2\n"]).unwrap_err().to_string();
    assert!(longer.contains("files before: 1, f1.csv: 2"), "{longer}");
    assert!(matches!(read(&[]), Err(ReadError::NoFile)));
}

#[test]
fn a_quotation_mark_that_never_closes_is_refused() {
    // Twenty million lines inside one name: too long, and found so in linear time.
    let lines =
        std::io::Read::chain(&b"\"x"[..], std::io::Read::take(std::io::repeat(b'\n'), 20 << 20));
    let error = read_draws([("q".to_string(), lines)]).unwrap_err();
    assert!(matches!(error, ReadError::LongLine { .. }), "{error}");
    assert!(message("x,y\n\"1,2\n3,4\n").starts_with("f0.csv:2: there are 1 cells"));
}

#[test]
fn an_endless_line_is_refused() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }
    let header = read_draws([("e".to_string(), Endless)]).unwrap_err();
    assert!(matches!(header, ReadError::LongLine { line: 1, .. }), "{header}");
    let row = std::io::Read::chain(&b"x\n1\n"[..], Endless);
    let row = read_draws([("e".to_string(), row)]).unwrap_err();
    assert!(matches!(row, ReadError::LongLine { line: 3, .. }), "{row}");
}
