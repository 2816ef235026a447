"""The way without Python: the scripts for Slurm, with a stand-in that runs them as Slurm does."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "slurm"
Alone = Callable[..., str]


@pytest.fixture
def submit(tmp_path: Path, binary: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Submits a run to the stand-in."""
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "sbatch").symlink_to(Path(__file__).with_name("stand_in_sbatch.sh"))
    environment = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "FAIRYFORGE": str(binary),
        "STAND_IN_LOG": str(tmp_path / "log"),
    }

    def run(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [SCRIPTS / "submit.sh", *words],
            cwd=tmp_path,
            env={**environment, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def jobs(folder: Path) -> list[str]:
    """What was run, in order."""
    return (folder / "log").read_text().splitlines()


def test_an_array_and_a_merge_leave_the_digest_of_one_process(
    submit: Callable[..., subprocess.CompletedProcess[str]], alone: Alone, tmp_path: Path
) -> None:
    words = ["selfplay", "--variant=chess", "--games=24", "--nodes=50", "--seed=1", "--shard-games=4"]
    printed = alone(*words, "--out", tmp_path / "local")
    done = submit("3", *words, "--out", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    # The stand-in takes numbers of one task an array; a task that has nothing to play is no failure.
    assert jobs(tmp_path) == ["array.sh 3", "merge.sh alone"]
    assert printed.splitlines()[-1] in (tmp_path / "log.out").read_text()


def test_a_loop_goes_on_from_array_to_array(
    submit: Callable[..., subprocess.CompletedProcess[str]], alone: Alone, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(
        'format = 1\nvariant = "chess"\nseed = 3\ngenerations = 2\n'
        "[selfplay]\ngames = 40\nnodes = 20\nshard_games = 10\n[selfplay.openings.imbalance]\nshare = 0.8\n"
        "[match]\npairs = 4\nnodes = 20\n"
    )
    alone("loop", tmp_path / "plan.toml", "--out", tmp_path / "local")
    done = submit("2", "loop", "plan.toml", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert jobs(tmp_path) == ["array.sh 2", "merge.sh alone"] * 4
    assert alone("data", "digest", tmp_path / "run") == alone("data", "digest", tmp_path / "local")
    for name in ("weights/001.toml", "gate/001-vs-000.jsonl", "gate/002-vs-001.toml"):
        if (tmp_path / "local" / name).exists():
            assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "local" / name).read_bytes(), name


def test_arrays_that_play_nothing_are_not_submitted_for_ever(
    submit: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, binary: Path
) -> None:
    faulty = tmp_path / "faulty"
    faulty.write_text(f'#!/bin/sh\ncase "$*" in *"--shard "*) exit 7;; esac\nexec {binary} "$@"\n')
    faulty.chmod(0o755)
    words = ["selfplay", "--variant=chess", "--games=8", "--nodes=20", "--seed=1", "--out", "run"]
    submit("2", *words, FAIRYFORGE=str(faulty))
    told = jobs(tmp_path)
    assert told.count("array.sh 2") == 2
    assert told.count("task 1 failed with 7") == 2
    assert "the last array has played nothing" in (tmp_path / "log.out").read_text()


@pytest.mark.parametrize("words", [[], ["0", "selfplay", "--out", "x"], ["3", "selfplay", "chess", "run"]])
def test_what_cannot_be_submitted_is_refused(
    submit: Callable[..., subprocess.CompletedProcess[str]], words: list[str]
) -> None:
    done = submit(*words)
    assert done.returncode == 2
    assert "expected" in done.stderr


@pytest.mark.parametrize(("first", "last", "count"), [("0", "3", "4"), ("1", "5", "3")])
def test_arrays_that_do_not_count_from_1_are_refused(first: str, last: str, count: str, binary: Path) -> None:
    variables = {"ID": first, "MIN": first, "MAX": last, "COUNT": count}
    environment = {
        **os.environ,
        **{f"SLURM_ARRAY_TASK_{key}": value for key, value in variables.items()},
        "FAIRYFORGE": str(binary),
    }
    done = subprocess.run(
        [SCRIPTS / "array.sh", "variant", "list"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "expected an array of the tasks 1 to N" in done.stderr
