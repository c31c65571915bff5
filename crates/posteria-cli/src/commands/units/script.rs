//! Write a script that runs all units of a plan, and collects.

use std::path::Path;

use posteria::caution::shell_word;

use crate::args::Script;
use crate::failure::{Classify, Result};
use crate::file::write_whole;

/// Most tasks of an array: Slurm usually allows no more, and each does its share of the units.
const MOST_TASKS: usize = 1000;

/// Writes the script into the plan; where it is.
pub fn write(plan: &Path, action: &str, (kind, units): (Script, usize)) -> Result<String> {
    let out = if action == "fit" { " --out run" } else { "" };
    let (name, script) = match kind {
        Script::Sh => ("run.sh", shell(out)),
        Script::Slurm => ("submit.sh", slurm(out, units)),
    };
    let path = plan.join(name);
    write_whole(&path, |file| file.write_all(script.as_bytes()).running())?;
    Ok(shell_word(&path.display().to_string()))
}

fn shell(out: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Runs the units of this plan, as many at once as the first argument says, else as there are\n\
         # cores, and collects. May be repeated: what is done is not done again.\n\
         set -u\n\
         cd \"$(dirname \"$0\")\"\n\
         xargs -n 1 -P \"${{1:-$(getconf _NPROCESSORS_ONLN)}}\" posteria run-unit . --quiet < order.txt\n\
         # Says which units are missing, if any failed.\n\
         posteria collect .{out}\n"
    )
}

fn slurm(out: &str, units: usize) -> String {
    let tasks = units.min(MOST_TASKS);
    format!(
        "#!/bin/sh\n\
         # Submits an array job that runs the units of this plan, {tasks} tasks for {units} units, and a\n\
         # job that collects when it has ended. Arguments go to both, such as --partition=short\n\
         # --time=2:00:00. May be repeated: what is done is not done again.\n\
         set -eu\n\
         cd \"$(dirname \"$0\")\"\n\
         array=$(sbatch --parsable --array=1-{tasks} --cpus-per-task=1 --output=task-%a.txt \"$@\" <<'TASK'\n\
         #!/bin/sh\n\
         awk -v task=\"$SLURM_ARRAY_TASK_ID\" '(NR - task) % {tasks} == 0' order.txt |\n\
         \x20   xargs -n 1 posteria run-unit .\n\
         TASK\n\
         )\n\
         # When some have failed too: it says which units are missing, and keeps the others.\n\
         sbatch --parsable --dependency=\"afterany:${{array%%;*}}\" --output=collected.txt \"$@\" <<'COLLECT'\n\
         #!/bin/sh\n\
         posteria collect .{out}\n\
         COLLECT\n"
    )
}
