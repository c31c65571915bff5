//! Name the functions of the inputs that a linear model may be linear in.

use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::SpecError;
use super::checks::positive;

/// Highest power of a polynomial: beyond, powers of one input are hardly told apart.
const MOST_DEGREES: usize = 20;
/// Most functions of one input.
const MOST_FUNCTIONS: usize = 1000;

/// `basis`: fixed functions that take the place of every real input x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum BasisSpec {
    /// Powers x, …, x^degree.
    Polynomial {
        /// Highest power.
        degree: usize,
    },
    /// Bumps exp(-(x - c)²/(2 width²)) about every centre c [Bishop 2006, eq. 3.4].
    Gaussian {
        /// Where the functions are centred.
        centres: Vec<f64>,
        /// Their common width: the standard deviation of the normal curve.
        width: f64,
    },
    /// Waves sin(2πjx/period) and cos(2πjx/period) for j = 1, …, terms.
    Fourier {
        /// Length after which the functions repeat themselves.
        period: f64,
        /// Number of pairs of waves.
        terms: usize,
    },
}

impl BasisSpec {
    /// Number of functions that take the place of one input.
    pub fn functions(&self) -> usize {
        match self {
            BasisSpec::Polynomial { degree } => *degree,
            BasisSpec::Gaussian { centres, .. } => centres.len(),
            BasisSpec::Fourier { terms, .. } => terms.saturating_mul(2),
        }
    }

    /// Checks every number.
    pub(in crate::model) fn check(&self) -> Result<(), SpecError> {
        let range = |key, value: f64, must_be| {
            Err(SpecError::OutOfRange { section: "model.basis".into(), key, value, must_be })
        };
        match self {
            BasisSpec::Polynomial { degree } => {
                if !(1..=MOST_DEGREES).contains(degree) {
                    return range("degree", *degree as f64, "between 1 and 20");
                }
            }
            BasisSpec::Gaussian { centres, width } => {
                if !(1..=MOST_FUNCTIONS).contains(&centres.len()) {
                    let must_be = "given with between 1 and 1000 values";
                    return range("centres (their number)", centres.len() as f64, must_be);
                }
                if let Some(centre) = centres.iter().find(|c| !c.is_finite() || c.abs() > 1e100) {
                    return range("centres", *centre, "finite and of ordinary size");
                }
                let mut sorted = centres.clone();
                sorted.sort_by(f64::total_cmp);
                let twice = sorted.windows(2).find(|pair| pair[1] - pair[0] <= 0.0);
                if let Some(pair) = twice {
                    return range("centres", pair[0], "different from each other");
                }
                positive("model.basis", "width", *width)?;
            }
            BasisSpec::Fourier { period, terms } => {
                positive("model.basis", "period", *period)?;
                if !(1..=MOST_FUNCTIONS / 2).contains(terms) {
                    return range("terms", *terms as f64, "between 1 and 500");
                }
            }
        }
        Ok(())
    }
}

/// Why a basis in short form cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text} is no basis; write polynomial:DEGREE, gaussian:WIDTH:CENTRE,CENTRE,… or \
     fourier:PERIOD:TERMS"
)]
pub struct BasisError {
    /// The text.
    pub text: String,
}

impl FromStr for BasisSpec {
    type Err = BasisError;

    /// Reads the short form: `polynomial:3`, `gaussian:0.15:0,0.5,1` (width, then centres) or
    /// `fourier:24:3` (period, then terms).
    fn from_str(text: &str) -> Result<Self, BasisError> {
        let wrong = || BasisError { text: text.into() };
        let number = |part: &str| part.trim().parse::<f64>().map_err(|_| wrong());
        let count = |part: &str| part.trim().parse::<usize>().map_err(|_| wrong());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["polynomial", degree] => Ok(BasisSpec::Polynomial { degree: count(degree)? }),
            ["gaussian", width, centres] => {
                let centres = centres.split(',').map(number).collect::<Result<_, _>>()?;
                Ok(BasisSpec::Gaussian { centres, width: number(width)? })
            }
            ["fourier", period, terms] => {
                Ok(BasisSpec::Fourier { period: number(period)?, terms: count(terms)? })
            }
            _ => Err(wrong()),
        }
    }
}

/// Reads a basis from a table, or from its short form.
pub(super) fn short_or_table<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BasisSpec>, D::Error> {
    deserializer.deserialize_any(Written).map(Some)
}

/// A basis as it may be written.
struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = BasisSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a basis, such as \"polynomial:3\" or { kind = \"polynomial\", degree = 3 }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<BasisSpec, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<BasisSpec, A::Error> {
        BasisSpec::deserialize(MapAccessDeserializer::new(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::Spec;

    #[test]
    fn the_short_form_is_the_table_of_the_file() {
        for (short, table) in [
            ("polynomial:3", "{ kind = 'polynomial', degree = 3 }"),
            (
                "gaussian:0.15:0,0.5,1",
                "{ kind = 'gaussian', centres = [0, 0.5, 1.0], width = 0.15 }",
            ),
            ("fourier:24:2", "{ kind = 'fourier', period = 24, terms = 2 }"),
        ] {
            let spec = Spec::from_toml(&format!("[model]\nbasis = {table}")).unwrap();
            let read: BasisSpec = short.parse().unwrap();
            assert_eq!(spec.model.basis.as_ref(), Some(&read));
            assert!(read.check().is_ok());
            let in_short = Spec::from_toml(&format!("[model]\nbasis = '{short}'")).unwrap();
            assert_eq!(in_short.model.basis.as_ref(), Some(&read));
            // Written and read again.
            assert_eq!(Spec::from_toml(&spec.to_toml().unwrap()).unwrap().model.basis, Some(read));
        }
        for text in ["", "cubic:3", "polynomial", "polynomial:x", "gaussian:1", "fourier:1:2:3"] {
            let error = text.parse::<BasisSpec>().unwrap_err();
            assert!(error.to_string().contains("polynomial:DEGREE"), "{error}");
            let error = Spec::from_toml(&format!("[model]\nbasis = '{text}'")).unwrap_err();
            assert!(error.to_string().contains("polynomial:DEGREE"), "{error}");
        }
    }

    #[test]
    fn impossible_functions_are_refused() {
        for (text, says) in [
            ("polynomial:0", "between 1 and 20"),
            ("polynomial:21", "between 1 and 20"),
            ("gaussian:0:1", "width = 0"),
            ("gaussian:-1:1", "width = -1"),
            ("gaussian:1:1,inf", "centres = inf"),
            ("gaussian:1:1,2,1", "different"),
            ("fourier:0:1", "period = 0"),
            ("fourier:nan:1", "period = NaN"),
            ("fourier:1:0", "between 1 and 500"),
        ] {
            let error = text.parse::<BasisSpec>().unwrap().check().unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("[model.basis]"), "{text}: {error}");
        }
        let none = BasisSpec::Gaussian { centres: vec![], width: 1.0 };
        assert!(none.check().unwrap_err().to_string().contains("between 1 and 1000"));
        let unknown = Spec::from_toml("[model]\nbasis = { kind = 'spline', knots = 3 }");
        assert!(unknown.unwrap_err().to_string().contains("spline"));
        let extra =
            Spec::from_toml("[model]\nbasis = { kind = 'polynomial', degree = 2, width = 1 }");
        assert!(extra.unwrap_err().to_string().contains("width"));
    }
}
