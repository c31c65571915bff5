//! List the keys of a specification file, from the structs that read it.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, forward_to_deserialize_any};

use super::{
    DataSpec, HyperparametersSpec, ModelSpec, PriorSpec, ResidualSpec, SamplingSpec, SelectionSpec,
    Spec,
};

impl Spec {
    /// The sections of a specification file and the keys of each, for front ends that offer them by
    /// other means.
    ///
    /// ```
    /// use posteria::model::spec::Spec;
    ///
    /// let keys = Spec::keys();
    /// let (section, of_model) = keys[1];
    /// assert!(section == "model" && of_model.contains(&"hidden"));
    /// ```
    pub fn keys() -> [(&'static str, &'static [&'static str]); 7] {
        [
            ("data", keys_of::<DataSpec>()),
            ("model", keys_of::<ModelSpec>()),
            ("prior", keys_of::<PriorSpec>()),
            ("residual", keys_of::<ResidualSpec>()),
            ("hyperparameters", keys_of::<HyperparametersSpec>()),
            ("selection", keys_of::<SelectionSpec>()),
            ("sampling", keys_of::<SamplingSpec>()),
        ]
    }
}

/// The keys of a section that are given: what is absent is not written.
pub(super) fn given_keys<'de, T: Serialize + Deserialize<'de>>(section: &T) -> Vec<&'static str> {
    let written = serde_json::to_value(section).unwrap_or_default();
    keys_of::<T>().iter().copied().filter(|key| written.get(key).is_some()).collect()
}

/// The fields that a struct is read from.
fn keys_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut keys: &'static [&'static str] = &[];
    // It refuses to give any value: what it is asked for is all that matters.
    let _ = T::deserialize(Listener { keys: &mut keys });
    keys
}

/// Hears which fields are asked for, and has none.
struct Listener<'a> {
    keys: &'a mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("nothing is here"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.keys = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
