//! Words of errors about data: names, places and cures.

use super::{Cells, LevelKind};
use crate::caution::shell_word;

/// `text` in quotation marks, control characters escaped, cut after 60 characters: safe to print
/// on a terminal whatever the file holds.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut start = text.char_indices().skip(LONGEST);
    match start.next() {
        Some((end, _)) => format!("\"{}…\"", text[..end].escape_debug()),
        None => format!("\"{}\"", text.escape_debug()),
    }
}

/// What a column would be left for.
pub(super) fn explaining(targets: &[String]) -> String {
    match targets {
        [] => String::new(),
        targets => format!(" to explain {}", listed(targets)),
    }
}

/// At most ten names, and how many more.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 10;
    let mut list = names.iter().take(MOST).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        list.push_str(&format!(" and {} more", names.len() - MOST));
    }
    list
}

pub(super) fn without_targets(expected: usize, targets: usize) -> String {
    format!(" (or {} without the target)", expected.saturating_sub(targets))
}

pub(super) fn leave_out(columns: &[String], is_target: bool, kind: LevelKind) -> String {
    match (is_target, kind) {
        (true, LevelKind::Numbers) => "fit them with --task regression".into(),
        (true, _) => "choose another --target or merge rare classes".into(),
        (false, _) => {
            let names: Vec<String> = columns.iter().map(|name| shell_word(name)).collect();
            let and_others = match &columns[1..] {
                [] => String::new(),
                others => format!(" and {} like it", listed(others)),
            };
            format!("leave it{and_others} out with --exclude {}", names.join(" "))
        }
    }
}

pub(super) fn meant(name: &str, suggestion: Option<&str>, columns: &[String]) -> String {
    let mut parts = name.split(',').map(str::trim);
    if name.contains(',') && parts.all(|part| columns.iter().any(|column| column == part)) {
        return " (separate names of columns by spaces)".into();
    }
    suggestion.map_or_else(String::new, |name| format!(" (did you mean {}?)", shown(name)))
}

/// Columns and how many of their cells are missing.
pub(super) fn missing_in(columns: &[(String, usize)]) -> String {
    let each = columns.iter().map(|(name, missing)| format!("{} ({missing})", shown(name)));
    each.collect::<Vec<_>>().join(", ")
}

pub(super) fn cells_at(file: &str, cells: &Cells, what: &str) -> String {
    let Some((line, column, _)) = cells.first.first() else {
        return format!("{file}: {what} cells");
    };
    let places = cells.first.iter().enumerate().map(|(index, (line, column, name))| match index {
        0 => format!("{line}:{column} (column {})", shown(name)),
        _ => format!("{line}:{column}"),
    });
    let count = match cells.total {
        1 => format!("1 {what} cell"),
        total => format!("{total} {what} cells"),
    };
    let more = if cells.total > cells.first.len() { ", …" } else { "" };
    let places = places.collect::<Vec<_>>().join(", ");
    format!("{file}:{line}:{column}: {count}: {places}{more}")
}
