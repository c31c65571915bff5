//! Say which GPUs there are, and whether they compute as they should.

use posteria_cuda::{Cache, DeviceReport, TestedDevice};

use crate::context::Context;
use crate::failure::{Classify, Failure, Result};
use crate::text;

/// Runs `posteria device`.
pub fn run(context: &Context) -> Result<()> {
    let report = DeviceReport::new(&Cache::of_user()).running()?;
    context.result(&report, || match &report.why {
        Some(why) => format!("No GPU: {}.\nSelf-test: skipped.\n", text::printable(why)),
        None => report.devices.iter().map(words).collect(),
    })?;
    match report.devices.iter().find(|device| !device.failed.is_empty()) {
        Some(device) => {
            let name = text::printable(&device.info.name);
            Err(Failure::Running(anyhow::anyhow!("the self-test of {name} failed")))
        }
        None => Ok(()),
    }
}

fn words(device: &TestedDevice) -> String {
    let info = &device.info;
    let mut lines = format!(
        "{}: {}, {} GB, {} multiprocessors, chip {}, driver of CUDA {}\n",
        info.ordinal,
        text::printable(&info.name),
        info.memory >> 30,
        info.multiprocessors,
        info.chip,
        info.driver
    );
    for check in &device.failed {
        let (name, difference) = (text::printable(&check.name), check.difference);
        lines += &format!("   {name}: {difference:.1e} apart, at most {:.1e}\n", check.limit);
    }
    lines += &match &device.why {
        None => format!("   Self-test: {} passed.\n", text::count(device.checks, "comparison")),
        Some(why) => format!("   Not usable: {}.\n", text::printable(why)),
    };
    lines
}
