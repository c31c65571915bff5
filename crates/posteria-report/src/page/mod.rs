//! Put sections into one page that needs nothing else.

mod html;

use crate::escape::slug;
use crate::figure::Figure;

/// A page about one or several fits.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The title of the page.
    pub title: String,
    /// One part per fit, and perhaps one that compares them.
    pub parts: Vec<Part>,
}

/// What the page tells about one fit.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// What it is about.
    pub name: String,
    /// Sections in the order they are shown.
    pub sections: Vec<Section>,
}

/// Some blocks under a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading; none where the section speaks for the whole part.
    pub title: String,
    /// What it shows.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Something to notice.
    Alert(Alert),
    /// Names and what is said of them.
    Terms(Vec<(String, String)>),
    /// A figure; those that follow each other stand side by side where there is room.
    Figure(Box<Figure>),
    /// A table.
    Table(TextTable),
}

/// Something to notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// How much it matters.
    pub level: Level,
    /// What is found.
    pub title: String,
    /// What it means and what to do, a line each.
    pub lines: Vec<String>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is wrong.
    #[default]
    Good,
    /// Something to know.
    Doubtful,
    /// The results are not to be trusted.
    Bad,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// What it shows.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells; the first of a row is its name.
    pub rows: Vec<Vec<String>>,
    /// Rows with something to notice.
    pub noticed: Vec<usize>,
    /// Whether it is shown only when it is asked for.
    pub is_folded: bool,
}

impl Part {
    /// A part without sections.
    pub fn new(name: impl Into<String>) -> Self {
        Part { name: name.into(), sections: Vec::new() }
    }

    /// Appends a section, unless there is nothing in it.
    pub fn push(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }

    /// The most serious level of its alerts.
    pub fn level(&self) -> Level {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        let levels = blocks.filter_map(|block| match block {
            Block::Alert(alert) => Some(alert.level),
            _ => None,
        });
        levels.max().unwrap_or_default()
    }
}

impl Section {
    /// A section without blocks.
    pub fn new(title: impl Into<String>) -> Self {
        Section { title: title.into(), blocks: Vec::new() }
    }

    /// Appends a paragraph.
    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Appends a figure.
    pub fn figure(&mut self, figure: Figure) {
        self.blocks.push(Block::Figure(Box::new(figure)));
    }

    /// Appends a table.
    pub fn table(&mut self, table: TextTable) {
        self.blocks.push(Block::Table(table));
    }
}

impl Report {
    /// The page.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// Every figure with a name of its own, for files: without folder and ending.
    pub fn figures(&self) -> Vec<(String, &Figure)> {
        let mut figures: Vec<(String, &Figure)> = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let blocks = part.sections.iter().flat_map(|section| &section.blocks);
            for block in blocks {
                let Block::Figure(figure) = block else { continue };
                let prefix =
                    if self.parts.len() > 1 { format!("{}-", index + 1) } else { String::new() };
                let stem = format!("{prefix}{}", slug(&figure.title));
                let is_taken = |name: &String| figures.iter().any(|(taken, _)| taken == name);
                let others = (2..).map(|number| format!("{stem}-{number}"));
                let name = std::iter::once(stem.clone()).chain(others).find(|it| !is_taken(it));
                figures.push((name.expect("there are more names than figures"), figure));
            }
        }
        figures
    }
}
