#!/usr/bin/env bash
# Plays a run as a job array of Slurm, without Python:
#
#     FAIRYFORGE=/shared/bin/fairyforge trainer/cluster/slurm/submit.sh 100 loop plan.toml --out /shared/runs/mine
#
# One hundred tasks play a part of the games that the run lacks next (array.sh); when all have ended, a job takes in what they played and goes on as far as
# that goes (merge.sh). If games are wanted again, as in the next generation of a loop, it submits the next array itself, until the run is finished. The
# run's folder, the program and the plan must be visible under the same paths on all nodes.
#
# FAIRYFORGE is the program; fairyforge on the PATH if absent. Options for sbatch (partition, time, memory) go into SBATCH_* variables, see sbatch(1).
set -euo pipefail

if [[ $# -lt 4 || ! $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: submit.sh PARTS COMMAND… --out RUN   (expected a number of parts from 1 and a command of fairyforge)" >&2
    exit 2
fi
if [[ " ${*:2} " != *" --out "* ]]; then
    echo "expected --out RUN in the command, got: ${*:2}" >&2
    exit 2
fi

# Slurm runs copies of the scripts, which do not know where they come from.
FAIRYFORGE_SLURM=${FAIRYFORGE_SLURM:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
export FAIRYFORGE_SLURM

parts=$1
array=$(sbatch --parsable --array="1-$parts" "$FAIRYFORGE_SLURM/array.sh" "${@:2}")
# Whatever became of the tasks: what they played is taken in, and what is missing is asked for again.
merge=$(sbatch --parsable --dependency="afterany:${array%%;*}" "$FAIRYFORGE_SLURM/merge.sh" "$@")
echo "submitted: array ${array%%;*} of $parts parts, then merge ${merge%%;*}"
