//! Which inputs? What chains over input sets say about inputs, sizes and sets, and the smallest set
//! that predicts as well as all inputs.

mod between_models;
mod choice;
mod elsewhere;
mod input_importance;
mod input_sets;
mod of_table;
mod report;
mod smallest;
mod visits;

pub use between_models::BetweenModels;
pub use choice::{
    AssessSets, AssessedSet, ChoiceError, ChoiceOptions, ChoiceRule, ChoiceStep, InputChoice,
    SetUtility, UtilitySummary, choose, likely_sets, ranked,
};
pub use elsewhere::{DividedFit, FitsElsewhere};
pub use input_importance::{InputImportance, InputLoss, input_importance};
pub use input_sets::InputSets;
pub use of_table::{
    SelectOptions, Selection, SelectionError, prepare_search, select_inputs,
    select_inputs_elsewhere,
};
pub use report::{ChoiceReport, InputReport, InputTimes, NestedReport, SelectionReport, SetTimes};
pub use smallest::SmallestSize;
pub use visits::{
    InputProbability, SelectError, SetProbability, SizeProbability, Visits, candidates_of, visits,
};
