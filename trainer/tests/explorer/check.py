#!/usr/bin/env python3
"""Clicks through the page that `fairyforge book export --format html` wrote, in Chromium without a window.

At every step the page must show what `fairyforge book explore` says: the men, who is to move, the moves with their shares and values,
and where the book ends. Back, forward, keys, flipping, hovering, deep links, the browser's own history, narrow windows and dark mode are
tried as well. A message of the browser about an error, or an attempt to fetch anything, is a fault.

    pip install -r trainer/tests/explorer/requirements.txt
    fairyforge book export opening.book --format html --out book.html
    python trainer/tests/explorer/check.py opening.book book.html
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[3]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
# As the engine counts mates.
MATE, MATE_BOUND = 31_000, 30_000
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 720}


class Book:
    """What the program says of the book's positions, by the moves that lead there from the root at hand."""

    def __init__(self, program, book):
        self.command = [program, "book", "explore", book, "--json"]
        self.root = None
        self.known = {}

    def position(self, moves):
        key = self.root, " ".join(moves)
        if key not in self.known:
            command = self.command + (["--fen", self.root] if self.root else []) + (["--moves", key[1]] if moves else [])
            self.known[key] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return self.known[key]

    def walk(self, lot):
        """Moves by lot from the root until the book ends; mostly such as lead on in it."""
        moves, seen = [], set()
        while True:
            position = self.position(moves)
            board = position["fen"].rsplit(" ", 2)[0]
            if not position["moves"] or board in seen:
                return moves
            seen.add(board)
            leading_on = [move for move in position["moves"] if move["goes_on"]]
            moves.append(lot.choice(leading_on if leading_on and lot.random() < 0.8 else position["moves"])["move"])


def men_of_fen(fen):
    """{(file, rank from the top): letter}; letters are small for Black."""
    men = {}
    for rank, text in enumerate(fen.split(" ")[0].split("[")[0].split("/")):
        file, number = 0, ""
        for letter in text + " ":
            if letter.isdigit():
                number += letter
                continue
            file, number = file + int(number or 0), ""
            if letter not in " *":
                men[file, rank] = letter
            file += 1
    return men


def held_by_fen(fen):
    """How many men White and Black have in hand; nothing in games without hands."""
    _, bracket, held = fen.split(" ")[0].partition("[")
    return [sum(letter.isupper() == white for letter in held.rstrip("]")) for white in (True, False)] if bracket else None


def worth(value):
    """A value as the page writes it."""
    if value is None:
        return "–"
    sign = "+" if value > 0 else "−" if value < 0 else ""
    if abs(value) >= MATE_BOUND:
        return f"{sign}M{(MATE - abs(value) + 1) // 2}"
    return f"{sign}{abs(value) / 100:.2f}"


