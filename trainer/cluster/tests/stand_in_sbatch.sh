#!/usr/bin/env bash
# Stands in for sbatch in tests: sets the variables that Slurm sets, runs all tasks of an array at once, and what depends on them afterwards, at once too.
# Like Slurm, it runs a copy of the script, from another folder.
set -euo pipefail

array= script=
while [[ $# -gt 0 ]]; do
    case $1 in
        --array=1-*) array=${1#--array=1-} ;;
        --dependency=afterany:*) ;;
        --parsable) ;;
        *)
            script=$1
            shift
            break
            ;;
    esac
    shift
done
[[ -f $script ]] || { echo "sbatch: expected a script, got '$script'" >&2; exit 1; }
spool=$(mktemp -d)
trap 'rm -rf "$spool"' EXIT
cp "$script" "$spool/slurm_script"
chmod +x "$spool/slurm_script"
echo "$(basename "$script") ${array:-alone}" >>"$STAND_IN_LOG"
if [[ -z $array ]]; then
    "$spool/slurm_script" "$@" >>"$STAND_IN_LOG.out" 2>&1 || echo "job failed with $?" >>"$STAND_IN_LOG"
else
    for ((task = 1; task <= array; task++)); do
        SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$array SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=$array \
            "$spool/slurm_script" "$@" >>"$STAND_IN_LOG.out" 2>&1 || echo "task $task failed with $?" >>"$STAND_IN_LOG" &
    done
    wait
fi
echo "$RANDOM;cluster"
