#!/usr/bin/env bash
#SBATCH --job-name=fairyforge-merge
#SBATCH --cpus-per-task=1
#SBATCH --output=fairyforge-merge-%j.log
# Takes in what the tasks of an array have played, fits and trains, and submits the next array if games are wanted. submit.sh begins it.
set -euo pipefail

parts=$1
command=("${@:2}")
for ((i = 0; i < ${#command[@]}; i++)); do
    [[ ${command[i]} != --out ]] || run=${command[i + 1]}
done

status=0
"${FAIRYFORGE:-fairyforge}" "${command[@]}" --merge || status=$?
[[ $status == 3 ]] || exit "$status"

# Games are wanted, again perhaps. If no file has changed since the last time, the tasks fail, and would go on failing.
state=$(find "$run" -type f ! -name run.lock ! -name events.jsonl -printf '%P %s\n' | LC_ALL=C sort | sha256sum)
if [[ $state == "${FAIRYFORGE_STATE:-}" ]]; then
    echo "the last array has played nothing: see its logs, fairyforge-part-*.log; then submit.sh continues" >&2
    exit 1
fi
export FAIRYFORGE_STATE=$state
exec "$FAIRYFORGE_SLURM/submit.sh" "$parts" "${command[@]}"
