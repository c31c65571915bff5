//! Write numbers: short for people, exact enough for files.

/// `value` with about `digits` significant digits and no needless zeros; very large and very small
/// numbers with an exponent.
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "–".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞".into() } else { "−∞".into() };
    }
    let magnitude = value.abs();
    if magnitude > 0.0 && !(1e-4..1e7).contains(&magnitude) {
        let text = format!("{value:.*e}", digits.saturating_sub(1));
        return match text.split_once('e') {
            Some((mantissa, exponent)) => format!("{}e{exponent}", trimmed(mantissa)),
            None => text,
        };
    }
    let exponent = if magnitude > 0.0 { magnitude.log10().floor() as i64 } else { 0 };
    let decimals = (digits as i64 - 1 - exponent).clamp(0, 12) as usize;
    trimmed(&format!("{value:.decimals$}")).into()
}

/// `value` for a person: four significant digits.
pub fn short(value: f64) -> String {
    significant(value, 4)
}

/// `value` for a file: seven significant digits; empty for what is no number.
pub fn exact(value: f64) -> String {
    if value.is_finite() { significant(value, 7) } else { String::new() }
}

/// `value` with a fixed number of decimals, for columns of a table.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() || value.abs() >= 1e9 {
        return short(value);
    }
    format!("{value:.decimals$}")
}

/// A fraction in per cent.
pub fn percent(fraction: f64) -> String {
    if !fraction.is_finite() {
        return "–".into();
    }
    let value = 100.0 * fraction;
    if (value - value.round()).abs() < 0.05 || value.abs() >= 10.0 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// A place in a picture: tenths of a pixel.
pub fn place(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Neither 3.0 nor -0.
    if rounded.abs() < 0.05 { "0".into() } else { format!("{rounded}") }
}

/// `text` without zeros at the end of its decimals.
fn trimmed(text: &str) -> &str {
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        let shown: Vec<String> =
            [0.0, 1.0, -0.25, 1234.5678, 0.000_012_345, 3e9, f64::NAN, f64::NEG_INFINITY, -1e-9]
                .map(short)
                .into();
        assert_eq!(shown, ["0", "1", "-0.25", "1235", "1.234e-5", "3e9", "–", "−∞", "-1e-9"]);
        assert_eq!((exact(0.1 + 0.2), exact(f64::NAN)), ("0.3".into(), String::new()));
        assert_eq!((place(3.0), place(-0.01), place(2.26)), ("3".into(), "0".into(), "2.3".into()));
        assert_eq!(
            (percent(0.905), percent(0.015), percent(1.0)),
            ("90 %".into(), "1.5 %".into(), "100 %".into())
        );
        assert_eq!((fixed(1.0, 2), fixed(1e12, 2)), ("1.00".into(), "1e12".into()));
    }
}
