//! Decide what every column of a file of draws is.

use super::grouping::{GroupingError, MOST_VARIABLES, Naming, layout_of};
use super::{ReadError, STAN_STATISTICS};
use crate::draws::{Layout, Statistics};

/// Names of the column with the number of the chain: ours, the R package posterior's, CmdStanPy's.
const CHAIN: [&str; 3] = ["chain", ".chain", "chain__"];

/// Names of columns that number the draws of a chain, the one that decides first.
const DRAW: [&str; 6] = ["draw", ".draw", "draw__", ".iteration", "iteration", "iter__"];

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Chain,
    Draw,
    /// Place in a draw.
    Component(usize),
    /// Place in [`Statistics::to_array`].
    Statistic(usize),
    /// Row names, further counters, sampler columns without a counterpart here.
    Ignored,
}

/// The columns of one file.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) roles: Vec<Role>,
    pub(super) layout: Layout,
    pub(super) has_statistics: bool,
    pub(super) has_draw: bool,
}

/// Gives every column of a header its role. `commented`: the file began as CmdStan's do.
pub(super) fn columns_of(
    file: &str,
    line: u64,
    names: Vec<String>,
    commented: bool,
) -> Result<Columns, ReadError> {
    let file = || file.to_string();
    if names.iter().all(|name| name.parse::<f64>().is_ok() || name.is_empty()) {
        return Err(ReadError::NoHeader { file: file() });
    }
    // R and pandas write row names into a first column without a name.
    if let Some(column) = names.iter().skip(1).position(String::is_empty) {
        return Err(ReadError::NoName { file: file(), line, column: column + 2 });
    }
    let is_stan = |name: &String| STAN_STATISTICS.iter().any(|(stan, _)| name == stan);
    let naming =
        if commented || names.iter().any(is_stan) { Naming::Stan } else { Naming::Brackets };
    let own_statistics = names.len().checked_sub(Statistics::LEN).filter(|start| {
        names[*start..].iter().zip(Statistics::NAMES).all(|(name, statistic)| name == statistic)
    });
    let chain = CHAIN.iter().find(|chain| names.iter().any(|name| name == *chain));
    let draw = DRAW.iter().find(|draw| names.iter().any(|name| name == *draw));

    let mut roles = Vec::with_capacity(names.len());
    let mut components = Vec::new();
    for (column, name) in names.iter().enumerate() {
        let role = if chain.is_some_and(|chain| name == chain) {
            Role::Chain
        } else if draw.is_some_and(|draw| name == draw) {
            Role::Draw
        } else if let Some(start) = own_statistics.filter(|start| column >= *start) {
            Role::Statistic(column - start)
        } else if let Some((_, place)) = STAN_STATISTICS.iter().find(|(stan, _)| name == stan) {
            Role::Statistic(*place)
        } else if name.is_empty()
            || DRAW.contains(&name.as_str())
            || (naming == Naming::Stan && name.ends_with("__"))
        {
            Role::Ignored
        } else {
            components.push(name.clone());
            Role::Component(components.len() - 1)
        };
        roles.push(role);
    }
    check_roles(file, &names, &roles)?;
    if components.is_empty() {
        return Err(ReadError::NoVariable { file: file() });
    }
    let (layout, places) = layout_of(&components, naming).map_err(|error| match error {
        GroupingError::NamedTwice(name) => ReadError::NamedTwice { file: file(), name },
        GroupingError::ManyVariables(count) => {
            ReadError::ManyVariables { file: file(), count, limit: MOST_VARIABLES }
        }
    })?;
    for role in &mut roles {
        if let Role::Component(component) = role {
            *component = places[*component];
        }
    }
    let has_statistics = roles.iter().any(|role| matches!(role, Role::Statistic(_)));
    let has_draw = roles.contains(&Role::Draw);
    Ok(Columns { names, roles, layout, has_statistics, has_draw })
}

/// No two columns may number the chains, the draws, or be the same statistic.
fn check_roles(
    file: impl Fn() -> String,
    names: &[String],
    roles: &[Role],
) -> Result<(), ReadError> {
    let mut seen = [false; Statistics::LEN + 2];
    for (name, role) in names.iter().zip(roles) {
        let slot = match role {
            Role::Statistic(place) => *place,
            Role::Chain => Statistics::LEN,
            Role::Draw => Statistics::LEN + 1,
            Role::Component(_) | Role::Ignored => continue,
        };
        if std::mem::replace(&mut seen[slot], true) {
            return Err(ReadError::NamedTwice { file: file(), name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> Result<Columns, ReadError> {
        columns_of("f", 1, header.split(',').map(String::from).collect(), false)
    }

    #[test]
    fn counters_statistics_and_components_are_told_apart() {
        let columns = of(",.chain,.iteration,.draw,energy,a,lp__,b.1").unwrap();
        let roles = [
            Role::Ignored,
            Role::Chain,
            Role::Ignored,
            Role::Draw,
            Role::Component(0),
            Role::Component(1),
            Role::Statistic(0),
            Role::Component(2),
        ];
        assert_eq!(columns.roles, roles);
        assert_eq!(columns.layout.component_names(), ["energy", "a", "b[1]"]);
        let own = format!("a,{}", Statistics::NAMES.join(","));
        let columns = of(&own).unwrap();
        assert_eq!(columns.layout.component_names(), ["a"]);
        assert_eq!(columns.roles[10], Role::Statistic(9));
    }

    #[test]
    fn bad_headers_are_refused() {
        assert!(matches!(of("1,2.5"), Err(ReadError::NoHeader { .. })));
        assert!(matches!(of("a,,b"), Err(ReadError::NoName { column: 2, .. })));
        assert!(matches!(of("a,b,a"), Err(ReadError::NamedTwice { .. })));
        assert!(matches!(of("chain,chain,a"), Err(ReadError::NamedTwice { .. })));
        assert!(matches!(of("lp__,lp__,a"), Err(ReadError::NamedTwice { .. })));
        assert!(matches!(of("chain,draw"), Err(ReadError::NoVariable { .. })));
        let many: Vec<String> = (0..=MOST_VARIABLES).map(|i| format!("v{i}")).collect();
        assert!(matches!(of(&many.join(",")), Err(ReadError::ManyVariables { .. })));
    }
}
