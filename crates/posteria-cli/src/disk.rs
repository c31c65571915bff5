//! Say how large a run folder will be, before it begins.

use posteria::fit::Prepared;
use posteria::model::spec::SamplingSpec;
use posteria::sample::Plan;

use crate::output::Output;
use crate::text;

/// Bytes above which the size of a run folder is told.
const LARGE: f64 = 100e6;

/// What a run folder will take on the disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    /// The data of the fit.
    data: f64,
    /// The draws with their statistics.
    draws: f64,
    /// The log likelihood of every row under every draw.
    log_likelihoods: f64,
}

/// Tells the size of the folder that sampling as `plan` says will leave, if it is large, and whether
/// log likelihoods are among what is kept.
pub fn tell(prepared: &Prepared, plan: &Plan, output: Output) {
    let rows = prepared.posterior.rows();
    let total = (plan.chains * plan.draws) as f64;
    let columns = prepared.data.input_names.len() + prepared.encoder.target_names().len();
    let size = Size {
        data: 8.0 * prepared.data.rows() as f64 * columns as f64,
        draws: 8.0 * total * (prepared.posterior.layout().len() + 10) as f64,
        log_likelihoods: 8.0 * total * rows as f64,
    };
    let limit = prepared.spec.sampling.log_lik_limit;
    if let Some(line) = words(&size, (rows, plan), limit) {
        output.message(&line);
    }
}

fn words(size: &Size, (rows, plan): (usize, &Plan), limit: Option<f64>) -> Option<String> {
    let Size { data, draws, log_likelihoods } = *size;
    let all = data + draws + if plan.pointwise { log_likelihoods } else { 0.0 };
    let kept = rows > 0 && plan.pointwise;
    if rows == 0 || (kept && all <= LARGE) {
        return None;
    }
    let of_rows = format!(
        "the log likelihoods of {} under {}",
        text::count(rows, "row"),
        text::count(plan.chains * plan.draws, "draw")
    );
    let folder = format!("the run folder will take about {}", text::bytes(all));
    Some(if kept {
        format!("{folder}, {} of it {of_rows}", text::bytes(log_likelihoods))
    } else {
        format!(
            "{folder}; {of_rows}, {}, are beyond the limit of {} (--log-lik-limit MB) and not kept: \
             assess and compare compute what they need again",
            text::bytes(log_likelihoods),
            text::bytes(1e6 * limit.unwrap_or(SamplingSpec::LOG_LIK_LIMIT))
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_folders_and_what_is_left_out_are_told() {
        let size =
            |rows: f64| Size { data: 168.0 * rows, draws: 1e6, log_likelihoods: 32e3 * rows };
        let plan = |pointwise| Plan { pointwise, ..Plan::new(4, 1000, 1000) };
        assert_eq!(words(&size(1000.0), (1000, &plan(true)), None), None);
        let kept = words(&size(8000.0), (8000, &plan(true)), None).expect("large");
        assert_eq!(
            kept,
            "the run folder will take about 258 MB, 256 MB of it the log likelihoods of 8000 rows \
             under 4000 draws"
        );
        let left_out = words(&size(1e6), (1_000_000, &plan(false)), None).expect("told");
        assert_eq!(
            left_out,
            "the run folder will take about 169 MB; the log likelihoods of 1000000 rows under 4000 \
             draws, 32 GB, are beyond the limit of 256 MB (--log-lik-limit MB) and not kept: assess \
             and compare compute what they need again"
        );
        let asked = words(&size(100.0), (100, &plan(false)), Some(1.0)).expect("told");
        assert!(asked.contains("beyond the limit of 1 MB"), "{asked}");
    }
}
