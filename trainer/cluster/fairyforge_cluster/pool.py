"""Workers of a Dask scheduler, and parts given to them.

Dask decides where and when a part runs, hears whether workers live, and gives the parts of lost workers to others. What is added here: a worker plays only
after it was compared with the driver; a part that fails is tried again elsewhere, a few times; few parts are under way beyond what workers can play, so
that a run that is over early has little to call off.
"""

import collections
import contextlib
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

from distributed import Client, wait
from distributed.client import Future

from fairyforge_cluster import program as programs
from fairyforge_cluster import worker
from fairyforge_cluster.errors import ClusterError
from fairyforge_cluster.worker import Admission, Order, Outcome

POLL_SECONDS = 1.0
# Parts under way for each thread of workers: one that is played, one that waits.
UNDER_WAY = 2
# How long a scheduler may not answer.
SCHEDULER_PATIENCE_SECONDS = 10.0
LOST = "the scheduler does not answer any more; what was played is kept, and the same command continues"


@dataclass(frozen=True)
class Failure:
    """A part that failed as often as it was tried."""

    part: int
    of: int
    attempts: tuple[str, ...]

    def __str__(self) -> str:
        return f"part {self.part}/{self.of} failed {len(self.attempts)} times; the last time:\n{self.attempts[-1]}"


@dataclass
class Batch:
    """The parts of one step while they are played."""

    of: int
    step: str | None
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    queue: collections.deque[int] = field(default_factory=collections.deque)
    running: dict[Future[Any], tuple[int, frozenset[str]]] = field(default_factory=dict)
    attempts: dict[int, list[str]] = field(default_factory=lambda: collections.defaultdict(list))
    failed_on: dict[int, set[str]] = field(default_factory=lambda: collections.defaultdict(set))
    failures: list[Failure] = field(default_factory=list)