def expect(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {got!r}")


class Explorer:
    """The page in a browser."""

    # The men as they stand on the screen: file and rank from the upper left corner, the letter drawn, whose it is.
    MEN = """() => [...document.querySelectorAll("#board use")].map((use) => {
        const man = document.querySelector(use.getAttribute("href"));
        return [Number(use.getAttribute("x")), Number(use.getAttribute("y")), man.querySelector("text").textContent,
                Number(/\\d+/.exec(man.id)[0]) % 2];
    })"""
    ROWS = """() => [...document.querySelectorAll("#moves tr")].map((row) => [...row.children].map((cell) => cell.textContent))"""

    def __init__(self, context, address, book):
        self.page, self.address, self.book = context.new_page(), address, book
        self.faults = []
        # What an address begins with, behind another root than the first.
        self.prefix = ""
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.faults.append(said.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", self.requested)
        self.page.set_default_timeout(10_000)

    def requested(self, request):
        if request.url.split("#")[0] != self.address:
            self.faults.append(f"the page asks for {request.url}")

    def open(self, moves=(), fragment=None):
        self.page.goto("about:blank")
        self.page.goto(self.address + (fragment if fragment is not None else "#" + self.prefix + "/".join(moves)))
        self.page.wait_for_selector("#explorer:not([hidden])")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def men(self, flipped=False):
        height = self.page.evaluate("() => document.querySelectorAll('#board .name').length")
        placed = self.page.evaluate(self.MEN)
        lefts = sorted({x for x, *_ in placed})
        files = self.page.evaluate("() => JSON.parse(document.getElementById('book').textContent).width")
        margin = min(x % 100 for x in lefts)
        men = {}
        for x, y, letter, black in placed:
            file, rank = round((x - margin) / 100), round(y / 100)
            if flipped:
                file, rank = files - 1 - file, height - files - 1 - rank
            men[file, rank] = letter.lower() if black else letter
        return men

    def held(self):
        if self.page.locator("#hands").is_hidden():
            return None
        sides = self.text("#hands").split(";")
        return [sum(map(int, re.findall(r"(\d+) ×", side))) for side in sides]

    def shows(self, moves, flipped=False):
        """Everything on the page is what the program says of the position behind these moves."""
        position = self.book.position(moves)
        where = " ".join(moves) or "the root"
        expect(f"men behind {where}", self.men(flipped), men_of_fen(position["fen"]))
        found = position["moves"]
        total = max(sum(move["weight"] for move in found), 1)
        has_results = self.page.locator("thead th", has_text="Results").count() > 0
        rows = []
        for move in found:
            row = [move["san"], f"{100 * move['weight'] / total:.1f} %", worth(move["value"]), worth(move["searched"])]
            games = [move["wins"], move["draws"], move["losses"]]
            row += [" / ".join(f"{number:,}" for number in games) if any(games) else "–"] if has_results else []
            rows.append(row + [f"{move['nodes']:,}"])
        shown = self.page.evaluate(self.ROWS)
        expect(f"moves behind {where}", [row[:-1] for row in shown], rows)
        for move, row in zip(found, shown):
            expect(f"whether the book goes on behind {move['san']} behind {where}", row[-1] == "", move["goes_on"])
        side = "White" if position["fen"].split(" ")[1] == "w" else "Black"
        status = self.text("#status")
        if found or "ends here" in self.text("#ending"):
            assert status.startswith(f"{side} to move"), f"{where}: {status}"
        else:
            assert status.startswith("Game over"), f"{where}: {status}"
        expect("the table's visibility", self.page.locator("#table").is_visible(), bool(found))
        expect(f"men in hand behind {where}", self.held(), held_by_fen(position["fen"]))
        expect("the address", self.page.evaluate("() => decodeURIComponent(location.hash.slice(1))"), self.prefix + "/".join(moves))
        expect("the path's length", self.page.locator("#path button[aria-current]").count(), 1)

    def play(self, moves, number):
        """Clicks on a move of the position behind `moves`."""
        text = self.book.position(moves)["moves"][number]["move"]
        self.page.locator("#moves button").nth(number).click()
        return [*moves, text]

    def no_faults(self):
        expect("errors", self.faults, [])


def number_of(book, moves, ply):
    """Which of the moves at this ply the line takes."""
    return [move["move"] for move in book.position(moves[:ply])["moves"]].index(moves[ply])


def lines_are_shown(explorer, lines):
    for line in lines:
        explorer.open()
        explorer.shows([])
        for ply in range(len(line)):
            explorer.play(line[:ply], number_of(explorer.book, line, ply))
            explorer.shows(line[: ply + 1])
        if not explorer.book.position(line)["moves"]:
            ending = explorer.text("#ending")
            assert "The book ends here" in ending or "The game is over" in ending, ending


def other_roots(explorer):
    """Every move of each, so that castling and en passant are seen where the roots are chosen for it."""
    explorer.open()
    roots = explorer.page.locator("#root option").all_inner_texts()
    for number, root in list(enumerate(roots))[1:]:
        explorer.open()
        explorer.page.locator("#root").select_option(str(number))
        explorer.book.root, explorer.prefix = root, f"{number + 1}:"
        explorer.shows([])
        for choice in range(len(explorer.book.position([])["moves"])):
            explorer.open()
            explorer.shows(explorer.play([], choice))
    explorer.book.root, explorer.prefix = None, ""


def ways_back(explorer, line):
    page = explorer.page
    for ply in reversed(range(len(line))):
        page.get_by_role("button", name="Back").click()
        explorer.shows(line[:ply])
    assert page.locator("#back").is_disabled() and page.locator("#start").is_disabled()
    # What was taken back is still there, and can be gone to at once.
    page.locator("#path button").nth(len(line)).click()
    explorer.shows(line)
    page.get_by_role("button", name="To the start").click()
    explorer.shows([])
    page.get_by_role("button", name="Forward").click()
    explorer.shows(line[:1])
    # The browser's own history.
    page.go_back()
    explorer.shows([])
    page.go_forward()
    explorer.shows(line[:1])


def keys(explorer, line):
    page, book = explorer.page, explorer.book
    explorer.open(line)
    for ply in reversed(range(len(line))):
        page.keyboard.press("ArrowLeft")
        explorer.shows(line[:ply])
    for ply in range(len(line)):
        page.keyboard.press("ArrowRight")
        explorer.shows(line[: ply + 1])
    page.keyboard.press("Home")
    explorer.shows([])
    page.keyboard.press("ArrowDown")
    expect("the chosen move", page.evaluate("() => document.activeElement.textContent"), book.position([])["moves"][0]["san"])
    page.keyboard.press("ArrowUp")
    last = book.position([])["moves"][-1]
    expect("the chosen move", page.evaluate("() => document.activeElement.textContent"), last["san"])
    assert page.locator("#board .frame").count() > 0, "a move chosen by keys is shown on the board"
    page.keyboard.press("Enter")
    explorer.shows([last["move"]])
    # Without a line taken back, the key goes on with the likeliest move.
    explorer.open()
    page.keyboard.press("ArrowRight")
    explorer.shows([book.position([])["moves"][0]["move"]])


def flipping(explorer, line):
    page = explorer.page
    explorer.open(line[:1])
    before = explorer.men()
    page.get_by_role("button", name="Flip board").click()
    explorer.shows(line[:1], flipped=True)
    assert explorer.men() != before, "the board did not turn"
    expect("whether the button is pressed", page.locator("#flip").get_attribute("aria-pressed"), "true")
    page.keyboard.press("f")
    explorer.shows(line[:1])


def hovering(explorer):
    page = explorer.page
    explorer.open()
    for number, move in enumerate(explorer.book.position([])["moves"]):
        page.locator("#moves tr").nth(number).hover()
        framed = page.locator("#board .frame").count()
        expect(f"framed squares of {move['san']}", framed, 1 if "@" in move["move"] else 2)
        page.locator("h1").hover()
        expect("framed squares without a move", page.locator("#board .frame").count(), 0)


def addresses(explorer, line):
    page = explorer.page
    explorer.open(line)
    explorer.shows(line)
    assert page.locator("#remark").is_hidden()
    # One that the book does not have is followed as far as it goes.
    explorer.open(fragment="#" + "/".join([*line[:1], "z9z9"]))
    assert "z9z9" in explorer.text("#remark")
    expect("moves followed", page.locator("#path button").count(), 2)
    explorer.open(fragment="#%zz<img src=x>")
    assert page.locator("#remark").is_visible() and page.locator("img").count() == 0


def sizes_and_colours(explorer, line, pictures):
    page = explorer.page
    seen = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for name, size in (("wide", WIDE), ("narrow", NARROW)):
            page.set_viewport_size(size)
            explorer.open(line[:1])
            width = page.evaluate("() => document.documentElement.scrollWidth")
            assert width <= size["width"], f"{name}: the page is {width} pixels wide"
            board = page.locator("#board").bounding_box()
            assert board["width"] > 0.3 * size["width"] and board["height"] <= size["height"], board
            seen.add(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
            if pictures:
                page.locator("#moves tr").first.hover()
                page.screenshot(path=f"{pictures}-{name}-{scheme}.png", full_page=True)
    expect("backgrounds", len(seen), 2)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)


def structure(explorer):
    """What those go by who do not see the page."""
    page = explorer.page
    explorer.open()
    rows = page.locator("#moves tr").count()
    expect("rows with a heading and a button", page.locator('#moves tr > th[scope="row"] > button[aria-label^="Play "]').count(), rows)
    columns = page.locator('thead th[scope="col"]').count()
    expect("cells", page.locator("#moves tr").first.locator("th, td").count(), columns)
    label = page.locator("#board").get_attribute("aria-label")
    assert label.startswith("White: ") and "Black: " in label, label
    for selector in ("nav[aria-label]", "[role=status]", "caption", "h1", "html[lang]"):
        assert page.locator(selector).count() > 0, selector
    identities = page.evaluate("() => [...document.querySelectorAll('[id]')].map((one) => one.id)")
    expect("ids that stand once", len(set(identities)), len(identities))


def check(explorer, told):
    lot = random.Random(told.seed)
    lines = [explorer.book.walk(lot) for _ in range(told.lines)]
    longest = max(lines, key=len)
    assert len(longest) >= 2, "expected a book with lines of two plies"
    structure(explorer)
    lines_are_shown(explorer, [*lines, longest])
    ways_back(explorer, longest)
    keys(explorer, longest)
    flipping(explorer, longest)
    hovering(explorer)
    addresses(explorer, longest)
    sizes_and_colours(explorer, longest, told.pictures)
    other_roots(explorer)
    explorer.no_faults()
    print(f"{told.page}: {len(lines)} lines, {sum(map(len, lines))} moves clicked; all else works")


def arguments():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("book", help="the book")
    reader.add_argument("page", help="the page made of it")
    reader.add_argument("--program", default=str(target / "debug/fairyforge"), help="the program fairyforge")
    reader.add_argument("--chromium", default=next(filter(None, map(shutil.which, BROWSERS)), None), help="the browser")
    reader.add_argument("--lines", type=int, default=4, help="lines that are clicked through")
    reader.add_argument("--seed", type=int, default=1, help="of the lot that draws them")
    reader.add_argument("--pictures", help="beginning of the names of pictures, if wanted")
    return reader.parse_args()


def main():
    told = arguments()
    if told.chromium is None:
        print("error: no Chromium (Debian: apt-get install chromium), or name one with --chromium", file=sys.stderr)
        return 2
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=told.chromium, args=FLAGS)
        context = browser.new_context(viewport=WIDE, color_scheme="light")
        explorer = Explorer(context, Path(told.page).resolve().as_uri(), Book(told.program, told.book))
        try:
            check(explorer, told)
        except (AssertionError, BrowserError) as fault:
            print(f"{told.page}: {fault}", *explorer.faults, sep="\n", file=sys.stderr)
            return 1
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
