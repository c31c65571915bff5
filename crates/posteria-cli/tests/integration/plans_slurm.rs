//! The scripts of plans, by a queue in place of Slurm.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::plans::{copy, done, files, shell, succeeded};
use crate::posteria::{Place, assert_same_files};

/// In place of that of Slurm: puts a job into a queue, and says its number, as one of several clusters does.
const SBATCH: &str = r#"#!/bin/sh
queue=$(dirname "$0")/queue
id=$(($(ls "$queue" | wc -l) + 1))
mkdir "$queue/$id"
pwd > "$queue/$id/place"
for it in "$@"; do echo "$it"; done > "$queue/$id/asked"
cat > "$queue/$id/script"
echo "$id;here"
"#;

/// Runs what is in the queue, one after the other, and what is put there meanwhile; refuses jobs that
/// depend on one that has not ended.
const CLUSTER: &str = r#"#!/bin/sh
queue=$(dirname "$0")/queue
id=1
while [ -d "$queue/$id" ]; do
    job=$queue/$id array=none output=none
    cd "$(cat "$job/place")" || exit
    while read -r it; do
        case $it in
            --parsable|--partition=short|--cpus-per-task=1) ;;
            --comment=two*words) ;;
            --array=1-*) array=${it#--array=1-} ;;
            --output=*) output=${it#--output=} ;;
            --dependency=afterany:*) [ -e "$queue/${it##*:}/ended" ] || exit 1 ;;
            *) echo "unknown: $it" >&2; exit 1 ;;
        esac
    done < "$job/asked"
    if [ "$array" = none ]; then
        sh "$job/script" > "$output" 2>&1
    else
        for task in $(seq "$array"); do
            to=$(echo "$output" | sed "s/%a/$task/")
            SLURM_ARRAY_TASK_ID=$task sh "$job/script" > "$to" 2>&1
        done
    fi
    touch "$job/ended"
    id=$((id + 1))
done
"#;

/// Submits a plan with this script, and runs all that comes of it; the number of jobs.
#[track_caller]
pub fn by_slurm(place: &Place, plan: &str) -> usize {
    let programs = place.path("programs");
    let queue = programs.join("queue");
    if queue.exists() {
        fs::remove_dir_all(&queue).expect("removed");
    }
    fs::create_dir_all(&queue).expect("made");
    for (name, text) in [("sbatch", SBATCH), ("cluster", CLUSTER)] {
        let path: PathBuf = programs.join(name);
        fs::write(&path, text).expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    }
    let submit = format!("sh {plan}/submit.sh --partition=short \"--comment=two  words\"");
    succeeded(&shell(place, &submit, &programs));
    succeeded(&shell(place, "cluster", &programs));
    fs::read_dir(queue).expect("a queue").count()
}

#[test]
fn scripts_run_all_units_and_collect() {
    let place = Place::with_data(24);
    let short = "fit data.csv --target y --inputs a b --chains 2 --warmup 40 --draws 40 -q";
    let folds = "--method kfold --folds 4";
    done(&place, &format!("{short} --out run"));
    copy(&place, "run", "again/run");
    done(&place, &format!("plan assess run {folds} -o plan --script slurm -q"));
    done(&place, &format!("plan assess again/run {folds} -o again/plan --script sh -q"));
    assert_eq!(by_slurm(&place, "plan"), 2, "the units, and one that collects");
    succeeded(&shell(&place, "sh again/plan/run.sh 2 > again.txt", &place.path("")));
    let text = |name: &str| fs::read_to_string(place.path(name)).expect("written");
    for task in 1..=4 {
        assert_eq!(text(&format!("plan/task-{task}.txt")).lines().count(), 1, "{task}");
    }
    assert!(text("plan/collected.txt").contains("elpd"), "{}", text("plan/collected.txt"));
    assert!(text("again.txt").contains("elpd"));
    assert_same_files(&files(&place, "run/folds"), &files(&place, "again/run/folds"));
}
