//! Assess runs: what options mean, the run itself, and its folds in its folder.

mod folders;
mod plan;
mod subject;

pub use folders::FoldFolders;
pub use plan::Plan;
pub use subject::Subject;
