"""What the tests share: the program, schedulers and workers on loopback, the driver as a process."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fairyforge_cluster.program import Program

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = "127.0.0.1"
PATIENCE_SECONDS = 300.0


def wait_until(claim: Callable[[], bool], what: str) -> None:
    """Waits for something that must come about; far longer than it ever takes."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not claim():
        assert time.monotonic() < until, f"waited in vain: {what}"
        time.sleep(0.05)


@pytest.fixture(scope="session")
def binary() -> Path:
    """The program: `FAIRYFORGE`, else what `cargo build` has left."""
    given = os.environ.get("FAIRYFORGE")
    path = Path(given) if given else ROOT / "target" / "debug" / "fairyforge"
    assert path.is_file(), f"expected the program at {path}: build it, or name it in FAIRYFORGE"
    return path.resolve()


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache for all workers of all tests."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["FAIRYFORGE_CLUSTER_CACHE"] = str(folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own."""

    port: int
    protocol: str = "tcp"
    tls: tuple[str, ...] = ()
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return f"{self.protocol}://{LOOPBACK}:{self.port}"

    def scheduler(self) -> subprocess.Popen[bytes]:
        """Starts the scheduler."""
        where = [
            "--protocol",
            self.protocol,
            *self.tls,
            "--host",
            LOOPBACK,
            "--port",
            str(self.port),
            "--no-dashboard",
            "--no-jupyter",
        ]
        return self._start(["-m", "distributed.cli.dask_scheduler", *where], {})

    def worker(self, name: str, **environment: str) -> subprocess.Popen[bytes]:
        """Starts a worker of one thread that nobody starts again."""
        options = [*self.tls, "--host", LOOPBACK, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
        return self._start(["-m", "distributed.cli.dask_worker", self.address, *options], environment)

    def kill(self) -> None:
        """Kills all of it, with no time for farewells."""
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()

    def _start(self, words: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, *words],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.processes.append(process)
        return process


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster without anybody yet."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    made = Cluster(port)
    yield made
    made.kill()


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    printed: str
    told: str


class Drive:
    """The driver, begun as a process."""

    def __init__(self, words: list[str], log: Path) -> None:
        self._log = log
        with log.open("w") as told:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "fairyforge_cluster", *words], stdout=subprocess.PIPE, stderr=told, text=True
            )

    def told(self) -> str:
        """What it has said so far."""
        return self._log.read_text()

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> Done:
        """Waits for it."""
        printed, _ = self.process.communicate(timeout=PATIENCE_SECONDS)
        return Done(self.process.returncode, printed, self.told())


@pytest.fixture
def drive(tmp_path: Path, binary: Path) -> Iterator[Callable[..., Drive]]:
    """Starts drivers; a binary of the test's own may be named."""
    begun: list[Drive] = []

    def begin(*words: str | Path, program: Path = binary) -> Drive:
        log = tmp_path / f"driver-{len(begun)}.log"
        begun.append(Drive([str(word) for word in words] + ["--binary", str(program)], log))
        return begun[-1]

    yield begin
    for one in begun:
        one.process.kill()
        one.process.wait()


@pytest.fixture
def alone(binary: Path) -> Callable[..., str]:
    """The program, undisturbed on this machine: what it prints."""

    def run(*words: str | Path, folder: Path | None = None) -> str:
        command = [str(binary), *(str(word) for word in words)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def program(binary: Path) -> Program:
    """The program as the package calls it."""
    return Program(binary)
