#!/usr/bin/env bash
#SBATCH --job-name=fairyforge-part
#SBATCH --cpus-per-task=1
#SBATCH --output=fairyforge-part-%A-%a.log
# One task of a job array: plays its part of the games that a run lacks next. submit.sh says how it is begun; alone it is
#
#     sbatch --array=1-100 array.sh selfplay --variant chess --games 10000 --nodes 500 --seed 1 --out /shared/runs/mine
#     fairyforge selfplay --variant chess --games 10000 --nodes 500 --seed 1 --out /shared/runs/mine --merge   # when all have ended
#
# A task that was killed can be begun again: what it finished is kept.
set -euo pipefail

task=${SLURM_ARRAY_TASK_ID:?array.sh is a task of a job array: sbatch --array=1-N array.sh COMMAND…}
count=$SLURM_ARRAY_TASK_COUNT
if [[ $SLURM_ARRAY_TASK_MIN != 1 || $SLURM_ARRAY_TASK_MAX != "$count" ]]; then
    echo "expected an array of the tasks 1 to N, got $SLURM_ARRAY_TASK_MIN to $SLURM_ARRAY_TASK_MAX of $count tasks" >&2
    exit 2
fi

status=0
"${FAIRYFORGE:-fairyforge}" "$@" --threads "${SLURM_CPUS_PER_TASK:-1}" --shard "$task/$count" || status=$?
# 3: there are no games to share any more, so this part is as good as played.
[[ $status == 3 ]] || exit "$status"
