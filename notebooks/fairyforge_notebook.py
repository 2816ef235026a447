"""What all notebooks need: the program, its boards, the records of a run, and one style for figures and tables.

What it is: the one place that knows where the program is, how it is called, and how records are read (docs/formats/games.md).
What it is not: statistics, which are in `fairyforge_statistics.py`, or the questions, which are in the notebooks.

Settings come from the environment, paths as seen from the root of the project: `RUN` (a run or a folder of shards), `VARIANT`
(name or file of a game), `FAIRYFORGE` (the program).
"""

import functools
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from IPython.display import HTML, Markdown, display

from fairyforge_statistics import fit_results

# --- Trouble and notes -----------------------------------------------------------------------------------------------


class Trouble(Exception):
    """What the reader can put right: shown as a sentence, without the lines of code that it went through."""

    def _render_traceback_(self):
        return [f"Stopped: {self}"]


def note(text):
    """A remark between figures, in place of one that the games cannot fill."""
    display(Markdown(f"> {text}"))


# --- The program -----------------------------------------------------------------------------------------------------

_HERE = Path(__file__).resolve().parent
ROOT = next(folder for folder in _HERE.parents if (folder / "configs" / "variants").is_dir())


def given(name, default=None):
    """A path from the environment, or the default, as seen from the root of the project; None if there is neither."""
    value = os.environ.get(name) or default
    return None if value is None else ROOT / Path(value).expanduser()


@functools.cache
def program():
    """How the program is called: `FAIRYFORGE`, else the newest one built, else what `cargo` builds now."""
    if os.environ.get("FAIRYFORGE"):
        path = given("FAIRYFORGE")
        if not path.is_file():
            raise Trouble(f"FAIRYFORGE names {path}, and there is no such file.")
        return [str(path)]
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    built = [target / profile / "fairyforge" for profile in ("release", "debug")]
    built = [path for path in built if path.is_file()]
    if built:
        return [str(max(built, key=lambda path: path.stat().st_mtime))]
    if shutil.which("cargo"):
        return ["cargo", "run", "--quiet", "--bin", "fairyforge", "--"]
    raise Trouble("The program is not built: run `cargo build --bin fairyforge`, or say with FAIRYFORGE where it is.")


