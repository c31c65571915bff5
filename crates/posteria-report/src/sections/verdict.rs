//! Say first whether the results can be trusted.

use crate::page::{Alert, Block, Level, Section};

/// Whether the results can be trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Reasons for doubt.
    pub doubts: Vec<Doubt>,
    /// What a reader wants to see at once: names and values.
    pub facts: Vec<(String, String)>,
    /// What is said if there is no doubt.
    pub reassurance: String,
}

/// A reason for doubt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// How serious it is.
    pub level: Level,
    /// What is wrong, and the cure.
    pub text: String,
}

impl Verdict {
    /// What is wrong in red, what to know in yellow, or that nothing is.
    pub fn section(&self) -> Section {
        let mut section = Section::new("");
        let of = |level: Level| -> Vec<String> {
            let doubts = self.doubts.iter().filter(|doubt| doubt.level == level);
            doubts.map(|doubt| doubt.text.clone()).collect()
        };
        let titles = [
            (Level::Bad, "Do not trust these results yet"),
            (Level::Doubtful, "To be read with care"),
        ];
        for (level, title) in titles {
            let lines = of(level);
            if !lines.is_empty() {
                section.blocks.push(Block::Alert(Alert { level, title: title.into(), lines }));
            }
        }
        if section.blocks.is_empty() && !self.reassurance.is_empty() {
            let title = self.reassurance.clone();
            section.blocks.push(Block::Alert(Alert {
                level: Level::Good,
                title,
                lines: Vec::new(),
            }));
        }
        if !self.facts.is_empty() {
            section.blocks.push(Block::Terms(self.facts.clone()));
        }
        section
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first() {
        let doubt = |level, text: &str| Doubt { level, text: text.into() };
        let verdict = Verdict {
            doubts: vec![
                doubt(Level::Doubtful, "rows were dropped"),
                doubt(Level::Bad, "R-hat is 1.4; draw longer"),
            ],
            reassurance: "All is well".into(),
            ..Verdict::default()
        };
        let section = verdict.section();
        assert_eq!(section.blocks.len(), 2);
        let Block::Alert(first) = &section.blocks[0] else { panic!("an alert") };
        assert_eq!((first.level, &first.lines[0][..]), (Level::Bad, "R-hat is 1.4; draw longer"));
    }
}
