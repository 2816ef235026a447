"""Which files of a run's folder matter to whom.

The folder's files are the program's (docs/formats/journal.md, docs/formats/games.md). The driver's own are under `cluster/` and go when the run is finished.
"""

import contextlib
import os
import shutil
from pathlib import Path, PurePosixPath

from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.hashing import digest_of_bytes, digest_of_file
from fairyforge_cluster.store import Item, Store

OWN_FOLDER = "cluster"
LOCK = "run.lock"
# Locks and logs belong to the process that writes them; reports are made of the rest.
NEVER_SENT = frozenset(
    {"run.lock", "events.jsonl", "games.pgn", "result.json", "report.md", "report.html", "losses.jsonl"}
)
DRAWING_SUFFIX = ".svg"
# Files that are being written, and folders in which they are.
PASSING_SUFFIX = ".tmp"
SHARD_SUFFIX = ".parquet"
JOURNAL_SUFFIX = ".jsonl"
PARTS_SUFFIX = ".parts"
CHECKPOINTS = "checkpoints"
# A shard counts when its games file is there, so that comes last.
FINISHED_MARKER = "games-"


def is_left_by_part(name: str) -> bool:
    """Whether a file that a part has added to a run belongs to the run: all but locks, logs and what was not finished."""
    path = PurePosixPath(name)
    passing = any(part.endswith(PASSING_SUFFIX) for part in path.parts)
    return path.name not in NEVER_SENT and path.suffix != DRAWING_SUFFIX and not passing


def is_state(name: str) -> bool:
    """Whether any part needs what is in the file. Of shards most need the names: what came of games is in weights and networks."""
    path = PurePosixPath(name)
    own = path.parts[0] == OWN_FOLDER or CHECKPOINTS in path.parts
    return not own and path.suffix != SHARD_SUFFIX and is_left_by_part(name)


def is_played(name: str) -> bool:
    """Whether the file holds games that parts have played for a step that is not over."""
    return any(folder.endswith(PARTS_SUFFIX) for folder in PurePosixPath(name).parts)


def names(run: Path) -> list[str]:
    """All files of a run by their paths in it, in order."""
    if not run.is_dir():
        return []
    return sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())


def state_key(run: Path) -> str:
    """A digest of where a run stands, apart from games that are played for its next step."""
    decisive = (name for name in names(run) if is_state(name) and not is_played(name))
    return digest_of_bytes("".join(f"{name} {digest_of_file(run / name)}\n" for name in decisive).encode())


def send_state(run: Path, store: Store, *, reads_games: bool) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Stores what parts need of the run: its files, and the names of its shards; the shards too if parts read games."""
    items, shards = [], []
    for name in names(run):
        is_shard = PurePosixPath(name).suffix == SHARD_SUFFIX and is_left_by_part(name)
        if is_state(name) or (is_shard and reads_games):
            stored = store.add_file(run / name)
            items.append(Item(name, stored.digest, stored.size))
        elif is_shard:
            shards.append(name)
    return tuple(items), tuple(shards)


def take_in(run: Path, store: Store, key: str) -> int:
    """Brings what parts have handed in into the run, by rename; says how many parts."""
    parts = 0
    for receipt in store.receipts(key):
        for item in sorted(
            receipt.files, key=lambda item: (PurePosixPath(item.path).name.startswith(FINISHED_MARKER), item.path)
        ):
            target = inside(run, item.path)
            # A part may have been played twice; the games are the same.
            if not target.exists():
                store.fetch_result(key, receipt, item, target)
        store.settle(key, receipt)
        parts += 1
    return parts


def inside(run: Path, name: str) -> Path:
    """A file of the run. A store may be written by others, so a name that leads out of the run is refused."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or path.parts[0] == OWN_FOLDER:
        raise ClusterError(f"expected the name of a file in a run, got {name!r} in a receipt")
    return run / name


def copy_for_a_look(run: Path, target: Path) -> None:
    """Lays out a copy of a run that can be merged while parts are played.

    Files get second names, because they are replaced and never written again; journals, which grow, are copied.
    """
    for name in names(run):
        path = PurePosixPath(name)
        if (
            path.parts[0] == OWN_FOLDER
            or path.name == LOCK
            or any(part.endswith(PASSING_SUFFIX) for part in path.parts)
        ):
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        # A name that was there a moment ago belonged to a file that is being written.
        with contextlib.suppress(FileNotFoundError):
            place(run / name, target / name)


def place(source: Path, target: Path) -> None:
    """Gives a file a second name, or copies it where that cannot be or must not be: journals are written to."""
    if JOURNAL_SUFFIX not in (source.suffix, target.suffix):
        with contextlib.suppress(OSError):
            os.link(source, target)
            return
    shutil.copyfile(source, target)
