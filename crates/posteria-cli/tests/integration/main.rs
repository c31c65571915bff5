//! Run the program as a user does, and check what it prints, leaves behind and returns.

// Folders that are made, refusals before words, standard input, replaced runs.
mod first_steps;
// Two ways to ask one question; verdicts that are repeated.
mod one_answer;
// What a fit prints and writes; that it can be repeated bit for bit.
mod fit;
// Everything that can be wrong with what is given: exit code 2, one line, nothing left behind.
mod bad_input;
// Columns that are not what they seem: odd cells, ids, dates, classes in figures, extrapolation.
mod columns;
// Links of two classes; powers of prior and likelihood.
mod families;
// Neural networks: poor data, refusals, dry runs, summaries.
mod networks;
// Gaussian processes: poor data, refusals, dry runs, summaries.
mod processes;
// Where a model is computed.
mod devices;
// One fold or one chain of a larger job.
mod units;
// Work that is divided among machines.
mod plans;
// Ladders of temperatures as units.
mod plans_compare;
mod plans_evidence;
// Searches over input sets as units, stage after stage.
mod plans_select;
mod plans_slurm;
// Every command of the guide and the README.
mod guide;
// Killed, interrupted, locked, damaged runs.
mod interruption;
// Goals, budgets of time, and runs that stop on their way.
mod enough;
// What the store of a run tells of functions and predictions; ArviZ, where it is installed.
mod draws_store;
// Summaries, diagnostics, exports of finished and of running runs.
mod reading;
// Chains that do not mix: named, weighed, and what to do about them.
mod chains;
// Predictions for new rows: contract, columns, files, refusals.
mod predict;
// Actions that are chosen by costs.
mod decisions;
// Predictions of Gaussian processes: formulas, residuals, threads.
mod predict_processes;
// Averages over runs, checks of statistics, folds in space, functions of batches.
mod averages;
// Expected utilities of runs, and comparisons.
mod assess_runs;
// What is not kept of large tables, and what a sample of their rows says.
mod large_tables;
// Leave-one-out from anyone's log likelihoods.
mod assess;
// Reports: contract, verdicts, refusals, names from hostile tables.
mod report;
// What a report answers: comparisons, rows that were left out, names of figures.
mod report_answer;
// Reports in a browser, where one is installed.
mod browser;
// Committees of early-stopped networks, from fit to prediction.
mod committee;
// Approximations at a mode, and tempered chains, from fit to prediction.
mod approximations;
// Log evidences: agreement with exact values, comparison, refusals.
mod evidence;
// Mixtures and principal components: from fit to prediction, refusals, demonstrations.
mod unsupervised;
// Input sets: selection, its report, refusals, resumed runs.
mod selection;
// Nested folds, inputs left out and interruptions of a choice.
mod selection_folds;
// Demonstrations of networks, with next to no draws.
mod demonstrations;
// Demonstrations, help, completions, closed pipes.
mod shell;
// The JSON of every command against its schema.
mod json;

mod posteria;
