//! Put together the page about a demonstration.

use posteria_report::sections::{self, Results};
use posteria_report::{Alert, Block, Level, Part, Report, Section};

use super::entries::Entry;
use super::{Demonstration, Quantity};

/// The page about what a demonstration found.
pub fn page(entry: &Entry, demonstration: &Demonstration) -> Report {
    let mut part = Part::new(entry.title);
    let mut first = Section::new("");
    if !demonstration.doubts.is_empty() {
        let mut lines = demonstration.doubts.clone();
        lines.dedup();
        let title = "Do not trust these figures yet".into();
        first.blocks.push(Block::Alert(Alert { level: Level::Bad, title, lines }));
    }
    first.blocks.push(Block::Terms(vec![
        ("published in".into(), entry.source.into()),
        ("command".into(), format!("posteria demo {}", entry.name)),
    ]));
    part.push(first);
    let mut pictures = Section::new("What is seen");
    demonstration.figures.iter().for_each(|figure| pictures.figure(figure.clone()));
    part.push(pictures);
    let quantities = demonstration.results.iter().map(quantity).collect();
    part.push(Results { quantities }.section());
    let mut words = Section::new("What was done");
    paragraphs(&demonstration.words).into_iter().for_each(|text| words.text(text));
    part.push(words);
    Report { title: format!("posteria demo {}", entry.name), parts: vec![part] }
}

fn quantity(found: &Quantity) -> sections::Quantity {
    let Quantity { quantity, published, here, sd } = found;
    sections::Quantity {
        name: quantity.clone(),
        published: published.unwrap_or(f64::NAN),
        here: *here,
        sd: sd.unwrap_or(f64::NAN),
    }
}

/// Lines of a terminal become paragraphs: an empty line ends one, and so does a new item of a list.
fn paragraphs(words: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in words.lines() {
        let is_item = line.split_once(". ").is_some_and(|(number, _)| {
            !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
        });
        match found.last_mut() {
            _ if line.trim().is_empty() => is_open = false,
            Some(last) if is_open && !is_item => last.extend([" ", line.trim()]),
            _ => {
                found.push(line.trim().into());
                is_open = true;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_where_the_words_do() {
        let words = "one\ntwo\n\n1. three\n   four\n2. five, 3.5 of them\nsix\n";
        assert_eq!(paragraphs(words), ["one two", "1. three four", "2. five, 3.5 of them six"]);
        assert_eq!(paragraphs(""), [] as [&str; 0]);
    }
}
