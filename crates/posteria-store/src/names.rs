//! Turn names of variables and columns into names of arrays on disk.

use std::collections::HashMap;

/// Longest name of a variable, dimension or column, in bytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// Longest file name made from one, in bytes: room for a suffix below the usual 255.
const LONGEST_FILE: usize = 200;

/// Hands out file names that are unique in one group.
///
/// A name is kept as it is where it can be a file name everywhere. Path separators, control
/// characters and `: * ? " < > |` become `_`, as do a leading dot and a dot or space at the
/// end; names beyond 200 bytes are cut; a name already taken gets `_2`, `_3`, …. So no name,
/// whatever its origin, reaches outside its group.
#[derive(Default)]
pub(crate) struct Names {
    next: HashMap<String, usize>,
}

impl Names {
    /// A name of this group for what is called `name`.
    pub(crate) fn take(&mut self, name: &str) -> String {
        let plain = plain(name);
        if !self.next.contains_key(&plain) {
            self.next.insert(plain.clone(), 2);
            return plain;
        }
        loop {
            let number = self.next.get_mut(&plain).expect("just seen");
            let candidate = format!("{plain}_{number}");
            *number += 1;
            if !self.next.contains_key(&candidate) {
                self.next.insert(candidate.clone(), 2);
                return candidate;
            }
        }
    }
}

fn plain(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(|c| if c.is_control() || "/\\:*?\"<>|".contains(c) { '_' } else { c })
        .collect();
    if plain.len() > LONGEST_FILE {
        let end = (0..=LONGEST_FILE).rev().find(|&end| plain.is_char_boundary(end)).unwrap_or(0);
        plain.truncate(end);
    }
    if plain.is_empty() || plain.starts_with('.') {
        plain.replace_range(..plain.len().min(1), "_");
    }
    if plain.ends_with(['.', ' ']) {
        plain.pop();
        plain.push('_');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_kept() {
        let mut names = Names::default();
        for name in ["input_weights", "strength (MPa)", "x[1]", "größe", "a.b"] {
            assert_eq!(names.take(name), name);
        }
    }

    #[test]
    fn no_name_leaves_its_group() {
        let hostile =
            ["", ".", "..", "../../etc/passwd", "/etc", "a/b", "a\0b", ".zarray", "x.", "c:\\d"];
        let mut names = Names::default();
        for name in hostile {
            let file = names.take(name);
            assert!(!file.is_empty() && !file.starts_with('.'), "{name:?} became {file:?}");
            assert!(!file.contains(['/', '\\', '\0', ':']), "{name:?} became {file:?}");
        }
    }

    #[test]
    fn names_stay_different() {
        let mut names = Names::default();
        let files: Vec<String> =
            ["a_2", "a", "a", "a", "a/b", "a_b"].iter().map(|name| names.take(name)).collect();
        assert_eq!(files, ["a_2", "a", "a_3", "a_4", "a_b", "a_b_2"]);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let file = Names::default().take(&"ä".repeat(150));
        assert_eq!(file, "ä".repeat(100));
    }
}
