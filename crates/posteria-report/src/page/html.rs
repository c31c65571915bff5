//! Write a report as one page of HTML.

use std::fmt::Write as _;

use super::{Alert, Block, Folded, Level, Part, Report, Section, TextTable};
use crate::escape::{address, markup, slug};
use crate::figure::{Figure, Hover, Span};
use crate::svg::{Place, draw};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The digest that lets the page's own script run, and no other.
const SCRIPT_DIGEST: &str = "BnVTr0hWeZgk6uIyJZ3QMLZMi4+Eu0JZU+bDV+pG75A=";

/// Letters of words that fit beside their name on a phone.
const SHORT: usize = 32;

/// The whole page.
pub fn page(report: &Report) -> String {
    let mut out = String::new();
    let title = markup(&report.title);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_DIGEST}'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1>"
    );
    if report.parts.len() > 1 {
        out.push_str("<nav><ul class=\"parts\">");
        for (index, part) in report.parts.iter().enumerate() {
            let (class, word) = level(part.level());
            let name = markup(&part.name);
            let _ = write!(
                out,
                "<li><a href=\"#p{index}\">{name}</a> <span class=\"pill {class}\">{word}</span></li>"
            );
        }
        out.push_str("</ul></nav>");
    }
    for (index, part) in report.parts.iter().enumerate() {
        part_of(&mut out, part, index);
    }
    let _ = writeln!(out, "</main><script>{SCRIPT}</script></body></html>");
    out
}

fn level(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::Good => ("good", "no warnings"),
        Level::Doubtful => ("doubtful", "look closer"),
        Level::Bad => ("bad", "do not trust"),
    }
}

fn part_of(out: &mut String, part: &Part, index: usize) {
    let _ = write!(out, "<article id=\"p{index}\"><h2>{}</h2>", markup(&part.name));
    // What is wrong comes before everything, the way to the sections included.
    let (first, rest) = match part.sections.split_first() {
        Some((first, rest)) if first.title.is_empty() => (Some(first), rest),
        _ => (None, &part.sections[..]),
    };
    if let Some(section) = first {
        blocks(out, &section.blocks);
    }
    let anchor = |section: &Section| format!("p{index}-{}", slug(&section.title));
    if rest.len() > 1 {
        out.push_str("<nav><ul class=\"way\">");
        for section in rest {
            let (to, title) = (anchor(section), markup(&section.title));
            let _ = write!(out, "<li><a href=\"#{to}\">{title}</a></li>");
        }
        out.push_str("</ul></nav>");
    }
    for section in rest {
        let (id, title) = (anchor(section), markup(&section.title));
        let _ = write!(out, "<section id=\"{id}\"><h3>{title}</h3>");
        blocks(out, &section.blocks);
        out.push_str("</section>");
    }
    out.push_str("</article>");
}

fn blocks(out: &mut String, blocks: &[Block]) {
    // Figures that follow each other share a grid; those of two in a row have another one.
    let grid_of = |block: &Block| match block {
        Block::Figure(figure) if figure.span == Span::Half => Some("grid pairs"),
        Block::Figure(_) => Some("grid"),
        _ => None,
    };
    let mut grid = None;
    for block in blocks {
        let next = grid_of(block);
        if next != grid {
            if grid.is_some() {
                out.push_str("</div>");
            }
            if let Some(class) = next {
                let _ = write!(out, "<div class=\"{class}\">");
            }
            grid = next;
        }
        match block {
            Block::Text(text) => {
                let _ = write!(out, "<p>{}</p>", markup(text));
            }
            Block::Alert(alert) => alert_of(out, alert),
            Block::Terms(terms) => {
                let is_short = |(_, words): &(String, String)| words.chars().count() <= SHORT;
                let class = if terms.iter().all(is_short) { " class=\"facts\"" } else { "" };
                let _ = write!(out, "<dl{class}>");
                for (name, words) in terms {
                    let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", markup(name), markup(words));
                }
                out.push_str("</dl>");
            }
            Block::Figure(figure) => figure_of(out, figure),
            Block::Table(table) => table_of(out, table),
            Block::Folded(folded) => folded_of(out, folded),
        }
    }
    if grid.is_some() {
        out.push_str("</div>");
    }
}

fn folded_of(out: &mut String, Folded { title, blocks: own }: &Folded) {
    let _ = write!(out, "<details><summary>{}</summary>", markup(title));
    blocks(out, own);
    out.push_str("</details>");
}

fn alert_of(out: &mut String, alert: &Alert) {
    let class = level(alert.level).0;
    let _ = write!(
        out,
        "<div class=\"alert {class}\" role=\"note\"><strong>{}</strong>",
        markup(&alert.title)
    );
    if !alert.lines.is_empty() {
        out.push_str("<ul>");
        for line in &alert.lines {
            let _ = write!(out, "<li>{}</li>", markup(line));
        }
        out.push_str("</ul>");
    }
    out.push_str("</div>");
}

fn figure_of(out: &mut String, figure: &Figure) {
    let class = if figure.span == Span::Whole { " class=\"wide\"" } else { "" };
    let hover = match figure.hover {
        Hover::Marks => "",
        Hover::Row => " data-hover=\"row\"",
        Hover::Point => " data-hover=\"point\"",
    };
    let _ = write!(
        out,
        "<figure{class}{hover}><h4>{}</h4>{}<figcaption>{} ",
        prose(&figure.title),
        draw(figure, Place::Page),
        prose(&figure.caption)
    );
    if !figure.table.is_empty() {
        let _ = write!(
            out,
            "<a download=\"{}.csv\" href=\"data:text/csv;charset=utf-8,{}\">CSV</a>",
            figure.file_name(),
            address(&figure.table.csv())
        );
    }
    out.push_str("</figcaption></figure>");
}

/// A text whose percentages are not broken between lines.
fn prose(text: &str) -> String {
    markup(&text.replace(" %", "\u{a0}%"))
}

fn table_of(out: &mut String, table: &TextTable) {
    let title = markup(&table.title);
    if table.is_folded {
        let _ = write!(out, "<details><summary>{title}</summary><div class=\"scroll\"><table>");
    } else {
        let _ = write!(out, "<div class=\"scroll\"><table><caption>{title}</caption>");
    }
    out.push_str("<thead><tr>");
    for name in &table.header {
        let _ = write!(out, "<th>{}</th>", markup(name));
    }
    out.push_str("</tr></thead><tbody>");
    for (index, row) in table.rows.iter().enumerate() {
        out.push_str(if table.noticed.contains(&index) { "<tr class=\"bad\">" } else { "<tr>" });
        for cell in row {
            let _ = write!(out, "<td>{}</td>", markup(cell));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if table.is_folded {
        out.push_str("</details>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_small_and_is_the_one_that_may_run() {
        assert!(SCRIPT.len() < 4096, "{} bytes", SCRIPT.len());
        let digest = <sha2::Sha256 as sha2::Digest>::digest(SCRIPT.as_bytes());
        assert_eq!(SCRIPT_DIGEST, base64(&digest), "write this into SCRIPT_DIGEST");
        // It must not end the element that holds it.
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("innerHTML"));
    }

    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte))
                << (8 * (3 - chunk.len()));
            for index in 0..4 {
                let six = (word >> (18 - 6 * index)) & 63;
                text.push(if index <= chunk.len() { LETTERS[six as usize].into() } else { '=' });
            }
        }
        text
    }
}
