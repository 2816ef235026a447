"use strict";
// The explorer of a book. What can be played and what it changes on the board stands in the data; nothing here knows rules.
(() => {
    const book = JSON.parse(document.getElementById("book").textContent);
    const CELL = 100;
    const MARGIN = 52;
    const byId = (id) => document.getElementById(id);

    // What the lists of the data hold, in their order.
    const named = ([san, text, weight, value, searched, nodes, behind, changes, results]) =>
        ({ san, text, weight, value, searched, nodes, behind, changes, results: results ?? [0, 0, 0] });
    const movesOf = (node) => (node < 0 ? [] : book.nodes[node].map(named));

    // Where we are: the moves from a root, and how many of them are played; those behind were taken back.
    const state = { root: 0, line: [], at: 0, flipped: false, remark: "" };

    const root = () => book.roots[state.root];
    const played = () => state.line.slice(0, state.at);
    const node = () => (state.at === 0 ? root().node : state.line[state.at - 1].behind);
    const isWhite = (ply) => (root().white ? ply % 2 === 0 : ply % 2 === 1);

    function men(moves) {
        const board = new Map(root().men);
        const hands = new Map(root().hands);
        for (const move of moves) {
            for (let i = 0; i < move.changes.length; i += 2) {
                const [place, what] = [move.changes[i], move.changes[i + 1]];
                if (place < 0) hands.set(-1 - place, what);
                else if (what < 0) board.delete(place);
                else board.set(place, what);
            }
        }
        return { board, hands };
    }

    // Squares from and to; a drop has the second alone.
    const squaresOf = (move) => move.changes.filter((_, i) => i % 2 === 0).filter((place) => place >= 0).slice(0, 2);

    // ---- drawing

    function element(name, attributes = {}, ...children) {
        const made = document.createElement(name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.append(...children);
        return made;
    }

    function shape(name, attributes, title) {
        const made = document.createElementNS("http://www.w3.org/2000/svg", name);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        if (title) {
            const told = document.createElementNS("http://www.w3.org/2000/svg", "title");
            told.textContent = title;
            made.append(told);
        }
        return made;
    }

    const fileOf = (square) => square % book.width;
    const rowOf = (square) => Math.floor(square / book.width);
    const nameOf = (square) => String.fromCharCode(97 + fileOf(square)) + (rowOf(square) + book.first_rank);
    const column = (file) => (state.flipped ? book.width - 1 - file : file);
    const line = (row) => (state.flipped ? row : book.height - 1 - row);
    const corner = (square) => ({ x: MARGIN + column(fileOf(square)) * CELL, y: line(rowOf(square)) * CELL });
    const manName = (man) => `${man % 2 === 0 ? "White" : "Black"} ${book.units[Math.floor(man / 2)]}`;

    function squareOf(place, kind) {
        const { x, y } = corner(place);
        return shape("rect", { x, y, width: CELL, height: CELL, class: kind });
    }

    function drawSquares(into) {
        const holes = new Set(book.holes);
        for (let square = 0; square < book.width * book.height; square += 1) {
            if (holes.has(square)) continue;
            const dark = (fileOf(square) + 1 + rowOf(square) + book.first_rank) % 2 === 0;
            into.append(squareOf(square, dark ? "dark" : "light"));
        }
    }

    function drawNames(into) {
        for (let file = 0; file < book.width; file += 1) {
            const at = { x: MARGIN + column(file) * CELL + CELL / 2, y: book.height * CELL + 40, class: "name" };
            const text = shape("text", at);
            text.textContent = String.fromCharCode(97 + file);
            into.append(text);
        }
        for (let row = 0; row < book.height; row += 1) {
            const text = shape("text", { x: MARGIN / 2 - 2, y: line(row) * CELL + CELL / 2 + 12, class: "name" });
            text.textContent = row + book.first_rank;
            into.append(text);
        }
    }

    function drawBoard() {
        const svg = byId("board");
        const { board, hands } = men(played());
        svg.replaceChildren();
        svg.setAttribute("viewBox", `0 -4 ${MARGIN + book.width * CELL + 4} ${book.height * CELL + 58}`);
        drawSquares(svg);
        drawNames(svg);
        if (state.at > 0) for (const square of squaresOf(state.line[state.at - 1])) svg.append(squareOf(square, "last"));
        for (const [square, man] of [...board].sort((a, b) => a[0] - b[0])) {
            const reference = `#m${man}${state.flipped ? "t" : ""}`;
            const drawn = shape("g", {}, `${manName(man)} on ${nameOf(square)}`);
            drawn.append(shape("use", { href: reference, ...corner(square) }));
            svg.append(drawn);
        }
        svg.append(shape("g", { id: "shown" }));
        svg.setAttribute("aria-label", described(board));
        drawHands(hands);
    }

    function described(board) {
        const side = (black) => [...board].filter(([, man]) => man % 2 === black).sort((a, b) => a[1] - b[1])
            .map(([square, man]) => `${book.units[Math.floor(man / 2)]} ${nameOf(square)}`).join(", ");
        return `White: ${side(0)}. Black: ${side(1)}.`;
    }

    function drawHands(hands) {
        const held = [...hands].filter(([, count]) => count > 0).sort((a, b) => a[0] - b[0]);
        const side = (black) => held.filter(([man]) => man % 2 === black)
            .map(([man, count]) => `${count} × ${book.units[Math.floor(man / 2)]}`).join(", ");
        byId("hands").hidden = root().hands.length === 0;
        byId("hands").textContent = `In hand: White ${side(0) || "nothing"}; Black ${side(1) || "nothing"}.`;
    }

    // A move on the board before it is played: its squares framed, and an arrow.
    function show(move) {
        const shown = byId("shown");
        if (!shown) return;
        shown.replaceChildren();
        if (!move) return;
        const places = squaresOf(move);
        for (const place of places) {
            const { x, y } = corner(place);
            shown.append(shape("rect", { x: x + 5, y: y + 5, width: CELL - 10, height: CELL - 10, rx: 10, class: "frame" }));
        }
        if (places.length === 2) {
            const [from, to] = places.map(corner).map(({ x, y }) => ({ x: x + CELL / 2, y: y + CELL / 2 }));
            const length = Math.hypot(to.x - from.x, to.y - from.y);
            // Clear of the man at its beginning, and its head within the last square.
            const along = (way) => ({ x: from.x + (to.x - from.x) * way / length, y: from.y + (to.y - from.y) * way / length });
            const [start, end] = [along(30), along(length - 30)];
            shown.append(shape("line", { x1: start.x, y1: start.y, x2: end.x, y2: end.y, class: "arrow", "marker-end": "url(#head)" }));
        }
    }

    // ---- words

    const count = (number) => number.toLocaleString("en");
    const percent = (share) => `${(100 * share).toFixed(1)} %`;

    // For whoever makes the move, in pawns; mates in moves.
    function worth(value) {
        if (value === null) return "–";
        const sign = value > 0 ? "+" : value < 0 ? "−" : "";
        const size = Math.abs(value);
        if (size >= book.mate_bound) return `${sign}M${Math.ceil((book.mate - size) / 2)}`;
        return sign + (size / 100).toFixed(2);
    }

    function results([won, drawn, lost]) {
        const games = won + drawn + lost;
        if (games === 0) return [element("span", { class: "none" }, "–")];
        const bar = element("span", { class: "results", "aria-hidden": "true" });
        for (const [kind, part] of [["won", won], ["drawn", drawn], ["lost", lost]]) {
            const piece = element("span", { class: kind });
            piece.style.flexGrow = part;
            bar.append(piece);
        }
        return [bar, element("span", {}, `${count(won)} / ${count(drawn)} / ${count(lost)}`)];
    }

    const BEHIND = { [-1]: "ends here", [-2]: "game over", [-3]: "not on this page" };
    const endings = (move) => ({
        [-1]: `The book ends here, behind ${move.san}: worth ${worth(move.value)} to whoever played it, by a search of ${count(move.nodes)} nodes.`,
        [-2]: `The game is over: ${move.san}.`,
        [-3]: `The book goes on behind ${move.san}, but this page has the likeliest positions only.`,
    })[move.behind];

    // ---- moves

    function row(move, sum) {
        const button = element("button", { type: "button", "aria-label": `Play ${move.san}` }, move.san);
        button.addEventListener("click", () => play(move));
        const share = sum > 0 ? move.weight / sum : 0;
        const bar = element("span", { class: "share", "aria-hidden": "true" }, element("span"));
        bar.firstChild.style.width = percent(share).replace(" ", "");
        const made = element("tr", {},
            element("th", { scope: "row" }, button),
            element("td", { class: "plays" }, bar, element("span", {}, percent(share))),
            element("td", { class: "number" }, worth(move.value)),
            element("td", { class: "number detail" }, worth(move.searched)),
            ...(book.has_results ? [element("td", {}, ...results(move.results))] : []),
            element("td", { class: "number detail" }, count(move.nodes)),
            element("td", { class: "behind" }, BEHIND[move.behind] ?? ""));
        made.addEventListener("mouseenter", () => show(move));
        made.addEventListener("mouseleave", () => show(null));
        made.addEventListener("click", (event) => { if (event.target.closest("button") === null) play(move); });
        button.addEventListener("focus", () => { if (button.matches(":focus-visible")) show(move); });
        button.addEventListener("blur", () => show(null));
        return made;
    }

    function drawMoves() {
        const moves = movesOf(node());
        const sum = moves.reduce((all, move) => all + move.weight, 0);
        byId("moves").replaceChildren(...moves.map((move) => row(move, sum)));
        byId("table").hidden = moves.length === 0;
        byId("ending").hidden = moves.length > 0;
        byId("ending").textContent = moves.length > 0 ? "" : endings(state.line[state.at - 1]);
    }

    function drawPath() {
        const path = byId("path");
        const start = element("button", { type: "button" }, "Start");
        start.addEventListener("click", () => goTo(0));
        path.replaceChildren(element("li", {}, start));
        state.line.forEach((move, ply) => {
            const button = element("button", { type: "button" }, move.san);
            if (ply >= state.at) button.className = "taken-back";
            button.addEventListener("click", () => goTo(ply + 1));
            const whites = root().white ? ply : ply + 1;
            const number = root().number + Math.floor(whites / 2);
            const words = isWhite(ply) ? `${number}.` : ply === 0 ? `${number}…` : "";
            path.append(element("li", {}, words, button));
        });
        path.children[state.at].firstElementChild.setAttribute("aria-current", "step");
        byId("back").disabled = state.at === 0;
        byId("start").disabled = state.at === 0;
        byId("forward").disabled = state.at === state.line.length && movesOf(node()).length === 0;
    }

    function draw() {
        const focused = byId("moves").contains(document.activeElement);
        drawBoard();
        drawMoves();
        drawPath();
        const side = isWhite(state.at) ? "White" : "Black";
        const last = state.at > 0 ? ` after ${state.line[state.at - 1].san}` : "";
        const over = state.at > 0 && state.line[state.at - 1].behind === -2;
        byId("side").className = side.toLowerCase();
        byId("status").textContent = over ? `Game over${last}` : `${side} to move${last}`;
        byId("remark").hidden = state.remark === "";
        byId("remark").textContent = state.remark;
        if (byId("root")) byId("root").value = state.root;
        if (focused) (byId("moves").querySelector("button") ?? byId("back")).focus({ preventScroll: true });
    }

    // ---- the address

    const address = () => {
        const before = state.root > 0 ? `${state.root + 1}:` : "";
        return before + played().map((move) => encodeURIComponent(move.text)).join("/");
    };

    const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

    // Follows an address as far as the book does.
    function readAddress() {
        const [, number, moves] = /^#?(?:(\d+):)?(.*)$/.exec(window.location.hash);
        const wanted = Number(number ?? 1) - 1;
        state.remark = "";
        state.root = wanted >= 0 && wanted < book.roots.length ? wanted : 0;
        state.line = [];
        let at = root().node;
        for (const text of moves.split("/").filter((text) => text !== "").map(decoded)) {
            const move = movesOf(at).find((known) => known.text === text);
            if (!move) {
                state.remark = `The address goes on with ${text}, which this book does not have here.`;
                break;
            }
            state.line.push(move);
            at = move.behind;
        }
        state.at = state.line.length;
    }

    function moved() {
        state.remark = "";
        draw();
        // Setting it makes an entry of the browser's history; the event that follows finds nothing new.
        window.location.hash = address();
    }

    // ---- what can be done

    function play(move) {
        const ahead = state.line[state.at];
        if (ahead?.text !== move.text) state.line = [...played(), move];
        state.at += 1;
        moved();
    }

    function goTo(at) {
        if (at === state.at || at < 0 || at > state.line.length) return;
        state.at = at;
        moved();
    }

    function forward() {
        const next = state.line[state.at] ?? movesOf(node())[0];
        if (next) play(next);
    }

    function flip() {
        state.flipped = !state.flipped;
        byId("flip").setAttribute("aria-pressed", state.flipped);
        drawBoard();
    }

    function chooseMove(step) {
        const buttons = [...byId("moves").querySelectorAll("button")];
        if (buttons.length === 0) return;
        const at = buttons.indexOf(document.activeElement);
        const next = at < 0 ? (step > 0 ? 0 : buttons.length - 1) : (at + step + buttons.length) % buttons.length;
        buttons[next].focus();
    }

    const KEYS = {
        ArrowLeft: () => goTo(state.at - 1),
        ArrowRight: () => {
            const chosen = document.activeElement;
            if (byId("moves").contains(chosen) && chosen.matches("button:focus-visible")) chosen.click();
            else forward();
        },
        ArrowDown: () => chooseMove(1),
        ArrowUp: () => chooseMove(-1),
        Home: () => goTo(0),
        f: flip,
    };

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("select, summary")) return;
        const act = KEYS[event.key];
        if (!act) return;
        event.preventDefault();
        act();
    });
    byId("back").addEventListener("click", () => goTo(state.at - 1));
    byId("start").addEventListener("click", () => goTo(0));
    byId("forward").addEventListener("click", forward);
    byId("flip").addEventListener("click", flip);
    byId("root")?.addEventListener("change", (event) => {
        Object.assign(state, { root: Number(event.target.value), line: [], at: 0 });
        moved();
    });
    window.addEventListener("hashchange", () => {
        if (window.location.hash.replace(/^#/, "") === address()) return;
        readAddress();
        draw();
    });

    readAddress();
    draw();
    byId("explorer").hidden = false;
})();
