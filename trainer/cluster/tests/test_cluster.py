"""Whole runs by workers on loopback: what is left is what one undisturbed process leaves, whatever happens on the way."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from fairyforge_cluster.plan import PLAN_COMMANDS
from tests.conftest import Cluster, Drive, wait_until

Begin = Callable[..., Drive]
Alone = Callable[..., str]

# Some seconds for two workers: long enough to be disturbed in the middle.
GAMES, NODES, SEED, SHARD_GAMES = 96, 100, 5, 4
PLAN = f'variant = "herculean"\ngames = {GAMES}\nnodes = {NODES}\nseed = {SEED}\nshard_games = {SHARD_GAMES}\n'
OPTIONS = [f"--games={GAMES}", f"--nodes={NODES}", f"--seed={SEED}", f"--shard-games={SHARD_GAMES}"]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Self-play as a plan."""
    path = tmp_path / "games.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(scope="session")
def digest(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the same games played by one process."""
    out = tmp_path_factory.mktemp("alone") / "run"
    command = [str(binary), "selfplay", "--variant", "herculean", *OPTIONS, "--out", str(out)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return printed.splitlines()[-1]


def shards(run: Path) -> dict[str, int]:
    """Finished shards with the time at which each was made."""
    return {path.name: path.stat().st_mtime_ns for path in run.glob("selfplay/001/games-*.parquet")}


def is_alive(process: psutil.Process) -> bool:
    """Whether a process still does something."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def parts(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """The programs that a worker runs."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "--shard" in child.cmdline():
                found.append(child)
    return found


def test_a_killed_worker_changes_nothing(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str
) -> None:
    run = tmp_path / "run"
    cluster.scheduler()
    workers = [cluster.worker("one"), cluster.worker("two")]
    driver = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address)
    wait_until(
        lambda: bool(shards(run)) and all(parts(worker) for worker in workers), "both play, something is finished"
    )
    orphans = parts(workers[0])
    assert len(shards(run)) < GAMES // SHARD_GAMES, "killed in the middle"
    workers[0].kill()
    wait_until(lambda: not any(is_alive(orphan) for orphan in orphans), "its programs die too")
    done = driver.end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest
    assert not (run / "cluster").exists()


def test_a_new_scheduler_goes_on_from_finished_shards(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str
) -> None:
    run = tmp_path / "run"
    cluster.scheduler()
    cluster.worker("one")
    cluster.worker("two")
    driver = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address)
    wait_until(lambda: len(shards(run)) >= 4, "shards are finished")
    cluster.kill()
    done = driver.end()
    assert done.status == 1, done.told
    assert "the same command continues" in done.told
    finished = shards(run)
    assert 0 < len(finished) < GAMES // SHARD_GAMES

    cluster.scheduler()
    driver = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address)
    wait_until(lambda: "no workers yet" in driver.told(), "it waits for workers")
    cluster.worker("three")
    done = driver.end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest
    assert finished.items() <= shards(run).items(), "finished shards were not played again"


def test_an_interrupted_driver_goes_on(cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str) -> None:
    run = tmp_path / "run"
    cluster.scheduler()
    worker = cluster.worker("one")
    driver = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address)
    wait_until(lambda: bool(shards(run) and parts(worker)), "it plays")
    driver.interrupt()
    done = driver.end()
    assert done.status == 130, done.told
    assert "the same command continues" in done.told
    wait_until(lambda: not parts(worker), "the worker stops playing")

    # The second one is killed, so that nobody tells the worker.
    driver = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address)
    wait_until(lambda: bool(parts(worker)), "it plays again")
    driver.process.send_signal(signal.SIGKILL)
    done = drive("selfplay", plan, "--out", run, "--scheduler", cluster.address).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest


def test_another_version_is_refused_and_others_play(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str, binary: Path
) -> None:
    other = script(tmp_path / "other", f'[ "$1" = --version ] && echo "fairyforge 0.0.7" && exit\nexec {binary} "$@"')
    cluster.scheduler()
    cluster.worker("old", FAIRYFORGE_CLUSTER_BINARY=str(other))
    cluster.worker("new")
    done = drive("selfplay", plan, "--out", tmp_path / "run", "--scheduler", cluster.address).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest
    assert "(old) is refused: expected 'fairyforge" in done.told
    assert "got 'fairyforge 0.0.7'" in done.told


