#!/usr/bin/env python3
"""Random games played in step by fairyforge-engine and by Fairy-Stockfish (its Python package pyffish).

After every move both say which moves are legal, the FEN, whether the side to move is in check and whether the game has
ended, and how. The first difference is printed (variant, FEN, what only one of them has) and the exit status is 1.

    pip install -r engine/tests/differential/requirements.txt
    cargo build -p fairyforge-engine
    python engine/tests/differential/pyffish_differential.py --games 2 --seed 1

The games compared are those of SHARED that have a file configs/variants/NAME.toml; the others are named as not
compared.
Differences that are meant are listed in SHARED with their reason; how often each was met is printed, so none is silent.
"""

import argparse
import os
import random
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyffish

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MOVE = re.compile(r"([a-p])(\d+)([a-p])(\d+)(.?)")
SQUARE = re.compile(r"[a-p]\d+")
# Of four games one is entirely random, in one everything is taken that can be, and two prefer rare moves. All but the
# random one and one of these two end as soon as they can from this ply on.
SLAUGHTER, UNIFORM, ENDING_PLY = 1, 3, 40
# Plies from a capture or pawn move on before which no position can have come again, and no count be over.
QUIET_PLIES = 4
FIELDS = ("board", "side", "castling", "en passant", "half-move clock", "move number")


@dataclass
class Shared:
    """A game that both programs know."""

    theirs: str | None = None
    """Its name in pyffish, if that is another one."""
    known: dict[str, str] = field(default_factory=dict)
    """Aspects in which they differ by intent, with the reason. Aspects are the names of FEN fields, `check`, and
    `end: ` with what we call the reason of the end, or `end: they` where only the other program ends the game."""

    def __post_init__(self):
        for aspect in self.known:
            assert aspect in (*FIELDS, "check") or aspect.startswith("end: "), aspect


COUNTING = "they count an endgame's moves in this field, by Makruk's own rule, which our file does not have"

# Every game of the outside reference counts; custom.ini defines some, the others are built into Fairy-Stockfish.
SHARED = {
    "chess": Shared(),
    "shatranj": Shared(),
    "chaturanga": Shared(),
    "makruk": Shared(known=dict.fromkeys(("en passant", "half-move clock", "end: they"), COUNTING)),
    "courier": Shared(),
    "capablanca": Shared(),
    "gothic": Shared(),
    "embassy": Shared(),
    "janus": Shared(),
    "chancellor": Shared(),
    "modern": Shared(),
    "centaur": Shared(),
    "almost": Shared(),
    "shako": Shared(),
    "grand": Shared(),
    "opulent": Shared(),
    "tencubed": Shared(),
    "omicron": Shared(),
    "wolf": Shared(),
    "nightrider": Shared(),
    "grasshopper": Shared(),
    "torpedo": Shared(),
    "berolina": Shared(),
    "knightmate": Shared(),
    "spartan": Shared(),
    "troitzky": Shared(),
    "legan": Shared(),
    "trip10": Shared(),
    "trip10b": Shared(),
    "flex10": Shared(),
    "hop10": Shared(),
    "hole12x10": Shared(),
    "captpromo10": Shared(),
    "sorc10": Shared(),
    "sorc10x": Shared(),
    "herc12x10": Shared(
        known={
            "half-move clock": "Ninja Pawns set it back here, as docs/rules/notation.md says; there only Pawns do"
        }
    ),
    "ols10": Shared(),
}

LANDING = "after a long step of a man other than a pawn they also name the square it stands on; nobody takes there"
BARE_KINGS = "king against king is drawn at once here, there it is a position that nobody can win"


class Difference(Exception):
    """What one program says and the other does not."""


@dataclass
class View:
    """What one program says about a position. Moves are written as the other program writes them."""

    moves: dict[str, str]
    """Text here → text for this program."""
    fen: str
    check: bool
    end: tuple[str, str] | None
    """Reason and winner (`White`, `Black` or `draw`)."""


