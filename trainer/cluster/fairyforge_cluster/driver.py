"""The driver: merge, see which games are wanted, have them played, and again.

It keeps no state of its own. What is played lies in the run's folder or the store, and the program says what is missing; so a driver that was ended at any
moment is continued by the same command.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tqdm import tqdm

from fairyforge_cluster import runfolder
from fairyforge_cluster.errors import ClusterError, Interrupted
from fairyforge_cluster.hashing import digest_of_file
from fairyforge_cluster.plan import Needed, Plan
from fairyforge_cluster.pool import Failure, Pool
from fairyforge_cluster.program import Program, Step
from fairyforge_cluster.store import Item, Store
from fairyforge_cluster.worker import Kit, Outcome, StepFiles

# Parts for each thread of workers: the last ones are then short against the whole.
PARTS_A_SLOT = 4
# A part takes a process start of about a tenth of a second; below so many units that would be felt.
LEAST_UNITS = {"games": 8, "pairs": 4, "positions": 2}
# What a worker without the run's folder plays again, at most, when it is lost.
MOST_UNITS = 500
# A match that a test may end is cut finer: what is under way at its end is played for nothing.
UNITS_IF_IT_MAY_END = 8
MOST_PARTS = 100_000
FOLDER_OF_LEVELS = "levels"


@dataclass(frozen=True)
class Settings:
    """What the user chose, beside the plan."""

    run: Path
    store: str | None
    shards: int | None
    retries: int


class Driver:
    """Takes one run to its end."""

    def __init__(self, plan: Plan, program: Program, settings: Settings, tell: Callable[[str], None]) -> None:
        self._plan = plan
        self._program = program
        self._settings = settings
        self._run = settings.run
        self._tell = tell
        # Without a store of its own, what workers lack goes through the folder that they share.
        self._store = Store(settings.store or (self._run / runfolder.OWN_FOLDER / "store").as_uri())
        self._words = plan.words_here()
        self._folder = plan.place()

    def begin(self) -> Step | None:
        """Where the run stands before anything is sent to anybody: its next step, or `None` if it is finished (and was told)."""
        return self._merge()

    def pack(self) -> str:
        """Stores what workers need for any part; the digest by which they find it."""
        kit = pack(self._plan, self._program, self._store, None if self._settings.store else self._run)
        return self._store.add_bytes(kit.to_json(), "kit").digest

    @property
    def store_url(self) -> str:
        """Where workers find it."""
        return self._store.url

    def finish(self, step: Step | None, pool: Pool) -> list[Failure]:
        """Plays step after step until the run is finished, or until parts of a step failed for good."""
        while step is not None:
            stood = (step, runfolder.state_key(self._run))
            failures = self._play(step, pool)
            if failures:
                return failures
            step = self._merge()
            if step is not None and stood == (step, runfolder.state_key(self._run)):
                raise ClusterError(
                    f"{step.name}: all parts were played, and still {step.missing} of {step.of} {step.units} are missing"
                    f" in {self._run}"
                )
        return []

    def _merge(self) -> Step | None:
        self._take_in()
        answer = self._program.merge(self._words, self._run, self._folder)
        if answer.step is None:
            print(answer.printed, end="", flush=True)
            shutil.rmtree(self._run / runfolder.OWN_FOLDER, ignore_errors=True)
        return answer.step

    def _take_in(self) -> None:
        if self._settings.store and self._run.is_dir():
            runfolder.take_in(self._run, self._store, runfolder.state_key(self._run))

    def _play(self, step: Step, pool: Pool) -> list[Failure]:
        early = self._plan.may_end_early() and step.units == "pairs" and not step.name.startswith("tune")
        parts = parts_of(step, pool.slots(), self._settings.shards, may_end=early)
        files = self._send_step() if self._settings.store else None
        with tqdm(total=parts, desc=step.name, unit=" parts", mininterval=0.5, dynamic_ncols=True) as bar:
            look = Look(self, step, every=max(1, pool.slots())) if early else None

            def played(_: Outcome) -> None:
                bar.update()

            return pool.play(range(1, parts + 1), parts, files, played, look.is_over if look else lambda: False)

    def _send_step(self) -> str:
        key = runfolder.state_key(self._run)
        files, shards = runfolder.send_state(self._run, self._store, reads_games=self._plan.parts_read_games)
        return self._store.add_bytes(StepFiles(files, shards, key).to_json(), "step").digest

    def is_over(self, step: Step) -> bool:
        """Whether the run needs no more games of the step: asked of a copy, because parts hold the run while they are played."""
        self._take_in()
        own = self._run / runfolder.OWN_FOLDER
        own.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=own, prefix="look-") as copy:
            runfolder.copy_for_a_look(self._run, Path(copy))
            try:
                answer = self._program.merge(self._words, Path(copy), self._folder)
            except Interrupted:
                raise
            except ClusterError:
                # Perhaps a file was copied while it was written. When all parts are played, the merge of the run itself says what is wrong.
                return False
        return answer.step is None or answer.step.name != step.name


class Look:
    """Asks now and then whether a test has ended a match."""

    def __init__(self, driver: Driver, step: Step, every: int) -> None:
        self._driver = driver
        self._step = step
        self._every = every
        self._asked = 0

    def is_over(self) -> bool:
        """Asks the first time and then after so many times as there are workers' threads: a look costs about as much as a part's start."""
        self._asked += 1
        return self._asked % self._every == 0 and self._driver.is_over(self._step)


def parts_of(step: Step, slots: int, asked: int | None, *, may_end: bool) -> int:
    """Into how many parts a step is cut."""
    if asked is not None:
        return max(1, min(asked, step.of))
    finest = step.of // LEAST_UNITS.get(step.units, 1)
    wanted = (
        step.of // UNITS_IF_IT_MAY_END if may_end else min(max(slots * PARTS_A_SLOT, step.of // MOST_UNITS), finest)
    )
    return max(1, min(wanted, step.of, MOST_PARTS))


def pack(plan: Plan, program: Program, store: Store, run: Path | None) -> Kit:
    """Stores the program and the files that a plan names, and says how workers are to lay them out."""
    needed = plan.needed()
    in_place = tuple(
        Item(str(item.path), digest_of_file(item.path), item.path.stat().st_size)
        for item in needed
        if is_absolute(item)
    )
    relative = [item for item in needed if not is_absolute(item)]
    folder = "/".join([FOLDER_OF_LEVELS] * levels_up([item.words for item in relative]))
    inputs = []
    for item in relative:
        stored = store.add_file(item.path)
        inputs.append(Item(os.path.normpath(PurePosixPath(folder, item.words)), stored.digest, stored.size))
    return Kit(
        program=store.add_file(program.path),
        version=program.version(),
        variant=plan.variant(),
        rules_hash=program.rules_hash(plan.variant(), plan.place()),
        words=tuple(plan.words_there()),
        folder=folder,
        inputs=tuple(sorted(inputs)),
        in_place=in_place,
        run=str(run) if run else None,
    )


def is_absolute(item: Needed) -> bool:
    """Whether a plan names the file by where it is on a machine. Such words mean the same everywhere, so the file must be there everywhere."""
    return PurePosixPath(item.words).is_absolute()


def levels_up(words: list[str]) -> int:
    """How far paths lead up from where they begin: so many folders must be above."""
    return max((PurePosixPath(os.path.normpath(path)).parts.count("..") for path in words), default=0)


def report(failures: list[Failure], tell: Callable[[str], None]) -> None:
    """Says which parts failed and that the rest is kept."""
    for failure in failures:
        tell(str(failure))
    tell(
        f"{len(failures)} parts failed; the others are played and kept. When the cause is gone, the same command continues."
    )