def test_other_rules_are_refused_and_without_workers_it_ends(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, binary: Path
) -> None:
    other = script(
        tmp_path / "other", f'[ "$1" = variant ] && echo \'{{"rules_hash": "beef"}}\' && exit\nexec {binary} "$@"'
    )
    cluster.scheduler()
    cluster.worker("one", FAIRYFORGE_CLUSTER_BINARY=str(other))
    done = drive("selfplay", plan, "--out", tmp_path / "run", "--scheduler", cluster.address).end()
    assert done.status == 1, done.told
    assert "no worker can play" in done.told
    assert "expected rules of herculean with hash" in done.told
    assert not shards(tmp_path / "run")


def test_a_part_that_always_fails_is_told_and_the_others_finish(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str, binary: Path
) -> None:
    tries, run = tmp_path / "tries", tmp_path / "run"
    faulty = script(
        tmp_path / "faulty",
        f'case "$*" in *"--shard 2/4 "*) echo x >> {tries}; echo "the disk is made of cheese" >&2; exit 7;; esac\n'
        f'exec {binary} "$@"',
    )
    cluster.scheduler()
    cluster.worker("one")
    cluster.worker("two")
    words = ["selfplay", plan, "--out", run, "--scheduler", cluster.address, "--shards", "4", "--retries", "2"]
    done = drive(*words, program=faulty).end()
    assert done.status == 1
    assert "part 2/4 failed 3 times" in done.told
    assert "ended with exit status 7:\nthe disk is made of cheese" in done.told
    assert "--shard 2/4" in done.told
    assert tries.read_text() == "x\n" * 3
    assert len(shards(run)) == GAMES // SHARD_GAMES * 3 // 4
    done = drive(*words).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest


def test_parts_that_leave_nothing_do_not_go_on_for_ever(drive: Begin, plan: Path, tmp_path: Path, binary: Path) -> None:
    idle = script(tmp_path / "idle", f'case "$*" in *"--shard "*) exit 0;; esac\nexec {binary} "$@"')
    done = drive("selfplay", plan, "--out", tmp_path / "run", "--local", "1", program=idle).end()
    assert done.status == 1
    assert f"all parts were played, and still {GAMES} of {GAMES} games are missing" in done.told


def test_tls_turns_away_whoever_has_no_certificate(
    cluster: Cluster, drive: Begin, plan: Path, tmp_path: Path, digest: str
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    made = certificates(tmp_path, "ours"), certificates(tmp_path, "others")
    cluster.protocol, cluster.tls = "tls", made[0]
    cluster.scheduler()
    cluster.worker("one")
    words = ["selfplay", plan, "--out", tmp_path / "run", "--scheduler"]
    for address, tls in [(f"tcp://127.0.0.1:{cluster.port}", ()), (cluster.address, made[1])]:
        stranger = drive(*words, address, *tls).end()
        assert stranger.status == 1, stranger.told
        assert not shards(tmp_path / "run")
    done = drive(*words, cluster.address, *made[0]).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest


def certificates(folder: Path, name: str) -> tuple[str, ...]:
    """An authority and a certificate, made as docs/using-a-cluster.md says; the options that name them."""
    place = folder / name
    place.mkdir()
    for command in (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=fairyforge-ca -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=fairyforge -keyout node.key -out node.csr",
        "x509 -req -in node.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out node.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=place, check=True, capture_output=True)
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "node.pem", "--tls-key": "node.key"}
    return tuple(word for option, file in files.items() for word in (option, str(place / file)))


def test_without_a_shared_folder_files_go_through_the_store(
    drive: Begin, plan: Path, tmp_path: Path, digest: str
) -> None:
    run, store = tmp_path / "run", tmp_path / "store"
    words = ["selfplay", plan, "--out", run, "--local", "2", "--store", store.as_uri()]
    driver = drive(*words)
    wait_until(lambda: any((store / "receipts").rglob("*.json")), "a part is handed in")
    driver.interrupt()
    assert driver.end().status == 130
    done = drive(*words).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[-1] == digest
    # The program was stored once, and no result is left behind but of parts that were called off while they were handed in.
    assert not list(store.rglob("*.tmp"))
    assert not (run / "cluster").exists()


MATCH = """
variant = "herculean"
nodes = 100
pairs = 300
seed = 3
elo0 = 0
elo1 = 60
player = ["name=new weights=weights/new.toml", "name=old nodes=20"]
"""


@pytest.mark.parametrize("shared", [True, False])
def test_a_match_ends_early_and_is_the_same(
    drive: Begin,
    alone: Alone,
    tmp_path: Path,
    shared: bool,
) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "new.toml").write_bytes(shipped_weights().read_bytes())
    (tmp_path / "match.toml").write_text(MATCH)
    players = ["--player=name=new weights=weights/new.toml", "--player=name=old nodes=20"]
    limits = ["--nodes=100", "--pairs=300", "--seed=3", "--elo0=0", "--elo1=60"]
    printed = alone("match", "--variant=herculean", *limits, *players, "--out", "local", folder=tmp_path)
    store = [] if shared else ["--store", (tmp_path / "store").as_uri()]
    done = drive("match", tmp_path / "match.toml", "--out", tmp_path / "many", "--local", "2", *store).end()
    assert done.status == 0, done.told
    assert done.printed.splitlines()[:-1] == printed.splitlines()[:-1]
    assert "H1 accepted" in printed
    for name in ("journal.jsonl", "plan.toml", "games.pgn", "result.json"):
        assert (tmp_path / "many" / name).read_bytes() == (tmp_path / "local" / name).read_bytes(), name
    # Far fewer than the whole: each of the parts of eight pairs shows in the bar.
    assert " 37/37 " not in done.told