class Engine:
    """One process of fairyforge-engine."""

    def __init__(self, program: str):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([program], stdin=pipe, stdout=pipe, text=True, encoding="utf-8")

    def tell(self, line: str):
        self.process.stdin.write(line + "\n")

    def listen(self, until: str) -> list[str]:
        """Lines up to the first that begins with `until`."""
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith(until):
                return lines
        raise Difference("the engine ended: " + " / ".join(lines[-5:]))

    def choose(self, path: Path):
        self.tell(f"setoption name VariantPath value {path}")
        self.tell("isready")
        said = self.listen("readyok")
        if not any(line.startswith("info string variant ") for line in said):
            raise Difference("the engine refuses the variant: " + " / ".join(said))

    def look(self, start: str, moves: list[str]) -> View:
        self.tell(f"position fen {start} moves {' '.join(moves)}" if moves else f"position fen {start}")
        self.tell("d")
        self.tell("moves")
        said = self.listen("Moves:")
        faults = [line for line in said if line.startswith("info string")]
        if faults:
            raise Difference("the engine refuses the position: " + " / ".join(faults))
        told = dict(line.split(": ", 1) for line in said if ": " in line)
        board = squares_of(told["Fen"])
        over = re.fullmatch(r"(White|Black|draw)(?: wins)? \((.*)\)", told.get("Game over", ""))
        return View(
            moves={in_their_words(text, board): text for text in said[-1].removeprefix("Moves:").split()},
            fen=told["Fen"],
            check="in check" in told.get("Side to move", ""),
            end=(over[2], over[1]) if over else None,
        )

    def ending(self, start: str, moves: list[str], candidates: list[str]) -> str | None:
        """The first of the candidates that ends the game, if one does."""
        for text in candidates:
            self.tell(f"position fen {start} moves {' '.join([*moves, text])}")
            self.tell("d")
        self.tell("isready")
        said = "\n".join(self.listen("readyok")).split("\nFen: ")[1:]
        return next((text for text, lines in zip(candidates, said, strict=True) if "\nGame over: " in lines), None)

    def close(self):
        self.tell("quit")
        self.process.stdin.close()
        self.process.wait(timeout=10)


def squares_of(fen: str) -> dict[str, str]:
    """Square → letter of the man on it. Ranks are counted from 1."""
    board = {}
    ranks = fen.split()[0].split("[")[0].split("/")
    for rank, text in zip(range(len(ranks), 0, -1), ranks):
        file = 0
        for number, letter in re.findall(r"(\d+)|(\D)", text):
            if letter and letter != "*":
                board[f"{chr(97 + file)}{rank}"] = letter
            file += int(number or 1)
    return board


def in_their_words(text: str, board: dict[str, str]) -> str:
    """Castling by one square, `g1h1o` here, is written there as the king's and its partner's square."""
    move = MOVE.fullmatch(text)
    if not move or move[5] != "o":
        return text
    toward = 1 if move[3] > move[1] else -1
    file = ord(move[1]) + toward
    while f"{chr(file)}{move[2]}" not in board:
        file += toward
    return f"{move[1]}{move[2]}{chr(file)}{move[2]}"


def their_look(name: str, start: str, moves: list[str]) -> View:
    legal = pyffish.legal_moves(name, start, moves)
    fen = pyffish.get_fen(name, start, moves)
    side = "White" if fen.split()[1] == "w" else "Black"

    def winner(value: int) -> str:
        opponent = "Black" if side == "White" else "White"
        return "draw" if value == 0 else side if value > 0 else opponent

    ends, value = pyffish.is_immediate_game_end(name, start, moves)
    end = ("rules", winner(value)) if ends else None
    if not ends and not legal:
        end = ("no moves", winner(pyffish.game_result(name, start, moves)))
    if not end and int(fen.split()[4]) >= QUIET_PLIES:
        ends, value = pyffish.is_optional_game_end(name, start, moves)
        end = ("claim", winner(value)) if ends else None
    return View({text: text for text in legal}, fen, pyffish.gives_check(name, start, moves), end)


