#!/usr/bin/env python3
"""Reads a book that `fairyforge book export --format polyglot` wrote with python-chess, and compares it with the same book as EPD.

For every position of the EPD the entries must be exactly the moves with a weight, each with its weight, legal, the greatest weight
first; and there must be no others. Keys and moves are made and read by python-chess, nothing of ours is asked.

    pip install -r trainer/tests/polyglot/requirements.txt
    fairyforge book export opening.book --format epd --out book.epd
    fairyforge book export opening.book --format polyglot --out book.bin
    python trainer/tests/polyglot/check.py book.bin book.epd
"""

import argparse
import sys
from pathlib import Path

import chess
import chess.polyglot


def positions(epd):
    """Yields (board, {move: weight}) for each line that is no remark."""
    for line in Path(epd).read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        fields = line.split(" ", 4)
        board = chess.Board(" ".join(fields[:4]) + " 0 1")
        assert board.is_valid(), line
        moves = {}
        for operation in fields[4].split(";"):
            words = operation.split()
            # m1 e2e4 10000 …: the number, the move in coordinates, its weight.
            if len(words) > 2 and words[0][0] == "m" and words[0][1:].isdigit():
                moves[chess.Move.from_uci(words[1])] = int(words[2])
        assert moves, line
        yield board, moves


def faults(reader, epd):
    """Says what differs, a line each."""
    read = 0
    count = 0
    for board, moves in positions(epd):
        count += 1
        entries = list(reader.find_all(board))
        read += len(entries)
        expected = {move: weight for move, weight in moves.items() if weight > 0}
        found = {entry.move: entry.weight for entry in entries}
        weights = [entry.weight for entry in entries]
        if found != expected:
            yield f"{board.epd()}: expected {expected}, got {found}"
        if len(found) != len(entries):
            yield f"{board.epd()}: a move stands twice"
        if weights != sorted(weights, reverse=True):
            yield f"{board.epd()}: the weights do not fall: {weights}"
        for entry in entries:
            if entry.move not in board.legal_moves:
                yield f"{board.epd()}: {entry.move} is not legal"
            if entry.learn != 0:
                yield f"{board.epd()}: expected 0 for learning, got {entry.learn}"
        if entries and reader.weighted_choice(board).move not in found:
            yield f"{board.epd()}: a move was drawn that is not there"
    if read != len(reader):
        yield f"expected {read} entries for {count} positions, got {len(reader)}"
    if count == 0 or read == 0:
        yield "expected positions with moves, got none"
    keys = [entry.key for entry in reader]
    if keys != sorted(keys):
        yield "the keys do not rise"
    print(f"{count} positions, {read} entries")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("bin", help="the book in Polyglot's format")
    arguments.add_argument("epd", help="the same book as EPD")
    told = arguments.parse_args()
    with chess.polyglot.open_reader(told.bin) as reader:
        found = list(faults(reader, told.epd))
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
