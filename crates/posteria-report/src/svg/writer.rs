//! Write elements, with every text escaped.

use std::fmt::{Display, Write as _};

use crate::escape::markup;

/// Names and values of attributes.
pub type Attributes<'a> = &'a [(&'static str, &'a dyn Display)];

/// Elements of a picture, one after the other.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// Begins an element.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push('>');
    }

    /// Ends an element.
    pub fn close(&mut self, name: &'static str) {
        let _ = write!(self.text, "</{name}>");
    }

    /// An element without content.
    pub fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.text.push_str("/>");
    }

    /// An element with a text.
    pub fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, content: &str) {
        self.open(name, attributes);
        self.text.push_str(&markup(content));
        self.close(name);
    }

    /// An element that says something under the pointer, if there is anything to say.
    pub fn titled(&mut self, name: &'static str, attributes: Attributes<'_>, title: &str) {
        if title.is_empty() {
            return self.empty(name, attributes);
        }
        self.open(name, attributes);
        self.leaf("title", &[], title);
        self.close(name);
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, name: &'static str, attributes: Attributes<'_>) {
        let _ = write!(self.text, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"{}\"", markup(&value.to_string()));
        }
    }
}
