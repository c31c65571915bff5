//! Write numbers as lines of plain text have them: for people, in a terminal or a file.

/// Decimals that no number needs more of.
const MAX_DECIMALS: i32 = 12;

/// Decimals that show `digits` significant digits of `scale`.
pub fn decimals_for(scale: f64, digits: i32) -> i32 {
    if scale > 0.0 && scale.is_finite() {
        (digits - 1 - scale.log10().floor() as i32).clamp(0, MAX_DECIMALS)
    } else {
        digits - 1
    }
}

/// The same of the `spread` of numbers of the size of `value`; of what is a spread only by rounding
/// three significant digits of `value`.
pub fn decimals_of(value: f64, spread: f64, digits: i32) -> i32 {
    let is_noise = spread <= 1e-9 * value.abs();
    if is_noise { decimals_for(value.abs(), 3) } else { decimals_for(spread, digits) }
}

/// `value` with a number of decimals; very large and very small numbers with an exponent.
pub fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "-".into() } else { value.to_string() };
    }
    let magnitude = value.abs();
    if magnitude >= 1e9 || (magnitude > 0.0 && magnitude < 1e-9) {
        return format!("{value:.3e}");
    }
    format!("{value:.*}", decimals.max(0) as usize)
}

/// `value` with `digits` significant digits.
pub fn significant(value: f64, digits: i32) -> String {
    fixed(value, decimals_for(value.abs(), digits))
}

/// `value` with three significant digits, with an exponent beyond a million or below a
/// thousandth.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    if value.is_finite() && magnitude > 0.0 && !(1e-3..1e6).contains(&magnitude) {
        format!("{value:.2e}")
    } else {
        significant(value, 3)
    }
}

/// A count with its noun: `1 chain`, `4 chains`.
pub fn count(number: usize, noun: &str) -> String {
    match (number, noun.ends_with('s')) {
        (1, _) => format!("1 {noun}"),
        (_, true) => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}

/// Bytes as a person says them: `3 kB`, `168 MB`, `1.6 GB`.
pub fn bytes(bytes: f64) -> String {
    let (size, unit) = match bytes {
        _ if bytes < 999.5e3 => (bytes / 1e3, "kB"),
        _ if bytes < 999.5e6 => (bytes / 1e6, "MB"),
        _ => (bytes / 1e9, "GB"),
    };
    // A digit after the point where there is one before it, unless it is 0.
    let decimals = usize::from(size < 9.95 && (size - size.round()).abs() >= 0.05);
    format!("{size:.decimals$} {unit}")
}

/// Seconds as a person says them: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.1} s");
    }
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_show_the_asked_digits() {
        assert_eq!(significant(1234.567, 3), "1235");
        assert_eq!(significant(0.001_234_5, 3), "0.00123");
        assert_eq!(significant(0.0, 3), "0.00");
        assert_eq!(significant(f64::NAN, 3), "-");
        assert_eq!(significant(f64::INFINITY, 3), "inf");
        assert_eq!(significant(-2.5e12, 3), "-2.500e12");
        assert_eq!(fixed(-1.005, decimals_for(0.034, 2)), "-1.005");
        assert_eq!(fixed(-1.005, decimals_of(-1.005, 0.034, 2)), "-1.005");
        assert_eq!(fixed(52.0, decimals_of(52.0, 2e-14, 2)), "52.0");
        assert_eq!(fixed(52.0, decimals_of(52.0, 0.0, 2)), "52.0");
        assert_eq!(fixed(0.0, decimals_of(0.0, 0.0, 2)), "0.00");
    }

    #[test]
    fn sizes_read_naturally() {
        let said = [3e3, 168.4e6, 1.64e9, 32e9, 999.6e6, 2.96e6].map(bytes);
        assert_eq!(said, ["3 kB", "168 MB", "1.6 GB", "32 GB", "1 GB", "3 MB"]);
    }

    #[test]
    fn durations_read_naturally() {
        assert_eq!(duration(0.44), "0.4 s");
        assert_eq!(duration(185.0), "3 min 5 s");
        assert_eq!(duration(7860.0), "2 h 11 min");
    }

    #[test]
    fn numbers_and_counts_are_short() {
        assert_eq!(
            (short(1234.6), short(1.2e-4), short(0.0)),
            ("1235".into(), "1.20e-4".into(), "0.00".into())
        );
        assert_eq!((count(1, "bias"), count(2, "bias")), ("1 bias".into(), "2 biases".into()));
    }
}
