//! Write a script that runs all units of a plan, and collects.

use std::path::Path;

use posteria::caution::shell_word;

use crate::args::Script;
use crate::failure::{Classify, Result};
use crate::file::write_whole;

/// Most tasks of an array: Slurm usually allows no more, and each does its share of the units.
const MOST_TASKS: usize = 1000;

const SHELL: &str = "run.sh";
const SLURM: &str = "submit.sh";

/// Writes the script into the plan; where it is.
pub fn write(plan: &Path, action: &str, kind: Script) -> Result<String> {
    let out = if action == "fit" { " --out run" } else { "" };
    let (name, script) = match kind {
        Script::Sh => (SHELL, shell(out)),
        Script::Slurm => (SLURM, slurm(out)),
    };
    let path = plan.join(name);
    write_whole(&path, |file| file.write_all(script.as_bytes()).running())?;
    Ok(shell_word(&path.display().to_string()))
}

/// The script that was written into a plan, if one was.
pub fn written(plan: &Path) -> Option<String> {
    let path = [SHELL, SLURM].map(|name| plan.join(name)).into_iter().find(|it| it.is_file())?;
    Some(shell_word(&path.display().to_string()))
}

fn shell(out: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Runs the units of this plan, as many at once as the first argument says, else as there are\n\
         # cores, and collects; again while that adds units. May be repeated: what is done is not done\n\
         # again.\n\
         set -u\n\
         cd \"$(dirname \"$0\")\"\n\
         while :; do\n\
         \x20   before=$(cat order.txt)\n\
         \x20   xargs -n 1 -P \"${{1:-$(getconf _NPROCESSORS_ONLN)}}\" posteria run-unit . --quiet < order.txt\n\
         \x20   # Says which units are missing, if any failed.\n\
         \x20   posteria collect .{out} || exit\n\
         \x20   [ \"$before\" != \"$(cat order.txt)\" ] || break\n\
         done\n"
    )
}

fn slurm(out: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Submits an array job that runs the units of this plan, at most {MOST_TASKS} tasks, and a job\n\
         # that collects when it has ended, and submits again if that adds units. Arguments go to all of\n\
         # them, such as --partition=short --time=2:00:00. May be repeated: what is done is not done again.\n\
         set -eu\n\
         cd \"$(dirname \"$0\")\"\n\
         units=$(grep -c . order.txt)\n\
         tasks=$((units < {MOST_TASKS} ? units : {MOST_TASKS}))\n\
         # The arguments once more, each in quotes.\n\
         again=\n\
         for it in \"$@\"; do again=\"$again '$(printf %s \"$it\" | sed \"s/'/'\\\\\\\\''/g\")'\"; done\n\
         array=$(sbatch --parsable --array=1-\"$tasks\" --cpus-per-task=1 --output=task-%a.txt \"$@\" <<TASK\n\
         #!/bin/sh\n\
         awk -v task=\"\\$SLURM_ARRAY_TASK_ID\" '(NR - task) % $tasks == 0' order.txt |\n\
         \x20   xargs -n 1 posteria run-unit .\n\
         TASK\n\
         )\n\
         # When some have failed too: it says which units are missing, and keeps the others.\n\
         sbatch --parsable --dependency=\"afterany:${{array%%;*}}\" --output=collected.txt \"$@\" <<COLLECT\n\
         #!/bin/sh\n\
         before=\\$(cat order.txt)\n\
         posteria collect .{out} || exit\n\
         [ \"\\$before\" = \"\\$(cat order.txt)\" ] || sh submit.sh$again\n\
         COLLECT\n"
    )
}
