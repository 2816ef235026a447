"""What runs on a worker: it gets what it lacks, says whether it can play, and plays parts.

Nothing here decides which part is played where or when. A worker keeps what it was sent under a cache folder, by content, so that nothing is sent to a machine
twice; `FAIRYFORGE_CLUSTER_CACHE` names another folder. A machine of another kind has a program of its own, named by `FAIRYFORGE_CLUSTER_BINARY`; it must be
of the driver's version.
"""

import collections
import json
import os
import shutil
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from distributed import get_worker

from fairyforge_cluster import program as programs
from fairyforge_cluster import runfolder
from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.hashing import DIGEST_LENGTH, digest_of_file
from fairyforge_cluster.program import Program
from fairyforge_cluster.store import Item, Store

CACHE_VARIABLE = "FAIRYFORGE_CLUSTER_CACHE"
BINARY_VARIABLE = "FAIRYFORGE_CLUSTER_BINARY"

# Lines of a failed part's stderr that are told.
TOLD_LINES = 20
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Kit:
    """What workers need for any part of a run."""

    program: Item
    version: str
    variant: str
    rules_hash: str
    words: tuple[str, ...]
    """The program's arguments, without --out, --threads and --shard."""
    folder: str
    """Where the program runs, in the stage; relative paths of the plan begin there."""
    inputs: tuple[Item, ...]
    """Files that are sent; paths in the stage."""
    in_place: tuple[Item, ...]
    """Files that were named by absolute paths: they must be on the worker already."""
    run: str | None
    """The run's folder if workers share it."""

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @staticmethod
    def from_json(data: bytes) -> "Kit":
        """As it was stored."""
        fields = json.loads(data)
        fields["program"] = Item(**fields["program"])
        fields["words"] = tuple(fields["words"])
        for key in ("inputs", "in_place"):
            fields[key] = tuple(Item(**item) for item in fields[key])
        return Kit(**fields)


@dataclass(frozen=True)
class StepFiles:
    """What a worker without the run's folder needs for the parts of one step, and where it hands in what they leave."""

    files: tuple[Item, ...]
    shards: tuple[str, ...]
    """Shards of which parts need the names only, so that they are not sent."""
    results: str

    def to_json(self) -> bytes:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @staticmethod
    def from_json(data: bytes) -> "StepFiles":
        """As it was stored."""
        fields = json.loads(data)
        files = tuple(Item(**item) for item in fields["files"])
        return StepFiles(files, tuple(fields["shards"]), fields["results"])


@dataclass(frozen=True)
class Order:
    """One part to be played, small enough to be sent with every task."""

    store: str
    kit: str
    step: str | None
    part: int
    of: int
    session: str
    """By which all parts of a step are stopped together."""


@dataclass(frozen=True)
class Admission:
    """Whether a worker can play; `problem` says why not."""

    worker: str
    problem: str | None


@dataclass(frozen=True)
class Outcome:
    """How a part ended: exit status 0 if it is played."""

    part: int
    worker: str
    status: int
    command: str
    errors: str


class Refusal(Exception):
    """This worker cannot play; the message says why."""


@dataclass(frozen=True)
class Ready:
    """A kit laid out on this machine."""

    kit: Kit
    program: Program
    folder: Path


def admit(store: str, kit: str) -> Admission:
    """Gets what this worker lacks and compares it with the driver. Runs as a task, because sending may take long."""
    try:
        ready(store, kit)
    except Refusal as refusal:
        return Admission(worker_name(), str(refusal))
    except (OSError, ClusterError) as error:
        return Admission(worker_name(), f"{type(error).__name__}: {error}")
    return Admission(worker_name(), None)


def play(order: Order) -> Outcome:
    """Plays one part."""
    laid_out = ready(order.store, order.kit)
    if laid_out.kit.run is not None:
        return run_part(laid_out, order, Path(laid_out.kit.run))
    assert order.step is not None, "without a shared folder a step says what it needs"
    store = Store(order.store)
    step = StepFiles.from_json(store.read(order.step))
    scratch = cache() / "scratch" / uuid.uuid4().hex
    try:
        lay_run(store, step, scratch)
        outcome = run_part(laid_out, order, scratch)
        if outcome.status == programs.DONE:
            hand_in(store, step, scratch, order)
        return outcome
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def stop(session: str) -> None:
    """Ends all parts of a session that this process plays, and lets none begin."""
    PARTS.stop(session)


class Parts:
    """The programs that this process has started, by session. The one thing that tasks of a process share: a task cannot be stopped from outside otherwise."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, set[subprocess.Popen[str]]] = collections.defaultdict(set)
        self._stopped: set[str] = set()

    def begin(self, session: str, start: Callable[[], subprocess.Popen[str]]) -> subprocess.Popen[str] | None:
        """Starts a program, or nothing if the session is over."""
        with self._lock:
            if session in self._stopped:
                return None
            process = start()
            self._running[session].add(process)
            return process

    def end(self, session: str, process: subprocess.Popen[str]) -> None:
        """The program has ended."""
        with self._lock:
            self._running[session].discard(process)

    def stop(self, session: str) -> None:
        """Ends a session's programs."""
        with self._lock:
            self._stopped.add(session)
            for process in self._running.pop(session, set()):
                process.kill()


