"""The command line: `fairyforge-cluster COMMAND PLAN.toml --out RUN`.

Exit statuses are the program's: 0 finished, 1 failed (the same command continues), 2 bad input, 130 interrupted. What the program prints at the end goes to
stdout, everything else to stderr.
"""

import argparse
import contextlib
import logging
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from distributed import Client, LocalCluster
from distributed.security import Security

from fairyforge_cluster.driver import Driver, Settings, report
from fairyforge_cluster.errors import BadInput, ClusterError, Interrupted
from fairyforge_cluster.plan import COMMANDS, OPTION_COMMANDS, PLAN_COMMANDS, Extra, read_plan
from fairyforge_cluster.pool import Pool
from fairyforge_cluster.program import Program

LOOPBACK = "127.0.0.1"
CONNECT_SECONDS = 15
EXAMPLES = """\
examples:
  fairyforge-cluster loop configs/runs/sorcerer.toml --out data/runs/sorcerer --local 2
  fairyforge-cluster match my-match.toml --out /shared/match --scheduler tcp://10.0.0.1:8786
  fairyforge-cluster selfplay games.toml --out games --scheduler tls://head:8786 --store s3://bucket/games \\
      --tls-ca-file ca.pem --tls-cert me.pem --tls-key me.key

Cut off at any moment, the same command continues. docs/using-a-cluster.md tells the rest.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit status."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    # A lost scheduler or worker is told here in a sentence; Dask would add its tracebacks.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return run(options)
    except (KeyboardInterrupt, Interrupted):
        tell("interrupted; what was played is kept, and the same command continues")
        return 130
    except BadInput as error:
        tell(f"error: {error}")
        return 2
    except (ClusterError, OSError) as error:
        tell(f"error: {error}")
        return 1


def parser() -> argparse.ArgumentParser:
    """All options."""
    whole = argparse.ArgumentParser(
        prog="fairyforge-cluster",
        description="Have the games of a Fairyforge run played by workers of Dask distributed.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument(
        "command",
        choices=COMMANDS,
        help=f"{', '.join(PLAN_COMMANDS)}: with a plan of the program; {', '.join(OPTION_COMMANDS)}: with its options in TOML",
    )
    whole.add_argument("plan", type=Path, metavar="PLAN.toml")
    whole.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="RUN",
        help="folder of the run; without --store all workers must see it under the same path",
    )
    where = whole.add_mutually_exclusive_group(required=True)
    where.add_argument("--scheduler", metavar="ADDRESS", help="address of a Dask scheduler, as tcp://10.0.0.1:8786")
    where.add_argument("--local", type=positive, metavar="N", help="N workers on this machine, reachable from it alone")
    whole.add_argument("--binary", metavar="PATH", help="the program; fairyforge on the PATH if absent")
    whole.add_argument(
        "--store",
        metavar="URL",
        help="where files are exchanged if workers do not share the run's folder, as s3://bucket/folder or file:///folder",
    )
    whole.add_argument(
        "--shards", type=positive, metavar="N", help="parts of every step; chosen from games and workers if absent"
    )
    whole.add_argument(
        "--retries",
        type=natural,
        default=2,
        metavar="K",
        help="how often a failed part is tried again, elsewhere if possible [default: 2]",
    )
    whole.add_argument("--budget", metavar="BUDGET", help="values, claims: as of the program")
    whole.add_argument("--network", metavar="FILE", help="values, claims: as of the program")
    whole.add_argument(
        "--tls-ca-file", metavar="PEM", help="certificate of the authority; with it, nothing is sent without TLS"
    )
    whole.add_argument("--tls-cert", metavar="PEM", help="this driver's certificate")
    whole.add_argument("--tls-key", metavar="PEM", help="its key")
    return whole


def run(options: argparse.Namespace) -> int:
    """Takes the run to its end."""
    plan = read_plan(options.command, options.plan, extra_of(options))
    driver = Driver(plan, Program.find(options.binary), settings_of(options), tell)
    step = driver.begin()
    if step is None:
        return 0
    kit = driver.pack()
    with connected(options) as client:
        if "dashboard" in client.scheduler_info()["services"]:
            tell(f"dashboard: {client.dashboard_link}")
        began = time.monotonic()
        failures = driver.finish(step, Pool(client, driver.store_url, kit, options.retries, tell))
    if failures:
        report(failures, tell)
        return 1
    tell(f"finished after {time.monotonic() - began:.0f} s")
    return 0


def settings_of(options: argparse.Namespace) -> Settings:
    """The user's choices."""
    if options.store and "://" not in options.store:
        raise BadInput(f"--store: expected a URL, as file:///folder or s3://bucket/folder, got {options.store}")
    return Settings(options.out.resolve(), options.store, options.shards, options.retries)


def extra_of(options: argparse.Namespace) -> Extra:
    """Options that are handed on to the program."""
    for name in ("budget", "network"):
        if getattr(options, name) is not None and options.command not in ("values", "claims"):
            raise BadInput(f"--{name} is an option of values and claims, got it for {options.command}")
    return Extra(options.budget, options.network)


@contextlib.contextmanager
def connected(options: argparse.Namespace) -> Iterator[Client]:
    """A client of the scheduler that was named, or of one of our own that nobody else can reach."""
    security = security_of(options)
    if options.scheduler:
        with Client(options.scheduler, security=security, timeout=CONNECT_SECONDS) as client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=options.local,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            dashboard_address=f"{LOOPBACK}:0",
            security=security,
        ) as cluster,
        Client(cluster, security=security) as client,
    ):
        yield client


def security_of(options: argparse.Namespace) -> Security | None:
    """TLS as told; with a certificate authority everything must be encrypted."""
    if not options.tls_ca_file:
        if options.tls_cert or options.tls_key:
            raise BadInput("--tls-cert and --tls-key need --tls-ca-file")
        return None
    files = {
        "tls_ca_file": options.tls_ca_file,
        "tls_client_cert": options.tls_cert,
        "tls_client_key": options.tls_key,
        "tls_scheduler_cert": options.tls_cert,
        "tls_scheduler_key": options.tls_key,
        "tls_worker_cert": options.tls_cert,
        "tls_worker_key": options.tls_key,
    }
    missing = [path for path in files.values() if path is None or not Path(path).is_file()]
    if missing:
        raise BadInput(f"TLS needs --tls-ca-file, --tls-cert and --tls-key, all of them files; got {missing[0]}")
    return Security(require_encryption=True, **files)


def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """A request to end is an interrupt."""
    raise KeyboardInterrupt


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text}")
    return number


def natural(text: str) -> int:
    """A whole number from 0."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected a number from 0, got {text}")
    return number


def tell(message: str) -> None:
    """To stderr, at once."""
    print(message, file=sys.stderr, flush=True)
