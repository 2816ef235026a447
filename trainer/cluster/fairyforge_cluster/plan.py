"""Plans: what a command is told, and which files that needs.

The commands `loop`, `values`, `claims`, `tune` and `book` take the plan files of the program as they are. `selfplay` and `match` have options only; their
plan here is a TOML file with the long options as keys, underscores for dashes. This module reads plans only as far as others must know: which words the
program is called with, which files workers need, and whether a test may end a match early. What plans mean is the program's affair.
"""

import difflib
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from fairyforge_cluster.errors import BadInput

Value = str | int | float | bool | list[str]

# The words of the program for each command that takes a plan file.
PLAN_COMMANDS: dict[str, tuple[str, ...]] = {
    "values": ("values", "run"),
    "claims": ("claims", "run"),
    "loop": ("loop",),
    "tune": ("tune", "spsa"),
    "book": ("book", "build"),
}

NUMBER = (int, float)
WORDS = (str,)
FLAG = (bool,)
LIST = (list,)

# The options of the commands that take no plan file, by key. tests/test_program.py compares them with what the program says.
OPTION_COMMANDS: dict[str, dict[str, tuple[type, ...]]] = {
    "selfplay": {
        "variant": WORDS,
        "games": (int,),
        "nodes": (int,),
        "seed": (int,),
        "weights": WORDS,
        "imbalance": NUMBER,
        "shard_games": (int,),
        "endgames": WORDS,
    },
    "match": {
        "variant": WORDS,
        "player": LIST,
        "a": WORDS,
        "b": WORDS,
        "a_set": LIST,
        "b_set": LIST,
        "pairs": (int,),
        "format": WORDS,
        "nodes": (int,),
        "depth": (int,),
        "tc": WORDS,
        "seed": (int,),
        "random_plies": WORDS,
        "openings": WORDS,
        "order": WORDS,
        "opening_start": (int,),
        "opening_plies": (int,),
        "elo0": NUMBER,
        "elo1": NUMBER,
        "alpha": NUMBER,
        "beta": NUMBER,
        "model": WORDS,
        "min_pairs": (int,),
        "draw": WORDS,
        "win": WORDS,
        "most_plies": (int,),
        "endgames": WORDS,
        "time_margin": (int,),
        "breakdowns": (int,),
    },
}

# Options of the program that the driver gives itself.
DRIVEN_OPTIONS = frozenset({"out", "threads", "shard", "merge", "json", "help"})

# Keys of plans whose values may name files or folders. Words such as `shipped` name no file and are passed over.
PATH_KEYS = frozenset(
    {
        "variant",
        "weights",
        "start",
        "judge",
        "search",
        "path",
        "endgames",
        "sources",
        "openings",
        "network",
        "experiment",
        "a",
        "b",
    }
)
# Keys of a player's words that may.
PLAYER_PATH_KEYS = frozenset({"weights", "search"})

# The network of --network on workers.
NETWORK_THERE = "named-network.net"

COMMANDS = (*OPTION_COMMANDS, *PLAN_COMMANDS)


@dataclass(frozen=True)
class Needed:
    """A file that the program reads: by the words that name it, and where it is here."""

    words: str
    path: Path


@dataclass(frozen=True)
class Extra:
    """Options of `values` and `claims` that are handed on."""

    budget: str | None = None
    network: str | None = None
    """A word of the program, or a file as seen from where the command runs."""

    def words(self, network: str | None) -> list[str]:
        """As arguments, with the network under this name."""
        budget = [f"--budget={self.budget}"] if self.budget is not None else []
        return budget + ([f"--network={network}"] if network is not None else [])


