"""What workers cost against threads: games a second of both on this machine, and the parts of the overhead.

    python -m fairyforge_cluster.bench --binary PATH --games 200 --nodes 500 --rounds 5

Each round plays the same games in every way, one after the other, the order turned from round to round; ratios are taken within a round, so that a machine
that slows down does not favour one of them. Workers are up before the clock starts: starting Dask takes seconds once, whatever is played then. Everything
else counts: starting the program for every part, loading weights or networks, the scheduler, merging. Processor time tells the same on a machine that has
other work too; it leaves out waiting for the last part.
"""

import argparse
import contextlib
import functools
import io
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from distributed import Client, LocalCluster

from fairyforge_cluster.cli import LOOPBACK, positive
from fairyforge_cluster.driver import Driver, Settings
from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.plan import read_plan
from fairyforge_cluster.pool import Pool
from fairyforge_cluster.program import Program

CALLS_TIMED = 5


@dataclass(frozen=True)
class Games:
    """What is played."""

    variant: str
    games: int
    nodes: int
    weights: str
    shard_games: int

    def plan(self, folder: Path) -> Path:
        """The plan as a file."""
        path = folder / "bench.toml"
        numbers = f"games = {self.games}\nnodes = {self.nodes}\nseed = 1\nshard_games = {self.shard_games}\n"
        path.write_text(f'variant = "{self.variant}"\nweights = "{self.weights}"\n{numbers}')
        return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints a table in Markdown."""
    options = parser().parse_args(arguments)
    games = Games(options.variant, options.games, options.nodes, options.weights, options.shard_games)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        bench = Bench(games, Program.find(options.binary), Path(folder))
        ways: dict[str, Callable[[], float]] = {}
        for count in options.workers:
            ways[f"{count} threads"] = functools.partial(bench.threads, count)
            ways[f"{count} workers"] = functools.partial(bench.workers, stack.enter_context(workers(count)))
        rounds = [one_round(ways, number) for number in range(options.rounds)]
        print(table(games, options.workers, rounds))
        print(bench.overheads())
    return 0


def parser() -> argparse.ArgumentParser:
    """All options."""
    whole = argparse.ArgumentParser(prog="python -m fairyforge_cluster.bench", description="Workers against threads.")
    whole.add_argument("--binary", metavar="PATH", help="the program; fairyforge on the PATH if absent")
    whole.add_argument("--variant", default="herculean")
    whole.add_argument("--games", type=positive, default=200)
    whole.add_argument("--nodes", type=positive, default=500)
    whole.add_argument(
        "--weights", default="a-priori", help="as of fairyforge selfplay; `network` for one that is shipped"
    )
    whole.add_argument("--shard-games", type=positive, default=4)
    whole.add_argument("--rounds", type=positive, default=5)
    whole.add_argument(
        "--workers",
        type=positive,
        nargs="+",
        default=[1, 2],
        help="numbers of workers, and of threads to compare them with",
    )
    return whole


class Bench:
    """Plays the same games in several ways."""

    def __init__(self, games: Games, program: Program, folder: Path) -> None:
        self._games = games
        self._program = program
        self._folder = folder
        self._plan = read_plan("selfplay", games.plan(folder))
        self._runs = 0

    def threads(self, count: int) -> float:
        """Seconds that one process takes."""
        run = self._new_run()
        return self._seconds([*self._plan.words_here(), "--threads", str(count), "--out", str(run)])

    def workers(self, client: Client) -> float:
        """Seconds that workers take, from the first merge to the last."""
        settings = Settings(self._new_run(), None, None, 0)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            began = time.perf_counter()
            driver = Driver(self._plan, self._program, settings, lambda _: None)
            step = driver.begin()
            pool = Pool(client, driver.store_url, driver.pack(), 0, lambda _: None)
            failures = driver.finish(step, pool)
            seconds = time.perf_counter() - began
        if failures:
            raise ClusterError(str(failures[0]))
        return seconds

    def overheads(self) -> str:
        """What a part and a step cost beside games, each the median of some calls."""
        run = self._new_run()
        words = [*self._plan.words_here(), "--out", str(run)]
        merging = self._timed([*words, "--merge"], {3})
        self._seconds([*words, "--threads", "0"])
        empty = self._timed([*words, "--threads", "1", "--shard", "1/2"], {0})
        taking_in = self._timed([*words, "--merge"], {0})
        return (
            f"\nThe program starts in {1000 * self._timed(['--version'], {0}):.0f} ms; a part that has nothing to play takes {1000 * empty:.0f} ms, "
            f"--merge of an empty run {1000 * merging:.0f} ms, of the finished one {1000 * taking_in:.0f} ms."
        )

    def _new_run(self) -> Path:
        self._runs += 1
        return self._folder / f"run-{self._runs}"

    def _timed(self, words: list[str], statuses: set[int]) -> float:
        return statistics.median(self._seconds(words, statuses) for _ in range(CALLS_TIMED))

    def _seconds(self, words: list[str], statuses: set[int] | None = None) -> float:
        began = time.perf_counter()
        done = subprocess.run(
            [str(self._program.path), *words], cwd=self._folder, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - began
        if done.returncode not in (statuses or {0}):
            raise ClusterError(f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
        return seconds


@contextlib.contextmanager
def workers(count: int) -> Iterator[Client]:
    """A client of so many workers on this machine."""
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, host=LOOPBACK, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        yield client


@dataclass(frozen=True)
class Cost:
    """What playing the games once took, in seconds."""

    wall: float
    processor: float


def cost_of(play: Callable[[], float]) -> Cost:
    """Plays the games and says what that took. `play` says for how long the games lasted by the clock."""
    before = processor_seconds()
    wall = play()
    return Cost(wall, processor_seconds() - before)


def processor_seconds() -> float:
    """Processor time of this process, of the workers below it, and of all programs that they have waited for."""
    own = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in [own, *own.children(recursive=True)])


def one_round(ways: dict[str, Callable[[], float]], number: int) -> dict[str, Cost]:
    """Every way once, beginning with another one each round."""
    names = list(ways)
    turned = names[number % len(names) :] + names[: number % len(names)]
    return {name: cost_of(ways[name]) for name in turned}


def table(games: Games, counts: list[int], rounds: list[dict[str, Cost]]) -> str:
    """Medians over rounds, and the ratios of rounds with their range."""
    title = f"{games.games} games of {games.variant}, {games.nodes} nodes a move, weights {games.weights}"
    lines = [
        f"{title}, {len(rounds)} rounds; medians, of ratios with their range",
        "",
        "| | games/s, threads | games/s, workers | games/s, workers against threads | processor time, threads against workers |",
        "|---|---|---|---|---|",
    ]
    for count in counts:
        both = [(costs[f"{count} threads"], costs[f"{count} workers"]) for costs in rounds]
        cells = [
            f"{statistics.median(games.games / threads.wall for threads, _ in both):.2f}",
            f"{statistics.median(games.games / played.wall for _, played in both):.2f}",
            with_range([threads.wall / played.wall for threads, played in both]),
            with_range([threads.processor / played.processor for threads, played in both]),
        ]
        lines.append(f"| {count} | {' | '.join(cells)} |")
    return "\n".join(lines)


def with_range(ratios: list[float]) -> str:
    """The median of ratios, the least and the greatest."""
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


if __name__ == "__main__":
    sys.exit(main())
