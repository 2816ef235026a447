#!/usr/bin/env python3
"""A soak: self-play and a match against a program outside run side by side for hours; memory and open files must stay level.

    soak.py --fairyforge PROGRAM --engine PROGRAM --out FOLDER --minutes 120     plays, samples, judges
    soak.py --judge SAMPLES.csv                                                  judges samples that are there

Each run has one thread and far more games than it can play. Every --every seconds each run, with the processes it started, is looked at
in /proc: resident memory, open files, threads. In the end both runs are interrupted as by Ctrl-C and what they left is verified. The first tenth of the samples
is warming up. After it the line of least squares through the memory may rise by --most-rise of its level over the whole time, and the
open files of the last third may not be more than those of the first. Exit status 1 says that something rises, with figures.
Linux only: it reads /proc.
"""

import argparse
import csv
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

COLUMNS = ["seconds", "run", "processes", "rss_kib", "handles", "threads", "done"]
WARMING = 0.1
"""The part of the samples that is not judged: tables fill, allocators find their size."""
MOST_RISE = 0.05
"""The greatest rise of memory over the whole time, as a share of its level."""
FEWEST = 6
"""Samples a run that a verdict needs."""
PATIENCE = 120
"""Seconds that an interrupted run has to end."""


@dataclass(frozen=True)
class Sample:
    """A run, with all it started, at one moment."""

    seconds: float
    processes: int
    rss_kib: int
    handles: int
    threads: int


@dataclass(frozen=True)
class Course:
    """What the samples of one run say."""

    samples: int
    minutes: float
    level_mib: float
    rise_mib: float
    handles_first: int
    handles_last: int

    def rise(self) -> float:
        """Over the whole time, as a share of the level."""
        return self.rise_mib / self.level_mib

    def faults(self, most_rise: float) -> list[str]:
        """What is not level."""
        faults = []
        if self.rise() > most_rise:
            faults.append(f"memory rises by {self.rise():.1%} of its level, expected at most {most_rise:.1%}")
        if self.handles_last > self.handles_first:
            faults.append(f"open files rise from {self.handles_first} to {self.handles_last}")
        return faults

    def __str__(self) -> str:
        return (
            f"{self.samples} samples in {self.minutes:.1f} min, memory {self.level_mib:.1f} MiB {self.rise_mib:+.2f} MiB ({self.rise():+.2%}), "
            f"open files {self.handles_first} at first, {self.handles_last} in the end"
        )


