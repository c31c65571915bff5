//! Choose colours that tell apart whoever looks, on light and on dark ground.

/// What a mark is drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ink {
    /// The colour of one of several things, such as chains or classes.
    Series(usize),
    /// As text.
    #[default]
    Text,
    /// Fainter than text.
    Muted,
    /// Lines behind everything.
    Grid,
    /// What should not be.
    Bad,
    /// The ground.
    Ground,
}

/// Colours for series on light ground, after [Okabe & Ito 2008], which people with the usual kinds
/// of colour blindness tell apart; the page lightens them on dark ground.
const SERIES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#b0528b", "#b87a00", "#3a9bd1", "#6b4fa0", "#6b6b6b"];

impl Ink {
    /// The colour itself, on light ground.
    pub fn literal(self) -> &'static str {
        match self {
            Ink::Series(index) => SERIES[index % SERIES.len()],
            Ink::Text => "#1c2430",
            Ink::Muted => "#5c6673",
            Ink::Grid => "#e3e6ea",
            Ink::Bad => "#b3261e",
            Ink::Ground => "#ffffff",
        }
    }

    /// The variable of the page's style that holds the colour.
    pub fn variable(self) -> String {
        match self {
            Ink::Series(index) => format!("var(--s{})", index % SERIES.len()),
            Ink::Text => "var(--text)".into(),
            Ink::Muted => "var(--muted)".into(),
            Ink::Grid => "var(--grid)".into(),
            Ink::Bad => "var(--bad)".into(),
            Ink::Ground => "var(--card)".into(),
        }
    }
}

/// Dashes that tell series apart without colour; the first is a solid line.
pub const DASHES: [&str; 6] = ["", "6 2", "2 2", "8 2 2 2", "4 3", "10 3"];

/// Colours for numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// From dark to bright, equally in print.
    #[default]
    Sequential,
    /// From one side to the other of a middle.
    Diverging,
}

/// Which colour a number has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colours {
    /// The colours.
    pub palette: Palette,
    /// The number with the first colour.
    pub low: f64,
    /// The number with the last colour.
    pub high: f64,
}

impl Colours {
    /// Colours for `values`, from the smallest to the largest.
    pub fn over(palette: Palette, values: &[f64]) -> Self {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let (low, high) = match low.partial_cmp(&high) {
            Some(std::cmp::Ordering::Less) => (low, high),
            Some(std::cmp::Ordering::Equal) => (low - 0.5, high + 0.5),
            _ => (0.0, 1.0),
        };
        Colours { palette, low, high }
    }

    /// Where `value` is between the ends, from 0 to 1.
    pub fn fraction(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Red, green and blue of a number.
    pub fn rgb(&self, value: f64) -> [u8; 3] {
        const SEQUENTIAL: [[u8; 3]; 6] = [
            [68, 1, 84],
            [65, 68, 135],
            [42, 120, 142],
            [34, 168, 132],
            [122, 209, 81],
            [253, 231, 37],
        ];
        const DIVERGING: [[u8; 3]; 5] =
            [[0, 92, 158], [108, 172, 214], [240, 238, 232], [242, 161, 102], [190, 76, 0]];
        let stops: &[[u8; 3]] = match self.palette {
            Palette::Sequential => &SEQUENTIAL,
            Palette::Diverging => &DIVERGING,
        };
        if !value.is_finite() {
            return [128; 3];
        }
        let at = self.fraction(value) * (stops.len() - 1) as f64;
        let below = (at.floor() as usize).min(stops.len() - 2);
        let rest = at - below as f64;
        std::array::from_fn(|channel| {
            let [a, b] = [stops[below][channel], stops[below + 1][channel]].map(f64::from);
            (a + rest * (b - a)).round() as u8
        })
    }

    /// The colour of a number.
    pub fn colour(&self, value: f64) -> String {
        let [r, g, b] = self.rgb(value);
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// Black or white, whichever can be read on the colour of a number.
    pub fn text_on(&self, value: f64) -> &'static str {
        let [r, g, b] = self.rgb(value).map(f64::from);
        if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { "#000000" } else { "#ffffff" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_odd_numbers_have_colours() {
        let colours = Colours::over(Palette::Sequential, &[2.0, f64::NAN, 4.0]);
        assert_eq!(
            (colours.colour(2.0), colours.colour(9.0)),
            ("#440154".into(), "#fde725".into())
        );
        assert_eq!(colours.colour(f64::NAN), "#808080");
        assert_eq!((colours.text_on(2.0), colours.text_on(4.0)), ("#ffffff", "#000000"));
        for values in [&[][..], &[3.0], &[f64::INFINITY]] {
            let colours = Colours::over(Palette::Diverging, values);
            assert!(colours.low < colours.high);
        }
    }
}
