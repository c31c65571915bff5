//! Write the JSON documents of a Zarr v2 store.
//!
//! The texts are composed here field by field, so that one schema always gives the same bytes.

use crate::facts::Facts;
use crate::schema::{Array, Element, Schema};

/// A metadata file of the store.
pub(crate) struct Document {
    /// Its name inside the store.
    pub(crate) file: String,
    pub(crate) text: String,
    /// Whether the number of draws is in it.
    pub(crate) grows: bool,
}

/// Name of the file with all other metadata.
pub(crate) const CONSOLIDATED: &str = ".zmetadata";
/// Most bytes of it.
pub(crate) const MOST_METADATA: u64 = 1 << 30;

/// What `.zgroup` says.
pub(crate) const GROUP: &str = r#"{"zarr_format":2}"#;

/// All metadata of a store with `draws` draws, `.zmetadata` last: readers that find it find
/// everything else.
pub(crate) fn documents(schema: &Schema, facts: &Facts, draws: usize) -> Vec<Document> {
    let library = library(facts);
    let mut root = library.to_vec();
    let own = |key: &String| library.iter().all(|(taken, _)| taken != key);
    for (key, value) in facts.attributes.iter().filter(|(key, _)| own(key)) {
        root.push((key.clone(), quoted(value)));
    }
    let group = group_text(facts);

    let mut documents = Vec::new();
    let mut push = |file: String, text, grows| documents.push(Document { file, text, grows });
    push(".zgroup".to_string(), GROUP.to_string(), false);
    push(".zattrs".to_string(), object(&root), false);
    for name in &schema.groups {
        push(format!("{name}/.zgroup"), GROUP.to_string(), false);
        push(format!("{name}/.zattrs"), group.clone(), false);
    }
    for array in &schema.arrays {
        let folder = array.folder();
        push(format!("{folder}/.zarray"), shape(array, draws), !array.is_static());
        push(format!("{folder}/.zattrs"), dimensions(array), false);
    }
    documents.push(Document {
        file: CONSOLIDATED.to_string(),
        text: consolidated(&documents),
        grows: true,
    });
    documents
}

/// What `.zmetadata` says of all other metadata.
pub(crate) fn consolidated(documents: &[Document]) -> String {
    let members: Vec<(String, String)> =
        documents.iter().map(|document| (document.file.clone(), document.text.clone())).collect();
    object(&[
        ("zarr_consolidated_format".to_string(), "1".to_string()),
        ("metadata".to_string(), object(&members)),
    ])
}

/// Whether consolidated metadata, as they are written here, tell of a group.
pub(crate) fn shows_group(consolidated: &[u8], group: &str) -> bool {
    let key = quoted(&format!("{group}/.zgroup")) + ":";
    consolidated.windows(key.len()).any(|part| part == key.as_bytes())
}

fn library(facts: &Facts) -> [(String, String); 4] {
    let version = &facts.version;
    [
        ("inference_library".to_string(), quoted("posteria")),
        ("inference_library_version".to_string(), quoted(version)),
        ("creation_library".to_string(), quoted("posteria")),
        ("creation_library_version".to_string(), quoted(version)),
    ]
}

/// The attributes of a group.
pub(crate) fn group_text(facts: &Facts) -> String {
    let mut group = library(facts).to_vec();
    group.push(("tuning_steps".to_string(), facts.extent.warmup.to_string()));
    object(&group)
}

fn shape(array: &Array, draws: usize) -> String {
    array_text(array.element, &array.shape(draws), &array.chunks)
}

/// What `.zarray` says.
pub(crate) fn array_text(element: Element, shape: &[usize], chunks: &[usize]) -> String {
    let (element, fill) = match element {
        Element::Real => ("<f8".to_string(), r#""NaN""#),
        // Any other fill value is taken for a missing value by xarray, which then turns the
        // array into floats.
        Element::Whole => ("<i8".to_string(), "null"),
        Element::Flag => ("|b1".to_string(), "null"),
        Element::Text(width) => (format!("<U{width}"), "null"),
    };
    format!(
        r#"{{"zarr_format":2,"shape":{:?},"chunks":{:?},"dtype":"{element}","compressor":null,"fill_value":{fill},"order":"C","filters":null,"dimension_separator":"."}}"#,
        shape, chunks,
    )
}

fn dimensions(array: &Array) -> String {
    dimensions_text(&array.dimensions, array.called.as_deref(), array.identified)
}

/// The attributes of an array: the names of its axes, what it is called where its folder is not,
/// and whether it is identified.
pub(crate) fn dimensions_text(names: &[String], called: Option<&str>, identified: bool) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let mut members = vec![("_ARRAY_DIMENSIONS".to_string(), format!("[{}]", names.join(",")))];
    if let Some(called) = called {
        members.push(("long_name".to_string(), quoted(called)));
    }
    if !identified {
        members.push(("identified".to_string(), "false".to_string()));
    }
    object(&members)
}

/// An object of members whose values are JSON already.
fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
    format!("{{{}}}", members.join(","))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
