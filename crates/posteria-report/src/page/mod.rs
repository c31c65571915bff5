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
    /// What the names of its figures' files begin with where there are several parts; may be empty.
    pub key: String,
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
    /// Blocks that are shown only when they are asked for.
    Folded(Folded),
}

/// Blocks that are shown only when they are asked for.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    /// What is in them.
    pub title: String,
    /// The blocks.
    pub blocks: Vec<Block>,
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
        let name = name.into();
        Part { key: slug(&name), name, sections: Vec::new() }
    }

    /// Appends a section, unless there is nothing in it.
    pub fn push(&mut self, section: Section) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }

    /// The most serious level of its alerts.
    pub fn level(&self) -> Level {
        self.sections.iter().map(Section::level).max().unwrap_or_default()
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

    /// Appends the blocks of another section, whose title says what is in them, to be shown when
    /// they are asked for; nothing if there are none.
    pub fn folded(&mut self, section: Section) {
        let Section { title, blocks } = section;
        if !blocks.is_empty() {
            self.blocks.push(Block::Folded(Folded { title, blocks }));
        }
    }

    /// Appends the blocks of another section.
    pub fn extend(&mut self, section: Section) {
        self.blocks.extend(section.blocks);
    }

    /// The most serious level of its alerts.
    pub fn level(&self) -> Level {
        let levels = self.blocks.iter().filter_map(|block| match block {
            Block::Alert(alert) => Some(alert.level),
            _ => None,
        });
        levels.max().unwrap_or_default()
    }

    /// All figures, those that are folded away included.
    pub fn figures(&self) -> Vec<&Figure> {
        let mut found = Vec::new();
        figures_of(&self.blocks, &mut found);
        found
    }
}

fn figures_of<'b>(blocks: &'b [Block], found: &mut Vec<&'b Figure>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => found.push(figure),
            Block::Folded(folded) => figures_of(&folded.blocks, found),
            _ => {}
        }
    }
}

impl Report {
    /// The page.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// Every figure with a name of its own, for files: without folder and ending. Names depend on
    /// what is shown, never on the numbers.
    pub fn figures(&self) -> Vec<(String, &Figure)> {
        let mut figures: Vec<(String, &Figure)> = Vec::new();
        for part in &self.parts {
            for figure in part.sections.iter().flat_map(Section::figures) {
                let prefix = match &part.key[..] {
                    key if self.parts.len() > 1 && !key.is_empty() => format!("{key}-"),
                    _ => String::new(),
                };
                let stem = format!("{prefix}{}", figure.file_name());
                let is_taken = |name: &String| figures.iter().any(|(taken, _)| taken == name);
                let others = (2..).map(|number| format!("{stem}-{number}"));
                let name = std::iter::once(stem.clone()).chain(others).find(|it| !is_taken(it));
                figures.push((name.expect("there are more names than figures"), figure));
            }
        }
        figures
    }
}
