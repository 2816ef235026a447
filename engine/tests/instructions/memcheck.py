#!/usr/bin/env python3
"""Runs the tests of the engine's networks, and with them its only `unsafe` module, under Valgrind's memcheck.

    memcheck.py              reads and writes outside of what is allocated, and decisions on what was never written, fail
    memcheck.py --install    fetches Valgrind first where it is missing (apt-get, as root)

First a program with such a read is compiled and must be found out. Valgrind knows instructions up to AVX2, so that is as far as it looks:
AVX-512 runs the same loops, and the tests hold it to the same numbers. Without Valgrind it says SKIPPED and exits with 0.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = "evaluate::network::"
"""The tests whose names begin so."""
LEAST_TESTS = 10
"""Fewer than these would mean that the tests are called otherwise by now."""
FOUND = 99
"""Exit status for what memcheck finds."""
PLANTED = """
fn main() {
    let numbers = vec![1_i16; std::env::args().count() * 64];
    let number = unsafe { *numbers.as_ptr().add(numbers.len()) };
    println!("{number}");
}
"""


def memcheck(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program under memcheck, with all it says."""
    tool = ["valgrind", "--quiet", f"--error-exitcode={FOUND}"]
    command = [*tool, program, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def find_what_is_planted() -> None:
    """A read behind the end of a list."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "planted.rs", Path(folder) / "planted"
        source.write_text(PLANTED)
        subprocess.run(["rustc", "-O", "-o", program, source], check=True)
        run = memcheck(str(program))
    if run.returncode != FOUND or "Invalid read of size 2" not in run.stdout:
        sys.exit(f"expected a read behind the end to be found, got {run.returncode}:\n{run.stdout}")
    print("found where it was planted: a read behind the end")


def built_tests() -> str:
    """Builds the tests of the library; returns their program."""
    command = ["cargo", "test", "-p", "fairyforge-engine", "--lib", "--no-run", "--message-format=json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    messages = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    programs = [message["executable"] for message in messages if message.get("executable")]
    if len(programs) != 1:
        sys.exit(f"expected one program of `{' '.join(command)}`, got {programs}")
    return programs[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="the tests of the library, already built")
    parser.add_argument("--install", action="store_true", help="fetch Valgrind first")
    args = parser.parse_args()
    if args.install and not shutil.which("valgrind"):
        subprocess.run(["apt-get", "install", "--quiet", "--yes", "valgrind"], stdout=subprocess.DEVNULL, check=False)
    if not shutil.which("valgrind"):
        print("SKIPPED: no valgrind")
        return
    find_what_is_planted()
    program = args.program or built_tests()
    listed = subprocess.run([program, TESTS, "--list"], check=True, capture_output=True, text=True).stdout
    names = [line.removesuffix(": test") for line in listed.splitlines() if line.endswith(": test")]
    if len(names) < LEAST_TESTS or not any("::instructions::" in name for name in names):
        sys.exit(f"expected {LEAST_TESTS} tests or more that begin with {TESTS}, those of `instructions` among them, got {names}")
    run = memcheck(program, TESTS, "--test-threads=1")
    if run.returncode != 0:
        sys.exit(f"{run.stdout}\nmemcheck: {'faults were found' if run.returncode == FOUND else 'a test failed'}")
    print(f"{len(names)} tests, nothing found")


if __name__ == "__main__":
    main()