class Comparison:
    """All games of one variant."""

    def __init__(self, engine: Engine, name: str, shared: Shared, plies: int):
        self.engine, self.shared, self.plies = engine, shared, plies
        self.theirs = shared.theirs or name
        self.met: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.positions = 0

    def play(self, random: random.Random, game: int):
        """One game from the array; its number says of which kind it is. Raises at the first difference."""
        start = here_from = there_from = pyffish.start_fen(self.theirs)
        ours, theirs, played = [], [], []
        for ply in range(self.plies + 1):
            here = self.engine.look(here_from, ours)
            there = their_look(self.theirs, there_from, theirs)
            self.positions += 1
            try:
                self.compare(here, there)
            except Difference as difference:
                where = f"\n  fen    {here.fen}\n  start  {start}\n  moves  {' '.join(played)}"
                raise Difference(f"{difference}{where}") from None
            if here.end or there.end:
                self.ends[here.end[0] if here.end else "they"] += 1
                return
            # No position before a capture or a pawn move can come again: both go on from the FEN they gave themselves.
            if here.fen.split()[4] == there.fen.split()[4] == "0":
                here_from, there_from, ours, theirs = here.fen, there.fen, [], []
            text = self.chosen(here, here_from, ours, random, game, ply)
            ours.append(here.moves[text])
            theirs.append(text)
            played.append(text)

    def chosen(self, here: View, start: str, moves: list[str], random: random.Random, game: int, ply: int) -> str:
        """A move by lot: in most games rare ones are preferred, and in some of those late ones that end the game."""
        if game % 4 == UNIFORM:
            return random.choice(sorted(here.moves))
        if game % 4 in (0, SLAUGHTER) and ply >= ENDING_PLY:
            ending = self.engine.ending(start, moves, sorted(here.moves.values()))
            if ending:
                return next(text for text, own in here.moves.items() if own == ending)
        return likely(here, random, for_a_capture=200 if game % 4 == SLAUGHTER else 5)

    def compare(self, here: View, there: View):
        self.compare_ends(here, there)
        # Where the game is over, some rules list the moves that could still be made and some do not.
        if not (here.end and there.end):
            only_here, only_there = sorted(here.moves.keys() - there.moves), sorted(there.moves.keys() - here.moves)
            if only_here or only_there:
                raise Difference(f"legal moves\n  only here   {only_here}\n  only there  {only_there}")
        self.compare_fens(here.fen, there.fen)
        if here.check != there.check:
            self.excuse("check", f"here {here.check}, there {there.check}")

    def compare_ends(self, here: View, there: View):
        here_says, there_says = here.end and here.end[1], there.end and there.end[1]
        if here_says == there_says:
            return
        if here.end == ("bare king", "draw") and self.nobody_can_win(here.fen):
            self.met[f"end: bare king, draw: {BARE_KINGS}"] += 1
            return
        self.excuse(f"end: {here.end[0] if here.end else 'they'}", f"here {here.end}, there {there.end}")

    def nobody_can_win(self, fen: str) -> bool:
        return pyffish.has_insufficient_material(self.theirs, fen, []) == (True, True)

    def compare_fens(self, here: str, there: str):
        for name, ours, theirs in zip(FIELDS, here.split(), there.split(), strict=True):
            same = self.names_those_passed(ours, theirs, squares_of(here)) if name == "en passant" else ours == theirs
            if not same:
                self.excuse(name, f"here {here}\n  there {there}")

    def names_those_passed(self, ours: str, theirs: str, board: dict[str, str]) -> bool:
        """We write every square passed over, they only where a pawn stands ready to take."""
        passed = set(SQUARE.findall(theirs))
        if passed & board.keys():
            self.met[f"en passant: {LANDING}"] += 1
        return passed - board.keys() <= set(SQUARE.findall(ours))

    def excuse(self, aspect: str, shown: str):
        reason = self.shared.known.get(aspect)
        if reason is None:
            raise Difference(f"{aspect}\n  {shown}")
        self.met[f"{aspect}: {reason}"] += 1


def likely(view: View, random: random.Random, for_a_capture: int) -> str:
    """A move by lot, in which promotions, castling and captures are likelier than others."""
    board = squares_of(view.fen)
    texts = sorted(view.moves)

    def chance(text: str) -> int:
        move = MOVE.fullmatch(text)
        if not move:
            return 2
        origin, target = move[1] + move[2], move[3] + move[4]
        king = board.get(origin, "").lower() == "k"
        if king and (target in board or abs(ord(move[1]) - ord(move[3])) > 1):
            return 40
        return 25 if move[5] else for_a_capture if target in board else 1 if king else 3

    return random.choices(texts, [chance(text) for text in texts])[0]


def default_engine() -> Path:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "debug" / "fairyforge-engine"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2, help="games a variant (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="seed of all random choices (default 1)")
    parser.add_argument("--plies", type=int, default=110, help="longest game in plies (default 110)")
    parser.add_argument("--engine", type=Path, default=default_engine(), help="program (default: the built one)")
    parser.add_argument("--variants", nargs="*", metavar="NAME", help="only these")
    return parser.parse_args()


def variants_asked_for(names: list[str] | None) -> dict[str, Path]:
    unknown = [name for name in names or () if name not in SHARED]
    if unknown:
        sys.exit(f"expected games of SHARED, got {', '.join(unknown)}")
    files = {name: ROOT / "configs" / "variants" / f"{name}.toml" for name in names or SHARED}
    there = {name: path for name, path in files.items() if path.is_file()}
    missing = [name for name in files if name not in there]
    if missing:
        print(f"not compared, there is no configs/variants/NAME.toml: {' '.join(missing)}")
    if not there:
        sys.exit("there is nothing to compare")
    return there


def main() -> int:
    args = arguments()
    engine = Engine(str(args.engine))
    pyffish.load_variant_config((HERE / "custom.ini").read_text(encoding="utf-8"))
    failed = False
    for index, (name, path) in enumerate(variants_asked_for(args.variants).items()):
        comparison = Comparison(engine, name, SHARED[name], args.plies)
        try:
            engine.choose(path)
            for game in range(args.games):
                comparison.play(random.Random(f"{args.seed} {name} {game}"), args.seed + index + game)
        except Difference as difference:
            print(f"{name}: DIFFERENCE in {difference}")
            failed = True
            continue
        ends = ", ".join(f"{times} by {reason}" for reason, times in sorted(comparison.ends.items())) or "none ended"
        print(f"{name}: {args.games} games ({ends}), {comparison.positions} positions agree", flush=True)
        for known, times in sorted(comparison.met.items()):
            print(f"  by intent, {times} times, {known}")
    engine.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
