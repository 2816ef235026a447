#!/usr/bin/env python3
"""The judge of the soak must see a leak and must not see one where there is none."""

import random
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import soak


def samples(minutes: int = 120, leak_kib: float = 0, noise_kib: int = 4000, handles=lambda minute: 6) -> list[soak.Sample]:
    """A run of 128 MiB that warms up for five minutes, sampled twice a minute."""
    dice = random.Random(5)
    memory = lambda minute: 131_072 * min(1, 0.4 + minute / 8) + leak_kib * minute + dice.uniform(-noise_kib, noise_kib)
    return [soak.Sample(30 * i, 1, round(memory(i / 2)), handles(i / 2), 3) for i in range(2 * minutes + 1)]


class Judge(unittest.TestCase):
    def faults(self, **how) -> list[str]:
        return soak.course(samples(**how)).faults(soak.MOST_RISE)

    def test_a_level_run_passes(self) -> None:
        self.assertEqual(self.faults(), [])

    def test_a_leak_of_a_mebibyte_a_minute_fails(self) -> None:
        (fault,) = self.faults(leak_kib=1024)
        self.assertIn("memory rises by", fault)

    def test_a_leak_of_a_tenth_of_that_fails_too(self) -> None:
        self.assertEqual(len(self.faults(leak_kib=102)), 1)

    def test_memory_that_falls_passes(self) -> None:
        self.assertEqual(self.faults(leak_kib=-200), [])

    def test_the_figures_are_those_of_the_line(self) -> None:
        seen = soak.course(samples(leak_kib=1024, noise_kib=0))
        self.assertAlmostEqual(seen.rise_mib, seen.minutes, places=1)
        self.assertEqual(seen.minutes, 108)

    def test_files_that_are_never_closed_fail(self) -> None:
        (fault,) = self.faults(handles=lambda minute: 6 + int(minute) // 30)
        self.assertEqual(fault, "open files rise from 6 to 9")

    def test_files_that_are_open_for_a_moment_pass(self) -> None:
        self.assertEqual(self.faults(handles=lambda minute: 7 if int(minute) % 9 == 0 else 6), [])

    def test_too_few_samples_are_no_verdict(self) -> None:
        for few in [[], samples(minutes=2), [soak.Sample(30 * i, 0, 0, 0, 0) for i in range(99)]]:
            with self.assertRaisesRegex(ValueError, "expected at least 6 samples"):
                soak.course(few)


class Program(unittest.TestCase):
    def judged(self, rows: str) -> subprocess.CompletedProcess:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "samples.csv"
            path.write_text("seconds,run,processes,rss_kib,handles,threads,done\n" + rows)
            return subprocess.run([sys.executable, soak.__file__, "--judge", str(path)], capture_output=True, text=True)

    def rows(self, name: str, leak_kib: float) -> str:
        return "".join(f"{s.seconds},{name},{s.processes},{s.rss_kib},{s.handles},{s.threads},0\n" for s in samples(leak_kib=leak_kib))

    def test_the_exit_status_is_the_verdict(self) -> None:
        sound = self.judged(self.rows("selfplay", 0))
        self.assertEqual((sound.returncode, sound.stdout.strip()[-5:]), (0, "level"), sound)
        leaking = self.judged(self.rows("selfplay", 0) + self.rows("match", 1024))
        self.assertEqual(leaking.returncode, 1, leaking)
        self.assertRegex(leaking.stdout, r"match: .*memory rises by \d+\.\d% of its level, expected at most 5\.0%")
        self.assertEqual(self.judged("").returncode, 1)


class Sampling(unittest.TestCase):
    def test_a_process_and_its_child_are_seen(self) -> None:
        script = "import subprocess, sys; child = subprocess.Popen(['sleep', '60']); print(child.pid, flush=True); sys.stdin.read(); child.kill()"
        pipe = subprocess.PIPE
        with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True) as parent:
            child = int(parent.stdout.readline())
            self.assertEqual(soak.family(parent.pid), [parent.pid, child])
            seen = soak.sample(parent.pid, 1.5)
            self.assertEqual((seen.seconds, seen.processes), (1.5, 2))
            self.assertGreater(seen.rss_kib, 1000)
            self.assertGreaterEqual(seen.handles, 6)
            parent.stdin.close()
        self.assertEqual(soak.sample(parent.pid, 2).processes, 0)


if __name__ == "__main__":
    unittest.main()
