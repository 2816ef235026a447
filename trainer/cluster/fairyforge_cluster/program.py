"""The program `fairyforge`, as the driver and workers call it.

Exit statuses are the program's contract: 0 done, 1 failed, 2 bad input, 3 games are wanted (or, of a part, none can be shared), 130 interrupted.
"""

import errno
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairyforge_cluster.errors import BadInput, ClusterError, Interrupted

DONE = 0
BAD_INPUT = 2
WANTS_GAMES = 3
INTERRUPTED = 130

# What takes longer is shown while it lasts: fits and trainings.
SHOWN_AFTER_SECONDS = 2.0
# How long a run that parts of an earlier driver still play is waited for.
LOCK_PATIENCE_SECONDS = 120.0
LOCK_POLL_SECONDS = 1.0
IN_USE = "is in use by"


@dataclass(frozen=True)
class Step:
    """Games that a run lacks, as the program says it."""

    name: str
    units: str
    missing: int
    of: int


@dataclass(frozen=True)
class Answer:
    """What `--merge` came to: the step that lacks games, or none and what the program printed."""

    step: Step | None
    printed: str


class Program:
    """The program at a path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @staticmethod
    def find(given: str | None) -> "Program":
        """The program that was named, or the one on the path of commands."""
        found = shutil.which(given or "fairyforge")
        if found is None:
            raise BadInput(
                f"expected the program at {given}, got no file that can be run"
                if given
                else "no fairyforge on the PATH: name it with --binary"
            )
        return Program(Path(found).resolve())

    def version(self) -> str:
        """What it says it is."""
        return self._tell(["--version"], None)

    def rules_hash(self, variant: str, folder: Path) -> str:
        """The hash of a game's rules, of a name or of a file seen from `folder`."""
        return str(json.loads(self._tell(["variant", "show", variant, "--json"], folder))["rules_hash"])

    def merge(self, words: Sequence[str], out: Path, folder: Path) -> Answer:
        """Takes in what parts have left in `out`, and goes on as far as that goes without games."""
        command = [str(self.path), *words, "--out", str(out), "--merge"]
        until = time.monotonic() + LOCK_PATIENCE_SECONDS
        told = False
        while True:
            status, printed, errors = run_shown(command, folder)
            if status == BAD_INPUT and IN_USE in errors and time.monotonic() < until:
                if not told:
                    print("the run is in use, by parts that were begun before; waiting for them", file=sys.stderr)
                told = True
                time.sleep(LOCK_POLL_SECONDS)
                continue
            return answer_of(status, printed, errors, command)

    def _tell(self, words: list[str], folder: Path | None) -> str:
        try:
            done = subprocess.run([str(self.path), *words], cwd=folder, capture_output=True, text=True, check=False)
        except OSError as error:
            raise ClusterError(f"{self.path} cannot be run: {error.strerror}") from error
        if done.returncode != 0:
            raise ClusterError(
                f"{self.path} {' '.join(words)}: expected exit status 0, got {done.returncode}: {done.stderr.strip()}"
            )
        return done.stdout.strip()


def answer_of(status: int, printed: str, errors: str, command: Sequence[str]) -> Answer:
    """What the program's exit status and output mean."""
    if status == DONE:
        return Answer(None, printed)
    if status == WANTS_GAMES:
        return Answer(step_of(printed), printed)
    if status in (INTERRUPTED, -2):
        raise Interrupted
    message = f"{' '.join(command)}\nended with exit status {status}:\n{errors.strip()}"
    raise BadInput(message) if status == BAD_INPUT else ClusterError(message)


def step_of(printed: str) -> Step:
    """The step in the last line that the program printed."""
    lines = printed.strip().splitlines()
    try:
        wanted = json.loads(lines[-1])
        if wanted["wants"] != "games":
            raise ValueError(wanted["wants"])
        return Step(str(wanted["step"]), str(wanted["units"]), int(wanted["missing"]), int(wanted["of"]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ClusterError(f"expected a line of JSON that says which games are wanted, got {lines[-1:]}") from error


def run_shown(command: Sequence[str], folder: Path) -> tuple[int, str, str]:
    """Runs a command whose stderr is shown once it takes long: exit status, stdout, stderr."""
    with start(command, folder) as process:
        errors: list[str] = []
        shown = threading.Event()

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                errors.append(line)
                if shown.is_set():
                    sys.stderr.write(line)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        timer = threading.Timer(SHOWN_AFTER_SECONDS, shown.set)
        timer.start()
        assert process.stdout is not None
        printed = process.stdout.read()
        status = process.wait()
        timer.cancel()
        reader.join()
    return status, printed, "".join(errors)


def start(command: Sequence[str], folder: Path, *, alone: bool = False) -> subprocess.Popen[str]:
    """Starts a command whose output is read.

    `alone`: it is not reached by an interrupt from the terminal, and where Linux sees to that it dies with its parent.
    """
    words = list(command)
    if alone and shutil.which("setpriv"):
        words = ["setpriv", "--pdeathsig", "KILL", "--", *words]
    for last_try in (False, False, True):
        try:
            return subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=alone,
            )
        except OSError as error:
            # Another thread may have been between fork and exec while the file was written.
            if error.errno != errno.ETXTBSY or last_try:
                raise
            time.sleep(0.1)
    raise AssertionError("the last try returns or raises")
