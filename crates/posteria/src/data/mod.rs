//! From a table of text to inputs, targets and folds.