PARTS = Parts()
READY: dict[str, Ready] = {}
READY_LOCK = threading.Lock()


def ready(store: str, kit: str) -> Ready:
    """The kit, laid out and compared once in the life of this process."""
    with READY_LOCK:
        if kit not in READY:
            READY[kit] = prepare(Store(store), kit)
        return READY[kit]


def prepare(store: Store, digest: str) -> Ready:
    """Lays a kit out and compares this worker with the driver."""
    try:
        kit = Kit.from_json(store.read(digest))
    except FileNotFoundError as error:
        hint = "if workers share no folder with the driver, --store is needed"
        raise Refusal(f"expected to read {store.url}, got no such file: {hint}") from error
    program = Program(own_binary() or executable(store, kit.program))
    version = program.version()
    if version != kit.version:
        raise Refusal(f"expected {kit.version!r}, as the driver has, got {version!r} from {program.path}")
    for item in kit.in_place:
        compare_in_place(item)
    stage = cache() / "stages" / digest
    for item in kit.inputs:
        lay(store, item, stage)
    folder = stage / kit.folder
    folder.mkdir(parents=True, exist_ok=True)
    rules_hash = program.rules_hash(kit.variant, folder)
    if rules_hash != kit.rules_hash:
        raise Refusal(f"expected rules of {kit.variant} with hash {kit.rules_hash}, got {rules_hash}")
    return Ready(kit, program, folder)


def own_binary() -> Path | None:
    """This machine's own program, if it has one."""
    own = os.environ.get(BINARY_VARIABLE)
    return Path(own) if own else None


def executable(store: Store, item: Item) -> Path:
    """The driver's program, kept by its content."""
    path = kept(store, item)
    if not os.access(path, os.X_OK):
        path.chmod(0o755)
    return path


def compare_in_place(item: Item) -> None:
    """A file named by an absolute path must be here and the same."""
    path = Path(item.path)
    if not path.is_file():
        raise Refusal(f"expected the file {path}, which the plan names by an absolute path, got none")
    digest = digest_of_file(path)
    if digest != item.digest:
        raise Refusal(f"expected {path} with SHA-256 {item.digest}, got {digest}")


def run_part(laid_out: Ready, order: Order, out: Path) -> Outcome:
    """Runs the program for one part, into `out`."""
    kit = laid_out.kit
    words = [*kit.words, "--threads", "1", "--shard", f"{order.part}/{order.of}", "--out", str(out)]
    command = [str(laid_out.program.path), *words]
    process = PARTS.begin(order.session, lambda: programs.start(command, laid_out.folder, alone=True))
    if process is None:
        return Outcome(order.part, worker_name(), programs.INTERRUPTED, " ".join(command), "stopped before it began")
    try:
        status, errors = wait_for(process)
    finally:
        process.kill()
        PARTS.end(order.session, process)
    # Nothing that can be shared is left of this step: the part is as good as played.
    status = programs.DONE if status == programs.WANTS_GAMES else status
    return Outcome(order.part, worker_name(), status, " ".join(command), errors)


def wait_for(process: subprocess.Popen[str]) -> tuple[int, str]:
    """A program's exit status and its last words."""
    _, errors = process.communicate()
    return process.returncode, "\n".join(errors.splitlines()[-TOLD_LINES:])


def hand_in(store: Store, step: StepFiles, scratch: Path, order: Order) -> None:
    """Stores the files that a part has added to its copy of the run."""
    sent = {item.path for item in step.files} | set(step.shards)
    files = []
    for path in sorted(scratch.rglob("*")):
        name = path.relative_to(scratch).as_posix()
        if path.is_file() and name not in sent and runfolder.is_left_by_part(name):
            files.append((Item(name, digest_of_file(path), path.stat().st_size), path))
    store.hand_in(step.results, files, order.part, order.of)


def lay_run(store: Store, step: StepFiles, scratch: Path) -> None:
    """A copy of the run, as far as parts need it: of shards that are there the names."""
    for item in step.files:
        lay(store, item, scratch)
    for name in step.shards:
        stand_in = scratch / name
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.touch()


def lay(store: Store, item: Item, folder: Path) -> None:
    """Puts a file where it belongs in `folder`, unless it is there. Journals are copied, because programs write to them."""
    path = folder / item.path
    if path.is_file() and path.stat().st_size == item.size:
        return
    source = kept(store, item)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as aside:
        runfolder.place(source, Path(aside) / path.name)
        (Path(aside) / path.name).replace(path)


def kept(store: Store, item: Item) -> Path:
    """The file in this machine's cache, fetched if it is not there."""
    if len(item.digest) != DIGEST_LENGTH or not item.digest.isalnum():
        raise ClusterError(f"expected a SHA-256, got {item.digest!r}")
    path = cache() / "objects" / item.digest[:2] / item.digest
    if not (path.is_file() and path.stat().st_size == item.size):
        store.fetch(item.digest, path)
    return path


def cache() -> Path:
    """Where this machine keeps what it was sent."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "fairyforge-cluster"


def worker_name() -> str:
    """What this worker is called, with its address."""
    try:
        worker: Any = get_worker()
    except ValueError:
        return "this process"
    return f"{worker.address} ({worker.name})" if str(worker.name) != worker.address else str(worker.address)