class Pool:
    """The workers of a scheduler."""

    def __init__(self, client: Client, store: str, kit: str, retries: int, tell: Callable[[str], None]) -> None:
        self._client = client
        self._store = store
        self._kit = kit
        self._retries = retries
        self._tell = tell
        self._admitted: set[str] = set()
        self._refused: dict[str, str] = {}
        self._checks: dict[Future[Any], str] = {}
        self._threads: dict[str, int] = {}
        self._silent_since: float | None = None
        self._told_waiting = False

    def slots(self) -> int:
        """Parts that admitted workers play at once; waits for the first worker."""
        while True:
            self._look_at_workers()
            self._conclude_checks()
            if self._admitted and not self._checks:
                return self._slots()
            wait_for(list(self._checks))

    def play(
        self,
        parts: Iterable[int],
        of: int,
        step: str | None,
        played: Callable[[Outcome], None],
        is_over: Callable[[], bool],
    ) -> list[Failure]:
        """Plays parts of a step, and says which failed for good. `is_over` is asked after parts were played; the rest is called off then."""
        batch = Batch(of, step, queue=collections.deque(parts))
        try:
            while batch.queue or batch.running:
                self._look_at_workers()
                self._conclude_checks()
                self._take_back(batch)
                self._give(batch)
                done = wait_for([*batch.running, *self._checks])
                outcomes = [self._conclude(batch, future) for future in done if future in batch.running]
                for outcome in outcomes:
                    if outcome is not None:
                        played(outcome)
                if any(outcomes) and is_over():
                    break
        finally:
            self._call_off(batch)
        return batch.failures

    def _slots(self) -> int:
        return sum(self._threads[address] for address in self._admitted)

    def _look_at_workers(self) -> None:
        """Notes who is there, and has newcomers compared."""
        try:
            if self._client.status != "running":
                raise OSError(self._client.status)
            self._threads = dict(self._client.nthreads())
            self._silent_since = None
        except (OSError, TimeoutError) as error:
            self._bear_silence(error)
            return
        self._admitted &= self._threads.keys()
        for check in [check for check, address in self._checks.items() if address not in self._threads]:
            # Nobody else can answer for a worker that has gone.
            del self._checks[check]
        known = self._admitted | self._refused.keys() | set(self._checks.values())
        for address in self._threads.keys() - known:
            check = self._client.submit(
                worker.admit,
                self._store,
                self._kit,
                workers=[address],
                allow_other_workers=False,
                pure=False,
                priority=1_000_000,
            )
            self._checks[check] = address
        self._complain()

    def _bear_silence(self, error: Exception) -> None:
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        if now - self._silent_since > SCHEDULER_PATIENCE_SECONDS:
            raise ClusterError(LOST) from error
        time.sleep(POLL_SECONDS / 4)

    def _complain(self) -> None:
        """Says that nobody can play: for good if all were refused, once if nobody has come yet."""
        if self._admitted or self._checks:
            return
        refused = [problem for address, problem in self._refused.items() if address in self._threads]
        if refused:
            raise ClusterError("no worker can play; all were refused:\n" + "\n".join(refused))
        if not self._told_waiting:
            self._tell("no workers yet; waiting for them")
            self._told_waiting = True

    def _conclude_checks(self) -> None:
        for check in [check for check in self._checks if check.done()]:
            address = self._checks.pop(check)
            if check.status == "finished":
                admission: Admission = check.result()
                problem, name = admission.problem, admission.worker
            elif check.status == "error":
                problem, name = f"{check.exception()!r}", address
            else:
                # The worker has gone, or the scheduler; either is noticed elsewhere.
                continue
            if problem is None:
                self._admitted.add(address)
            else:
                self._refused[address] = f"worker {name} is refused: {problem}"
                self._tell(self._refused[address])

    def _take_back(self, batch: Batch) -> None:
        """Parts that only workers who are gone may play are given away again."""
        for future, (part, allowed) in list(batch.running.items()):
            if not future.done() and not allowed & self._threads.keys() and self._silent_since is None:
                del batch.running[future]
                self._client.cancel([future], force=True)
                batch.queue.appendleft(part)

    def _give(self, batch: Batch) -> None:
        while batch.queue and len(batch.running) < UNDER_WAY * self._slots():
            part = batch.queue.popleft()
            allowed = frozenset(self._admitted - batch.failed_on[part]) or frozenset(self._admitted)
            order = Order(self._store, self._kit, batch.step, part, batch.of, batch.session)
            future = self._client.submit(
                worker.play,
                order,
                key=f"fairyforge-part-{part}-of-{batch.of}-{uuid.uuid4().hex}",
                workers=sorted(allowed),
                allow_other_workers=False,
                pure=False,
                priority=-part,
            )
            batch.running[future] = (part, allowed)

    def _conclude(self, batch: Batch, future: Future[Any]) -> Outcome | None:
        """The outcome of a part that is played; otherwise it is tried again or given up."""
        part, allowed = batch.running.pop(future)
        if future.status == "finished":
            outcome: Outcome = future.result()
            if outcome.status == programs.DONE:
                return outcome
            batch.failed_on[part].add(outcome.worker.split()[0])
            attempt = f"on worker {outcome.worker}: {outcome.command}\nended with exit status {outcome.status}:\n{outcome.errors}"
        elif future.status == "error":
            attempt = f"on one of {len(allowed)} workers: {future.exception()!r}"
        else:
            # The scheduler has lost it, usually together with itself: that is noticed in a moment.
            batch.queue.appendleft(part)
            return None
        batch.attempts[part].append(attempt)
        if len(batch.attempts[part]) > self._retries:
            batch.failures.append(Failure(part, batch.of, tuple(batch.attempts[part])))
        else:
            batch.queue.appendleft(part)
        return None

    def _call_off(self, batch: Batch) -> None:
        """Ends what still runs. Workers are asked too: Dask does not end a task that has begun."""
        if not batch.running:
            return
        try:
            if self._client.status == "running":
                self._client.cancel(list(batch.running), force=True)
                self._client.run(worker.stop, batch.session, on_error="ignore")
        except (OSError, TimeoutError):
            # Without a scheduler nothing can be called off; parts that are played are kept.
            pass
        batch.running.clear()


def wait_for(futures: list[Future[Any]]) -> set[Future[Any]]:
    """Waits a moment for the first of them; those that are over."""
    if not futures:
        time.sleep(POLL_SECONDS / 4)
        return set()
    # Time is up, or the scheduler has gone and its futures with it: both show in the futures.
    with contextlib.suppress(TimeoutError, CancelledError, OSError):
        wait(futures, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
    return {future for future in futures if future.done()}