LOOP = """
format = 1
variant = "../games/mine.toml"
seed = 7
generations = 2
[selfplay]
games = 60
nodes = 30
shard_games = 10
[selfplay.openings.imbalance]
share = 0.8
[match]
pairs = 8
nodes = 30
"""
VALUES = """
format = 1
variant = "chess"
seed = 1
nodes = 30
[rounds]
most = 1
games = 60
[reference]
games = 80
looks = 2
"""
TUNING = """
format = 1
variant = "chess"
seed = 1
iterations = 2
pairs_per_iteration = 4
nodes = 30
[[parameters]]
name = "late_move_base"
[confirm]
elo0 = 0
elo1 = 30
max_pairs = 8
"""
BOOK = """
format = 1
variant = "chess"
[search]
nodes = 200
[growth]
positions = 20
"""
# What is made of the same games but names the command, tells the time or belongs to a process.
OWN = frozenset({"events.jsonl", "run.lock", "report.md", "report.html", "result.json"})


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("command", "text"),
    [("loop", LOOP), ("values", VALUES), ("tune", TUNING), ("book", BOOK)],
    ids=["loop", "values", "tune", "book"],
)
def test_whole_runs_are_the_same(
    drive: Begin,
    alone: Alone,
    tmp_path: Path,
    shared: bool,
    command: str,
    text: str,
) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "plans").mkdir()
    (tmp_path / "games" / "mine.toml").write_bytes((root() / "configs/variants/herculean.toml").read_bytes())
    plan = tmp_path / "plans" / "plan.toml"
    plan.write_text(text)
    alone(*PLAN_COMMANDS[command], plan.name, "--out", tmp_path / "local", folder=plan.parent)
    store = [] if shared else ["--store", (tmp_path / "store").as_uri()]
    done = drive(command, plan, "--out", tmp_path / "many", "--local", "2", *store).end()
    assert done.status == 0, done.told
    left = contents(tmp_path / "many")
    assert left.keys() == contents(tmp_path / "local").keys()
    assert {name for name, data in contents(tmp_path / "local").items() if left[name] != data} == set()


def contents(run: Path) -> dict[str, bytes]:
    """Every file of a run that must be the same."""
    files = (path for path in run.rglob("*") if path.is_file() and path.name not in OWN)
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in files}


def root() -> Path:
    """The project's root."""
    return Path(__file__).resolve().parents[3]


def shipped_weights() -> Path:
    """Weights that are no words of the program."""
    return root() / "data" / "weights" / "herculean.toml"


def script(path: Path, text: str) -> Path:
    """A shell script that stands in for the program."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    assert os.access(path, os.X_OK)
    return path
