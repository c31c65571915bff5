//! What chains leave behind: named variables, statistics of every draw.

mod layout;
mod record;

pub use layout::{Dimension, Layout, Variable};
pub use record::{Draws, Statistics};
