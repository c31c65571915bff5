//! What chains leave behind: named variables, statistics of every draw.

mod batch;
mod codec;
mod layout;
mod record;
mod role;
mod subset;

pub use batch::BatchCentre;
pub use codec::{ReadError, WriteError, read_draws, write_csv, write_json, write_stan_csv};
pub use layout::{Dimension, Layout, Variable};
pub use record::{Draws, Statistics};
pub use role::Role;
pub use subset::SubsetError;