def fairyforge(*arguments):
    """What the program prints; its own words if it refuses."""
    done = subprocess.run([*program(), *map(str, arguments)], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines() or ["no reason given"]
        raise Trouble("\n".join([f"fairyforge {' '.join(map(str, arguments))}", *said[-12:]]))
    return done.stdout


# --- Games and boards ------------------------------------------------------------------------------------------------


class Variant:
    """A game as the program tells it. `argument` is its name or file, as commands take it."""

    def __init__(self, argument):
        self.argument = str(argument)
        self.told = json.loads(fairyforge("variant", "explain", self.argument, "--json"))
        shown = json.loads(fairyforge("variant", "show", self.argument, "--json"))
        by_letter = {unit["letter"]: unit for unit in shown["units"]}
        self.name, self.title, self.fen = self.told["name"], self.told["title"], self.told["fen"]
        self.units = self.told["units"]  # in the order of packed positions
        self.letters = [unit["letter"] for unit in self.units]
        self.names = [unit["name"] for unit in self.units]
        self.keys = [by_letter[letter]["name"] for letter in self.letters]  # as fits and weights call them
        self.royal = np.array(["royal" in unit["notes"] for unit in self.units])
        centipawns = np.array([by_letter[letter]["middlegame"] for letter in self.letters], dtype=float)
        self.a_priori = np.where(self.royal, 0.0, centipawns / 100.0)  # pawns, from mobility alone

    @functools.cached_property
    def squares(self):
        """Names of the squares in the order of packed positions: rank by rank from White's side, holes left out."""
        labels = [int(line[:3]) for line in self.told["array"] if line[:3].strip()]
        ranks = zip(labels, _ranks(self.fen), strict=True)
        return [f"{chr(ord('a') + file)}{label}" for label, rank in reversed(list(ranks)) for file, square in enumerate(rank) if square != "*"]

    @functools.cached_property
    def shape(self):
        """Ranks and files, and of each square its row and column from White's side."""
        files = [ord(name[0]) - ord("a") for name in self.squares]
        ranks = [int(name[1:]) for name in self.squares]
        drawn = _ranks(self.fen)
        lowest = min(int(line[:3]) for line in self.told["array"] if line[:3].strip())
        return (len(drawn), len(drawn[0])), np.array(ranks) - lowest, np.array(files)

    def worth(self, letters):
        """A-priori worth in pawns of men written as letters."""
        return sum(self.a_priori[self.letters.index(letter)] for letter in letters.upper())


def _ranks(fen):
    """The ranks of a FEN from above, square by square: letters, `.` for empty ones, `*` for holes."""
    field = fen.split()[0].split("[")[0]
    return re.sub(r"\d+", lambda digits: "." * int(digits[0]), field).split("/")


def men_of_fen(game, fen):
    """The men of a FEN by square."""
    squares = [square for rank in reversed(_ranks(fen)) for square in rank if square != "*"]
    return {name: square for name, square in zip(game.squares, squares, strict=True) if square != "."}


@functools.cache
def variant(argument):
    """The game of that name or file."""
    return Variant(argument)


def own_file(argument):
    """What `VARIANT` says, as the program takes it: a file if there is one, else a name."""
    path = ROOT / Path(argument).expanduser()
    return str(path) if path.is_file() else argument


def board(game, fen=None, moves=(), mark=(), size=420):
    """An SVG of a position, drawn by `fairyforge board`."""
    arguments = ["board", "--variant", game.argument, "--svg", "--size", size]
    for option, value in [("--fen", fen), ("--moves", " ".join(moves)), ("--mark", " ".join(mark))]:
        if value:
            arguments += [option, value]
    return fairyforge(*arguments)


def unit_drawings(game):
    """The moves of every unit, drawn by `fairyforge variant explain --svg`: lists of SVG by the unit's name."""
    with tempfile.TemporaryDirectory() as folder:
        files = fairyforge("variant", "explain", game.argument, "--svg", folder).split("\n")
        drawn = {file.name: file.read_text() for file in sorted(Path(folder).glob("*.svg"))}
    files = [Path(file).name for file in files if file.strip()]
    drawings = {}
    for name, key in zip(game.names, game.keys):
        own = re.compile(rf"{re.escape(key)}(-\d+)?\.svg")
        drawings[name] = [drawn[file] for file in files if own.fullmatch(file)]
    return drawings


def gallery(pictures, width=420):
    """SVGs with captions (Markdown is not read in them), as many side by side as there is room for."""
    figures = [
        f'<figure style="margin:0;width:{width}px">{_scaled(svg, width)}'
        f'<figcaption style="font-size:90%">{html.escape(caption).replace(chr(10), "<br>")}</figcaption></figure>'
        for svg, caption in pictures
    ]
    return HTML(f'<div style="display:flex;flex-wrap:wrap;gap:18px;align-items:flex-end">{"".join(figures)}</div>')


def _scaled(svg, width):
    def sizes(match):
        height = float(match[3]) * width / float(match[2])
        return f'<svg {match[1]}width="{width}" height="{height:.0f}"'

    return re.sub(r'<svg ([^>]*?)width="([\d.]+)" height="([\d.]+)"', sizes, svg, count=1)


# --- Records ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """One recorded game: where its record begins, and its moves in coordinates and in algebraic notation."""

    fen: str
    moves: list
    notation: list

    def numbered(self, move):
        """The move of that index with its number, as `29... bxc1=Q+`."""
        side, number = self.fen.split()[1], int(self.fen.split()[-1])
        half = move + (side == "b")
        return f"{number + half // 2}{'.' if half % 2 == 0 else '...'} {self.notation[move]}"

    def text(self):
        """All moves, White's with their numbers."""
        whites = int(self.fen.split()[1] == "b")  # the index of White's first move
        return " ".join(self.numbered(move) if move == 0 or move % 2 == whites else self.notation[move] for move in range(len(self.notation)))


class Run:
    """The games of a run, or of a folder of shards.

    `games` and `positions` are the tables of docs/formats/games.md with columns more: `generation` (the folder's number), `id` (number
    of the game over all folders), `pair` (the same for the two games of a pair); in `games` also White's `points` and `start`, full armies
    or not.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.label = os.path.relpath(self.path, ROOT) if self.path.is_relative_to(ROOT) else str(self.path)
        if not self.path.is_dir():
            raise Trouble(f"RUN names {self.label}, and there is no such folder.")
        fairyforge("data", "verify", self.path)
        self.shards = [shard for folder in self._folders() for shard in _shards_of(folder)]
        _, first, _ = self.shards[0]
        self.header = pl.read_parquet_metadata(first)
        self.variant = self._variant()
        self.games = self._games()
        self.positions = self._positions()
        self.seed = self.header["fairyforge.run_seed"]

    def _folders(self):
        for parent in (self.path, self.path / "selfplay"):
            if any(parent.glob("games-*.parquet")):
                return [parent]
            numbered = [folder for folder in parent.glob("*") if folder.name.isdecimal() and any(folder.glob("games-*.parquet"))]
            if numbered:
                return sorted(numbered, key=lambda folder: int(folder.name))
        raise Trouble(f"{self.label} holds no games yet.")

    def _variant(self):
        name, rules = self.header["fairyforge.variant"], self.header["fairyforge.rules_hash"]
        chosen = os.environ.get("VARIANT")
        shipped = (ROOT / "configs" / "variants" / f"{name}.toml").is_file()
        if not chosen and not shipped:
            raise Trouble(f"The games of {self.label} are of the variant {name!r}, which is not shipped: give its file as VARIANT.")
        game = variant(own_file(chosen) if chosen else name)
        if game.told["rules_hash"] != rules:
            raise Trouble(
                f"The games of {self.label} are of {name!r} with rules {rules[:12]}, but {game.argument} has rules "
                f"{game.told['rules_hash'][:12]}: give the file they were played by as VARIANT."
            )
        return game

    def _games(self):
        tables = [pl.read_parquet(games).with_columns(generation=pl.lit(number)) for number, games, _ in self.shards]
        games = pl.concat(tables).sort("generation", "game")
        pair = pl.struct("generation", pl.col("game") // 2).rle_id()
        imbalance = pl.when(pl.col("imbalance") == "").then(pl.lit("full armies")).otherwise(pl.lit("units taken away"))
        return games.with_columns(
            id=pl.int_range(pl.len(), dtype=pl.Int64), pair=pair.cast(pl.Int64), points=(pl.col("result") + 1) / 2, start=imbalance
        )

    def _positions(self):
        tables = [pl.read_parquet(positions).with_columns(generation=pl.lit(number)) for number, _, positions in self.shards]
        own = self.games.select("generation", "game", "id", "pair")
        return pl.concat(tables).join(own, on=["generation", "game"], how="left", maintain_order="left").sort("id", "ply")

    @functools.cached_property
    def plan(self):
        """What the run was asked for; empty if its plan is not there."""
        path = self.path / "plan.toml"
        return tomllib.loads(path.read_text()) if path.is_file() else {}

    @property
    def nodes(self):
        """The limit of the searches in nodes, if the plan tells."""
        table = self.plan.get("selfplay")
        return table.get("nodes") if isinstance(table, dict) else None

    def describe(self):
        """In a sentence or two what is read, for the head of a notebook."""
        games, header, generations = self.games, self.header, self.games["generation"].n_unique()
        limit = f", {self.nodes} nodes a move" if self.nodes else ""
        weights = f", weights {header['fairyforge.weights'][:12]}" if generations == 1 else ", weights by generation"
        return (
            f"{self.variant.title}: {games.height:,} games in {games['pair'].n_unique():,} pairs, {self.positions.height:,} positions, "
            f"{generations} generation{'s' if generations > 1 else ''}{limit}, seed {self.seed}\n({self.label}; engine "
            f"{header['fairyforge.engine']}{weights}, rules {header['fairyforge.rules_hash'][:12]})"
        )

    def fit(self):
        """What `fairyforge fit --json` says of these games."""
        arguments = ["fit", "--data", self.path, "--json", "--variant", self.variant.argument]
        with tempfile.TemporaryDirectory() as folder:
            return json.loads(fairyforge(*arguments, "--out", Path(folder) / "weights.toml"))

    def played(self, game):
        """The moves of the game with this `id`."""
        row = self.games.row(game, named=True)
        own = [shard for number, shard, _ in self.shards if number == row["generation"] and _first_game(shard) <= row["game"]]
        fen, notation = _notation(own[-1], self.variant)[row["game"]]
        moves = self.positions.filter(pl.col("id") == game)["move"].to_list()
        return Played(fen or row["start_fen"], moves, notation)

    def name_of(self, game):
        """What a game is called in its records."""
        row = self.games.row(game, named=True)
        return f"Game {row['game']}" + (f" of generation {row['generation']}" if self.games["generation"].n_unique() > 1 else "")

    def scene(self, game, moves, remark="", size=420):
        """The board of a game after so many recorded moves, and a caption."""
        played = self.played(game)
        said = f"{self.name_of(game)}, {f'after {played.numbered(moves - 1)}' if moves else 'where the record begins'}"
        svg = board(self.variant, fen=played.fen, moves=played.moves[:moves], size=size)
        return svg, f"{said}{': ' if remark else ''}{remark}"

    def differences(self, positions=None):
        """White's count minus Black's of every unit, a row for each position, on the board and in hand."""
        counts = self._counts(self.positions if positions is None else positions)
        return counts[:, :, 0] - counts[:, :, 1]

    def material(self, positions):
        """A-priori worth in pawns of White's and Black's men."""
        return np.einsum("nus,u->ns", self._counts(positions), self.variant.a_priori)

    def _counts(self, positions):
        """How many of each unit White and Black have: positions × units × sides, made in chunks to save memory."""
        chunks = [unpacked(self.variant, chunk["packed"].to_list()).counts() for chunk in positions.iter_slices(100_000)]
        return np.concatenate(chunks) if chunks else np.zeros((0, len(self.variant.units), 2), dtype=int)

    def first_quiet(self):
        """The first quiet position of every game that has one: what stands for a game in the reference method."""
        return self.positions.filter("quiet").group_by("id", maintain_order=True).first()

    def regression(self, positions):
        """Results regressed on the differences of unit counts in these positions, one of a game; royal units are left out."""
        valued = np.flatnonzero(~self.variant.royal)
        points = self.games["points"].to_numpy()[positions["id"].to_numpy()]
        names = [self.variant.keys[unit] for unit in valued]
        return fit_results(self.differences(positions)[:, valued], points, positions["pair"].to_numpy(), names)


def _first_game(shard):
    return int(shard.stem.split("-")[1])


def _shards_of(folder):
    """Complete shards: generation, games file and positions file; a games file makes a shard complete."""
    number = int(folder.name) if folder.name.isdecimal() else 1
    for games in sorted(folder.glob("games-*.parquet"), key=_first_game):
        yield number, games, games.with_name(games.name.replace("games-", "positions-"))


@functools.lru_cache(maxsize=32)
def _notation(shard, game):
    """Where each game's record begins (None: its array) and its moves in algebraic notation, from the program's PGN."""
    text = fairyforge("pgn", "export", shard, "--part", "selfplay", "--variant", game.argument, "--out", "-")
    games = {}
    for block in text.split('[Event "')[1:]:
        tags, _, moves = block.partition("\n\n")
        number = int(re.search(r'\[Round "(\d+)"\]', tags)[1])
        fen = re.search(r'\[FEN "([^"]*)"\]', tags)
        words = re.sub(r"\{[^}]*\}", " ", moves).split()
        words = [word for word in words if not re.fullmatch(r"\d+\.+|1-0|0-1|1/2-1/2|\*", word)]
        games[number] = (fen and fen[1], words)
    return games


def games_of(game):
    """Games to look at: those of `RUN`, of the game's sample, or else a few played now."""
    sample = ROOT / "data" / "samples" / game.name
    if os.environ.get("RUN") or sample.is_dir():
        return Run(given("RUN", sample))
    folder = tempfile.TemporaryDirectory(prefix="fairyforge-")
    settings = ["--games", 40, "--nodes", 60, "--seed", 1, "--threads", 1]
    fairyforge("selfplay", "--variant", game.argument, *settings, "--out", folder.name)
    run = Run(folder.name)
    run.label, run.kept = f"played now: {' '.join(map(str, settings))}", folder
    return run


def open_run(default):
    """The run that `RUN` names, or else the sample; says what it is."""
    run = Run(given("RUN", default))
    print(run.describe())
    return run


# --- Packed positions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Men:
    """The men of many positions, one entry a man: number of the position, of the square, of the unit, and 1 for Black."""

    positions: int
    units: int
    row: np.ndarray
    square: np.ndarray
    unit: np.ndarray
    black: np.ndarray
    in_hand: np.ndarray  # positions × units × sides

    def counts(self):
        """How many of each unit White and Black have, on the board and in hand: positions × units × sides."""
        place = (self.row * self.units + self.unit) * 2 + self.black
        on_board = np.bincount(place, minlength=self.positions * self.units * 2)
        return on_board.reshape(self.positions, self.units, 2) + self.in_hand

    def board(self, game, position):
        """One position as FEN has it: letters by square, small ones for Black."""
        own = self.row == position
        letters = [game.letters[unit].lower() if black else game.letters[unit] for unit, black in zip(self.unit[own], self.black[own])]
        return {game.squares[square]: letter for square, letter in zip(self.square[own], letters)}


def unpacked(game, packed):
    """Reads packed positions, as `engine/src/position/packed.rs` describes them, without the program."""
    lengths = np.array([len(one) for one in packed], dtype=int)
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int) if len(packed) else lengths
    data = np.frombuffer(b"".join(packed), dtype=np.uint8)
    head = -(-len(game.squares) // 8)
    bitmap = data[begins[:, None] + np.arange(head)] if len(packed) else np.zeros((0, head), np.uint8)
    row, square = np.nonzero(np.unpackbits(bitmap, axis=1, bitorder="little"))
    men = np.bincount(row, minlength=len(packed))
    nth = np.arange(len(row)) - np.repeat(np.cumsum(men) - men, men)
    codes = data[begins[row] + head + nth]
    in_hand = _in_hand(game, data, begins + head + men)
    return Men(len(packed), len(game.units), row, square, (codes & 31).astype(int), (codes >> 5 & 1).astype(int), in_hand)


def _in_hand(game, data, flags):
    """Behind the men: a byte of flags, the en-passant squares if bit 5 says so, then a count for each unit held and side."""
    held = [number for number, unit in enumerate(game.units) if unit["in_hand"]]
    counts = np.zeros((len(flags), len(game.units), 2), dtype=int)
    if not held or not len(flags):
        return counts
    passant = (data[flags] & 32) > 0
    passed = np.where(passant, data[np.minimum(flags + 3, len(data) - 1)], 0).astype(int)
    begin = flags + 1 + np.where(passant, 3 + passed, 0)
    for side in (0, 1):
        for place, unit in enumerate(held):
            counts[:, unit, side] = data[begin + side * len(held) + place]
    return counts


# --- Style -----------------------------------------------------------------------------------------------------------

# Colours of Okabe and Ito, told apart by all kinds of eyes.
BLUE, ORANGE, GREEN, PURPLE, SKY, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#767676"
RESULTS = {1: ("White won", BLUE), 0: ("drawn", GREY), -1: ("Black won", ORANGE)}

plt.rcParams.update({
    "figure.dpi": 110, "figure.constrained_layout.use": True, "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlelocation": "left", "axes.titleweight": "bold", "axes.edgecolor": "#888888", "axes.axisbelow": True,
    "grid.color": "#dddddd", "grid.linewidth": 0.7, "errorbar.capsize": 3, "legend.frameon": False,
})
pl.Config.set_tbl_rows(60).set_tbl_cols(20).set_fmt_str_lengths(80).set_float_precision(2)
pl.Config.set_tbl_hide_column_data_types(True).set_tbl_hide_dataframe_shape(True)


def show(figure, words):
    """Shows a figure; `words` say what is in it to those who do not see it."""
    display(figure, metadata={"image/png": {"alt": words}})
    plt.close(figure)


def whiskers(axes, rows, colour=BLUE, scale=100.0, labels=None):
    """Labelled estimates as points with intervals, from top to bottom; those without interval are hollow. Labels name the games."""
    for height, (_, estimate) in enumerate(rows):
        point = scale * estimate.value
        if estimate.low is None:
            axes.plot(point, height, "o", color=colour, markerfacecolor="white")
            continue
        spread = [[point - scale * estimate.low], [scale * estimate.high - point]]
        axes.errorbar(point, height, xerr=spread, fmt="o", color=colour, markersize=5, linewidth=1.6)
    named = [f"{label}\n{estimate.games:,} games, {estimate.pairs:,} pairs" for label, estimate in rows]
    axes.set_yticks(range(len(rows)), labels or named)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
