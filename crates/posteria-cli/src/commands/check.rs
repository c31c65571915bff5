//! Put statistics of the data beside those of replicated data.

use posteria::assess::formula::Statistic;
use posteria::assess::{PredictiveCheck, ReplicatedStatistic, TargetFacts, usual_statistics};
use serde::Serialize;

use super::Context;
use crate::args;
use crate::assessment::{FoldFolders, Subject};
use crate::failure::Classify;
use crate::failure::{Failure, Result};
use crate::file::write_json;
use crate::interrupt::Interrupt;
use crate::output::{Table, heading};
use crate::text::{self, decimals_of, fixed};

/// Name of the file of a run folder that keeps the last checks.
pub const FILE: &str = "check.json";

/// What was found about a run.
#[derive(Serialize)]
struct Report {
    run: String,
    #[serde(flatten)]
    found: PredictiveCheck,
}

/// Runs `posteria check`.
pub fn run(arguments: &args::Check, context: &Context) -> Result<()> {
    let interrupt = Interrupt::listen().running()?;
    let subject = Subject::open(&arguments.run)?;
    let targets = TargetFacts::of(&subject.prepared.data);
    let asked = match arguments.statistic.is_empty() {
        true => usual_statistics(&targets),
        false => arguments.statistic.clone(),
    };
    let parse = |text: &String| {
        Statistic::parse(text, &targets).map_err(|error| {
            Failure::bad_input(format!("--statistic: {} of {}", error.message(), error.formula))
        })
    };
    let statistics = asked.iter().map(parse).collect::<Result<Vec<_>>>()?;
    subject.repeat_verdict(&context.warnings);
    let refit = FoldFolders::new(&subject, context.seed(), context.watched(&interrupt));
    let found = subject.assessor(&[], &refit).check(&statistics)?;
    found.cautions.iter().for_each(|caution| context.warn(caution));
    let report = Report { run: arguments.run.display().to_string(), found };
    write_json(&arguments.run.join(FILE), &report)?;
    context.result(&report, || report.render())
}

impl Report {
    fn render(&self) -> String {
        let header = ["statistic", "data", "posterior", "p", "leave-one-out", "p"];
        let mut table = Table::new(&header);
        for it in &self.found.statistics {
            let decimals = decimals_of(it.observed, it.posterior.sd, 2);
            let interval = |of: &ReplicatedStatistic| {
                format!("{} to {}", fixed(of.q05, decimals), fixed(of.q95, decimals))
            };
            table.row([
                it.statistic.clone(),
                fixed(it.observed, decimals),
                interval(&it.posterior),
                probability(&it.posterior),
                interval(&it.loo),
                probability(&it.loo),
            ]);
        }
        let rows = text::count(self.found.rows, "row");
        let mut text =
            heading(&format!("Statistics of {rows} and of replicated data (5 % to 95 %)"));
        text.push_str(&table.render());
        text.push_str(
            "p: share of replicated data with a larger statistic, and its standard error\n",
        );
        let strange = |it: &&posteria::assess::StatisticCheck| {
            it.loo.is_extreme() || it.posterior.is_extreme()
        };
        let strange: Vec<&str> =
            self.found.statistics.iter().filter(strange).map(|it| it.statistic.as_str()).collect();
        if !strange.is_empty() {
            text.push_str(&format!("the model does not reproduce {}\n", strange.join(", ")));
        }
        text
    }
}

/// With as many digits as are known.
fn probability(found: &ReplicatedStatistic) -> String {
    match found.p {
        p if p.is_nan() => "-".into(),
        p if p <= 0.0 => format!("< {}", fixed(found.p_mcse, 3)),
        p if p >= 1.0 => format!("> {}", fixed(1.0 - found.p_mcse, 3)),
        p => format!("{} ± {}", fixed(p, 3), fixed(found.p_mcse, 3)),
    }
}