@dataclass(frozen=True)
class Plan:
    """A plan that was read."""

    command: str
    path: Path
    table: dict[str, Any]
    extra: Extra = Extra()

    @property
    def is_file(self) -> bool:
        """Whether the program is given the plan file itself."""
        return self.command in PLAN_COMMANDS

    @property
    def parts_read_games(self) -> bool:
        """Whether parts look into games that are over: an experiment decides by them which games come next."""
        return self.command in ("values", "claims")

    @property
    def folder(self) -> Path:
        """Where relative paths begin, here."""
        return self.path.parent

    @property
    def network(self) -> Path | None:
        """The network's file, if the option names one."""
        path = Path(self.extra.network) if self.extra.network is not None else None
        return path.resolve() if path is not None and path.is_file() else None

    def variant(self) -> str:
        """The game: a name or a file."""
        return str(self.table["variant"])

    def may_end_early(self) -> bool:
        """Whether a sequential test may end a match of the run before all pairs are played."""
        if self.command == "match":
            return "elo0" in self.table
        if self.command == "loop":
            return "sprt" in self.table.get("match", {})
        return "confirm" in self.table

    def place(self) -> Path:
        """Where the program is run here. Runs note some files by the words that lead to them from there, so it must be the like on workers: the
        plan's folder, which workers have too, unless the plan's files are those seen from where the user is."""
        seen = [item for item in self._named() if not PurePosixPath(item.words).is_absolute()]
        beside = [item for item in seen if (self.folder / item.words).exists()]
        if len(beside) == len(seen):
            return self.folder
        if not beside:
            return Path.cwd()
        elsewhere = next(item.words for item in seen if item not in beside)
        raise BadInput(
            f"{self.path}: expected all files beside the plan, or none; {beside[0].words} is, {elsewhere} is not"
        )

    def words_here(self) -> list[str]:
        """The program's arguments when it is run in `place`, without --out and what the driver adds."""
        plan_file = self.path.name if self.place() == self.folder else str(self.path)
        return self._words(plan_file, str(self.network) if self.network else self.extra.network)

    def words_there(self) -> list[str]:
        """The same on a worker, who has the files of `needed`."""
        return self._words(self.path.name, NETWORK_THERE if self.network else self.extra.network)

    def needed(self) -> list[Needed]:
        """The files that the plan names, those that named plans name in turn, and the plan itself where the program is given it."""
        files = self._named()
        if self.is_file:
            files.append(Needed(self.path.name, self.path))
        if self.network:
            files.append(Needed(NETWORK_THERE, self.network))
        return sorted(files, key=lambda item: item.words)

    def _words(self, plan_file: str, network: str | None) -> list[str]:
        if self.is_file:
            return [*PLAN_COMMANDS[self.command], plan_file, *self.extra.words(network)]
        return [self.command, *option_words(self.table)]

    def _named(self) -> list[Needed]:
        found: dict[str, Needed] = {}
        self._collect(self.table, found)
        return list(found.values())

    def _collect(self, table: dict[str, Any], found: dict[str, Needed]) -> None:
        for words in named_files(table):
            path = self._look_up(words)
            if path is not None and path.is_dir():
                found.update(files_below(words, path))
            elif path is not None and words not in found:
                found[words] = Needed(words, path)
                if path.suffix == ".toml":
                    self._collect(read_table(path), found)

    def _look_up(self, words: str) -> Path | None:
        places = [self.folder / words]
        if self.is_file:
            places.append(Path.cwd() / words)
        return next((place for place in places if place.exists()), None)


def files_below(words: str, folder: Path) -> dict[str, Needed]:
    """All files of a folder that a plan names."""
    files = (path for path in folder.rglob("*") if path.is_file())
    named = ((str(PurePosixPath(words, path.relative_to(folder).as_posix())), path) for path in files)
    return {inner: Needed(inner, path) for inner, path in named}


def read_plan(command: str, path: Path, extra: Extra = Extra()) -> Plan:
    """Reads a plan and refuses what cannot be one, by name."""
    table = read_table(path)
    if command in OPTION_COMMANDS:
        check_options(command, table, path)
    if not isinstance(table.get("variant"), str):
        raise BadInput(
            f"{path}: expected a key `variant` with the name or the file of a game, got {table.get('variant', 'none')!r}"
        )
    return Plan(command, path.resolve(), table, extra)


def read_table(path: Path) -> dict[str, Any]:
    """A TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is no TOML: {error}") from error


def check_options(command: str, table: dict[str, Any], path: Path) -> None:
    """Every key is an option with a value of the right kind, or all that are not are told."""
    known = OPTION_COMMANDS[command]
    problems = []
    for key, value in table.items():
        if key not in known:
            nearest = difflib.get_close_matches(key, known, 1)
            hint = f"; the nearest key is `{nearest[0]}`" if nearest else f"; keys are {', '.join(known)}"
            if key.replace("-", "_") in DRIVEN_OPTIONS:
                hint = "; fairyforge-cluster gives this option itself"
            problems.append(f"{path}: unknown key `{key}`{hint}")
        elif not is_of(value, known[key]):
            kinds = " or ".join("list of strings" if kind is list else kind.__name__ for kind in known[key])
            problems.append(f"{path}: `{key}`: expected {kinds}, got {value!r}")
    if problems:
        raise BadInput("\n".join(problems))


def is_of(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value of a plan is of one of the kinds. True and false are no numbers."""
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, list):
        return list in kinds and all(isinstance(item, str) for item in value)
    return isinstance(value, kinds)


def option_words(table: dict[str, Any]) -> list[str]:
    """A table of options as the program's arguments, in the table's order."""
    words: list[str] = []
    for key, value in table.items():
        option = "--" + key.replace("_", "-")
        if isinstance(value, bool):
            words += [option] if value else []
        else:
            # With an equals sign: a value may begin with a dash.
            words += [f"{option}={item}" for item in (value if isinstance(value, list) else [value])]
    return words


def named_files(table: dict[str, Any]) -> Iterator[str]:
    """The values of a plan, tables in it included, that may name files."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from named_files(value)
        elif key == "player" and isinstance(value, list):
            for player in value:
                yield from player_files(player)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    yield from named_files(item)
                elif key in PATH_KEYS and isinstance(item, str):
                    yield item
        elif key in PATH_KEYS and isinstance(value, str):
            yield value


def player_files(words: str) -> Iterator[str]:
    """What a player's words name: `name=new weights="my file.toml"`."""
    try:
        parts = shlex.split(words)
    except ValueError:
        # The program says what is wrong with it.
        return
    for part in parts:
        key, _, value = part.partition("=")
        if key in PLAYER_PATH_KEYS:
            yield value
