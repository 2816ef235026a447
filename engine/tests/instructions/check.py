#!/usr/bin/env python3
"""Counts the instructions of the engine's hot paths with Valgrind and compares them with counts.json.

    check.py              compares; a path that takes more than the tolerance above its count fails
    check.py --write      writes what was counted: for a commit that says why a path has become longer, or shorter

Clocks depend on the machine and on whatever else it does; instructions depend on the code and its compiler. So the counts
are compared where the compiler is the one they were made with; elsewhere they are told, and only a path that takes half as
much again fails. The benchmark `instructions` is built by `cargo bench --no-run`; --program names it if it is elsewhere.
Without Valgrind it says SKIPPED and exits with 0; --install fetches the Debian package first (apt-get, as root).
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNTS = HERE / "counts.json"
PROFILE = "dev"
TOLERANCE = 0.02
"""The greatest rise with the same compiler. The same code varies by less than a thousandth: addresses decide a little."""
TOLERANCE_ELSEWHERE = 0.5


def compiler() -> str:
    """The compiler's version, without its date."""
    text = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout
    return " ".join(text.split()[:2])


def built_program() -> str:
    """Builds the benchmark; returns its path. Cargo tells of the package's other programs too, in any order."""
    command = ["cargo", "bench", "--profile", PROFILE, "-p", "fairyforge-engine", "--bench", "instructions", "--no-run"]
    lines = subprocess.run([*command, "--message-format=json"], check=True, capture_output=True, text=True).stdout
    messages = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    programs = [message["executable"] for message in messages if message.get("target", {}).get("name") == "instructions"]
    if len(programs) != 1:
        sys.exit(f"expected one program `instructions` of `cargo bench --no-run`, got {programs}")
    return programs[0]


def listed(program: str, what: str) -> list[str]:
    """The paths or variants that the program knows."""
    usage = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^{what}: (.*)$", usage, re.MULTILINE)
    if not found:
        sys.exit(f"expected a list of {what} from {program}, got {usage!r}")
    return found[1].split(", ")


def counted(program: str, path: str, variant: str, times: int) -> int:
    """Instructions of the whole program."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    run = subprocess.run([*tool, program, path, variant, str(times)], check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if not found:
        sys.exit(f"expected a count from valgrind, got {run.stderr[-300:]!r}")
    return int(found[1])


def measured(program: str) -> dict[str, int]:
    """Instructions of every path: what a second time costs, so that caches of ours are filled."""
    names = [(path, variant) for path in listed(program, "paths") for variant in listed(program, "variants")]

    def difference(name: tuple[str, str]) -> int:
        return counted(program, *name, 2) - counted(program, *name, 1)

    with ThreadPoolExecutor() as pool:
        return {" ".join(name): count for name, count in zip(names, pool.map(difference, names))}


def compare(found: dict[str, int], known: dict) -> list[str]:
    """Prints the table; returns what has risen too far."""
    same = known["compiler"] == compiler()
    most = TOLERANCE if same else TOLERANCE_ELSEWHERE
    if not same:
        print(f"counts are those of {known['compiler']}, this is {compiler()}: only a rise by {most:.0%} fails")
    faults = [f"{name}: no count known; run with --write" for name in found.keys() - known["instructions"].keys()]
    faults += [f"{name}: known, but not counted" for name in known["instructions"].keys() - found.keys()]
    print(f"{'path':45} {'known':>13} {'now':>13} {'change':>8}")
    for name, count in found.items():
        before = known["instructions"].get(name)
        if before is None:
            continue
        change = count / before - 1
        print(f"{name:45} {before:13,} {count:13,} {change:+8.2%}")
        if change > most:
            faults.append(f"{name}: expected at most {before:,} instructions and {most:.0%}, got {count:,}")
        elif same and change < -most:
            print(f"  {name} has become shorter: --write makes that the measure")
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write what was counted")
    parser.add_argument("--program", help="the benchmark `instructions`")
    parser.add_argument("--install", action="store_true", help="fetch Valgrind first")
    args = parser.parse_args()
    if args.install and not shutil.which("valgrind"):
        subprocess.run(["apt-get", "install", "--quiet", "--yes", "valgrind"], stdout=subprocess.DEVNULL)
    if not shutil.which("valgrind"):
        print("SKIPPED: no valgrind")
        return
    found = measured(args.program or built_program())
    if args.write:
        COUNTS.write_text(json.dumps({"compiler": compiler(), "instructions": found}, indent=2) + "\n")
        print(f"{len(found)} counts in {COUNTS}")
        return
    faults = compare(found, json.loads(COUNTS.read_text()))
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
