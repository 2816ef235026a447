"""The package and the program agree about options and answers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fairyforge_cluster.errors import BadInput, ClusterError, Interrupted
from fairyforge_cluster.plan import COMMANDS, DRIVEN_OPTIONS, OPTION_COMMANDS, PLAN_COMMANDS
from fairyforge_cluster.program import Program, answer_of, step_of


def options_of(program: Program, words: tuple[str, ...]) -> set[str]:
    """The long options in the program's help, as keys of plans."""
    text = subprocess.run([program.path, *words, "--help"], capture_output=True, text=True, check=True).stdout
    return {option.replace("-", "_") for option in re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", text, re.MULTILINE)}


@pytest.mark.parametrize("command", OPTION_COMMANDS)
def test_keys_are_the_options_of_the_program(program: Program, command: str) -> None:
    # `--engine` is another name for `--player`, told in brackets.
    assert options_of(program, (command,)) - DRIVEN_OPTIONS == set(OPTION_COMMANDS[command])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_shared(program: Program, command: str) -> None:
    words = PLAN_COMMANDS.get(command, (command,))
    assert {"shard", "merge", "out", "threads"} <= options_of(program, words)


def test_the_last_line_says_which_games_are_wanted() -> None:
    step = step_of('something else\n{"wants":"games","step":"selfplay/002","units":"games","missing":30,"of":40}\n')
    assert (step.name, step.units, step.missing, step.of) == ("selfplay/002", "games", 30, 40)


@pytest.mark.parametrize(
    "printed", ["", "no JSON", "{}", '{"wants":"merge","step":"x","units":"games","missing":1,"of":2}', "3"]
)
def test_other_answers_are_refused(printed: str) -> None:
    with pytest.raises(ClusterError, match="expected a line of JSON"):
        step_of(printed)


@pytest.mark.parametrize(
    ("status", "error"), [(1, ClusterError), (2, BadInput), (130, Interrupted), (-9, ClusterError)]
)
def test_statuses_mean_what_the_program_promises(status: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        answer_of(status, "", "what went wrong", ["fairyforge"])


def test_a_finished_run_has_no_step() -> None:
    assert answer_of(0, "digest", "", []).step is None


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected the program at"):
        Program.find(str(tmp_path / "none"))


def test_a_bad_plan_ends_with_status_2(tmp_path: Path, binary: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('variant = "chess"\ngames = 4\nnodes = 0\nseed = 1\n')
    words = ["selfplay", str(plan), "--out", str(tmp_path / "run"), "--local", "1", "--binary", str(binary)]
    done = subprocess.run(
        [sys.executable, "-m", "fairyforge_cluster", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "--nodes" in done.stderr