def slope(points: list[tuple[float, float]]) -> float:
    """Of the line of least squares."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def course(samples: list[Sample]) -> Course:
    """Judges the samples after the warm-up. A run that had ended shows no process, and is no sample."""
    samples = [sample for sample in samples if sample.processes > 0]
    if not samples:
        raise ValueError(f"expected at least {FEWEST} samples after warming up, got none")
    warm = samples[0].seconds + WARMING * (samples[-1].seconds - samples[0].seconds)
    samples = [sample for sample in samples if sample.seconds >= warm]
    if len(samples) < FEWEST:
        raise ValueError(f"expected at least {FEWEST} samples after warming up, got {len(samples)}")
    seconds = samples[-1].seconds - samples[0].seconds
    third = len(samples) // 3
    # Files are open for a moment while they are written: the most of a third, not what one moment shows.
    return Course(
        samples=len(samples),
        minutes=seconds / 60,
        level_mib=sum(sample.rss_kib for sample in samples) / len(samples) / 1024,
        rise_mib=slope([(sample.seconds, sample.rss_kib) for sample in samples]) * seconds / 1024,
        # Medians: a file that is open for the moment of a look is no leak.
        handles_first=median_low([sample.handles for sample in samples[:third]]),
        handles_last=median_low([sample.handles for sample in samples[-third:]]),
    )


def read(path: Path) -> dict[str, list[Sample]]:
    """The samples of every run in a file."""
    runs: dict[str, list[Sample]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            numbers = [int(row[name]) for name in COLUMNS[2:6]]
            runs.setdefault(row["run"], []).append(Sample(float(row["seconds"]), *numbers))
    if not runs:
        sys.exit(f"expected samples in {path}, got none")
    return runs


def judged(runs: dict[str, list[Sample]], most_rise: float) -> bool:
    """Prints what became of every run; whether all of them stayed level."""
    level = True
    for name, samples in runs.items():
        try:
            seen = course(samples)
        except ValueError as error:
            print(f"{name}: {error}")
            level = False
            continue
        faults = seen.faults(most_rise)
        print(f"{name}: {seen}: {'; '.join(faults) or 'level'}")
        level = level and not faults
    return level


def family(pid: int) -> list[int]:
    """A process and all it started, as far as they still run."""
    found = [pid]
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                found += family(int(child))
    except OSError:
        pass
    return found


def sample(pid: int, seconds: float) -> Sample:
    """One look. A process that ends meanwhile counts no more."""
    processes = rss = handles = threads = 0
    for member in family(pid):
        folder = Path(f"/proc/{member}")
        try:
            resident = re.search(r"^VmRSS:\s+(\d+)", (folder / "status").read_text(), re.MULTILINE)
            counts = len(os.listdir(folder / "fd")), len(os.listdir(folder / "task"))
        except OSError:
            continue
        if resident:
            processes, rss = processes + 1, rss + int(resident[1])
            handles, threads = handles + counts[0], threads + counts[1]
    return Sample(seconds, processes, rss, handles, threads)


@dataclass(frozen=True)
class Soaked:
    """A run of the soak."""

    name: str
    command: list[str]
    verify: list[str]
    folder: Path

    def done(self) -> int:
        """Shards or games that are on disk."""
        journal = self.folder / "journal.jsonl"
        if journal.exists():
            with journal.open("rb") as file:
                return sum(1 for _ in file) - 1
        return sum(1 for _ in self.folder.glob("selfplay/*/games-*.parquet"))


def runs_of(options: argparse.Namespace) -> list[Soaked]:
    """Self-play, and a match of a player of ours against our engine as a program outside."""
    program, engine, out = options.fairyforge.resolve(), options.engine.resolve(), options.out.resolve()
    selfplay = [program, "selfplay", "--variant", "herculean", "--weights", "network", "--games", "10000000", "--nodes", f"{options.nodes}"]
    players = ["--player", f"name=own weights=network nodes={options.nodes}"]
    players += ["--engine", f"cmd={engine} name=outside nodes={options.nodes} option.Hash=4"]
    match = [program, "match", "--variant", "sorcerer", *players, "--pairs", "1000000"]
    same = ["--seed", "7", "--threads", "1", "--out"]
    # Whoever interrupts may leave the last shards with gaps only where several threads play; there is one.
    return [
        Soaked("selfplay", [*map(str, selfplay), *same, "selfplay"], [str(program), "data", "verify", "selfplay"], out / "selfplay"),
        Soaked("match", [*map(str, match), *same, "match"], [str(program), "match", "verify", "match"], out / "match"),
    ]


def soak(options: argparse.Namespace, runs: list[Soaked]) -> bool:
    """Plays and samples; whether every run lasted to the end and left what is sound."""
    options.out.mkdir(parents=True, exist_ok=True)
    began, processes = time.monotonic(), []
    for run in runs:
        with (options.out / f"{run.name}.log").open("ab") as log:
            processes.append(subprocess.Popen(run.command, cwd=options.out, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
    try:
        with (options.out / "samples.csv").open("w", newline="", buffering=1) as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            while time.monotonic() - began < 60 * options.minutes:
                seconds = round(time.monotonic() - began, 1)
                for run, process in zip(runs, processes):
                    seen = sample(process.pid, seconds) if process.poll() is None else Sample(seconds, 0, 0, 0, 0)
                    writer.writerow([seconds, run.name, seen.processes, seen.rss_kib, seen.handles, seen.threads, run.done()])
                time.sleep(options.every)
    finally:
        sound = [ended(run, process) for run, process in zip(runs, processes)]
    return all(sound) and all([verified(options, run) for run in runs])


def ended(run: Soaked, process: subprocess.Popen) -> bool:
    """Interrupts a run; whether it had lasted till then and ends as it should."""
    lasted = process.poll() is None
    if lasted:
        process.send_signal(signal.SIGINT)
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    if not lasted or status != 130:
        print(f"{run.name}: expected to run until it is interrupted and to end with 130, got {status}; see {run.name}.log")
    return lasted and status == 130


def verified(options: argparse.Namespace, run: Soaked) -> bool:
    """Whether what the run left is sound."""
    check = subprocess.run(run.verify, cwd=options.out, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if check.returncode != 0:
        print(f"{run.name}: {' '.join(run.verify[1:])}: status {check.returncode}\n{check.stdout}{check.stderr}")
    else:
        print(f"{run.name}: sound after {run.done()} {'games' if run.name == 'match' else 'shards'}")
    return check.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", type=Path, metavar="CSV", help="judge these samples and play nothing")
    parser.add_argument("--fairyforge", type=Path, help="the program")
    parser.add_argument("--engine", type=Path, help="our engine, the program outside")
    parser.add_argument("--out", type=Path, help="a folder for runs, logs and samples.csv; runs that are there go on")
    parser.add_argument("--minutes", type=float, default=120, help="how long (default 120)")
    parser.add_argument("--every", type=float, default=30, help="seconds between two samples (default 30)")
    parser.add_argument("--nodes", type=int, default=2000, help="nodes a move (default 2000)")
    parser.add_argument("--most-rise", type=float, default=MOST_RISE, help=f"of memory, as a share of its level (default {MOST_RISE})")
    options = parser.parse_args()
    if options.judge:
        sys.exit(0 if judged(read(options.judge), options.most_rise) else 1)
    if not (options.fairyforge and options.engine and options.out):
        parser.error("--fairyforge, --engine and --out are needed, or --judge")
    sound = soak(options, runs_of(options))
    level = judged(read(options.out / "samples.csv"), options.most_rise)
    sys.exit(0 if sound and level else 1)


if __name__ == "__main__":
    main()
