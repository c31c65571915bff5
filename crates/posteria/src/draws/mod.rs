//! What chains leave behind: named variables, statistics of every draw.

mod batch;
mod layout;
mod record;
mod subset;

pub use batch::BatchCentre;
pub use layout::{Dimension, Layout, Variable};
pub use record::{Draws, Statistics};
pub use subset::SubsetError;
